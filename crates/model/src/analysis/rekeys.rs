//! Rekeys in the document: SPIs, times, trigger, what each one cost.

use crate::analysis::close_up::CloseUp;
use crate::analysis::names::{Confidence, Direction, ProofRule, RekeyEvidence, TriggerKind};
use crate::analysis::plain_data::plain_data;
use crate::spi::Spi;
use crate::text::Message;
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

plain_data! {
    /// One SA per direction; `null` where a direction never carried a packet and no exchange names it.
    pub struct SpiPair {
        /// Towards the IKE responder.
        pub a_to_b: Option<Spi>,
        /// Towards the IKE initiator.
        pub b_to_a: Option<Spi>,
    }
    /// A moment per direction.
    pub struct TimePair {
        /// Towards the IKE responder.
        pub a_to_b: Option<Timestamp>,
        /// Towards the IKE initiator.
        pub b_to_a: Option<Timestamp>,
    }
    /// Milliseconds per direction.
    pub struct MillisPair {
        /// Towards the IKE responder.
        pub a_to_b: Option<f64>,
        /// Towards the IKE initiator.
        pub b_to_a: Option<f64>,
    }
    /// One renewal of an SA pair.
    pub struct Rekey {
        /// Index in this list.
        pub index: usize,
        /// Place among the rekeys of its tunnel, from 1: what sentences, tables and plots call it. 0 in documents of versions
        /// before this field, which called it `index` + 1.
        #[serde(default)]
        pub number: usize,
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Index in `exchanges`; `null` where only the SPIs show it.
        pub exchange: Option<usize>,
        /// Address that began the exchange.
        pub initiator: Option<IpAddr>,
        /// The SAs that end.
        pub old: SpiPair,
        /// The SAs that begin.
        pub new: SpiPair,
        /// How it was recognised.
        pub evidence: RekeyEvidence,
        /// Why it happened.
        pub trigger: Trigger,
        /// First exchange message; `null` where it is not in the capture.
        pub started: Option<Timestamp>,
        /// First packet on the new SA.
        pub switched: TimePair,
        /// First to last exchange message.
        pub exchange_ms: Option<f64>,
        /// How long both SAs of a direction carried packets; the longer direction. Negative values are gaps, so 0 at least.
        pub overlap_ms: Option<f64>,
        /// Last packet on the old SA to first packet on the new one.
        pub gap_ms: MillisPair,
        /// What it did to throughput, per direction that carries data.
        pub impact: Vec<RekeyImpact>,
        /// Why it hurt.
        pub causes: Vec<Cause>,
        /// The packets around it, for the 24 rekeys at which data paused for longest; absent elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub close_up: Option<CloseUp>,
    }
    /// Why a rekey happened.
    #[derive(Default)]
    pub struct Trigger {
        /// What ran out.
        pub kind: TriggerKind,
        /// Volume at the first exchange message over the limit.
        pub fraction: Option<f64>,
        /// What `bytes` counts, for example `inner bytes of the expiring inbound SA, kB = 1000`: the busier SA's, unless the
        /// rule of the trace ([`TriggerRule`]) leaves one counting only, which then stands here.
        pub counting: Option<String>,
        /// `counting` as message identifiers and arguments, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
        /// Volume at the first exchange message.
        pub bytes: Option<u64>,
        /// Negotiated kilobyte lifetime.
        pub limit_kilobytes: Option<u64>,
        /// Age of the old SA at the first exchange message, seconds.
        pub age_s: Option<f64>,
        /// Negotiated lifetime in seconds.
        pub limit_seconds: Option<u64>,
        /// The old SA is older than the capture, or packets of it are missing: `bytes` and `age_s` are lower bounds, and there
        /// is no `fraction`.
        #[serde(default)]
        pub at_least: bool,
        /// The first exchange message is not in the capture: `bytes` and `age_s` are upper bounds, read at a later one or (where
        /// there is none) over the whole SA, and there is no `fraction`. Where both hold, neither is given.
        #[serde(default)]
        pub at_most: bool,
    }
    /// What one rekey did to one direction.
    pub struct RekeyImpact {
        /// Which direction.
        pub direction: Direction,
        /// False: idle, or outside the transfer; not in the statistics.
        pub used: bool,
        /// Rate around it, bit/s.
        pub baseline_bps: Option<f64>,
        /// 1 − lowest 50 ms mean over the baseline.
        pub depth: Option<f64>,
        /// From the first fall below 0.8 of the baseline to the first return held for 100 ms.
        pub dip_ms: Option<f64>,
        /// Longest gap between packets with new data that touches it.
        pub longest_gap_ms: Option<f64>,
        /// Probability of such a gap without a rekey.
        pub p_gap: Option<f64>,
        /// Benjamini–Hochberg adjusted p of this rekey.
        pub q: Option<f64>,
        /// Named as one that hurt: proven, or q ≤ 0.05 and not acquitted.
        pub hurt: bool,
        /// What the packets prove (documents of versions before this field have none).
        #[serde(default)]
        pub proof: Option<Proof>,
        /// `non_stationary`, `one_sided_baseline`, `free_mean_baseline`, `no_exchange`, `silence_before`,
        /// `dip_censored`, `capture_hole` (its window touches a stretch that the capture lacks), `collision` (counted with the
        /// rekey that collided with it), …
        pub flags: Vec<String>,
        /// The stall at each window length.
        pub windows: Vec<StallWindow>,
    }
    /// What the packets around a rekey prove of one direction, without statistics.
    pub struct Proof {
        /// By which rule.
        pub rule: ProofRule,
        /// How long nothing passed, at least; of an acquittal, how long nothing new was sent.
        pub outage_ms: f64,
        /// Segments that were lost or not sent; packets beyond the limit.
        pub segments: u64,
        /// Frames that show it (bounded).
        pub frames: Vec<u64>,
    }
    /// Stall within `window_s` of the switch.
    pub struct StallWindow {
        /// W, seconds.
        pub window_s: f64,
        /// Bytes lost against the baseline; negative when more went through.
        pub lost_bytes: f64,
        /// Those bytes at the baseline rate.
        pub stall_ms: f64,
        /// Rank among the placebos, where this W has one.
        pub p: Option<f64>,
    }
    /// Why a rekey hurt, with evidence.
    pub struct Cause {
        /// Identifier from the list of causes.
        pub id: String,
        /// How sure.
        pub confidence: Confidence,
        /// Frames that show it (bounded).
        pub evidence_frames: Vec<u64>,
        /// For Wireshark.
        pub display_filter: String,
    }
}

impl SpiPair {
    /// The SPI of one direction.
    pub fn get(&self, direction: Direction) -> Option<Spi> {
        direction.pick(self.a_to_b, self.b_to_a)
    }
}

impl TimePair {
    /// The moment of one direction.
    pub fn get(&self, direction: Direction) -> Option<Timestamp> {
        direction.pick(self.a_to_b, self.b_to_a)
    }
}

impl MillisPair {
    /// The milliseconds of one direction.
    pub fn get(&self, direction: Direction) -> Option<f64> {
        direction.pick(self.a_to_b, self.b_to_a)
    }
}
