//! Stretches with labels → the lines of an account.

use super::join::{LabelledPiece, LabelledSteps};
use rekeyscope_model::analysis::{AccountAlso, AccountEvidence, AccountLabel, AccountLine};
use rekeyscope_model::time::NANOS_PER_SECOND;
use std::collections::BTreeMap;

/// Stretches that stand for a label.
const EVIDENCE: usize = 3;

pub(crate) fn seconds(nanos: i64) -> f64 {
    nanos as f64 / NANOS_PER_SECOND as f64
}

/// What every line is compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared {
    pub(crate) nanos: i64,
    pub(crate) bytes: u64,
    /// C, bytes/s.
    pub(crate) reference: f64,
}

impl Compared {
    pub(crate) fn lost(&self, nanos: i64, bytes: u64) -> f64 {
        seconds(nanos) - bytes as f64 / self.reference
    }
}

/// What a label gathers.
#[derive(Debug, Default)]
struct LabelSums {
    nanos: i64,
    also: BTreeMap<AccountLabel, i64>,
    evidence: Vec<(i64, (u64, u64))>,
}

#[derive(Debug, Default)]
pub(crate) struct Sums {
    lines: BTreeMap<AccountLabel, LabelSums>,
    bytes: BTreeMap<AccountLabel, u64>,
    /// Windows of waits for the receiver, and of how many packets.
    windows: Vec<(u32, u32)>,
}

impl Sums {
    /// Takes the bytes of a connection.
    pub(crate) fn take_steps(&mut self, of: &LabelledSteps) {
        for (step, label) in of.steps.iter().zip(&of.labels) {
            *self.bytes.entry(label.0).or_default() += step.bytes;
            if label.0 == AccountLabel::ReceiveWindow {
                self.windows.push((step.window, step.packets));
            }
        }
    }

    /// Takes the time of all of them.
    pub(crate) fn take(&mut self, pieces: &[LabelledPiece]) {
        for piece in pieces {
            let line = self.lines.entry(piece.label).or_default();
            line.nanos += piece.nanos;
            if let Some(also) = piece.also {
                *line.also.entry(also).or_default() += piece.nanos;
            }
            let length = piece.to - piece.from;
            let place = line.evidence.partition_point(|e| e.0 >= length);
            let known = line.evidence.iter().any(|e| e.1 == piece.frames);
            if place < EVIDENCE && !known {
                line.evidence.insert(place, (length, piece.frames));
                line.evidence.truncate(EVIDENCE);
            }
        }
    }

    /// New bytes, and nanoseconds.
    pub(crate) fn totals(&self) -> (u64, i64) {
        (
            self.bytes.values().sum(),
            self.lines.values().map(|l| l.nanos).sum(),
        )
    }

    /// The window that half of the packets that waited for the receiver had at most, bytes.
    pub(crate) fn usual_window(&mut self) -> Option<u32> {
        self.windows.sort_unstable();
        let all: u64 = self.windows.iter().map(|w| u64::from(w.1)).sum();
        let mut left = all / 2;
        let middle = self.windows.iter().find(|w| {
            let found = u64::from(w.1) > left;
            left = left.saturating_sub(u64::from(w.1));
            found
        });
        middle.map(|w| w.0)
    }

