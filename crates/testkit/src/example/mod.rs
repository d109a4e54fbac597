//! Synthetic documents for the tests of the reports: every figure in here is made up, none was measured.

mod account;
mod build;
mod close_up;
mod edge;
mod failed;
mod ledger;
mod outages;
mod rekeys;
mod rest;
mod shape;
mod traffic;
mod two_points;
mod verdict;

pub use account::{LABELS, account};
pub use build::{build, empty, seven_rekeys};
pub use edge::{all, filters, hostile};
pub use failed::one_failed;
pub use outages::{cause_of, outages};
pub use rest::with_overlays;
pub use shape::Shape;
