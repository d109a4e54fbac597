//! Facts that no outage and no cost shows, which an answer about rekeys adds or says instead.

use crate::explain::control::waits_no_longer;
use crate::explain::path::CHANGE_TAKES_EFFECT;
use crate::explain::sas::misses_first;
use crate::explain::view::range;
use rekeyscope_model::algorithm::Integrity;
use rekeyscope_model::analysis::{
    Analysis, Certainty, Direction, Encapsulation, Event, EventKind, Exchange, ExchangeKind, Impact, Ledger,
    LedgerBasis, Rekey, SecurityAssociation, Tunnel, Verdict,
};
use rekeyscope_model::chance::{LEAST_NOT_BY_CHANCE, SEVERAL};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_traffic::{INITIAL_RTO, INITIAL_WINDOW, LEAST_REST, LEAST_TIMEOUT, window_takes};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// A delay from which on talking suffers, one way (ITU-T G.114), milliseconds.
const TALKING_SUFFERS_MS: f64 = 150.0;

/// A queue that stands.
#[derive(Debug, Clone, Copy)]
pub struct ToldQueue {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// The longest that it delays packets, milliseconds.
    pub longest_ms: f64,
    /// Half of the packets wait so long that whoever asks for the first time asks again before an answer can come (RFC 6298 §2.1).
    pub outlasts_timers: bool,
    /// The receiving end, where the capture stands before the queue.
    pub at: Option<IpAddr>,
}

/// A queue that stands: it is longer than the least round trip, which is all that a full rate needs, for half of the transfer, and long enough
/// to be heard.
pub fn told_queue(analysis: &Analysis, headline: &Impact) -> Option<ToldQueue> {
    let account = analysis.account_of(headline.tunnel, headline.direction)?;
    let tcp = analysis
        .busiest_flow(headline.tunnel, headline.direction)?
        .tcp
        .as_ref()?;
    let least = account.rtt_ms?.min(tcp.handshake_rtt_ms.unwrap_or(f64::INFINITY));
    let usual = tcp.rtt_ms?;
    let course = tcp.course.as_ref().filter(|course| course.rtt_whole)?;
    let means = course.rtt_ms.iter().flatten().map(|[_, mean, _]| *mean);
    let longest_ms = means.fold(usual, f64::max) - least;
    // A queue behind the capture holds packets between the capture and their acknowledgement: for half of the wait at least.
    let before = tcp
        .ack_rtt_ms
        .is_some_and(|behind| 2.0 * (behind - least) >= usual - least);
    let before = analysis.tunnels.get(headline.tunnel).filter(|_| before);
    let stands = usual > 2.0 * least && usual - least > TALKING_SUFFERS_MS;
    stands.then(|| ToldQueue {
        tunnel: headline.tunnel,
        longest_ms,
        outlasts_timers: usual >= INITIAL_RTO as f64 / NANOS_PER_MILLI as f64,
        at: before.map(|tunnel| headline.direction.pick(tunnel.b, tunnel.a)),
    })
}

/// New SAs whose first packets never came to the capture.
#[derive(Debug, Clone, Copy)]
pub struct ToldFirstNumbers<'a> {
    /// The event of the first of them.
    pub event: &'a Event,
    /// Number of packets that are missing of that one.
    pub missing: u64,
    /// Number of SAs.
    pub sas: usize,
}

/// The new SAs of a tunnel whose first packets are missing, where several are; the capture itself lacks nothing there.
pub fn told_first_numbers(analysis: &Analysis, tunnel: usize) -> Option<ToldFirstNumbers<'_>> {
    let in_hole = |time: Timestamp| {
        let mut events = analysis.events.iter();
        events.any(|e| {
            let lasts = e.time..=e.until.unwrap_or(e.time);
            e.kind == EventKind::CaptureHole && lasts.contains(&time)
        })
    };
    let own = analysis
        .events_of(tunnel)
        .filter(|event| misses_first(event) && !in_hole(event.time));
    let all: Vec<&Event> = own.collect();
    let first = all.first().filter(|_| all.len() as u64 >= SEVERAL)?;
    Some(ToldFirstNumbers {
        event: first,
        missing: first.count?.saturating_sub(1),
        sas: all.len(),
    })
}

