//! Many files, one timeline: what a capture program cut into pieces is read as if it were one file.
//!
//! - [`sequences`]: the pieces of ring buffers, recognised by name and time, in the order in which they were written.
//! - [`JoinedReader`]: their packets. Pieces of one sequence follow each other; several sequences are merged by time.

mod names;
mod reader;
mod sequence;
#[cfg(test)]
mod tests;

pub use reader::{CapturePiece, JoinedReader};
pub use sequence::{PieceSequence, sequences};
