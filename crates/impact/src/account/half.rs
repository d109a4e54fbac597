//! One direction of a connection: how long its data and acknowledgements take, and the packets of the piece that is gone over.

use super::packet::AccountPacket;
use super::times::Times;
use rekeyscope_model::analysis::{D2Source, Direction};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};
use rekeyscope_traffic::{BESIDE_RECEIVER, Handshake, LARGEST_WINDOW_SCALE, TcpHeader};

/// A handshake may be a little slower than what follows; too large a d2 makes waits for the window look like the application's.
const D2_SHARE: f64 = 0.95;
/// See [`D2_SHARE`].
const D2_MARGIN: i64 = NANOS_PER_MILLI;

/// One direction of a connection. Times are nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Half {
    /// True for TCP that can be read: the packets have sequence numbers.
    pub(crate) tcp: bool,
    /// Packets with data of the piece that is gone over.
    pub(crate) data: Vec<AccountPacket>,
    /// Packets of the other direction with an acknowledgement, likewise.
    pub(crate) acks: Vec<AccountPacket>,
    /// Largest payload, bytes.
    pub(crate) mss: u64,
    /// Shift of the receiver's window.
    pub(crate) scale: u8,
    /// True where the handshake says the shift.
    pub(crate) scale_known: bool,
    /// Least time from data to its acknowledgement; `None` without acknowledgements.
    pub(crate) d1: Option<i64>,
    /// Least time from what it echoes.
    pub(crate) echoed: Option<i64>,
    /// The lag at which data follows acknowledgements, where nothing else tells d2.
    pub(crate) lag: Option<i64>,
    /// From an acknowledgement to what it releases, as it is used.
    pub(crate) d2: Option<i64>,
    pub(crate) d2_from: Option<D2Source>,
    /// Least round trip, of d2 as it is used.
    pub(crate) rtt: i64,
    /// Least round trip, as it was measured.
    pub(crate) measured_rtt: Option<i64>,
    /// Neither handshake nor timestamps: what limits the flight cannot be told.
    pub(crate) blind: bool,
    /// True where the capture has the first packets, so that data was under way without a queue of its own.
    pub(crate) begun: bool,
    /// True once the connection was closed.
    pub(crate) ended: bool,
}

impl Half {
    /// Takes the next piece of a direction, and learns from it. Says whether the piece has data: without, what is acknowledged tells nothing.
    pub(crate) fn read(
        &mut self,
        packets: &[AccountPacket],
        (handshake, tcp): (&Handshake, bool),
        slot: usize,
    ) -> bool {
        let [sender, receiver] = [slot, 1 - slot].map(|slot| Direction::BOTH[slot]);
        let sent = |slot: usize| packets.iter().filter(move |p| p.slot() == slot);
        let resets = packets.iter().any(|p| p.has(TcpHeader::RST));
        self.ended |= resets || sent(slot).any(|p| p.has(TcpHeader::FIN));
        self.data = sent(slot).filter(|p| p.payload > 0).copied().collect();
        if self.data.is_empty() {
            return false;
        }
        self.tcp = tcp;
        if tcp {
            self.acks = sent(1 - slot).filter(|p| p.acknowledges()).copied().collect();
            self.echoed = lower(self.echoed, self.data.iter().map(|p| p.echo_after));
        }
        self.mss = self
            .data
            .iter()
            .map(AccountPacket::payload)
            .fold(self.mss, u64::max);
        self.d1 = lower(self.d1, self.data.iter().map(|p| p.acked_after));
        let sent_half = handshake.half(sender);
        if let (Some(d1), None) = (self.d1, sent_half.or(self.echoed).or(self.lag)) {
            self.lag = pattern(&self.data, &self.acks, d1);
        }
        let told = match (sent_half, self.echoed) {
            (half, Some(echoed)) if half.is_none_or(|half| echoed < half) => {
                Some((echoed, D2Source::Timestamps))
            }
            (Some(half), _) => Some((half, D2Source::Handshake)),
            (None, _) => self.lag.map(|lag| (lag, D2Source::Pattern)),
        };
        let (d2, from) = told.unzip();
        let used = d2.map(|d2| ((d2 as f64 * D2_SHARE) as i64 - D2_MARGIN).max(0));
        let stated = handshake.window_scale(receiver);
        self.scale_known = stated.is_some();
        self.scale =
            stated.unwrap_or_else(|| inferred_scale(&self.data, &self.acks, used.unwrap_or(0), self.scale));
        self.d2 = used.filter(|_| self.d1.is_some());
        self.d2_from = from.filter(|_| self.d1.is_some());
        self.rtt = self.d1.unwrap_or(0) + used.unwrap_or(0);
        self.measured_rtt = self.d1.zip(d2).map(|(d1, d2)| d1 + d2);
        // An answer takes time: a clock that shows none is coarser than the round trip.
        if self.measured_rtt == Some(0) {
            (self.d2, self.d2_from) = (None, None);
        }
        self.blind = tcp && matches!(from, Some(D2Source::Pattern) | None);
        self.begun = handshake.began(sender);
        true
    }

