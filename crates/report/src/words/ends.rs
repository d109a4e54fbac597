//! Names of the two ends of a tunnel: the IKE initiator, `a` in the document, is the client, `b` the gateway.

use crate::words::format::UNKNOWN;
use rekeyscope_model::analysis::{Direction, Encapsulation, Tunnel};
use rekeyscope_model::text::Catalogue;
use std::net::IpAddr;

/// `client` or `gateway`; another address in full.
pub(crate) fn end(t: &Catalogue, tunnel: Option<&Tunnel>, address: Option<IpAddr>) -> String {
    match (address, tunnel) {
        (None, _) => UNKNOWN.to_string(),
        (Some(address), Some(ends)) if address == ends.a => t.word("end-client"),
        (Some(address), Some(ends)) if address == ends.b => t.word("end-gateway"),
        (Some(address), _) => address.to_string(),
    }
}

/// Words an end inside a sentence: `the client`, where packets show who is which; `one side` of none.
pub(crate) fn side(t: &Catalogue, tunnel: Option<&Tunnel>, address: Option<IpAddr>) -> String {
    match (address, tunnel.filter(|tunnel| tunnel.roles_known)) {
        (Some(address), Some(ends)) if address == ends.a => t.word("outage-client"),
        (Some(address), Some(ends)) if address == ends.b => t.word("outage-gateway"),
        (Some(address), _) => address.to_string(),
        (None, _) => t.word("outage-someone"),
    }
}

/// Both ends: `client 10.9.0.2, gateway 10.9.0.1`.
pub(crate) fn ends(t: &Catalogue, tunnel: &Tunnel) -> String {
    fill!(t, "ends", client = tunnel.a, gateway = tunnel.b)
}

/// `up` (to the gateway) or `down`, where there is no room for addresses.
pub(crate) fn up_or_down(t: &Catalogue, direction: Direction) -> String {
    t.word(direction.pick("plot-up", "plot-down"))
}

/// The same with a word that says which is which.
pub(crate) fn ends_and_up(t: &Catalogue, tunnel: &Tunnel) -> String {
    fill!(t, "ends-and-up", ends = ends(t, tunnel))
}

/// `upload` (to the gateway) or `download`, inside a sentence.
pub(crate) fn upload_or_download(t: &Catalogue, direction: Direction) -> String {
    t.word(direction.pick("verdict-upload", "verdict-download"))
}

/// ESP in UDP, or plain: a NAT lies between the ends only where ESP goes in UDP (RFC 3948), with a mapping that it may forget.
pub(crate) fn esp(tunnel: &Tunnel) -> &'static str {
    match tunnel.encapsulation {
        Encapsulation::Udp => "udp",
        _ => "plain",
    }
}
