//! The account of every second of a transfer, and two captures against each other by it.

use crate::analysis::names::{AccountLabel, D2Source, Direction, OwnRate};
use crate::analysis::plain_data::plain_data;
use crate::text::Message;
use crate::time::Timestamp;

plain_data! {
    /// One tunnel and direction: its wall time, cut into stretches with one label each. With new bytes b and seconds t of a
    /// label and the rate C it is compared with, lost = t − b/C: the labels' seconds add up to `seconds`, their lost seconds
    /// to `lost_seconds` = `seconds` − `bytes`/C.
    pub struct Account {
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Direction of the data.
        pub direction: Direction,
        /// First data of a connection that carries at least 1 % of the direction's bytes.
        pub start: Timestamp,
        /// Last data of such a connection; the end of the capture where the tunnel died; the last packet that was looked at where
        /// there are too many.
        pub end: Timestamp,
        /// From `start` to `end`, rests between transfers left out.
        pub seconds: f64,
        /// New bytes of these connections.
        pub bytes: u64,
        /// Number of these connections.
        pub connections: usize,
        /// The rate C that `lost_seconds` compares with: the given one, else `own_mbps`.
        pub reference_mbps: f64,
        /// True where somebody gave that rate.
        pub reference_given: bool,
        /// Rate that this path can carry.
        pub own_mbps: f64,
        /// Source of that rate.
        pub own_from: OwnRate,
        /// Least round trip, milliseconds; `null` without inner TCP.
        pub rtt_ms: Option<f64>,
        /// Source of the sender's half of the round trip.
        pub d2_from: D2Source,
        /// The scale of the receiver's window is known from the handshake, of every connection.
        pub scale_known: bool,
        /// The receiver's window while the transfer waited for it (median), bytes; `null` where it did not, or the scale is
        /// not known.
        pub window_bytes: Option<u64>,
        /// Labels that these packets cannot show; what would have them is called something else. With `rekey` and `tunnel_down` the
        /// capture cuts an outage: which of these labels its seconds have is not decided.
        pub not_testable: Vec<AccountLabel>,
        /// Seconds beyond what `bytes` take at C; negative where it was faster.
        pub lost_seconds: f64,
        /// Every label that has seconds, most lost first.
        pub labels: Vec<AccountLine>,
        /// The stretches in order of time, at most 2,000; of more, the shortest are counted to the one before them, for
        /// drawing only.
        pub runs: Vec<AccountRun>,
        /// In words, with numbers.
        pub sentence: String,
        /// The sentence as message identifiers and arguments, from which it is said in another language.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
    }
    /// Seconds and bytes of one label.
    pub struct AccountLine {
        /// The label.
        pub label: AccountLabel,
        /// Seconds.
        pub seconds: f64,
        /// New bytes within.
        pub bytes: u64,
        /// Seconds beyond what `bytes` take at C.
        pub lost_seconds: f64,
        /// Share of `seconds` in which the rate was coming back behind a rekey: it follows from that, whatever the label.
        #[serde(default)]
        pub behind_rekeys: f64,
        /// `seconds` of the account's `seconds`.
        pub share: f64,
        /// `lost_seconds` of what all labels lost; `null` where the transfer took no longer.
        pub lost_share: Option<f64>,
        /// `seconds` per gigabyte (10⁹ bytes) of the whole account: what a comparison of captures subtracts.
        pub s_per_gb: Option<f64>,
        /// Rate of the whole transfer, had these lost seconds not been, Mbit/s: an estimate.
        pub without_mbps: Option<f64>,
        /// Labels that the same seconds would have without this one.
        pub also: Vec<AccountAlso>,
        /// The three longest stretches.
        pub evidence: Vec<AccountEvidence>,
    }
    /// A second reason of the same seconds.
    pub struct AccountAlso {
        /// The label.
        pub label: AccountLabel,
        /// Seconds.
        pub seconds: f64,
    }
    /// A stretch of one label and the frames around it.
    pub struct AccountEvidence {
        /// The packet before it.
        pub from_frame: u64,
        /// The packet that ends it.
        pub to_frame: u64,
        /// Length of the stretch.
        pub seconds: f64,
    }
    /// A stretch of one label.
    pub struct AccountRun {
        /// The label.
        pub label: AccountLabel,
        /// Begin of the stretch, seconds from the account's `start`, rests included.
        pub from_s: f64,
        /// End of the stretch, likewise.
        pub to_s: f64,
        /// The packet before it.
        pub from_frame: u64,
        /// The packet that ends it.
        pub to_frame: u64,
    }

    /// Seconds per gigabyte (10⁹ new bytes) that a capture needs beyond a reference: the labels' differences add up to the whole.
    /// No rate has to be known for it.
    pub struct AccountGap {
        /// The capture.
        pub capture: String,
        /// The capture that is compared with.
        pub reference: String,
        /// Seconds per gigabyte of the capture.
        pub seconds_per_gb: f64,
        /// And of the reference.
        pub reference_s_per_gb: f64,
        /// The difference; negative where the capture is faster.
        pub gap_s_per_gb: f64,
        /// Every label that either has, the largest difference first.
        pub labels: Vec<AccountGapLine>,
        /// In words, with numbers.
        pub sentence: String,
        /// The sentence as message identifiers and arguments, from which it is said in another language.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
    }
    /// The part of one label in the difference.
    pub struct AccountGapLine {
        /// The label.
        pub label: AccountLabel,
        /// Seconds per gigabyte of the capture.
        pub s_per_gb: f64,
        /// And of the reference.
        pub reference_s_per_gb: f64,
        /// The difference.
        pub gap_s_per_gb: f64,
        /// Share of the whole difference; `null` where the capture is not slower.
        pub gap_share: Option<f64>,
    }
}
