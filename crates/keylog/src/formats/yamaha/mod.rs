//! Logs of Yamaha routers: key-info lines under several labels, and `show ipsec sa`.

pub(crate) mod key_info;
mod labels;
mod records;
mod runs;
