//! Attempts to make or renew SAs, and the times during which nothing passed.

use crate::analysis::events::Explanation;
use crate::analysis::names::{AttemptOutcome, Confidence, Direction, OutageEnd};
use crate::analysis::plain_data::plain_data;
use crate::time::Timestamp;
use std::net::IpAddr;

plain_data! {
    /// One Quick Mode or CREATE_CHILD_SA that would replace, or first make, an SA; or the lack of one.
    pub struct Attempt {
        /// Index in this list.
        pub index: usize,
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Index in `exchanges`; `null` where nobody asked, or not before it was too late.
        pub exchange: Option<usize>,
        /// Address that asked; of a Delete that came first, its sender.
        pub initiator: Option<IpAddr>,
        /// First message; where nobody asked, when the limit was passed.
        pub first_time: Timestamp,
        /// Last message.
        pub last_time: Timestamp,
        /// Messages, retransmissions included.
        pub messages: u64,
        /// Copies of the request.
        pub transmissions: u64,
        /// Times of the copies of the request (bounded).
        pub requests: Vec<Timestamp>,
        /// From the first request to the first answer, seconds; `null` without both.
        pub answered_after_s: Option<f64>,
        /// Outcome of the attempt.
        pub outcome: AttemptOutcome,
        /// Reason of the outcome: of a refusal the name of the notification, where it could be read; of a request without an answer `peer_silent`
        /// (the other side sent no ESP meanwhile) or `peer_sends_esp`. Of a limit `volume` or `seconds`.
        pub reason: Option<String>,
        /// Index in `rekeys`.
        pub rekey: Option<usize>,
        /// The time around it during which nothing passed; also in `outages`.
        pub outage: Option<Outage>,
        /// Frames that show it (bounded).
        pub evidence_frames: Vec<u64>,
        /// Display filter for Wireshark.
        pub display_filter: String,
    }
    /// A time during which one direction of a tunnel delivered nothing although it had something to deliver.
    pub struct Outage {
        /// Index in `outages`.
        pub index: usize,
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Direction of the data.
        pub direction: Direction,
        /// Time at which the last data was sent that arrived.
        pub start: Timestamp,
        /// Time at which the first data was sent that arrived again; `null` where the capture ends first.
        pub end: Option<Timestamp>,
        /// From `start` to `end`, or to the end of the capture.
        pub seconds: f64,
        /// True where the outage lasted at least that long: the capture ends first.
        pub at_least: bool,
        /// End of the outage.
        pub ended_by: OutageEnd,
        /// `high`: acknowledgements of inner TCP tell it; `low`: only ESP packets of both directions do.
        pub confidence: Confidence,
        /// Explanation of the outage (documents of versions before this field have none).
        #[serde(default)]
        pub explanation: Option<Explanation>,
        /// The inner addresses whose data was not delivered: sender, receiver; `null` where keys are missing.
        #[serde(default)]
        pub inner: Option<(IpAddr, IpAddr)>,
        /// Least time without a way: from the first lost packet to the last one, or to the event that brought the way back. From its
        /// end on, the sender waited for its timer. `null` where no lost packet was captured.
        #[serde(default)]
        pub dead: Option<(Timestamp, Timestamp)>,
        /// Number of packets that did not arrive.
        #[serde(default)]
        pub swallowed: u64,
        /// The last packet that arrived, those that did not (bounded), the first that arrived again.
        pub frames: Vec<u64>,
        /// Display filter for Wireshark.
        pub display_filter: String,
    }
}

impl Outage {
    /// The end of the outage; that of the capture where it has none.
    pub fn until(&self) -> Timestamp {
        let last = || self.start.plus_seconds(self.seconds);
        self.end.unwrap_or_else(last)
    }
}
