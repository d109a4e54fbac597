//! The account of one direction of a tunnel: its connections, their labels, what the ledger takes of them, the sums.

use super::capacity::NEAR_BEST;
use super::carried::{Carried, higher};
use super::connection::AccountConnection;
use super::fold::go_on;
use super::half::Half;
use super::overlay::labels;
use super::surroundings::{AccountSettings, Surroundings};
use super::total::edges::undecided;
use super::total::join::{LabelledPiece, LabelledSteps, pieces};
use super::total::strip::drawn;
use super::total::sums::{Compared, lines, usual_window};
use crate::ledger::{LEAST_SHARE, LedgerBook, LedgerInput, Owner, label_sums};
use rekeyscope_model::analysis::{Account, AccountLabel, D2Source, Direction, FlowTcp, OwnRate};
use rekeyscope_model::time::{Timestamp, seconds};
use rekeyscope_traffic::{CONNECTION_SHARE, Interval};
use std::cmp::Reverse;

/// Connections of a direction whose courses are kept: those with most bytes.
const MOST_COURSES: usize = 3;

/// A connection that began before the capture is not known by fewer round trips: of its first five neither the scale of the window nor
/// whether the flight grows can be told.
const FEW_ROUND_TRIPS: i64 = 20;

/// One direction of a tunnel whose waits have labels, before rekeys and failures take their time.
#[derive(Debug)]
pub struct LabelledDirection {
    pieces: Vec<LabelledPiece>,
    /// C, bytes/s.
    own: (f64, OwnRate),
    /// The connection with most bytes.
    main: Half,
    scale_known: bool,
    window: Option<u32>,
    connections: usize,
    not_testable: Vec<AccountLabel>,
    flows: Vec<(u32, FlowTcp)>,
}

/// The labels of direction `slot` of a tunnel; `None` without data.
pub fn label(
    connections: &[&AccountConnection],
    slot: usize,
    around: &Surroundings,
    settings: &AccountSettings,
) -> Option<LabelledDirection> {
    let (swept, flows) = swept(connections, slot, settings);
    let own = swept.iter().filter_map(|s| s.own).reduce(higher)?;
    let main = swept.iter().max_by_key(|s| s.track.bytes())?.half.clone();
    let hides_queues = !main.shows_queues() || swept.iter().any(|s| s.track.hides_queues);
    let hides_growth = swept.iter().any(|s| s.track.hides_growth);
    let blind = swept.iter().any(|s| s.half.blind);
    let scale_known = swept.iter().all(|s| s.half.scale_known);
    let slower = slower_paths(&swept, &around.moves, own.0);
    let labelled = swept.into_iter().map(|mut of| LabelledSteps {
        labels: labels(&mut of.track, around, &slower, of.half.times().gap),
        steps: of.track.steps,
        ended: of.half.ended,
    });
    let labelled: Vec<LabelledSteps> = labelled.collect();
    let pieces = pieces(&labelled, around);
    let nanos: i64 = pieces.iter().map(LabelledPiece::nanos).sum();
    let brief = !scale_known && nanos < FEW_ROUND_TRIPS * main.rtt;
    Some(LabelledDirection {
        not_testable: not_testable(&main, (blind || brief, hides_queues, hides_growth), own.1),
        window: usual_window(&labelled).filter(|_| scale_known),
        connections: labelled.len(),
        pieces,
        own,
        main,
        scale_known,
        flows,
    })
}

/// The stretches between moves of an end in which the transfer stayed far below C: another path is that fast.
fn slower_paths(swept: &[Carried], moves: &[Timestamp], own: f64) -> Vec<(Timestamp, Timestamp)> {
    let steps = || swept.iter().flat_map(|of| &of.track.steps);
    let first = steps().map(|step| step.from).min().unwrap_or_default();
    let last = steps().map(|step| step.to).max().unwrap_or_default();
    let within = moves.iter().copied().filter(|at| first < at.0 && at.0 < last);
    let mut bounds = vec![Timestamp(first)];
    bounds.extend(within.chain([Timestamp(last)]));
    let is_slower = |(from, to): &(Timestamp, Timestamp)| {
        let own_steps = steps().filter(|step| from.0 < step.to && step.to <= to.0);
        let bytes: u64 = own_steps.map(|step| step.bytes).sum();
        bounds.len() > 2 && (bytes as f64) < NEAR_BEST * own * to.seconds_since(*from)
    };
    let between = bounds.windows(2).map(|pair| (pair[0], pair[1]));
    between.filter(is_slower).collect()
}

