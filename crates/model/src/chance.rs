//! Losses that chance explains, and losses that it does not.

/// Packets, or copies of a message, that are not lost by chance together: one or two may be. On a path that loses one packet in a hundred,
/// which is much, three in a row are lost once in a million times.
pub const LEAST_NOT_BY_CHANCE: u64 = 3;
/// Signs of the same thing that tell: one alone may be a packet that was overtaken, or was on its way already.
pub const SEVERAL: u64 = 2;
/// The quantile that bounds an interval of 95 % above: 39 of 40 stay under it.
pub const TWO_SIDED_95: f64 = 0.975;
