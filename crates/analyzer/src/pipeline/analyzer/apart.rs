//! The time by which copies of ESP packets come later: two hosts' captures with clocks apart, merged into one file.

use rekeyscope_ipsec::esp::header::spi_and_sequence;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// One in so many ESP packets is remembered: some in a second of a call, and none is searched for in most of a download.
const SAMPLED: u32 = 16;
/// Packets that are remembered, 100 kB: 40 s of a call of 1,600 packets a second, and half a second of 130,000 a second.
const MOST_SAMPLES: usize = 1 << 12;
/// The longest time between two copies: one that comes later was sent again on purpose, by a replay or a test.
const MOST_APART: i64 = 30 * NANOS_PER_SECOND;

/// ESP packets that were sampled, by SPI and number, and how much later their copies came.
#[derive(Debug, Default)]
pub(super) struct CopiesApart {
    /// SPI and number, the end of the packet, which is its ICV's, and its time.
    samples: Vec<Option<(u64, u64, Timestamp)>>,
    firsts: u32,
    copies: u32,
    latest: i64,
}

impl CopiesApart {
    /// Notes an ESP packet, from its SPI on, as its frame stamps it.
    pub(super) fn note(&mut self, packet: &[u8], stamped: Timestamp) {
        let (Some(head), Some((spi, number))) = (packet.first_chunk::<8>(), spi_and_sequence(packet)) else {
            return;
        };
        if !number.is_multiple_of(SAMPLED) {
            return;
        }
        let end = packet.last_chunk::<8>().map_or(0, |end| u64::from_be_bytes(*end));
        let key = u64::from_be_bytes(*head);
        if self.samples.is_empty() {
            self.samples.resize(MOST_SAMPLES, None);
        }
        let place = spi.0.wrapping_add(number / SAMPLED) as usize % MOST_SAMPLES;
        let sample = &mut self.samples[place];
        match *sample {
            Some((known, ends, time)) if (known, ends) == (key, end) => {
                self.copies += 1;
                let later = stamped.nanos_since(time).saturating_abs();
                if later <= MOST_APART {
                    self.latest = self.latest.max(later);
                }
            }
            _ => {
                self.firsts += 1;
                *sample = Some((key, end, stamped));
            }
        }
    }

    /// The longest time by which a copy came later; 0 where packets are not there twice as a rule: on the way some of one capture point are lost
    /// before the other.
    pub(super) fn nanos(&self) -> i64 {
        let as_a_rule = u64::from(self.copies) >= LEAST_NOT_BY_CHANCE && 2 * self.copies >= self.firsts;
        if as_a_rule { self.latest } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of one SA, each again after `later` where `copied` says so.
    fn played(later: i64, copied: impl Fn(u32) -> bool) -> i64 {
        let mut apart = CopiesApart::default();
        let packet = |number: u32| [&[0, 0, 1, 2], &number.to_be_bytes()[..], &[7; 24]].concat();
        for number in 1..2_000 {
            let time = Timestamp(i64::from(number) * NANOS_PER_SECOND / 100);
            apart.note(&packet(number), time);
            if copied(number) {
                apart.note(&packet(number), time.plus_nanos(later));
            }
        }
        apart.nanos()
    }

    #[test]
    fn copies_of_most_packets_tell_the_time() {
        assert_eq!(played(370_000_000, |_| true), 370_000_000);
        assert_eq!(
            played(370_000_000, |number| number % 160 == 0),
            0,
            "a few were sent again"
        );
        assert_eq!(played(MOST_APART + 1, |_| true), 0);
    }
}
