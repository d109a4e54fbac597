//! Messages that are neither data nor IKE, and tell of trouble: control messages of L2TP and PPP, ICMP errors about IPsec and inside tunnels.
//!
//! Each is noted as a run: what repeats itself is one thing. Runs are bounded by [`MOST_EVENTS`](rekeyscope_model::analysis::MOST_EVENTS) for each kind; further ones are counted.

mod control;
mod icmp;
mod run;

pub(crate) use control::{ControlLog, ControlNotice, ControlQuestion, ControlWord};
pub(crate) use icmp::{IcmpLog, IcmpNotice, IcmpRun, about_ipsec};
pub(crate) use run::Repeats;
