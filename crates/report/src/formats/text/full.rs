//! Everything that the document says, for whoever checks the answer: `-v`.

use crate::formats::comparison::gap_title;
use crate::formats::sections::{self, Page};
use crate::formats::sparkline;
use crate::formats::terminal::TerminalPage;
use crate::formats::text::top::{TextOptions, answer_lines, leaks};
use crate::tables::{self, Table};
use crate::words::focus::Focus;
use crate::words::{self, clean, format};
use rekeyscope_model::analysis::{Impact, KeyFile};
use rekeyscope_model::text::Catalogue;

/// Tunnels that get tables of their own; the others are in the table of verdicts.
const MOST_TUNNELS: usize = 4;
/// Rows of the longest tables.
const ALL_ROWS: usize = TerminalPage::MOST_ROWS;
/// Flows listed.
const MOST_FLOWS: usize = 10;
/// Verdicts listed.
const MOST_VERDICTS: usize = 60;
/// Entries of each remaining list, and rekeys around which an overlay is shown.
const MOST_ENTRIES: usize = TerminalPage::MOST_ENTRIES;

/// The report, ending in a newline.
pub(super) fn page(focus: &Focus, options: TextOptions) -> String {
    let mut page = TerminalPage::new(options.width, options.color);
    leaks(&mut page, focus);
    answer_lines(&mut page, focus);
    verdict(&mut page, focus);
    accounts(&mut page, focus);
    sections::two_points(&mut page, focus);
    capture(&mut page, focus);
    for &tunnel in focus.tunnels.iter().take(MOST_TUNNELS) {
        tunnel_tables(&mut page, focus, tunnel);
    }
    let left_out = focus.tunnels.len().saturating_sub(MOST_TUNNELS);
    if left_out > 0 {
        page.blank();
        page.paragraph(&format::counted(focus.t, "left-out-tunnels", left_out as u64));
    }
    sections::overlays(&mut page, focus);
    let events = words::events(focus);
    sections::list(&mut page, focus.t, &focus.t.word("heading-events"), &events);
    sections::causes(&mut page, focus);
    sections::findings(&mut page, focus);
    keys(&mut page, focus);
    sections::diagnostics(&mut page, focus);
    more_tables(&mut page, focus);
    page.finish()
}

/// Sections of the full report alone.
fn more_tables(page: &mut TerminalPage, focus: &Focus) {
    let t = focus.t;
    sections::advice(page, focus);
    let tables = [
        ("heading-projection", tables::projection(focus)),
        ("heading-overhead", tables::overhead(focus)),
        ("heading-flows", tables::flows(focus, MOST_FLOWS)),
    ];
    for (title, table) in &tables {
        listed(page, &t.word(title), table);
    }
    page.heading(&t.word("heading-reproduce"));
    page.paragraph(&words::command(focus.analysis));
}

fn verdict(page: &mut TerminalPage, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    if let Some(said) = words::in_full(focus) {
        page.heading(&t.word("heading-verdict"));
        page.paragraph(&said);
    }
    let Some(headline) = analysis.impact.first() else {
        return;
    };
    page.blank();
    let direction = |i: &Impact| words::direction(t, analysis, i.tunnel, i.direction);
    let also = |one: &Impact| {
        let sentence = clean::said(t, &one.sentence, &one.messages);
        fill!(t, "direction-sentence", direction = direction(one), sentence)
    };
    let rows = [
        ("label-direction", Some(direction(headline))),
        ("label-rates", words::rates(t, headline)),
        (
            "label-also",
            match focus.other_verdicts() {
                [one] => Some(also(one)),
                _ => None,
            },
        ),
    ];
    let rows: Vec<(String, String)> = rows
        .into_iter()
        .filter_map(|(label, text)| Some((t.word(label), text?)))
        .collect();
    page.labelled(&rows);
    if focus.other_verdicts().len() > 1 {
        page.heading(&t.word("heading-verdicts"));
        page.table(&tables::verdicts(focus, MOST_VERDICTS));
    }
    let transfers = tables::transfers(focus, MOST_VERDICTS);
    listed(page, &t.word("heading-transfers"), &transfers);
}

/// A table below its heading; neither where it has no rows.
fn listed(page: &mut TerminalPage, heading: &str, table: &Table) {
    if !table.rows.is_empty() {
        page.heading(heading);
        page.table(table);
    }
}

fn capture(page: &mut TerminalPage, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    page.heading(&t.word("heading-capture"));
    page.paragraph(&words::capture(t, &analysis.capture));
    page.paragraph(&t.sentences(&words::quality(t, &analysis.capture)));
    page.paragraph(&words::decryption(t, analysis));
}

fn tunnel_tables(page: &mut TerminalPage, focus: &Focus, tunnel: usize) {
    let t = focus.t;
    let Some(ends) = focus.analysis.tunnels.get(tunnel) else {
        return;
    };
    page.heading(&fill!(
        t,
        "heading-tunnel-rekeys",
        tunnel,
        what = words::tunnel(t, ends),
        rekeys = focus.counted_rekeys(tunnel)
    ));
    if let Some(spark) = sparkline::draw(focus, tunnel, page.width()) {
        page.paragraph(&spark.caption);
        page.line(spark.rates.trim_end());
        page.line(spark.marks.trim_end());
    }
    page.table(&tables::rekeys(focus, tunnel, ALL_ROWS));
    page.paragraphs(&words::trigger_rules(t, focus.analysis, tunnel));
    let attempts = tables::attempts(focus, tunnel, true, ALL_ROWS);
    let heading = fill!(t, "heading-attempts-of", tunnel);
    listed(page, &heading, &attempts);
    if !attempts.rows.is_empty() {
        words::outages(focus, tunnel, MOST_ENTRIES)
            .iter()
            .for_each(|outage| page.item(outage));
    }
    let sas = tables::security_associations(focus, tunnel, ALL_ROWS);
    listed(page, &fill!(t, "heading-sas-of", tunnel), &sas);
}

fn keys(page: &mut TerminalPage, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    let missing = words::missing_keys(t, analysis);
    if analysis.key_files.is_empty() && missing.is_empty() {
        return;
    }
    page.heading(&t.word("heading-keys"));
    let files = &analysis.key_files;
    list_key_files(page, t, files, MOST_ENTRIES, TerminalPage::more);
    page.paragraphs(&missing);
}

/// The key files that were read, each with what could not be; at most `most` of either, then `more`.
pub(crate) fn list_key_files(
    page: &mut TerminalPage,
    t: &Catalogue,
    files: &[KeyFile],
    most: usize,
    more: fn(&mut TerminalPage, &Catalogue, usize),
) {
    for file in files.iter().take(most) {
        page.item(&words::key_file(t, file));
        for problem in file.problems.iter().take(most) {
            page.paragraph(&format!("   {}", clean::line(problem)));
        }
        more(page, t, file.problems.len());
    }
    more(page, t, files.len());
}

// The account of the time, with `-v`.

/// Accounts shown; the others are in the document.
const MOST_ACCOUNTS: usize = 8;

/// The sentence of every direction, its table and the filters of its longest stretches.
fn accounts(page: &mut TerminalPage, focus: &Focus) {
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
