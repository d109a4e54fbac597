//! Markdown (GitHub's flavour) for tickets: the verdict, the tables, the causes.

use crate::tables::{self, Align, Table};
use crate::words::focus::Focus;
use crate::words::{self, advice, clean};
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::text::Language;
use std::fmt::Write as _;

/// Tunnels with tables of their own.
const MOST_TUNNELS: usize = 4;
/// Rows of a table, entries of a list.
const MOST_ROWS: usize = 60;

/// The whole document.
pub fn render(analysis: &Analysis, language: Language) -> String {
    let focus = Focus::new(analysis, language);
    let mut out = format!("# {}\n\n", focus.t.word("report-title"));
    let t = focus.t;
    for leak in words::leaks(analysis) {
        let _ = writeln!(
            out,
            "**{}**\n\n{}\n",
            escaped(&words::finding(t, leak)),
            code(&leak.display_filter)
        );
    }
    verdict(&mut out, &focus);
    account(&mut out, &focus);
    two_points(&mut out, &focus);
    heading(&mut out, &t.word("heading-capture"));
    item(&mut out, &words::capture(t, &analysis.capture));
    items(&mut out, &words::quality(t, &analysis.capture));
    item(&mut out, &words::decryption(t, analysis));
    let missing = words::missing_keys(t, analysis);
    missing.iter().for_each(|text| said(&mut out, text));
    for &tunnel in focus.tunnels.iter().take(MOST_TUNNELS) {
        of_tunnel(&mut out, &focus, tunnel);
    }
    overlays(&mut out, &focus);
    causes(&mut out, &focus);
    findings(&mut out, &focus);
    if !analysis.diagnostics.is_empty() {
        heading(&mut out, &t.word("heading-oddities"));
        let diagnostics = analysis.diagnostics.iter().take(MOST_ROWS);
        diagnostics.for_each(|d| item(&mut out, &words::diagnostic(t, d)));
    }
    let advice = advice::advice(&focus);
    if !advice.is_empty() {
        heading(&mut out, &t.word("heading-advice"));
        advice.iter().for_each(|a| said(&mut out, a));
    }
    let program = format!("{} {}", analysis.generator.name, analysis.generator.version);
    let made_by = t.fill("made-by", &[("program", &escaped(&program))]);
    let _ = writeln!(out, "\n{made_by} {}", code(&words::command(analysis)));
    out
}

fn of_tunnel(out: &mut String, focus: &Focus, tunnel: usize) {
    let (analysis, t) = (focus.analysis, focus.t);
    let Some(ends) = analysis.tunnels.get(tunnel) else {
        return;
    };
    let what = words::tunnel(t, ends);
    heading(
        out,
        &t.fill("heading-tunnel", &[("tunnel", &tunnel), ("what", &what)]),
    );
    table(out, &tables::rekeys(focus, tunnel, MOST_ROWS));
    items(out, &words::trigger_rules(t, analysis, tunnel));
    table(out, &tables::attempts(focus, tunnel, true, MOST_ROWS));
    items(out, &words::outages(focus, tunnel, MOST_ROWS));
    table(out, &tables::security_associations(focus, tunnel, MOST_ROWS));
}

fn verdict(out: &mut String, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    let answer = words::answer(focus);
    let _ = writeln!(out, "**{}**\n", escaped(&answer.headline));
    let in_full = words::in_full(t, analysis).unwrap_or_default();
    for line in [prose(&answer.why), prose(&answer.change), escaped(&in_full)] {
        if !line.is_empty() {
            let _ = writeln!(out, "{line}\n");
        }
    }
    let Some(headline) = analysis.impact.first() else {
        return;
    };
    if let Some(said) = words::change_of_address(focus) {
        let _ = writeln!(out, "{}\n", escaped(&said));
    }
    item(
        out,
        &words::direction(t, analysis, headline.tunnel, headline.direction),
    );
    items(out, &Vec::from_iter(words::explained(t, headline)));
    if !focus.other_verdicts().is_empty() {
        out.push('\n');
        table(out, &tables::verdicts(focus, MOST_ROWS));
    }
    table(out, &tables::transfers(focus, MOST_ROWS));
}

