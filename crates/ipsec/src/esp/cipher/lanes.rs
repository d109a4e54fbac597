//! How sixteen messages lie side by side for SHA-1 (FIPS 180-4).

/// Messages at once.
pub(super) const LANES: usize = 16;
/// A block of SHA-1.
pub(super) type Block = [u8; 64];
/// The five words a..e of all lanes: `states[word][lane]`.
pub(super) type States = [[u32; LANES]; 5];
