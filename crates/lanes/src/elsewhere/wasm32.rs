//! The type of WebAssembly, without values.

use crate::hash::{Compress, LaneHash, Messages, States};

no_lanes!(Simd128, 4);