/// The label of the time that an owner takes.
fn label_of(owner: Owner) -> AccountLabel {
    match owner {
        Owner::Rekey(_) => AccountLabel::Rekey,
        Owner::Attempt(_) | Owner::DownBefore(_) | Owner::Outage(_) => AccountLabel::TunnelDown,
    }
}

impl LabelledDirection {
    /// Time from the first data to the last, or to the end of the capture where the tunnel died.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let (first, last) = (self.pieces.first()?, self.pieces.last()?);
        Some((first.from, last.to))
    }

    /// Rate that the path is proven to carry, bytes a second.
    pub fn proven_rate(&self) -> Option<f64> {
        (self.own.1 == OwnRate::Proven).then_some(self.own.0)
    }

    /// Measurements of the flows, by the number of the connection, most bytes first.
    pub fn flows(&self) -> &[(u32, FlowTcp)] {
        &self.flows
    }

    /// The account: rekeys and failures have what the ledger says, and the rest is shared among the labels beside them.
    pub fn account(
        &self,
        (input, book): (&LedgerInput<'_>, &LedgerBook),
        around: &Surroundings,
        settings: &AccountSettings,
        (tunnel, direction): (usize, Direction),
    ) -> Account {
        let labels = self.pieces.iter().map(|piece| Interval {
            from: piece.from,
            to: piece.to,
            facts: piece.label,
        });
        let labels: Vec<Interval<AccountLabel>> = labels.collect();
        let sums = label_sums(input, &labels, book, |owner| label_of(*owner));
        let bytes: u64 = sums.values().map(|sum| sum.bytes).sum();
        let nanos: i64 = sums.values().map(|sum| sum.nanos).sum();
        let own = if self.main.tcp {
            // No limit of a path lies below the rate of all that it carried.
            let (rate, from) = self.own;
            (rate.max(bytes as f64 / seconds(nanos.max(1))), from)
        } else {
            let taken: i64 = book.intervals.iter().map(|own| own.nanos).sum();
            let beside = bytes as f64 / seconds((nanos - taken).max(1));
            (beside, OwnRate::Beside)
        };
        let given = settings.reference().unwrap_or(own.0);
        let reference = if given > 0.0 {
            given
        } else {
            bytes as f64 / seconds(nanos.max(1))
        };
        let totals = Compared {
            nanos,
            bytes,
            reference,
        };
        let seen = with_owners(&self.pieces, book);
        let mut not_testable = self.not_testable.clone();
        let cut = undecided(&seen, around, (LEAST_SHARE * nanos as f64) as i64);
        let more: Vec<AccountLabel> = cut.into_iter().filter(|l| !not_testable.contains(l)).collect();
        not_testable.extend(more);
        let (start, end) = self.span().unwrap_or_default();
        let mbps = |bytes_per_second: f64| bytes_per_second * 8.0 / 1e6;
        Account {
            tunnel,
            direction,
            start,
            end,
            seconds: seconds(nanos),
            bytes,
            connections: self.connections,
            reference_mbps: mbps(reference),
            reference_given: settings.reference_bps.is_some(),
            own_mbps: mbps(own.0),
            own_from: own.1,
            rtt_ms: self.main.measured_rtt.map(|rtt| rtt as f64 / 1e6),
            d2_from: self.main.d2_from.unwrap_or(D2Source::None),
            scale_known: self.scale_known,
            window_bytes: self.window.map(u64::from),
            not_testable,
            lost_seconds: totals.lost(nanos, bytes),
            labels: lines(&seen, &sums, &totals),
            runs: drawn(&seen, start),
            sentence: String::new(),
            messages: Vec::new(),
        }
    }
}

/// The pieces as they are seen: the time from the last arrival to the next one belongs to the owner that holds the data up.
fn with_owners(pieces: &[LabelledPiece], book: &LedgerBook) -> Vec<LabelledPiece> {
    let taken: Vec<(Timestamp, Timestamp)> = book.intervals.iter().map(|own| (own.from, own.to)).collect();
    let owned = book.intervals.iter().filter(|own| own.from < own.to);
    let owned = owned.map(|own| LabelledPiece {
        from: own.from,
        to: own.to,
        label: label_of(own.owner),
        also: None,
        frames: own.frames,
    });
    let left = pieces.iter().flat_map(|piece| piece.outside(&taken));
    let mut seen: Vec<LabelledPiece> = left.chain(owned).collect();
    seen.sort_by_key(|piece| piece.from);
    seen
}

