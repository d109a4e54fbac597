//! Every tunnel and direction judged: its ledger, its account, the verdict.

use crate::assembly::account::{MeasuredFlows, surroundings};
use crate::assembly::children::{ChildLineage, Known, lineages, rests_of};
use crate::assembly::ledger::{LedgerEvents, beyond_volume, published, within};
use crate::pipeline::record::Record;
use rekeyscope_impact::account::{AccountConnection, Death, LabelledDirection, Surroundings, label};
use rekeyscope_impact::ledger::{
    Idle, LedgerBook, LedgerInput, RekeySpan, SealedBook, TransferSpan, ledger, sealed_ledger,
    swallow_beyond_volume, was_over,
};
use rekeyscope_impact::tell::account::sentence;
use rekeyscope_impact::verdict::{JudgedDirection, judge, named_loss, project, rekey_costs};
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_model::analysis::{
    Account, Attempt, AttemptOutcome, Counted, Impact, Ledger, LedgerBasis, Projection, RekeyImpact,
    TransferImpact, TriggerKind,
};
use rekeyscope_model::time::{Timestamp, seconds};
use rekeyscope_traffic::{
    ConnectionId, DeliveryLine, INITIAL_RTO, Interval, LEAST_REST, LEAST_TIMEOUT, SealedLine, TransmissionRun,
};
use std::collections::HashMap;

/// Most tunnels with a verdict; those with most bytes.
const MOST_TUNNELS: usize = 64;

/// Results for one direction, or for all, those of the headline first.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    pub(crate) impact: Vec<Impact>,
    pub(crate) ledger: Vec<Ledger>,
    pub(crate) account: Vec<Account>,
    pub(crate) projection: Vec<Projection>,
    pub(crate) rekeys: Vec<(usize, RekeyImpact)>,
    pub(crate) measured: MeasuredFlows,
    /// Data of each transfer that arrived, by the ledger.
    pub(crate) arrived: HashMap<Side, Vec<TransmissionRun>>,
}

/// Packets that a direction carried.
enum CarriedLine {
    /// Inner packets that could be read.
    Read(DeliveryLine),
    /// ESP packets, by their sizes.
    Sealed(SealedLine),
}

impl CarriedLine {
    /// First and last transmission of each run, in order.
    fn times(&self) -> Vec<(Timestamp, Timestamp)> {
        let of = |runs: &[TransmissionRun]| runs.iter().map(|run| (run.from, run.to)).collect::<Vec<_>>();
        let mut times = match self {
            CarriedLine::Read(line) => [of(&line.arrived), of(&line.in_vain)].concat(),
            CarriedLine::Sealed(line) => of(&line.data),
        };
        times.sort_unstable();
        times
    }

    /// Times of the first transmission and of the last.
    fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let times = self.times();
        Some((times.first()?.0, times.iter().map(|run| run.1).max()?))
    }

    /// A rest lasts from the last transmission that counts to the next one: what a control connection sends in between is no transfer.
    fn widen(&self, rests: &mut Vec<(Timestamp, Timestamp)>) {
        let times = self.times();
        for (from, to) in rests.iter_mut() {
            let next = times.partition_point(|run| run.0 < *to);
            let before = next.checked_sub(1).and_then(|last| times.get(last));
            if let Some((before, next)) = before.zip(times.get(next)) {
                (*from, *to) = (before.1, next.0);
            }
        }
        rests.dedup_by(|next, last| {
            let meets = next.0 <= last.1;
            if meets {
                last.1 = last.1.max(next.1);
            }
            meets
        });
    }

    /// The ledger, the basis that shows which bytes arrived, and the runs that did arrive.
    fn book(self, input: &LedgerInput<'_>, beyond: &[(u32, Timestamp)]) -> SealedBook {
        match self {
            CarriedLine::Read(mut line) => {
                if line.datagrams {
                    swallow_beyond_volume(&mut line.arrived, &mut line.in_vain, beyond);
                }
                within(&mut line.arrived, input.transfer);
                within(&mut line.in_vain, input.transfer);
                let book = ledger(&LedgerInput {
                    arrived: &line.arrived,
                    in_vain: &line.in_vain,
                    round_trip: line.round_trip.unwrap_or(0),
                    ..*input
                });
                SealedBook {
                    book,
                    basis: if line.datagrams {
                        LedgerBasis::Datagrams
                    } else {
                        LedgerBasis::Acknowledgements
                    },
                    arrived: line.arrived,
                }
            }
            CarriedLine::Sealed(mut line) => {
                within(&mut line.data, input.transfer);
                let input = LedgerInput {
                    arrived: &line.data,
                    ..*input
                };
                sealed_ledger(&input, (&line.small, &line.answers), line.reverse_bytes)
            }
        }
    }
}

