//! The ledgers of the document: what is known of a tunnel, as [`rekeyscope_impact::ledger`] wants it.

use crate::assembly::account::{beyond_limit, new_sas};
use crate::assembly::known::Known;
use crate::pipeline::record::Record;
use rekeyscope_impact::ledger::{
    FailedSpan, LedgerBook, LedgerInput, OwnedInterval, Owner, RekeySpan, ledger, swallow_beyond_volume,
};
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_ipsec::sa::volume::volume_sent;
use rekeyscope_model::analysis::{
    Account, Direction, Ledger, LedgerDown, LedgerInterval, LedgerRekey, LedgerSlow, OwnRate,
};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::DeliveryLine;

/// Bytes a second in a megabit a second.
const MBPS: f64 = 1e6 / 8.0;

/// The ledgers of transfers that can be read, in the order of their accounts.
pub(crate) fn ledgers(record: &Record, accounts: &[Account], known: Known<'_>) -> Vec<Ledger> {
    let end = record.totals.last_time.unwrap_or_default();
    let mut lines = record.traffic.delivered(end);
    let mut one = |account: &Account| {
        let direction = record.tunnels.tunnels[account.tunnel].published(account.direction);
        let is_its =
            |line: &&mut DeliveryLine| (line.tunnel as usize, line.direction) == (account.tunnel, direction);
        let line = lines.iter_mut().find(is_its)?;
        if line.datagrams {
            swallow(record, line, known);
        }
        Some(of_line(record, line, account, known))
    };
    accounts.iter().filter_map(&mut one).collect()
}

/// Datagrams beyond the volume of their SA do not arrive.
fn swallow(record: &Record, line: &mut DeliveryLine, known: Known<'_>) {
    let own = slot(line.direction);
    let successions = known
        .successions
        .iter()
        .filter(|s| s.tunnel == line.tunnel as usize);
    // The reading names an SA by its index.
    let beyond = |s: &Succession| {
        let old = u32::try_from(s.old[own]?).ok()?;
        Some((old, beyond_limit(record, s, own)?.from))
    };
    let beyond: Vec<(u32, Timestamp)> = successions.filter_map(beyond).collect();
    swallow_beyond_volume(&mut line.arrived, &mut line.in_vain, &beyond);
}

fn of_line(record: &Record, line: &DeliveryLine, account: &Account, known: Known<'_>) -> Ledger {
    let (tunnel, direction) = (account.tunnel, line.direction);
    let holes: Vec<(Timestamp, Timestamp)> = record.diagnosis.holes(tunnel).map(|h| (h.from, h.to)).collect();
    let runs = || line.arrived.iter().chain(&line.in_vain);
    let first = runs().map(|run| run.from).min().unwrap_or(account.start);
    let last = runs().map(|run| run.to).max().unwrap_or(account.end);
    // The account knows whether the tunnel died: then its time goes on up to the end of the capture.
    let end = account.end.max(last);
    let book = ledger(&LedgerInput {
        arrived: &line.arrived,
        in_vain: &line.in_vain,
        transfer: (first, end),
        died: end > last,
        round_trip: line.round_trip.unwrap_or(0),
        capacity: (account.own_from == OwnRate::Proven).then_some(account.own_mbps * MBPS),
        rekeys: &rekeys(record, (tunnel, direction), known),
        failed: &failed(record, tunnel, known),
        rests: known.rests.of(tunnel, direction),
        holes: &holes,
    });
    in_words(&book, account)
}

/// The renewals of a tunnel, as a direction sees them.
fn rekeys(
    record: &Record,
    (tunnel, direction): (TunnelIndex, Direction),
    known: Known<'_>,
) -> Vec<RekeySpan> {
    let own = slot(direction);
    let associations = record.sas.associations();
    let span = |(rekey, s): (usize, &Succession)| {
        let switched = s.switched.iter().flatten().min().copied();
        let asked = s.started.or(s.first_message).or(switched)?;
        let volume = s.old[own].and_then(|sa| volume_sent(&associations[sa])?.share());
        Some(RekeySpan {
            rekey,
            asked: switched.map_or(asked, |switched| asked.min(switched)),
            last_message: s.finished.unwrap_or(asked),
            first_on_new: [s.switched[own], s.switched[1 - own]],
            last_on_old: s.left[own],
            volume,
        })
    };
    let numbered = known.successions.iter().enumerate();
    let mut spans: Vec<RekeySpan> = numbered
        .filter(|(_, s)| s.tunnel == tunnel)
        .filter_map(span)
        .collect();
    spans.sort_by_key(|span| (span.asked, span.first_on_new.iter().flatten().max().copied()));
    spans
}

