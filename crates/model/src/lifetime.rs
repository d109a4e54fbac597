//! Bytes in the kilobyte of a lifetime.

/// Bytes in the kilobyte of the lifetime attribute as strongSwan and Linux count (RFC 2407 §4.5 does not say). With the other
/// reading lifetimes are 2.4 % longer.
pub const LIFETIME_KILOBYTE: u64 = 1_000;
/// The largest reading of it, Windows'.
pub const LARGEST_LIFETIME_KILOBYTE: u64 = 1_024;
/// Share of the larger by which two volumes or ages of the same limit differ at most: the two readings of the kilobyte are 2.4 % apart,
/// a daemon looks at its SAs every second or every few packets, and a capture counts padding and headers otherwise than each kernel does.
pub const SAME_LIMIT: f64 = 0.03;
