//! The line of an account that a transfer lost most to, in the finished lists.

use crate::explain::costs::{BesideRekeys, cost_row};
use crate::explain::findings::finding_of;
use crate::explain::remarks::told_queue;
use crate::verdict::{INTEREST, LEAST_SHARE};
use rekeyscope_model::analysis::{
    Account, AccountLabel, AccountLine, Analysis, Direction, ExplanationCause, Finding, FindingKind, Impact,
    LedgerBasis, Outage, Verdict,
};

fn account<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<&'a Account> {
    analysis.account_of(headline.tunnel, headline.direction)
}

/// Finds the lines that may be told. A sender with nothing to send, or whose rate grows as that of every new connection, is no fault beside
/// rekeys that hurt.
fn faults<'a>(account: &'a Account, headline: &Impact) -> impl Iterator<Item = &'a AccountLine> {
    let hurt = !headline.rekeys_hurt.is_empty();
    let is_usual = |line: &AccountLine| cost_row(line.label).beside_rekeys == BesideRekeys::Usual;
    account
        .labels
        .iter()
        .filter(move |line| !(hurt && is_usual(line)))
}

/// The line of the headline's account that lost most, where the transfer lost more of its time than an effect of interest: else it runs as
/// fast as its path, and what to change would not be felt. What follows from rekeys is no label's own.
pub fn told_loss<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<&'a AccountLine> {
    let account = account(analysis, headline)?;
    let own = |line: &AccountLine| line.lost_seconds * (1.0 - line.behind_rekeys);
    faults(account, headline)
        .max_by(|a, b| own(a).total_cmp(&own(b)))
        .filter(|_| account.lost_seconds > INTEREST * account.seconds)
        .filter(|line| !account.not_testable.contains(&line.label))
}

/// The line to which the transfer lost as much as to `most`: the difference is a share that no sentence names. What every connection has stands
/// beside no fault.
pub fn told_loss_beside<'a>(
    analysis: &'a Analysis,
    headline: &Impact,
    most: &AccountLine,
) -> Option<&'a AccountLine> {
    let account = account(analysis, headline)?;
    let near = (most.lost_seconds - LEAST_SHARE * account.seconds).max(0.0);
    let usual = |line: &AccountLine| cost_row(line.label).beside_rekeys == BesideRekeys::Usual;
    let mut lines =
        faults(account, headline).filter(|line| !is_unexplained(line) && (usual(most) || !usual(line)));
    lines.find(|line| {
        line.label != most.label && line.lost_seconds > near && !account.not_testable.contains(&line.label)
    })
}

/// The line of a sender that had nothing to send: it leads nothing beside a fault, and where it lost more than that, a table without a word of it
/// would contradict the answer.
pub fn told_idle_beside<'a>(
    analysis: &'a Analysis,
    headline: &Impact,
    most: &AccountLine,
) -> Option<&'a AccountLine> {
    let mut lines = account(analysis, headline)?.labels.iter();
    let idle = lines.find(|line| line.label == AccountLabel::Application)?;
    (idle.lost_seconds > most.lost_seconds).then_some(idle)
}

fn is_unexplained(line: &AccountLine) -> bool {
    line.label == AccountLabel::Unexplained
}

/// The line of what nothing explains, where a transfer lost more to it than to what is told.
pub fn told_unexplained_beside<'a>(account: &'a Account, told: &AccountLine) -> Option<&'a AccountLine> {
    let unexplained = account.labels.iter().find(|line| is_unexplained(line));
    unexplained.filter(|line| line.lost_seconds > told.lost_seconds)
}

/// The loss that an answer about a transfer begins with: the largest fault that can be changed, whatever the sender had not to send.
pub fn leading_loss<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<&'a AccountLine> {
    let account = account(analysis, headline)?;
    let place = |line: &AccountLine| cost_row(line.label).beside_rekeys;
    let own = |line: &AccountLine| line.lost_seconds * (1.0 - line.behind_rekeys);
    // A path at which a queue stands gives what it has.
    let is_path =
        |line: &AccountLine| line.label == AccountLabel::Capacity && told_queue(analysis, headline).is_some();
    let is_fault =
        |line: &&AccountLine| place(line) != BesideRekeys::Usual && !is_unexplained(line) && !is_path(line);
    let line = account
        .labels
        .iter()
        .filter(is_fault)
        .max_by(|a, b| own(a).total_cmp(&own(b)))
        .filter(|line| cost_row(line.label).has_cure && !account.not_testable.contains(&line.label))?;
    let is_most = || told_loss(analysis, headline).is_some_and(|most| most.label == line.label);
    let leads = match (place(line), headline.verdict) {
        // Without a bound nothing can be said of the rekeys beside it.
        (_, Verdict::Inconclusive)
            if analysis
                .ledger_of(headline.tunnel, headline.direction)?
                .bound_ms
                .is_none() =>
        {
            false
        }
        (_, verdict) if verdict.is_harmless() => {
            let alone = told_loss_beside(analysis, headline, line).is_none();
            alone && line.lost_seconds > INTEREST * account.seconds
        }
        (_, Verdict::Some | Verdict::Shown) => is_most(),
        _ => false,
    };
    leads.then_some(line)
}

