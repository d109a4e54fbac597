//! Several connections of a direction → one list of stretches, in order of time. At any moment those that are open share the
//! time by what they sent lately; what only waits for its application has no say.

use crate::account::overlay::Labelled;
use crate::account::surroundings::{Surroundings, touched};
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
    /// Less than `to - from` where several connections share it.
    pub(crate) nanos: i64,
    pub(crate) label: AccountLabel,
    pub(crate) also: Option<AccountLabel>,
    pub(crate) frames: (u64, u64),
    /// It weighs most at that time.
    pub(crate) leads: bool,
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
    (-(nanos as f64) / DECAY).exp()
}

/// The pieces of a direction; their nanoseconds add up to the time from its first to its last data without rests.
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
            nanos: run.to - run.from,
            label: run.labelled.0,
            also: run.labelled.1,
            frames: run.frames,
            leads: true,
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
        shared(walks.collect(), (first, last), around)
    };
    if let Some(died) = around
        .died
        .filter(|d| d.ended(last.0) && !connections.iter().any(|of| of.ended))
    {
        pieces.push(LabelledPiece {
            from: last.0,
            to: died.ends.0,
            nanos: died.ends.0 - last.0,
            label: AccountLabel::TunnelDown,
            also: None,
            frames: (last.1, last.1),
            leads: true,
        });
    }
    pieces
        .into_iter()
        .flat_map(|p| without_rests(p, around))
        .collect()
}

fn shared(
    mut walks: Vec<OpenConnection<'_>>,
    (first, last): ((i64, u64), (i64, u64)),
    around: &Surroundings,
) -> Vec<LabelledPiece> {
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
        let leader = voices.iter().map(|v| v.1).fold(0.0, f64::max);
        let mut left = to - t;
        let count = voices.len();
        let mut led = false;
        for (k, (run, weight)) in voices.iter().enumerate() {
            let nanos = if k + 1 == count {
                left
            } else {
                (((to - t) as f64 * weight / total) as i64).min(left)
            };
            left -= nanos;
            let leads = !led && *weight >= leader;
            led |= leads;
            frame = run.frames.1;
            pieces.push(LabelledPiece {
                from: t,
                to,
                nanos,
                label: run.labelled.0,
                also: run.labelled.1,
                frames: run.frames,
                leads,
            });
        }
        if count == 0 {
            // One connection is over and the next has not begun.
            let failed = touched(&around.failed, t, to).then_some(AccountLabel::TunnelDown);
            let label = failed
                .or_else(|| around.down_in(t, to))
                .unwrap_or(AccountLabel::Application);
            pieces.push(LabelledPiece {
                from: t,
                to,
                nanos: to - t,
                label,
                also: None,
                frames: (frame, frame),
                leads: true,
            });
        }
        t = to;
    }
    pieces
}

/// What of a piece lies outside the rests. A shared one keeps its share.
fn without_rests(piece: LabelledPiece, around: &Surroundings) -> Vec<LabelledPiece> {
    let mut left = vec![piece];
    for (from, to) in &around.rests {
        if from.0 >= piece.to || to.0 <= piece.from {
            continue;
        }
        let cut = |p: LabelledPiece| {
            let share = |from: i64, to: i64| {
                let nanos = (p.nanos as f64 * (to - from) as f64 / (p.to - p.from) as f64).round() as i64;
                let whole = p.nanos == p.to - p.from;
                LabelledPiece {
                    from,
                    to,
                    nanos: if whole { to - from } else { nanos },
                    ..p
                }
            };
            let before = (from.0 > p.from).then(|| share(p.from, from.0.min(p.to)));
            let behind = (to.0 < p.to).then(|| share(to.0.max(p.from), p.to));
            before.into_iter().chain(behind)
        };
        left = left.into_iter().flat_map(cut).collect();
    }
    left
}

#[cfg(test)]
mod tests;
