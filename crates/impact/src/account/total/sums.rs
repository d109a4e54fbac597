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
