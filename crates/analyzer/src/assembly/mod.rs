//! What the pipeline remembers → the document. The verdicts are computed here (by [`crate::impact`]), nothing later.

mod account;
mod attempts;
mod children;
mod close_up;
mod costs;
pub mod document;
mod judgement;
mod ledger;
mod outages;
mod overhead;
mod places;
mod rests;
mod scene;
mod series;
mod two_points;

pub use document::{Asked, assemble};
pub use two_points::{point_trace, with_two_points};
