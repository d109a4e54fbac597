//! Changes that help where the time went to something other than rekeys.

use crate::words::account::{account_label, accounts, seconds_of};
use crate::words::advice::piece::Advice;
use crate::words::format::{self, capitalised};
use rekeyscope_impact::explain::cost_row;
use rekeyscope_model::analysis::{Account, AccountLabel, AccountLine, Analysis};
use rekeyscope_model::text::{Catalogue, Message};

/// Labels with a smaller share of what was lost are not worth a change.
const LEAST_SHARE: f64 = 0.1;

/// Advice for each label that lost enough in some direction, once: most lost first.
pub(super) fn advice(t: &Catalogue, analysis: &Analysis) -> Vec<Advice> {
    let mut lost: Vec<(&Account, &AccountLine)> = Vec::new();
    for account in accounts(analysis) {
        let worth = account
            .labels
            .iter()
            .filter(|l| l.lost_share.is_some_and(|share| share >= LEAST_SHARE));
        for line in worth {
            if lost.iter().all(|(_, other)| other.label != line.label) {
                lost.push((account, line));
            }
        }
    }
    lost.sort_by(|a, b| b.1.lost_seconds.total_cmp(&a.1.lost_seconds));
    lost.into_iter()
        .filter_map(|(account, line)| of(t, account, line))
        .collect()
}

/// Advice about one label alone.
pub(crate) fn of_label(t: &Catalogue, label: AccountLabel) -> Option<Advice> {
    cost_row(label).has_cure.then(|| Advice {
        system: capitalised(&account_label(t, label)),
        because: None,
        text: Message::of("advice", label.as_str()),
    })
}

fn of(t: &Catalogue, account: &Account, line: &AccountLine) -> Option<Advice> {
    let lost = Message::new("advice-lost").with("seconds", seconds_of(line.lost_seconds, account.seconds));
    let because = match line.without_mbps {
        Some(mbps) => Message::new("advice-lost-rate")
            .with("lost", lost)
            .with("rate", format::rate(mbps * 1e6)),
        None => lost,
    };
    Some(Advice {
        because: Some(because),
        ..of_label(t, line.label)?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    fn said(analysis: &Analysis, language: Language) -> Vec<String> {
        let t = Catalogue::of(language);
        advice(t, analysis).iter().map(|a| a.sentence(t)).collect()
    }

    #[test]
    fn what_lost_most_comes_first_with_the_rate_without_it() {
        let mut document = example::seven_rekeys();
        let labels = [
            (AccountLabel::ReceiveWindow, 20.0, 20_000_000),
            (AccountLabel::Application, 12.0, 0),
            (AccountLabel::Reordering, 1.0, 0),
            (AccountLabel::Rekey, 9.0, 0),
        ];
        document.account = vec![example::account(40.0, &labels)];
        let all = said(&document, Language::English);
        assert_eq!(all.len(), 2, "{all:?}");
        assert!(
            all[0].starts_with(
                "Receiver's window (16.0 s lost; without it about 6.15 Mbit/s, an estimate): enlarge "
            ),
            "{}",
            all[0]
        );
        assert!(all[1].starts_with("Idle sender (12.0 s lost; "), "{}", all[1]);
        document.account.clear();
        assert!(said(&document, Language::English).is_empty());
    }

    #[test]
    fn every_label_with_advice_has_it_in_both_languages() {
        for label in example::LABELS {
            let mut document = example::seven_rekeys();
            document.account = vec![example::account(40.0, &[(label, 20.0, 0)])];
            for language in Language::ALL {
                let all = said(&document, language);
                assert_eq!(all.len(), usize::from(cost_row(label).has_cure), "{label}");
            }
        }
    }
}
