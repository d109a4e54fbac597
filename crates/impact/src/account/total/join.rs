//! Several connections of a direction → one list of stretches, in order of time. Connections that are open at the same time share it by
//! what they sent lately: each has its part of the tenth of a second. One that only waits for its application has no say, but where all others are
//! datagrams, which nobody explains, and fewer bytes than those of TCP.

use crate::account::overlay::Labelled;
use crate::account::surroundings::Surroundings;
use crate::account::sweep::track::Step;
use crate::ledger::without;
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// Bytes lose their weight with exp(−t/1 s).
const DECAY: f64 = NANOS_PER_SECOND as f64;
/// Every open connection weighs this, bytes: a segment.
const LEAST_WEIGHT: f64 = 1_500.0;
/// Weights are taken anew at least this often, in a transfer that is not too long for it.
const STEP: i64 = NANOS_PER_SECOND / 10;
/// Pieces that come of that, at most: of two connections for 13 hours, of a hundred for a quarter of one. A clock that jumps makes a
/// transfer of years. Each takes 88 bytes while the account is made.
const MOST_PIECES: i64 = 1_000_000;

/// Time with one label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LabelledPiece {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    pub(crate) label: AccountLabel,
    /// The label that it would have without.
    pub(crate) also: Option<AccountLabel>,
    pub(crate) frames: (u64, u64),
}

impl LabelledPiece {
    pub(crate) fn nanos(&self) -> i64 {
        self.to.nanos_since(self.from)
    }

    /// The parts that lie outside of stretches, which are in order.
    pub(crate) fn outside(self, stretches: &[(Timestamp, Timestamp)]) -> impl Iterator<Item = LabelledPiece> {
        let left = without((self.from, self.to), stretches).into_iter();
        left.map(move |(from, to)| LabelledPiece { from, to, ..self })
    }
}

/// Joins pieces that follow each other and are called the same.
pub(crate) fn joined(pieces: impl Iterator<Item = LabelledPiece>) -> Vec<LabelledPiece> {
    let mut joined: Vec<LabelledPiece> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(last) if (last.label, last.also, last.to) == (piece.label, piece.also, piece.from) => {
                (last.to, last.frames.1) = (piece.to, piece.frames.1);
            }
            _ => joined.push(piece),
        }
    }
    joined
}

/// A connection and the labels of its steps.
#[derive(Debug)]
pub(crate) struct LabelledSteps {
    pub(crate) steps: Vec<Step>,
    pub(crate) labels: Vec<Labelled>,
    /// True where the connection was closed.
    pub(crate) ended: bool,
}

impl LabelledSteps {
    /// Runs of waits with one label. Nothing was waited for before the first packet.
    fn runs(&self) -> Vec<LabelledPiece> {
        let waits = self
            .steps
            .iter()
            .zip(&self.labels)
            .filter(|(s, _)| s.frames.0 != s.frames.1);
        joined(waits.map(|(step, &(label, also))| LabelledPiece {
            from: Timestamp(step.from),
            to: Timestamp(step.to),
            label,
            also,
            frames: step.frames,
        }))
    }
}

/// A connection while its runs are walked.
#[derive(Debug)]
struct OpenConnection<'a> {
    steps: &'a [Step],
    runs: Vec<LabelledPiece>,
    /// One of its runs has a reason at least.
    explains: bool,
    at: usize,
    steps_at: usize,
    weight: f64,
    weighed: i64,
}

impl OpenConnection<'_> {
    /// The run that holds the time right after `t`, or the next one.
    fn run(&mut self, t: Timestamp) -> Option<LabelledPiece> {
        while self.runs.get(self.at).is_some_and(|r| r.to <= t) {
            self.at += 1;
        }
        self.runs.get(self.at).copied()
    }

    fn weigh(&mut self, t: i64) -> f64 {
        while let Some(step) = self.steps.get(self.steps_at).filter(|s| s.to <= t) {
            self.weight = self.weight * fading(step.to - self.weighed) + step.bytes as f64;
            (self.weighed, self.steps_at) = (step.to, self.steps_at + 1);
        }
        self.weight * fading(t - self.weighed) + LEAST_WEIGHT
    }
}

fn fading(nanos: i64) -> f64 {
    libm::exp(-(nanos as f64) / DECAY)
}

