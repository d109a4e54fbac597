//! The outages that an answer speaks of: those that have not ended, else the cause that cost most.

use crate::explain::explained::ExplainedTime;
use crate::explain::failure::{Failure, failure};
use crate::explain::loss::waits_for_lost;
use crate::explain::renewal::{is_beside_rekeys, is_cost_of_renewal};
use crate::explain::slow_sa::told_slow_sa;
use crate::explain::table::{Moment, row_of};
use crate::explain::variant::{brought_back, is_of_echoes};
use crate::explain::view::range;
use rekeyscope_model::analysis::{
    Analysis, AttemptOutcome, Certainty, EventKind, Explanation, ExplanationCause, Impact, Outage, OutageEnd,
    SecurityAssociation, Tunnel, Verdict,
};
use rekeyscope_model::chance::SEVERAL;
use rekeyscope_model::time::{self, Timestamp};
use rekeyscope_traffic::{CONNECTION_SHARE, INITIAL_RTO, LEAST_TIMEOUT};
use std::cmp::Ordering;
use std::net::IpAddr;

/// The outages of one cause, as an answer tells them.
#[derive(Debug, Clone)]
pub struct ToldOutages<'a> {
    /// The one that stands for them: the one that has not ended, else the longest.
    pub outage: &'a Outage,
    /// The explanation.
    pub explanation: &'a Explanation,
    /// All of them in the order of time. Those at the same time, in both directions or of several pairs, are one.
    pub alike: Vec<&'a Outage>,
    /// The shortest and the longest, seconds.
    pub range_s: (f64, f64),
    /// Seconds without a way in `outage`, where the sender then waited for its timer.
    pub no_way_s: Option<f64>,
    /// Outages that have other causes.
    pub others: usize,
    /// Other inner addresses of the tunnel go on meanwhile.
    pub others_pass: bool,
    /// Outages of other tunnels with the same cause at the same end, in the order of time.
    pub elsewhere: Vec<&'a Outage>,
    /// Another client had set up an IKE SA right before each of several of these outages.
    pub behind_another: bool,
    /// The host that alone got nothing, though the only SA of that direction brought others theirs, where nothing else explains it.
    pub one_host: Option<IpAddr>,
    /// Rekeys of this tunnel were seen, and they are not the cause.
    pub beside_rekeys: bool,
}

/// An outage and its explanation.
type Told<'a> = (&'a Outage, &'a Explanation);

/// Outages that an answer begins with; `None` where nothing explains one, or where rekeys cost more.
pub fn told_outages(analysis: &Analysis) -> Option<ToldOutages<'_>> {
    let mut groups: Vec<Vec<Told<'_>>> = Vec::new();
    for outage in &analysis.outages {
        let explanation = outage.explanation.as_ref().filter(|e| is_of_the_tunnel(e));
        let Some(explanation) = explanation.filter(|_| !waits_for_lost(analysis, outage)) else {
            continue;
        };
        // The verdict says the cost of renewals that succeed, with those that cost less than an outage is long.
        if is_cost_of_renewal(outage, &analysis.attempts, &analysis.rekeys)
            && is_told_by_the_verdict(analysis, outage)
        {
            continue;
        }
        let same = |(other, theirs): &Told<'_>| {
            (other.tunnel, family(theirs.cause), theirs.by)
                == (outage.tunnel, family(explanation.cause), explanation.by)
        };
        match groups.iter_mut().find(|group| group.iter().any(same)) {
            Some(group) => group.push((outage, explanation)),
            None => groups.push(vec![(outage, explanation)]),
        }
    }
    let all: usize = groups.iter().map(|group| at_different_times(group).len()).sum();
    let costs_more = |a: &&Vec<Told<'_>>, b: &&Vec<Told<'_>>| {
        let open = |group: &[Told<'_>]| group.iter().any(|(outage, _)| is_down(group, outage));
        open(a).cmp(&open(b)).then(seconds(a).total_cmp(&seconds(b)))
    };
    let failed = failed_first(analysis);
    let rekeys = cost_of_rekeys(analysis);
    let leads = |group: &&Vec<Told<'_>>| {
        let is_told = |outage: &Outage| is_down(group, outage) || Some(outage.index) == failed;
        group.iter().any(|(outage, _)| is_told(outage)) || seconds(group) > rekeys
    };
    let worst = groups.iter().filter(leads).max_by(costs_more)?.clone();
    let alike = at_different_times(&worst);
    let down = |outage: &Outage| is_down(&worst, outage);
    let longer = |a: &&&Outage, b: &&&Outage| down(a).cmp(&down(b)).then(a.seconds.total_cmp(&b.seconds));
    let outage = *alike.iter().max_by(longer)?;
    let explanation = outage.explanation.as_ref()?;
    let same_elsewhere = |group: &&Vec<Told<'_>>| {
        group.iter().any(|(other, theirs)| {
            let key = (family(theirs.cause), theirs.by);
            other.tunnel != outage.tunnel
                && theirs.by.is_some()
                && key == (family(explanation.cause), explanation.by)
        })
    };
    let others = groups.iter().filter(same_elsewhere);
    let mut elsewhere: Vec<&Outage> = others.flat_map(|group| at_different_times(group)).collect();
    elsewhere.sort_by_key(|outage| outage.start);
    let all_told: Vec<&Outage> = alike.iter().chain(&elsewhere).copied().collect();
    let lengths = alike.iter().map(|outage| outage.seconds);
    let behind_another = is_behind_another(analysis, &all_told);
    let one_host = one_host(analysis, outage, explanation);
    let by_renewal = ExplainedTime::of_outage(outage)?.ended_by_renewal;
    let renewed = brought_back(analysis, explanation, by_renewal);
    let apart = row_of(explanation.cause).apart_from_rekeys && !renewed;
    let apart = apart || behind_another || one_host.is_some();
    Some(ToldOutages {
        outage,
        explanation,
        beside_rekeys: apart && alike.iter().all(|o| is_beside_rekeys(o, &analysis.rekeys)),
        range_s: range(lengths),
        no_way_s: no_way(analysis, outage),
        others: all - alike.len() - elsewhere.len(),
        behind_another,
        one_host,
        elsewhere,
        others_pass: others_pass(analysis, outage),
        alike,
    })
}

