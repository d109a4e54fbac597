//! Words of rows that have several, by what else the packets show.

use crate::explain::explained::ExplainedTime;
use crate::explain::path::{CHANGE_TAKES_EFFECT, is_below_any_mtu};
use crate::explain::remarks::{is_left_behind, refuses_child};
use crate::explain::view::DELETE_OF_A_REKEY;
use rekeyscope_model::analysis::{
    Analysis, Certainty, Event, EventKind, Exchange, ExchangeKind, Explanation, ExplanationCause as Cause,
    Mode, OutageEnd, Tunnel,
};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;

/// The name that stands for that of the cause in the messages `outage-…`, `explains-…` and `cure-…`, where the row has words of its own for what is
/// known; a kind of message without such words keeps those of the cause.
pub fn variant(analysis: &Analysis, time: &ExplainedTime<'_>) -> Option<&'static str> {
    let (tunnel, explanation) = (time.tunnel, time.explanation);
    let event = analysis.event_of(explanation);
    let exchange = analysis.exchange_of(explanation);
    let is = |kind| event.is_some_and(|event| event.kind == kind);
    let ends = analysis.tunnels.get(tunnel);
    let shows = |kind| evidence_of(analysis, explanation, kind).is_some();
    match explanation.cause {
        // The side that splits its messages is named where the capture stands behind the loss.
        Cause::IkeFragments if event.is_some_and(|e| e.exchange.is_some()) => Some("fragments-lost-behind"),
        Cause::Refused if event.is_some_and(|e| refuses_child(analysis, e)) => Some("refused-child"),
        Cause::Refused if event.is_none_or(|e| e.notify.is_none()) => Some("refused-encrypted"),
        Cause::ByTurns if is(EventKind::NetworksByTurns) => Some("networks-by-turns"),
        Cause::ByTurns if has_mode(analysis, tunnel, Mode::Transport) && has_address_of(exchange, ends) => {
            Some("by-turns-transport")
        }
        Cause::OneSided if is_in_sa_of_others(explanation) => Some("sa-of-others"),
        Cause::OneSided if event.is_none() && explanation.seconds.is_some() => Some("one-sided-newer"),
        Cause::OneSided if event.is_none() && exchange.is_some_and(|made| ended_with(made, time)) => {
            Some("one-sided-renewed")
        }
        Cause::OneSided if event.is_none() && exchange.is_some() => Some("one-sided-asked"),
        Cause::OneSided if event.is_none() => Some("one-sided-alone"),
        Cause::OneSided if explanation.certainty == Certainty::Inferred => Some("one-sided-left"),
        Cause::OtherTunnel if !ends.is_some_and(|t| [Some(t.a), Some(t.b)].contains(&explanation.by)) => {
            Some("other-path")
        }
        Cause::OtherTunnel
            if explanation.certainty == Certainty::Proven && has_mode(analysis, tunnel, Mode::Tunnel) =>
        {
            Some("same-address")
        }
        Cause::Collision if explanation.by.is_some() => Some("collision-silent"),
        Cause::LimitReached if !explanation.has_limit() => Some("limit-late"),
        Cause::LimitReached if explanation.certainty == Certainty::Read => Some("limit-read"),
        Cause::L2tpClosed if explanation.seconds.is_some() => Some("l2tp-silent"),
        Cause::L2tpClosed if was_silent_meanwhile(analysis, explanation) => Some("l2tp-broken-line"),
        Cause::L2tpClosed if shows(EventKind::EchoUnanswered) => Some("l2tp-unanswered"),
        Cause::NewSaLost => exchange.and_then(|made| of_new_sa(analysis, made, explanation)),
        Cause::DeletedEarly if exchange.is_some() => Some("dropped-early"),
        Cause::AnswerLost if event.is_some_and(|lost| is_third_message(analysis, lost)) => {
            Some(match event.and_then(|lost| lost.count) {
                Some(1) => "third-message-once",
                _ => "third-message-lost",
            })
        }
        Cause::AnsweredLate if event.is_some_and(|asked| loses_data_too(analysis, asked)) => {
            Some("answered-late-lossy")
        }
        Cause::Unanswered if explanation.seconds.is_some() => Some("unanswered-given-up"),
        Cause::GivenUp if exchange.is_none() => Some("given-up-away"),
        Cause::GivenUpTooSoon if asked_for_login(analysis, explanation) => Some("given-up-login"),
        Cause::GivenUpTooSoon if !is(EventKind::ChecksAnsweredLate) => Some("given-up-alive"),
        Cause::AnsweredElsewhere if event.is_some_and(|e| e.ports().is_some()) => Some("answered-at-port"),
        Cause::AddressChanged if explanation.seconds.is_some() => Some("moved"),
        Cause::Deleted | Cause::BreakBeforeMake if shows(EventKind::EchoUnanswered) => Some("monitored"),
        Cause::Deleted | Cause::BreakBeforeMake if shows(EventKind::IkeSaRekeyed) => Some("new-ike-deleted"),
        Cause::AddressChanged if shows(EventKind::PppoeEnded) => Some("session-ended"),
        Cause::AddressChanged if shows(EventKind::Unanswered) => Some("came-back"),
        Cause::AddressChanged if event.is_some_and(|e| answers_from_elsewhere(analysis, tunnel, e)) => {
            Some("source-changed")
        }
        Cause::AddressChanged if event.is_some_and(is_left_behind) => Some("left-behind"),
        // The peer sent hardly anything to the old place, and nothing had passed for long before.
        Cause::AddressChanged
            if event.is_some_and(|e| e.time.nanos_since(time.start) > CHANGE_TAKES_EFFECT) =>
        {
            Some("back-elsewhere")
        }
        Cause::Deleted if shows(EventKind::OtherTunnel) => Some("deleted-replaced"),
        Cause::Deleted if exchange.is_some() => Some("deleted-elsewhere"),
        Cause::BreakBeforeMake if asks_behind_delete(analysis, explanation) != AsksBehindDelete::Deleter => {
            match explanation.has_limit() {
                false => Some("deleted-and-made-anew"),
                true => (!is(EventKind::ChildDeleted)).then_some("deleted-at-limit"),
            }
        }
        Cause::TooBig if is(EventKind::TooBigInside) => Some("too-big-inside"),
        Cause::LargePackets | Cause::LargeNeverPassed if explanation.certainty == Certainty::Read => {
            Some("compressed")
        }
        Cause::LargePackets if explanation.by.is_some() => Some("large-or-all"),
        Cause::LargePackets | Cause::LargeNeverPassed
            if explanation.lost_bytes.is_some_and(is_below_any_mtu) =>
        {
            Some("no-mtu")
        }
        Cause::LargePackets if explanation.lost_bytes.is_some() => Some("cut"),
        Cause::LargeNeverPassed if explanation.lost_bytes.is_some() => Some("never-cut"),
        Cause::LargePackets if explanation.count.is_none() => Some("large-packets-only"),
        Cause::Unexplained if explanation.by.is_some() => Some("lost-before"),
        Cause::EspSilent if is_of_one_sa(analysis, explanation) => Some("one-sa-silent"),
        Cause::EspSilent if explanation.rested_seconds.is_some() => Some("esp-silent-rested"),
        Cause::EspSilent if exchange.is_some() => Some("esp-silent-renewed"),
        Cause::EspSilent if shows(EventKind::FirstNumber) => Some("esp-silent-lost"),
        Cause::PeerSilent if shows(EventKind::Unanswered) && shows(EventKind::NewIkeSa) => {
            Some("silent-came-back")
        }
        Cause::PeerSilent if explanation.rested_seconds.is_some() => Some("silent-rested"),
        Cause::PeerSilent if is_at_rest(explanation) => Some("silent-at-rest"),
        Cause::PeerSilent | Cause::PathSilent
            if brought_back(analysis, explanation, time.ended_by_renewal) =>
        {
            Some(match is_without_ike(analysis) {
                true => "silent-without-ike",
                false => "silent-renewed",
            })
        }
        _ => None,
    }
}

/// The event of a kind among those that stand beside the explanation's own.
pub fn evidence_of<'a>(
    analysis: &'a Analysis,
    explanation: &Explanation,
    kind: EventKind,
) -> Option<&'a Event> {
    let indexes = explanation.evidence.iter();
    let mut beside = indexes.filter_map(|index| analysis.events.get(*index));
    beside.find(|event| event.kind == kind)
}