    /// Delays show a queue: not where data is acknowledged right behind the capture, and echoes nothing.
    pub(crate) fn shows_queues(&self) -> bool {
        self.echoed.is_some() || self.d1.is_some_and(|d1| d1 >= BESIDE_RECEIVER)
    }

    /// The receiver's window that an acknowledgement opens; that of a SYN is never scaled (RFC 7323 §2.2).
    pub(crate) fn window(&self, ack: &AccountPacket) -> u64 {
        let scale = if ack.has(TcpHeader::SYN) { 0 } else { self.scale };
        u64::from(ack.window) << scale
    }

    /// The times that the rules are made of.
    pub(crate) fn times(&self) -> Times {
        Times::of(self.rtt, self.d2.unwrap_or(self.rtt))
    }

    /// New bytes of the piece.
    pub(crate) fn new_bytes(&self) -> u64 {
        self.data.iter().map(|p| u64::from(p.new)).sum()
    }
}

// Delays of data and of acknowledgements.

/// One in so many measurements may be off: a clock that brings a packet forward, an acknowledgement that was lost.
pub(crate) const OUTLIERS: usize = 200;
/// The pattern of acknowledgements and data is looked for in so much of the beginning.
const PATTERN_SPAN: i64 = 60 * NANOS_PER_SECOND;
/// The longest d2 that is looked for in it, bins of 1 ms.
const LONGEST_LAG: usize = 1_000;
/// Least correlation of a pattern.
const LEAST_PEAK: f64 = 0.25;
/// The first lag with so much of the highest correlation counts.
const NEAR_PEAK: f64 = 0.8;

/// The lower of what is known, nanoseconds, and the least of further delays, microseconds. Of many the one counts that
/// half a percent does not reach: a capture's clock, or a busy machine, brings single ones forward (lab: 7 to 14 of 40 ms).
pub(crate) fn lower(known: Option<i64>, delays: impl Iterator<Item = Option<u32>>) -> Option<i64> {
    let mut delays: Vec<u32> = delays.flatten().collect();
    if delays.is_empty() {
        return known;
    }
    let place = delays.len() / OUTLIERS;
    let least = i64::from(*delays.select_nth_unstable(place).1) * 1_000;
    Some(known.map_or(least, |known| known.min(least)))
}

