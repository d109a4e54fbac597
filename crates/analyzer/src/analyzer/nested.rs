//! IPsec inside ESP: an inner tunnel's packets become packets of the pipeline once more, as SAs and tunnels of their own.
//!
//! The packet on the wire is counted once (`esp_packets`), and so is what it carries: the flows are those of the innermost
//! tunnel, the outer one has the inner ESP packets as its payload.
//!
//! A tunnel that was not chosen (`--tunnel`) goes the same way, so that those inside it are found and all have the numbers of
//! the whole capture; it is neither measured nor in the document.

use super::Analyzer;
use crate::analysis::Encapsulation;
use crate::batch::{Decoded, Pending, open};
use crate::capture::{Frame, LinkType};
use crate::diagnostic::Diagnostics;
use crate::esp::inner::{ESP_IN_ESP, MOST_NESTING};
use crate::framing::{Datagram, DatagramKind, Framing};
use crate::sa::association::Association;
use crate::sa::tunnel::TunnelIndex;
use crate::text::Message;
use crate::time::Timestamp;
use std::collections::{BTreeSet, VecDeque};
use std::net::IpAddr;

/// Packets that may wait: no more come out of a batch than went in.
const MOST_WAITING: usize = 1 << 16;
const PROTOCOL_ESP: u8 = 50;

/// A packet from inside ESP.
#[derive(Debug)]
struct NestedFrame {
    frame: u64,
    time: Timestamp,
    depth: u8,
    /// An IP packet; or with `bare` an ESP packet right behind ESP, between these ends.
    bytes: Vec<u8>,
    bare: Option<(IpAddr, IpAddr)>,
}

/// The packets that wait, and the decoder for them: inner fragments are not outer ones.
#[derive(Debug)]
pub(super) struct NestedFrames {
    waiting: VecDeque<NestedFrame>,
    framing: Option<Framing>,
    /// Ports like 4500, by request.
    esp_ports: Vec<u16>,
    /// Depth of the packet that is being looked at; 0 for one of the capture.
    pub(super) depth: u8,
    /// Tunnels with packets of others inside: no more than the table of tunnels has.
    carriers: BTreeSet<TunnelIndex>,
    /// A chosen tunnel's packets were inside others.
    chosen_inside: bool,
}

impl NestedFrames {
    pub(super) fn new(esp_ports: &[u16]) -> Self {
        NestedFrames {
            waiting: VecDeque::new(),
            framing: Some(Framing::with_esp_ports(esp_ports)),
            esp_ports: esp_ports.to_vec(),
            depth: 0,
            carriers: BTreeSet::new(),
            chosen_inside: false,
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
        let Ok(opened) = open(&cipher, decoded.icv, esn_high, packet, usize::MAX, &mut plain) else {
            return false;
        };
        let (bytes, bare) = match decoded.inner.ip_at {
            Some(at) => (plain.split_off(usize::from(at).min(plain.len())), None),
            None if opened.next_header == PROTOCOL_ESP => (plain, Some(pending.ends)),
            None => return false,
        };
        self.carriers.insert(association.tunnel);
        self.waiting.push_back(NestedFrame {
            frame: pending.frame,
            time: pending.time,
            depth: pending.nesting + 1,
            bytes,
            bare,
        });
        true
    }
}

impl Analyzer {
    /// Sends the packets from inside ESP through the pipeline. Called where nothing of it is at work.
    pub(super) fn look_into_nested(&mut self) {
        if self.nested.depth > 0 {
            // Called from within itself, by an IKE message inside ESP: the call further out goes on.
            return;
        }
        while let Some(nested) = self.nested.waiting.pop_front() {
            let before = std::mem::replace(&mut self.nested.depth, nested.depth);
            self.push_nested(&nested);
            self.nested.depth = before;
        }
    }

    fn push_nested(&mut self, nested: &NestedFrame) {
        let len = u32::try_from(nested.bytes.len()).unwrap_or(u32::MAX);
        if let Some((src, dst)) = nested.bare {
            let datagram = Datagram {
                frame: nested.frame,
                time: nested.time,
                src,
                dst,
                outer_bytes: len,
                largest_fragment: len,
                fragments: 1,
                cut: false,
                wire_len: len,
                payload: &nested.bytes,
                identification: None,
                ah: None,
                kind: DatagramKind::Other(ESP_IN_ESP),
            };
            self.push_esp(&datagram, None, Encapsulation::Esp, &nested.bytes);
            return;
        }
        let frame = Frame {
            number: nested.frame,
            time: nested.time,
            link_type: LinkType::RAW,
            original_len: len,
            data: &nested.bytes,
        };
        let Some(mut framing) = self.nested.framing.take() else {
            return;
        };
        if let Some(datagram) = framing.decode(&frame, &mut self.diagnostics)
            && matches!(datagram.kind, DatagramKind::Ike { .. } | DatagramKind::Esp { .. })
        {
            self.push_datagram(&datagram);
        }
        self.nested.framing = Some(framing);
    }

    /// Counts a packet of this tunnel, where it was inside ESP and the user wants it.
    pub(super) fn note_nested(&mut self, tunnel: TunnelIndex, frame: u64) {
        if self.nested.depth == 0 || !self.wants(tunnel) {
            return;
        }
        self.nested.chosen_inside = true;
        self.diagnostics
            .count("nested", "ESP", Some(frame), || Message::new("oddity-nested"));
    }

    /// A chosen tunnel inside ESP lacks what the SAs around it kept, and those are not in the document.
    pub(super) fn report_closed_carriers(&mut self) {
        if !self.nested.chosen_inside {
            return;
        }
        let around = self.nested.carriers.iter().filter(|&&t| !self.wants(t));
        let sas = around.flat_map(|&tunnel| self.sas.of_tunnel(tunnel));
        let closed = sas
            .map(|&sa| &self.sas.associations()[sa])
            .filter(|a| a.counters.opened < a.counters.packets);
        let frames: Vec<Option<u64>> = closed.map(|a| a.first.map(|(_, frame)| frame)).collect();
        for frame in frames {
            self.diagnostics.count("closed_around", "ESP", frame, || {
                Message::new("oddity-closed-around")
            });
        }
    }
}
