//! Stretches of a direction → its account.

use super::capacity::path;
use super::half::Half;
use super::join::{LabelledPiece, pieces};
use super::overlay::{Labelled, labels};
use super::packet::AccountConnection;
use super::surroundings::{AccountSettings, Surroundings};
use super::sweep::sweep;
use rekeyscope_model::analysis::*;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::collections::BTreeMap;

/// A connection counts with at least this share of its direction's bytes.
const LEAST_SHARE: f64 = 0.01;
/// Stretches that stand for a label.
const EVIDENCE: usize = 3;
/// Most stretches for drawing.
const MOST_RUNS: usize = 2_000;

/// The account of direction `slot` of a tunnel; `None` without data.
pub fn account(
    connections: &[&AccountConnection],
    slot: usize,
    around: &Surroundings,
    settings: &AccountSettings,
    (tunnel, direction): (usize, Direction),
) -> Option<Account> {
    let all: u64 = connections.iter().map(|c| c.bytes[slot]).sum();
    let counts = |c: &&&AccountConnection| c.bytes[slot] as f64 >= LEAST_SHARE * all as f64;
    let halves: Vec<Half> = connections
        .iter()
        .filter(counts)
        .filter_map(|c| Half::new(c, slot, around))
        .collect();
    let bytes_of = |h: &Half| h.data.iter().map(|d| u64::from(d.new)).sum::<u64>();
    let main = halves.iter().max_by_key(|h| bytes_of(h))?;
    let to_bytes = |bps: f64| bps / 8.0;
    let full: Vec<Vec<bool>> = halves.iter().map(full_windows).collect();
    let path = path(&halves, &full, main.rtt, settings.reference_bps.map(to_bytes));
    let mut sums = Sums::default();
    let mut labelled: Vec<(&Half, Vec<Labelled>)> = Vec::with_capacity(halves.len());
    for (half, rates) in halves.iter().zip(&path.rates) {
        let swept = sweep(half, rates);
        let labels = labels(half, &swept, rates, around);
        for ((data, label), wait) in half.data.iter().zip(&labels).zip(&swept.waits) {
            *sums.bytes.entry(label.0).or_default() += u64::from(data.new);
            if label.0 == AccountLabel::ReceiveWindow {
                sums.windows.push(wait.window);
            }
        }
        labelled.push((half, labels));
    }
    let pieces = pieces(&labelled, around);
    sums.take(&pieces);
    let bytes: u64 = sums.bytes.values().sum();
    let nanos: i64 = sums.lines.values().map(|l| l.nanos).sum();
    let reference = settings.reference_bps.map_or(path.own, to_bytes);
    let reference = if reference > 0.0 {
        reference
    } else {
        bytes as f64 / seconds(nanos.max(1))
    };
    let start = halves
        .iter()
        .filter_map(|h| h.data.first())
        .map(|d| d.time)
        .min()?;
    let end = pieces.last().map_or(start, |p| p.to);
    let totals = Compared {
        nanos,
        bytes,
        reference,
    };
    let mbps = |bytes_per_second: f64| bytes_per_second * 8.0 / 1e6;
    let blind = halves.iter().any(|h| h.blind);
    let scale_known = halves.iter().all(|h| h.scale_known);
    Some(Account {
        tunnel,
        direction,
        start: Timestamp(start),
        end: Timestamp(end),
        seconds: seconds(nanos),
        bytes,
        connections: halves.len(),
        reference_mbps: mbps(reference),
        reference_given: settings.reference_bps.is_some(),
        own_mbps: mbps(path.own),
        own_from: path.own_from,
        rtt_ms: main.measured_rtt.map(|rtt| rtt as f64 / 1e6),
        d2_from: main.d2_from,
        scale_known,
        window_bytes: median(&mut sums.windows).filter(|_| scale_known).map(u64::from),
        not_testable: not_testable(main, blind, path.own_from),
        lost_seconds: totals.lost(nanos, bytes),
        labels: sums.lines(&totals),
        runs: drawn(&pieces, start),
        not_looked_at_s: None,
        sentence: String::new(),
        messages: Vec::new(),
    })
}

/// Of each packet with data, whether the window was full before it, for a path whose queues nothing shows.
fn full_windows(half: &Half) -> Vec<bool> {
    if half.echoed.is_some() {
        return Vec::new();
    }
    sweep(half, &[]).waits.iter().map(|w| w.touched).collect()
}

fn seconds(nanos: i64) -> f64 {
    nanos as f64 / NANOS_PER_SECOND as f64
}

fn median(list: &mut [u32]) -> Option<u32> {
    let middle = list.len() / 2;
    (!list.is_empty()).then(|| *list.select_nth_unstable(middle).1)
}

/// Labels that cannot be told from others here.
fn not_testable(main: &Half, blind: bool, own_from: OwnRate) -> Vec<AccountLabel> {
    use AccountLabel::*;
    let mut list = if main.d2.is_none() || !main.tcp {
        vec![ZeroWindow, ReceiveWindow, SendBuffer, Application, Growth]
    } else if blind {
        // Only their sum.
        vec![ReceiveWindow, SendBuffer]
    } else {
        Vec::new()
    };
    if !main.shows_queues() && !list.contains(&SendBuffer) {
        list.push(SendBuffer);
    }
    if main.d1.is_none() {
        list.extend([PathLoss, QueueLoss, Reordering]);
    }
    if own_from == OwnRate::Best {
        list.push(Capacity);
    }
    list
}

