//! ESP packets wait here until there are enough of them for all cores. Verifying and decrypting needs no state but the
//! key, so it runs in parallel; everything before and after runs in capture order.

mod batch;
mod packet;

pub(crate) use batch::Batch;
pub(crate) use packet::{Authenticated, ClearMark, Decoded, IkeMark, Marked, Pending, decode_one};
