//! Contents of key files: keys, seeds, blobs that may be keys, and how much of each is kept.

pub(crate) mod claim;
pub(crate) mod contents;
pub(crate) mod ike_record;
pub(crate) mod index;
pub(crate) mod key;
pub(crate) mod sink;
