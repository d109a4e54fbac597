//! How messages lie side by side.

use crate::hash::lane_hash::{Block, LaneHash};

/// The chains of all lanes: `states[word][lane]`.
pub type States<const LANES: usize> = [[u32; LANES]; 8];
/// The blocks that wait in each lane.
pub type Messages<'a, const LANES: usize> = [&'a [Block]; LANES];

/// A way to hash `LANES` messages at once.
pub trait Compress<const LANES: usize>: Copy {
    /// Compresses the first `steps` blocks of each lane's message into its state. A message with fewer blocks leaves no
    /// defined state behind.
    fn compress(
        self,
        hash: LaneHash,
        states: &mut States<LANES>,
        messages: &Messages<'_, LANES>,
        steps: usize,
    );
}
