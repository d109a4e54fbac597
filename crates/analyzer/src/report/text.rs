//! The terminal report: the verdict sentence first.

use super::advice;
use super::clean;
use super::focus::{Focus, is_hurt};
use super::format;
use super::sparkline;
use super::tables;
use super::terminal::Page;
use super::words;
use crate::analysis::{Analysis, Impact, Severity, Verdict};
use crate::text::Language;
use comfy_table::Color;

/// Tunnels that get tables of their own; the others are in the table of verdicts.
const MOST_TUNNELS: usize = 4;
/// Rekeys listed per tunnel.
const MOST_REKEYS: usize = 40;
/// SAs listed per direction of a tunnel.
const MOST_SAS: usize = 12;
/// Rows of these two tables in the full report.
const ALL_ROWS: usize = 100_000;
/// Flows listed.
const MOST_FLOWS: usize = 10;
/// Verdicts listed.
const MOST_VERDICTS: usize = 60;
/// Entries of each remaining list.
const MOST_ENTRIES: usize = 20;

/// How to write to the terminal.
#[derive(Debug, Clone, Copy)]
pub struct TextOptions {
    /// Columns available.
    pub width: usize,
    /// ANSI colours.
    pub color: bool,
    /// What it is written in.
    pub language: Language,
}

/// The terminal report, ending in a newline.
pub fn render(analysis: &Analysis, options: TextOptions) -> String {
    page(analysis, options, false)
}

/// With every row, and with what was ruled out, projections, reruns, overhead, flows and how to make it again.
pub fn render_in_full(analysis: &Analysis, options: TextOptions) -> String {
    page(analysis, options, true)
}

fn page(analysis: &Analysis, options: TextOptions, full: bool) -> String {
    let focus = Focus::new(analysis, options.language);
    let mut page = Page::new(options.width, options.color);
    verdict(&mut page, &focus);
    capture(&mut page, analysis);
    for &tunnel in focus.tunnels.iter().take(MOST_TUNNELS) {
        tunnel_tables(&mut page, &focus, tunnel, full);
    }
    let left_out = focus.tunnels.len().saturating_sub(MOST_TUNNELS);
    if left_out > 0 {
        page.blank();
        page.paragraph(&format!(
            "{} more tunnels are not shown in detail: choose one with --tunnel, or see --json or --html.",
            format::count(left_out as u64)
        ));
    }
    overlays(&mut page, &focus);
    causes(&mut page, &focus);
    if full {
        ruled_out(&mut page, &focus);
    }
    findings(&mut page, &focus);
    keys(&mut page, analysis);
    diagnostics(&mut page, analysis);
    if full {
        more_tables(&mut page, &focus);
    }
    page.finish()
}

fn ruled_out(page: &mut Page, focus: &Focus) {
    let table = tables::ruled_out(focus);
    if !table.rows.is_empty() {
        page.heading("What was ruled out");
        page.table(&table);
    }
}

/// What only the full report has.
fn more_tables(page: &mut Page, focus: &Focus) {
    let advice = advice::advice(focus.analysis);
    if !advice.is_empty() {
        page.heading("What to change");
        advice.iter().for_each(|a| page.item(&a.sentence()));
    }
    let tables = [
        ("Projection", tables::projection(focus)),
        ("Reruns with one choice changed", tables::sensitivity(focus)),
        ("Overhead", tables::overhead(focus)),
        ("Flows", tables::flows(focus, MOST_FLOWS)),
    ];
    for (title, table) in tables.iter().filter(|t| !t.1.rows.is_empty()) {
        page.heading(title);
        page.table(table);
    }
    page.heading("How to make this again");
    page.paragraph(&words::command(focus.analysis));
}

fn overlays(page: &mut Page, focus: &Focus) {
    for overlay in focus.analysis.overlays.iter().take(MOST_ENTRIES) {
        page.heading(&words::overlay(overlay));
        overlay
            .sentences
            .iter()
            .for_each(|s| page.paragraph(&clean::line(s)));
        page.table(&tables::overlay(focus, overlay, MOST_REKEYS));
    }
}

