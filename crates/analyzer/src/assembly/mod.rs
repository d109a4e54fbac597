//! The record of the pipeline → the document. [`document::assemble`] is the table of contents; the verdicts are computed here (by
//! [`rekeyscope_impact`]), nothing later.
//!
//! - [`places`]: which IKE SAs and exchanges are listed, and where.
//! - [`outages`], [`attempts`]: when nothing was delivered, what was asked for in vain; [`scene`] is what explains both, and [`costs`].
//! - [`rests`], [`children`]: what parts transfers, and child SAs side by side.
//! - [`judgement`]: each direction with its [`ledger`], its [`account`] and its verdict.
//! - [`series`], [`close_up`]: bytes over time, and the packets around a rekey.
//! - [`overhead`], [`two_points`]: bytes that ESP costs, and another capture of the same tunnels.

mod account;
mod attempts;
mod children;
mod close_up;
mod costs;
mod datagrams;
pub mod document;
mod judgement;
mod ledger;
mod limits;
mod outages;
mod overhead;
mod places;
mod rests;
mod scene;
mod series;
mod two_points;

pub use document::{Asked, assemble};
pub use two_points::{point_trace, with_two_points};