/// Tells whether the responder of an IKEv2 tunnel took another source address by itself: no NAT gave it another port, and what its peer asked at the old
/// address was answered, unheard. Only the initiator may move (RFC 4555 §3.5), and its NAT lets nothing through that comes from an address to which it
/// sent nothing.
fn answers_from_elsewhere(analysis: &Analysis, tunnel: usize, change: &Event) -> bool {
    let ends = analysis.tunnels.get(tunnel);
    let is_responder = ends.is_some_and(|own| own.roles_known && change.by == Some(own.b));
    let mut own = analysis.events_of(tunnel);
    analysis.is_ikev2(tunnel)
        && is_responder
        && change.kind == EventKind::AddressChanged
        && own.any(|event| {
            event.kind == EventKind::ChecksUnheard
                && event.by == change.by
                && event.time >= change.time
                && Some(event.time) <= change.until
        })
}

/// Tells whether SAs of a tunnel are of a mode. In tunnel mode they are chosen by the addresses inside (RFC 4301 §4.4.1): two whose data is mixed up
/// have the same. In transport mode clients behind one NAT address look alike.
fn has_mode(analysis: &Analysis, tunnel: usize, mode: Mode) -> bool {
    analysis.sas_of(tunnel).any(|sa| sa.mode == Some(mode))
}

