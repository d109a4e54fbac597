//! The layers around ESP and inside it, by name: `l2tp,natt`.

use crate::overhead::sizes::{EspSizes, IPV4_HEADER, IPV6_HEADER, Split, UDP_HEADER};
use crate::overhead::suite::Suite;
use rekeyscope_model::analysis::Mode;

/// L2TPv2 data header without optional fields (RFC 2661 §3.1): flags, tunnel, session.
const L2TP_HEADER: usize = 6;
/// Address, control and protocol of PPP, nothing compressed away (RFC 1662 §3.1).
const PPP_HEADER: usize = 4;
/// GRE without optional fields (RFC 2784 §2.1).
const GRE_HEADER: usize = 4;
/// Ethernet without tag or frame check sequence.
const ETHERNET_HEADER: usize = 14;
/// RFC 3378 §3.
const ETHERIP_HEADER: usize = 2;
/// RFC 7348 §5.
const VXLAN_HEADER: usize = 8;
/// PPPoE and PPP below the outer IP header (RFC 2516 §7).
const PPPOE: usize = 8;

/// The parts of an encapsulation, with what they are, for errors and help.
pub const ENCAPSULATIONS: [(&str, &str); 11] = [
    (
        "tunnel",
        "tunnel mode; the default where nothing else carries the packet",
    ),
    ("transport", "transport mode; the default with a tunnel protocol"),
    ("natt", "UDP 4500 around ESP (RFC 3948)"),
    ("ipv6", "the outer IP header is IPv6"),
    ("pppoe", "--mtu is that of the Ethernet link below PPPoE"),
    ("l2tp", "L2TPv2 and PPP, uncompressed, without length field"),
    ("gre", "GRE without key"),
    ("gretap", "Ethernet in GRE"),
    ("ipip", "IP in IP"),
    ("etherip", "Ethernet in IP"),
    ("vxlan", "Ethernet in VXLAN"),
];

/// A suite in its surroundings: from the size of an inner IP packet to that on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Lengths of ESP and around it.
    pub sizes: EspSizes,
    /// Mode.
    pub mode: Mode,
    /// Bytes that a tunnel protocol puts between ESP and the inner IP packet, with the IP header around it in tunnel mode.
    pub tunnel_headers: usize,
    /// The inner packet's own IP header is the outer one (transport mode without tunnel protocol): not in the payload.
    pub shared_header: usize,
    /// Bytes of a packet at `mtu` that lie below IP.
    pub below_ip: usize,
}