/// The time at which the last transfer of a direction stopped, and the seconds of the capture that follow; `None` where keys show what became of
/// it, where ESP of its sender comes later still, so that the way was open, or where no longer time follows than an application rests.
pub fn told_stop(analysis: &Analysis, headline: &Impact) -> Option<(Timestamp, f64)> {
    let ledger = analysis.ledger_of(headline.tunnel, headline.direction)?;
    let stopped = headline.transfers.last()?.end;
    let last = analysis.capture.last_time?;
    let tunnel = analysis.tunnels.get(headline.tunnel)?;
    let sender = headline.direction.pick(tunnel.a, tunnel.b);
    let own = analysis.sas_of(headline.tunnel);
    let mut own = own.filter(|sa| sa.src == sender);
    let goes_on = own.any(|sa| {
        sa.last_time
            .is_some_and(|last| last.nanos_since(stopped) > LEAST_TIMEOUT)
    });
    (is_sealed(ledger) && !goes_on && last.nanos_since(stopped) > LEAST_REST)
        .then(|| (stopped, last.seconds_since(stopped)))
}

/// A transfer that stood still.
#[derive(Debug, Clone, Copy)]
pub struct ToldStandstill {
    /// The time without a packet.
    pub stood: (Timestamp, Timestamp),
    /// Copies of the check before it or in it that was not answered, or whose answer was not heard, where a new IKE SA was negotiated in it;
    /// else 0.
    pub checks: u64,
    /// Packets came again within a timeout after the renewal that made their SA.
    pub renewed: bool,
}

/// The longest time without a packet that some rekey ended, where it cost more than all rekeys and nothing shows whether anything waited: no
/// key opens the packets, or nobody acknowledges them. A program that sends datagrams rests as it likes, so that a new IKE SA behind
/// checks in vain, or a renewal that it cannot know of, has to show that it did not.
pub fn told_standstill(analysis: &Analysis, headline: &Impact) -> Option<ToldStandstill> {
    let paused = || {
        pause(analysis, headline).map(|stood| ToldStandstill {
            stood,
            checks: 0,
            renewed: true,
        })
    };
    match headline.verdict {
        Verdict::NoTraffic => paused(),
        // A transfer that ends where it stands still has no rekey in it.
        Verdict::Inconclusive if headline.rekeys_used == 0 => paused(),
        verdict if verdict.is_harmless() => standstill(analysis, headline),
        _ => None,
    }
}

fn standstill(analysis: &Analysis, headline: &Impact) -> Option<ToldStandstill> {
    let ledger = analysis.ledger_of(headline.tunnel, headline.direction)?;
    let cost: f64 = ledger.down.iter().map(|down| down.cost_seconds).sum();
    let longest = ledger
        .down
        .iter()
        .max_by(|a, b| a.cost_seconds.total_cmp(&b.cost_seconds));
    let down = longest.filter(|_| cost > ledger.cost_seconds)?;
    let (from, back) = (down.interval.from, down.interval.arrived?);
    let checks = checks_in_vain(analysis, headline.tunnel, (from, down.interval.to));
    let rekey = down.rekey.and_then(|index| analysis.rekeys.get(index));
    // A program that rests goes on at any time.
    let renewed = rekey
        .and_then(renewed_at)
        .is_some_and(|over| back.nanos_since(over).abs() <= LEAST_TIMEOUT);
    let is_told = is_sealed(ledger) || ledger.basis == LedgerBasis::Datagrams && (checks > 0 || renewed);
    is_told.then_some(ToldStandstill {
        stood: (from, back),
        checks,
        renewed,
    })
}

/// The time of the last message of the exchange that renewed an SA.
fn renewed_at(rekey: &Rekey) -> Option<Timestamp> {
    Some(rekey.started?.plus_seconds(rekey.exchange_ms? / 1e3))
}