/// Tells whether the client that made another SA has the address of this tunnel's client, as behind one NAT.
fn has_address_of(made: Option<&Exchange>, ends: Option<&Tunnel>) -> bool {
    let client = made.and_then(|made| made.initiator);
    client.is_some() && client == ends.map(|own| own.a)
}

/// The side that asks for an SA behind a Delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsksBehindDelete {
    /// The side that deleted: it renews by deleting first.
    Deleter,
    /// The peer of that side asked, and had not renewed before.
    Peer,
    /// The side that deleted, but so late that it renewed nothing.
    DeleterLater,
}

/// The side that asked for the next SA behind the Delete of an explanation.
pub fn asks_behind_delete(analysis: &Analysis, explanation: &Explanation) -> AsksBehindDelete {
    let exchange = analysis.exchange_of(explanation);
    let event = analysis.event_of(explanation);
    let asked = exchange.and_then(|exchange| exchange.initiator);
    let later = exchange
        .zip(event)
        .is_some_and(|(made, event)| made.first_time.nanos_since(event.time) > DELETE_OF_A_REKEY);
    match asked.zip(explanation.by) {
        Some((asked, by)) if asked != by => AsksBehindDelete::Peer,
        _ if later => AsksBehindDelete::DeleterLater,
        _ => AsksBehindDelete::Deleter,
    }
}

/// Tells whether packets went in an SA that their receiver has for others.
fn is_in_sa_of_others(explanation: &Explanation) -> bool {
    explanation.event.is_none() && explanation.certainty == Certainty::Proven
}

/// Tells whether the packets of one SA alone did not pass.
pub fn is_of_one_sa(analysis: &Analysis, explanation: &Explanation) -> bool {
    let event = analysis.event_of(explanation);
    match explanation.cause {
        Cause::EspSilent => event.is_some_and(|event| !event.spis.is_empty()),
        cause => cause == Cause::OneSided && !is_in_sa_of_others(explanation),
    }
}

/// Tells whether nothing explains why echo requests got no reply, and what else may have been lost is not known.
pub fn is_of_echoes(explanation: &Explanation) -> bool {
    explanation.cause == Cause::Unexplained && explanation.by.is_none() && explanation.count.is_some()
}

/// Tells whether only checks were sent to a side that fell silent: the transfer was over.
pub fn is_at_rest(explanation: &Explanation) -> bool {
    explanation.cause == Cause::PeerSilent && explanation.count.is_some()
}

/// Tells whether an exchange ended a time that had lasted for longer than a receiver keeps an SA that it deleted.
fn ended_with(exchange: &Exchange, time: &ExplainedTime<'_>) -> bool {
    exchange.first_time.nanos_since(time.start) > DELETE_OF_A_REKEY
}

