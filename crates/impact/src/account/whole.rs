//! The account of one direction of a tunnel: its connections, their labels, the sums.

use super::carried::{Carried, SpareMemory, Swept, go_on, higher};
use super::connection::{AccountConnection, LEAST_SHARE};
use super::overlay::labels;
use super::packet::Source;
use super::surroundings::{AccountSettings, Surroundings};
use super::sweep::track::TrackFacts;
use super::total::edges::undecided;
use super::total::join::{LabelledSteps, pieces};
use super::total::strip::drawn;
use super::total::sums::{Compared, Sums, seconds};
use rekeyscope_model::analysis::{Account, AccountLabel, Direction, FlowTcp, OwnRate};
use rekeyscope_model::time::Timestamp;
use std::cmp::Reverse;

/// Connections of a direction whose courses are kept: those with most bytes.
const MOST_COURSES: usize = 3;
/// Outages that the capture cuts say nothing below this share of the time: no sentence names so little.
const LEAST_CUT: f64 = 0.01;

/// A connection that began before the capture is not known by fewer round trips: of its first five neither the scale of the window nor
/// whether the flight grows can be told.
const FEW_ROUND_TRIPS: i64 = 20;

/// The account of one direction of a tunnel, and what was measured of the flows that it rests on.
#[derive(Debug, Clone)]
pub struct Accounted {
    /// The account.
    pub account: Account,
    /// By the number of the connection, most bytes first.
    pub flows: Vec<(u32, FlowTcp)>,
}

/// The account of direction `slot` of a tunnel; `None` without data.
pub fn account(
    connections: &[&AccountConnection],
    slot: usize,
    around: &Surroundings,
    settings: &AccountSettings,
    (tunnel, direction): (usize, Direction),
) -> Option<Accounted> {
    let (swept, flows) = swept(connections, slot, settings);
    let (own, own_from) = swept.iter().map(|s| s.own).reduce(higher)?;
    let main = swept.iter().max_by_key(|s| s.track.bytes())?.track.facts;
    let hides_queues = !main.shows_queues || swept.iter().any(|s| s.track.hides_queues);
    let hides_growth = swept.iter().any(|s| s.track.hides_growth);
    let blind = swept.iter().any(|s| s.track.facts.blind);
    let scale_known = swept.iter().all(|s| s.track.facts.scale_known);
    let mut sums = Sums::default();
    let labelled = swept.into_iter().map(|Swept { mut track, .. }| {
        let labels = labels(&mut track, around);
        LabelledSteps {
            labels,
            steps: track.steps,
            ended: track.facts.ended,
        }
    });
    let labelled: Vec<LabelledSteps> = labelled.collect();
    labelled.iter().for_each(|of| sums.take_steps(of));
    let pieces = pieces(&labelled, around);
    sums.take(&pieces);
    let (bytes, nanos) = sums.totals();
    let given = settings.reference().unwrap_or(own);
    let reference = if given > 0.0 {
        given
    } else {
        bytes as f64 / seconds(nanos.max(1))
    };
    let starts = labelled.iter().filter_map(|of| of.steps.first());
    let start = starts.map(|s| s.from).min()?;
    let end = pieces.last().map_or(start, |p| p.to);
    let totals = Compared {
        nanos,
        bytes,
        reference,
    };
    let brief = !scale_known && nanos < FEW_ROUND_TRIPS * main.times.rtt;
    let mut not_testable = not_testable(&main, (blind || brief, hides_queues, hides_growth), own_from);
    let cut = undecided(&pieces, around, (LEAST_CUT * nanos as f64) as i64);
    not_testable.extend(
        cut.into_iter()
            .filter(|l| !not_testable.contains(l))
            .collect::<Vec<_>>(),
    );
    let mbps = |bytes_per_second: f64| bytes_per_second * 8.0 / 1e6;
    let account = Account {
        tunnel,
        direction,
        start: Timestamp(start),
        end: Timestamp(end),
        seconds: seconds(nanos),
        bytes,
        connections: labelled.len(),
        reference_mbps: mbps(reference),
        reference_given: settings.reference_bps.is_some(),
        own_mbps: mbps(own),
        own_from,
        rtt_ms: main.measured_rtt.map(|rtt| rtt as f64 / 1e6),
        d2_from: main.d2_from,
        scale_known,
        window_bytes: sums.usual_window().filter(|_| scale_known).map(u64::from),
        not_testable,
        lost_seconds: totals.lost(nanos, bytes),
        labels: sums.lines(&totals),
        runs: drawn(&pieces, start),
        sentence: String::new(),
        messages: Vec::new(),
    };
    Some(Accounted { account, flows })
}

/// What the packets of every connection that counts say, up to the last.
fn swept(
    connections: &[&AccountConnection],
    slot: usize,
    settings: &AccountSettings,
) -> (Vec<Swept>, Vec<(u32, FlowTcp)>) {
    let all: u64 = connections.iter().map(|c| c.bytes[slot]).sum();
    let counts = |c: &&&AccountConnection| c.bytes[slot] as f64 >= LEAST_SHARE * all as f64;
    let counting: Vec<&AccountConnection> = connections.iter().filter(counts).copied().collect();
    let mut carried: Vec<Carried> = counting.iter().map(|c| c.carried(slot)).collect();
    let sources = counting.iter().map(|c| c.source(slot));
    let mut open: Vec<(Source<'_>, &mut Carried)> = sources.zip(&mut carried).collect();
    for (source, carried) in &mut open {
        carried.reading.read(source);
    }
    go_on(&mut open, slot, settings.reference(), &mut SpareMemory::default());
    let mut busiest: Vec<(&AccountConnection, &Carried)> = counting.into_iter().zip(&carried).collect();
    busiest.sort_by_key(|(c, _)| Reverse(c.bytes[slot]));
    let flow = |(n, (c, own)): (usize, &(&AccountConnection, &Carried))| {
        Some((c.number, own.flow(n < MOST_COURSES)?))
    };
    let flows = busiest.iter().enumerate().filter_map(flow).collect();
    let swept = carried.into_iter().filter_map(|c| c.swept);
    (swept.filter(|s| !s.track.steps.is_empty()).collect(), flows)
}

/// Labels that cannot be told from others here.
fn not_testable(
    main: &TrackFacts,
    (blind, hides_queues, hides_growth): (bool, bool, bool),
    own_from: OwnRate,
) -> Vec<AccountLabel> {
    use AccountLabel::*;
    let mut list = if !main.d2_known || !main.tcp {
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
    if !main.acknowledged {
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
        let seen = crate::account::read::half::Half {
            d1: Some(at(30)),
            d2: Some(at(10)),
            ..half()
        };
        let facts = || TrackFacts::of(&seen);
        let list = |main: TrackFacts, hides: (bool, bool, bool)| not_testable(&main, hides, OwnRate::Proven);
        assert_eq!(list(facts(), (false, false, false)), []);
        assert_eq!(list(facts(), (false, true, false)), [SendBuffer]);
        assert_eq!(list(facts(), (false, false, true)), [Growth]);
        let sum = [ReceiveWindow, SendBuffer, Application, Growth];
        assert_eq!(list(facts(), (true, true, true)), sum, "each once");
        let all = [ZeroWindow, ReceiveWindow, SendBuffer, Application, Growth];
        for change in [
            |f: &mut TrackFacts| f.d2_known = false,
            |f: &mut TrackFacts| f.tcp = false,
        ] {
            let mut main = facts();
            change(&mut main);
            assert_eq!(list(main, (false, false, false)), all);
        }
        let mut main = facts();
        main.acknowledged = false;
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
