//! The times in which each side of a tunnel sent no ESP.

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

/// A side, or both together.
#[derive(Debug, Default)]
struct Talk {
    last: Option<Heard>,
    silences: Vec<SideSilence>,
}

/// The silences of all tunnels.
#[derive(Debug, Default)]
pub(crate) struct SideSilences {
    /// By tunnel: each side, and both together.
    talks: Vec<[Talk; 3]>,
    kept: usize,
}

/// The place of both sides together in [`SideSilences::talks`].
const BOTH: usize = 2;

impl SideSilences {
    #[inline]
    pub(super) fn take(&mut self, tunnel: TunnelIndex, direction: Direction, (time, frame): Heard) {
        if tunnel >= self.talks.len() {
            self.talks.resize_with(tunnel + 1, Default::default);
        }
        for place in [slot(direction), BOTH] {
            let talk = &mut self.talks[tunnel][place];
            if let Some((from, last_frame)) = talk.last.replace((time, frame))
                && time.nanos_since(from) > LEAST_TIMEOUT
                && self.kept < MOST_SILENCES
            {
                self.kept += 1;
                talk.silences.push(SideSilence {
                    from,
                    to: time,
                    last_frame: Some(last_frame),
                });
            }
        }
    }

    fn talk(&self, tunnel: TunnelIndex, place: usize) -> Option<&Talk> {
        self.talks.get(tunnel).map(|talks| &talks[place])
    }

    /// Time of the last ESP packet of a side.
    pub(crate) fn last(&self, tunnel: TunnelIndex, slot: usize) -> Option<Timestamp> {
        Some(self.talk(tunnel, slot)?.last?.0)
    }

    /// The times in which nobody sent ESP in a tunnel, up to its last packet.
    pub(crate) fn of_both(&self, tunnel: TunnelIndex) -> impl Iterator<Item = &SideSilence> {
        self.talk(tunnel, BOTH)
            .into_iter()
            .flat_map(|talk| &talk.silences)
    }

    /// The times of at least `least` nanoseconds in which the sender of a direction sent no ESP, up to its last packet.
    pub(crate) fn at_least(
        &self,
        (tunnel, direction): (TunnelIndex, Direction),
        least: i64,
    ) -> impl Iterator<Item = &SideSilence> {
        let own = self.talk(tunnel, slot(direction)).into_iter();
        let kept = own.flat_map(|talk| &talk.silences);
        kept.filter(move |silence| silence.nanos() >= least)
    }

    /// The longest time within `from` to `to` in which the sender of a direction sent no ESP, and nothing at `heard` (its IKE messages,
    /// in order of time).
    pub(crate) fn longest(
        &self,
        (tunnel, direction): (TunnelIndex, Direction),
        (from, to): (Timestamp, Timestamp),
        heard: &[Heard],
    ) -> SideSilence {
        let own = self.talk(tunnel, slot(direction));
        let whole = |last_frame| SideSilence { from, to, last_frame };
        let open = match own.and_then(|talk| talk.last) {
            Some((last, frame)) if last < to => Some(SideSilence {
                from: last,
                ..whole(Some(frame))
            }),
            None => Some(whole(None)),
            Some(_) => None,
        };
        let kept = own.map_or(&[][..], |talk| &talk.silences);
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