/// The longest time without a packet from the last one on an SA to the first one on its successor, of datagrams or of packets that no key opens:
/// longer than a sender at the rate of that SA pauses, and they came again as soon as the renewal was over.
fn pause(analysis: &Analysis, headline: &Impact) -> Option<(Timestamp, Timestamp)> {
    let mut flows = analysis.flows_of(headline.tunnel);
    if flows.any(|flow| flow.tcp.is_some()) {
        return None;
    }
    let between = |rekey: &Rekey| {
        let direction = headline.direction;
        let (spi, back) = (rekey.old.get(direction), rekey.switched.get(direction)?);
        let ends = analysis.tunnels.get(rekey.tunnel);
        let sender = ends.map(|ends| direction.pick(ends.a, ends.b));
        let own = || analysis.sas_of(rekey.tunnel).filter(|sa| Some(sa.src) == sender);
        // A side that never took the SA of the renewal before into use has none to come from: its last one ended earlier.
        let last_used = || {
            let before = own().filter(|sa| sa.first_time < Some(back));
            let last = before.max_by_key(|sa| sa.last_time);
            last.filter(|sa| spi.is_none() && sa.last_time < Some(back))
        };
        let old = own().find(|sa| Some(sa.spi) == spi).or_else(last_used)?;
        let (first, last) = old.first_time.zip(old.last_time)?;
        let window = window_takes((first, last), old.packets)?;
        let at_once =
            back.nanos_since(renewed_at(rekey)?) <= LEAST_TIMEOUT.max(window / i64::from(INITIAL_WINDOW));
        (back.nanos_since(last) >= window && rekey.started? > last && at_once).then_some((last, back))
    };
    let own = analysis.rekeys_of(headline.tunnel);
    own.filter_map(between)
        .max_by_key(|(last, back)| back.nanos_since(*last))
}

/// The Delete that ends a tunnel, behind which data still came: the transfer was not over, and the capture ends before a sender's timer could show
/// an outage.
pub fn told_cut_off<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<&'a Event> {
    let harmless = headline.verdict.is_harmless();
    let tunnel = analysis.tunnels.get(headline.tunnel).filter(|_| harmless)?;
    let sender = headline.direction.pick(tunnel.a, tunnel.b);
    let mut own = analysis.events_of(headline.tunnel);
    let is_end = |event: &&Event| matches!(event.kind, EventKind::IkeSaDeleted | EventKind::NewIkeSa);
    let delete = own.rfind(is_end).filter(|event| {
        event.kind == EventKind::IkeSaDeleted
            && event.successor == Some(false)
            && event.by.is_some_and(|by| by != sender)
    })?;
    let came_behind = headline.transfers.last()?.end > delete.time;
    let ends = analysis.capture.last_time?.nanos_since(delete.time) <= INITIAL_RTO;
    (came_behind && ends).then_some(delete)
}

/// Copies of the check right before a silence, or in it, that its sender gave up on, where a new IKE SA was negotiated in the silence.
fn checks_in_vain(analysis: &Analysis, tunnel: usize, (from, to): (Timestamp, Timestamp)) -> u64 {
    let events = || analysis.events_of(tunnel);
    let anew = |event: &Event| event.kind == EventKind::NewIkeSa && event.time >= from && event.time <= to;
    let is_recent = |event: &&Event| {
        matches!(event.kind, EventKind::ChecksUnanswered | EventKind::ChecksUnheard)
            && event.time <= to
            && waits_no_longer(event, from)
    };
    let check = events().rfind(is_recent).filter(|_| events().any(anew));
    check.and_then(|event| event.count).unwrap_or(0)
}

/// IKE SAs of a tunnel that a side deleted before it asked for the next one.
#[derive(Debug, Clone)]
pub struct ToldTornDown<'a> {
    /// The Deletes.
    pub deletes: Vec<&'a Event>,
    /// The shortest and the longest time from a Delete to the end of the exchange that made the next IKE SA, seconds.
    pub range_s: (f64, f64),
    /// The other side made a new IKE SA than the one that deleted.
    pub by_another: bool,
}