fn verdict(page: &mut Page, focus: &Focus) {
    let Some(headline) = focus.analysis.impact.first() else {
        page.emphasised(words::no_verdict(focus.analysis), None);
        return;
    };
    page.emphasised(
        &clean::said(focus.t, &headline.sentence, &headline.messages),
        verdict_color(headline.verdict),
    );
    page.blank();
    let mut rows = vec![(
        "Direction",
        words::direction(focus.analysis, headline.tunnel, headline.direction),
    )];
    if !headline.arithmetic_bound.is_empty() {
        let bound = clean::said(
            focus.t,
            &headline.arithmetic_bound,
            &headline.arithmetic_bound_messages,
        );
        rows.push(("Arithmetic", bound));
    }
    rows.extend(words::detectable(headline).map(|d| ("Detectable", d)));
    rows.extend(words::explained(headline).map(|e| ("Explains", e)));
    rows.extend(rates(headline).map(|r| ("Rates", r)));
    rows.extend(words::disagreeing(headline).map(|d| ("But", d)));
    if let [one] = focus.other_verdicts() {
        let direction = words::direction(focus.analysis, one.tunnel, one.direction);
        rows.push((
            "Also",
            format!(
                "{direction}: {}",
                clean::said(focus.t, &one.sentence, &one.messages)
            ),
        ));
    }
    page.labelled(&rows);
    if focus.other_verdicts().len() > 1 {
        page.heading("Verdicts");
        page.table(&tables::verdicts(focus, MOST_VERDICTS));
    }
}

/// What the rates say, where a rate was measured.
fn rates(i: &Impact) -> Option<String> {
    let observed = format::rate(i.observed_bps?);
    let without = i
        .counterfactual_bps
        .map(|r| format!(", {} without the stalls", format::rate(r)));
    Some(format!(
        "{observed} observed{}; counted: {}.",
        without.unwrap_or_default(),
        words::counted(i.counted)
    ))
}

fn verdict_color(v: Verdict) -> Option<Color> {
    match v {
        Verdict::Shown => Some(Color::Red),
        Verdict::Some => Some(Color::Yellow),
        Verdict::Bounded => Some(Color::Green),
        Verdict::Inconclusive | Verdict::NoRekeys | Verdict::NoTraffic => None,
    }
}

fn capture(page: &mut Page, analysis: &Analysis) {
    page.heading("Capture");
    page.paragraph(&words::capture(&analysis.capture));
    page.paragraph(&words::quality(&analysis.capture).join(" "));
    page.paragraph(&words::decryption(analysis));
}

fn tunnel_tables(page: &mut Page, focus: &Focus, tunnel: usize, full: bool) {
    let Some(t) = focus.analysis.tunnels.get(tunnel) else {
        return;
    };
    let rekeys = focus.rekeys(tunnel).count();
    let hurt = focus.rekeys(tunnel).filter(|r| is_hurt(r)).count();
    let counted = format::counted(rekeys as u64, "rekey", "rekeys");
    page.heading(&format!(
        "Tunnel {tunnel}: {}; {counted}, {hurt} hurt",
        words::tunnel(t)
    ));
    if let Some(spark) = sparkline::draw(focus, tunnel, page.width()) {
        page.paragraph(&spark.caption);
        page.line(spark.rates.trim_end());
        page.line(spark.marks.trim_end());
    }
    page.table(&tables::rekeys(
        focus,
        tunnel,
        if full { ALL_ROWS } else { MOST_REKEYS },
    ));
    words::trigger_rules(focus.analysis, tunnel)
        .iter()
        .for_each(|rule| page.paragraph(rule));
    let sas = tables::security_associations(focus, tunnel, if full { ALL_ROWS } else { MOST_SAS });
    if !sas.rows.is_empty() {
        page.heading(&format!("SAs of tunnel {tunnel}"));
        page.table(&sas);
    }
}