impl Plan {
    /// A suite with the parts of [`ENCAPSULATIONS`].
    ///
    /// # Errors
    /// A sentence that says what is accepted.
    pub fn new(suite: &Suite, parts: &[&str]) -> Result<Self, String> {
        if let Some(part) = parts
            .iter()
            .find(|part| !ENCAPSULATIONS.iter().any(|(name, _)| name == *part))
        {
            let names: Vec<&str> = ENCAPSULATIONS.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "'{part}' is no encapsulation: expected {}",
                names.join(", ")
            ));
        }
        let has = |part: &str| parts.contains(&part);
        let ip_header = if has("ipv6") { IPV6_HEADER } else { IPV4_HEADER };
        let tunnels: Vec<(&str, usize)> = [
            ("l2tp", UDP_HEADER + L2TP_HEADER + PPP_HEADER),
            ("gre", GRE_HEADER),
            ("gretap", GRE_HEADER + ETHERNET_HEADER),
            ("ipip", 0),
            ("etherip", ETHERIP_HEADER + ETHERNET_HEADER),
            ("vxlan", UDP_HEADER + VXLAN_HEADER + ETHERNET_HEADER),
        ]
        .into_iter()
        .filter(|(name, _)| has(name))
        .collect();
        let mode = match (has("tunnel"), has("transport"), tunnels.is_empty()) {
            (true, true, _) => {
                return Err("tunnel and transport mode exclude each other: expected one".into());
            }
            (true, false, _) | (false, false, true) => Mode::Tunnel,
            (false, _, _) => Mode::Transport,
        };
        let tunnel_headers = match tunnels.as_slice() {
            [] => 0,
            [(_, len)] if mode == Mode::Tunnel => len + ip_header,
            [(_, len)] => *len,
            [(first, _), (second, _), ..] => {
                return Err(format!(
                    "{first} and {second} both carry the packet: expected one"
                ));
            }
        };
        let shared = mode == Mode::Transport && tunnels.is_empty();
        Ok(Plan {
            sizes: EspSizes {
                ip_header,
                udp: if has("natt") { UDP_HEADER } else { 0 },
                iv: suite.iv(),
                align: suite.align(),
                icv: suite.icv(),
            },
            mode,
            tunnel_headers,
            shared_header: if shared { ip_header } else { 0 },
            below_ip: if has("pppoe") { PPPOE } else { 0 },
        })
    }

    /// Sizes for an inner IP packet of `inner` bytes.
    pub fn split(&self, inner: usize) -> Split {
        self.sizes
            .split((inner + self.tunnel_headers).saturating_sub(self.shared_header))
    }

    /// The largest inner IP packet that needs no fragments on a path with this MTU; `None` when none fits.
    pub fn largest_inner(&self, mtu: usize) -> Option<usize> {
        let payload = self.sizes.largest_payload(mtu.checked_sub(self.below_ip)?)?;
        (payload + self.shared_header)
            .checked_sub(self.tunnel_headers)
            .filter(|inner| *inner >= IPV4_HEADER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(suite: &str, parts: &[&str]) -> Plan {
        Plan::new(&Suite::named(suite).unwrap(), parts).unwrap()
    }

    /// Inner → wire, counted by hand.
    #[test]
    fn surroundings_counted_by_hand() {
        for (suite, parts, inner, wire) in [
            // 20 + 8 + 8 + 8 + (18 + 1000 + 2) + 16
            ("aes128gcm16", &["l2tp", "natt"][..], 1_000, 1_080),
            // 20 + 8 + 16 + (1000 + 2 → 1008) + 12
            ("aes128-sha1", &[], 1_000, 1_064),
            // 40 + 8 + 8 + (4 + 1000 + 4) + 16
            ("aes128gcm16", &["gre", "ipv6"], 1_000, 1_080),
            // 20 + 8 + (18 + 1000 + 2) + 12
            ("null-md5", &["gretap"], 1_000, 1_060),
            // 20 + 8 + 8 + (980 + 2 → 984) + 12: its IP header is the outer one
            ("3des-md5", &["transport"], 1_000, 1_032),
            // 20 + 8 + (1000 + 4) + 12, and with IP in IP inside tunnel mode 20 more
            ("null-md5", &["ipip"], 1_000, 1_044),
            ("null-md5", &["ipip", "tunnel"], 1_000, 1_064),
        ] {
            assert_eq!(plan(suite, parts).split(inner).wire, wire, "{suite} {parts:?}");
        }
    }

    #[test]
    fn the_largest_inner_packet_is_the_largest() {
        for parts in [
            &[][..],
            &["transport"],
            &["l2tp", "natt"],
            &["gretap", "ipv6"],
            &["vxlan", "tunnel"],
        ] {
            for suite in ["aes128-sha1", "aes256gcm16", "3des-md5", "null-md5"] {
                let plan = plan(suite, parts);
                for mtu in 400..1_510 {
                    let largest = plan.largest_inner(mtu).unwrap();
                    assert!(plan.split(largest).wire <= mtu && plan.split(largest + 1).wire > mtu);
                }
            }
        }
        let (with, without) = (plan("aes128-sha1", &["pppoe"]), plan("aes128-sha1", &[]));
        assert_eq!(with.largest_inner(1_500), without.largest_inner(1_492));
    }

    #[test]
    fn contradictions_are_refused() {
        let suite = Suite::named("aes128-sha1").unwrap();
        for (parts, told) in [
            (&["tunnel", "transport"][..], "exclude"),
            (&["gre", "l2tp"], "both carry"),
            (&["mpls"], "pppoe"),
        ] {
            assert!(Plan::new(&suite, parts).unwrap_err().contains(told));
        }
    }
}
