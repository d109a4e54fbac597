//! The tables of a report, independent of the format that lays them out.

mod account;
mod comparison;
mod rekeys;
mod rows;
mod sas;
mod table;
mod two_points;

pub(crate) use account::{account, brief_account, gap, stretches};
pub(crate) use comparison::comparison;
pub(crate) use rekeys::{attempts, costliest_rekeys, rekeys};
pub(crate) use rows::{flows, overhead, overlay, projection, transfers, verdicts, verdicts_in_brief};
pub(crate) use sas::{ike_keys, sa_keys, security_associations, split_source};
pub(crate) use table::{Align, Column, Mark, Row, Table};
pub(crate) use two_points::two_points;
