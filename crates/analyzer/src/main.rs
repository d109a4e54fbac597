//! The command line program; see `rekeyscope --help`.
fn main() {}
