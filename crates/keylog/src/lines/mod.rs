//! Bytes become the lines that a writer wrote, and formats read in them: words, hex, dumps, names of transforms.

pub(crate) mod algorithm_names;
pub(crate) mod dump;
pub(crate) mod encoding;
pub(crate) mod fields;
pub(crate) mod hex;
pub(crate) mod order;
pub(crate) mod outer;
mod reader;
pub(crate) mod stamp;
pub(crate) mod text;
mod unwrap;
