//! Messages that repeat themselves.

use rekeyscope_model::analysis::{Certainty, Event, EventKind, MOST_EVENTS};
use rekeyscope_model::time::Timestamp;

/// The same thing once or more often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repeats {
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
    /// The frame of the first.
    pub(crate) frame: u64,
    pub(crate) count: u64,
}

impl Repeats {
    pub(super) fn begin(time: Timestamp, frame: u64) -> Repeats {
        Repeats {
            first: time,
            last: time,
            frame,
            count: 1,
        }
    }

    pub(super) fn go_on(&mut self, time: Timestamp) {
        self.last = self.last.max(time);
        self.count += 1;
    }

    /// An event from the first to the last of several.
    pub(crate) fn event(&self, kind: EventKind, known: Certainty) -> Event {
        Event {
            until: (self.count > 1).then_some(self.last),
            ..Event::at(kind, known, self.first, self.frame)
        }
    }
}

/// A bounded list of runs.
#[derive(Debug)]
pub(super) struct RunList<T> {
    pub(super) kept: Vec<T>,
    pub(super) left_out: u64,
}

impl<T> Default for RunList<T> {
    fn default() -> Self {
        RunList {
            kept: Vec::new(),
            left_out: 0,
        }
    }
}

impl<T> RunList<T> {
    pub(super) fn push(&mut self, run: T) {
        if self.kept.len() < MOST_EVENTS {
            self.kept.push(run);
        } else {
            self.left_out += 1;
        }
    }
}
