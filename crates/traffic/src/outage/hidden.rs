//! Packets of a tunnel that no key opens, or that were cut: whatever a connection sent meanwhile may have arrived in them.

use super::candidate::{Candidate, Delivered};
use crate::tcp::LONGEST_ACK_DELAY;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;
use std::borrow::Cow;

/// Stretches that are kept of a tunnel, 48 kB; the last one takes all that comes later.
const MOST_STRETCHES: usize = 1 << 10;

/// Stretches in which such packets passed, in order of time: the first packet, the last one, and how many there are. Single ones are damaged.
#[derive(Debug, Default)]
pub(super) struct Hidden(Vec<(Delivered, Timestamp, u64)>);

impl Hidden {
    pub(super) fn take(&mut self, at: Delivered) {
        let full = self.0.len() >= MOST_STRETCHES;
        match self.0.last_mut() {
            Some((_, last, packets)) if full || at.time.nanos_since(*last) <= LONGEST_ACK_DELAY => {
                (*last, *packets) = (at.time.max(*last), *packets + 1);
            }
            _ => self.0.push((at, at.time, 1)),
        }
    }

    /// The first of several packets that show nothing, where some came behind `from`.
    pub(super) fn behind(&self, from: Timestamp) -> Option<Delivered> {
        let first = self.0.partition_point(|stretch| stretch.1 <= from);
        let mut several = self.0[first..].iter();
        several
            .find(|stretch| stretch.2 >= LEAST_NOT_BY_CHANCE)
            .map(|stretch| stretch.0)
    }

    /// The part of a stretch before such packets, and whether they cut it; `None` where that is too short.
    pub(super) fn before<'a>(&self, candidate: &'a Candidate) -> Option<(Cow<'a, Candidate>, bool)> {
        let (from, to) = (candidate.from.time, candidate.to.time);
        match self.behind(from).filter(|hidden| hidden.time < to) {
            None => Some((Cow::Borrowed(candidate), false)),
            Some(hidden) => {
                let [seen, _] = candidate.clone().split(hidden);
                seen.is_long_enough().then_some((Cow::Owned(seen), true))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_MILLI;

    #[test]
    fn a_few_packets_without_a_key_hide_what_is_sent_meanwhile() {
        let at = |ms: i64| Timestamp(ms * NANOS_PER_MILLI);
        let mut hidden = Hidden::default();
        for ms in [300, 1_000, 1_010, 1_020, 1_600] {
            hidden.take(Delivered::nothing(at(ms)));
        }
        let first = Some(Delivered::nothing(at(1_000)));
        assert_eq!(hidden.behind(at(0)), first, "one alone is damaged");
        assert_eq!(hidden.behind(at(1_005)), first);
        assert_eq!(hidden.behind(at(1_020)), None);
    }
}
