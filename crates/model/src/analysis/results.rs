//! The measured part of the document: verdicts, mean rekey, projection, findings, overhead, series.

use crate::analysis::names::{Counted, Direction, Encapsulation, Severity, TriggerKind, Verdict};
use crate::analysis::plain_data::plain_data;
use crate::text::Message;
use crate::time::Timestamp;
use std::net::IpAddr;

plain_data! {
    /// The rule by which one side renews, inferred over all its rekeys.
    #[derive(Default)]
    pub struct TriggerRule {
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Side that begins these rekeys; `null` where no IKE was captured.
        pub initiator: Option<IpAddr>,
        /// The limit that runs out.
        pub kind: TriggerKind,
        /// The rule in words, with its reservations.
        pub sentence: String,
        /// The sentence as message identifiers and arguments, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
        /// Rekeys it rests on: those without collision or new phase 1, whose old SAs were captured from their start.
        pub rekeys: usize,
        /// The first exchange message of none of them was captured: everything here was read later, so limits are at most that.
        #[serde(default)]
        pub at_most: bool,
        /// The chosen candidate, as in `candidates`; `null` where the kind is unknown.
        pub counting: Option<String>,
        /// Other candidates that the capture cannot tell from it.
        pub not_told_apart: Vec<String>,
        /// Negotiated lifetime, kilobytes.
        pub limit_kilobytes: Option<u64>,
        /// Negotiated lifetime, seconds.
        pub limit_seconds: Option<u64>,
        /// Bytes of the kilobyte in `fraction` and `soft_fraction`: 1000 or 1024.
        pub bytes_per_kilobyte: Option<u32>,
        /// True where the capture shows that; false: 1000 is a convention.
        pub kilobyte_told: bool,
        /// Fraction of the limit at the first exchange message: lower envelope.
        pub fraction_low: Option<f64>,
        /// The highest of them: the lag between the peer's trigger and its first message scatters upwards.
        pub fraction_high: Option<f64>,
        /// Soft limit inferred from the lower envelope less the least lag; bytes, packets or seconds.
        pub soft_limit: Option<f64>,
        /// The same over the negotiated limit.
        pub soft_fraction: Option<f64>,
        /// Every counting in use.
        pub candidates: Vec<TriggerCandidate>,
    }
    /// One counting over the rekeys of a rule.
    pub struct TriggerCandidate {
        /// Name of the counting, for example `decrypted payload of the inbound SA`.
        pub counting: String,
        /// Least value at the first exchange message; bytes, packets or seconds.
        pub low: f64,
        /// Greatest value.
        pub high: f64,
        /// Standard deviation of its logarithm; `null` for a single rekey.
        pub spread: Option<f64>,
        /// Least value over the negotiated limit, kilobytes of 1,000 bytes.
        pub fraction_1000: Option<f64>,
        /// The same with kilobytes of 1,024 bytes.
        pub fraction_1024: Option<f64>,
    }
    /// The answer of a report, as its first three lines say it.
    pub struct AnswerLines {
        /// First line: the event, with its number.
        pub headline: String,
        /// Second line: the reason, with the frames that show it; may be empty.
        pub why: String,
        /// Third line: the remedy; backticks set off what is typed.
        #[serde(rename = "do")]
        pub change: String,
    }
    /// The verdict on one tunnel and direction. The cost of rekeys stands in `ledger`.
    pub struct Impact {
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Direction of the data.
        pub direction: Direction,
        /// The verdict.
        pub verdict: Verdict,
        /// The cost of rekeys in words, with its numbers: outages and failed renewals are the matter of `answer`. Empty where the one thing to
        /// say were that rekeys cost nothing, and one of them led to an outage.
        pub sentence: String,
        /// The sentence as message identifiers and arguments, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
        /// Meaning of the rates: inner new bytes, or ESP bytes (SPI to ICV) where keys are missing.
        pub counted: Counted,
        /// Rekeys in the capture.
        pub rekeys: usize,
        /// Number of the rekeys within the transfer of which the capture lacks nothing.
        pub rekeys_used: usize,
        /// Indexes (in `rekeys`) of the rekeys that hurt: they own a silence, or a slow stretch, in the ledger.
        pub rekeys_hurt: Vec<usize>,
        /// Mean rate of the transfer, bit/s.
        pub observed_bps: Option<f64>,
        /// The transfer that was measured, rests left out; `null` where there is nothing to measure (and in documents of versions before
        /// this field).
        #[serde(default)]
        pub transfer: Option<Transfer>,
        /// The transfers that rests part; empty where there is nothing to measure (and in documents of versions before this field).
        #[serde(default)]
        pub transfers: Vec<TransferImpact>,
        /// The rate it is compared with, bit/s.
        pub reference_bps: Option<f64>,
        /// Share of the gap to the reference rate that rekeys explain.
        pub explained_share: Option<Estimate>,
    }
    /// Transfer as it was measured: one point of a comparison of captures. Several transfers count as one.
    pub struct Transfer {
        /// Begin of the transfer.
        pub start: Timestamp,
        /// Length of the transfer without rests, seconds.
        pub duration_s: f64,
        /// New bytes within, of what `counted` names.
        pub bytes: f64,
        /// Number of rekeys within the transfer.
        pub rekeys: usize,
    }
    /// A stretch between rests.
    pub struct TransferImpact {
        /// Begin of the stretch.
        pub start: Timestamp,
        /// End of the stretch.
        pub end: Timestamp,
        /// New bytes within, of what `counted` names.
        pub bytes: f64,
        /// Indexes (in `rekeys`) of the rekeys within the stretch.
        pub rekeys: Vec<usize>,
        /// Cost of the rekeys within the stretch, seconds (documents of versions before this field have none).
        #[serde(default)]
        pub cost_seconds: Option<f64>,
    }
    /// Estimate with its interval.
    pub struct Estimate {
        /// Best value.
        pub estimate: f64,
        /// Lower end.
        pub low: f64,
        /// Upper end.
        pub high: f64,
    }
    /// Rate to expect at another kilobyte lifetime.
    pub struct Projection {
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Direction of the data.
        pub direction: Direction,
        /// The lifetime.
        pub lifetime_kilobytes: u64,
        /// The rate.
        pub expected_bps: Estimate,
    }
    /// Something that no rekey caused.
    pub struct Finding {
        /// The kind: one of `FindingKind`, in documents of this version.
        pub id: String,
        /// Severity of the finding.
        pub severity: Severity,
        /// In words.
        pub sentence: String,
        /// The sentence as message identifiers and arguments, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
        /// Frames that show it (bounded).
        pub evidence_frames: Vec<u64>,
        /// Display filter for Wireshark.
        pub display_filter: String,
    }
    /// Cost of a cipher suite on the wire.
    #[derive(Default)]
    pub struct Overhead {
        /// Name, for example `AES-CBC-128/HMAC-SHA1-96`.
        pub suite: String,
        /// Packets.
        pub packets: u64,
        /// Sum of IP total lengths.
        pub outer_bytes: u64,
        /// Decrypted payload.
        pub inner_bytes: u64,
        /// inner over outer.
        pub efficiency: f64,
        /// IV bytes.
        pub iv: u64,
        /// Padding and trailer bytes.
        pub padding: u64,
        /// ICV bytes.
        pub icv: u64,
        /// Largest decrypted ESP payload seen: in transport mode without the IP header, with the headers of a tunnel protocol.
        /// Not to be held against `largest_inner_for_path`, which is an IP packet inside those.
        pub largest_inner_packet: u64,
        /// ESP in IP or in UDP; `null` in documents of earlier versions.
        #[serde(default)]
        pub encapsulation: Option<Encapsulation>,
        /// Bytes of outer IP, UDP and ESP headers.
        #[serde(default)]
        pub outer_headers: u64,
        /// Largest IP packet on the wire that carried this suite (of a fragmented one, its largest fragment): the path MTU is
        /// this at least. Packets that a network card merged do not count.
        #[serde(default)]
        pub largest_outer_packet: Option<u64>,
        /// Largest IP packet inside that an outer packet of `largest_outer_packet` bytes can carry, by the lengths of suite and
        /// encapsulation: for a path MTU of just that many bytes.
        #[serde(default)]
        pub largest_inner_for_path: Option<u64>,
        /// TCP maximum segment size over IPv4 for it, bytes.
        #[serde(default)]
        pub mss_ipv4: Option<u64>,
        /// The same over IPv6.
        #[serde(default)]
        pub mss_ipv6: Option<u64>,
    }
    /// Throughput over time.
    pub struct Series {
        /// Bin width; coarsened so that no series exceeds 20,000 bins.
        pub bin_ms: f64,
        /// Per tunnel and direction.
        pub tunnels: Vec<TunnelSeries>,
        /// The 10 ms windows around rekeys, kept where `bin_ms` is coarser.
        pub around_rekeys: Vec<RekeySeries>,
    }
    /// The highest rate of a series.
    pub struct HighestRate {
        /// bit/s.
        pub bps: f64,
        /// Mean over this long, seconds: a burst of some packets in one bin is no throughput. One second; a shorter series has
        /// its whole length, a coarser one its bin.
        pub seconds: f64,
    }
    /// One tunnel and direction over time.
    pub struct TunnelSeries {
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Direction of the data.
        pub direction: Direction,
        /// Start of the first bin.
        pub start: Timestamp,
        /// New inner bytes per bin (ESP bytes, SPI to ICV, where the key is missing). In a direction with a ledger a byte counts when the copy
        /// that arrived passes the capture, in another one when it passes first.
        pub inner_new_bytes: Vec<u64>,
        /// Highest rate of `inner_new_bytes` over a second; `null` where nothing was counted, and in documents of versions
        /// before this field.
        #[serde(default)]
        pub highest: Option<HighestRate>,
        /// IP bytes per bin.
        pub outer_bytes: Vec<u64>,
    }
    /// Throughput around one rekey at 10 ms.
    pub struct RekeySeries {
        /// Index in `rekeys`.
        pub rekey: usize,
        /// Direction of the data.
        pub direction: Direction,
        /// Start of the first bin.
        pub start: Timestamp,
        /// Bin width.
        pub bin_ms: f64,
        /// New inner bytes per bin, as in [`TunnelSeries`].
        pub inner_new_bytes: Vec<u64>,
    }
}
