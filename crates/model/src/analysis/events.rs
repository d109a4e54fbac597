//! Events of the control plane and the path over the whole capture, and explanations of times without delivery.

use crate::analysis::names::{Certainty, EventKind, ExplanationCause};
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