/// What every line is compared with.
#[derive(Debug, Clone, Copy)]
struct Compared {
    nanos: i64,
    bytes: u64,
    /// C, bytes/s.
    reference: f64,
}

impl Compared {
    fn lost(&self, nanos: i64, bytes: u64) -> f64 {
        seconds(nanos) - bytes as f64 / self.reference
    }
}

/// What a label gathers.
#[derive(Debug, Default)]
struct LabelSums {
    nanos: i64,
    also: BTreeMap<AccountLabel, i64>,
    evidence: Vec<(i64, (u64, u64))>,
}

#[derive(Debug, Default)]
struct Sums {
    lines: BTreeMap<AccountLabel, LabelSums>,
    bytes: BTreeMap<AccountLabel, u64>,
    windows: Vec<u32>,
}

impl Sums {
    fn take(&mut self, pieces: &[LabelledPiece]) {
        for piece in pieces {
            let line = self.lines.entry(piece.label).or_default();
            line.nanos += piece.nanos;
            if let Some(also) = piece.also {
                *line.also.entry(also).or_default() += piece.nanos;
            }
            let length = piece.to - piece.from;
            let place = line.evidence.partition_point(|e| e.0 >= length);
            let known = line.evidence.iter().any(|e| e.1 == piece.frames);
            if place < EVIDENCE && !known {
                line.evidence.insert(place, (length, piece.frames));
                line.evidence.truncate(EVIDENCE);
            }
        }
    }

    fn lines(&self, totals: &Compared) -> Vec<AccountLine> {
        let all_lost = totals.lost(totals.nanos, totals.bytes);
        let empty = LabelSums::default();
        let labels: std::collections::BTreeSet<AccountLabel> =
            self.lines.keys().chain(self.bytes.keys()).copied().collect();
        let line = |label: AccountLabel| {
            let line = self.lines.get(&label).unwrap_or(&empty);
            let bytes = self.bytes.get(&label).copied().unwrap_or(0);
            let lost = totals.lost(line.nanos, bytes);
            let without = seconds(totals.nanos) - lost;
            AccountLine {
                label,
                seconds: seconds(line.nanos),
                bytes,
                lost_seconds: lost,
                share: line.nanos as f64 / totals.nanos.max(1) as f64,
                lost_share: (all_lost > 0.0).then(|| lost / all_lost),
                s_per_gb: (totals.bytes > 0).then(|| seconds(line.nanos) * 1e9 / totals.bytes as f64),
                without_mbps: (without > 0.0 && lost > 0.0)
                    .then(|| totals.bytes as f64 * 8.0 / without / 1e6),
                also: line
                    .also
                    .iter()
                    .map(|(&label, &nanos)| AccountAlso {
                        label,
                        seconds: seconds(nanos),
                    })
                    .collect(),
                evidence: line
                    .evidence
                    .iter()
                    .map(|&(nanos, (from_frame, to_frame))| AccountEvidence {
                        from_frame,
                        to_frame,
                        seconds: seconds(nanos),
                    })
                    .collect(),
            }
        };
        let mut lines: Vec<AccountLine> = labels.into_iter().map(line).collect();
        lines.retain(|l| l.seconds > 0.0 || l.bytes > 0);
        lines.sort_by(|a, b| b.lost_seconds.total_cmp(&a.lost_seconds));
        lines
    }
}

/// The stretches for drawing: neighbours of one label in one piece, the shortest counted to the one before where there are too many.
fn drawn(pieces: &[LabelledPiece], start: i64) -> Vec<AccountRun> {
    let joined = join_equal(pieces.iter().filter(|p| p.leads).copied());
    let mut lengths: Vec<i64> = joined.iter().map(|p| p.to - p.from).collect();
    let least = if lengths.len() > MOST_RUNS {
        let place = lengths.len() - MOST_RUNS;
        *lengths.select_nth_unstable(place).1
    } else {
        0
    };
    let mut kept: Vec<LabelledPiece> = Vec::new();
    for piece in joined {
        match kept.last_mut() {
            Some(last) if piece.to - piece.from <= least && least > 0 && piece.from == last.to => {
                (last.to, last.frames.1) = (piece.to, piece.frames.1);
            }
            _ => kept.push(piece),
        }
    }
    kept.truncate(MOST_RUNS);
    let run = |p: LabelledPiece| AccountRun {
        label: p.label,
        from_s: seconds(p.from - start),
        to_s: seconds(p.to - start),
        from_frame: p.frames.0,
        to_frame: p.frames.1,
    };
    join_equal(kept.into_iter()).into_iter().map(run).collect()
}

fn join_equal(pieces: impl Iterator<Item = LabelledPiece>) -> Vec<LabelledPiece> {
    let mut joined: Vec<LabelledPiece> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(last) if last.label == piece.label && last.to == piece.from => {
                (last.to, last.frames.1) = (piece.to, piece.frames.1);
            }
            _ => joined.push(piece),
        }
    }
    joined
}
