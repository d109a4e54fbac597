//! The pipeline: [`Analyzer::push`] takes frames in capture order, [`Analyzer::finish`] gives the document.
//!
//! ESP packets are collected and decoded on all cores ([`crate::batch`]). An IKE message is a barrier: everything before
//! it is accounted for first, so that the volume at an exchange's first message is exact.

mod account;
mod ah;
mod choice;
mod clock;
mod duplicates;
mod esp;
mod ike;
mod nested;
mod stream;
mod stretches;

pub use choice::TunnelChoice;
use clock::CaptureClock;
pub(crate) use clock::{ClockEvent, Jump};
use duplicates::Duplicates;

use crate::analysis::{Analysis, Encapsulation, ExchangeKind};
use crate::batch::{Batch, InFlight};
use crate::capture::{CaptureInfo, Frame};
use crate::diagnosis::Diagnosis;
use crate::diagnostic::{Diagnostics, named};
use crate::document;
use crate::flow::FlowTable;
use crate::framing::tcp_stream::{TcpSegment, TcpStreams};
use crate::framing::{AH, Datagram, DatagramKind, Framing};
use crate::ike::timeline::Timeline;
use crate::impact::Traffic;
use crate::key_ring::KeyRing;
use crate::keylog::KeyMaterial;
use crate::keylog::mine::MOST_TRIALS_PER_SPI;
use crate::meter::Meters;
use crate::rekey::{Evidence, Snapshot};
use crate::sa::database::{SaDatabase, SaIndex};
use crate::sa::seen::SeenPackets;
use crate::sa::tunnel::{TunnelIndex, TunnelTable};
use crate::secret::SecretBytes;
use crate::text::Message;
use crate::time::Timestamp;
use nested::NestedFrames;

/// A frame with more bytes than this was merged by the network card: no link between IPsec peers carries it (jumbo
/// Ethernet ends at 9,018 bytes).
const OFFLOAD_BYTES: u32 = 9_100;
/// Newest SAs of a tunnel whose counters are noted when an exchange begins.
const SNAPSHOT_SAS: usize = 32;
/// Most snapshots that are kept; later exchanges go without (their volume is then the SA's total).
const MAX_SNAPSHOTS: usize = 1 << 19;

/// Which ICVs are checked. A key is always proven first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// Every packet.
    #[default]
    All,
    /// Every n-th packet of each SA.
    Sample(u64),
    /// The first n packets of each SA.
    First(u64),
}

impl std::fmt::Display for Verify {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verify::All => f.write_str("all"),
            Verify::Sample(n) => write!(f, "sample:{n}"),
            Verify::First(k) => write!(f, "first:{k}"),
        }
    }
}

/// What the user chose.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which ICVs are checked.
    pub verify: Verify,
    /// Seed of the placebo draws.
    pub seed: u64,
    /// Placebo draws.
    pub draws: usize,
    /// Effect of interest as a share of throughput.
    pub interest: f64,
    /// Rate that the tunnel should reach, bit/s.
    pub reference_bps: Option<f64>,
    /// Tunnels whose packets are analysed; all where `None`.
    pub tunnel: Option<TunnelChoice>,
    /// UDP and TCP ports that carry IKE and ESP like port 4500.
    pub esp_ports: Vec<u16>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            verify: Verify::All,
            seed: 1,
            draws: 9_999,
            interest: crate::impact::INTEREST,
            reference_bps: None,
            tunnel: None,
            esp_ports: Vec::new(),
        }
    }
}

/// What was counted of the capture as a whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct Totals {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) first_time: Option<Timestamp>,
    pub(crate) last_time: Option<Timestamp>,
    pub(crate) previous_time: Option<Timestamp>,
    /// As the frame has it.
    pub(crate) previous_raw_time: Option<Timestamp>,
    pub(crate) cut_packets: u64,
    pub(crate) time_regressions: u64,
    pub(crate) ike_packets: u64,
    pub(crate) esp_packets: u64,
    pub(crate) capture_duplicates: u64,
    pub(crate) oversized: u64,
}

/// The pipeline with everything it remembers.
#[derive(Debug)]
pub struct Analyzer {
    pub(crate) options: Options,
    framing: Option<Framing>,
    streams: TcpStreams,
    nested: NestedFrames,
    pub(crate) timeline: Timeline,
    pub(crate) exchange_tunnels: Vec<Option<TunnelIndex>>,
    pub(crate) tunnels: TunnelTable,
    pub(crate) sas: SaDatabase,
    pub(crate) snapshots: Vec<Snapshot>,
    pub(crate) flows: FlowTable,
    pub(crate) meters: Meters,
    pub(crate) totals: Totals,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) diagnosis: Diagnosis,
    pub(crate) clock: CaptureClock,
    pub(crate) seen: SeenPackets,
    duplicates: Duplicates,
    batch: Batch,
    in_flight: Option<InFlight>,
    spare: Batch,
    superseded: std::collections::HashMap<SaIndex, SaIndex>,
}