/// An outage that all tunnels have at the same time.
#[derive(Debug, Clone, Copy)]
pub struct ToldEverywhere {
    /// Number of tunnels.
    pub tunnels: usize,
    /// Time at which the first of them stopped.
    pub start: Timestamp,
    /// The shortest and the longest, seconds.
    pub range_s: (f64, f64),
    /// None of them has ended.
    pub open: bool,
    /// The end that they share, where they share one.
    pub shared: Option<IpAddr>,
}

/// The outage of all tunnels that were in use when the one that is told began; `None` where one of them went on, or one is all there is, or
/// the control plane explains it.
pub fn told_everywhere(analysis: &Analysis, told: &ToldOutages<'_>) -> Option<ToldEverywhere> {
    let outage = told.outage;
    let by_silence = matches!(
        told.explanation.cause,
        ExplanationCause::PeerSilent | ExplanationCause::PathSilent | ExplanationCause::Unexplained
    );
    let in_use = |tunnel: usize| {
        let mut own = analysis.sas_of(tunnel);
        own.any(|sa| is_used_in(sa, (outage.start, outage.start)))
    };
    let used: Vec<&Tunnel> = analysis.tunnels.iter().filter(|t| in_use(t.id)).collect();
    let (first, others) = used
        .split_first()
        .filter(|(_, others)| by_silence && !others.is_empty())?;
    let mut hit = Vec::new();
    for tunnel in &used {
        let own = analysis.outages_of(tunnel.id);
        let same = own.filter(|o| o.start < outage.until() && outage.start < o.until());
        hit.push(same.max_by(|a, b| a.seconds.total_cmp(&b.seconds))?);
    }
    let lengths = hit.iter().map(|outage| outage.seconds);
    let shared = [first.a, first.b].into_iter().find(|end| {
        let has = |tunnel: &&Tunnel| tunnel.a == *end || tunnel.b == *end;
        others.iter().all(has)
    });
    Some(ToldEverywhere {
        tunnels: used.len(),
        start: hit.iter().map(|outage| outage.start).min()?,
        range_s: range(lengths),
        open: hit.iter().all(|outage| is_open(outage)),
        shared,
    })
}

/// Tells whether packets of an SA passed before the end of a time and behind its begin.
fn is_used_in(sa: &SecurityAssociation, (from, to): (Timestamp, Timestamp)) -> bool {
    let span = sa.first_time.zip(sa.last_time);
    span.is_some_and(|(first, last)| first <= to && last >= from)
}

/// The receiver of an outage that nothing explains, where others got theirs meanwhile through the only SA of that direction: the tunnel was open.
fn one_host(analysis: &Analysis, outage: &Outage, explanation: &Explanation) -> Option<IpAddr> {
    let unknown = explanation.cause == ExplanationCause::Unexplained && explanation.by.is_none();
    let sas = analysis.sas_towards(outage.tunnel, outage.direction);
    let mut sas = sas.filter(|sa| is_used_in(sa, (outage.start, outage.until())));
    let only = sas.next().is_some() && sas.next().is_none();
    let (_, receiver) = outage.inner?;
    (unknown && only && !is_of_echoes(explanation) && others_pass(analysis, outage)).then_some(receiver)
}

