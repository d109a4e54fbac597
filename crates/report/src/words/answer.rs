//! The answer in three lines: the number, why, and what to do. Chosen and put into words from the document; what else a report
//! says stands behind it.

mod change;
mod clear;
mod client;
mod disorder;
mod headline;
mod lines;
mod loss;
mod orphan;
mod outage;
mod set_up;
mod slow_sa;
mod standstill;
mod why;

pub(crate) use lines::Answer;

use crate::words::focus::Focus;
use rekeyscope_impact::explain::{share_of_transfer, told_outages};
use rekeyscope_model::analysis::{AccountLabel, Analysis, AnswerLines, Outage, Verdict};
use rekeyscope_model::text::{Language, Message, Said};

/// The answer of a document: of data in clear; of a login inside a tunnel that was refused; of its outages where they cost more than rekeys, or have
/// not ended; of an SA that is slower than its neighbours; of an SA that ended after its renewal had failed, where nothing shows its traffic; of a
/// tunnel that did not come up, or answers nothing; of what would explain an outage that is not seen; of a renewal that failed for good; else of
/// what rekeys cost. Of
/// several clients the one that it speaks of is named.
pub(crate) fn answer(focus: &Focus) -> Answer {
    if let Some(answer) = disorder::of_disorder(focus) {
        return answer;
    }
    let told = told(focus);
    let first = focus.analysis.impact.first();
    let host = match &told {
        None => first.and_then(|headline| client::host(focus, headline)),
        Some(_) => None,
    };
    let answer = told.unwrap_or_else(|| Answer {
        tunnel: first.map(|headline| headline.tunnel),
        headline: headline::headline(focus),
        why: why::why(focus),
        change: change::change(focus),
    });
    let client = || client::client(focus, answer.tunnel?);
    match host.or_else(client) {
        Some(client) => {
            let headline = fill!(focus.t, "answer-of-client", client, sentence = answer.headline);
            Answer { headline, ..answer }
        }
        None => answer,
    }
}

/// The answer that comes before the cost of rekeys, if there is one.
fn told(focus: &Focus) -> Option<Answer> {
    clear::of_clear(focus)
        .or_else(|| set_up::of_login(focus))
        .or_else(|| outage::of_outages(focus))
        .or_else(|| loss::of_lost_before(focus))
        .or_else(|| standstill::of_turns(focus))
        .or_else(|| standstill::of_elsewhere(focus))
        .or_else(|| slow_sa::of_slow_sa(focus))
        .or_else(|| orphan::of_orphan(focus))
        .or_else(|| standstill::of_childless(focus))
        .or_else(|| set_up::of_set_up(focus))
        .or_else(|| standstill::of_dialled_again(focus))
        .or_else(|| standstill::of_no_return(focus))
        .or_else(|| standstill::of_left_behind(focus))
        .or_else(|| standstill::of_silent_esp(focus))
        .or_else(|| standstill::of_cut_off(focus))
        .or_else(|| standstill::of_torn_down(focus))
        .or_else(|| standstill::of_standstill(focus))
        .or_else(|| orphan::of_failed_renewal(focus))
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
    let (analysis, headline) = (focus.analysis, focus.analysis.impact.first()?);
    if disorder::of_disorder(focus)
        .or_else(|| clear::of_clear(focus))
        .is_some()
    {
        return None;
    }
    if let Some(told) = told_outages(analysis) {
        return Some(LineFigure::Outage(told.outage));
    }
    let ledger = focus.ledger(headline).filter(|_| told(focus).is_none())?;
    match loss::leads(focus, headline) {
        Some(line) => Some(LineFigure::Lost(
            line.label,
            share_of_transfer(line, ledger),
            false,
        )),
        None => (headline.verdict == Verdict::Shown).then_some(LineFigure::Lost(
            AccountLabel::Rekey,
            ledger.share,
            ledger.at_least,
        )),
    }
}

/// The question that the answer answers: the title of a report.
pub(crate) fn question(focus: &Focus) -> String {
    focus.t.word(match told(focus).is_some() {
        true => "report-title-failure",
        false => "report-title",
    })
}

/// The three lines of a document in English, as the document keeps them for those who read JSON.
pub fn answer_lines(analysis: &Analysis) -> AnswerLines {
    let answer = answer(&Focus::new(analysis, Language::English));
    AnswerLines {
        headline: answer.headline,
        why: answer.why,
        remedy: answer.change,
    }
}

/// Line 1 in every language, and the tunnel that it speaks of, for lines that are said without the document.
pub fn line_1(analysis: &Analysis) -> (Option<usize>, Said) {
    let of = |language| answer(&Focus::new(analysis, language));
    let (english, japanese) = (of(Language::English), of(Language::Japanese));
    let said = Message::new("watch-answer")
        .with("english", english.headline)
        .with("japanese", japanese.headline);
    (english.tunnel, said.into())
}

#[cfg(test)]
mod tests;
