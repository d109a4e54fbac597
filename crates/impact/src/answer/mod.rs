//! The answer of a document: the one thing that it begins with, chosen in one order for every reader. The words are the report's.
//!
//! ```text
//! document ─→ told_answer   the first that holds: what is broken, before what costs something, before what would explain more
//!               └─ cost     what rekeys cost, where nothing else comes first: reasons ─→ remedy
//! ```

mod cost;
mod reasons;
mod remedy;

pub use cost::SharedExplanation;
pub use reasons::{BrokenPackets, LoneWay, Reason, one_way};
pub use remedy::{Cure, CureOf, LongerLifetime, Remedy, see_inside};

use crate::answer::cost::Cost;
use crate::explain::{
    ToldDialledAgain, ToldEnded, ToldEverywhere, ToldLostBefore, ToldNoReturn, ToldOrphan, ToldOutages,
    ToldPathLoss, ToldQueue, ToldRenewal, ToldSetUp, ToldSilentHost, ToldSlowSa, ToldStandstill,
    ToldTornDown, told_childless, told_cut_off, told_dialled_again, told_elsewhere, told_ended,
    told_everywhere, told_failed_renewal, told_left_behind, told_login, told_lost_before, told_no_return,
    told_orphan, told_outages, told_path_loss, told_set_up, told_silent_esp, told_silent_host, told_slow_sa,
    told_standstill, told_torn_down, told_unexplained_beside,
};
use rekeyscope_model::analysis::{
    Account, AccountLine, Analysis, Capture, Event, EventKind, ExchangeKind, Finding, FindingKind, Impact,
    Ledger, Tunnel, Verdict,
};

/// Packets in clear are data that goes on from so many on: one StopCCN is none, nor are a few words of a control connection. A finding names
/// its first twenty frames, so that one with as many has so many packets or more.
const GOES_ON: usize = 20;

