//! Counters of the capture as a whole.

use rekeyscope_model::time::Timestamp;

#[derive(Debug, Clone, Default)]
pub(crate) struct Totals {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) first_time: Option<Timestamp>,
    pub(crate) last_time: Option<Timestamp>,
    pub(crate) previous_time: Option<Timestamp>,
    /// The time that the frame has.
    pub(crate) previous_raw_time: Option<Timestamp>,
    pub(crate) cut_packets: u64,
    pub(crate) time_regressions: u64,
    pub(crate) ike_packets: u64,
    pub(crate) esp_packets: u64,
    pub(crate) capture_duplicates: u64,
    pub(crate) oversized: u64,
}
