//! Events of the control plane and the path over the whole capture, attempts to make or renew SAs, and the times during which nothing
//! passed, with their explanations.

use crate::analysis::names::{
    AttemptOutcome, Certainty, Confidence, Direction, EventKind, ExplanationCause, OutageEnd,
};
use crate::analysis::plain_data::plain_data;
use crate::spi::Spi;
use crate::time::Timestamp;
use std::net::{IpAddr, SocketAddr};

/// Most events of a document, and of each list that makes them; later ones are left out, and counted. An hour with one a second.
pub const MOST_EVENTS: usize = 4_096;

plain_data! {
    /// An event. Fields that a kind does not have are `null` or empty.
    pub struct Event {
        /// Index in `events`.
        pub index: usize,
        /// Index in `tunnels`; `null` where the event concerns none, or all.
        pub tunnel: Option<usize>,
        /// The kind of the event.
        pub kind: EventKind,
        /// Time of the beginning.
        pub time: Timestamp,
        /// Time of the end: the last copy of a request, the answer, the end of a silence, the peer's first ESP packet to a new place (or the
        /// end of the capture); `null` for a moment.
        pub until: Option<Timestamp>,
        /// First frame that shows the event.
        pub frame: u64,
        /// Side that acted or failed to: the sender of a Delete or of a refusal, the side that did not answer.
        pub by: Option<IpAddr>,
        /// Certainty of the event.
        pub known: Certainty,
        /// Index in `exchanges`.
        pub exchange: Option<usize>,
        /// SPIs that the event names.
        pub spis: Vec<Spi>,
        /// Name of the notification, where it could be read, of the ICMP message, or of the echo.
        pub notify: Option<String>,
        /// Number by kind: copies of a request, or of a repeated statement; checks or echoes that were asked; fragments that came; the
        /// number of the first packet; bytes of the limit, of the next hop's MTU; missing numbers, or those that numbers went back by;
        /// packets that the peer of an end that moved sent before it followed; the last number of an SA that had carried most before the capture.
        pub count: Option<u64>,
        /// True where another SA stood already: for a Delete, one that succeeds the deleted SA; for a new IKE SA, one of the same ends. For a
        /// refused login, whether a later one was accepted; for echoes in vain, whether a later one was answered.
        pub successor: Option<bool>,
        /// Address and port before a change, or of the end that tells a tunnel from another one; ESP number before a step back; or the host whose
        /// packets are too big.
        pub from: Option<String>,
        /// Address and port after a change, or of that end of the other tunnel; ESP number behind a step back; or the host to which packets are
        /// too big.
        pub to: Option<String>,
    }
    /// Explanation of a time without delivery.
    pub struct Explanation {
        /// The cause.
        pub cause: ExplanationCause,
        /// Certainty of the cause.
        pub certainty: Certainty,
        /// Side that can cure the cause, or is its subject: the side that deleted, refused, fell silent.
        pub by: Option<IpAddr>,
        /// Index in `events` of the event that shows the cause.
        pub event: Option<usize>,
        /// Indexes in `events` of other evidence.
        pub evidence: Vec<usize>,
        /// Frames that show the cause (bounded).
        pub frames: Vec<u64>,
        /// Index in `exchanges` of the renewal that came too late, took long or brought the way back, or after which the time began.
        #[serde(default)]
        pub exchange: Option<usize>,
        /// Duration of that exchange, from the Delete on where that came first; of the silence of the silent side; of checks without an answer; or from
        /// the move of an end until its peer followed, seconds.
        #[serde(default)]
        pub seconds: Option<f64>,
        /// Part of that exchange in which the two sides computed keys, seconds; `null` where it made none, or that is not known.
        #[serde(default)]
        pub computed_seconds: Option<f64>,
        /// The limit that the SA had reached, in kilobytes of 1,000 bytes: read, or learnt from SAs that ended alike; of one SA that stopped
        /// alone, what it had carried by its numbers.
        #[serde(default)]
        pub limit_kilobytes: Option<u64>,
        /// The limit that the SA had reached, in seconds: read, or learnt from SAs that ended alike.
        #[serde(default)]
        pub limit_seconds: Option<u64>,
        /// The limit that the SA had reached, in packets: learnt from SAs that ended alike.
        #[serde(default)]
        pub limit_packets: Option<u64>,
        /// Number by cause: requests that were refused or unanswered; packets that were lost on the new or the old SA, or came too late;
        /// bytes of the largest packet that still passed; SAs that ended at the same limit; the last number of an SA; checks, where
        /// the silent side was sent nothing else.
        #[serde(default)]
        pub count: Option<u64>,
        /// Number of connections that stood still, where large packets alone did not pass.
        #[serde(default)]
        pub connections: Option<u64>,
        /// Bytes of the smallest packet that did not pass, where no MTU is so small, or where its sender cut it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub lost_bytes: Option<u64>,
        /// Seconds for which nothing had passed, no NAT keepalive either, when what was sent next did not arrive: a NAT or a filter may have
        /// forgotten the flow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rested_seconds: Option<f64>,
    }

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

impl Explanation {
    /// An explanation by an event.
    pub fn shown(cause: ExplanationCause, event: &Event) -> Explanation {
        Explanation {
            by: event.by,
            event: Some(event.index),
            count: event.count,
            ..Explanation::of(cause, event.known)
        }
    }

    /// Tells whether a limit is known that the SA had reached.
    pub fn has_limit(&self) -> bool {
        let by_use = self.limit_packets.or(self.limit_kilobytes);
        by_use.or(self.limit_seconds).is_some()
    }

    /// An explanation with its cause, and nothing else yet.
    pub fn of(cause: ExplanationCause, certainty: Certainty) -> Explanation {
        Explanation {
            cause,
            certainty,
            by: None,
            event: None,
            evidence: Vec::new(),
            frames: Vec::new(),
            exchange: None,
            seconds: None,
            computed_seconds: None,
            limit_kilobytes: None,
            limit_seconds: None,
            limit_packets: None,
            count: None,
            connections: None,
            lost_bytes: None,
            rested_seconds: None,
        }
    }
}

impl Event {
    /// An event at a moment that a frame shows, and nothing else yet.
    pub fn at(kind: EventKind, known: Certainty, time: Timestamp, frame: u64) -> Event {
        Event {
            index: 0,
            tunnel: None,
            kind,
            time,
            until: None,
            frame,
            by: None,
            known,
            exchange: None,
            spis: Vec::new(),
            notify: None,
            count: None,
            successor: None,
            from: None,
            to: None,
        }
    }

    /// The ports of `from` and `to`, where both are places of one address.
    pub fn ports(&self) -> Option<[u16; 2]> {
        let place = |place: &Option<String>| place.as_deref()?.parse::<SocketAddr>().ok();
        let (from, to) = (place(&self.from)?, place(&self.to)?);
        (from.ip() == to.ip()).then(|| [from.port(), to.port()])
    }
}

impl Outage {
    /// The end of the outage; that of the capture where it has none.
    pub fn until(&self) -> Timestamp {
        let last = || self.start.plus_seconds(self.seconds);
        self.end.unwrap_or_else(last)
    }
}