/// Causes, each with the rekeys that it explains and one filter to look at them.
fn causes(page: &mut Page, focus: &Focus) {
    let causes = words::causes(focus.analysis);
    if causes.is_empty() {
        return;
    }
    page.heading("Causes");
    for found in causes.iter().take(MOST_ENTRIES) {
        page.item(&found.sentence(MOST_ENTRIES));
        if let Some((number, filter)) = found.first_filter() {
            page.paragraph(&format!("   rekey {number}: {}", clean::line(filter)));
        }
    }
    more(page, causes.len());
}

fn findings(page: &mut Page, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    if analysis.findings.is_empty() {
        return;
    }
    page.heading("Findings that no rekey caused");
    for f in analysis.findings.iter().take(MOST_ENTRIES) {
        let severity = if f.severity == Severity::Warning {
            "Warning: "
        } else {
            ""
        };
        page.item(&format!("{severity}{}", clean::said(t, &f.sentence, &f.messages)));
        if !f.display_filter.is_empty() {
            page.paragraph(&format!("   {}", clean::line(&f.display_filter)));
        }
    }
    more(page, analysis.findings.len());
}

fn keys(page: &mut Page, analysis: &Analysis) {
    let missing = words::missing_keys(analysis);
    if analysis.key_files.is_empty() && missing.is_empty() {
        return;
    }
    page.heading("Keys");
    for file in analysis.key_files.iter().take(MOST_ENTRIES) {
        page.item(&words::key_file(file));
        for problem in file.problems.iter().take(MOST_ENTRIES) {
            page.paragraph(&format!("   {}", clean::line(problem)));
        }
        more(page, file.problems.len());
    }
    more(page, analysis.key_files.len());
    for paragraph in &missing {
        page.paragraph(paragraph);
    }
}

fn diagnostics(page: &mut Page, analysis: &Analysis) {
    if analysis.diagnostics.is_empty() {
        return;
    }
    page.heading("Oddities");
    for d in analysis.diagnostics.iter().take(MOST_ENTRIES) {
        page.item(&words::diagnostic(d));
    }
    more(page, analysis.diagnostics.len());
}

/// Says where the rest of a shortened list is.
fn more(page: &mut Page, total: usize) {
    if total > MOST_ENTRIES {
        page.paragraph(&format!("   {} more are in --json.", total - MOST_ENTRIES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn at(width: usize) -> TextOptions {
        TextOptions {
            width,
            color: false,
            language: Language::English,
        }
    }

    #[test]
    fn golden_80() {
        insta::assert_snapshot!(render(&example::seven_rekeys(), at(80)));
    }

    #[test]
    fn golden_140() {
        insta::assert_snapshot!(render(&example::seven_rekeys(), at(140)));
    }

    #[test]
    fn golden_80_without_keys() {
        let document = example::build(&example::Shape {
            keys: false,
            rekeys: 3,
            ..Default::default()
        });
        insta::assert_snapshot!(render(&document, at(80)));
    }

    #[test]
    fn golden_80_empty() {
        insta::assert_snapshot!(render(&example::empty(), at(80)));
    }

    #[test]
    fn the_first_line_is_the_verdict() {
        let document = example::seven_rekeys();
        let text = render(&document, at(300));
        assert_eq!(text.lines().next().unwrap(), document.impact[0].sentence);
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        for document in example::all() {
            for width in [80, 81, 100, 110, 140, 200] {
                for line in render(&document, at(width)).lines() {
                    assert!(line.chars().count() <= width, "{width}: {line}");
                }
            }
        }
    }

    #[test]
    fn nothing_steers_the_terminal() {
        let text = render(&example::hostile(example::seven_rekeys()), at(120));
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
        assert!(!text.contains('\u{202e}'));
    }

    #[test]
    fn colour_changes_nothing_but_colour() {
        let document = example::seven_rekeys();
        let colored = render(
            &document,
            TextOptions {
                width: 80,
                color: true,
                language: Language::English,
            },
        );
        let plain = render(&document, at(80));
        let words = |s: &str| s.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        assert_eq!(words(&without_ansi(&colored)), words(&plain));
    }

    /// Drops CSI sequences that end in `m`.
    fn without_ansi(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("\u{1b}[") {
            out.push_str(before);
            rest = after.split_once('m').map_or("", |(_, after)| after);
        }
        out + rest
    }
}
