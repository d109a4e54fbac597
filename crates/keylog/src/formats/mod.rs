//! The formats of keys, one file or folder each, and their [`table`].

mod charon;
mod charon_child;
mod esp_sa;
pub(crate) mod format;
mod fortios_ike;
mod ike_tables;
pub(crate) mod keyless;
mod listing;
mod pluto;
mod racoon;
pub(crate) mod table;
mod vpp_ike;
pub(crate) mod yamaha;