/// Goes over the packets of every connection that counts, up to the last. Returns the flows' measurements, too.
fn swept(
    connections: &[&AccountConnection],
    slot: usize,
    settings: &AccountSettings,
) -> (Vec<Carried>, Vec<(u32, FlowTcp)>) {
    let all: u64 = connections.iter().map(|c| c.bytes[slot]).sum();
    let counts = |c: &&AccountConnection| c.bytes[slot] as f64 >= CONNECTION_SHARE * all as f64;
    let mut counting: Vec<&AccountConnection> = connections.iter().copied().filter(counts).collect();
    let carried = |c: &&AccountConnection| c.carried[slot].as_deref().cloned().unwrap_or_default();
    let mut swept: Vec<Carried> = counting.iter().map(carried).collect();
    let mut open: Vec<(&AccountConnection, &mut Carried)> =
        counting.iter().copied().zip(&mut swept).collect();
    go_on(&mut open, slot, settings.reference());
    let mut busiest: Vec<(&AccountConnection, &Carried)> = counting.drain(..).zip(&swept).collect();
    busiest.sort_by_key(|(c, _)| Reverse(c.bytes[slot]));
    let flow = |(n, (c, own)): (usize, &(&AccountConnection, &Carried))| {
        let measured = own.track.measured.as_ref()?;
        Some((c.number, measured.document(&c.handshake, n < MOST_COURSES)))
    };
    let flows = busiest.iter().enumerate().filter_map(flow).collect();
    swept.retain(|own| !own.track.steps.is_empty());
    (swept, flows)
}

/// Labels that cannot be told from others here.
fn not_testable(
    main: &Half,
    (blind, hides_queues, hides_growth): (bool, bool, bool),
    own_from: OwnRate,
) -> Vec<AccountLabel> {
    use AccountLabel::*;
    let mut list = if main.d2.is_none() || !main.tcp {
        vec![ZeroWindow, ReceiveWindow, SendBuffer, Application, Growth]
    } else if blind {
        // Only their sum.
        vec![ReceiveWindow, SendBuffer, Application, Growth]
    } else {
        Vec::new()
    };
    for (label, hidden) in [(SendBuffer, hides_queues), (Growth, hides_growth)] {
        if hidden && !list.contains(&label) {
            list.push(label);
        }
    }
    if main.d1.is_none() {
        list.extend([PathLoss, QueueLoss, Reordering]);
    }
    if own_from == OwnRate::Best {
        list.push(Capacity);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{at, half};
    use AccountLabel::{
        Application, Capacity, Growth, PathLoss, QueueLoss, ReceiveWindow, Reordering, SendBuffer, ZeroWindow,
    };

    #[test]
    fn what_cannot_be_tested_is_listed() {
        let seen = Half {
            d1: Some(at(30)),
            d2: Some(at(10)),
            ..half()
        };
        let facts = || seen.clone();
        let list = |main: Half, hides: (bool, bool, bool)| not_testable(&main, hides, OwnRate::Proven);
        assert_eq!(list(facts(), (false, false, false)), []);
        assert_eq!(list(facts(), (false, true, false)), [SendBuffer]);
        assert_eq!(list(facts(), (false, false, true)), [Growth]);
        let sum = [ReceiveWindow, SendBuffer, Application, Growth];
        assert_eq!(list(facts(), (true, true, true)), sum, "each once");
        let all = [ZeroWindow, ReceiveWindow, SendBuffer, Application, Growth];
        for change in [|f: &mut Half| f.d2 = None, |f: &mut Half| f.tcp = false] {
            let mut main = facts();
            change(&mut main);
            assert_eq!(list(main, (false, false, false)), all);
        }
        let mut main = facts();
        main.d1 = None;
        assert_eq!(
            list(main, (false, false, false)),
            [PathLoss, QueueLoss, Reordering]
        );
        assert_eq!(
            not_testable(&facts(), (false, false, false), OwnRate::Best),
            [Capacity]
        );
    }
}
