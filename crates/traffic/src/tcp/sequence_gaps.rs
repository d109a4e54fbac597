//! Sequence numbers below SND.NXT that no packet of the capture brought.

use super::send_mark::SendMark;

/// Most gaps that one side keeps, 18 KiB; at the bound the lowest is forgotten: what fills it later counts as seen before.
const MOST_GAPS: usize = 256;

/// A gap, and the packet that left it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SequenceGap {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The packet beyond it.
    pub(super) beyond: SendMark,
    /// The first packet of the capture lies above the gap.
    pub(super) before_capture: bool,
    /// An acknowledgement covers the gap, and it was counted for that.
    pub(super) acknowledged: bool,
}

/// All gaps of one side, ascending.
#[derive(Debug, Default)]
pub(super) struct SequenceGaps(Vec<SequenceGap>);

impl SequenceGaps {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds one above all others.
    pub(super) fn push(&mut self, gap: SequenceGap) {
        if self.0.len() >= MOST_GAPS {
            self.0.remove(0);
        }
        self.0.push(gap);
    }

    /// The lowest gap in a range.
    pub(super) fn first_in(&self, start: u64, end: u64) -> Option<&SequenceGap> {
        let at = self.0.partition_point(|gap| gap.end <= start);
        self.0.get(at).filter(|gap| gap.start < end)
    }

    /// Takes a range out; `filled` gets each of its parts that was a gap.
    pub(super) fn fill(&mut self, start: u64, end: u64, mut filled: impl FnMut(u64, u64)) {
        let from = self.0.partition_point(|gap| gap.end <= start);
        let to = self.0.partition_point(|gap| gap.start < end);
        if from >= to {
            return;
        }
        let mut left: [Option<SequenceGap>; 2] = [None; 2];
        for gap in self.0.get(from..to).unwrap_or_default() {
            filled(gap.start.max(start), gap.end.min(end));
            if gap.start < start {
                left[0] = Some(SequenceGap { end: start, ..*gap });
            }
            if gap.end > end {
                left[1] = Some(SequenceGap { start: end, ..*gap });
            }
        }
        self.0.splice(from..to, left.into_iter().flatten());
        if self.0.len() > MOST_GAPS {
            self.0.remove(0);
        }
    }

    /// Bytes of gaps that an acknowledgement covers for the first time.
    pub(super) fn acknowledge(&mut self, ack: u64) -> u64 {
        let mut bytes = 0;
        let covered = self.0.partition_point(|gap| gap.end <= ack);
        // From the highest down: below one that was counted all were.
        for gap in self.0.iter_mut().take(covered).rev() {
            if std::mem::replace(&mut gap.acknowledged, true) {
                break;
            }
            bytes += if gap.before_capture {
                0
            } else {
                gap.end - gap.start
            };
        }
        bytes
    }
}
