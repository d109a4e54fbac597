//! The formats of keys, one file or folder each, and their [`table`].

mod charon;
mod charon_child;
mod esp_sa;
mod format;
mod fortios;
mod ike_tables;
mod mikrotik;
mod pluto;
mod racoon;
mod setkey;
pub(crate) mod table;
mod tcpdump;
mod xfrm;
pub(crate) mod yamaha;
