//! Where the time went, on a terminal.

use crate::formats::comparison::gap_title;
use crate::formats::terminal::TerminalPage;
use crate::tables;
use crate::words;
use crate::words::focus::Focus;

/// Accounts shown; the others are in the document.
const MOST_ACCOUNTS: usize = 8;

/// The labels of the headline's direction, and what is said of the others; in the full report every table, and the filters.
pub(super) fn section(page: &mut TerminalPage, focus: &Focus, full: bool) {
    let t = focus.t;
    let accounts = words::accounts(focus.analysis);
    if accounts.is_empty() {
        return;
    }
    page.heading(&t.word("heading-account"));
    for account in accounts.into_iter().take(MOST_ACCOUNTS) {
        let headline = words::is_headline(focus, account);
        if !headline {
            let direction = words::direction(t, focus.analysis, account.tunnel, account.direction);
            let sentence = words::account(t, account);
            page.paragraph(&t.fill(
                "direction-sentence",
                &[("direction", &direction), ("sentence", &sentence)],
            ));
        }
        if headline || full {
            page.table(&tables::account(focus, account));
        }
        for line in account.labels.iter().filter(|l| full && !l.evidence.is_empty()) {
            let label = words::account_label(t, line.label);
            let label = t.fill("account-filter", &[("label", &label), ("filter", "")]);
            page.filter(&label, &words::stretches_filter(line));
        }
    }
    if let Some(gap) = &focus.analysis.gap {
        page.heading(&gap_title(t, gap));
        page.paragraph(&words::gap(t, gap));
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
    fn the_account_is_the_second_sentence() {
        let document = example::seven_rekeys();
        let text = render(&document, WIDE);
        assert_eq!(text.lines().nth(1), Some(document.account[0].sentence.as_str()));
        assert!(text.contains("\nWhere the time went\n") && !text.contains("frame.number >= 151"));
        assert!(
            render_in_full(&document, WIDE).contains("(frame.number >= 151 && frame.number <= 301) || (")
        );
        let old = Analysis {
            account: Vec::new(),
            ..document
        };
        let text = render(&old, WIDE);
        assert!(
            text.lines().nth(1) == Some("") && !text.contains("Where the time went"),
            "{text}"
        );
    }

    #[test]
    fn another_direction_is_told_below() {
        let mut document = example::seven_rekeys();
        let mut other = document.account[0].clone();
        (other.direction, other.sentence) = (other.direction.reverse(), "The other way.".into());
        document.account.push(other);
        let text = render(&document, WIDE);
        assert!(
            text.contains("\n10.9.0.2 → 10.9.255.1: The other way.\n"),
            "{text}"
        );
        assert_eq!(text.matches("\ngrowing rate ").count(), 1, "one table: {text}");
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
        let text = render(&document, WIDE);
        let (_, gap) = text.split_once("\nslow.pcapng against fast.pcapng\n").unwrap();
        assert!(
            gap.starts_with("Of 97 s per GB that slow.pcapng takes longer than fast.pcapng, "),
            "{gap}"
        );
        assert!(gap.contains("\nall "), "{gap}");
    }
}
