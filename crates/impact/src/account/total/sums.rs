//! Stretches with labels → the lines of an account.

use super::join::{LabelledPiece, LabelledSteps};
use crate::ledger::LabelSum;
use rekeyscope_model::analysis::{AccountAlso, AccountEvidence, AccountLabel, AccountLine};
use rekeyscope_model::time::seconds;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Stretches that stand for a label.
const MOST_EVIDENCE: usize = 3;

/// Nanoseconds of each label that follow from a rekey: from its end on the window is smaller or grows, up to the first stretch with
/// another reason.
fn behind_rekeys(pieces: &[LabelledPiece]) -> BTreeMap<AccountLabel, i64> {
    use AccountLabel::{Growth, PathLoss, QueueLoss, Rekey, Reordering, Unexplained};
    let mut behind: BTreeMap<AccountLabel, i64> = BTreeMap::new();
    let mut follows = false;
    for piece in pieces {
        match piece.label {
            Rekey => follows = true,
            PathLoss | QueueLoss | Reordering | Growth | Unexplained if follows => {
                *behind.entry(piece.label).or_default() += piece.nanos();
            }
            _ => follows = false,
        }
    }
    behind
}

/// The whole that every line is compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared {
    pub(crate) nanos: i64,
    pub(crate) bytes: u64,
    /// C, bytes/s.
    pub(crate) reference: f64,
}

impl Compared {
    /// Seconds beyond those that the bytes take at the reference; no bytes take none, also where there is no rate.
    pub(crate) fn lost(&self, nanos: i64, bytes: u64) -> f64 {
        let needed = match bytes {
            0 => 0.0,
            bytes => bytes as f64 / self.reference,
        };
        seconds(nanos) - needed
    }
}

/// The lines of all labels that have something, most lost first: what else their stretches would be called, and the longest of them.
pub(crate) fn lines(
    pieces: &[LabelledPiece],
    sums: &BTreeMap<AccountLabel, LabelSum>,
    totals: &Compared,
) -> Vec<AccountLine> {
    // Some labels may have won back what others lost: a share is one of all that was lost, so none is more than the whole.
    let is_longer = totals.lost(totals.nanos, totals.bytes) > 0.0;
    let lost = |sum: &LabelSum| totals.lost(sum.nanos, sum.bytes).max(0.0);
    let all_lost: f64 = sums.values().map(lost).sum();
    let behind = behind_rekeys(pieces);
    let line = |(&label, sum): (&AccountLabel, &LabelSum)| {
        let lost = totals.lost(sum.nanos, sum.bytes);
        // What other labels won back is no rate that the path is known to carry.
        let least = (totals.bytes as f64 / totals.reference).min(seconds(totals.nanos));
        let without = (seconds(totals.nanos) - lost).max(least);
        let mut also: BTreeMap<AccountLabel, i64> = BTreeMap::new();
        let mut longest: Vec<LabelledPiece> = Vec::new();
        for piece in pieces.iter().filter(|p| p.label == label) {
            if let Some(other) = piece.also {
                *also.entry(other).or_default() += piece.nanos();
            }
            match longest.last_mut().filter(|last| last.to == piece.from) {
                Some(last) => (last.to, last.frames.1) = (piece.to, piece.frames.1),
                None => longest.push(*piece),
            }
        }
        longest.sort_by_key(|p| Reverse(p.nanos()));
        let mut evidence: Vec<AccountEvidence> = Vec::new();
        for piece in longest {
            let (from_frame, to_frame) = piece.frames;
            let known = evidence
                .iter()
                .any(|e| (e.from_frame, e.to_frame) == piece.frames);
            if evidence.len() < MOST_EVIDENCE && !known {
                evidence.push(AccountEvidence {
                    from_frame,
                    to_frame,
                    seconds: seconds(piece.nanos()),
                });
            }
        }
        AccountLine {
            label,
            seconds: seconds(sum.nanos),
            bytes: sum.bytes,
            lost_seconds: lost,
            behind_rekeys: behind.get(&label).copied().unwrap_or(0) as f64 / sum.nanos.max(1) as f64,
            share: sum.nanos as f64 / totals.nanos.max(1) as f64,
            lost_share: is_longer.then(|| lost / all_lost),
            s_per_gb: (totals.bytes > 0).then(|| seconds(sum.nanos) * 1e9 / totals.bytes as f64),
            without_mbps: (without > 0.0 && lost > 0.0).then(|| totals.bytes as f64 * 8.0 / without / 1e6),
            also: also
                .into_iter()
                .map(|(label, nanos)| AccountAlso {
                    label,
                    seconds: seconds(nanos),
                })
                .collect(),
            evidence,
        }
    };
    let mut lines: Vec<AccountLine> = sums.iter().map(line).collect();
    lines.retain(|l| l.seconds != 0.0 || l.bytes > 0);
    lines.sort_by(|a, b| b.lost_seconds.total_cmp(&a.lost_seconds));
    lines
}

