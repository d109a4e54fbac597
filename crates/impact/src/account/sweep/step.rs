//! A wait for a packet, or several short ones that are alike.

use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_traffic::FINEST;

/// Facts that waits have in common that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepKind {
    /// `None`: what its episode of loss turns out to be.
    pub(crate) found: Option<AccountLabel>,
    /// Between two full windows.
    pub(crate) between_full: bool,
    /// The path carries all it can.
    pub(crate) at_capacity: bool,
}

/// One wait, or several short ones. It ends with a data packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// The data packet before it; of the first step its own.
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// Numbers of these packets.
    pub(crate) frames: (u64, u64),
    /// New bytes.
    pub(crate) bytes: u64,
    /// The longest of its waits, nanoseconds.
    pub(crate) longest: i64,
    pub(crate) kind: StepKind,
    /// The receiver's window as it was.
    pub(crate) window: u32,
    /// Packets that it counts.
    pub(crate) packets: u32,
    /// The window was full when it began.
    pub(crate) touched: bool,
}

impl Step {
    /// The one behind it may be counted with it: both are short, waits of at most `gap`, and of one kind.
    pub(crate) fn is_alike(&self, next: &Step, gap: i64) -> bool {
        let short = self.longest.max(next.longest) <= gap && next.to - self.from <= FINEST;
        // The first of a connection is no wait.
        short && self.kind == next.kind && self.frames.0 != self.frames.1
    }

    /// Takes the one behind it in.
    pub(crate) fn absorb(&mut self, next: &Step) {
        (self.to, self.frames.1) = (next.to, next.frames.1);
        self.bytes += next.bytes;
        self.longest = self.longest.max(next.longest);
        self.window = next.window;
        self.packets += next.packets;
    }
}
