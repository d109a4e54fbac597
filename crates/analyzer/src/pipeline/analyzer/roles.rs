//! The client's end of a tunnel, by what its packets carry: where the capture does not hold the beginning of IKE.

use super::Analyzer;
use etherparse::{IpNumber, ip_number};
use rekeyscope_ipsec::esp::inner::{Control, Inner};
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::RoleEvidence;
use rekeyscope_model::flow::FiveTuple;

/// System ports (RFC 6335 §6): servers listen there.
const SYSTEM_PORTS: std::ops::Range<u16> = 1..1_024;

impl Analyzer {
    /// Takes what an opened packet says of its sender.
    #[inline]
    pub(super) fn note_role(&mut self, sa: SaIndex, inner: &Inner) {
        let by_control = inner.control.and_then(sent_by_client);
        let by_service = || inner.flow.as_ref().and_then(uses_service);
        let said = match by_control {
            Some(client) => Some((RoleEvidence::Ppp, client)),
            None => by_service().map(|client| (RoleEvidence::Service, client)),
        };
        let Some((evidence, by_client)) = said else { return };
        let association = &self.record.sas.associations()[sa];
        let towards_server = if by_client {
            association.direction
        } else {
            association.direction.reverse()
        };
        self.record
            .tunnels
            .settle_role(association.tunnel, evidence, towards_server);
    }
}

/// Tells whether the client sent it, where only one of the two would.
fn sent_by_client(control: Control) -> Option<bool> {
    match control {
        // SCCRQ, SCCCN, ICRQ and ICCN ask for a session, SCCRP and ICRP answer (RFC 2661 §5).
        Control::L2tp(Some(1 | 3 | 10 | 12)) => Some(true),
        Control::L2tp(Some(2 | 11)) => Some(false),
        // A Configure-Nak of IPCP or IPV6CP tells the peer its address (RFC 1332 §3.3).
        Control::Ppp {
            protocol: 0x8021 | 0x8057,
            code: 3,
        } => Some(false),
        // PAP: a request and its answers (RFC 1334 §2.2).
        Control::Ppp {
            protocol: 0xc023,
            code,
        } => Some(code == 1),
        // CHAP: only the response is the client's (RFC 1994 §4).
        Control::Ppp {
            protocol: 0xc223,
            code,
        } => Some(code == 2),
        _ => None,
    }
}

fn uses_service(flow: &FiveTuple) -> Option<bool> {
    let listens = [flow.src_port, flow.dst_port].map(|port| SYSTEM_PORTS.contains(&port));
    match (IpNumber(flow.protocol), listens) {
        (ip_number::TCP, [false, true]) => Some(true),
        (ip_number::TCP, [true, false]) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_is_the_client() {
        let ppp = |protocol, code| sent_by_client(Control::Ppp { protocol, code });
        assert_eq!(sent_by_client(Control::L2tp(Some(1))), Some(true));
        assert_eq!(sent_by_client(Control::L2tp(Some(11))), Some(false));
        assert_eq!(sent_by_client(Control::L2tp(Some(6))), None, "both send a Hello");
        assert_eq!(ppp(0x8021, 3), Some(false));
        assert_eq!(ppp(0x8021, 1), None, "both ask");
        assert_eq!((ppp(0xc223, 1), ppp(0xc223, 2)), (Some(false), Some(true)));
    }

    #[test]
    fn who_uses_a_service_is_the_client() {
        let flow = |src_port, dst_port| FiveTuple {
            protocol: ip_number::TCP.0,
            src: [192, 0, 2, 1].into(),
            dst: [192, 0, 2, 2].into(),
            src_port,
            dst_port,
        };
        assert_eq!(uses_service(&flow(49_800, 445)), Some(true));
        assert_eq!(uses_service(&flow(445, 49_800)), Some(false));
        assert_eq!(uses_service(&flow(40_000, 5_201)), None);
    }
}