    pub(crate) fn lines(&self, totals: &Compared) -> Vec<AccountLine> {
        let all_lost = totals.lost(totals.nanos, totals.bytes);
        let empty = LabelSums::default();
        let labels: std::collections::BTreeSet<AccountLabel> =
            self.lines.keys().chain(self.bytes.keys()).copied().collect();
        let line = |label: AccountLabel| {
            let line = self.lines.get(&label).unwrap_or(&empty);
            let bytes = self.bytes.get(&label).copied().unwrap_or(0);
            let lost = totals.lost(line.nanos, bytes);
            let without = seconds(totals.nanos) - lost;
            AccountLine {
                label,
                seconds: seconds(line.nanos),
                bytes,
                lost_seconds: lost,
                share: line.nanos as f64 / totals.nanos.max(1) as f64,
                lost_share: (all_lost > 0.0).then(|| lost / all_lost),
                s_per_gb: (totals.bytes > 0).then(|| seconds(line.nanos) * 1e9 / totals.bytes as f64),
                without_mbps: (without > 0.0 && lost > 0.0)
                    .then(|| totals.bytes as f64 * 8.0 / without / 1e6),
                also: line
                    .also
                    .iter()
                    .map(|(&label, &nanos)| AccountAlso {
                        label,
                        seconds: seconds(nanos),
                    })
                    .collect(),
                evidence: line
                    .evidence
                    .iter()
                    .map(|&(nanos, (from_frame, to_frame))| AccountEvidence {
                        from_frame,
                        to_frame,
                        seconds: seconds(nanos),
                    })
                    .collect(),
            }
        };
        let mut lines: Vec<AccountLine> = labels.into_iter().map(line).collect();
        lines.retain(|l| l.seconds > 0.0 || l.bytes > 0);
        lines.sort_by(|a, b| b.lost_seconds.total_cmp(&a.lost_seconds));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{at, step};
    use AccountLabel::{Application, Capacity, ReceiveWindow, Rekey};

    fn piece(from: i64, to: i64, label: AccountLabel, frames: (u64, u64)) -> LabelledPiece {
        LabelledPiece {
            from: at(from),
            to: at(to),
            nanos: at(to - from),
            label,
            also: None,
            frames,
            leads: true,
        }
    }

    /// 2 s and 3 MB at a reference of 2 MB/s, of which a rekey took half a second.
    #[test]
    fn a_line_has_its_time_its_bytes_and_what_they_cost() {
        let mut sums = Sums::default();
        let also = LabelledPiece {
            also: Some(ReceiveWindow),
            ..piece(0, 1_500, Capacity, (1, 9))
        };
        sums.take(&[also, piece(1_500, 2_000, Rekey, (9, 10))]);
        let mut bytes = step(0, 1_500, Capacity);
        bytes.bytes = 3_000_000;
        sums.take_steps(&LabelledSteps {
            steps: vec![bytes],
            labels: vec![(Capacity, Some(ReceiveWindow))],
            ended: false,
        });
        assert_eq!(sums.totals(), (3_000_000, at(2_000)));
        let lines = sums.lines(&Compared {
            nanos: at(2_000),
            bytes: 3_000_000,
            reference: 2e6,
        });
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
        let even = sums.lines(&Compared {
            nanos: at(2_000),
            bytes: 0,
            reference: f64::INFINITY,
        });
        assert!(even.iter().all(|l| l.s_per_gb.is_none()));
        let faster = sums.lines(&Compared {
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
        let mut sums = Sums::default();
        let lengths = [(100, 1), (400, 2), (200, 3), (300, 4), (500, 2)];
        sums.take(&lengths.map(|(ms, frame)| piece(0, ms, Rekey, (frame, frame + 1))));
        let lines = sums.lines(&Compared {
            nanos: at(1_500),
            bytes: 1,
            reference: 1.0,
        });
        let frames: Vec<u64> = lines[0].evidence.iter().map(|e| e.from_frame).collect();
        assert_eq!(frames, [2, 4, 3], "each pair of frames once");
        assert_eq!(lines[0].evidence[0].seconds, 0.4);
    }

    /// By the packets that waited with it.
    #[test]
    fn the_usual_window_is_the_median() {
        let usual = |windows: &[(u32, u32)]| {
            let mut sums = Sums::default();
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
            sums.take_steps(&LabelledSteps {
                steps,
                labels,
                ended: false,
            });
            sums.usual_window()
        };
        assert_eq!(usual(&[]), None);
        assert_eq!(usual(&[(300, 1), (100, 1), (200, 1)]), Some(200));
        assert_eq!(usual(&[(100, 2), (200, 2)]), Some(200));
        assert_eq!(usual(&[(100, 3), (200, 2)]), Some(100));
        assert_eq!(usual(&[(100, 1), (200, 1), (300, 5)]), Some(300));
    }
}
