//! The account of the time, in words.

use crate::words::capture::day_and_time;
use crate::words::clean;
use crate::words::focus::Focus;
use crate::words::format;
use crate::words::lengths::moment;
use rekeyscope_impact::explain::row_of;
use rekeyscope_impact::tell::account::{while_it_ran, with_sign};
use rekeyscope_impact::verdict::LEAST_SHARE;
use rekeyscope_model::analysis::{Account, AccountEvidence, AccountLabel, AccountLine, Analysis, OwnRate};
use rekeyscope_model::text::Catalogue;

/// The accounts that have something to show, that of the headline's direction first.
pub(crate) fn accounts(analysis: &Analysis) -> Vec<&Account> {
    let headline = analysis.impact.first().map(|i| (i.tunnel, i.direction));
    let shown = analysis.account.iter().filter(|a| !a.labels.is_empty());
    let mut all: Vec<&Account> = shown.collect();
    all.sort_by_key(|a| Some((a.tunnel, a.direction)) != headline);
    all
}

pub(crate) fn is_headline(focus: &Focus, account: &Account) -> bool {
    let first = focus.analysis.impact.first();
    first.is_some_and(|i| (i.tunnel, i.direction) == (account.tunnel, account.direction))
}

/// The sentence of the headline's direction, where that has an account.
pub(crate) fn account_of_headline(focus: &Focus) -> Option<String> {
    let first = accounts(focus.analysis).into_iter().next()?;
    let said = is_headline(focus, first).then(|| clean::said(focus.t, &first.sentence, &first.messages))?;
    (!said.is_empty()).then_some(said)
}

/// Words what an account counts as an outage where that is more than line 1 tells of: all traffic of the direction, not one pair of inner
/// addresses; the time until the rate was back; or only the time while the transfer ran.
pub(crate) fn outage_note(focus: &Focus, account: &Account) -> Option<String> {
    let told = focus.outages()?;
    let same = (told.outage.tunnel, told.outage.direction) == (account.tunnel, account.direction);
    let mut labels = account.labels.iter();
    let line = labels.find(|line| same && line.label == AccountLabel::TunnelDown)?;
    let ledger = focus.analysis.ledger_of(account.tunnel, account.direction);
    let of_pair = ledger.is_some_and(|ledger| ledger.inner.is_some());
    if !told.others_pass {
        let within = while_it_ran(account, told.outage);
        let [silent, lost, within] = [told.outage.seconds, line.lost_seconds, within].map(|seconds| {
            let n = seconds_of(seconds, account.lost_seconds);
            fill!(focus.t, "outage-seconds", n)
        });
        let one = ledger.is_some_and(|ledger| ledger.down.len() == 1) && silent != lost;
        // An outage that stays down, or that lets small packets pass, has no time until the rate was back.
        let passed = told.outage.end.is_some() && !row_of(told.explanation.cause).lets_small_pass;
        return match () {
            () if one && silent != within => Some(fill!(focus.t, "account-beyond", silent, within)),
            () if one && passed => Some(fill!(focus.t, "account-down", silent, lost)),
            () => None,
        };
    }
    let (_, receiver) = told.outage.inner?;
    Some(match of_pair {
        true => fill!(focus.t, "account-of-pair", receiver),
        false => {
            let seconds = format::seconds(told.outage.seconds);
            fill!(focus.t, "account-pair-down", receiver, seconds)
        }
    })
}

/// A label.
pub(crate) fn account_label(t: &Catalogue, label: AccountLabel) -> String {
    t.name("account", label.as_str())
}

/// A label of an account: without TCP the rest is not unexplained, nothing tells it apart.
pub(crate) fn account_label_of(t: &Catalogue, account: &Account, label: AccountLabel) -> String {
    match label {
        AccountLabel::Unexplained if account.rtt_ms.is_none() => t.word("account-undivided"),
        _ => account_label(t, label),
    }
}

/// Whence times count, and when the transfer of an account ran.
pub(crate) fn times(focus: &Focus, account: &Account) -> String {
    let (t, span) = (focus.t, account.end.seconds_since(account.start));
    let first = day_and_time(&focus.analysis.capture);
    let rests = span - account.seconds;
    let seconds = format::seconds(rests);
    let told = (rests > LEAST_SHARE * span).then(|| fill!(t, "answer-rests", seconds));
    let [from, to] = [account.start, account.end].map(|time| moment(focus, time));
    fill!(
        t,
        "answer-times",
        first,
        from,
        to,
        rests = told.unwrap_or_default()
    )
}

/// A label of seconds that were lost: a path loses where it carries less than its best.
pub(crate) fn loss_label(t: &Catalogue, label: AccountLabel) -> String {
    match label {
        AccountLabel::Capacity => t.word("account-below-best"),
        _ => account_label(t, label),
    }
}

/// A label as line 1 calls what was lost to it.
pub(crate) fn lost_to(t: &Catalogue, label: AccountLabel) -> String {
    fill!(t, "lost-to", kind = label.as_str(), label = loss_label(t, label))
}

