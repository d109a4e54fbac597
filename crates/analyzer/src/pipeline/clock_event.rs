//! Jumps of the frames' times, for the report.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Jump {
    /// The clock was set.
    Step,
    /// Packets that come before those already read, or again.
    OutOfOrder,
    /// A long silence that may be either.
    Undecided,
}

/// One jump.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockEvent {
    pub(crate) frame: u64,
    pub(crate) jump: Jump,
    /// Nanoseconds by which the frames' times jump, without the time that really passed.
    pub(crate) nanos: i64,
    /// The peers' clocks say so; otherwise its size is that of the silence.
    pub(crate) measured: bool,
}
