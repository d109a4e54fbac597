//! The thing to do about what rekeys cost, or about what a transfer lost more to.

use crate::answer::cost::{Cost, SharedExplanation};
use crate::answer::reasons::{BrokenPackets, one_way};
use crate::explain::{
    ToldQueue, WindowsClient, cost_row, is_of_windows, row_of, told_first_numbers, told_queue, told_stop,
    told_windows,
};
use crate::verdict::{LEAST_SHARE, PROJECTED_KILOBYTES};
use rekeyscope_model::analysis::{
    AccountLabel, AccountLine, Analysis, Attempt, AttemptOutcome, KeysFit, LedgerBasis, Projection, Rekey,
    TriggerKind, Verdict,
};
use std::net::IpAddr;

/// The thing to do.
#[derive(Debug, Clone)]
pub enum Remedy<'a> {
    /// The whole line, by the name of its message.
    Said(&'static str),
    /// The cure alone, by the name of its message.
    Cured(&'static str),
    /// A standing queue, beside rekeys that need nothing.
    Queue(ToldQueue),
    /// Requests in vain need a cure, also where no transfer suffered from it: the lines before speak of something else.
    InVain(&'a Attempt),
    /// One cure.
    Cure(Cure<'a>),
    /// One cure of something else than rekeys, which it names.
    Other(Cure<'a>),
    /// One cure of something else, beside rekeys that cost so few seconds that they need none.
    NotRekeys(Cure<'a>, f64),
    /// Two cures, the first of what cost more.
    Both([Cure<'a>; 2]),
}

/// A cure, and what is to be expected of it.
#[derive(Debug, Clone)]
pub struct Cure<'a> {
    /// The cure.
    pub of: CureOf<'a>,
    /// Seconds that were lost, and to what.
    pub lost: (AccountLabel, f64),
    /// The rate to expect and the rate now, bit/s, where the difference is a share that sentences name.
    pub gain: Option<(f64, f64)>,
}

/// The thing that a cure is about.
#[derive(Debug, Clone)]
pub enum CureOf<'a> {
    /// The advice of a label of the account.
    Label(AccountLabel),
    /// A queue that drops packets at a known end.
    Queue(ToldQueue),
    /// A replay check that drops packets.
    Late,
    /// Packets that never came whole.
    Broken(BrokenPackets<'a>),
    /// A longer lifetime.
    Lifetime(LongerLifetime),
    /// The cause of what the rekeys cost.
    Explanation(SharedExplanation<'a>),
}

/// A longer lifetime, where a side renews by volume and its limit may be chosen.
#[derive(Debug, Clone, Copy)]
pub struct LongerLifetime {
    /// The limit, kilobytes.
    pub from_kilobytes: u64,
    /// The longer one.
    pub to_kilobytes: u64,
    /// No message shows the limit: it is what SAs had carried.
    pub learnt: bool,
    /// The side that begins all of the renewals: a responder of IKEv1 takes over the lifetime that the initiator proposes.
    pub by: Option<IpAddr>,
    /// The client may be Windows, and renews.
    pub perhaps_windows: bool,
    /// Seconds that were negotiated, which stay.
    pub seconds: Option<u64>,
}

impl<'a> Cost<'a> {
    pub(super) fn remedy(&self) -> Remedy<'a> {
        let (analysis, headline) = (self.analysis, self.headline);
        if let Some(queue) = self.queue_leads() {
            return Remedy::Queue(queue);
        }
        match headline.verdict {
            Verdict::Failed | Verdict::Shown | Verdict::Some => self.of_harm(),
            Verdict::Bounded | Verdict::NoRekeys => {
                let in_vain = in_vain(analysis).map(Remedy::InVain);
                in_vain
                    .or_else(|| self.of_account())
                    .unwrap_or_else(|| self.of_no_harm())
            }
            Verdict::Inconclusive => {
                let more = self.more().and_then(|_| self.of_account());
                more.or_else(|| self.of_none_seen())
                    .unwrap_or(Remedy::Said(self.other_capture()))
            }
            Verdict::NoTraffic if one_way(analysis, headline.tunnel).is_some() => {
                Remedy::Said("do-capture-both")
            }
            Verdict::NoTraffic => Remedy::Said("do-capture-load"),
        }
    }

    /// The remedy beside rekeys that do no harm, where no line of the account has a cure.
    fn of_no_harm(&self) -> Remedy<'a> {
        let (analysis, headline) = (self.analysis, self.headline);
        let queue = match self.most {
            Some(line) => self.queue_behind(line),
            None => told_queue(analysis, headline),
        };
        match self.most.map(|line| line.label) {
            Some(AccountLabel::TunnelDown) => Remedy::Said(without_cause(analysis)),
            _ if told_first_numbers(analysis, headline.tunnel).is_some() => {
                Remedy::Cured("cure-first-number")
            }
            _ if self.late().is_some() => Remedy::Cured("cure-late"),
            _ if told_stop(analysis, headline).is_some() => Remedy::Said(see_inside(analysis)),
            most => match queue {
                Some(queue) => Remedy::Queue(queue),
                None if most.is_none() && self.is_at_the_limit() => Remedy::Said("do-nothing-at-the-limit"),
                None => Remedy::Said("do-nothing"),
            },
        }
    }

    /// The cure that rekeys need, else that of what the account names. Where more than to the rekeys was lost to something else, that comes
    /// first.
    fn of_harm(&self) -> Remedy<'a> {
        if let Some(own) = self.more().and_then(|line| self.of_line(line)) {
            return self.before_rekeys(own);
        }
        if self.silence_alone {
            return Remedy::Said(match self.analysis.keys_fit() {
                KeysFit::Some => "do-other-end",
                _ => without_cause(self.analysis),
            });
        }
        let renewals = self.of_renewals().map(Remedy::Cure);
        renewals
            .or_else(|| self.of_account())
            .unwrap_or_else(|| Remedy::Said(without_cause(self.analysis)))
    }

    /// The cure of what lost more than the rekeys, and theirs where they cost a share that sentences name.
    fn before_rekeys(&self, own: Cure<'a>) -> Remedy<'a> {
        let Some(ledger) = self.ledger else {
            return Remedy::Other(own);
        };
        let cost = ledger.cost_seconds;
        // A program that sends what it has later loses no time by a silence, and whoever waits for it does.
        let stood: f64 = ledger.rekeys.iter().map(|own| own.silence_ms / 1e3).sum();
        if cost.max(stood) < LEAST_SHARE * ledger.seconds {
            return Remedy::NotRekeys(own, cost);
        }
        match self.of_renewals().filter(|_| !self.silence_alone) {
            Some(second) => Remedy::Both([own, second]),
            None => Remedy::Other(own),
        }
    }

    /// Fewer renewals where the volume makes them, else what their cause needs.
    fn of_renewals(&self) -> Option<Cure<'a>> {
        let shared = self.shared();
        // A volume does not move a limit in packets.
        let by_volume = shared.as_ref().is_none_or(|shared| {
            let explanation = shared.time.explanation;
            row_of(explanation.cause).at_each_renewal && explanation.limit_packets.is_none()
        });
        if let Some(longer) = by_volume.then(|| self.longer_lifetime()).flatten() {
            return Some(longer);
        }
        let shared = shared?;
        // The most that a faster exchange of Windows can win is no rate to be expected.
        let without = self.ledger.map(|ledger| ledger.without_mbps * 1e6);
        let expected =
            without.filter(|rate| *rate > 0.0 && shared.time.windows_part(self.analysis).is_none());
        Some(self.cure_of_rekeys(CureOf::Explanation(shared), expected))
    }

    fn cure_of_rekeys(&self, of: CureOf<'a>, expected_bps: Option<f64>) -> Cure<'a> {
        let cost = self.ledger.map_or(0.0, |ledger| ledger.cost_seconds);
        self.cure(of, (AccountLabel::Rekey, cost), expected_bps)
    }

    fn cure(&self, of: CureOf<'a>, lost: (AccountLabel, f64), expected_bps: Option<f64>) -> Cure<'a> {
        let gain = expected_bps.zip(self.headline.observed_bps);
        let is_named = |(expected, now): &(f64, f64)| *expected > now * (1.0 + LEAST_SHARE);
        Cure {
            of,
            lost,
            gain: gain.filter(is_named),
        }
    }

    /// A longer lifetime; `None` where Windows proposes it, which nobody can set.
    fn longer_lifetime(&self) -> Option<Cure<'a>> {
        let (analysis, tunnel) = (self.analysis, self.headline.tunnel);
        let by_volume = || {
            let own = analysis.rekeys_of(tunnel);
            own.filter(|r| r.trigger.kind == TriggerKind::Volume)
        };
        let by = renewing_side(by_volume());
        let of_client = by.is_some() && by == analysis.tunnels.get(tunnel).map(|tunnel| tunnel.a);
        let perhaps_windows = match told_windows(analysis, tunnel) {
            Some(WindowsClient::Proposes) => return None,
            Some(WindowsClient::Named) if of_client => return None,
            client => client == Some(WindowsClient::Possible) && of_client,
        };
        let longer = |from_kilobytes, to_kilobytes, learnt| LongerLifetime {
            from_kilobytes,
            to_kilobytes,
            learnt,
            by,
            perhaps_windows,
            seconds: analysis.rekeys_of(tunnel).find_map(|r| r.trigger.limit_seconds),
        };
        if let Some(limit) = by_volume().find_map(|r| r.trigger.limit_kilobytes) {
            let at = self.projected().find(|p| p.lifetime_kilobytes > limit)?;
            let longer = longer(limit, at.lifetime_kilobytes, false);
            return Some(self.cure_of_rekeys(CureOf::Lifetime(longer), Some(at.expected_bps.estimate)));
        }
        let carried = by_volume().filter_map(|r| r.trigger.bytes).max()?.div_ceil(1_000);
        let shared = self.shared().filter(|_| !self.silence_alone);
        let limit = shared
            .and_then(|shared| shared.time.most_kilobytes())
            .unwrap_or(carried);
        let to = PROJECTED_KILOBYTES.into_iter().find(|longer| *longer > limit)?;
        let at = self.projected().find(|p| p.lifetime_kilobytes == to);
        let expected = at.map(|at| at.expected_bps.estimate);
        (!is_of_windows(limit))
            .then(|| self.cure_of_rekeys(CureOf::Lifetime(longer(limit, to, true)), expected))
    }

    /// The rates at other volumes, as their table has them.
    fn projected(&self) -> impl Iterator<Item = &'a Projection> {
        let own = (self.headline.tunnel, self.headline.direction);
        let all = self.analysis.projection.iter();
        all.filter(move |p| (p.tunnel, p.direction) == own)
    }

    /// The cure of what the account lost most to, where that is not the rekeys, and of what it lost as much to.
    fn of_account(&self) -> Option<Remedy<'a>> {
        let line = self.most_beside_rekeys()?;
        let own = self.of_line(line)?;
        Some(match self.as_much().filter(|_| !self.is_replay(line)) {
            None => Remedy::Cure(own),
            Some(other) => {
                let lost = (other.label, other.lost_seconds);
                Remedy::Both([own, self.cure(CureOf::Label(other.label), lost, None)])
            }
        })
    }

    /// The cure of a line of the account.
    fn of_line(&self, line: &AccountLine) -> Option<Cure<'a>> {
        let row = cost_row(line.label);
        let is_most = self.most.is_some_and(|most| most.label == line.label);
        let broken = self.broken().filter(|_| is_most);
        let of = match (broken, self.queue_behind(line)) {
            _ if self.is_replay(line) => CureOf::Late,
            (Some(broken), _) => CureOf::Broken(broken),
            (None, Some(queue)) => CureOf::Queue(queue),
            (None, None) => CureOf::Label(line.label),
        };
        let without = line.without_mbps.filter(|_| row.shows_gain);
        let lost = (line.label, line.lost_seconds);
        row.has_cure
            .then(|| self.cure(of, lost, without.map(|mbps| mbps * 1e6)))
    }

    /// Tells whether a replay check drops packets: that looks like loss, or like a path that carries less.
    fn is_replay(&self, line: &AccountLine) -> bool {
        self.late().is_some() && cost_row(line.label).may_be_replay
    }

    /// Rekeys of which acknowledgements show no harm: fewer by volume are as good, and a longer capture would show no more.
    fn of_none_seen(&self) -> Option<Remedy<'a>> {
        let ledger = self.ledger?;
        let is_seen = ledger.basis == LedgerBasis::Acknowledgements && ledger.bound_ms.is_some();
        let nothing = || match told_queue(self.analysis, self.headline) {
            Some(queue) => Remedy::Queue(queue),
            None => Remedy::Said("do-nothing"),
        };
        let fewer = || self.longer_lifetime().map(Remedy::Cure);
        is_seen.then(|| fewer().unwrap_or_else(nothing))
    }

    /// The other capture that would show the cost of rekeys.
    fn other_capture(&self) -> &'static str {
        match self.ledger.map(|ledger| ledger.basis) {
            _ if self.headline.rekeys_used == 0 => "do-longer-capture",
            Some(LedgerBasis::Packets) if self.analysis.capture.is_cut() => "do-whole-packets",
            Some(LedgerBasis::Packets) => "do-keys-or-other-end",
            Some(LedgerBasis::Datagrams) => "do-other-end",
            _ => "do-longer-capture",
        }
    }
}

/// A request that was refused, else one that was not answered.
fn in_vain(analysis: &Analysis) -> Option<&Attempt> {
    let failed = |outcome| analysis.attempts.iter().find(|a| a.outcome == outcome);
    failed(AttemptOutcome::Refused).or_else(|| failed(AttemptOutcome::Unanswered))
}

fn renewing_side<'a>(mut rekeys: impl Iterator<Item = &'a Rekey>) -> Option<IpAddr> {
    let first = rekeys.next()?.initiator?;
    rekeys
        .all(|rekey| rekey.initiator == Some(first))
        .then_some(first)
}

/// Names the message that says what would show the cause.
fn without_cause(analysis: &Analysis) -> &'static str {
    match analysis.keys_fit() {
        KeysFit::Some => "do-unknown",
        _ => see_inside(analysis),
    }
}

/// Names the message that says how the packets could be read.
pub fn see_inside(analysis: &Analysis) -> &'static str {
    match analysis.keys_fit() {
        KeysFit::Nothing => "do-other-keys",
        KeysFit::Cut => "do-whole-packets",
        KeysFit::Some | KeysFit::Absent => "do-keys",
    }
}