/// The thing that an answer speaks of.
#[derive(Debug, Clone)]
pub enum ToldAnswer<'a> {
    /// Most packets are older than the one before.
    Disorder(&'a Capture),
    /// Data went on in clear that the tunnel used to carry.
    Clear(&'a Finding, Option<ToldOutages<'a>>),
    /// Logins inside a tunnel that were refused.
    Login(Vec<&'a Event>),
    /// Outages, of all tunnels at once where that is known.
    Outages(ToldOutages<'a>, Option<ToldEverywhere>),
    /// Segments were lost before encryption.
    LostBefore(ToldLostBefore<'a>),
    /// SAs of two inner networks end each other by turns.
    Turns(&'a Event),
    /// An end sends from another address than the one that its peer sends to.
    Elsewhere(&'a Tunnel, &'a Event),
    /// One SA of the headline's transfer is slower than its neighbours.
    SlowSa(ToldSlowSa<'a>, &'a Impact),
    /// An SA ended after its renewal had failed, and nothing shows its traffic.
    Orphan(ToldOrphan<'a>),
    /// A new IKE SA came about without a child SA.
    Childless(&'a Event),
    /// No tunnel came up.
    SetUp(ToldSetUp<'a>),
    /// A client ended each of its tunnels as soon as it stood.
    Ended(ToldEnded<'a>),
    /// A side of which alone packets were captured dialled again.
    DialledAgain(ToldDialledAgain<'a>),
    /// One side alone sent ESP.
    NoReturn(ToldNoReturn),
    /// An end moved, and its peer went on sending to the old place.
    LeftBehind(&'a Tunnel, &'a Event),
    /// ESP of one side stopped for good.
    SilentEsp(&'a Event),
    /// Data still came behind the Delete that ends the tunnel, and the capture ends.
    CutOff(&'a Event, &'a Impact),
    /// IKE SAs were deleted before the next one was made.
    TornDown(ToldTornDown<'a>),
    /// A transfer stood still.
    Standstill(ToldStandstill, &'a Impact),
    /// A renewal failed for good, and no outage shows it.
    FailedRenewal(ToldRenewal<'a>),
    /// Many packets never came to the capture.
    PathLoss(ToldPathLoss<'a>),
    /// A host answers nothing, though the tunnel brings others their answers.
    SilentHost(ToldSilentHost),
    /// The cost of rekeys, or what a transfer lost more to.
    Cost(ToldCost<'a>),
    /// No transfer in a tunnel; so many renewals were seen.
    NoVerdict {
        /// Number of renewals.
        renewals: usize,
    },
}

/// The answer where nothing comes before the cost of rekeys.
#[derive(Debug, Clone)]
pub struct ToldCost<'a> {
    /// The verdict that it is about.
    pub headline: &'a Impact,
    /// The loss that the answer begins with, in place of the rekeys.
    pub leads: Option<LeadingLoss<'a>>,
    /// The standing queue that the answer begins with, in place of rekeys that do no harm.
    pub queue: Option<ToldQueue>,
    /// The reasons, in the order in which they are told; may be empty.
    pub reasons: Vec<Reason<'a>>,
    /// The thing to do.
    pub remedy: Remedy<'a>,
}

/// A loss that cost more than the rekeys.
#[derive(Debug, Clone, Copy)]
pub struct LeadingLoss<'a> {
    /// The line of the loss.
    pub line: &'a AccountLine,
    /// The account that has it.
    pub account: &'a Account,
    /// The cost of the rekeys of that transfer.
    pub ledger: &'a Ledger,
}

impl LeadingLoss<'_> {
    /// Share of the transfer's time: the figure beside line 1.
    pub fn share(&self) -> f64 {
        self.line.lost_seconds / self.account.seconds
    }
}

impl<'a> ToldCost<'a> {
    fn of(analysis: &'a Analysis, headline: &'a Impact) -> Self {
        let cost = Cost::of(analysis, headline);
        ToldCost {
            headline,
            leads: cost.leads().and_then(|line| {
                let (account, ledger) = (cost.account?, cost.ledger?);
                Some(LeadingLoss {
                    line,
                    account,
                    ledger,
                })
            }),
            queue: cost.queue_leads(),
            reasons: cost.reasons(),
            remedy: cost.remedy(),
        }
    }
}

/// The answer of a document: of what is broken, or costs more than rekeys; of an SA that ended after its renewal had failed; of a tunnel that
/// did not come up, or answers nothing; of what would explain an outage that is not seen; of a renewal that failed for good; else of what
/// rekeys cost.
pub fn told_answer(analysis: &Analysis) -> ToldAnswer<'_> {
    use ToldAnswer as Told;
    let first = analysis.impact.first();
    let harmless = || first.is_some_and(|headline| headline.verdict.is_harmless());
    disorder(&analysis.capture)
        .or_else(|| Some(Told::Clear(clear(analysis)?, told_outages(analysis))))
        .or_else(|| told_login(analysis).map(Told::Login))
        .or_else(|| outages(analysis))
        .or_else(|| told_lost_before(analysis, first?.tunnel).map(Told::LostBefore))
        .or_else(|| turns(analysis).map(Told::Turns))
        .or_else(|| told_elsewhere(analysis).map(|(tunnel, event)| Told::Elsewhere(tunnel, event)))
        .or_else(|| Some(Told::SlowSa(told_slow_sa(analysis, first?)?, first?)))
        .or_else(|| told_orphan(analysis).filter(|_| harmless()).map(Told::Orphan))
        .or_else(|| told_childless(analysis, first?.tunnel).map(Told::Childless))
        .or_else(|| told_set_up(analysis).map(Told::SetUp))
        .or_else(|| told_ended(analysis).map(Told::Ended))
        .or_else(|| told_dialled_again(analysis, first?).map(Told::DialledAgain))
        .or_else(|| no_return(analysis, first?).map(Told::NoReturn))
        .or_else(|| told_left_behind(analysis, first?).map(|(tunnel, event)| Told::LeftBehind(tunnel, event)))
        .or_else(|| told_silent_esp(analysis, first?).map(Told::SilentEsp))
        .or_else(|| Some(Told::CutOff(told_cut_off(analysis, first?)?, first?)))
        .or_else(|| told_torn_down(analysis, first?).map(Told::TornDown))
        .or_else(|| Some(Told::Standstill(told_standstill(analysis, first?)?, first?)))
        .or_else(|| told_failed_renewal(analysis).map(Told::FailedRenewal))
        .or_else(|| {
            let cost = ToldCost::of(analysis, first?);
            let leads = |lost: &LeadingLoss<'_>| told_unexplained_beside(lost.account, lost.line).is_none();
            let explained = cost.leads.is_some_and(|lost| leads(&lost));
            let hurt = matches!(first?.verdict, Verdict::Some | Verdict::Shown | Verdict::Failed);
            let lossy = || told_path_loss(analysis).filter(|_| !hurt && !explained);
            let silent = || told_silent_host(analysis).filter(|_| harmless() && cost.leads.is_none());
            let found = lossy().map(Told::PathLoss);
            let found = found.or_else(|| silent().map(Told::SilentHost));
            Some(found.unwrap_or(Told::Cost(cost)))
        })
        .unwrap_or_else(|| Told::NoVerdict {
            renewals: analysis.rekeys.len().max(renewals(analysis)),
        })
}

/// A file that was written backwards, or sorted by something else than time: interfaces and queues that are merged bring fewer packets that
/// are older than the one before.
fn disorder(capture: &Capture) -> Option<ToldAnswer<'_>> {
    (2 * capture.time_regressions > capture.packets).then_some(ToldAnswer::Disorder(capture))
}

/// Tells whether a finding is data that goes on in clear.
pub fn goes_on_in_clear(finding: &Finding) -> bool {
    finding.id == FindingKind::CleartextLeak.as_str() && finding.evidence_frames.len() >= GOES_ON
}

fn clear(analysis: &Analysis) -> Option<&Finding> {
    analysis.findings.iter().find(|finding| goes_on_in_clear(finding))
}

fn outages(analysis: &Analysis) -> Option<ToldAnswer<'_>> {
    let told = told_outages(analysis)?;
    let everywhere = told_everywhere(analysis, &told);
    Some(ToldAnswer::Outages(told, everywhere))
}

fn turns(analysis: &Analysis) -> Option<&Event> {
    let mut events = analysis.events.iter();
    events.find(|event| event.kind == EventKind::NetworksByTurns && event.until.is_some())
}

fn no_return(analysis: &Analysis, headline: &Impact) -> Option<ToldNoReturn> {
    told_no_return(analysis, headline.tunnel).filter(|told| told.is_told_of(headline))
}

/// Exchanges that made child SAs and were not the first of their tunnel, as far as messages show it that no key opens. IKE_AUTH makes the
/// first of IKEv2, and a Quick Mode that of IKEv1; an exchange that renewed the IKE SA made none.
fn renewals(analysis: &Analysis) -> usize {
    let made = |tunnel: usize| {
        let of_ike = |exchange: Option<usize>| {
            let mut events = analysis.events.iter();
            events.any(|e| e.kind == EventKind::IkeSaRekeyed && e.exchange == exchange)
        };
        let own = analysis.attempts_of(tunnel);
        own.filter(|a| a.outcome.succeeded() && !of_ike(a.exchange))
            .count()
    };
    let begins = |tunnel: usize| {
        let mut own = analysis.exchanges_of(tunnel);
        own.any(|e| matches!(e.kind, ExchangeKind::MainMode | ExchangeKind::AggressiveMode))
    };
    let of = |tunnel: usize| made(tunnel).saturating_sub(usize::from(begins(tunnel)));
    (0..analysis.tunnels.len()).map(of).sum()
}

impl ToldAnswer<'_> {
    /// Index in `tunnels` of the tunnel that the answer speaks of; `None` where there is none, or where it is all of them.
    pub fn tunnel(&self) -> Option<usize> {
        use ToldAnswer as Told;
        match self {
            Told::Disorder(_) | Told::Clear(..) | Told::NoVerdict { .. } | Told::Outages(_, Some(_)) => None,
            Told::Outages(told, None) => Some(told.outage.tunnel),
            Told::Login(refusals) => refusals.last()?.tunnel,
            Told::TornDown(told) => told.deletes.first()?.tunnel,
            Told::Turns(event) | Told::Childless(event) | Told::SilentEsp(event) => event.tunnel,
            Told::LostBefore(told) => Some(told.account.tunnel),
            Told::Elsewhere(tunnel, _) | Told::LeftBehind(tunnel, _) => Some(tunnel.id),
            Told::Orphan(told) => Some(told.sa.tunnel),
            Told::SetUp(told) => Some(told.exchange.tunnel),
            Told::Ended(told) => Some(told.exchange.tunnel),
            Told::DialledAgain(told) => Some(told.check.tunnel),
            Told::NoReturn(told) => Some(told.tunnel),
            Told::PathLoss(told) => Some(told.tunnel),
            Told::SilentHost(told) => Some(told.tunnel),
            Told::FailedRenewal(told) => Some(told.attempt.tunnel),
            Told::SlowSa(_, headline) | Told::CutOff(_, headline) | Told::Standstill(_, headline) => {
                Some(headline.tunnel)
            }
            Told::Cost(told) => Some(told.headline.tunnel),
        }
    }

    /// Tells whether the answer is about a failure of a tunnel, and not about what rekeys cost.
    pub fn is_failure(&self) -> bool {
        use ToldAnswer as Told;
        !matches!(self, Told::Cost(_) | Told::NoVerdict { .. } | Told::Disorder(_))
    }

    /// Tells whether rekeys of its tunnel were seen that are not the cause of what it tells.
    pub fn is_beside_rekeys(&self, analysis: &Analysis) -> bool {
        use ToldAnswer as Told;
        match self {
            Told::Outages(told, _) => told.beside_rekeys,
            Told::Elsewhere(..) | Told::LeftBehind(..) | Told::PathLoss(_) | Told::SilentHost(_) => analysis
                .rekeys
                .iter()
                .any(|rekey| Some(rekey.tunnel) == self.tunnel()),
            _ => false,
        }
    }
}
