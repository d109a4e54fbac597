//! Outages and what explains them in words: the clause of line 1, why, and who can cure it.

use crate::words::advice::refusals::of_notification;
use crate::words::common::stated_lifetime;
use crate::words::ends::{esp, side};
use crate::words::events::probably;
use crate::words::focus::Focus;
use crate::words::lengths::{moment, range};
use crate::words::{clean, format};
use rekeyscope_impact::explain::{
    AsksBehindDelete, ExplainedTime, Moment, WindowsPart, asks_behind_delete, brought_back, evidence_of,
    finding_of, is_crossed, is_of_echoes, row_of, slow_answers, stopped_before, variant,
};
use rekeyscope_model::algorithm::proposal;
use rekeyscope_model::analysis::{
    Analysis, Certainty, Event, EventKind, Exchange, Explanation, ExplanationCause, FindingKind, Mode, Tunnel,
};
use rekeyscope_model::text::{Catalogue, Message};
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// A time without delivery and its explanation in words.
pub(crate) struct Explained<'a> {
    focus: &'a Focus<'a>,
    time: ExplainedTime<'a>,
}

impl<'a> Explained<'a> {
    pub(crate) fn new(focus: &'a Focus<'a>, time: ExplainedTime<'a>) -> Self {
        Explained { focus, time }
    }