/// The attempts of a tunnel that came to nothing.
fn failed(record: &Record, tunnel: TunnelIndex, known: Known<'_>) -> Vec<FailedSpan> {
    let begins = new_sas(record, tunnel);
    let next = |from: Timestamp| begins.get(begins.partition_point(|at| *at <= from)).copied();
    let own = known
        .attempts
        .iter()
        .filter(|a| a.tunnel == tunnel && a.outcome.failed());
    let mut spans: Vec<FailedSpan> = own
        .map(|attempt| FailedSpan {
            attempt: attempt.index,
            from: attempt.first_time,
            to: next(attempt.first_time),
        })
        .collect();
    spans.sort_by_key(|span| span.from);
    spans
}

fn seconds(nanos: i64) -> f64 {
    nanos as f64 / NANOS_PER_SECOND as f64
}

fn millis(nanos: i64) -> f64 {
    nanos as f64 / NANOS_PER_MILLI as f64
}

/// The book as the document has it.
fn in_words(book: &LedgerBook, account: &Account) -> Ledger {
    let cost = book.rekeys_nanos();
    let rekeys = book.rekeys.iter().map(|own| LedgerRekey {
        rekey: own.rekey,
        cost_seconds: seconds(own.nanos),
        low: seconds(own.range.0),
        high: seconds(own.range.1),
        silence_ms: millis(own.silence),
        swallowed: own.in_vain,
        r0_mbps: own.rate / MBPS,
        why: own.why,
        at_least: own.at_least,
        intervals: book
            .intervals
            .iter()
            .filter(|interval| interval.owner == Owner::Rekey(own.rekey))
            .map(interval)
            .collect(),
    });
    let rekeys: Vec<LedgerRekey> = rekeys.collect();
    let undisturbed = seconds(book.nanos - cost);
    Ledger {
        tunnel: account.tunnel,
        direction: account.direction,
        seconds: seconds(book.nanos),
        bytes: book.bytes,
        cost_seconds: seconds(cost),
        share: cost as f64 / book.nanos.max(1) as f64,
        without_mbps: if undisturbed > 0.0 {
            book.bytes as f64 / MBPS / undisturbed
        } else {
            0.0
        },
        at_least: rekeys.iter().any(|own| own.at_least),
        rekeys,
        down: book.intervals.iter().filter_map(down).collect(),
        slow: book.slow.as_ref().map(|slow| LedgerSlow {
            cost_seconds: seconds(slow.nanos),
            p: slow.p,
            rekeys: slow.rekeys.iter().map(|own| own.0).collect(),
            bound_ms: millis(slow.bound),
        }),
        not_observed: book.unobserved.clone(),
    }
}

fn down(own: &OwnedInterval) -> Option<LedgerDown> {
    let (attempt, rekey) = match own.owner {
        Owner::Rekey(_) => return None,
        Owner::Attempt(attempt) => (Some(attempt), None),
        Owner::DownBefore(rekey) => (None, Some(rekey)),
    };
    Some(LedgerDown {
        attempt,
        rekey,
        cost_seconds: seconds(own.nanos),
        r0_mbps: own.rate / MBPS,
        at_least: own.at_least,
        swallowed: own.in_vain,
        interval: interval(own),
    })
}

fn interval(own: &OwnedInterval) -> LedgerInterval {
    let frame = |frame: u64| (frame > 0).then_some(frame);
    LedgerInterval {
        from: own.from,
        arrived: own.arrived,
        to: own.to,
        from_frame: frame(own.frames.0),
        to_frame: frame(own.frames.1),
    }
}