fn account(out: &mut String, focus: &Focus) {
    let (accounts, t) = (words::accounts(focus.analysis), focus.t);
    if accounts.is_empty() {
        return;
    }
    heading(out, &t.word("heading-account"));
    for account in accounts.into_iter().take(MOST_TUNNELS) {
        let direction = words::direction(t, focus.analysis, account.tunnel, account.direction);
        let sentence = clean::said(t, &account.sentence, &account.messages);
        paragraph_break(out);
        let said = t.fill(
            "direction-sentence",
            &[("direction", &direction), ("sentence", &sentence)],
        );
        let _ = writeln!(out, "{}\n", escaped(&said));
        if let Some(said) = words::pair_down(focus, account) {
            let _ = writeln!(out, "{}\n", escaped(&said));
        }
        table(out, &tables::account(focus, account));
        for line in account.labels.iter().filter(|l| !l.evidence.is_empty()) {
            let label = escaped(&words::account_label(t, line.label));
            let filter = code(&words::stretches_filter(line));
            let said = t.fill("account-filter", &[("label", &label), ("filter", &filter)]);
            let _ = writeln!(out, "- {said}");
        }
    }
    if let Some(gap) = &focus.analysis.gap {
        paragraph_break(out);
        let _ = writeln!(
            out,
            "{}\n",
            escaped(&clean::said(t, &gap.sentence, &gap.messages))
        );
        table(out, &tables::gap(t, gap));
    }
}

fn two_points(out: &mut String, focus: &Focus) {
    let t = focus.t;
    let Some(points) = &focus.analysis.two_points else {
        return;
    };
    heading(out, &t.word("heading-two-points"));
    let _ = writeln!(
        out,
        "{}\n",
        escaped(&clean::said(t, &points.sentence, &points.messages))
    );
    table(out, &tables::two_points(t, points));
    items(out, &words::lost_between(t, points, MOST_ROWS));
}

fn overlays(out: &mut String, focus: &Focus) {
    for overlay in focus.analysis.overlays.iter().take(MOST_ROWS) {
        heading(out, &words::overlay(overlay));
        items(out, &words::overlay_sentences(focus.t, overlay));
        out.push('\n');
        table(out, &tables::overlay(focus, overlay, MOST_ROWS));
    }
}

fn causes(out: &mut String, focus: &Focus) {
    let (causes, t) = (words::causes(focus), focus.t);
    if causes.is_empty() {
        return;
    }
    heading(out, &t.word("heading-causes"));
    for found in causes.iter().take(MOST_ROWS) {
        item(out, &found.sentence(focus, MOST_ROWS));
        if let Some((message, number, filter)) = found.first_filter(focus) {
            let filter = code(&filter);
            let said = t.fill(message, &[("number", &number), ("filter", &filter)]);
            let _ = writeln!(out, "  {said}");
        }
    }
}

fn findings(out: &mut String, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    if analysis.findings.is_empty() {
        return;
    }
    heading(out, &t.word("heading-findings"));
    for f in analysis.findings.iter().take(MOST_ROWS) {
        item(out, &words::finding(t, f));
        if !f.display_filter.is_empty() {
            let _ = writeln!(out, "  {}", code(&f.display_filter));
        }
    }
}

fn heading(out: &mut String, text: &str) {
    let _ = writeln!(out, "\n## {}\n", escaped(text));
}

fn item(out: &mut String, text: &str) {
    let _ = writeln!(out, "- {}", escaped(text));
}

/// An item of our own words.
fn said(out: &mut String, text: &str) {
    let _ = writeln!(out, "- {}", prose(text));
}

fn items(out: &mut String, texts: &[String]) {
    texts.iter().for_each(|text| item(out, text));
}

pub(crate) fn table(out: &mut String, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    paragraph_break(out);
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    *out += &line(table.columns.iter().map(|c| escaped(&c.name)).collect());
    let rule = |a: Align| if a == Align::Right { "--:" } else { "---" }.to_string();
    *out += &line(table.columns.iter().map(|c| rule(c.align)).collect());
    for row in &table.rows {
        *out += &line(row.cells.iter().map(|c| escaped(c)).collect());
    }
    out.push('\n');
    for note in &table.notes {
        let _ = writeln!(out, "{}\n", escaped(note));
    }
}

/// Right below a list, a table or a paragraph would be text of its last item.
fn paragraph_break(out: &mut String) {
    if !out.ends_with("\n\n") {
        out.push('\n');
    }
}

