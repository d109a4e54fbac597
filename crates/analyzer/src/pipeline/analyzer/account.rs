//! The account of decoded packets: counters, ICV results, generations, throughput, evidence. In capture order.

use super::{Analyzer, OFFLOAD_BYTES};
use crate::decode::{Batch, Decoded, Pending, decode_one};
use crate::diagnosis::PacketRecord;
use crate::notices::IcmpNotice;
use crate::traffic::{Bin, inner_packet};
use rekeyscope_capture::file::InFlight;
use rekeyscope_capture::framing::AH;
use rekeyscope_ipsec::esp::cipher::Icv;
use rekeyscope_ipsec::esp::inner::Inner;
use rekeyscope_ipsec::overhead::{IPV4_HEADER, IPV6_HEADER};
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::seen::Appearance;
use rekeyscope_ipsec::sa::specimen::Specimen;
use rekeyscope_traffic::ConnectionId;

impl Analyzer {
    /// Sends the full batch on its way, then accounts for the one before; reading goes on meanwhile.
    pub(super) fn hand_over(&mut self) {
        if self.awaits_keys() {
            return;
        }
        let before = self.in_flight.take().map(InFlight::wait);
        let mut full = self.take_batch();
        self.in_flight = Some(InFlight::begin(move || {
            let decoded = full.decode();
            (full, decoded)
        }));
        self.account_landed(before);
    }

    /// The batch, in whose place comes an empty one.
    fn take_batch(&mut self) -> Box<Batch> {
        std::mem::replace(&mut self.batch, self.spare.take().unwrap_or_default())
    }

    fn account_landed(&mut self, landed: Option<Option<(Box<Batch>, Vec<Decoded>)>>) {
        match landed {
            Some(Some((batch, decoded))) => self.account_batch(batch, decoded),
            Some(None) => {
                self.record
                    .diagnostics
                    .note("decoding_died", "analysis", None, "oddity-decoding-died")
            }
            None => {}
        }
    }

    /// Decodes everything that waits and accounts for it in capture order.
    pub(super) fn flush(&mut self) {
        loop {
            let landed = self.in_flight.take().map(InFlight::wait);
            self.account_landed(landed);
            if !self.batch.is_empty() {
                let mut batch = self.take_batch();
                let decoded = batch.decode();
                self.account_batch(batch, decoded);
            }
            self.look_into_nested();
            if self.batch.is_empty() && self.in_flight.is_none() {
                return;
            }
        }
    }

    fn account_batch(&mut self, mut batch: Box<Batch>, mut decoded: Vec<Decoded>) {
        let mut marks = batch.marks();
        for (pending, decoded) in batch.packets().iter().zip(&mut decoded) {
            marks
                .next()
                .into_iter()
                .flatten()
                .for_each(|mark| self.take_mark(mark));
            self.account(pending, decoded, batch.bytes(pending));
        }
        marks.flatten().for_each(|mark| self.take_mark(mark));
        batch.clear(decoded);
        self.spare = Some(batch);
    }