/// The IKE SAs of a tunnel that were deleted before the next one was made; `None` where there is none, or where a verdict tells what that costs.
pub fn told_torn_down<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<ToldTornDown<'a>> {
    let tunnel = Some(headline.tunnel).filter(|_| headline.verdict == Verdict::NoTraffic)?;
    let own = || analysis.events_of(tunnel);
    let anew = own().filter(|event| event.kind == EventKind::NewIkeSa);
    let pair = |anew: &'a Event| -> Option<(&'a Event, f64, bool)> {
        let before = own().take_while(|event| event.index < anew.index);
        let last = before
            .filter(|event| matches!(event.kind, EventKind::IkeSaDeleted | EventKind::NewIkeSa))
            .last()?;
        let torn = last.kind == EventKind::IkeSaDeleted && last.successor != Some(true);
        let seconds = anew.until.unwrap_or(anew.time).seconds_since(last.time);
        torn.then_some((last, seconds, last.by != anew.by))
    };
    let pairs: Vec<(&'a Event, f64, bool)> = anew.filter_map(pair).collect();
    let by_another = pairs.iter().any(|pair| pair.2);
    let (deletes, lengths): (Vec<&Event>, Vec<f64>) = pairs.iter().map(|pair| (pair.0, pair.1)).unzip();
    let range_s = range(lengths.into_iter());
    (!deletes.is_empty()).then_some(ToldTornDown {
        deletes,
        range_s,
        by_another,
    })
}

/// ESP of one side that stopped for good, in a transfer whose packets no key opens. Behind a renewal that failed it is that failure's.
pub fn told_silent_esp<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<&'a Event> {
    let ledger = analysis.ledger_of(headline.tunnel, headline.direction)?;
    let is_it = is_sealed(ledger) && headline.verdict != Verdict::Failed;
    let mut events = analysis.events_of(headline.tunnel).filter(|_| is_it);
    events.rfind(|event| event.kind == EventKind::EspSilent && event.until >= analysis.capture.last_time)
}

/// Whether an event is an unread answer to IKE_AUTH that makes no child SA: the IKE SA stands.
pub(super) fn refuses_child(analysis: &Analysis, event: &Event) -> bool {
    let exchange = event.exchange.and_then(|index| analysis.exchanges.get(index));
    event.kind == EventKind::Refused
        && event.known == Certainty::Inferred
        && event.notify.is_none()
        && exchange.is_some_and(|exchange| exchange.kind == ExchangeKind::IkeAuth)
}

/// The IKE SA that came about without a child SA, and after which no ESP came any more.
pub fn told_childless(analysis: &Analysis, tunnel: usize) -> Option<&Event> {
    let kinds = [EventKind::NewIkeSa, EventKind::Refused, EventKind::ChildDeleted];
    let last = analysis
        .events_of(tunnel)
        .rfind(|event| kinds.contains(&event.kind))?;
    let is_childless = refuses_child(analysis, last);
    let mut own = analysis.sas_of(tunnel);
    (is_childless && own.all(|sa| sa.last_time.is_none_or(|end| end <= last.time))).then_some(last)
}

fn lasted(event: &Event) -> i64 {
    event.until.map_or(0, |until| until.nanos_since(event.time))
}

/// Tells whether the peer of an end that moved went on sending to the old place for longer than a sender of TCP takes for three tries.
pub(super) fn is_left_behind(change: &Event) -> bool {
    matches!(change.kind, EventKind::AddressChanged | EventKind::PortChanged)
        && change.count.is_some_and(|sent| sent >= LEAST_NOT_BY_CHANCE)
        && lasted(change) > CHANGE_TAKES_EFFECT
}

/// The change of an end's address or port, in any tunnel, after which its peer went on sending to the old place; `None` where it followed before
/// a sender of TCP would have tried three times, or where acknowledgements show what arrived there.
pub fn told_left_behind<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<(&'a Tunnel, &'a Event)> {
    if headline.verdict.is_harm() {
        return None;
    }
    let changes = analysis.events.iter().filter(|event| is_left_behind(event));
    let of_tunnel = changes.filter_map(|event| Some((analysis.tunnels.get(event.tunnel?)?, event)));
    let is_acknowledged = |(tunnel, event): &(&Tunnel, &Event)| {
        let towards = match event.by == Some(tunnel.a) {
            true => Direction::BToA,
            false => Direction::AToB,
        };
        let ledger = analysis.ledger_of(tunnel.id, towards);
        ledger.is_some_and(|ledger| ledger.basis == LedgerBasis::Acknowledgements)
    };
    of_tunnel
        .filter(|told| !is_acknowledged(told))
        .max_by_key(|told| lasted(told.1))
}