/// Tells whether another client set up an IKE SA right before each of several Deletes, with the end that deletes: that end allows so many clients, or
/// one for each name.
fn is_behind_another(analysis: &Analysis, outages: &[&Outage]) -> bool {
    let delete = |outage: &Outage| {
        let event = analysis.event_of(outage.explanation.as_ref()?)?;
        (event.kind == EventKind::IkeSaDeleted).then_some(event)
    };
    let has_end = |tunnel: Option<usize>, end| {
        let tunnel = tunnel.and_then(|tunnel| analysis.tunnels.get(tunnel));
        tunnel.is_some_and(|tunnel| Some(tunnel.a) == end || Some(tunnel.b) == end)
    };
    let is_behind = |outage: &&Outage| {
        delete(outage).is_some_and(|delete| {
            analysis.events.iter().any(|anew| {
                let stood = anew.until.unwrap_or(anew.time);
                anew.kind == EventKind::NewIkeSa
                    && anew.tunnel != delete.tunnel
                    && has_end(anew.tunnel, delete.by)
                    && stood <= delete.time
                    && delete.time.nanos_since(stood) <= INITIAL_RTO
            })
        })
    };
    outages.len() as u64 >= SEVERAL && outages.iter().all(is_behind)
}

/// A Delete that nothing follows, and one that a new exchange follows, are one fault: who deletes did not renew before.
fn family(cause: ExplanationCause) -> ExplanationCause {
    match cause {
        ExplanationCause::BreakBeforeMake => ExplanationCause::Deleted,
        other => other,
    }
}

/// Packets that only the capture lacks were no outage of the tunnel; without keys it may have been the path that lost them.
fn is_of_the_tunnel(explanation: &Explanation) -> bool {
    explanation.cause != ExplanationCause::CaptureHole || explanation.certainty == Certainty::Inferred
}

/// The outage that makes the first verdict *failed*: rekeys of another tunnel may have cost more.
fn failed_first(analysis: &Analysis) -> Option<usize> {
    let first = analysis.impact.first();
    let headline = first.filter(|impact| impact.verdict == Verdict::Failed)?;
    match failure(analysis, headline.tunnel)? {
        Failure::Outage(outage) => Some(outage.index),
        Failure::Renewal(_) => None,
    }
}

fn is_told_by_the_verdict(analysis: &Analysis, outage: &Outage) -> bool {
    let own = |impact: &&Impact| (impact.tunnel, impact.direction) == (outage.tunnel, outage.direction);
    let mut verdicts = analysis.impact.iter().filter(own).map(|impact| impact.verdict);
    verdicts.any(|verdict| matches!(verdict, Verdict::Shown | Verdict::Some))
}

fn is_open(outage: &Outage) -> bool {
    outage.end.is_none()
}

/// Tells whether an outage of a group has not ended. A stretch that nothing explains, and that is shorter than one that ended by itself, may end so,
/// too.
fn is_down(group: &[Told<'_>], outage: &Outage) -> bool {
    let longer = |(other, theirs): &Told<'_>| {
        let unexplained = theirs.cause == ExplanationCause::Unexplained;
        unexplained && !is_open(other) && other.seconds > outage.seconds
    };
    is_open(outage) && !group.iter().any(longer)
}

/// Tells whether the request that two outages are about is the same one.
fn are_of_one_request(one: &Outage, other: &Outage) -> bool {
    let request = |outage: &Outage| {
        let explanation = outage.explanation.as_ref()?;
        let of_request = row_of(explanation.cause).moment == Moment::Request;
        explanation.event.filter(|_| of_request)
    };
    request(one).is_some_and(|event| request(other) == Some(event))
}

/// Outages in the order of time; of those that overlap, or wait for the same answer, the one that stands for them.
fn at_different_times<'a>(group: &[Told<'a>]) -> Vec<&'a Outage> {
    let mut in_order: Vec<&Outage> = group.iter().map(|(outage, _)| *outage).collect();
    in_order.sort_by_key(|outage| outage.start);
    let mut apart: Vec<Vec<&Outage>> = Vec::new();
    let mut until = None;
    for outage in in_order {
        let belongs = |same: &&mut Vec<&Outage>| {
            Some(outage.start) < until || same.iter().any(|other| are_of_one_request(other, outage))
        };
        match apart.last_mut().filter(belongs) {
            Some(same) => same.push(outage),
            None => apart.push(vec![outage]),
        }
        until = until.max(Some(outage.until()));
    }
    apart.iter().filter_map(|same| first_of_longest(same)).collect()
}

