//! Tables for many captures, where the program is built with the feature `parquet`.

mod compact;
mod tables;

pub(crate) use compact::run as compact;
pub(crate) use tables::FleetTables;