/// The pieces of a direction, which follow each other: all of the time from its first to its last data but rests.
pub(crate) fn pieces(connections: &[LabelledSteps], around: &Surroundings) -> Vec<LabelledPiece> {
    let firsts = connections.iter().filter_map(|of| of.steps.first());
    let first = firsts.map(|s| (s.from, s.frames.0)).min();
    let lasts = connections.iter().filter_map(|of| of.steps.last());
    let last = lasts.map(|s| (s.to, s.frames.1)).max();
    let (Some(first), Some(last)) = (first, last) else {
        return Vec::new();
    };
    let mut pieces = match connections {
        [one] => one.runs(),
        several => shared(several, first, Timestamp(last.0)),
    };
    let ends = |of: &&LabelledSteps| of.steps.last().map(|step| step.to);
    let closed = connections.iter().max_by_key(ends).is_some_and(|of| of.ended);
    if let Some(died) = around.died.filter(|d| d.ended(last.0) && !closed) {
        pieces.push(LabelledPiece {
            from: Timestamp(last.0),
            to: died.ends,
            label: AccountLabel::TunnelDown,
            also: None,
            frames: (last.1, last.1),
        });
    }
    pieces
        .into_iter()
        .flat_map(|p| p.outside(&around.rests))
        .collect()
}

fn shared(connections: &[LabelledSteps], first: (i64, u64), last: Timestamp) -> Vec<LabelledPiece> {
    let walks = connections.iter().map(|of| {
        let runs = of.runs();
        OpenConnection {
            steps: &of.steps,
            explains: runs.iter().any(|run| run.label != AccountLabel::Unexplained),
            runs,
            at: 0,
            steps_at: 0,
            weight: 0.0,
            weighed: first.0,
        }
    });
    let mut walks: Vec<OpenConnection<'_>> = walks.collect();
    let sent = |own: &OpenConnection<'_>| own.steps.iter().map(|step| step.bytes).sum::<u64>();
    let all: u64 = walks.iter().map(sent).sum();
    let explained: u64 = walks.iter().filter(|own| own.explains).map(sent).sum();
    let most_is_explained = 2 * explained >= all;
    let mut pieces: Vec<LabelledPiece> = Vec::new();
    let (mut t, mut frame) = (Timestamp(first.0), first.1);
    let many = i64::try_from(walks.len()).unwrap_or(i64::MAX);
    let step = STEP.max((last.nanos_since(t) / MOST_PIECES).saturating_mul(many));
    while t < last {
        let mut to = last.min(t.plus_nanos(step));
        let mut voices: Vec<(LabelledPiece, f64)> = Vec::new();
        let mut unexplained: Vec<(LabelledPiece, f64)> = Vec::new();
        for walk in &mut walks {
            let Some(run) = walk.run(t) else { continue };
            if run.from <= t {
                let of = match walk.explains {
                    true => &mut voices,
                    false => &mut unexplained,
                };
                of.push((run, walk.weigh(t.0)));
            }
            to = to.min(if run.from > t { run.from } else { run.to });
        }
        // Datagrams, whose waits nobody explains, say no more than their share of the bytes, and nothing where all TCP has nothing to send.
        let idles = |r: &LabelledPiece| r.label == AccountLabel::Application;
        let all_idle = !voices.is_empty() && voices.iter().all(|(r, _)| idles(r));
        if !(most_is_explained && all_idle) {
            voices.extend(unexplained);
        }
        if voices
            .iter()
            .any(|(r, _)| !idles(r) && r.label != AccountLabel::Unexplained)
        {
            voices.retain(|(r, _)| !idles(r));
        }
        let total: f64 = voices.iter().map(|v| v.1).sum();
        let (count, mut begin) = (voices.len(), t);
        for (k, (run, weight)) in voices.into_iter().enumerate() {
            let nanos = (to.nanos_since(t) as f64 * weight / total) as i64;
            let end = if k + 1 == count {
                to
            } else {
                begin.plus_nanos(nanos).min(to)
            };
            frame = run.frames.1;
            if begin < end {
                pieces.push(LabelledPiece {
                    from: begin,
                    to: end,
                    ..run
                });
            }
            begin = end;
        }
        if count == 0 {
            // One connection is over and the next has not begun.
            pieces.push(LabelledPiece {
                from: t,
                to,
                label: AccountLabel::Application,
                also: None,
                frames: (frame, frame),
            });
        }
        t = to;
    }
    pieces
}

#[cfg(test)]
mod tests;