impl Analyzer {
    /// A pipeline that will try `keys`.
    pub fn new(options: Options, keys: KeyMaterial) -> Self {
        Analyzer::with_pre_shared_keys(options, keys, Vec::new())
    }

    /// As [`Analyzer::new`], with IKE pre-shared keys: together with a Diffie–Hellman secret in the key files they give
    /// everything (RFC 2409 §5).
    pub fn with_pre_shared_keys(
        options: Options,
        keys: KeyMaterial,
        pre_shared_keys: Vec<SecretBytes>,
    ) -> Self {
        Analyzer {
            framing: Some(Framing::with_esp_ports(&options.esp_ports)),
            nested: NestedFrames::new(&options.esp_ports),
            streams: TcpStreams::default(),
            options,
            timeline: Timeline::new(keys.ike.clone())
                .with_seeds(keys.seeds.clone())
                .with_pre_shared_keys(pre_shared_keys),
            exchange_tunnels: Vec::new(),
            tunnels: TunnelTable::default(),
            sas: SaDatabase::new(keys),
            snapshots: Vec::new(),
            flows: FlowTable::new(),
            meters: Meters::default(),
            totals: Totals::default(),
            diagnostics: Diagnostics::default(),
            diagnosis: Diagnosis::default(),
            clock: CaptureClock::default(),
            seen: SeenPackets::default(),
            duplicates: Duplicates::default(),
            batch: Batch::default(),
            in_flight: None,
            spare: Batch::default(),
            superseded: std::collections::HashMap::new(),
        }
    }

    /// The counter of oddities, for the reader of the capture.
    pub fn diagnostics_mut(&mut self) -> &mut Diagnostics {
        &mut self.diagnostics
    }

    /// Takes one frame.
    pub fn push(&mut self, frame: &Frame<'_>) {
        let t = &mut self.totals;
        t.time_regressions += u64::from(t.previous_raw_time.is_some_and(|p| frame.time < p));
        t.previous_raw_time = Some(frame.time);
        self.pass_clock(frame);
    }

    /// Takes one frame whose time is that of a clock without steps.
    fn take_frame(&mut self, frame: &Frame<'_>) {
        self.count_frame(frame);
        // The decoder lends its reassembled bytes; it is set aside while they are used.
        let Some(mut framing) = self.framing.take() else {
            return;
        };
        if let Some(datagram) = framing.decode(frame, &mut self.diagnostics) {
            self.push_datagram(&datagram);
        }
        self.framing = Some(framing);
        self.look_into_nested();
    }

    fn count_frame(&mut self, frame: &Frame<'_>) {
        let t = &mut self.totals;
        t.packets += 1;
        t.bytes += u64::from(frame.original_len);
        if (frame.data.len() as u64) < u64::from(frame.original_len) {
            t.cut_packets += 1;
            self.diagnostics
                .count("cut_by_snap_length", "capture", Some(frame.number), || {
                    Message::new("oddity-cut-packets").with("bytes", frame.data.len())
                });
        }
        self.diagnosis
            .whole_run
            .take_frame(t.previous_time, frame.time, frame.number);
        t.previous_time = Some(frame.time);
        t.first_time = Some(t.first_time.map_or(frame.time, |f| f.min(frame.time)));
        t.last_time = Some(t.last_time.map_or(frame.time, |l| l.max(frame.time)));
    }

