//! Several connections of a direction → one list of stretches, in order of time. Connections that are open at the same time share it by
//! what they sent lately: each has its part of the tenth of a second. One that only waits for its application has no say.

use crate::account::overlay::Labelled;
use crate::account::surroundings::Surroundings;
use crate::account::sweep::step::Step;
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::NANOS_PER_SECOND;

/// Bytes lose their weight with exp(−t/1 s).
const DECAY: f64 = NANOS_PER_SECOND as f64;
/// What every open connection weighs, bytes: a segment.
const LEAST_WEIGHT: f64 = 1_500.0;
/// Weights are taken anew at least this often, in a transfer that is not too long for it.
const STEP: i64 = NANOS_PER_SECOND / 10;
/// Pieces that come of that, at most: of two connections for 13 hours, of a hundred for a quarter of one. A clock that jumps makes a
/// transfer of years. Each takes 88 bytes while the account is made.
const MOST_PIECES: i64 = 1_000_000;

/// Time with one label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LabelledPiece {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) label: AccountLabel,
    pub(crate) also: Option<AccountLabel>,
    pub(crate) frames: (u64, u64),
}

impl LabelledPiece {
    pub(crate) fn nanos(&self) -> i64 {
        self.to - self.from
    }
}

/// A run of waits of a connection with one label.
#[derive(Debug, Clone, Copy)]
struct Run {
    from: i64,
    to: i64,
    labelled: Labelled,
    frames: (u64, u64),
}

fn runs(steps: &[Step], labels: &[Labelled]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    // Nothing was waited for before the first packet.
    let waits = steps.iter().zip(labels).filter(|(s, _)| s.frames.0 != s.frames.1);
    for (step, &labelled) in waits {
        match runs.last_mut() {
            Some(run) if run.labelled == labelled => (run.to, run.frames.1) = (step.to, step.frames.1),
            _ => runs.push(Run {
                from: step.from,
                to: step.to,
                labelled,
                frames: step.frames,
            }),
        }
    }
    runs
}

/// A connection and the labels of its steps.
#[derive(Debug)]
pub(crate) struct LabelledSteps {
    pub(crate) steps: Vec<Step>,
    pub(crate) labels: Vec<Labelled>,
    /// It was closed.
    pub(crate) ended: bool,
}

/// A connection while its runs are walked.
#[derive(Debug)]
struct OpenConnection<'a> {
    steps: &'a [Step],
    runs: Vec<Run>,
    at: usize,
    steps_at: usize,
    weight: f64,
    weighed: i64,
}

impl OpenConnection<'_> {
    /// The run that holds the time right after `t`.
    fn run(&mut self, t: i64) -> Option<Run> {
        while self.runs.get(self.at).is_some_and(|r| r.to <= t) {
            self.at += 1;
        }
        self.runs.get(self.at).copied().filter(|r| r.from <= t)
    }

    fn next_border(&self, t: i64) -> Option<i64> {
        let run = self.runs.get(self.at)?;
        Some(if run.from > t { run.from } else { run.to })
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
    let walk = |of: &LabelledSteps| runs(&of.steps, &of.labels);
    let firsts = connections.iter().filter_map(|of| of.steps.first());
    let first = firsts.map(|s| (s.from, s.frames.0)).min();
    let lasts = connections.iter().filter_map(|of| of.steps.last());
    let last = lasts.map(|s| (s.to, s.frames.1)).max();
    let (Some(first), Some(last)) = (first, last) else {
        return Vec::new();
    };
    let mut pieces = if let [one] = connections {
        let piece = |run: Run| LabelledPiece {
            from: run.from,
            to: run.to,
            label: run.labelled.0,
            also: run.labelled.1,
            frames: run.frames,
        };
        walk(one).into_iter().map(piece).collect()
    } else {
        let walks = connections.iter().map(|of| OpenConnection {
            steps: &of.steps,
            runs: walk(of),
            at: 0,
            steps_at: 0,
            weight: 0.0,
            weighed: first.0,
        });
        shared(walks.collect(), (first, last))
    };
    let ends = |of: &&LabelledSteps| of.steps.last().map(|step| step.to);
    let closed = connections.iter().max_by_key(ends).is_some_and(|of| of.ended);
    if let Some(died) = around.died.filter(|d| d.ended(last.0) && !closed) {
        pieces.push(LabelledPiece {
            from: last.0,
            to: died.ends.0,
            label: AccountLabel::TunnelDown,
            also: None,
            frames: (last.1, last.1),
        });
    }
    pieces
        .into_iter()
        .flat_map(|p| without_rests(p, around))
        .collect()
}

fn shared(mut walks: Vec<OpenConnection<'_>>, (first, last): ((i64, u64), (i64, u64))) -> Vec<LabelledPiece> {
    let mut pieces: Vec<LabelledPiece> = Vec::new();
    let mut t = first.0;
    let mut frame = first.1;
    let connections = i64::try_from(walks.len()).unwrap_or(i64::MAX);
    let step = STEP.max(((last.0 - first.0) / MOST_PIECES).saturating_mul(connections));
    while t < last.0 {
        let open: Vec<(Run, f64)> = walks
            .iter_mut()
            .filter_map(|w| Some((w.run(t)?, w.weigh(t))))
            .collect();
        let border = walks
            .iter()
            .filter_map(|w| w.next_border(t))
            .filter(|&b| b > t)
            .min();
        let to = border.unwrap_or(last.0).min(t.saturating_add(step)).min(last.0);
        let says = |r: &Run| r.labelled.0 != AccountLabel::Application;
        let anybody = open.iter().any(|(r, _)| says(r));
        let voices: Vec<(Run, f64)> = open.into_iter().filter(|(r, _)| !anybody || says(r)).collect();
        let total: f64 = voices.iter().map(|v| v.1).sum();
        let (count, mut begin) = (voices.len(), t);
        for (k, (run, weight)) in voices.iter().enumerate() {
            let nanos = ((to - t) as f64 * weight / total) as i64;
            let end = if k + 1 == count {
                to
            } else {
                (begin + nanos).min(to)
            };
            frame = run.frames.1;
            if begin < end {
                pieces.push(LabelledPiece {
                    from: begin,
                    to: end,
                    label: run.labelled.0,
                    also: run.labelled.1,
                    frames: run.frames,
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

/// The parts of a piece that lie outside the rests.
fn without_rests(piece: LabelledPiece, around: &Surroundings) -> Vec<LabelledPiece> {
    let mut left = Vec::new();
    let mut from = piece.from;
    let first = around.rests.partition_point(|rest| rest.1.0 <= piece.from);
    for rest in around.rests[first..]
        .iter()
        .take_while(|rest| rest.0.0 < piece.to)
    {
        if rest.0.0 > from {
            left.push(LabelledPiece {
                from,
                to: rest.0.0,
                ..piece
            });
        }
        from = from.max(rest.1.0);
    }
    if from < piece.to {
        left.push(LabelledPiece { from, ..piece });
    }
    left
}

#[cfg(test)]
mod tests;
