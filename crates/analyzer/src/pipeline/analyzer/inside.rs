//! IPsec inside ESP goes through the pipeline once more.

use super::Analyzer;
use crate::pipeline::analyzer::nested::NestedFrame;
use rekeyscope_capture::file::{Frame, LinkType};
use rekeyscope_capture::framing::{Datagram, DatagramKind};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::Encapsulation;

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
        let bytes = nested.bytes();
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        if let Some(ends) = nested.bare {
            let datagram = Datagram::bare(nested.frame, nested.time, ends, bytes);
            self.push_esp(&datagram, None, Encapsulation::Esp, bytes);
            return;
        }
        let frame = Frame {
            number: nested.frame,
            time: nested.time,
            link_type: LinkType::RAW,
            original_len: len,
            data: bytes,
            block: None,
        };
        let Some(mut framing) = self.nested.framing.take() else {
            return;
        };
        if let Some(datagram) = framing.decode(&frame, &mut self.record.diagnostics)
            && matches!(datagram.kind, DatagramKind::Ike { .. } | DatagramKind::Esp { .. })
        {
            self.push_datagram(&datagram);
        }
        self.nested.framing = Some(framing);
    }

    /// Counts a packet of this tunnel, where it was inside ESP and the user wants it.
    pub(super) fn note_nested(&mut self, tunnel: TunnelIndex, frame: u64) {
        if self.nested.depth == 0 || !self.record.wants(tunnel) {
            return;
        }
        self.nested.chosen_inside = true;
        self.note("nested", "ESP", frame, "oddity-nested");
    }
}
