//! The comparison of several captures: plain data, the contract of `rekeyscope compare --json`.

use crate::analysis::capture::Generator;
use crate::analysis::plain_data::plain_data;
use crate::analysis::{Account, AccountGap, Counted, Direction, Estimate, Verdict};
use crate::text::Message;
use std::net::IpAddr;

/// Version of the meaning of the fields.
pub const SCHEMA_VERSION: u32 = 1;

plain_data! {
    /// The whole document.
    pub struct Comparison {
        /// [`SCHEMA_VERSION`].
        pub schema_version: u32,
        /// Program that made the comparison.
        pub generator: Generator,
        /// The cost of a rekey, or why that cannot be told.
        pub answer: String,
        /// The sentence as message identifiers and arguments, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub answer_messages: Vec<Message>,
        /// The line through the captures; `null` where none can be drawn.
        pub slope: Option<Slope>,
        /// In the order given.
        pub captures: Vec<ComparedCapture>,
        /// Every capture with an account against the fastest of them, in the order given.
        #[serde(default)]
        pub gaps: Vec<AccountGap>,
        /// Wire efficiency of the cipher suites in words.
        pub efficiency: String,
        /// The sentence as message identifiers and arguments, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub efficiency_messages: Vec<Message>,
        /// Reservations.
        pub notes: Vec<String>,
        /// Each note as one message, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub notes_messages: Vec<Message>,
        /// Files that could not be read.
        pub unread: Vec<Unread>,
    }
    /// Seconds per gigabyte over rekeys per gigabyte.
    pub struct Slope {
        /// Seconds per rekey.
        pub seconds_per_rekey: f64,
        /// Lower end of its 95 % interval; `null` for two captures.
        pub low_s: Option<f64>,
        /// Upper end of it.
        pub high_s: Option<f64>,
        /// Intercept: seconds per gigabyte without rekeys.
        pub seconds_per_gb_without: f64,
        /// Rate without rekeys, bit/s; `null` where the line gives no positive time.
        pub without_rekeys_bps: Option<f64>,
        /// Captures on the line.
        pub captures: usize,
    }
    /// One capture: its headline direction.
    pub struct ComparedCapture {
        /// Path as given by the user.
        pub path: String,
        /// The end of the path that tells it from the others.
        pub name: String,
        /// Outer source of the direction.
        pub src: Option<IpAddr>,
        /// Outer destination of the direction.
        pub dst: Option<IpAddr>,
        /// The direction; `null` without any.
        pub direction: Option<Direction>,
        /// The verdict on it.
        pub verdict: Option<Verdict>,
        /// Meaning of its bytes.
        pub counted: Option<Counted>,
        /// Cipher suite, most packets first; `null` while unknown.
        pub suite: Option<String>,
        /// Negotiated lifetime, kilobytes.
        pub lifetime_kilobytes: Option<u64>,
        /// Negotiated lifetime, seconds.
        pub lifetime_seconds: Option<u64>,
        /// Rekeys within the transfer.
        pub rekeys: Option<usize>,
        /// New bytes of the transfer.
        pub bytes: Option<f64>,
        /// Length of the transfer, seconds.
        pub duration_s: Option<f64>,
        /// Mean rate of the transfer, bit/s.
        pub rate_bps: Option<f64>,
        /// Rekeys per 10⁹ new bytes.
        pub rekeys_per_gb: Option<f64>,
        /// Seconds per 10⁹ new bytes.
        pub seconds_per_gb: Option<f64>,
        /// Cost of a rekey within the transfer by the ledger of this capture, seconds: the mean, the least and the most (documents of versions
        /// before this field have none).
        #[serde(default)]
        pub rekey_cost_s: Option<Estimate>,
        /// True where the cost is a lower bound: rekeys may have cost more.
        pub at_least: bool,
        /// The account of every second of the direction, without `runs`; `null` in documents of versions before accounts.
        #[serde(default)]
        pub account: Option<Account>,
        /// Decrypted payload of the direction's SAs that were opened whole.
        pub inner_bytes: u64,
        /// IP bytes of the same SAs.
        pub outer_bytes: u64,
        /// Packets of the same SAs.
        pub packets: u64,
        /// inner over outer; `null` without keys.
        pub efficiency: Option<f64>,
        /// True where the capture is a point of the slope.
        pub used: bool,
        /// Why it is not.
        pub left_out: Option<String>,
        /// The reason as message identifiers and arguments, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub left_out_messages: Vec<Message>,
    }
    /// A file that gave no analysis.
    pub struct Unread {
        /// Path as given by the user.
        pub path: String,
        /// Why, and what to do.
        pub reason: String,
    }
}