/// The window that half of the packets that waited for the receiver had at most, bytes.
pub(crate) fn usual_window(connections: &[LabelledSteps]) -> Option<u32> {
    let steps = connections.iter().flat_map(|of| of.steps.iter().zip(&of.labels));
    let waits = steps.filter(|(_, label)| label.0 == AccountLabel::ReceiveWindow);
    let mut windows: Vec<(u32, u32)> = waits.map(|(step, _)| (step.window, step.packets)).collect();
    windows.sort_unstable();
    let all: u64 = windows.iter().map(|w| u64::from(w.1)).sum();
    let mut left = all / 2;
    let middle = windows.iter().find(|w| {
        let found = u64::from(w.1) > left;
        left = left.saturating_sub(u64::from(w.1));
        found
    });
    middle.map(|w| w.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{at, step};
    use AccountLabel::{Application, Capacity, ReceiveWindow, Rekey};
    use rekeyscope_model::time::Timestamp;

    fn piece(from: i64, to: i64, label: AccountLabel, frames: (u64, u64)) -> LabelledPiece {
        LabelledPiece {
            from: Timestamp(at(from)),
            to: Timestamp(at(to)),
            label,
            also: None,
            frames,
        }
    }

    /// 2 s and 3 MB at a reference of 2 MB/s, of which a rekey took half a second.
    #[test]
    fn a_line_has_its_time_its_bytes_and_what_they_cost() {
        let also = LabelledPiece {
            also: Some(ReceiveWindow),
            ..piece(0, 1_500, Capacity, (1, 9))
        };
        let pieces = [also, piece(1_500, 2_000, Rekey, (9, 10))];
        let sum = |ms, bytes| LabelSum { nanos: at(ms), bytes };
        let sums = BTreeMap::from([(Capacity, sum(1_500, 3_000_000)), (Rekey, sum(500, 0))]);
        let lines = lines(
            &pieces,
            &sums,
            &Compared {
                nanos: at(2_000),
                bytes: 3_000_000,
                reference: 2e6,
            },
        );
        let [rekey, capacity] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert_eq!((rekey.label, rekey.seconds, rekey.bytes), (Rekey, 0.5, 0));
        assert_eq!((rekey.lost_seconds, rekey.share), (0.5, 0.25));
        assert_eq!((rekey.lost_share, rekey.s_per_gb), (Some(1.0), Some(0.5e9 / 3e6)));
        assert_eq!(rekey.without_mbps, Some(16.0), "3 MB in 1.5 s");
        assert_eq!(
            (
                rekey.evidence[0].from_frame,
                rekey.evidence[0].to_frame,
                rekey.evidence[0].seconds
            ),
            (9, 10, 0.5)
        );
        assert_eq!(
            (capacity.seconds, capacity.bytes, capacity.lost_seconds),
            (1.5, 3_000_000, 0.0)
        );
        assert_eq!(
            (capacity.share, capacity.without_mbps),
            (0.75, None),
            "nothing to win"
        );
        assert_eq!(
            (capacity.also[0].label, capacity.also[0].seconds),
            (ReceiveWindow, 1.5)
        );
        let lines_of = |compared: &Compared| super::lines(&pieces, &sums, compared);
        let even = lines_of(&Compared {
            nanos: at(2_000),
            bytes: 0,
            reference: f64::INFINITY,
        });
        assert!(even.iter().all(|l| l.s_per_gb.is_none()));
        let faster = lines_of(&Compared {
            nanos: at(2_000),
            bytes: 3_000_000,
            reference: 1e6,
        });
        assert!(
            faster.iter().all(|l| l.lost_share.is_none()),
            "faster than the reference"
        );
    }

    #[test]
    fn the_three_longest_stretches_are_evidence() {
        let lengths = [(100, 1), (400, 2), (200, 3), (300, 4), (500, 2)];
        let pieces = lengths.map(|(ms, frame)| piece(0, ms, Rekey, (frame, frame + 1)));
        let sums = BTreeMap::from([(
            Rekey,
            LabelSum {
                nanos: at(1_500),
                bytes: 0,
            },
        )]);
        let lines = lines(
            &pieces,
            &sums,
            &Compared {
                nanos: at(1_500),
                bytes: 1,
                reference: 1.0,
            },
        );
        let frames: Vec<u64> = lines[0].evidence.iter().map(|e| e.from_frame).collect();
        assert_eq!(frames, [2, 4, 3], "each pair of frames once");
        assert_eq!(
            lines[0].evidence[0].seconds, 0.5,
            "the longer of two with the same frames"
        );
    }

    #[test]
    fn losses_right_behind_a_rekey_follow_from_it() {
        use AccountLabel::{Growth, PathLoss, QueueLoss};
        let labels = [PathLoss, Rekey, PathLoss, Growth, Capacity, PathLoss, QueueLoss];
        let pieces: Vec<LabelledPiece> = (0..)
            .zip(labels)
            .map(|(place, label)| piece(100 * place, 100 * (place + 1), label, (1, 2)))
            .collect();
        let expected = BTreeMap::from([(PathLoss, at(100)), (Growth, at(100))]);
        assert_eq!(behind_rekeys(&pieces), expected);
    }

    /// By the packets that waited with it.
    #[test]
    fn the_usual_window_is_the_median() {
        let usual = |windows: &[(u32, u32)]| {
            let of = |&(window, packets): &(u32, u32)| {
                let mut step = step(0, 1, ReceiveWindow);
                (step.window, step.packets) = (window, packets);
                step
            };
            let mut steps: Vec<_> = windows.iter().map(of).collect();
            // Another label's window is no window that was waited for.
            steps.push(of(&(1, 100)));
            let mut labels = vec![(ReceiveWindow, None); windows.len()];
            labels.push((Application, None));
            usual_window(&[LabelledSteps {
                steps,
                labels,
                ended: false,
            }])
        };
        assert_eq!(usual(&[]), None);
        assert_eq!(usual(&[(300, 1), (100, 1), (200, 1)]), Some(200));
        assert_eq!(usual(&[(100, 2), (200, 2)]), Some(200));
        assert_eq!(usual(&[(100, 3), (200, 2)]), Some(100));
        assert_eq!(usual(&[(100, 1), (200, 1), (300, 5)]), Some(300));
    }
}
