//! Data beside the measured part: series from elsewhere, and what the run was asked for.

use crate::analysis::names::{Direction, OverlayKind};
use crate::analysis::plain_data::plain_data;
use crate::text::Message;
use crate::time::Timestamp;

plain_data! {
    /// Requests of the run beside the files.
    pub struct Settings {
        /// Rate that the tunnel should reach, bit/s.
        pub reference_bps: Option<f64>,
        /// Key files beside the capture were to be left alone.
        #[serde(default)]
        pub no_keys: bool,
        /// The tunnel to analyse alone: its index in `tunnels`, or the address of one of its ends; `null` for all.
        #[serde(default)]
        pub tunnel: Option<String>,
        /// UDP and TCP ports that were said to carry IKE and ESP.
        #[serde(default)]
        pub esp_ports: Vec<u16>,
        /// Files with IKE pre-shared keys, by path. What is in them never gets in here.
        #[serde(default)]
        pub psk_files: Vec<String>,
    }
    /// A series from elsewhere.
    #[derive(Default)]
    pub struct Overlay {
        /// Path as given by the user.
        pub path: String,
        /// Source of the values.
        pub kind: OverlayKind,
        /// Quantity, for example `iperf3` or a column's name.
        pub name: String,
        /// `bit/s` for iperf3; empty where the file does not say.
        pub unit: String,
        /// Index in `tunnels` of the series that it was compared with; `null` without one.
        pub tunnel: Option<usize>,
        /// Direction of that series.
        pub direction: Option<Direction>,
        /// Relation of its clock to the capture's; `null` where its own times were taken.
        pub clock: Option<OverlayClock>,
        /// Values in order (bounded).
        pub points: Vec<OverlayPoint>,
        /// Beside the packet record; iperf3 only.
        pub comparison: Option<OverlayComparison>,
        /// Values around each rekey that the overlay covers.
        pub at_rekeys: Vec<OverlayAtRekey>,
        /// Sentences about the overlay.
        pub sentences: Vec<String>,
        /// Each sentence as one message, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
    }
    /// An overlay's clock against the capture's.
    pub struct OverlayClock {
        /// Seconds that are added to its own times.
        pub offset_s: f64,
        /// Correlation of its rates with the packet record's at that offset, −1 to 1.
        pub correlation: f64,
        /// Step in which offsets were tried, seconds.
        pub step_s: f64,
        /// Length of its intervals (median), seconds: the offset is no better than this.
        pub interval_s: f64,
        /// False: no offset fits, or several fit as well; its own clock was kept.
        pub aligned: bool,
    }
    /// One value of an overlay.
    pub struct OverlayPoint {
        /// Begin of the interval, or time of the sample, on the capture's clock.
        pub time: Timestamp,
        /// Length of its interval; 0 for a sample.
        pub seconds: f64,
        /// In `unit`.
        pub value: f64,
    }
    /// An overlay's rates beside the packet record's, over the same intervals.
    pub struct OverlayComparison {
        /// Intervals within the packet record.
        pub intervals: usize,
        /// Mean of its rates, bit/s.
        pub mean_bps: f64,
        /// Their standard deviation, bit/s.
        pub sd_bps: f64,
        /// Mean of the packet record over those intervals, bit/s.
        pub packets_mean_bps: f64,
        /// Standard deviation of the packet record over them, bit/s.
        pub packets_sd_bps: f64,
        /// Standard deviation of the document's bins within them, bit/s.
        pub packets_bin_sd_bps: f64,
    }
    /// An overlay around one rekey.
    pub struct OverlayAtRekey {
        /// Index in `rekeys`.
        pub rekey: usize,
        /// Last value that began before the rekey did.
        pub before: Option<f64>,
        /// Lowest value from there to two seconds after the switch.
        pub lowest: Option<f64>,
        /// Highest value in that time.
        pub highest: Option<f64>,
    }
}
