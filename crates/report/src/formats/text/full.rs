//! Everything that the document says, for whoever checks the answer: `-v`.

use crate::formats::sparkline;
use crate::formats::terminal::TerminalPage;
use crate::formats::text::account;
use crate::formats::text::top::{TextOptions, answer_lines, leaks};
use crate::tables;
use crate::words::focus::{Focus, is_hurt};
use crate::words::{self, advice, clean, format};
use rekeyscope_model::analysis::{Impact, KeyFile};
use rekeyscope_model::text::Catalogue;

/// Tunnels that get tables of their own; the others are in the table of verdicts.
const MOST_TUNNELS: usize = 4;
/// Rows of the longest tables: more is for a program to read.
const ALL_ROWS: usize = 100_000;
/// Flows listed.
const MOST_FLOWS: usize = 10;
/// Verdicts listed.
const MOST_VERDICTS: usize = 60;
/// Entries of each remaining list, and rekeys around which an overlay is shown.
const MOST_ENTRIES: usize = 40;

/// The report, ending in a newline.
pub(super) fn page(focus: &Focus, options: TextOptions) -> String {
    let mut page = TerminalPage::new(options.width, options.color);
    leaks(&mut page, focus);
    answer_lines(&mut page, focus);
    verdict(&mut page, focus);
    account::section(&mut page, focus);
    two_points(&mut page, focus);
    capture(&mut page, focus);
    for &tunnel in focus.tunnels.iter().take(MOST_TUNNELS) {
        tunnel_tables(&mut page, focus, tunnel);
    }
    let left_out = focus.tunnels.len().saturating_sub(MOST_TUNNELS);
    if left_out > 0 {
        page.blank();
        let n = format::count(left_out as u64);
        page.paragraph(&focus.t.fill("left-out-tunnels", &[("n", &n)]));
    }
    overlays(&mut page, focus);
    events(&mut page, focus);
    causes(&mut page, focus);
    findings(&mut page, focus);
    keys(&mut page, focus);
    diagnostics(&mut page, focus);
    more_tables(&mut page, focus);
    page.finish()
}

fn two_points(page: &mut TerminalPage, focus: &Focus) {
    let t = focus.t;
    let Some(points) = &focus.analysis.two_points else {
        return;
    };
    page.heading(&t.word("heading-two-points"));
    page.paragraph(&clean::said(t, &points.sentence, &points.messages));
    page.table(&tables::two_points(t, points));
    let listed = words::lost_between(t, points, ALL_ROWS);
    listed.iter().for_each(|sentence| page.item(sentence));
}

/// What only the full report has.
fn more_tables(page: &mut TerminalPage, focus: &Focus) {
    let t = focus.t;
    let advice = advice::advice(focus);
    if !advice.is_empty() {
        page.heading(&t.word("heading-advice"));
        advice.iter().for_each(|a| page.item(a));
    }
    let tables = [
        ("heading-projection", tables::projection(focus)),
        ("heading-overhead", tables::overhead(focus)),
        ("heading-flows", tables::flows(focus, MOST_FLOWS)),
    ];
    for (title, table) in tables.iter().filter(|t| !t.1.rows.is_empty()) {
        page.heading(&t.word(title));
        page.table(table);
    }
    page.heading(&t.word("heading-reproduce"));
    page.paragraph(&words::command(focus.analysis));
}

fn overlays(page: &mut TerminalPage, focus: &Focus) {
    for overlay in focus.analysis.overlays.iter().take(MOST_ENTRIES) {
        page.heading(&words::overlay(overlay));
        page.paragraphs(&words::overlay_sentences(focus.t, overlay));
        page.table(&tables::overlay(focus, overlay, MOST_ENTRIES));
    }
}

