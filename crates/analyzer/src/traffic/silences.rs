//! The times in which each side of a tunnel sent no ESP.

use foldhash::HashMap;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::LEAST_TIMEOUT;

/// Most silences that are kept, 1.5 MB. A side that sends a packet every second has one of each second.
const MOST_SILENCES: usize = 1 << 16;

/// A packet: when, and its frame.
type Heard = (Timestamp, u64);

/// A time without ESP of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SideSilence {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    /// The frame that came before it; `None` where the capture has none.
    pub(crate) last_frame: Option<u64>,
}

impl SideSilence {
    pub(crate) fn nanos(&self) -> i64 {
        self.to.nanos_since(self.from)
    }
}

/// The silences of all tunnels.
#[derive(Debug, Default)]
pub(super) struct SideSilences {
    /// The last packet of each side.
    last: HashMap<TunnelIndex, [Option<Heard>; 2]>,
    silences: HashMap<(TunnelIndex, usize), Vec<SideSilence>>,
    kept: usize,
    current: Option<(TunnelIndex, [Option<Heard>; 2])>,
}

impl SideSilences {
    #[inline]
    pub(super) fn take(&mut self, tunnel: TunnelIndex, direction: Direction, (time, frame): Heard) {
        if self.current.is_none_or(|(current, _)| current != tunnel) {
            self.change_to(tunnel);
        }
        let Some((_, last)) = &mut self.current else {
            return;
        };
        let own = slot(direction);
        let before = last[own].replace((time, frame));
        if let Some((before, last_frame)) = before
            && time.nanos_since(before) > LEAST_TIMEOUT
        {
            let silence = SideSilence {
                from: before,
                to: time,
                last_frame: Some(last_frame),
            };
            self.keep((tunnel, own), silence);
        }
    }

    #[cold]
    fn change_to(&mut self, tunnel: TunnelIndex) {
        if let Some((current, last)) = self.current.take() {
            self.last.insert(current, last);
        }
        let last = self.last.get(&tunnel).copied().unwrap_or_default();
        self.current = Some((tunnel, last));
    }

    #[cold]
    fn keep(&mut self, side: (TunnelIndex, usize), silence: SideSilence) {
        if self.kept < MOST_SILENCES {
            self.kept += 1;
            self.silences.entry(side).or_default().push(silence);
        }
    }

    /// The times of at least `least` nanoseconds in which the sender of a direction sent no ESP, up to its last packet.
    pub(super) fn at_least(
        &self,
        (tunnel, direction): (TunnelIndex, Direction),
        least: i64,
    ) -> impl Iterator<Item = &SideSilence> {
        let kept = self.silences.get(&(tunnel, slot(direction)));
        let kept = kept.into_iter().flatten();
        kept.filter(move |silence| silence.nanos() >= least)
    }

    /// The longest time within `from` to `to` in which the sender of a direction sent no ESP, and nothing at `heard` (its IKE messages,
    /// in order of time).
    pub(super) fn longest(
        &self,
        (tunnel, direction): (TunnelIndex, Direction),
        (from, to): (Timestamp, Timestamp),
        heard: &[Heard],
    ) -> SideSilence {
        let side = (tunnel, slot(direction));
        let last = match self.current {
            Some((current, last)) if current == tunnel => last,
            _ => self.last.get(&tunnel).copied().unwrap_or_default(),
        };
        let whole = |last_frame| SideSilence { from, to, last_frame };
        let open = match last[side.1] {
            Some((last, frame)) if last < to => Some(SideSilence {
                from: last,
                ..whole(Some(frame))
            }),
            None => Some(whole(None)),
            Some(_) => None,
        };
        let kept = self.silences.get(&side).map_or(&[][..], Vec::as_slice);
        let inside = kept
            .iter()
            .copied()
            .chain(open)
            .map(|silence| SideSilence {
                from: silence.from.max(from),
                to: silence.to.min(to),
                ..silence
            })
            .filter(|silence| silence.from < silence.to);
        let unheard = inside.map(|silence| longest_unheard(silence, heard));
        let none = SideSilence {
            to: from,
            ..whole(None)
        };
        unheard.max_by_key(SideSilence::nanos).unwrap_or(none)
    }
}

/// The longest part of a silence between IKE messages.
fn longest_unheard(silence: SideSilence, heard: &[Heard]) -> SideSilence {
    let first = heard.partition_point(|(time, _)| *time <= silence.from);
    let inside = heard
        .iter()
        .skip(first)
        .take_while(|(time, _)| *time < silence.to);
    let (mut at, mut longest) = (silence, None::<SideSilence>);
    let longer = |longest: Option<SideSilence>, part: SideSilence| match longest {
        Some(longest) if longest.nanos() >= part.nanos() => Some(longest),
        _ => Some(part),
    };
    for &(time, frame) in inside {
        longest = longer(longest, SideSilence { to: time, ..at });
        at = SideSilence {
            from: time,
            last_frame: Some(frame),
            ..at
        };
    }
    longer(longest, at).unwrap_or(silence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_MILLI;

    fn at(ms: i64) -> Timestamp {
        Timestamp(ms * NANOS_PER_MILLI)
    }

    #[test]
    fn a_silence_counts_inside_the_stretch_only_and_ike_parts_it() {
        let mut silences = SideSilences::default();
        for ms in [0, 100, 1_100, 1_200, 1_300] {
            silences.take(0, Direction::AToB, (at(ms), 1));
        }
        silences.take(1, Direction::AToB, (at(1_300), 2));
        let longest = |from, to, heard: &[i64]| {
            let heard: Vec<Heard> = heard.iter().map(|ms| (at(*ms), 9)).collect();
            silences
                .longest((0, Direction::AToB), (at(from), at(to)), &heard)
                .nanos()
                / NANOS_PER_MILLI
        };
        assert_eq!(longest(0, 1_300, &[]), 1_000);
        assert_eq!(longest(0, 1_300, &[500]), 600);
        assert_eq!(longest(400, 900, &[]), 500);
        assert_eq!(longest(1_250, 2_000, &[]), 700, "it lasts to the end");
        let never = silences.longest((0, Direction::BToA), (at(0), at(900)), &[]);
        assert_eq!((never.nanos(), never.last_frame), (900 * NANOS_PER_MILLI, None));
    }
}
