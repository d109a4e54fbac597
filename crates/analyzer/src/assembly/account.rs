//! The accounts of the document: what is known of a tunnel, as [`rekeyscope_impact::account`] wants it.

use crate::assembly::edges;
use crate::assembly::known::Known;
use crate::diagnosis::ProvenByPackets;
use crate::pipeline::record::Record;
use crate::throughput::flow::ConnectionId;
use rekeyscope_impact::account::{
    AccountConnection, Accounted, Death, DownSpan, RekeyWindow, Surroundings, account,
};
use rekeyscope_impact::explain::is_cost_of_renewal;
use rekeyscope_impact::tell::account::sentence;
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Account, AttemptOutcome, Direction, FlowTcp, Impact, Outage, ProofRule};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use std::collections::HashMap;

/// A failure counts until this long after the next SA began: what was lost is sent again.
const AFTER_FAILURE: i64 = 250 * NANOS_PER_MILLI;

/// What was measured of flows, by connection and position of the direction in a pair.
pub(crate) type MeasuredFlows = HashMap<(ConnectionId, usize), FlowTcp>;

/// One account for each verdict, in their order.
pub(crate) fn accounts(
    record: &Record,
    impact: &[Impact],
    known: Known<'_>,
) -> (Vec<Account>, MeasuredFlows) {
    let mut measured = MeasuredFlows::new();
    let mut one = |i: &Impact| {
        let direction = record.tunnels.tunnels[i.tunnel].published(i.direction);
        let readable = record.meters.inner_is_whole(i.tunnel, direction);
        let mut connections = record.connections.of(i.tunnel, readable);
        if !readable {
            connections
                .iter_mut()
                .for_each(|c| within_transfers(c.to_mut(), i));
        }
        let connections: Vec<&AccountConnection> = connections.iter().map(|c| &**c).collect();
        let around = surroundings(record, (i.tunnel, direction), known);
        let Accounted { account, flows } = account(
            &connections,
            slot(direction),
            &around,
            &record.options.account(),
            (i.tunnel, i.direction),
        )?;
        // What was read in part only has packets of several connections in one.
        for (number, flow) in flows.into_iter().filter(|_| readable) {
            let name = (ConnectionId(number), slot(direction));
            measured.entry(name).or_insert(flow);
        }
        let said = sentence(&account);
        Some(Account {
            sentence: said.sentence,
            messages: said.messages,
            ..account
        })
    };
    let observed = impact.iter().filter(|i| i.observed_bps.is_some());
    (observed.filter_map(&mut one).collect(), measured)
}

/// What cannot be read holds control messages too: only the transfers that were measured have an account.
fn within_transfers(connection: &mut AccountConnection, impact: &Impact) {
    let starts = impact.transfers.iter().map(|t| t.start).min();
    let ends = impact.transfers.iter().map(|t| t.end).max();
    let Some((start, end)) = starts.zip(ends) else {
        return;
    };
    connection.retain(start..=end);
}

