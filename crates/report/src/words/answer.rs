//! The answer in three lines, in words: the number, why, and what to do. What else a report says stands behind it.

mod client;
mod cost;
mod findings;
mod one_sa;
mod outage;
mod reasons;
mod remedy;
mod set_up;
mod standstill;

/// The three lines that everyone reads; line 1 is one of 80 columns in English.
pub(crate) use rekeyscope_model::analysis::AnswerLines as Answer;

use crate::words::focus::Focus;
use rekeyscope_impact::answer::ToldAnswer;
use rekeyscope_model::analysis::{AccountLabel, Analysis, ExplanationCause, Outage, Verdict};
use rekeyscope_model::text::{Language, Message, Said};

/// The answer of a document. Of several clients the one that it speaks of is named.
pub(crate) fn answer(focus: &Focus) -> Answer {
    let mut answer = lines(focus).unwrap_or_else(|| cost::of_no_verdict(focus, 0));
    if focus.answer.is_beside_rekeys(focus.analysis) {
        answer.change = focus
            .t
            .sentences(&[answer.change, focus.t.word("do-beside-rekeys")]);
    }
    let host = match &focus.answer {
        ToldAnswer::Cost(told) => client::host(focus, told.headline),
        _ => None,
    };
    let client = || client::client(focus, focus.answer.tunnel()?);
    match host.or_else(client) {
        Some(client) => {
            let headline = fill!(focus.t, "answer-of-client", client, sentence = answer.headline);
            Answer { headline, ..answer }
        }
        None => answer,
    }
}

fn lines(focus: &Focus) -> Option<Answer> {
    use ToldAnswer as Told;
    let since = |cause, event| standstill::of_nothing_since(focus, cause, event);
    match &focus.answer {
        Told::Disorder(capture) => Some(findings::of_disorder(focus, capture)),
        Told::Clear(finding, outages) => {
            let outage = outages
                .as_ref()
                .and_then(|told| outage::of_outages(focus, told, None));
            Some(findings::of_clear(focus, finding, outage))
        }
        Told::Login(refusals) => set_up::of_login(focus, refusals),
        Told::Outages(told, everywhere) => outage::of_outages(focus, told, everywhere.as_ref()),
        Told::LostBefore(told) => findings::of_lost_before(focus, told),
        Told::Turns(event) => Some(standstill::of_turns(focus, event)),
        Told::Elsewhere(tunnel, event) => Some(standstill::of_elsewhere(focus, tunnel, event)),
        Told::SlowSa(told, headline) => one_sa::of_slow_sa(focus, told, headline),
        Told::Orphan(told) => one_sa::of_orphan(focus, told),
        Told::Childless(event) => since(ExplanationCause::Refused, event),
        Told::SetUp(told) => Some(set_up::of_set_up(focus, told)),
        Told::Ended(told) => Some(set_up::of_ended(focus, told)),
        Told::DialledAgain(told) => standstill::of_dialled_again(focus, told),
        Told::NoReturn(told) => standstill::of_no_return(focus, told),
        Told::LeftBehind(tunnel, event) => standstill::of_left_behind(focus, tunnel, event),
        Told::SilentEsp(event) => since(ExplanationCause::EspSilent, event),
        Told::CutOff(delete, headline) => Some(standstill::of_cut_off(focus, delete, headline)),
        Told::TornDown(told) => standstill::of_torn_down(focus, told),
        Told::Standstill(told, headline) => Some(standstill::of_standstill(focus, told, headline)),
        Told::FailedRenewal(told) => Some(one_sa::of_failed_renewal(focus, told)),
        Told::PathLoss(told) => Some(findings::of_path_loss(focus, told)),
        Told::SilentHost(told) => Some(standstill::of_silent_host(focus, told)),
        Told::Cost(told) => Some(cost::of_cost(focus, told)),
        Told::NoVerdict { renewals } => Some(cost::of_no_verdict(focus, *renewals)),
    }
}

/// A figure beside line 1.
pub(crate) enum LineFigure<'a> {
    /// The time for which nothing passed.
    Outage(&'a Outage),
    /// The share of the transfer that was lost to a label, and whether it is a lower bound.
    Lost(AccountLabel, f64, bool),
}

/// The figure of what line 1 is about, where it has one.
pub(crate) fn figure<'a>(focus: &Focus<'a>) -> Option<LineFigure<'a>> {
    match &focus.answer {
        ToldAnswer::Outages(told, _) => Some(LineFigure::Outage(told.outage)),
        ToldAnswer::Cost(told) => {
            let ledger = focus.ledger(told.headline)?;
            if let Some(lost) = told.leads {
                return Some(LineFigure::Lost(lost.line.label, lost.share(), false));
            }
            (told.headline.verdict == Verdict::Shown).then_some(LineFigure::Lost(
                AccountLabel::Rekey,
                ledger.share,
                ledger.at_least,
            ))
        }
        _ => None,
    }
}

/// The question that the answer answers: the title of a report.
pub(crate) fn question(focus: &Focus) -> String {
    focus.t.word(match focus.answer.is_failure() {
        true => "report-title-failure",
        false => "report-title",
    })
}

/// The three lines of a document in English, as the document keeps them for those who read JSON.
pub fn answer_lines(analysis: &Analysis) -> Answer {
    answer(&Focus::new(analysis, Language::English))
}

/// Line 1 in every language, and the tunnel that it speaks of, for lines that are said without the document.
pub fn line_1(analysis: &Analysis) -> (Option<usize>, Said) {
    let focus = Focus::new(analysis, Language::English);
    let japanese = answer(&Focus::new(analysis, Language::Japanese)).headline;
    let said = Message::new("watch-answer")
        .with("english", answer(&focus).headline)
        .with("japanese", japanese);
    (focus.answer.tunnel(), said.into())
}

#[cfg(test)]
mod tests;