    pub(crate) fn explanation(&self) -> &'a Explanation {
        self.time.explanation
    }

    /// Takes the explanations of others along that a sentence speaks of.
    pub(crate) fn of_all(&self, alike: impl Iterator<Item = &'a Explanation>) -> Self {
        Explained::new(self.focus, self.time.clone().of_all(alike))
    }

    fn t(&self) -> &'static Catalogue {
        self.focus.t
    }

    fn analysis(&self) -> &'a Analysis {
        self.focus.analysis
    }

    pub(crate) fn event(&self) -> Option<&'a Event> {
        self.analysis().event_of(self.time.explanation)
    }

    fn exchange(&self) -> Option<&'a Exchange> {
        self.analysis().exchange_of(self.time.explanation)
    }

    /// The event of a kind among those beside the explanation's own.
    fn beside(&self, kind: EventKind) -> Option<&'a Event> {
        evidence_of(self.analysis(), self.time.explanation, kind)
    }

    fn notification(&self) -> Option<&'a str> {
        let own = self.event().and_then(|event| event.notify.as_ref());
        let asked = || self.beside(EventKind::EchoUnanswered)?.notify.as_ref();
        own.or_else(asked).map(String::as_str)
    }

    /// The event, without its length: `The gateway deleted the IKE SA at 10.96 s`.
    pub(crate) fn clause(&self, times: usize) -> String {
        match times {
            0 | 1 => {
                let began = self.began();
                let at = match self.time.begins_before_capture(self.focus.analysis) {
                    true if began == self.time.start => self.t().word("outage-before"),
                    _ => fill!(self.t(), "outage-at", moment = moment(self.focus, began)),
                };
                self.clause_with(at, "once")
            }
            n => self.clause_with(fill!(self.t(), "outage-times", n), "again"),
        }
    }

    /// The event without its moment: `The gateway refused the renewal`.
    pub(crate) fn clause_alone(&self) -> String {
        self.clause_with(String::new(), "once")
    }

    fn clause_with(&self, at: String, often: &str) -> String {
        let message = self.about(self.message("outage"));
        let said = self.t().say(&message.with("at", at).with("often", often));
        // A sentence has two blanks where its moment is left out.
        let words: Vec<&str> = said.split_whitespace().collect();
        format::capitalised(&words.join(" "))
    }

    /// The event for a list that says the length anyway; nothing where nothing explains it.
    pub(crate) fn item(&self) -> Option<String> {
        (!self.is(ExplanationCause::Unexplained)).then(|| self.clause(1))
    }

    /// The evidence in plain words.
    pub(crate) fn why(&self) -> String {
        let mut sentences = vec![self.t().say(&self.about(self.message("explains")))];
        sentences.extend(self.alike());
        sentences.extend(self.renewal());
        sentences.extend(self.connections());
        self.t().sentences(&sentences)
    }

    /// The cure, and who can apply it.
    pub(crate) fn cure(&self) -> String {
        let refusal = self.notification().filter(|_| self.is(ExplanationCause::Refused));
        if let Some(advice) = refusal.and_then(|name| of_notification(self.t(), name)) {
            return advice.instruction(self.t());
        }
        self.of_windows()
            .unwrap_or_else(|| self.t().say(&self.about(self.message("cure"))))
    }

    fn is(&self, cause: ExplanationCause) -> bool {
        self.time.explanation.cause == cause
    }

    /// The message of a kind: that of the row's variant where the catalogue has one, else that of its cause.
    fn message(&self, kind: &str) -> Message {
        let variant = variant(self.analysis(), &self.time);
        let own = variant.map(|variant| Message::of(kind, variant));
        own.filter(|message| self.t().has(message))
            .unwrap_or_else(|| Message::of(kind, self.time.explanation.cause.as_str()))
    }

    /// A message with everything that the messages here ask for.
    fn about(&self, message: Message) -> Message {
        let (t, e, event) = (self.t(), self.time.explanation, self.event());
        let said = |text: Option<String>| text.unwrap_or_else(|| format::UNKNOWN.to_owned());
        let name = |text: Option<&String>| said(text.map(|text| clean::line(text)));
        let instead = self.beside(EventKind::OtherTunnel);
        let count = match e.cause {
            ExplanationCause::Unexplained if e.count.is_none() => self.time.swallowed,
            _ => e.count.unwrap_or(0),
        };
        let by = match (e.limit_packets, e.limit_kilobytes, e.limit_seconds) {
            (Some(_), ..) => "packets",
            (None, Some(_), Some(_)) => "either",
            (None, Some(_), None) => "volume",
            (None, None, _) => "time",
        };
        let start = moment(self.focus, self.time.start);
        let (from, to) = match (event.filter(|event| event.from.is_some()), e.cause) {
            (Some(event), _) => (name(event.from.as_ref()), name(event.to.as_ref())),
            (None, ExplanationCause::ByTurns) => (start, said(self.other_client())),
            (None, ExplanationCause::OneSided) => (start, self.other()),
            (None, _) => (start, moment(self.focus, self.time.end)),
        };
        self.kept_waiting(message)
            .with("who", self.who())
            .with(
                "router",
                said(event.and_then(|event| Some(event.by?.to_string()))),
            )
            .with("other", self.other())
            .with("known", self.known())
            .with("what", self.what())
            .with("renews", self.who_renews())
            .with("by", by)
            .with("esp", self.esp())
            .with("probably", probably(t, e.certainty))
            .with("notify", said(self.notification().map(clean::line)))
            .with("count", count)
            .with("bytes", format::count(count))
            .with("lost", format::count(e.lost_bytes.unwrap_or(0)))
            .with("rested", said(e.rested_seconds.map(format::seconds)))
            .with(
                "before",
                said(event.map(|event| format::seconds(event.time.seconds_since(self.time.start)))),
            )
            .with(
                "lasted",
                said(event.and_then(|event| Some(format::seconds(event.until?.seconds_since(event.time))))),
            )
            .with("mtu", count.to_string())
            .with(
                "took",
                said(self.time.spread(|e| e.seconds).map(|took| range(t, took))),
            )
            .with("suite", self.overhead())
            .with("span", self.span())
            .with("timed", format::yes(e.seconds.is_some()))
            .with("limit", said(self.limit()))
            .with("stated", format::yes(self.limit_source().is_some()))
            .with("source", name(self.limit_source()))
            .with("moment", moment(self.focus, self.began()))
            .with(
                "renewal",
                said(self.exchange().map(|made| moment(self.focus, made.first_time))),
            )
            .with("from", from)
            .with("to", to)
            .with("instead", name(instead.and_then(|gone| gone.to.as_ref())))
            .with("went", instead.map_or("", |gone| gone.known.as_str()))
    }

    /// The client that made the other SA; behind one NAT address its tunnel tells it apart.
    fn other_client(&self) -> Option<String> {
        let made = self.exchange()?;
        let client = made.initiator?;
        Some(match self.tunnel().is_some_and(|own| own.a == client) {
            true => fill!(self.t(), "client-of-tunnel", client, tunnel = made.tunnel),
            false => client.to_string(),
        })
    }

    /// The certainty, or that echo requests alone, in fragments or not, show it.
    pub(crate) fn known(&self) -> &'static str {
        match self.time.explanation.certainty {
            Certainty::Read if is_of_echoes(self.time.explanation) => "cut",
            _ if is_of_echoes(self.time.explanation) => "echo",
            known => known.as_str(),
        }
    }

    /// Adds when the keepalives were sent that nobody answered; or who asked for a new tunnel in vain, how often, and when it was answered.
    fn kept_waiting(&self, message: Message) -> Message {
        let echoes = self.beside(EventKind::EchoUnanswered);
        if let Some((asked, last)) = echoes.and_then(|e| Some((e, e.until?))) {
            let [first, last] = [asked.time, last].map(|time| moment(self.focus, time));
            let asked = format::count(asked.count.unwrap_or(0));
            return message
                .with("first", first)
                .with("last", last)
                .with("asked", asked);
        }
        let requests = self.beside(EventKind::Unanswered);
        let Some((asked, anew)) = requests.zip(self.beside(EventKind::NewIkeSa)) else {
            return message;
        };
        let tunnel = asked
            .tunnel
            .and_then(|tunnel| self.analysis().tunnels.get(tunnel));
        let address = tunnel.and_then(|tunnel| tunnel.opposite(asked.by));
        let time = |event: &Event| moment(self.focus, event.time);
        let address = address.map_or_else(String::new, |address| address.to_string());
        let given_up = self.beside(EventKind::IkeSaDeleted);
        message
            .with("address", address)
            .with("asked", format::count(asked.count.unwrap_or(0)))
            .with("first", time(asked))
            .with("answered", time(anew))
            .with("known_end", format::yes(given_up.is_some()))
            .with("given_up", given_up.map_or_else(String::new, time))
    }

    /// The time that the cause lasted, where it is another than that of the silence.
    fn span(&self) -> &'static str {
        let silent = self.time.end.seconds_since(self.time.start);
        match self.time.explanation.seconds.map(format::seconds) {
            Some(took) if took != format::seconds(silent) => "part",
            _ => "all",
        }
    }

    /// Whom it is about; where that is nobody, the end at which a capture would tell.
    fn who(&self) -> String {
        let tunnel = self.tunnel();
        let receiver = || Some(self.time.direction.pick(tunnel?.b, tunnel?.a));
        let of_nobody = self.is(ExplanationCause::Unexplained) || self.is(ExplanationCause::PathSilent);
        let address: Option<IpAddr> = match self.time.explanation.by {
            None if of_nobody => receiver(),
            by => by,
        };
        side(self.t(), tunnel, address)
    }

    fn tunnel(&self) -> Option<&'a Tunnel> {
        self.analysis().tunnels.get(self.time.tunnel)
    }

    /// The end that it is not about.
    fn other(&self) -> String {
        let tunnel = self.tunnel();
        let peer = tunnel.and_then(|tunnel| tunnel.opposite(self.time.explanation.by));
        side(self.t(), tunnel, peer)
    }

    /// The thing that was deleted, or that changed.
    fn what(&self) -> &'static str {
        let event = self.event();
        match event.map(|event| event.kind) {
            Some(EventKind::IkeSaDeleted) => "ike",
            Some(EventKind::ChildDeleted) => "child",
            Some(EventKind::PortChanged) => "port",
            Some(EventKind::AddressChanged) => "address",
            Some(EventKind::OneSided) if event.is_some_and(|event| event.exchange.is_some()) => "sealed",
            _ => "unknown",
        }
    }

    /// The side that asked for the next SA.
    fn who_renews(&self) -> &'static str {
        match asks_behind_delete(self.analysis(), self.time.explanation) {
            AsksBehindDelete::Deleter => "same",
            AsksBehindDelete::Peer => "other",
            AsksBehindDelete::DeleterLater => "later",
        }
    }

    fn esp(&self) -> &'static str {
        self.tunnel().map_or("plain", esp)
    }

    /// The begin: with the event where that came first, else with the last delivery.
    fn began(&self) -> Timestamp {
        let event = match row_of(self.time.explanation.cause).moment {
            Moment::Event | Moment::Request => {
                let ended = self.beside(EventKind::PppoeEnded);
                ended.or(self.event()).map(|event| event.time)
            }
            Moment::Exchange => self.exchange().map(|exchange| exchange.first_time),
            Moment::Outage => None,
        };
        event.unwrap_or(self.time.start)
    }

    /// Options of `rekeyscope overhead` for the SAs of the direction: ` --suite aes128-sha1 --encap natt`.
    fn overhead(&self) -> String {
        let analysis = self.analysis();
        let mut sas = analysis.sas_towards(self.time.tunnel, self.time.direction);
        let named = sas.find_map(|sa| {
            let integrity = sa.integrity.as_deref().unwrap_or("none");
            let suite = proposal(sa.encryption.as_deref()?, integrity)?;
            let mut flows = analysis.flows_of(sa.tunnel);
            let inside = match flows.any(|flow| ![sa.src, sa.dst].contains(&flow.dst)) {
                true => "l2tp",
                false => "transport",
            };
            let transport = (sa.mode == Some(Mode::Transport)).then_some(inside);
            let natt = (self.esp() == "udp").then_some("natt");
            let encap: Vec<&str> = transport.into_iter().chain(natt).collect();
            Some((suite, encap.join(",")))
        });
        match named {
            None => " --suite SUITE".to_owned(),
            Some((suite, encap)) if encap.is_empty() => format!(" --suite {suite}"),
            Some((suite, encap)) => format!(" --suite {suite} --encap {encap}"),
        }
    }

    fn limit(&self) -> Option<String> {
        let t = self.t();
        let has_its_own = self.time.explanation.has_limit();
        let spread = |of: fn(&Explanation) -> Option<u64>| {
            // Others that ended alike in another measure do not tell the limit of this one.
            let is_its = !has_its_own || of(self.time.explanation).is_some();
            let (least, most) = self.time.spread(|e| Some(of(e)? as f64)).filter(|_| is_its)?;
            let [least, most] = [least, most].map(|n| format::count(n as u64));
            Some(match least == most {
                true => least,
                false => format!("{least}–{most}"),
            })
        };
        if let Some(n) = spread(|e| e.limit_packets) {
            return Some(fill!(t, "outage-packets", n));
        }
        let kilobytes = spread(|e| e.limit_kilobytes).map(|n| format!("{n} kB"));
        let seconds = spread(|e| e.limit_seconds).map(|n| format!("{n} s"));
        match (kilobytes, seconds) {
            (Some(kilobytes), Some(seconds)) => {
                Some(fill!(t, "outage-kilobytes-and-seconds", kilobytes, seconds))
            }
            (kilobytes, seconds) => kilobytes.or(seconds),
        }
    }

    /// Place of a text that states the limit, because IKE does not tell it.
    fn limit_source(&self) -> Option<&String> {
        let e = self.time.explanation;
        let stated = stated_lifetime(self.analysis(), self.time.tunnel)?;
        let is_its = |limit: Option<u64>, stated| limit.is_none() || limit == stated;
        let are_its = is_its(e.limit_kilobytes, stated.lifetime.kilobytes)
            && is_its(e.limit_seconds, stated.lifetime.seconds);
        are_its.then_some(&stated.source)
    }

    /// Deletes that come at the same limit each time.
    fn alike(&self) -> Option<String> {
        let limit = self
            .limit()
            .filter(|_| self.is(ExplanationCause::BreakBeforeMake) || self.is(ExplanationCause::Deleted))?;
        let count = self.time.explanation.count?;
        Some(fill!(self.t(), "outage-alike", limit, count))
    }

    /// The deed of the renewal near it.
    fn renewal(&self) -> Option<String> {
        let t = self.t();
        let at = || Some(moment(self.focus, self.exchange()?.first_time));
        let back = || at().unwrap_or_else(|| moment(self.focus, self.time.end));
        match self.time.explanation.cause {
            ExplanationCause::LimitReached
            | ExplanationCause::NewSaLost
            | ExplanationCause::FirstNumber
            | ExplanationCause::SlowRenewal
            | ExplanationCause::SlowExchange => {
                let seconds = self.time.explanation.seconds?;
                let took = self
                    .time
                    .spread(|e| e.seconds)
                    .filter(|took| !format::is_nothing(took.1))?;
                let taken_back = self.event().filter(|_| self.is(ExplanationCause::NewSaLost));
                let unused = match taken_back {
                    Some(_) => Some(fill!(t, "outage-taken-back", who = self.who())),
                    None => self.time.is_left_unused(took.1).then(|| t.word("outage-unused")),
                };
                let took = range(t, took);
                let own = self.time.explanation.computed_seconds;
                let all = self.time.spread(|e| e.computed_seconds);
                let computed = all.filter(|_| own.is_some_and(|own| 2.0 * own >= seconds));
                let said = match computed.map(|computed| range(t, computed)) {
                    Some(computed) if computed == took => fill!(t, "outage-renewal-all-computed", took),
                    Some(computed) => fill!(t, "outage-renewal-computed", took, computed),
                    None => fill!(t, "outage-renewal-took", took),
                };
                Some(t.sentences(&Vec::from_iter([said].into_iter().chain(unused))))
            }
            ExplanationCause::PeerSilent | ExplanationCause::PathSilent => {
                let said = || fill!(t, "outage-brought-back", moment = back(), esp = self.esp());
                let (e, renewed) = (self.time.explanation, self.time.ended_by_renewal);
                brought_back(self.analysis(), e, renewed).then(said)
            }
            ExplanationCause::Deleted | ExplanationCause::BreakBeforeMake => {
                let analysis = self.analysis();
                if let Some(took) = stopped_before(analysis, self.time.explanation, self.time.start) {
                    return Some(fill!(t, "outage-stopped-before", took = format::seconds(took)));
                }
                if let Some((who, took, eap)) = slow_answers(analysis, self.time.explanation) {
                    let who = side(t, self.tunnel(), Some(who));
                    let (took, eap) = (format::seconds(took), format::yes(eap));
                    return Some(fill!(t, "outage-slow-answers", who, took, eap));
                }
                let crossed = is_crossed(analysis, self.time.explanation, self.time.end);
                crossed.then(|| t.word("outage-crossed"))
            }
            ExplanationCause::ReplayWindow => {
                let side = (self.time.tunnel, self.time.direction);
                let all = finding_of(self.analysis(), FindingKind::BehindWindow, side)?;
                let args = all.messages.first()?.args.clone();
                Some(t.say(&Message {
                    args,
                    ..Message::new("outage-late-in-all")
                }))
            }
            ExplanationCause::LargePackets
            | ExplanationCause::FirstFragments
            | ExplanationCause::LeftOut
            | ExplanationCause::SilentOnNewSa => {
                let moment = at()?;
                Some(fill!(t, "outage-since-renewal", moment))
            }
            _ => None,
        }
    }

    /// Several connections stood still.
    fn connections(&self) -> Option<String> {
        let n = self.time.explanation.connections?;
        let never = format::yes(self.is(ExplanationCause::LargeNeverPassed));
        Some(fill!(self.t(), "outage-connections", n, never))
    }

    /// Windows' built-in client cannot be changed: what can be won lies in the exchange, or at the other side.
    fn of_windows(&self) -> Option<String> {
        let (t, analysis, tunnel) = (self.t(), self.analysis(), self.tunnel());
        let gateway = side(t, tunnel, tunnel.map(|t| t.b));
        let part = match self.time.windows_part(analysis)? {
            WindowsPart::Ready => fill!(t, "cure-windows-ready", gateway),
            WindowsPart::Exchange(least, most) => {
                let took = range(t, (least, most));
                fill!(t, "cure-windows-exchange", gateway, took)
            }
        };
        let most = analysis.impact.first().and_then(|impact| {
            let (rate, now) = (self.focus.without_bps(impact)?, impact.observed_bps?);
            let [rate, now] = [rate, now].map(format::rate);
            Some(fill!(t, "cure-windows-most", rate, now))
        });
        Some(fill!(t, "cure-windows", part, most = most.unwrap_or_default()))
    }
}
