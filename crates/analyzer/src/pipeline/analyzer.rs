//! The pipeline: [`Analyzer::push`] takes frames in capture order, [`Analyzer::finish`] gives what it remembers of them.
//!
//! ESP packets are collected and decoded on all cores ([`crate::decode`]). An IKE message leaves a mark among them: where they are
//! accounted for, in capture order, the volume at an exchange's first message is exact.

mod account;
mod ah;
mod apart;
mod awaited_keys;
mod awaited_sas;
mod clock;
mod duplicates;
mod esp;
mod finish;
mod ike;
mod inside;
mod jumps;
pub(crate) mod live;
mod nested;
mod roles;
mod stretches;

use crate::pipeline::options::Options;
use crate::pipeline::point::PointRecord;
use crate::pipeline::record::{MOST_KEEPALIVES, Record};

use crate::decode::{Batch, ClearMark, Decoded, Marked};
use crate::notices::{IcmpNotice, about_ipsec};
use awaited_sas::AwaitedKeys;
use clock::CaptureClock;
use duplicates::Duplicates;
use etherparse::ip_number;
use nested::NestedFrames;
use rekeyscope_capture::file::{Frame, InFlight, ReadBlock};
use rekeyscope_capture::framing::tcp_stream::TcpStreams;
use rekeyscope_capture::framing::{AH, Datagram, DatagramKind, Framing, TcpSegment};
use rekeyscope_capture::layers::l2tp_control;
use rekeyscope_ipsec::esp::inner;
use rekeyscope_ipsec::overhead::UDP_HEADER;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::seen::SeenPackets;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_lanes::fetch_behind;
use rekeyscope_model::analysis::Encapsulation;
use rekeyscope_model::diagnostic::{Diagnostics, named};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::text::Message;
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;
use std::net::IpAddr;

/// A frame with more bytes than this was merged by the network card: no link between IPsec peers carries it (jumbo
/// Ethernet ends at 9,018 bytes).
const OFFLOAD_BYTES: u32 = 9_100;

/// The pipeline, and what it remembers.
#[derive(Debug, Default)]
pub struct Analyzer {
    record: Record,
    framing: Option<Box<Framing>>,
    /// A decoder for frames that are held back, and come again.
    framing_ahead: Option<Box<Framing>>,
    streams: TcpStreams,
    nested: NestedFrames,
    clock: CaptureClock,
    seen: SeenPackets,
    duplicates: Duplicates,
    /// In which the frame was read, to keep packets without a copy.
    block: Option<ReadBlock>,
    batch: Box<Batch>,
    in_flight: Option<InFlight<(Box<Batch>, Vec<Decoded>)>>,
    /// A batch without packets, for its memory.
    spare: Option<Box<Batch>>,
    superseded: HashMap<SaIndex, SaIndex>,
    awaited: AwaitedKeys,
}

impl Analyzer {
    /// A pipeline that will try `keys`.
    pub fn new(options: Options, keys: KeyMaterial) -> Self {
        Analyzer::with_pre_shared_keys(options, keys, Vec::new())
    }

    /// Begins like [`Analyzer::new`], with IKE pre-shared keys: together with a Diffie–Hellman secret in the key files they give
    /// everything (RFC 2409 §5).
    pub fn with_pre_shared_keys(
        options: Options,
        keys: KeyMaterial,
        pre_shared_keys: Vec<SecretBytes>,
    ) -> Self {
        Analyzer {
            framing: Some(Box::new(Framing::with_esp_ports(&options.esp_ports))),
            framing_ahead: Some(Box::new(Framing::with_esp_ports(&options.esp_ports))),
            nested: NestedFrames::new(&options.esp_ports),
            record: Record::new(options, keys, pre_shared_keys),
            ..Analyzer::default()
        }
    }

    /// The counter of oddities, for the reader of the capture.
    pub fn diagnostics_mut(&mut self) -> &mut Diagnostics {
        &mut self.record.diagnostics
    }

    /// Takes one frame.
    pub fn push(&mut self, frame: &Frame<'_>) {
        // There the next frame lies, most likely: it is on its way while this one is worked on.
        fetch_behind(frame.data);
        let t = &mut self.record.totals;
        t.time_regressions += u64::from(t.previous_raw_time.is_some_and(|p| frame.time < p));
        t.previous_raw_time = Some(frame.time);
        self.pass_clock(frame);
    }