/// Judges every tunnel and direction; the results are in descending order of new bytes.
pub(crate) fn judgement(known: Known<'_>) -> Judgement {
    let record = known.record;
    let end = record.totals.last_time.unwrap_or_default();
    let mut lines = HashMap::new();
    for line in record.traffic.delivered(end) {
        lines.insert((line.tunnel as usize, line.direction), line);
    }
    let mut all = Judgement::default();
    let sides = busiest_first(record).into_iter();
    let own: Vec<(Side, Option<CarriedLine>)> = sides
        .map(|side| (side, carried(record, side, lines.remove(&side))))
        .collect();
    // Two directions are judged at a time and no more, because each holds the waits of all of its packets.
    let judge_one = |(side, line)| judge_line(known, side, line);
    let mut own = own.into_iter();
    while let Some(first) = own.next() {
        let second = own.next();
        let (first, second) = rayon::join(|| judge_one(first), || second.map(judge_one));
        all.take(first);
        second.into_iter().for_each(|second| all.take(second));
    }
    all
}

impl Judgement {
    fn lost(&self) -> f64 {
        self.ledger.first().and_then(named_loss).unwrap_or(0.0)
    }

    fn take(&mut self, of: Judgement) {
        self.impact.extend(of.impact);
        self.ledger.extend(of.ledger);
        self.account.extend(of.account);
        self.projection.extend(of.projection);
        self.rekeys.extend(of.rekeys);
        self.arrived.extend(of.arrived);
        for (connection, measured) in of.measured {
            self.measured.entry(connection).or_insert(measured);
        }
    }
}

/// Packets that a direction carried; `None` where nothing in it is data.
fn carried(record: &Record, (tunnel, direction): Side, line: Option<DeliveryLine>) -> Option<CarriedLine> {
    if record.meters.inner_is_whole(tunnel, direction) {
        line.map(CarriedLine::Read)
    } else {
        record.traffic.sealed(tunnel, direction).map(CarriedLine::Sealed)
    }
}

/// Judges one direction; where it has child SAs side by side, the one that loses more on its own than all together stands for it.
fn judge_line(known: Known<'_>, side: Side, carried: Option<CarriedLine>) -> Judgement {
    let lineages = lineages(known, side.0);
    let line = match &carried {
        Some(CarriedLine::Read(line)) if !lineages.is_empty() => Some(line.clone()),
        _ => None,
    };
    let mut judged = judge_traffic(known, side, carried);
    let Some(line) = line else { return judged };
    for lineage in &lineages {
        let Some(part) = lineage.part_of(&line) else {
            continue;
        };
        let suffered = known.outages.iter().filter(|outage| lineage.suffers(outage));
        let asked = known
            .attempts
            .iter()
            .filter(|attempt| lineage.is_asked_for_by(attempt));
        let own = Known {
            outages: &suffered.cloned().collect::<Vec<_>>(),
            attempts: &asked.cloned().collect::<Vec<_>>(),
            lineage: Some(lineage),
            ..known
        };
        let alone = judge_traffic(own, side, Some(CarriedLine::Read(part)));
        if alone.lost() > judged.lost() {
            // The connections of the others keep what was measured of them.
            let measured = judged.measured;
            judged = Judgement { measured, ..alone };
        }
    }
    judged
}

