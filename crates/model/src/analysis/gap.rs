//! Two captures against each other, by what their seconds went to.

use crate::analysis::names::AccountLabel;
use crate::analysis::plain_data::plain_data;
use crate::text::Message;

plain_data! {
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
