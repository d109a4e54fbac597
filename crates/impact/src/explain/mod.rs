//! Explanations of times without delivery: one table of causes, tried in one order.
//!
//! ```text
//! scene ─→ view ─→ control, sas, path ─→ table     the questions, the rows, their order
//!                                costs, findings   the rows of the same table for time that is no outage, and for what else is found
//! document ─→ failure                              the tunnels that failed, whose verdicts come first
//! document ─→ variant                              the words of a row that has several
//! document ─→ told, orphan, set_up, remarks, loss   which of them an answer speaks of, and what it says where there is none
//! ```

mod control;
mod costs;
mod explained;
mod failure;
mod findings;
mod loss;
mod orphan;
mod path;
mod remarks;
mod renewal;
mod same_limits;
mod sas;
mod scene;
mod set_up;
mod silent_host;
mod slow_sa;
mod table;
mod told;
mod variant;
mod view;
mod windows;

#[cfg(test)]
mod tests;

pub use control::REFUSAL_TAKES_EFFECT;
pub use costs::{BesideRekeys, COSTS, CostRow, cost_row};
pub use explained::{ExplainedTime, WindowsPart};
pub use failure::{ToldRenewal, failures_first, told_failed_renewal};
pub use findings::{FINDINGS, FindingRow, finding_of, finding_row};
pub use loss::{
    ToldLostBefore, ToldPathLoss, leading_loss, told_idle_beside, told_loss, told_loss_beside,
    told_lost_before, told_path_loss, told_unexplained_beside,
};
pub(crate) use loss::{is_loss, lost_on_the_path};
pub use orphan::{OrphanReason, ToldOrphan, told_orphan};
pub use remarks::{
    ToldDialledAgain, ToldFirstNumbers, ToldNoReturn, ToldQueue, ToldStandstill, ToldTornDown,
    told_childless, told_cut_off, told_dialled_again, told_elsewhere, told_first_numbers, told_left_behind,
    told_no_return, told_queue, told_silent_esp, told_standstill, told_stop, told_torn_down,
};
pub use renewal::{
    is_cost_of_renewal, is_crossed, leaves_unused, names_renewal, slow_answers, stopped_before,
};
pub use sas::uses_up_numbers;
pub use scene::{
    ExchangeInScene, MadeByExchange, OutageInScene, SaInScene, Scene, SilencesOfSide, SwallowedPacket,
};
pub use set_up::{SetUpFailure, ToldEnded, ToldSetUp, told_ended, told_login, told_set_up};
pub use silent_host::{ToldSilentHost, told_silent_host};
pub use slow_sa::{ToldSlowSa, told_slow_sa};
pub use table::{CostOfRenewal, ExplanationRow, Moment, ROWS, explain, row_of};
pub use told::{ToldEverywhere, ToldOutages, others_pass, told_everywhere, told_outages};
pub use variant::{
    AsksBehindDelete, asks_behind_delete, brought_back, evidence_of, is_at_rest, is_of_echoes, is_of_one_sa,
    variant,
};
pub use view::DELETE_OF_A_REKEY;
pub use view::MOST_FRAMES;
pub use windows::{WindowsClient, is_of_windows, renews_as_windows, told_windows};