/// Packets of one direction of a tunnel that never came to the capture.
#[derive(Debug, Clone, Copy)]
pub struct ToldPathLoss<'a> {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// The direction that lost most of its packets.
    pub direction: Direction,
    /// The finding that counts them.
    pub finding: &'a Finding,
    /// Number of the missing packets.
    pub missing: u64,
    /// Number of all that were sent.
    pub sent: u64,
}

/// The finding of packets of a direction that the path lost before the capture.
pub(crate) fn lost_on_the_path(analysis: &Analysis, side: (usize, Direction)) -> Option<&Finding> {
    let kinds = [
        FindingKind::OneDirectionLoss,
        FindingKind::BothDirectionsLoss,
        FindingKind::PacketLoss,
    ];
    kinds
        .into_iter()
        .find_map(|kind| finding_of(analysis, kind, side))
}

/// Tells whether a label is a loss of packets.
pub(crate) fn is_loss(line: &AccountLine) -> bool {
    matches!(line.label, AccountLabel::PathLoss | AccountLabel::QueueLoss)
}

fn lost_to_losses(account: &Account) -> f64 {
    let lines = account.labels.iter().filter(|line| is_loss(line));
    lines.map(|line| line.lost_seconds).sum()
}

/// Share of lost packets at which TCP has fewer than four segments in flight (Mathis et al. 1997: 1.22/√p), so that its timer alone repeats what
/// is lost (RFC 5681 §3.2): no transfer that fills its path loses more.
const BEYOND_TCP: f64 = 1.5 / 16.0;

/// The direction that lost the largest share of its packets before the capture, where that is of interest. A transfer that fills its path loses
/// packets and no time, and without keys less than a share.
pub fn told_path_loss(analysis: &Analysis) -> Option<ToldPathLoss<'_>> {
    let tunnels = analysis.tunnels.iter();
    let sides = tunnels.flat_map(|t| Direction::BOTH.map(|direction| (t.id, direction)));
    let lossy = sides.filter_map(|(tunnel, direction)| {
        let (finding, least) = match lost_on_the_path(analysis, (tunnel, direction)) {
            Some(finding) => (finding, INTEREST),
            None => {
                let missing = finding_of(analysis, FindingKind::PacketsMissing, (tunnel, direction));
                (missing?, BEYOND_TCP)
            }
        };
        let ledger = analysis.ledger_of(tunnel, direction);
        let judged = ledger.is_some_and(|ledger| ledger.basis == LedgerBasis::Acknowledgements);
        let account = analysis.account_of(tunnel, direction).filter(|_| judged);
        let costs = account.is_none_or(|own| lost_to_losses(own) > INTEREST * own.seconds);
        let sas = || analysis.sas_towards(tunnel, direction);
        let missing: u64 = sas().map(|sa| sa.sequence.missing).sum();
        let sent = missing + sas().map(|sa| sa.packets).sum::<u64>();
        (costs && missing as f64 > least * sent as f64).then_some(ToldPathLoss {
            tunnel,
            direction,
            finding,
            missing,
            sent,
        })
    });
    let share = |told: &ToldPathLoss<'_>| told.missing as f64 / told.sent as f64;
    lossy.max_by(|a, b| share(a).total_cmp(&share(b)))
}

/// Segments that were lost before they were encrypted.
#[derive(Debug, Clone, Copy)]
pub struct ToldLostBefore<'a> {
    /// The account of the direction that sent them.
    pub account: &'a Account,
    /// The finding that counts them.
    pub finding: &'a Finding,
    /// Seconds that the transfer lost to losses.
    pub lost_seconds: f64,
}

/// The direction of a tunnel that lost most to segments that were lost before encryption, where that is of interest, and more than rekeys cost.
pub fn told_lost_before<'a>(analysis: &'a Analysis, tunnel: usize) -> Option<ToldLostBefore<'a>> {
    let told = |account: &'a Account| {
        let side = (tunnel, account.direction);
        let lost_seconds = lost_to_losses(account);
        let ledger = analysis.ledger_of(tunnel, account.direction)?;
        let least = (INTEREST * account.seconds).max(ledger.cost_seconds);
        let finding = finding_of(analysis, FindingKind::LostBeforeEncryption, side)?;
        (lost_seconds > least).then_some(ToldLostBefore {
            account,
            finding,
            lost_seconds,
        })
    };
    let own = analysis.account.iter().filter(|account| account.tunnel == tunnel);
    own.filter_map(told)
        .max_by(|a, b| a.lost_seconds.total_cmp(&b.lost_seconds))
}

/// Tells whether an outage that nothing explains is one of many waits for segments, or for acknowledgements, that were lost before encryption.
pub(super) fn waits_for_lost(analysis: &Analysis, outage: &Outage) -> bool {
    let explanation = outage.explanation.as_ref();
    let unexplained = explanation.is_some_and(|e| e.cause == ExplanationCause::Unexplained);
    let told = || told_lost_before(analysis, outage.tunnel);
    unexplained && outage.end.is_some() && told().is_some_and(|told| told.lost_seconds > outage.seconds)
}