/// Tells whether the questions without an answer are those of a Transaction exchange: for a user and a password (XAUTH), or for addresses.
fn asked_for_login(analysis: &Analysis, explanation: &Explanation) -> bool {
    let asked = evidence_of(analysis, explanation, EventKind::ChecksUnanswered);
    let mut all = analysis.exchanges.iter();
    asked.is_some_and(|asked| {
        all.any(|own| own.kind == ExchangeKind::Transaction && own.frames.first() == Some(&asked.frame))
    })
}

/// Tells whether a message that was lost is the third one of a Quick Mode: the only one that its initiator sends behind the answer.
fn is_third_message(analysis: &Analysis, lost: &Event) -> bool {
    let exchange = lost.exchange.and_then(|index| analysis.exchanges.get(index));
    exchange.is_some_and(|made| made.kind == ExchangeKind::QuickMode && made.initiator == lost.by)
}

/// Tells whether data on an SA that stands stopped, too, while a request waited for its answer.
fn loses_data_too(analysis: &Analysis, asked: &Event) -> bool {
    analysis.outages.iter().any(|outage| {
        Some(outage.tunnel) == asked.tunnel
            && outage.ended_by == OutageEnd::OldSa
            && outage.swallowed >= LEAST_NOT_BY_CHANCE
            && outage.start >= asked.time
            && outage.end.is_some()
            && outage.end <= asked.until
    })
}

/// Tells whether a renewal ended the silence: its exchange, or another SA where no IKE was captured.
pub fn brought_back(analysis: &Analysis, explanation: &Explanation, ended_by_renewal: bool) -> bool {
    explanation.exchange.is_some() || ended_by_renewal && is_without_ike(analysis)
}

/// Tells whether the keepalives without an answer fell into an outage in which their receiver was silent.
fn was_silent_meanwhile(analysis: &Analysis, explanation: &Explanation) -> bool {
    let asked = evidence_of(analysis, explanation, EventKind::EchoUnanswered);
    asked.is_some_and(|asked| {
        let mut all = analysis
            .outages
            .iter()
            .filter_map(|outage| outage.explanation.as_ref());
        let silent = [Cause::PeerSilent, Cause::PathSilent];
        all.any(|other| silent.contains(&other.cause) && other.event == Some(asked.index))
    })
}

fn is_without_ike(analysis: &Analysis) -> bool {
    analysis.capture.ike_packets == 0
}

/// The words of a new SA on which what was sent is lost.
fn of_new_sa(analysis: &Analysis, made: &Exchange, explanation: &Explanation) -> Option<&'static str> {
    if is_of_second_tunnel(analysis, made) {
        Some("second-tunnel")
    } else if made.initiator.is_some() && made.initiator == explanation.by {
        Some("new-sa-initiator")
    } else {
        analysis.is_ikev2(made.tunnel).then_some("new-sa-responder")
    }
}

/// Tells whether the new SA is of one of two IKE SAs that go on beside each other: each makes SAs when the other has made some, too.
fn is_of_second_tunnel(analysis: &Analysis, own: &Exchange) -> bool {
    let makes = |e: &&Exchange| matches!(e.kind, ExchangeKind::CreateChildSa | ExchangeKind::QuickMode);
    let of_tunnel = || analysis.exchanges_of(own.tunnel).filter(|e| e.ike_sa.is_some());
    let of_own = || of_tunnel().filter(makes).filter(|e| e.ike_sa == own.ike_sa);
    let mut others = of_tunnel().filter(makes).filter(|e| e.ike_sa != own.ike_sa);
    both_began(analysis, own)
        || others.any(|other| {
            of_own().any(|e| e.first_time < other.first_time)
                && of_own().any(|e| e.first_time > other.first_time)
        })
}

/// Tells whether both ends began an IKE SA at once, and the exchange is of one of these.
fn both_began(analysis: &Analysis, own: &Exchange) -> bool {
    let events = || analysis.events_of(own.tunnel);
    let begins = || events().filter(|e| e.kind == EventKind::NewIkeSa);
    let meet = |a: &Event, b: &Event| Some(a.time) <= b.until && Some(b.time) <= a.until && a.by != b.by;
    let of_own = |e: &&Event| (e.by, e.until) == (own.initiator, Some(own.last_time));
    begins().any(|one| of_own(&one) && begins().any(|other| meet(one, other)))
}
