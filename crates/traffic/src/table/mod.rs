//! Tables with bounds.

mod bounded;
mod ranges;

pub(crate) use bounded::BoundedTable;
pub use ranges::Ranges;
