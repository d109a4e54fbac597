//! Bounds of what is kept of key files, so that memory is bounded whatever they hold.

/// Most ESP keys that are kept (about 30 MB); further ones are counted in one [`KeyProblem`](crate::material::contents::KeyProblem).
pub const MOST_ESP_KEYS: usize = 100_000;
/// Most IKE keys that are kept; further ones are counted in one [`KeyProblem`](crate::material::contents::KeyProblem).
pub const MOST_IKE_KEYS: usize = 10_000;
/// Most problems that are kept per file; further ones are counted in a last one.
pub const MOST_PROBLEMS: usize = 1_000;
/// Most unassigned blobs that are kept for mining; further ones are counted in one [`KeyProblem`](crate::material::contents::KeyProblem).
pub const MOST_BLOBS: usize = 50_000;
/// Most bytes of one blob, and of all blobs together, that are kept for mining.
pub const MOST_BLOB_BYTES: usize = 4 << 20;
/// Most places of SPIs that are kept for mining; further ones only make mining slower, not wrong.
pub const MOST_SPI_SIGHTINGS: usize = 200_000;
/// Longest line in bytes; the rest of a longer one is skipped and a [`KeyProblem`](crate::material::contents::KeyProblem) says so. The longest row that a
/// format knows is under 1 kB.
pub const LONGEST_LINE: usize = 64 << 10;

/// Shortest blob that is kept, in bytes: no transform here has a shorter key than AES-128.
pub const SHORTEST_BLOB: usize = 16;