/// The longest; where it is of a connection that began, or sent again, more than a timeout after the fault, the first of those that lasted through
/// half of it: nothing was delivered to them either.
fn first_of_longest<'a>(same: &[&'a Outage]) -> Option<&'a Outage> {
    let longest = *same.iter().max_by(|a, b| longer(a, b))?;
    let through = |outage: &&&Outage| {
        let [from, to] = [
            longest.start.max(outage.start),
            longest.until().min(outage.until()),
        ];
        is_open(outage) == is_open(longest) && 2.0 * to.seconds_since(from) >= longest.seconds
    };
    let first = *same.iter().find(through)?;
    Some(if longest.start.nanos_since(first.start) > INITIAL_RTO {
        first
    } else {
        longest
    })
}

/// The one that has not ended before all others, then the longer one.
fn longer(a: &Outage, b: &Outage) -> Ordering {
    is_open(a).cmp(&is_open(b)).then(a.seconds.total_cmp(&b.seconds))
}

fn seconds(group: &[Told<'_>]) -> f64 {
    let apart = at_different_times(group).into_iter();
    apart.map(|outage| outage.seconds).sum()
}

/// The time without a way, where what followed was the sender's timer. A way that was closed for less than any timer is shown by nothing
/// that was sent.
fn no_way(analysis: &Analysis, outage: &Outage) -> Option<f64> {
    let explanation = outage.explanation.as_ref()?;
    // A capture that lacks packets does not show whether a way was closed, and a sender of echo requests waits for no timer.
    if explanation.cause == ExplanationCause::CaptureHole || is_of_echoes(explanation) {
        return None;
    }
    // A renewal that brought the way back did so with its last message, so there was no way until then.
    let silent = [ExplanationCause::PeerSilent, ExplanationCause::PathSilent];
    let goes_on_silent = silent.contains(&explanation.cause) && explanation.exchange.is_none();
    let brought_back = matches!(outage.ended_by, OutageEnd::NewSa | OutageEnd::NewIkeSa) && !goes_on_silent;
    let renewals = analysis.attempts_of(outage.tunnel);
    let over = renewals
        .filter(|attempt| attempt.outcome == AttemptOutcome::Completed && brought_back)
        .map(|attempt| attempt.last_time)
        .filter(|at| (outage.start..=outage.until()).contains(at))
        .max();
    let last = outage.dead.map(|(_, last)| last).max(over)?.min(outage.until());
    let no_way = last.seconds_since(outage.start);
    let is_shown = no_way >= time::seconds(LEAST_TIMEOUT);
    // A sender whose way is open again waits as long where its timer decides: less is not worth a word.
    let waited = outage.seconds - no_way > time::seconds(INITIAL_RTO);
    (!is_open(outage) && is_shown && waited).then_some(no_way)
}

/// Tells whether the tunnel carries other inner addresses that went on: for half of the outage, or through most of what followed theirs.
pub fn others_pass(analysis: &Analysis, outage: &Outage) -> bool {
    let Some(pair) = outage.inner else {
        return false;
    };
    let same = |pair: (IpAddr, IpAddr), other: (IpAddr, IpAddr)| pair == other || pair == (other.1, other.0);
    let silent = |inner: (IpAddr, IpAddr)| {
        analysis.outages.iter().any(|other| {
            let same = other.inner.is_some_and(|theirs| same(theirs, inner));
            let begin = other.start.max(outage.start);
            let both = other.until().min(outage.until()).seconds_since(begin);
            let rest = outage.until().seconds_since(begin);
            same && 2.0 * rest >= outage.seconds && 2.0 * both >= rest
        })
    };
    let flows = || analysis.flows_of(outage.tunnel);
    let bytes: u64 = flows().map(|flow| flow.new_bytes).sum();
    flows().any(|flow| {
        let inner = (flow.src, flow.dst);
        flow.new_bytes > 0
            && flow.new_bytes as f64 >= CONNECTION_SHARE * bytes as f64
            && !same(pair, inner)
            && !silent(inner)
    })
}

/// Seconds that rekeys, or a slow SA, cost the transfer that suffers most.
fn cost_of_rekeys(analysis: &Analysis) -> f64 {
    let costs = analysis.ledger.iter().map(|ledger| ledger.cost_seconds);
    let first = analysis.impact.first();
    let slow = first.and_then(|headline| told_slow_sa(analysis, headline));
    costs
        .chain(slow.map(|slow| slow.lost_seconds))
        .fold(0.0, f64::max)
}
