//! Logs of Yamaha routers: key-info lines under several labels, and `show ipsec sa`.

mod framing;
pub(crate) mod key_info;
mod labels;
mod records;
mod runs;