    fn push_datagram(&mut self, datagram: &Datagram<'_>) {
        self.totals.oversized += u64::from(datagram.largest_fragment > OFFLOAD_BYTES);
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
            DatagramKind::TcpSegment {
                ports,
                seq,
                syn,
                payload,
            } => self.push_tcp(
                datagram,
                &TcpSegment {
                    ends: (datagram.src, datagram.dst),
                    ports,
                    seq,
                    syn,
                    headers: TcpSegment::headers_of(datagram.outer_bytes, payload),
                    payload,
                },
            ),
            DatagramKind::Other(AH) => {}
            DatagramKind::NatKeepalive => {
                self.diagnostics
                    .count("nat_keepalive", "UDP", Some(datagram.frame), || {
                        Message::new("oddity-keepalive")
                    });
            }
            DatagramKind::Other(name) => {
                self.note_leak(datagram, name);
                self.diagnostics
                    .count("not_ipsec", name, Some(datagram.frame), || {
                        Message::new("oddity-not-ipsec").with("name", named(name))
                    });
            }
        }
    }

    /// L2TP in clear between ends that protect it otherwise.
    fn note_leak(&mut self, datagram: &Datagram<'_>, name: &str) {
        if name != "L2TP in clear" {
            return;
        }
        if let Some(tunnel) = self.tunnels.known(datagram.src, datagram.dst)
            && !self.sas.of_tunnel(tunnel).is_empty()
            && self.wants(tunnel)
        {
            self.diagnosis
                .whole_run
                .take_leak(tunnel, datagram.time, datagram.frame);
        }
    }

    /// Whether the user chose this tunnel. Those not chosen are decoded (a chosen one may be inside), and told of nowhere.
    pub(crate) fn wants(&self, tunnel: TunnelIndex) -> bool {
        self.options.tunnel.is_none_or(|choice| {
            let ends = self.tunnels.tunnels.get(tunnel).map(|t| t.ends);
            ends.is_none_or(|ends| choice.takes(tunnel, ends))
        })
    }

    fn count_too_many(&mut self, frame: u64) {
        self.diagnostics.count("too_many", "analysis", Some(frame), || {
            Message::new("oddity-too-many")
        });
    }

    /// Looks at the rekeys whose time is over at `now`; with `None` at all that are left.
    fn close_windows(&mut self, now: Option<Timestamp>) {
        let evidence = Evidence {
            tunnels: &self.tunnels.tunnels,
            exchanges: self.timeline.exchanges(),
            exchange_tunnels: &self.exchange_tunnels,
            associations: self.sas.associations(),
            snapshots: &self.snapshots,
        };
        self.diagnosis
            .close(now, evidence, |tunnel| self.sas.of_tunnel(tunnel));
    }

    fn report_mining(&mut self) {
        let (kind, message) = match self.sas.mining_effort() {
            (0, _) => return,
            (_, false) => ("mining", Message::new("oddity-mining")),
            (_, true) => ("mining_gave_up", Message::new("oddity-mining-gave-up")),
        };
        let (trials, _) = self.sas.mining_effort();
        self.diagnostics.count(kind, "keys", None, || {
            message.with("trials", trials).with("most", MOST_TRIALS_PER_SPI)
        });
    }

    fn report_thin_proofs(&mut self) {
        let wanted = self.sas.associations().iter().filter(|a| self.wants(a.tunnel));
        let thin = wanted.filter(|a| a.rests_on_one_packet());
        let frames: Vec<Option<u64>> = thin.map(|a| a.first.map(|(_, frame)| frame)).collect();
        for frame in frames {
            self.diagnostics.count("one_packet_proof", "keys", frame, || {
                Message::new("oddity-one-packet-proof")
            });
        }
    }

    /// Who began IKE, by the first exchange of each tunnel that tells: the capture may begin in the middle of one.
    fn settle_initiators(&mut self) {
        for (exchange, tunnel) in self.timeline.exchanges().iter().zip(&self.exchange_tunnels) {
            let ike_sa = exchange.ike_sa.map(|sa| &self.timeline.ike_sas()[sa]);
            let initiator = match ike_sa {
                // The header says it (RFC 7296 §3.1).
                Some(sa) if sa.version == 2 => Some(sa.initiator),
                // Anybody may send an Informational.
                _ if exchange.kind == ExchangeKind::Informational => None,
                _ => exchange.known_initiator(),
            };
            if let (Some(tunnel), Some(initiator)) = (*tunnel, initiator) {
                self.tunnels.settle(tunnel, initiator);
            }
        }
    }

    /// The series of the direction with most new bytes, as the estimators of [`crate::impact`] take it; `None` without
    /// traffic. For studies of the method on real captures.
    pub fn into_traffic(mut self) -> Option<Traffic> {
        self.release_held();
        self.flush();
        let meters = &self.meters;
        let series = meters.directions().filter_map(|(t, d)| meters.counted(t, d));
        series.max_by_key(|s| s.new_bytes()).map(|s| s.traffic())
    }

    /// Ends the analysis. `info` is what the container said; `path` names the capture in the document.
    pub fn finish(self, info: &CaptureInfo, path: &str) -> Analysis {
        self.finish_with_keys(info, path).0
    }

    /// As [`Analyzer::finish`], with the keys that fit the capture, for an export that the user asks for.
    pub fn finish_with_keys(mut self, info: &CaptureInfo, path: &str) -> (Analysis, KeyRing) {
        self.release_held();
        self.flush();
        self.nested.finish(&mut self.diagnostics);
        self.settle_initiators();
        self.close_windows(None);
        self.diagnosis.report_bounds(&mut self.diagnostics);
        if let Some(framing) = &mut self.framing {
            framing.finish(&mut self.diagnostics);
        }
        self.sas.settle_unused();
        self.report_mining();
        self.report_thin_proofs();
        self.report_closed_carriers();
        if self.seen.forgotten() > 0 || self.duplicates.forgot() {
            self.diagnostics.count("forgot_packets", "analysis", None, || {
                Message::new("oddity-forgot-packets")
            });
        }
        if self.meters.dropped() > 0 {
            self.diagnostics
                .count("no_series", "analysis", None, || Message::new("oddity-no-series"));
        }
        let ring = KeyRing::new(&self.sas, &self.timeline, |tunnel| self.wants(tunnel));
        (document::assemble(&self, info, path), ring)
    }
}