/// Clean text in which no character is markup (CommonMark §2.4: a backslash before ASCII punctuation; `<` and `&` as
/// entities, because some renderers let HTML through).
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in clean::sentence(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '@' | '!' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Our own sentences, in which backticks set off what is typed, as code spans. A name from a capture stands in none of them: with one
/// backtick in it everything after would turn around.
fn prose(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    let said = pieces.map(|(i, piece)| match i % 2 {
        1 => code(piece),
        _ => escaped(piece),
    });
    said.collect()
}

/// A code span that holds any text (CommonMark §6.1: its fence is longer than any run of backticks within).
fn code(text: &str) -> String {
    let text = clean::sentence(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rekeyscope_testkit::example;

    #[test]
    fn golden() {
        insta::assert_snapshot!(render(&example::seven_rekeys(), Language::English));
    }

    /// The code spans of a text, read as CommonMark §6.1 does: a run of backticks that no backslash precedes ends with the next run that
    /// is as long.
    fn typed(text: &str) -> Vec<String> {
        let (mut found, mut rest) = (Vec::new(), text);
        while let Some(at) = rest.find(['\\', '`']) {
            rest = &rest[at..];
            let inside = rest.trim_start_matches('`');
            let fence = rest.len() - inside.len();
            if fence == 0 {
                rest = rest.get(2..).unwrap_or_default();
                continue;
            }
            let mut runs = inside.match_indices('`').map(|(at, _)| at);
            let run = |at: usize| inside[at..].len() - inside[at..].trim_start_matches('`').len();
            let end = runs.find(|at| run(*at) == fence && !inside[..*at].ends_with('`'));
            let Some(end) = end else { return found };
            let padded = inside[..end].strip_prefix(' ').and_then(|t| t.strip_suffix(' '));
            found.push(padded.unwrap_or(&inside[..end]).to_owned());
            rest = &inside[end + fence..];
        }
        found
    }

    #[test]
    fn what_is_typed_stays_code() {
        for document in example::all() {
            for language in Language::ALL {
                let focus = Focus::new(&document, language);
                let advice = advice::advice(&focus).into_iter();
                let ours: Vec<String> = advice
                    .chain(words::missing_keys(focus.t, &document))
                    .chain([words::answer(&focus).change])
                    .collect();
                let text = render(&document, language);
                let shown: Vec<String> = text.lines().flat_map(typed).collect();
                for piece in ours.iter().flat_map(|text| text.split('`').skip(1).step_by(2)) {
                    assert!(shown.iter().any(|code| code == piece), "{piece}: {shown:?}");
                }
            }
        }
        assert_eq!(
            prose("raise it (strongSwan: `life_bytes`), not <all> of *it*."),
            "raise it (strongSwan: `life_bytes`), not &lt;all&gt; of \\*it\\*."
        );
    }

    proptest! {
        #[test]
        fn what_is_code_reads_back_and_nothing_else_is(pieces in proptest::collection::vec("[a-z|<&*_ ]{1,4}|`{1,3}|\\\\", 0..12)) {
            let text = clean::sentence(&pieces.concat());
            let spaceless = |text: &str| text.replace(' ', "");
            if !text.trim().is_empty() {
                let read: Vec<String> = typed(&code(&text)).iter().map(|code| spaceless(code)).collect();
                prop_assert_eq!(read, [spaceless(&text)]);
            }
            prop_assert_eq!(typed(&escaped(&text)), Vec::<String>::new());
        }
    }

    /// GitHub's flavour takes a table right below a list or a paragraph for text.
    #[test]
    fn tables_begin_after_an_empty_line() {
        for document in example::all() {
            let text = render(&document, Language::English);
            let lines: Vec<&str> = text.lines().collect();
            let tables = lines.windows(2).filter(|w| w[1].starts_with("| "));
            for pair in tables {
                assert!(pair[0].is_empty() || pair[0].starts_with("| "), "{pair:?}");
            }
        }
    }

    #[test]
    fn hostile_text_is_no_markup() {
        for document in example::all() {
            let text = render(&document, Language::English);
            let markup = |line: &&str| line.contains("<script") || line.contains("<img");
            // The filters of the hostile document stand in code spans with a fence of two.
            assert!(
                text.lines()
                    .filter(markup)
                    .all(|line| line.contains(": `` ") || line.starts_with("  `` "))
            );
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        }
        assert_eq!(
            escaped("a|b <b> *x* [y](z)"),
            "a\\|b &lt;b&gt; \\*x\\* \\[y\\](z)"
        );
        assert_eq!(code("a ``b"), "``` a ``b ```");
        assert_eq!(code("esp"), "`esp`");
    }

    #[test]
    fn every_row_has_as_many_cells_as_its_header() {
        let text = render(&example::hostile(example::seven_rekeys()), Language::English);
        let pipes = |line: &str| line.replace("\\|", "").matches('|').count();
        for block in text.split("\n\n").filter(|b| b.starts_with("| ")) {
            let rows: Vec<usize> = block.lines().map(pipes).collect();
            assert!(rows.iter().all(|n| *n == rows[0]), "{block}");
        }
    }
}
