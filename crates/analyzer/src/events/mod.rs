//! What the control plane and the path did, over the whole capture: one file for each source.
//!
//! - [`moves`]: an end of a tunnel has another address, or another port.

mod moves;

pub(crate) use moves::moves;