/// Judges the traffic of one direction.
fn judge_traffic(known: Known<'_>, side: Side, carried: Option<CarriedLine>) -> Judgement {
    let (record, (tunnel, direction)) = (known.record, side);
    let events = LedgerEvents::of(side, known);
    let mut around = surroundings(side, known);
    match (&carried, known.lineage) {
        (Some(CarriedLine::Read(line)), Some(_)) => around.rests = rests_of(line, &events.rekeys),
        (Some(line), _) => line.widen(&mut around.rests),
        (None, _) => {}
    }
    if let Some(CarriedLine::Sealed(line)) = &carried {
        let rests = sealed_rests(record, side, line);
        around.rests.extend(rests);
        around.rests.sort_unstable();
        // A sender that waits has tried again before anybody asks so late.
        let tries = line.data.last().map(|last| last.to.plus_nanos(INITIAL_RTO));
        let asked_late = |death: &Death| tries.is_some_and(|tries| death.from > tries);
        if was_over(&line.data, &line.answers) || around.died.as_ref().is_some_and(asked_late) {
            around.died = None;
        }
    }
    let mut of_tunnel: Vec<usize> = known
        .rekeys
        .iter()
        .filter(|r| r.tunnel == tunnel && is_of_lineage(known, r.index))
        .map(|r| r.index)
        .collect();
    of_tunnel.sort_unstable();
    let readable = record.meters.inner_is_whole(tunnel, direction);
    let published_direction = record.published(side);
    let mut about = JudgedDirection {
        tunnel,
        direction: published_direction,
        counted: if readable {
            Counted::InnerNewBytes
        } else {
            Counted::OuterBytes
        },
        ledger: None,
        transfers: &[],
        rekeys: &of_tunnel,
        renewals: of_tunnel.len() + unused_renewals(known, tunnel),
        observed: &[],
        near_limit: !events.rekeys.iter().all(RekeySpan::is_below_limit),
        holes: (0, 0.0),
        reference_bps: record.options.reference_bps,
    };
    let labelled = carried
        .as_ref()
        .and_then(|line| labels(known, side, line, &around));
    let mut kept = Judgement {
        impact: vec![judge(&about)],
        rekeys: rekey_costs(&about),
        measured: labelled
            .iter()
            .filter(|_| readable)
            .flat_map(LabelledDirection::flows)
            .map(|(number, flow)| ((ConnectionId(*number), slot(direction)), flow.clone()))
            .collect(),
        ..Judgement::default()
    };
    let Some((carried, labelled)) = carried.zip(labelled) else {
        return kept;
    };
    let Some((span, last)) = labelled.span().zip(carried.span()) else {
        return kept;
    };
    // Datagrams may go on when TCP has ended; where the tunnel died, what is missing would have come.
    let died = around.died.is_some() && last.1 < span.1;
    let end = if died { span.1 } else { span.1.min(last.1) };
    let idle = match &carried {
        CarriedLine::Read(line) if line.datagrams && lineages(known, tunnel).is_empty() => {
            open_ways(record, side, &line.arrived)
        }
        _ => Vec::new(),
    };
    let input = LedgerInput {
        arrived: &[],
        in_vain: &[],
        transfer: (span.0, end),
        died,
        round_trip: 0,
        capacity: labelled.proven_rate(),
        rekeys: &events.rekeys,
        failed: &events.failed,
        outages: &events.outages,
        rests: &around.rests,
        holes: &events.holes,
        moves: &around.moves,
        idle: &idle,
    };
    let beyond = beyond_volume(side, known);
    let SealedBook { book, basis, arrived } = carried.book(&input, &beyond);
    let input = LedgerInput {
        arrived: &arrived,
        ..input
    };
    if !book.is_transfer {
        return kept;
    }
    let holes = holes_within(&events.holes, span);
    let ledger = Ledger {
        inner: known.lineage.and_then(|lineage| lineage.ends(record, side)),
        ..published(&book, basis, (tunnel, published_direction), holes.1)
    };
    let transfers: Vec<TransferImpact> = book.transfers.iter().map(transfer).collect();
    about.ledger = Some(&ledger);
    about.transfers = &transfers;
    about.observed = &book.observed;
    about.holes = holes;
    let account = labelled.account(
        (&input, &book),
        &around,
        &record.options.account(),
        (tunnel, published_direction),
    );
    let said = sentence(&account);
    kept.account.push(Account {
        sentence: said.sentence,
        messages: said.messages,
        ..account
    });
    kept.impact = vec![judge(&about)];
    kept.rekeys = with_collisions(rekey_costs(&about), &events.collided);
    if is_by_volume(known, tunnel) {
        kept.projection = project(&about, counted_per_byte(record, side, &book));
    }
    kept.ledger.push(ledger);
    kept.arrived.insert(side, arrived);
    kept
}

/// Stretches between datagrams in which packets passed both ways for most of the time: the way was open, and their sender rested. The datagrams of
/// calls, and of protocols that wait for answers, are apart from those of names and keepalives.
fn open_ways(record: &Record, side: Side, data: &[TransmissionRun]) -> Vec<Interval<Idle>> {
    let (tunnel, direction) = side;
    let pairs = data.iter().zip(data.iter().skip(1));
    let between = pairs.map(|(before, next)| (before.to, next.from));
    let passes = |direction, (from, to): (Timestamp, Timestamp)| {
        let silent = record
            .traffic
            .longest_silence((tunnel, direction), (from, to), &[]);
        2 * silent.nanos() < to.nanos_since(from)
    };
    between
        .filter(|(from, to)| to.nanos_since(*from) > LEAST_TIMEOUT)
        .filter(|span| passes(direction, *span) && passes(direction.reverse(), *span))
        .map(|(from, to)| Interval {
            from,
            to,
            facts: Idle { open: true },
        })
        .collect()
}

