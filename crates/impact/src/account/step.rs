//! A wait for a packet, or several short ones that are alike.

use rekeyscope_model::analysis::AccountLabel;

/// No index.
pub(super) const NONE: u32 = u32::MAX;

/// What a wait is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepLabel {
    Label(AccountLabel),
    /// What its episode of loss turns out to be.
    Episode,
}

/// What waits that are counted together have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepKind {
    pub(super) found: StepLabel,
    /// Of an episode, or on the way back to the flight before it: its index.
    pub(super) episode: u32,
    /// On the way back after a pause: its number.
    pub(super) ramp: u32,
    /// In a long silence of the other side: its index.
    pub(super) silence: u32,
    /// Between two full windows.
    pub(super) between_full: bool,
    /// The path carries all it can.
    pub(super) at_capacity: bool,
}

/// One wait, or several short ones. It ends with a data packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The data packet before it; of the first step its own.
    pub(super) from: i64,
    pub(super) to: i64,
    /// Numbers of these packets.
    pub(super) frames: (u64, u64),
    /// New bytes.
    pub(super) bytes: u64,
    /// The longest of its waits, nanoseconds.
    pub(super) longest: i64,
    pub(super) kind: StepKind,
    /// Its pause's number, where it is one.
    pub(super) pause: u32,
    /// The receiver's window as it was.
    pub(super) window: u32,
    /// Packets that it counts.
    pub(super) packets: u32,
    /// The window was full when it began.
    pub(super) touched: bool,
    /// Everything was acknowledged before it ended.
    pub(super) all_acked: bool,
    /// It ends with a segment that was sent before.
    pub(super) again: bool,
    /// The packet at its end has not the IPv4 identification behind the one before: some vanished.
    pub(super) vanished: bool,
}

impl Step {
    /// Takes the one behind it in.
    pub(super) fn absorb(&mut self, next: &Step) {
        (self.to, self.frames.1) = (next.to, next.frames.1);
        self.bytes += next.bytes;
        self.longest = self.longest.max(next.longest);
        self.window = next.window;
        self.packets += next.packets;
    }

    /// The part before `time` and the rest; the bytes as if they had come evenly.
    pub(super) fn split(&self, time: i64) -> [Step; 2] {
        let share = (time - self.from) as f64 / (self.to - self.from) as f64;
        let bytes = ((self.bytes as f64 * share) as u64).min(self.bytes);
        let before = Step {
            to: time,
            bytes,
            ..*self
        };
        let behind = Step {
            from: time,
            bytes: self.bytes - bytes,
            ..*self
        };
        [before, behind]
    }

    /// It is one wait.
    pub(super) fn is_one(&self) -> bool {
        self.longest >= self.to - self.from
    }
}