/// The lag at which new data follows acknowledged bytes best, in bins of 1 ms.
pub(crate) fn pattern(data: &[AccountPacket], acks: &[AccountPacket], d1: i64) -> Option<i64> {
    let (begin, last) = (data.first()?.time, data.last()?.time);
    let bins = (last.nanos_since(begin).clamp(0, PATTERN_SPAN - 1) / NANOS_PER_MILLI) as usize + 1;
    let (mut sent, mut acked) = (vec![0.0_f64; bins], vec![0.0_f64; bins]);
    let add = |list: &mut [f64], p: &AccountPacket, bytes: f64| {
        let bin = usize::try_from(p.time.nanos_since(begin).div_euclid(NANOS_PER_MILLI)).ok();
        if let Some(sum) = bin.and_then(|bin| list.get_mut(bin)) {
            *sum += bytes;
        }
    };
    data.iter().for_each(|p| add(&mut sent, p, f64::from(p.new)));
    let mut highest = acks.first()?.ack;
    for p in acks {
        add(&mut acked, p, p.ack.saturating_sub(highest) as f64);
        highest = highest.max(p.ack);
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let center = |list: &mut [f64]| {
        let mean = list.iter().sum::<f64>() / list.len() as f64;
        list.iter_mut().for_each(|x| *x -= mean);
        dot(list, list)
    };
    let scale = (center(&mut sent) * center(&mut acked)).sqrt();
    if scale <= 0.0 {
        return None;
    }
    let peaks: Vec<f64> = (0..LONGEST_LAG.min(bins))
        .map(|lag| dot(&sent[lag..], &acked) / scale)
        .collect();
    let highest = |from: usize| peaks.iter().skip(from).copied().fold(0.0, f64::max);
    // Acknowledgements follow their data at once where the capture is beside the receiver: shorter lags are theirs.
    let beyond = (BESIDE_RECEIVER / NANOS_PER_MILLI) as usize + 1;
    let follows = d1 < BESIDE_RECEIVER && highest(beyond) >= highest(0) / 2.0;
    let from = if follows { beyond } else { 0 };
    let peak = highest(from);
    let first = (from..peaks.len()).find(|&lag| peaks[lag] >= NEAR_PEAK * peak)?;
    (peak >= LEAST_PEAK).then_some(first as i64 * NANOS_PER_MILLI)
}

// The shift of the receiver's window (RFC 7323 §2.2), where no handshake says it.

/// The smallest shift, of `least` or more, at which hardly anything was sent beyond the window: its acknowledgement may be lost.
pub(crate) fn inferred_scale(data: &[AccountPacket], acks: &[AccountPacket], d2: i64, least: u8) -> u8 {
    let fits = |&scale: &u8| beyond(data, acks, d2, scale) * OUTLIERS <= data.len();
    (least..LARGEST_WINDOW_SCALE)
        .find(fits)
        .unwrap_or(LARGEST_WINDOW_SCALE)
}

/// Packets beyond the window that this shift makes. An acknowledgement that the packet's timestamp denies had not reached the sender.
fn beyond(data: &[AccountPacket], acks: &[AccountPacket], d2: i64, scale: u8) -> usize {
    let mut acks = acks.iter().filter(|a| !a.has(TcpHeader::SYN)).peekable();
    // Anything is, before the first one arrives.
    let (mut highest, mut heard, mut beyond) = (0, false, 0);
    for d in data {
        while let Some(ack) = acks.next_if(|ack| ack.time.0 + d2 <= d.time.0 && !d.did_not_hear(ack)) {
            highest = highest.max(ack.ack + (u64::from(ack.window) << scale));
            heard = true;
        }
        beyond += usize::from(heard && d.end() > highest);
    }
    beyond
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::half::Half;
    use crate::account::made_up::{ack, at, data, half};
    use rekeyscope_traffic::TcpHeader;

    #[test]
    fn a_window_is_scaled_but_that_of_a_syn() {
        let half = Half { scale: 3, ..half() };
        let mut heard = ack(0, 0, 100);
        assert_eq!(half.window(&heard), 800);
        heard.flags |= TcpHeader::SYN;
        assert_eq!(half.window(&heard), 100);
    }

    #[test]
    fn queues_show_by_echoes_or_away_from_the_receiver() {
        let shows = |d1, echoed| Half { d1, echoed, ..half() }.shows_queues();
        assert!(shows(Some(at(3)), None) && !shows(Some(at(3) - 1), None));
        assert!(shows(None, Some(0)) && !shows(None, None));
    }

    #[test]
    fn half_a_percent_of_the_delays_may_be_too_small() {
        let of = |small: usize, all: usize, known: Option<i64>| {
            let usual = std::iter::repeat_n(40, all - small);
            lower(
                known,
                usual.chain(std::iter::repeat_n(7, small)).map(Some).chain([None]),
            )
        };
        assert_eq!((of(1, 200, None), of(1, 199, None)), (Some(40_000), Some(7_000)));
        assert_eq!(of(2, 200, None), Some(7_000));
        assert_eq!(
            of(1, 200, Some(20_000)),
            Some(20_000),
            "an earlier piece had less"
        );
        assert_eq!(of(2, 200, Some(20_000)), Some(7_000));
        assert_eq!(lower(Some(5), [None].into_iter()), Some(5));
    }

    /// A burst each 100 ms at no even distance, each acknowledged after `d1`; the next one comes `lag` behind that.
    fn bursts(d1: i64, lag: i64) -> (Vec<AccountPacket>, Vec<AccountPacket>) {
        let (mut sent, mut heard, mut ms) = (Vec::new(), Vec::new(), 0);
        for k in 0..100u64 {
            sent.push(data(ms, 1_000 * k));
            heard.push(ack(ms + d1, 1_000 * (k + 1), 0));
            ms += d1 + lag + if k % 7 < 3 { 37 * (k as i64 % 3) } else { 0 };
        }
        (sent, heard)
    }

    #[test]
    fn data_that_follows_acknowledgements_shows_the_lag() {
        for (d1, lag) in [(30, 20), (30, 0), (2, 50), (50, 5)] {
            let (sent, heard) = bursts(d1, lag);
            assert_eq!(pattern(&sent, &heard, at(d1)), Some(at(lag)), "{d1} {lag}");
        }
        let (sent, heard) = bursts(30, 20);
        assert_eq!(pattern(&sent, &[], at(30)), None);
        assert_eq!(pattern(&sent, &heard[..1], at(30)), None, "nothing advances");
        assert_eq!(pattern(&[], &heard, at(30)), None);
    }

    #[test]
    fn the_smallest_shift_that_lets_the_data_through_is_inferred() {
        // 16,000 bytes are allowed with a shift of 4.
        let heard = |ms| [ack(ms, 0, 1_000)];
        let sent = |last: u64| [data(10, 0), data(20, last - 1_000)];
        assert_eq!(inferred_scale(&sent(16_000), &heard(0), 0, 0), 4);
        assert_eq!(inferred_scale(&sent(16_001), &heard(0), 0, 0), 5);
        assert_eq!(inferred_scale(&sent(1_000), &heard(0), 0, 0), 0);
        // An acknowledgement reaches the sender later than it passes here.
        assert_eq!(inferred_scale(&sent(16_000), &heard(0), at(20), 0), 4);
        assert_eq!(inferred_scale(&sent(16_000), &heard(0), at(21), 0), 0);
        let mut of_a_syn = heard(0);
        of_a_syn[0].flags |= TcpHeader::SYN;
        assert_eq!(inferred_scale(&sent(16_000), &of_a_syn, 0, 0), 0);
        assert_eq!(inferred_scale(&sent(1 << 40), &heard(0), 0, 0), 14);
        assert_eq!(inferred_scale(&sent(16_000), &heard(0), 0, 6), 6, "at least");
    }

    /// The second acknowledgement came 5 ms before a packet that echoes the first.
    #[test]
    fn what_a_packet_says_that_it_did_not_hear_allowed_nothing() {
        let heard = [ack(0, 0, 1_000), ack(20, 10_000, 1_000)];
        let sent = |unheard_after: Option<u32>| {
            [AccountPacket {
                unheard_after,
                ..data(25, 16_000)
            }]
        };
        let scale = |unheard_after| inferred_scale(&sent(unheard_after), &heard, 0, 0);
        assert_eq!((scale(None), scale(Some(4_000)), scale(Some(5_000))), (3, 3, 5));
    }

    #[test]
    fn one_packet_in_two_hundred_may_lie_beyond() {
        let beyond = |packets: usize| {
            let mut sent = vec![data(10, 0); packets];
            sent[0] = data(10, 15_000);
            inferred_scale(&sent, &[ack(0, 0, 1_000)], 0, 0)
        };
        assert_eq!((beyond(199), beyond(200)), (4, 0));
    }
}
