//! Explanations of times without delivery: one table of causes, tried in one order.
//!
//! ```text
//! scene ─→ view ─→ control, sas, path ─→ table     the questions, the rows, their order
//! document ─→ told                                  which outages an answer speaks of
//! ```

mod control;
mod orphan;
mod path;
mod renewal;
mod same_limits;
mod sas;
mod scene;
mod table;
mod told;
mod view;

#[cfg(test)]
mod tests;

pub use orphan::{OrphanReason, ToldOrphan, told_orphan};
pub use renewal::is_cost_of_renewal;
pub use scene::{
    ExchangeInScene, MadeByExchange, OutageInScene, SaInScene, Scene, SilencesOfSide, SwallowedPacket,
};
pub use table::{ExplanationRow, ROWS, explain};
pub use told::{ToldOutages, told_outages};
