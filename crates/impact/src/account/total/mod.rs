//! Steps with labels → the lines of an account, and what is drawn.

pub(super) mod edges;
pub(super) mod join;
pub(super) mod strip;
pub(super) mod sums;