    /// Takes one frame whose time is that of a clock without steps.
    fn take_frame(&mut self, frame: &Frame<'_>) {
        self.count_frame(frame);
        self.keep_block(frame.block);
        // The decoder lends its reassembled bytes; it is set aside while they are used.
        let Some(mut framing) = self.framing.take() else {
            return;
        };
        if let Some(datagram) = framing.decode(frame, &mut self.record.diagnostics) {
            self.push_datagram(&datagram);
        }
        self.framing = Some(framing);
        self.look_into_nested();
    }

    #[inline]
    fn keep_block(&mut self, block: Option<&ReadBlock>) {
        let same = match (&self.block, block) {
            (Some(kept), Some(block)) => kept.is(block),
            (kept, block) => kept.is_none() && block.is_none(),
        };
        if !same {
            self.block = block.cloned();
        }
    }

    fn count_frame(&mut self, frame: &Frame<'_>) {
        let t = &mut self.record.totals;
        t.packets += 1;
        t.bytes += u64::from(frame.original_len);
        if (frame.data.len() as u64) < u64::from(frame.original_len) {
            t.cut_packets += 1;
            self.record
                .diagnostics
                .count("cut_by_snap_length", "capture", Some(frame.number), || {
                    Message::new("oddity-cut-packets").with("bytes", frame.data.len())
                });
        }
        self.record
            .diagnosis
            .whole_run
            .take_frame(t.previous_time, frame.time, frame.number);
        t.previous_time = Some(frame.time);
        t.first_time = Some(t.first_time.map_or(frame.time, |f| f.min(frame.time)));
        t.last_time = Some(t.last_time.map_or(frame.time, |l| l.max(frame.time)));
    }

    fn push_datagram(&mut self, datagram: &Datagram<'_>) {
        self.record.totals.oversized += u64::from(datagram.largest_fragment > OFFLOAD_BYTES);
        if let Some(ah) = &datagram.ah {
            self.push_ah(datagram, ah);
        }
        // ESP is told by its numbers, IKE behind the choice of tunnels.
        let elsewhere = matches!(datagram.kind, DatagramKind::Ike { .. } | DatagramKind::Esp { .. });
        if !elsewhere && self.is_duplicate(datagram, true) {
            return;
        }
        match datagram.kind {
            DatagramKind::Ike { udp, message } => self.push_ike(datagram, udp, message),
            DatagramKind::Esp { udp, packet } => {
                let encapsulation = if udp.is_some() {
                    Encapsulation::Udp
                } else {
                    Encapsulation::Esp
                };
                self.push_esp(datagram, udp, encapsulation, packet);
            }
            DatagramKind::TcpSegment(segment) => self.push_tcp(datagram, &segment),
            DatagramKind::Other(AH) => {}
            DatagramKind::NatKeepalive => {
                if self.record.keepalives.len() < MOST_KEEPALIVES {
                    self.record.keepalives.insert(datagram.src);
                }
                self.note("nat_keepalive", "UDP", datagram.frame, "oddity-keepalive");
            }
            DatagramKind::Other(name) => {
                self.note_leak(datagram, name);
                self.note_error(datagram, name);
                self.note_named("not_ipsec", name, datagram.frame, "oddity-not-ipsec");
            }
        }
    }

    /// A piece of a TCP stream with IKE and ESP in it (RFC 9329).
    pub(super) fn push_tcp(&mut self, datagram: &Datagram<'_>, segment: &TcpSegment<'_>) {
        let taken = self.streams.push(datagram, segment);
        if taken.lost_place {
            self.note("stream_lost", "TCP", datagram.frame, "oddity-stream-lost");
        }
        if taken.foreign {
            self.note_named("not_ipsec", "TCP", datagram.frame, "oddity-not-ipsec");
        }
        for message in taken.datagrams(datagram, segment) {
            match message.kind {
                DatagramKind::Ike { udp, message: bytes } => self.push_ike(&message, udp, bytes),
                DatagramKind::Esp { udp, packet } => self.push_esp(&message, udp, Encapsulation::Tcp, packet),
                _ => {}
            }
        }
    }