fn surroundings(
    record: &Record,
    (tunnel, direction): (TunnelIndex, Direction),
    known: Known<'_>,
) -> Surroundings {
    let published = record.tunnels.tunnels[tunnel].published(direction);
    let own = || known.successions.iter().filter(|s| s.tunnel == tunnel);
    let mut rekeys: Vec<RekeyWindow> = own().flat_map(|s| windows(record, s, slot(direction))).collect();
    rekeys.sort_by_key(|w| w.asked);
    let ends = record.totals.last_time.unwrap_or_default();
    let begins = new_sas(record, tunnel);
    let attempts = || known.attempts.iter().filter(|a| a.tunnel == tunnel);
    let until = |from: Timestamp| {
        let next = begins.get(begins.partition_point(|t| *t <= from)).copied();
        next.map_or(ends, |next| next.plus_nanos(AFTER_FAILURE))
    };
    let failed = attempts()
        .filter(|a| a.outcome.failed())
        .map(|a| (a.first_time, until(a.first_time)));
    let mut failed: Vec<(Timestamp, Timestamp)> = failed.collect();
    failed.sort_unstable();
    let outages = known
        .outages
        .iter()
        .filter(|o| (o.tunnel, o.direction) == (tunnel, published));
    let outages = outages.map(|o| DownSpan {
        from: o.start,
        to: o.end.unwrap_or(ends),
        rekey: is_cost_of_renewal(o, known.attempts, known.rekeys),
    });
    let mut down: Vec<DownSpan> = outages.collect();
    let beyond = own().filter_map(|s| beyond_limit(record, s, slot(direction)));
    let shorter: Vec<DownSpan> = beyond.filter(|b| !down.iter().any(|d| d.touches(b))).collect();
    down.extend(shorter);
    down.sort_by_key(|d| d.from);
    let first_asked = edges::first_asked(record, (tunnel, direction), known);
    Surroundings {
        rekeys,
        failed,
        down,
        holes: record.diagnosis.holes(tunnel).map(|h| (h.from, h.to)).collect(),
        rests: known.rests.of(tunnel, direction).to_vec(),
        died: died(known, (tunnel, published), ends),
        first_asked,
        first_delivered: first_asked.and_then(|_| record.traffic.first_delivered((tunnel, direction))),
        left_open: edges::left_open(record, (tunnel, direction), known),
    }
}

/// The windows of a renewal in both directions, but where its silence was the sender's.
fn windows(record: &Record, s: &Succession, own: usize) -> Vec<RekeyWindow> {
    let acquitted = |p: &ProvenByPackets| p.rule == ProofRule::Acquitted;
    let excused = record
        .diagnosis
        .proof(s, own)
        .and_then(|p| p.proven(0))
        .is_some_and(acquitted);
    let window = |d: usize| {
        let switched = s.switched[d].filter(|_| !excused)?;
        let asked = s
            .started
            .or(s.first_message)
            .map_or(switched, |t| t.min(switched));
        let new_sa = s.new[d].and_then(|sa| u32::try_from(sa).ok())?;
        Some(RekeyWindow {
            asked,
            switched,
            new_sa,
        })
    };
    [0, 1].into_iter().filter_map(window).collect()
}

/// What nobody acknowledges went on beyond the limit of the old SA: also where that was shorter than an outage of the document is.
pub(super) fn beyond_limit(record: &Record, s: &Succession, own: usize) -> Option<DownSpan> {
    let proof = record.diagnosis.proof(s, own)?.certain.as_ref()?;
    (proof.rule == ProofRule::NoFeedback).then_some(DownSpan {
        from: proof.from,
        to: proof.to,
        rekey: true,
    })
}

/// When SAs of the tunnel carried their first packet, in order.
pub(super) fn new_sas(record: &Record, tunnel: TunnelIndex) -> Vec<Timestamp> {
    let associations = record.sas.associations();
    let own = record.sas.of_tunnel(tunnel).iter();
    let mut times: Vec<Timestamp> = own
        .filter_map(|&sa| associations[sa].first)
        .map(|f| f.0)
        .collect();
    times.sort_unstable();
    times
}

/// The requests in vain after the last renewal, and an outage that nothing ended.
fn died(known: Known<'_>, (tunnel, published): (TunnelIndex, Direction), ends: Timestamp) -> Option<Death> {
    let attempts = || known.attempts.iter().filter(|a| a.tunnel == tunnel);
    let renewed = attempts()
        .filter(|a| a.outcome == AttemptOutcome::Completed)
        .map(|a| a.last_time)
        .max();
    let vain = attempts().filter(|a| a.outcome.failed() && renewed.is_none_or(|t| a.last_time > t));
    let own = |o: &&Outage| (o.tunnel, o.direction) == (tunnel, published) && o.end.is_none();
    let open = known.outages.iter().filter(own).map(|o| (o.start, o.start));
    let spans: Vec<(Timestamp, Timestamp)> = vain.map(|a| (a.first_time, a.last_time)).chain(open).collect();
    Some(Death {
        from: spans.iter().map(|s| s.0).min()?,
        last_asked: spans.iter().map(|s| s.1).max()?,
        ends,
    })
}