fn verdict(page: &mut TerminalPage, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    if let Some(said) = words::in_full(t, analysis) {
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
        t.fill(
            "direction-sentence",
            &[("direction", &direction(one)), ("sentence", &sentence)],
        )
    };
    let rows = [
        ("label-direction", Some(direction(headline))),
        ("label-explains", words::explained(t, headline)),
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
    if !transfers.rows.is_empty() {
        page.heading(&t.word("heading-transfers"));
        page.table(&transfers);
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
    let rekeys = focus.rekeys(tunnel).count();
    let hurt = focus.rekeys(tunnel).filter(|r| is_hurt(r)).count();
    page.heading(&t.fill(
        "heading-tunnel-rekeys",
        &[
            ("tunnel", &tunnel),
            ("what", &words::tunnel(t, ends)),
            ("rekeys", &format::counted(t, "counted-rekeys", rekeys as u64)),
            ("hurt", &hurt),
        ],
    ));
    if let Some(spark) = sparkline::draw(focus, tunnel, page.width()) {
        page.paragraph(&spark.caption);
        page.line(spark.rates.trim_end());
        page.line(spark.marks.trim_end());
    }
    page.table(&tables::rekeys(focus, tunnel, ALL_ROWS));
    page.paragraphs(&words::trigger_rules(t, focus.analysis, tunnel));
    let attempts = tables::attempts(focus, tunnel, true, ALL_ROWS);
    if !attempts.rows.is_empty() {
        page.heading(&t.fill("heading-attempts-of", &[("tunnel", &tunnel)]));
        page.table(&attempts);
        words::outages(focus, tunnel, MOST_ENTRIES)
            .iter()
            .for_each(|outage| page.item(outage));
    }
    let sas = tables::security_associations(focus, tunnel, ALL_ROWS);
    if !sas.rows.is_empty() {
        page.heading(&t.fill("heading-sas-of", &[("tunnel", &tunnel)]));
        page.table(&sas);
    }
}

/// Lists the events of the control plane and of the path.
fn events(page: &mut TerminalPage, focus: &Focus) {
    let listed = words::events(focus);
    if listed.is_empty() {
        return;
    }
    page.heading(&focus.t.word("heading-events"));
    listed
        .iter()
        .take(MOST_ENTRIES)
        .for_each(|event| page.item(event));
    more(page, focus.t, listed.len());
}

/// Causes, each with the rekeys that it explains and one filter to look at them.
fn causes(page: &mut TerminalPage, focus: &Focus) {
    let t = focus.t;
    let causes = words::causes(focus);
    if causes.is_empty() {
        return;
    }
    page.heading(&t.word("heading-causes"));
    for found in causes.iter().take(MOST_ENTRIES) {
        page.item(&found.sentence(focus, MOST_ENTRIES));
        if let Some((message, number, filter)) = found.first_filter(focus) {
            let label = t.fill(message, &[("number", &number), ("filter", &"")]);
            page.filter(&label, &filter);
        }
    }
    more(page, t, causes.len());
}

fn findings(page: &mut TerminalPage, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    if analysis.findings.is_empty() {
        return;
    }
    page.heading(&t.word("heading-findings"));
    for f in analysis.findings.iter().take(MOST_ENTRIES) {
        page.item(&words::finding(t, f));
        if !f.display_filter.is_empty() {
            page.filter("", &clean::sentence(&f.display_filter));
        }
    }
    more(page, t, analysis.findings.len());
}

fn keys(page: &mut TerminalPage, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    let missing = words::missing_keys(t, analysis);
    if analysis.key_files.is_empty() && missing.is_empty() {
        return;
    }
    page.heading(&t.word("heading-keys"));
    list_key_files(page, t, &analysis.key_files, MOST_ENTRIES, more);
    page.paragraphs(&missing);
}

fn diagnostics(page: &mut TerminalPage, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    if analysis.diagnostics.is_empty() {
        return;
    }
    page.heading(&t.word("heading-oddities"));
    for d in analysis.diagnostics.iter().take(MOST_ENTRIES) {
        page.item(&words::diagnostic(t, d));
    }
    more(page, t, analysis.diagnostics.len());
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

/// Says where the rest of a shortened list is.
fn more(page: &mut TerminalPage, t: &Catalogue, total: usize) {
    if total > MOST_ENTRIES {
        page.paragraph(&t.fill("more-in-json", &[("n", &(total - MOST_ENTRIES))]));
    }
}