    /// Packets that belong into a tunnel: packets with addresses that were inside one, and L2TP between ends that protect it
    /// otherwise. (An ICMP error quotes such packets.)
    fn note_leak(&mut self, datagram: &Datagram<'_>, name: &str) {
        if self.nested.depth == 0 && !name.starts_with("ICMP") {
            let packet = ClearMark {
                ends: ends_in_clear(datagram, name),
                bytes: datagram.outer_bytes,
                time: datagram.time,
                frame: datagram.frame,
            };
            if self.batch.mark(Marked::Clear(packet)) {
                self.hand_over();
            }
        }
        if name != "L2TP in clear" {
            return;
        }
        if let Some(tunnel) = self.record.tunnels.known(datagram.src, datagram.dst, None)
            && !self.record.sas.of_tunnel(tunnel).is_empty()
            && self.record.wants(tunnel)
        {
            self.record.diagnosis.whole_run.take_leak(datagram.frame);
            let control = datagram.payload.get(UDP_HEADER..).and_then(l2tp_control);
            if let Some(control) = control {
                let seen = (datagram.time, datagram.frame);
                let ends = (datagram.src, datagram.dst);
                self.record.control.take(tunnel, ends, control, seen);
            }
        }
    }

    /// An ICMP error about a packet of a tunnel.
    fn note_error(&mut self, datagram: &Datagram<'_>, name: &str) {
        if self.nested.depth > 0 || !name.starts_with("ICMP") {
            return;
        }
        let told = about_ipsec(datagram.payload, datagram.src.is_ipv6());
        let Some((error, udp, spi)) = told else { return };
        let tunnel = self.record.tunnels.known(error.src, error.dst, udp);
        if let Some(tunnel) = tunnel.filter(|&t| self.record.wants(t)) {
            let notice = IcmpNotice {
                tunnel,
                by: datagram.src,
                error,
                spi,
                inside: false,
            };
            self.record.icmp.take(notice, (datagram.time, datagram.frame));
        }
    }

    fn count_too_many(&mut self, frame: u64) {
        self.note("too_many", "analysis", frame, "oddity-too-many");
    }

    /// Looks at the rekeys whose time is over at `now`; with `None` at all that are left.
    fn close_windows(&mut self, now: Option<Timestamp>) {
        let mut diagnosis = std::mem::take(&mut self.record.diagnosis);
        let sas_of = |tunnel| self.record.sas.of_tunnel(tunnel);
        diagnosis.close(now, self.record.evidence(), sas_of);
        self.record.diagnosis = diagnosis;
    }

    /// Tells whether the capture held this packet before; then that is all it counts as, and nothing where it is not `wanted`.
    fn is_duplicate(&mut self, datagram: &Datagram<'_>, wanted: bool) -> bool {
        // Copies of the ESP packet around it were left out.
        if self.nested.depth > 0 {
            return false;
        }
        let stamped = self.clock.as_stamped(datagram.time);
        let Some(name) = self.duplicates.observe(datagram, stamped) else {
            return false;
        };
        if wanted {
            self.count_duplicate(name, datagram.frame, datagram.fragments);
        }
        true
    }

    /// Counts a packet that came in `fragments` IP packets and is left out.
    fn count_duplicate(&mut self, name: &'static str, frame: u64, fragments: u16) {
        self.record.totals.capture_duplicates += u64::from(fragments);
        self.note_named("duplicate", name, frame, "oddity-duplicate");
    }

    /// The record for another capture point, unless a packet inside another is at hand: those have numbers of their own.
    fn point(&mut self) -> Option<&mut PointRecord> {
        self.record.point.as_mut().filter(|_| self.nested.depth == 0)
    }

    /// Counts an oddity of a frame.
    fn note(&mut self, kind: &'static str, layer: &'static str, frame: u64, id: &'static str) {
        self.record.diagnostics.note(kind, layer, Some(frame), id);
    }

    /// Counts an oddity whose sentence names the layer.
    fn note_named(&mut self, kind: &'static str, layer: &'static str, frame: u64, id: &str) {
        let sentence = || Message::new(id).with("name", named(layer));
        self.record.diagnostics.count(kind, layer, Some(frame), sentence);
    }
}
/// The innermost addresses of a packet in clear: what ESP protects in transport mode goes between the same ends as ESP itself.
fn ends_in_clear(datagram: &Datagram<'_>, name: &str) -> (IpAddr, IpAddr) {
    let ends = (datagram.src, datagram.dst);
    let is_version_6 = datagram.payload.first().is_some_and(|byte| byte >> 4 == 6);
    let protocol = match name {
        "GRE" => ip_number::GRE,
        "IP in IP" if is_version_6 => ip_number::IPV6,
        "IP in IP" => ip_number::IPV4,
        "L2TP in clear" => ip_number::UDP,
        _ => return ends,
    };
    let walked = inner::walk(protocol.0, datagram.payload, datagram.payload.len(), Some(ends));
    walked.flow.map_or(ends, |flow| (flow.src, flow.dst))
}