    fn account(&mut self, pending: &Pending, decoded: &mut Decoded, packet: &[u8]) {
        let fingerprint = decoded.fingerprint;
        let sa = self.after_reuse(pending, decoded, packet);
        let wanted = self.record.wants(self.record.sas.associations()[sa].tunnel);
        let sighting = self.seen.observe(sa, u64::from(pending.sequence), fingerprint);
        let association = self.record.sas.get_mut(sa);
        if sighting == Appearance::Again {
            // A mirror port shows a packet twice; on the wire it was one. It counts in `duplicates` alone.
            association.sequence.count_duplicate();
            self.count_repeated(pending, wanted);
            return;
        }
        let number = association.whole_sequence(pending.sequence);
        let used = sighting == Appearance::NumberUsed;
        // In a file whose halves are swapped, packets below the first one are older than it, and the clock seems to be set.
        let in_order = self.record.clock_events.is_empty();
        let first = association
            .sequence
            .first()
            .filter(|_| in_order)
            .unwrap_or(number);
        let highest = association.sequence.highest().unwrap_or(number);
        association.sequence.observe(number, used);
        // A cut packet may end elsewhere than a copy of it.
        if !pending.cut && decoded.icv != Icv::Failed {
            let before = (first, highest, decoded.icv == Icv::Verified);
            let seen = (pending.time, pending.frame);
            association.steps_back.take(number, used, before, seen);
        }
        if decoded.icv == Icv::Verified {
            association.extended = association.extended.map(|highest| highest.max(number));
        }
        if wanted && pending.authenticated.is_some_and(|ah| !ah.around_ipsec) {
            self.record
                .diagnostics
                .note("authenticated", AH, Some(pending.frame), "oddity-ah");
        }
        association.count_icv(decoded.icv);
        let seen = (pending.time, pending.frame);
        association.see(seen);
        if association.proven && !pending.cut && matches!(decoded.icv, Icv::Verified | Icv::Failed) {
            let side = (association.tunnel, association.direction);
            let whole = decoded.icv == Icv::Verified;
            self.record.damaged.take(side, sa, pending.esp_bytes, seen, whole);
        }
        if decoded.inner.transport_bytes > 0 && decoded.opened.is_some() {
            let earliest = association.first_payload.map_or(seen, |first| first.min(seen));
            association.first_payload = Some(earliest);
        }
        let c = &mut association.counters;
        c.packets += 1;
        c.outer_bytes += u64::from(pending.outer_bytes);
        c.esp_bytes += u64::from(pending.esp_bytes);
        if let Some(opened) = decoded.opened {
            c.opened += 1;
            c.inner_bytes += u64::from(opened.payload_len);
            // AH has no trailer.
            let trailer = if pending.authenticated.is_some() { 0 } else { 2 };
            c.padding_bytes += u64::from(opened.pad_len) + trailer;
            c.opened_outer_bytes += u64::from(pending.outer_bytes);
            if pending.largest_fragment <= OFFLOAD_BYTES {
                c.largest_outer = c.largest_outer.max(u64::from(pending.largest_fragment));
            }
            if u64::from(opened.payload_len) > c.largest_inner {
                c.largest_inner = u64::from(opened.payload_len);
                c.headers_of_largest = headers_before(pending, opened.payload_len, &decoded.inner);
            }
            if association
                .volume_limit
                .is_some_and(|limit| c.inner_bytes >= limit)
            {
                association.limit_passed.get_or_insert(seen);
            }
            if association.mode.is_none() {
                association.mode = Some(mode_of(opened.next_header));
            }
        } else if decoded.icv == Icv::Verified && pending.opens && wanted {
            self.record
                .diagnostics
                .note("not_opened", "ESP", Some(pending.frame), "oddity-not-opened");
        }
        if decoded.opened.is_some() {
            if let Some(flow) = &decoded.inner.flow {
                association.carry((flow.src, flow.dst));
            }
            self.note_role(sa, &decoded.inner);
            self.look_further_in(sa, pending, decoded, packet);
        }
        // A packet around IPsec goes on as ESP or IKE, and is measured as that.
        if !wanted || pending.authenticated.is_some_and(|ah| ah.around_ipsec) {
            return;
        }
        self.measure(sa, pending, decoded, number);
    }

    /// A packet that was there before, as a number of its SA with the same ICV.
    fn count_repeated(&mut self, pending: &Pending, wanted: bool) {
        let layer = match pending.authenticated {
            None => "ESP",
            // The packet inside is told by itself.
            Some(ah) if ah.around_ipsec => return,
            Some(_) => AH,
        };
        if wanted {
            self.count_duplicate(layer, pending.frame, pending.fragments);
        }
    }

    /// IPsec inside ESP goes round once more; what else could not be decoded to the end is counted by name.
    fn look_further_in(&mut self, sa: SaIndex, pending: &Pending, decoded: &mut Decoded, packet: &[u8]) {
        if let Some(ah) = decoded
            .inner
            .ah
            .take()
            .filter(|_| pending.authenticated.is_none())
        {
            self.account_ah_inside(pending, &ah);
        }
        let association = &self.record.sas.associations()[sa];
        if self.nested.keep(association, pending, decoded, packet) {
            decoded.inner.flow = None;
            return;
        }
        let wanted = self.record.wants(association.tunnel);
        if let (Some(name), None, true) = (decoded.inner.stopped_at, decoded.inner.control, wanted) {
            self.note_named(
                "not_decoded_inside",
                name,
                pending.frame,
                "oddity-not-decoded-inside",
            );
        }
    }