/// Rests between data that no key reads: small packets of the same side passed all the time, so the way was open.
fn sealed_rests(record: &Record, side: Side, line: &SealedLine) -> Vec<(Timestamp, Timestamp)> {
    let pairs = line.data.iter().zip(line.data.iter().skip(1));
    let between = pairs.map(|(before, next)| (before.to, next.from));
    between
        .filter(|(from, to)| {
            let nanos = to.nanos_since(*from);
            let silent = || record.traffic.longest_silence(side, (*from, *to), &[]).nanos();
            nanos >= LEAST_REST && 2 * silent() < nanos
        })
        .collect()
}

/// Labels of the waits of a direction, by its packets.
fn labels(
    known: Known<'_>,
    (tunnel, direction): Side,
    carried: &CarriedLine,
    around: &Surroundings,
) -> Option<LabelledDirection> {
    let record = known.record;
    let readable = matches!(carried, CarriedLine::Read(_));
    let mut connections = record.connections.of(tunnel, readable);
    if let Some(lineage) = known.lineage {
        connections.retain(|own| lineage.carries(record, ConnectionId(own.number), direction));
    }
    if !readable {
        // Packets that cannot be read hold control messages too: only the data has an account.
        let (first, last) = carried.span()?;
        connections
            .iter_mut()
            .for_each(|connection| connection.to_mut().retain(first..=last));
    }
    let connections: Vec<&AccountConnection> = connections.iter().map(|c| &**c).collect();
    label(&connections, slot(direction), around, &record.options.account())
}

/// Tells whether the rekey with this index renewed the child SAs that are judged.
fn is_of_lineage(known: Known<'_>, rekey: usize) -> bool {
    let renews = |lineage: &ChildLineage| {
        known
            .successions
            .get(rekey)
            .is_some_and(|s| lineage.is_renewed_by(s))
    };
    known.lineage.is_none_or(renews)
}

/// Renewals of a tunnel whose SAs no packet used.
fn unused_renewals(known: Known<'_>, tunnel: usize) -> usize {
    let unused = |a: &&Attempt| a.outcome == AttemptOutcome::CompletedUnused && a.rekey.is_none();
    known.attempts_of(tunnel).filter(unused).count()
}

fn transfer(span: &TransferSpan) -> TransferImpact {
    TransferImpact {
        start: span.from,
        end: span.to,
        bytes: span.bytes as f64,
        rekeys: span.rekeys.clone(),
        cost_seconds: Some(seconds(span.nanos)),
    }
}

/// Number of the stretches that the capture lacks within a transfer, and their seconds.
fn holes_within(holes: &[(Timestamp, Timestamp)], (from, to): (Timestamp, Timestamp)) -> (usize, f64) {
    let parts = holes
        .iter()
        .map(|hole| hole.1.min(to).seconds_since(hole.0.max(from)));
    parts
        .filter(|seconds| *seconds > 0.0)
        .fold((0, 0.0), |(count, sum), seconds| (count + 1, sum + seconds))
}

/// Marks the rekeys that another one stands for.
fn with_collisions(mut costs: Vec<(usize, RekeyImpact)>, collided: &[usize]) -> Vec<(usize, RekeyImpact)> {
    for (rekey, cost) in &mut costs {
        if collided.binary_search(rekey).is_ok() {
            cost.flags.push("collision".to_owned());
        }
    }
    costs
}

/// Whether volume triggers some rekeys of the tunnel: only then does another lifetime in kilobytes change anything.
fn is_by_volume(known: Known<'_>, tunnel: TunnelIndex) -> bool {
    let mut own = known.rekeys.iter().filter(|r| r.tunnel == tunnel);
    own.any(|rekey| rekey.trigger.kind == TriggerKind::Volume)
}

/// Bytes that the SA's lifetime counts (decrypted payload) for a byte that arrives.
fn counted_per_byte(record: &Record, (tunnel, direction): Side, book: &LedgerBook) -> f64 {
    if !record.meters.inner_is_whole(tunnel, direction) || book.bytes == 0 {
        return 1.0;
    }
    let own = record.sas_of(tunnel).filter(|a| a.direction == direction);
    let inner: u64 = own.map(|a| a.counters.inner_bytes).sum();
    inner as f64 / book.bytes as f64
}

fn busiest_first(record: &Record) -> Vec<Side> {
    let bytes = |side: Side| Some(record.meters.counted(side.0, side.1)?.counted_bytes());
    let sides = record.meters.directions();
    let mut list: Vec<(u64, Side)> = sides.filter_map(|side| Some((bytes(side)?, side))).collect();
    list.sort_by_key(|&(bytes, side)| (std::cmp::Reverse(bytes), side));
    list.truncate(2 * MOST_TUNNELS);
    list.into_iter().map(|(_, side)| side).collect()
}
