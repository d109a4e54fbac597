//! The tables of a report, independent of the format that lays them out.

mod account;
mod attempts;
mod comparison;
mod keys;
mod rekeys;
mod rows;
mod sas;
mod table;
mod transfers;
mod two_points;

pub(crate) use account::{account, brief_account, gap, stretches};
pub(crate) use attempts::attempts;
pub(crate) use comparison::comparison;
pub(crate) use keys::{ike_keys, sa_keys, split_source};
pub(crate) use rekeys::{costliest_rekeys, rekeys};
pub(crate) use rows::{flows, overhead, overlay, projection, verdicts, verdicts_in_brief};
pub(crate) use sas::security_associations;
pub(crate) use table::{Align, Column, Mark, Row, Table};
pub(crate) use transfers::transfers;
pub(crate) use two_points::two_points;
