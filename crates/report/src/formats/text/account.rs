//! The account of the time, with `-v`.

use crate::formats::comparison::gap_title;
use crate::formats::sections::Page;
use crate::formats::terminal::TerminalPage;
use crate::tables;
use crate::words::focus::Focus;
use crate::words::{self, clean};

/// Accounts shown; the others are in the document.
const MOST_ACCOUNTS: usize = 8;

/// The sentence of every direction, its table and the filters of its longest stretches.
pub(super) fn section(page: &mut TerminalPage, focus: &Focus) {
    let t = focus.t;
    let accounts = words::accounts(focus.analysis);
    if accounts.is_empty() {
        return;
    }
    page.heading(&t.word("heading-account"));
    for account in accounts.into_iter().take(MOST_ACCOUNTS) {
        let sentence = clean::said(t, &account.sentence, &account.messages);
        if words::is_headline(focus, account) {
            page.paragraph(&sentence);
        } else {
            let direction = words::direction(t, focus.analysis, account.tunnel, account.direction);
            page.paragraph(&fill!(t, "direction-sentence", direction, sentence));
        }
        page.paragraphs(&Vec::from_iter(words::outage_note(focus, account)));
        page.table(&tables::account(focus, account));
        for line in account.labels.iter().filter(|l| !l.evidence.is_empty()) {
            let label = words::account_label(t, line.label);
            let said = |filter: &str| fill!(t, "account-filter", label, filter);
            page.filter(said, &words::stretches_filter(line));
        }
    }
    if let Some(gap) = &focus.analysis.gap {
        page.heading(&gap_title(t, gap));
        page.paragraph(&clean::said(t, &gap.sentence, &gap.messages));
        page.table(&tables::gap(t, gap));
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::text::{TextOptions, render, render_in_full};
    use rekeyscope_impact::compare;
    use rekeyscope_model::analysis::{AccountLabel, Analysis};
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    const WIDE: TextOptions = TextOptions {
        width: 220,
        color: false,
        language: Language::English,
    };

    #[test]
    fn every_direction_has_its_table_and_filters() {
        let mut document = example::seven_rekeys();
        let mut other = document.account[0].clone();
        (other.direction, other.sentence) = (other.direction.reverse(), "The other way.".into());
        document.account.push(other);
        let full = render_in_full(&document, WIDE);
        assert!(full.contains("(frame.number >= 151 && frame.number <= 301) || ("));
        assert!(
            full.contains("\n10.9.0.2 → 10.9.255.1: The other way.\n"),
            "{full}"
        );
        assert_eq!(full.matches("\ngrowing rate ").count(), 2, "{full}");
        let text = render(&document, WIDE);
        assert!(
            text.contains("\nIt took 28 s, 2.5 s longer than at 9.60 Mbit/s:\n"),
            "{text}"
        );
        assert!(
            !text.contains("The other way.") && !text.contains("frame.number >= 151"),
            "{text}"
        );
        assert_eq!(text.matches("\ngrowing rate ").count(), 1, "{text}");
        document.account.clear();
        assert!(!render(&document, WIDE).contains("growing rate"));
    }

    #[test]
    fn a_reference_is_compared_label_by_label() {
        let fast = Analysis {
            account: vec![example::account(
                9.6,
                &[(AccountLabel::Capacity, 20.0, 24_000_000)],
            )],
            ..example::seven_rekeys()
        };
        let document = example::seven_rekeys();
        let rows = [("slow.pcapng", &document), ("fast.pcapng", &fast)];
        let [own, reference] = rows.map(|(name, document)| compare::row_of(name, document));
        let document = Analysis {
            gap: compare::gap(&own, &reference),
            ..document
        };
        let text = render_in_full(&document, WIDE);
        let (_, gap) = text.split_once("\nslow.pcapng against fast.pcapng\n").unwrap();
        assert!(
            gap.starts_with("Of 83 s per GB that slow.pcapng takes longer than fast.pcapng, "),
            "{gap}"
        );
        assert!(gap.contains("\nall "), "{gap}");
    }
}