/// An end that sends from another address than the one that its peer went on sending to; `None` where acknowledgements show that it is heard.
pub fn told_elsewhere(analysis: &Analysis) -> Option<(&Tunnel, &Event)> {
    let is_acknowledged = |tunnel: &Tunnel| {
        let mut own = analysis.ledgers_of(tunnel.id);
        own.any(|ledger| ledger.basis == LedgerBasis::Acknowledgements)
    };
    let harmed = analysis.impact.iter().any(|impact| impact.verdict.is_harm());
    let mut events = analysis.events.iter().filter(|event| {
        !harmed
            && event.kind == EventKind::AnsweredElsewhere
            && event.count.is_some_and(|sent| sent >= LEAST_NOT_BY_CHANCE)
    });
    events.find_map(|event| {
        let tunnel = analysis.tunnels.get(event.tunnel?)?;
        (!is_acknowledged(tunnel)).then_some((tunnel, event))
    })
}

/// Tells whether a ledger goes by packets that no key opens.
fn is_sealed(ledger: &Ledger) -> bool {
    matches!(ledger.basis, LedgerBasis::Packets | LedgerBasis::Answers)
}

/// A side of which alone packets were captured: it repeated a check, and then began a new IKE SA.
#[derive(Debug, Clone, Copy)]
pub struct ToldDialledAgain<'a> {
    /// The check.
    pub check: &'a Exchange,
    /// The first message of the new IKE SA.
    pub anew: Timestamp,
}

/// The check that a side repeated in vain before it began a new IKE SA on which its ESP goes on, where the capture has nothing of its peer: who hears
/// an answer repeats nothing.
pub fn told_dialled_again<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<ToldDialledAgain<'a>> {
    let tunnel = Some(headline.tunnel).filter(|_| !headline.verdict.is_harm())?;
    let used = || used(analysis, tunnel);
    let src = used().next()?.src;
    let own = || analysis.exchanges_of(tunnel);
    let one_sided = |exchange: &Exchange| {
        exchange.initiator == Some(src) && exchange.messages == exchange.retransmissions + 1
    };
    if used().any(|sa| sa.src != src) || !own().all(one_sided) {
        return None;
    }
    let anew = |check: &Exchange| {
        let mut begins = own().filter(|exchange| exchange.kind == ExchangeKind::IkeSaInit);
        let waited = check.last_time.nanos_since(check.first_time);
        let anew = begins.find(|exchange| exchange.first_time > check.last_time)?;
        let at_last = anew.first_time.nanos_since(check.last_time) <= 2 * waited;
        let goes_on = used().any(|sa| sa.first_time > Some(anew.first_time));
        (at_last && goes_on).then_some(anew.first_time)
    };
    let mut checks = own().filter(|exchange| {
        exchange.kind == ExchangeKind::Informational && exchange.messages >= LEAST_NOT_BY_CHANCE
    });
    checks.find_map(|check| {
        Some(ToldDialledAgain {
            check,
            anew: anew(check)?,
        })
    })
}

/// The SAs of a tunnel that carried packets.
fn used(analysis: &Analysis, tunnel: usize) -> impl Iterator<Item = &SecurityAssociation> {
    analysis.sas_of(tunnel).filter(|sa| sa.packets > 0)
}

/// ESP of one side of a tunnel that has no answer.
#[derive(Debug, Clone, Copy)]
pub struct ToldNoReturn {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// Sender of the ESP packets.
    pub from: IpAddr,
    /// The side that sent none.
    pub to: IpAddr,
    /// Number of the packets.
    pub packets: u64,
    /// Some of them ask for an answer: TCP, or an echo. Datagrams may go one way by intent.
    pub asks: bool,
    /// Their ICVs are cut to 96 bits, as a draft said of HMAC-SHA2-256, and not to the 128 of RFC 4868: a receiver that goes by it takes none.
    pub cut_icv: bool,
    /// IKE goes both ways through the UDP ports that ESP has, so the way is open.
    pub same_ports: bool,
    /// The tunnel that the other direction goes through.
    pub through: Option<ToldThrough>,
}

