//! The resolution of the series, and how much of them is kept.

use rekeyscope_model::time::NANOS_PER_MILLI;

/// Base bin of a series that was not made coarser, nanoseconds. The 10 ms bins of the document are pairs of these.
pub const BASE_BIN_NANOS: i64 = 5 * NANOS_PER_MILLI;
/// Most base bins of one series; beyond, its base bin doubles (first after 2.9 hours, silences of a minute not counted).
pub const MAX_BINS: usize = 1 << 21;
/// Most stretches of bins in a series, with silences between them that are not stored; further silences are.
pub(super) const MAX_STRETCHES: usize = 256;
/// Most base bins of all series together, 48 MiB; beyond, the longest series gets coarser.
pub const MAX_BINS_TOGETHER: usize = 1 << 22;
/// Most series; packets of further ones are only counted ([`super::SeriesSet::dropped`]).
pub const MAX_SERIES: usize = 1024;
/// Most bins of a series in the document.
pub const MAX_DOCUMENT_BINS: usize = 20_000;
/// Smallest bin in the document, nanoseconds.
pub(super) const DOCUMENT_BIN_NANOS: i64 = 10 * NANOS_PER_MILLI;
