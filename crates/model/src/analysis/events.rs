//! What the control plane and the path did, over the whole capture, and what explains a time without delivery.

use crate::analysis::names::{Certainty, EventKind, ExplanationCause};
use crate::analysis::plain_data::plain_data;
use crate::spi::Spi;
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

plain_data! {
    /// One event. Fields that a kind does not have are `null` or empty.
    pub struct Event {
        /// Index in `events`.
        pub index: usize,
        /// Index in `tunnels`; `null` where it concerns none, or all.
        pub tunnel: Option<usize>,
        /// The kind of the event.
        pub kind: EventKind,
        /// When it began.
        pub time: Timestamp,
        /// When it ended: the last copy of a request, the answer, the end of a silence; `null` for a moment.
        pub until: Option<Timestamp>,
        /// The frame that shows it first.
        pub frame: u64,
        /// Who did it, or did not: the sender of a Delete, of a refusal, the side that did not answer.
        pub by: Option<IpAddr>,
        /// How it is known.
        pub known: Certainty,
        /// Index in `exchanges`.
        pub exchange: Option<usize>,
        /// SPIs that it names.
        pub spis: Vec<Spi>,
        /// The name of the notification, where it could be read; of an ICMP message its name.
        pub notify: Option<String>,
        /// Copies of a request, or of what was said more than once; checks or echoes that were asked; fragments that came; the number of
        /// the first packet; bytes of the limit, of the next hop's MTU, of the largest packet that still passes; missing numbers.
        pub count: Option<u64>,
        /// Of a Delete: an SA that succeeds the deleted one stood already. Of a new IKE SA: one of the same ends lived.
        pub successor: Option<bool>,
        /// Address and port before a change.
        pub from: Option<String>,
        /// Address and port after it.
        pub to: Option<String>,
    }
    /// What explains a time without delivery.
    pub struct Explanation {
        /// The cause.
        pub cause: ExplanationCause,
        /// How it is known.
        pub certainty: Certainty,
        /// Who can cure it, or whom it is about: who deleted, refused, fell silent.
        pub by: Option<IpAddr>,
        /// Index in `events` of the event that shows it.
        pub event: Option<usize>,
        /// Indexes in `events` of other evidence.
        pub evidence: Vec<usize>,
        /// Frames that show it (bounded).
        pub frames: Vec<u64>,
        /// Index in `exchanges`: the renewal that came too late, took long or brought the way back, or after which it began.
        #[serde(default)]
        pub exchange: Option<usize>,
        /// How long that exchange took, or how long the silent side was silent, seconds.
        #[serde(default)]
        pub seconds: Option<f64>,
        /// The limit that the SA had reached, in kilobytes of 1,024 bytes: read, or learnt from SAs that ended alike.
        #[serde(default)]
        pub limit_kilobytes: Option<u64>,
        /// The limit that the SA had reached, in seconds: read, or learnt from SAs that ended alike.
        #[serde(default)]
        pub limit_seconds: Option<u64>,
        /// Requests that were refused or unanswered; packets that were lost on the new or the old SA, or came too late; bytes of
        /// the largest packet that still passed; SAs that ended at the same limit.
        #[serde(default)]
        pub count: Option<u64>,
    }
}

impl Explanation {
    /// A cause, and nothing else of it yet.
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
            limit_kilobytes: None,
            limit_seconds: None,
            count: None,
        }
    }
}

impl Event {
    /// A moment that a frame shows, and nothing else of it yet.
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
}