/// A tunnel that carries the other direction of another one.
#[derive(Debug, Clone, Copy)]
pub struct ToldThrough {
    /// The end that both tunnels do not have in common.
    pub peer: IpAddr,
    /// Number of its packets.
    pub packets: u64,
    /// Keys show that the same hosts are inside; else the time alone shows it.
    pub proven: bool,
}

impl ToldNoReturn {
    /// Tells whether the answer speaks of it, and not of a harm that is seen.
    pub fn is_told_of(&self, headline: &Impact) -> bool {
        let told = self.asks || self.through.is_some() || headline.verdict == Verdict::NoTraffic;
        told && !headline.verdict.is_harm()
    }
}

/// The ESP of a tunnel in which one direction alone carried any, though IKE came both ways.
pub fn told_no_return(analysis: &Analysis, tunnel: usize) -> Option<ToldNoReturn> {
    let used = || used(analysis, tunnel);
    let first = used().next()?;
    // One side alone sends two messages of a Quick Mode and three of a Main Mode; of IKEv2 a second one is the answer.
    let has_answer = |exchange: &Exchange| exchange.messages >= exchange.retransmissions.saturating_add(2);
    let mut attempts = analysis.attempts_of(tunnel);
    let both_ways = analysis.is_ikev2(tunnel) && analysis.exchanges_of(tunnel).any(has_answer)
        || attempts.any(|attempt| attempt.answered_after_s.is_some());
    let only = used().all(|sa| sa.src == first.src);
    (only && both_ways).then(|| ToldNoReturn {
        tunnel,
        from: first.src,
        to: first.dst,
        packets: used().map(|sa| sa.packets).sum(),
        asks: analysis
            .flows_of(tunnel)
            .any(|flow| ["tcp", "1", "58"].contains(&flow.protocol.as_str())),
        cut_icv: used().all(|sa| sa.integrity.as_deref() == Some(Integrity::HmacSha256_96.row().name)),
        same_ports: used().all(|sa| sa.encapsulation == Encapsulation::Udp),
        through: told_through(analysis, tunnel),
    })
}

/// ESP of one way alone in a tunnel.
struct LoneDirection<'a> {
    first: &'a SecurityAssociation,
    until: Timestamp,
    packets: u64,
    is_one_way: bool,
}

/// The only other tunnel of one end that carries ESP of the other direction alone, at the same time: both together make one way to and fro. Where keys
/// open both, the same hosts have to be inside.
fn told_through(analysis: &Analysis, tunnel: usize) -> Option<ToldThrough> {
    let mut all: BTreeMap<usize, LoneDirection<'_>> = BTreeMap::new();
    for sa in &analysis.security_associations {
        let Some(until) = sa.last_time.filter(|_| sa.packets > 0) else {
            continue;
        };
        let way = all.entry(sa.tunnel).or_insert(LoneDirection {
            first: sa,
            until,
            packets: 0,
            is_one_way: true,
        });
        way.is_one_way &= way.first.src == sa.src;
        way.until = way.until.max(until);
        way.packets += sa.packets;
    }
    let own = all.get(&tunnel)?;
    let is_back = |(other, way): &(&usize, &LoneDirection<'_>)| {
        way.is_one_way
            && **other != tunnel
            && (way.first.src == own.first.dst || way.first.dst == own.first.src)
            && way.first.first_time <= Some(own.until)
            && own.first.first_time <= Some(way.until)
            && way.packets >= LEAST_NOT_BY_CHANCE
    };
    let mut back = all.iter().filter(is_back);
    let (other, way) = back.next().filter(|_| back.next().is_none())?;
    let hosts = |tunnel: usize| analysis.flows_of(tunnel).map(|flow| (flow.src, flow.dst));
    let proven = hosts(tunnel).any(|(src, dst)| hosts(*other).any(|ends| ends == (dst, src)));
    let is_sealed = hosts(tunnel).next().is_none() || hosts(*other).next().is_none();
    (proven || is_sealed).then_some(ToldThrough {
        peer: match way.first.src == own.first.dst {
            true => way.first.dst,
            false => way.first.src,
        },
        packets: way.packets,
        proven,
    })
}
