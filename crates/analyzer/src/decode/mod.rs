//! ESP packets wait here until there are enough of them for all cores. Verifying and decrypting needs no state but the
//! key, so it runs in parallel; everything before and after runs in capture order.

mod batch;

pub(crate) use batch::{
    Authenticated, Batch, Decoded, IkeMark, IkePart, InFlight, Pending, decode_one, open,
};
