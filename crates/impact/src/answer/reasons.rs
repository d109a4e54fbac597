//! The reasons of an answer about what rekeys cost.

use crate::answer::cost::{Cost, SharedExplanation};
use crate::explain::{
    ToldFirstNumbers, ToldNoReturn, ToldQueue, finding_of, is_loss, lost_on_the_path, told_first_numbers,
    told_idle_beside, told_no_return, told_queue, told_stop, told_unexplained_beside,
};
use crate::verdict::LEAST_SHARE;
use rekeyscope_model::analysis::{
    Account, AccountLabel, AccountLine, Analysis, Direction, FindingKind, Ledger, LedgerBasis, LedgerRekey,
    LedgerWhy, OwnRate, Verdict,
};
use rekeyscope_model::text::{Arg, Message};
use rekeyscope_model::time::Timestamp;
use std::collections::BTreeMap;

/// A reason.
#[derive(Debug, Clone)]
pub enum Reason<'a> {
    /// Most of what was lost went to this line, and as much to the other one.
    Lost(&'a Account, &'a AccountLine, Option<&'a AccountLine>),
    /// The transfer ran at this rate, bit/s, and this is what it is held against; `reached` where it ran as fast as its path was seen to carry.
    Rate {
        /// The rate of the transfer.
        observed_bps: f64,
        /// The best rate of the transfer.
        own_bps: f64,
        /// The source of that.
        own_from: OwnRate,
        /// The transfer reached the rate of its path.
        reached: bool,
    },
    /// A standing queue delays packets.
    Queue(ToldQueue),
    /// Line 1 has the delay of a standing queue.
    Waits(ToldQueue),
    /// The explanation that rekeys share which hurt, of so many.
    Rekeys(SharedExplanation<'a>, usize),
    /// Such an explanation behind something that cost more.
    RekeysToo(SharedExplanation<'a>),
    /// The silences took so many seconds, and the cost is more.
    SlowReturn(f64, f64),
    /// More than to rekeys was lost to this line.
    More(&'a AccountLine),
    /// The sender had nothing to send for longer than what is told took.
    Idle(&'a AccountLine, &'a Account),
    /// Silence, which an application may have made.
    SilenceAlone,
    /// The commonest reason by the ledger, of so many rekeys, of so many that hurt.
    Commonest(LedgerWhy, usize, usize),
    /// No reason is seen.
    NoCause,
    /// Every rekey lies outside the transfer.
    Outside,
    /// Datagrams without acknowledgements.
    Datagrams,
    /// A rekey costs so many milliseconds at most.
    Bound(f64),
    /// No transfer.
    NoData,
    /// First packets of new SAs are missing.
    FirstNumbers(ToldFirstNumbers<'a>),
    /// The transfer stopped, and the capture went on for so many seconds.
    Stopped(Timestamp, f64),
    /// One direction alone carries packets.
    LoneWay(LoneWay),
    /// Packets came too late for a replay check.
    Late(&'a Message),
    /// Packets were lost before the capture.
    PathLoss(&'a Message),
    /// Packets never came whole.
    Broken(BrokenPackets<'a>),
}

/// The direction that alone carries packets.
#[derive(Debug, Clone, Copy)]
pub struct LoneWay {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// The direction.
    pub direction: Direction,
    /// IKE came both ways.
    pub no_return: Option<ToldNoReturn>,
}

/// Packets that never came whole.
#[derive(Debug, Clone, Copy)]
pub enum BrokenPackets<'a> {
    /// The line damaged them.
    Damaged(&'a Message),
    /// Fragments were lost; the largest segments that pass, where that is known.
    Fragments(&'a Message, Option<u64>),
}

impl<'a> Cost<'a> {
    pub(super) fn reasons(&self) -> Vec<Reason<'a>> {
        let one_way = one_way(self.analysis, self.headline.tunnel);
        let mut said = match self.queue_leads() {
            Some(queue) => vec![Reason::Waits(queue)],
            None => self.of_verdict(one_way.is_some()),
        };
        said.extend(self.first_numbers().map(Reason::FirstNumbers));
        said.extend(self.stop().map(|(at, rest)| Reason::Stopped(at, rest)));
        said.extend(one_way.map(Reason::LoneWay));
        said.extend(self.late().map(Reason::Late));
        said.extend(self.broken().map(Reason::Broken));
        said.extend(self.path_loss().map(Reason::PathLoss));
        said
    }

    fn of_verdict(&self, is_one_way: bool) -> Vec<Reason<'a>> {
        match self.headline.verdict {
            Verdict::Some | Verdict::Shown if self.leads().is_some() => {
                self.limits().into_iter().chain(self.rekeys_too()).collect()
            }
            Verdict::Failed | Verdict::Shown | Verdict::Some => self.of_rekeys(),
            Verdict::Bounded | Verdict::NoRekeys => self.limits(),
            Verdict::Inconclusive if self.more().is_some() => self.limits(),
            Verdict::Inconclusive => self.undecided().into_iter().chain(self.queue()).collect(),
            Verdict::NoTraffic if is_one_way => Vec::new(),
            Verdict::NoTraffic => vec![Reason::NoData],
        }
    }

    /// Rekeys that line 1 counts: those that stopped the transfer, or where none did, those that slowed it.
    fn hurt(&self) -> usize {
        let stops = self.ledger.into_iter().flat_map(|ledger| &ledger.rekeys);
        match stops.filter(|own| own.silence_ms > 0.0).count() {
            0 => self.headline.rekeys_hurt.len(),
            stopped => stopped,
        }
    }

    /// The commonest reason of the rekeys that hurt by the ledger, and their number. A silence without acknowledgements is no evidence that
    /// nothing was sent.
    fn commonest(&self) -> Option<(LedgerWhy, usize)> {
        let ledger = self.ledger?;
        let mut found: BTreeMap<LedgerWhy, usize> = BTreeMap::new();
        for own in &ledger.rekeys {
            *found.entry(own.why).or_default() += 1;
        }
        let known = ledger.basis == LedgerBasis::Acknowledgements;
        let (why, n) = found.into_iter().min_by_key(|(_, n)| std::cmp::Reverse(*n))?;
        (known || why != LedgerWhy::Silence).then_some((why, n))
    }

    fn rekeys_too(&self) -> Option<Reason<'a>> {
        let told = self.ledger?.share >= LEAST_SHARE && !self.silence_alone;
        self.shared().filter(|_| told).map(Reason::RekeysToo)
    }

    fn of_rekeys(&self) -> Vec<Reason<'a>> {
        let of = self.hurt();
        let more = self.more().into_iter().flat_map(|line| {
            let more = [Reason::More(line)].into_iter();
            more.chain(self.idle_beside(line))
        });
        if self.silence_alone {
            return [Reason::SilenceAlone].into_iter().chain(more).collect();
        }
        if let Some(shared) = self.shared() {
            let said = [Reason::Rekeys(shared, of)].into_iter();
            return said.chain(self.slow_return()).chain(more).collect();
        }
        match self.commonest() {
            Some((why, n)) => [Reason::Commonest(why, n, of)].into_iter().chain(more).collect(),
            None => vec![Reason::NoCause],
        }
    }

    /// A cost that is more than the silences that line 1 tells add up to.
    fn slow_return(&self) -> Option<Reason<'a>> {
        let ledger = self.ledger?;
        let silence = |own: &LedgerRekey| own.silence_ms / 1e3;
        let silences = || ledger.rekeys.iter().map(silence).filter(|s| *s > 0.0);
        let at_most = silences().fold(0.0, f64::max) * silences().count() as f64;
        let is_more = ledger.cost_seconds > at_most && at_most > 0.0;
        is_more.then(|| Reason::SlowReturn(silences().sum(), ledger.cost_seconds))
    }

    /// New SAs whose first packets never came, where that cost nothing that is told before.
    fn first_numbers(&self) -> Option<ToldFirstNumbers<'a>> {
        let told = told_first_numbers(self.analysis, self.headline.tunnel);
        told.filter(|_| self.headline.rekeys_hurt.is_empty())
    }

    /// A transfer without keys that stopped before the capture did, where the rekeys are cleared.
    fn stop(&self) -> Option<(Timestamp, f64)> {
        let is_clear = matches!(self.headline.verdict, Verdict::Bounded | Verdict::NoRekeys);
        told_stop(self.analysis, self.headline).filter(|_| is_clear)
    }

    /// Tells whether the transfer ran as fast as its path was seen to carry.
    pub(super) fn is_at_the_limit(&self) -> bool {
        let proven = self
            .account
            .is_some_and(|account| account.own_from == OwnRate::Proven);
        self.headline.observed_bps.is_some() && proven
    }

    /// The limit of the transfer, where rekeys are not it.
    fn limits(&self) -> Vec<Reason<'a>> {
        let Some(account) = self.account else {
            return Vec::new();
        };
        if let Some(line) = self.most_beside_rekeys() {
            let lost = Reason::Lost(account, line, self.as_much());
            let queue = self.queue_behind(line).map(Reason::Queue);
            let beside = self.idle_beside(line).or_else(|| {
                let unexplained = told_unexplained_beside(account, line)?;
                Some(Reason::Lost(account, unexplained, None))
            });
            return [lost].into_iter().chain(beside).chain(queue).collect();
        }
        let Some(observed_bps) = self.headline.observed_bps else {
            return Vec::new();
        };
        let own_bps = account.own_mbps * 1e6;
        let rate = Reason::Rate {
            observed_bps,
            own_bps,
            own_from: account.own_from,
            reached: account.own_from == OwnRate::Proven && observed_bps >= own_bps,
        };
        [rate].into_iter().chain(self.queue()).collect()
    }

    fn idle_beside(&self, line: &AccountLine) -> Option<Reason<'a>> {
        let idle = told_idle_beside(self.analysis, self.headline, line)?;
        Some(Reason::Idle(idle, self.account?))
    }

    /// The queue that stands behind a line of the account: that which drops packets, where its end is known; else the path gives what it has as long
    /// as one stands, so that more cannot come of it.
    pub(super) fn queue_behind(&self, line: &AccountLine) -> Option<ToldQueue> {
        let queue = told_queue(self.analysis, self.headline);
        queue.filter(|queue| match line.label {
            AccountLabel::QueueLoss => queue.at.is_some(),
            AccountLabel::Capacity | AccountLabel::Unexplained => true,
            _ => false,
        })
    }

    fn queue(&self) -> Option<Reason<'a>> {
        told_queue(self.analysis, self.headline).map(Reason::Queue)
    }

    fn undecided(&self) -> Option<Reason<'a>> {
        if self.headline.rekeys_used == 0 {
            return Some(Reason::Outside);
        }
        let is_of_datagrams =
            |ledger: &Ledger| ledger.basis == LedgerBasis::Datagrams && ledger.down.is_empty();
        if self.ledger.is_some_and(is_of_datagrams) {
            return Some(Reason::Datagrams);
        }
        // Line 1 tells the bound where acknowledgements show that no rekey is seen to stop anything.
        let told = |ledger: &&Ledger| ledger.basis == LedgerBasis::Acknowledgements;
        let bound = self.ledger.filter(|ledger| !told(ledger))?.bound_ms?;
        Some(Reason::Bound(bound))
    }

    pub(super) fn late(&self) -> Option<&'a Message> {
        let mut findings = self.analysis.findings.iter();
        let late = findings.find(|f| f.id == FindingKind::BehindWindow.as_str())?;
        late.messages.first()
    }

    /// The packets that were lost before the capture, where line 1 begins with a loss.
    fn path_loss(&self) -> Option<&'a Message> {
        let side = (self.headline.tunnel, self.headline.direction);
        self.leads()
            .filter(|line| is_loss(line) && self.broken().is_none())?;
        lost_on_the_path(self.analysis, side)?.messages.first()
    }

    /// The packets that never came whole, where a transfer lost most to them.
    pub(super) fn broken(&self) -> Option<BrokenPackets<'a>> {
        self.most.filter(|line| is_loss(line))?;
        let side = (self.headline.tunnel, self.headline.direction);
        let found = |kind| finding_of(self.analysis, kind, side);
        let by_line = Arg::Text("line".to_owned());
        let damaged = found(FindingKind::Damaged).and_then(|f| f.messages.first());
        if let Some(damaged) = damaged.filter(|message| message.args.get("by") == Some(&by_line)) {
            return Some(BrokenPackets::Damaged(damaged));
        }
        let cut = found(FindingKind::LostFragments)?.messages.first()?;
        let fits = found(FindingKind::PathMtu).and_then(|f| f.messages.last());
        let mss = fits.and_then(|fits| match fits.args.get("mss") {
            Some(Arg::Count(mss)) => Some(*mss),
            _ => None,
        });
        Some(BrokenPackets::Fragments(cut, mss))
    }
}

/// The direction of a tunnel that alone carries packets in this capture.
pub fn one_way(analysis: &Analysis, tunnel: usize) -> Option<LoneWay> {
    let used = |direction| analysis.sas_towards(tunnel, direction).any(|sa| sa.packets > 0);
    let direction = match (used(Direction::AToB), used(Direction::BToA)) {
        (true, false) => Direction::AToB,
        (false, true) => Direction::BToA,
        _ => return None,
    };
    Some(LoneWay {
        tunnel,
        direction,
        no_return: told_no_return(analysis, tunnel),
    })
}
