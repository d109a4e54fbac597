//! The traffic of the tunnels. [`reading`] gives ESP packets to the crate `traffic`; beside it stand what its intervals do not hold
//! ([`silences`], [`quiets`], [`volumes`]), the [`flow`]s, bytes over time ([`meters`]), and the [`connections`] of the account.

mod connections;
mod flow;
#[cfg(test)]
mod lab_test;
mod meters;
mod quiets;
mod reading;
mod series;
mod silences;

pub(crate) use connections::Connections;
pub(crate) use flow::{FlowTable, GoneOver, PairSeen, PairsSeen};
pub(crate) use meters::Meters;
pub(crate) use quiets::Quiet;
pub(crate) use reading::{TrafficReading, inner_packet};
pub(crate) use series::{Bin, DOCUMENT_BIN_NANOS};