    /// An SPI that is used again under another key starts a new generation.
    fn after_reuse(&mut self, pending: &Pending, decoded: &mut Decoded, packet: &[u8]) -> SaIndex {
        let mut sa = pending.sa;
        while let Some(&newer) = self.superseded.get(&sa) {
            sa = newer;
        }
        if decoded.icv != Icv::Failed || !pending.proven {
            return sa;
        }
        let specimen = Specimen {
            packet,
            whole: !pending.cut,
        };
        if sa == pending.sa {
            match self.record.sas.prove_successor(sa, specimen) {
                Some(newer) => {
                    self.superseded.insert(sa, newer);
                    sa = newer;
                }
                None => return sa,
            }
        }
        let association = &self.record.sas.associations()[sa];
        let esn_high = association.esn_high(pending.sequence);
        if let Some(cipher) = association.cipher() {
            *decoded = decode_one(cipher, pending, esn_high, packet, &mut Vec::new());
        }
        sa
    }

    fn measure(&mut self, sa: SaIndex, pending: &Pending, decoded: &Decoded, number: u64) {
        let association = &self.record.sas.associations()[sa];
        let packet = inner_packet(sa, association, pending, decoded, number);
        let segment = self
            .record
            .traffic
            .take(&packet, pending.esp_bytes, sa, association);
        let (tunnel, direction) = (association.tunnel, association.direction);
        let seen = (pending.time, pending.frame);
        if let Some(control) = decoded.inner.control {
            let ends = (association.src, association.dst);
            self.record.control.take(tunnel, ends, control, seen);
        }
        if let Some((by, error)) = decoded.inner.too_big.as_deref().copied() {
            let notice = IcmpNotice {
                tunnel,
                by,
                error,
                spi: None,
                inside: true,
            };
            self.record.icmp.take(notice, seen);
        }
        let (new, connection) = match decoded.opened {
            Some(_) => {
                if let Some(flow) = &decoded.inner.flow {
                    let outer = self.record.tunnels.tunnels[tunnel].ends;
                    let clear = &mut self.record.diagnosis.clear;
                    clear.inside(tunnel, slot(direction), (flow.src, flow.dst), outer);
                }
                self.record
                    .flows
                    .observe(tunnel, direction, &decoded.inner, &segment, seen)
            }
            None => (0, ConnectionId::NONE),
        };
        let bytes = Bin {
            new,
            esp: pending.esp_bytes,
            outer: pending.outer_bytes,
        };
        let (meters, side) = (&mut self.record.meters, (tunnel, direction));
        match is_damaged(association, pending, decoded) {
            true => meters.record_damaged(side, pending.time, bytes),
            false => meters.record(side, pending.time, decoded.opened.is_some(), bytes),
        }
        let record = PacketRecord::new(sa, association, pending, decoded, &segment, (connection, new));
        let tracker = self.record.traffic.tracker();
        self.record.connections.take(&record, &packet, &segment, tracker);
        let begins = association.counters.packets == 1;
        if self.record.diagnosis.packet(record, begins, &segment) {
            self.close_windows(Some(pending.time));
        }
    }
}

/// A wrong ICV under a key that other packets prove.
fn is_damaged(association: &Association, pending: &Pending, decoded: &Decoded) -> bool {
    association.proven && !pending.cut && decoded.icv == Icv::Failed
}

/// Bytes of a payload before the innermost IP packet. A transport header right behind ESP belongs to a packet whose IP header
/// is the outer one.
fn headers_before(pending: &Pending, payload_len: u32, inner: &Inner) -> Option<i64> {
    match (inner.ip_bytes, inner.stopped_at) {
        (0, None) if inner.flow.is_some() => {
            let header = if pending.ends.1.is_ipv6() {
                IPV6_HEADER
            } else {
                IPV4_HEADER
            };
            Some(-(header as i64))
        }
        (0, _) => None,
        (ip, _) => Some(i64::from(payload_len) - i64::from(ip) - i64::from(inner.tfc_padding)),
    }
}

fn mode_of(next_header: u8) -> rekeyscope_model::analysis::Mode {
    match next_header {
        4 | 41 => rekeyscope_model::analysis::Mode::Tunnel,
        _ => rekeyscope_model::analysis::Mode::Transport,
    }
}
