//! Tables for many captures, where the program is built with the feature `parquet`.

#[cfg(not(feature = "parquet"))]
mod absent;
#[cfg(feature = "parquet")]
mod compact;
#[cfg(feature = "parquet")]
mod tables;

#[cfg(not(feature = "parquet"))]
pub(crate) use absent::FleetTables;
#[cfg(feature = "parquet")]
pub(crate) use compact::run as compact;
#[cfg(feature = "parquet")]
pub(crate) use tables::FleetTables;