/// Notes on an account's figures.
pub(crate) fn account_notes(t: &Catalogue, account: &Account) -> Vec<String> {
    let rate = crate::words::format::rate(account.reference_mbps * 1e6);
    let mut notes = vec![fill!(t, "note-account", rate)];
    if account.own_from == OwnRate::Best && !account.reference_given {
        notes.push(t.word("note-account-best"));
    }
    notes
}

/// Shows the packets of a stretch in Wireshark.
pub(crate) fn stretch_filter(stretch: &AccountEvidence) -> String {
    frames_filter(stretch.from_frame, stretch.to_frame)
}

/// Seconds of a stretch.
pub(crate) fn stretch_length(stretch: &AccountEvidence) -> String {
    seconds_of(stretch.seconds, stretch.seconds)
}

/// Shows these frames in Wireshark, and all between them; all from `from` on where `to` is 0, because nothing ends the stretch.
pub(crate) fn frames_filter(from: u64, to: u64) -> String {
    if to == 0 {
        return format!("frame.number >= {from}");
    }
    format!("frame.number >= {from} && frame.number <= {to}")
}

/// The longest stretches of a label at once.
pub(crate) fn stretches_filter(line: &AccountLine) -> String {
    let each = line.evidence.iter().map(|s| format!("({})", stretch_filter(s)));
    each.collect::<Vec<_>>().join(" || ")
}

/// Seconds beside others of a `whole`: as many decimals for all of them.
pub(crate) fn seconds_of(s: f64, whole: f64) -> String {
    if !s.is_finite() {
        return crate::words::format::UNKNOWN.to_owned();
    }
    with_sign(&match whole.abs() {
        w if w < 0.995 => format!("{s:.3}"),
        w if w < 9.95 => format!("{s:.2}"),
        _ => format!("{s:.1}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_testkit::example;

    #[test]
    fn the_headlines_direction_comes_first() {
        let mut document = example::seven_rekeys();
        let mut other = document.account[0].clone();
        other.direction = other.direction.reverse();
        document.account.insert(0, other);
        assert_eq!(accounts(&document)[0].direction, document.impact[0].direction);
        document.account[0].labels.clear();
        assert_eq!(accounts(&document).len(), 1);
    }

    #[test]
    fn one_outage_note_beside_others_is_told_apart() {
        let mut all = example::outages().into_iter();
        let is_silent = |own: &Analysis| {
            example::cause_of(own) == rekeyscope_model::analysis::ExplanationCause::PeerSilent
        };
        let mut document = all.find(is_silent).unwrap();
        let said = |document: &Analysis| {
            let focus = Focus::new(document, rekeyscope_model::text::Language::English);
            outage_note(&focus, &document.account[0])
        };
        document.outages[0].inner = Some(("10.66.1.1".parse().unwrap(), "10.66.1.2".parse().unwrap()));
        document.account[0].labels[0].label = AccountLabel::TunnelDown;
        document.flows.clear();
        assert_eq!(said(&document), None, "nothing else passed");
        document.flows = vec![example::seven_rekeys().flows.remove(0)];
        assert_eq!(
            said(&document).as_deref(),
            Some(
                "outage: nothing passed to 10.66.1.2 for 5.60 s, other traffic went on; counted is what this direction lost in all."
            )
        );
    }

    /// The transfer ends before the outage does: line 1 and the table tell of two times.
    #[test]
    fn an_outage_that_outlasts_the_transfer_says_how_much_of_it_counts() {
        let mut all = example::outages().into_iter();
        let mut document = all.find(|own| own.outages[0].end.is_some()).unwrap();
        let failed = example::all().into_iter().flat_map(|own| own.ledger);
        document.ledger[0].down = failed
            .map(|ledger| ledger.down)
            .find(|down| down.len() == 1)
            .unwrap();
        let outage = document.outages[0].clone();
        let mut account = document.account[0].clone();
        (account.tunnel, account.direction) = (outage.tunnel, outage.direction);
        account.labels[0].label = AccountLabel::TunnelDown;
        let said = |document: &Analysis, account: &Account| {
            outage_note(
                &Focus::new(document, rekeyscope_model::text::Language::English),
                account,
            )
        };
        account.end = outage.start.plus_seconds(outage.seconds - 1.0);
        account.labels[0].lost_seconds = outage.seconds - 1.0;
        let note = said(&document, &account).unwrap();
        assert!(note.ends_with(" of it while the transfer ran."), "{note}");
        account.end = outage.start.plus_seconds(outage.seconds);
        account.labels[0].lost_seconds = outage.seconds;
        assert_eq!(said(&document, &account), None);
    }

    #[test]
    fn figures_of_one_account_have_the_same_decimals() {
        assert_eq!(
            [12.0, 0.04, -0.04, -3.25].map(|s| seconds_of(s, 60.0)),
            ["12.0", "0.0", "0.0", "−3.2"]
        );
        assert_eq!([0.25, 1.0].map(|s| seconds_of(s, 1.25)), ["0.25", "1.00"]);
        assert_eq!(seconds_of(0.0124, 0.5), "0.012");
    }
}
