//! Facts by which an answer about the cost of rekeys is chosen: their cost beside what else a transfer lost time to, and the explanation that
//! most of them share.

use crate::explain::{
    ExplainedTime, ToldQueue, cost_row, leading_loss, names_renewal, told_loss, told_loss_beside, told_queue,
};
use rekeyscope_model::analysis::{
    Account, AccountLabel, AccountLine, Analysis, ExplanationCause, Impact, KeysFit, Ledger, LedgerBasis,
    LedgerRekey, LedgerWhy,
};
use std::collections::BTreeMap;

/// The explanation that cost most of the rekeys that hurt, with how many share it.
#[derive(Debug, Clone)]
pub struct SharedExplanation<'a> {
    /// The costliest of them, with the explanations of the others.
    pub time: ExplainedTime<'a>,
    /// Number of the rekeys.
    pub rekeys: usize,
}

/// The facts that reasons and remedy are chosen by.
pub(super) struct Cost<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) headline: &'a Impact,
    pub(super) ledger: Option<&'a Ledger>,
    pub(super) account: Option<&'a Account>,
    /// The line that lost most.
    pub(super) most: Option<&'a AccountLine>,
    /// Most of the cost is silence in which nothing is known to be lost.
    pub(super) silence_alone: bool,
}

impl<'a> Cost<'a> {
    pub(super) fn of(analysis: &'a Analysis, headline: &'a Impact) -> Self {
        let (tunnel, direction) = (headline.tunnel, headline.direction);
        let account = analysis.account_of(tunnel, direction);
        let ledger = analysis.ledger_of(tunnel, direction);
        Cost {
            analysis,
            headline,
            ledger,
            account: account.filter(|account| !account.labels.is_empty()),
            most: leading_loss(analysis, headline).or_else(|| told_loss(analysis, headline)),
            silence_alone: ledger.is_some_and(|ledger| is_silence_alone(analysis, headline, ledger)),
        }
    }

    /// The line to which the transfer lost more than to its rekeys, where something can be done about it.
    pub(super) fn more(&self) -> Option<&'a AccountLine> {
        self.most.filter(|line| cost_row(line.label).has_cure)
    }

    /// The line that lost most, where it is another than that of the rekeys.
    pub(super) fn most_beside_rekeys(&self) -> Option<&'a AccountLine> {
        self.most.filter(|line| line.label != AccountLabel::Rekey)
    }

    /// The line that the answer begins with.
    pub(super) fn leads(&self) -> Option<&'a AccountLine> {
        leading_loss(self.analysis, self.headline)
    }

    /// The queue that the answer begins with: what waits in it longer than timers do is worse off than by rekeys that do no harm.
    pub(super) fn queue_leads(&self) -> Option<ToldQueue> {
        let queue = match self.most {
            Some(line) => self.queue_behind(line),
            None => told_queue(self.analysis, self.headline),
        };
        let harmless = self.headline.verdict.is_harmless() && self.leads().is_none();
        queue.filter(|queue| harmless && queue.outlasts_timers)
    }

    /// The line to which the transfer lost as much as to the one that it lost most to. Both can be changed.
    pub(super) fn as_much(&self) -> Option<&'a AccountLine> {
        let other = told_loss_beside(self.analysis, self.headline, self.more()?);
        other.filter(|other| cost_row(other.label).has_cure)
    }

    /// The cause that cost most at the rekeys that hurt; `None` where nothing explains them.
    pub(super) fn shared(&self) -> Option<SharedExplanation<'a>> {
        let ledger = self.ledger?;
        let mut found: BTreeMap<ExplanationCause, Vec<&LedgerRekey>> = BTreeMap::new();
        for own in &ledger.rekeys {
            let cause = own.explanation.as_ref().map(|explanation| explanation.cause);
            if let Some(cause) = cause.filter(|cause| *cause != ExplanationCause::Unexplained) {
                found.entry(cause).or_default().push(own);
            }
        }
        let cost = |own: &Vec<&LedgerRekey>| own.iter().map(|rekey| rekey.cost_seconds).sum::<f64>();
        let most = found.into_values().max_by(|a, b| cost(a).total_cmp(&cost(b)))?;
        let costliest = most
            .iter()
            .max_by(|a, b| a.cost_seconds.total_cmp(&b.cost_seconds))?;
        let all = most.iter().filter_map(|own| own.explanation.as_ref());
        Some(SharedExplanation {
            time: ExplainedTime::of_rekey(ledger, costliest)?.of_all(all),
            rekeys: most.len(),
        })
    }
}

/// Tells whether most of the cost is silence in which nothing is known to be lost: an application that pauses there looks the same without
/// keys. Numbers that a new SA begins above 1 are those of lost packets, and what happened to messages and addresses is seen without keys. No
/// application pauses at each of several rekeys whose exchange is slow.
fn is_silence_alone(analysis: &Analysis, headline: &Impact, ledger: &Ledger) -> bool {
    let with_keys = analysis.keys_fit() == KeysFit::Some;
    let each = headline.rekeys_used > 1 && headline.rekeys_hurt.len() == headline.rekeys_used;
    let is_told = |own: &LedgerRekey| {
        own.explanation.as_ref().is_some_and(|e| match e.cause {
            ExplanationCause::NewSaLost | ExplanationCause::FirstNumber => with_keys || e.count.is_some(),
            ExplanationCause::AddressChanged
            | ExplanationCause::Unanswered
            | ExplanationCause::IkeFragments
            | ExplanationCause::AnsweredLate
            | ExplanationCause::GivenUp
            | ExplanationCause::GivenUpTooSoon
            | ExplanationCause::AnswerLost => true,
            ExplanationCause::SlowRenewal | ExplanationCause::SlowExchange => with_keys || each,
            ExplanationCause::BreakBeforeMake | ExplanationCause::Deleted => e.event.is_some(),
            cause => with_keys && names_renewal(cause),
        })
    };
    let cost = |silent: bool| -> f64 {
        let own = ledger.rekeys.iter().filter(|own| {
            let nothing_lost = own.swallowed == 0 && !is_told(own);
            (own.why == LedgerWhy::Silence && nothing_lost) == silent
        });
        own.map(|own| own.cost_seconds).sum()
    };
    ledger.basis != LedgerBasis::Acknowledgements && cost(true) > cost(false)
}
