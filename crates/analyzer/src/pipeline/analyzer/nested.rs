//! IPsec inside ESP: an inner tunnel's packets become packets of the pipeline once more, as SAs and tunnels of their own.
//!
//! The packet on the wire is counted once (`esp_packets`), and so is what it carries: the flows are those of the innermost
//! tunnel, the outer one has the inner ESP packets as its payload.
//!
//! A tunnel that was not chosen (`--tunnel`) goes the same way, so that those inside it are found and all have the numbers of
//! the whole capture; it is neither measured nor in the document.

use crate::decode::{Decoded, Pending};
use etherparse::ip_number;
use rekeyscope_capture::framing::Framing;
use rekeyscope_ipsec::esp::inner::MOST_NESTING;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::time::Timestamp;
use std::collections::{BTreeSet, VecDeque};
use std::net::IpAddr;

/// Packets that may wait: no more come out of a batch than went in.
const MOST_WAITING: usize = 1 << 16;

/// A packet from inside ESP.
#[derive(Debug)]
pub(super) struct NestedFrame {
    pub(super) frame: u64,
    pub(super) time: Timestamp,
    pub(super) depth: u8,
    plain: Vec<u8>,
    /// The packet's first byte in it.
    at: usize,
    /// The packet is an ESP packet right behind ESP, between these ends; without them an IP packet.
    pub(super) bare: Option<(IpAddr, IpAddr)>,
}

impl NestedFrame {
    /// The packet inside.
    pub(super) fn bytes(&self) -> &[u8] {
        self.plain.get(self.at..).unwrap_or_default()
    }
}

/// The packets that wait, and the decoder for them: inner fragments are not outer ones.
#[derive(Debug, Default)]
pub(super) struct NestedFrames {
    pub(super) waiting: VecDeque<NestedFrame>,
    pub(super) framing: Option<Box<Framing>>,
    /// Ports like 4500, by request.
    esp_ports: Vec<u16>,
    /// Depth of the packet that is being looked at; 0 for one of the capture.
    pub(super) depth: u8,
    /// Tunnels with packets of others inside: no more than the table of tunnels has.
    pub(super) carriers: BTreeSet<TunnelIndex>,
    /// A chosen tunnel's packets were inside others.
    pub(super) chosen_inside: bool,
}

impl NestedFrames {
    pub(super) fn new(esp_ports: &[u16]) -> Self {
        NestedFrames {
            framing: Some(Box::new(Framing::with_esp_ports(esp_ports))),
            esp_ports: esp_ports.to_vec(),
            ..NestedFrames::default()
        }
    }

    /// Counts what waits for fragments.
    pub(super) fn finish(&mut self, diagnostics: &mut Diagnostics) {
        if let Some(framing) = &mut self.framing {
            framing.finish(diagnostics);
        }
    }

    /// Keeps the packet inside an opened one, if it is IPsec. True when it did.
    pub(super) fn keep(
        &mut self,
        association: &Association,
        pending: &Pending,
        decoded: &Decoded,
        packet: &[u8],
    ) -> bool {
        let wanted = decoded.inner.carries_ipsec(&self.esp_ports) && pending.nesting < MOST_NESTING;
        if !wanted || self.waiting.len() >= MOST_WAITING {
            return false;
        }
        let Some(cipher) = association.cipher() else {
            return false;
        };
        let mut plain = Vec::new();
        let esn_high = association.esn_high(pending.sequence);
        let Some(opened) = cipher.open(packet, esn_high, decoded.icv, usize::MAX, &mut plain) else {
            return false;
        };
        let (at, bare) = match decoded.inner.ip_at {
            Some(at) => (usize::from(at), None),
            None if opened.next_header == ip_number::ENCAPSULATING_SECURITY_PAYLOAD.0 => {
                (0, Some(pending.ends))
            }
            None => return false,
        };
        self.carriers.insert(association.tunnel);
        self.waiting.push_back(NestedFrame {
            frame: pending.frame,
            time: pending.time,
            depth: pending.nesting + 1,
            plain,
            at,
            bare,
        });
        true
    }
}
