//! The times in which each side of a tunnel sent nothing.

use super::reading::TrafficReading;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{LastPacket, PacketSilence};

impl TrafficReading {
    /// Time of the last ESP packet of a side.
    pub(crate) fn last_esp(&self, (tunnel, direction): Side) -> Option<Timestamp> {
        self.sealed.last(u32::try_from(tunnel).ok()?, direction)
    }

    /// Times that reach into a stretch in which some directions of a tunnel, all together, sent no ESP.
    pub(crate) fn silences(
        &self,
        tunnel: TunnelIndex,
        directions: &[Direction],
        stretch: (Timestamp, Timestamp),
    ) -> Vec<PacketSilence> {
        let tunnel = u32::try_from(tunnel).unwrap_or(u32::MAX);
        self.sealed.silences(tunnel, directions, stretch)
    }

    /// The longest part of a stretch in which the sender of a direction sent no ESP, and nothing at `heard` (its IKE messages, in order of
    /// time).
    pub(crate) fn longest_silence(
        &self,
        (tunnel, direction): Side,
        stretch: (Timestamp, Timestamp),
        heard: &[(Timestamp, u64)],
    ) -> PacketSilence {
        let silences = self.silences(tunnel, &[direction], stretch).into_iter();
        let inside = silences.filter_map(|silence| silence.within(stretch));
        let none = PacketSilence {
            from: stretch.0,
            to: stretch.0,
            facts: LastPacket { frame: None },
        };
        let unheard = inside.map(|silence| longest_unheard(silence, heard));
        unheard.max_by_key(PacketSilence::nanos).unwrap_or(none)
    }
}

/// The longest part of a silence between IKE messages, of equal ones the first.
fn longest_unheard(silence: PacketSilence, heard: &[(Timestamp, u64)]) -> PacketSilence {
    let first = heard.partition_point(|(time, _)| *time <= silence.from);
    let inside = heard[first..].iter().take_while(|(time, _)| *time < silence.to);
    let (mut parts, mut rest) = (Vec::new(), silence);
    for &(time, frame) in inside {
        parts.push(PacketSilence { to: time, ..rest });
        (rest.from, rest.facts.frame) = (time, Some(frame));
    }
    parts.push(rest);
    parts
        .into_iter()
        .rev()
        .max_by_key(PacketSilence::nanos)
        .unwrap_or(silence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_MILLI;
    use rekeyscope_traffic::SealedPacket;

    fn at(ms: i64) -> Timestamp {
        Timestamp(ms * NANOS_PER_MILLI)
    }

    #[test]
    fn a_silence_counts_inside_the_stretch_only_and_ike_parts_it() {
        let mut traffic = TrafficReading::default();
        let mut take = |tunnel, ms| {
            let packet = SealedPacket {
                time: at(ms),
                frame: 1,
                spi: 7,
                bytes: 1_000,
                missing: 0,
            };
            traffic.sealed.take(tunnel, Direction::AToB, packet);
        };
        for ms in [0, 100, 1_100, 1_200, 1_300] {
            take(0, ms);
        }
        take(1, 1_300);
        let longest = |from, to, heard: &[i64]| {
            let heard: Vec<(Timestamp, u64)> = heard.iter().map(|ms| (at(*ms), 9)).collect();
            let side = (0, Direction::AToB);
            let silence = traffic.longest_silence(side, (at(from), at(to)), &heard);
            silence.nanos() / NANOS_PER_MILLI
        };
        assert_eq!(longest(0, 1_300, &[]), 1_000);
        assert_eq!(longest(0, 1_300, &[500]), 600);
        assert_eq!(longest(400, 900, &[]), 500);
        assert_eq!(longest(1_250, 2_000, &[]), 700, "it lasts to the end");
        let never = traffic.longest_silence((0, Direction::BToA), (at(0), at(900)), &[]);
        assert_eq!((never.nanos(), never.facts.frame), (900 * NANOS_PER_MILLI, None));
    }
}
