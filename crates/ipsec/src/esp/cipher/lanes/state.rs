//! How messages lie side by side.

/// The hashes that the lanes know (FIPS 180-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::esp::cipher) enum LaneHash {
    Sha1,
    Sha256,
}

/// A block of either hash.
pub(in crate::esp::cipher) type Block = [u8; 64];
/// A hash between two blocks: eight words, of which SHA-1 uses the first five.
pub(in crate::esp::cipher) type Chain = [u32; 8];
/// The chains of all lanes: `states[word][lane]`.
pub(in crate::esp::cipher) type States<const LANES: usize> = [[u32; LANES]; 8];
/// The blocks that wait in each lane.
pub(in crate::esp::cipher) type Messages<'a, const LANES: usize> = [&'a [Block]; LANES];

/// Something that hashes `LANES` messages at once.
pub(in crate::esp::cipher) trait Compress<const LANES: usize>: Copy {
    /// Compresses the first `steps` blocks of each lane's message into its state. A message with fewer blocks goes on with
    /// zeros.
    fn compress(
        self,
        hash: LaneHash,
        states: &mut States<LANES>,
        messages: &Messages<'_, LANES>,
        steps: usize,
    );
}
