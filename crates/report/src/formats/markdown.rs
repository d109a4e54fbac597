//! Markdown (GitHub's flavour) for tickets: the verdict, the tables, the causes.

use crate::formats::sections::{self, Page};
use crate::tables::{self, Align, Table};
use crate::words::focus::Focus;
use crate::words::{self, clean};
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::text::Language;

/// Tunnels with tables of their own.
const MOST_TUNNELS: usize = 4;
/// Rows of a table, entries of a list.
const MOST_ROWS: usize = 60;

/// The whole document.
pub fn render(analysis: &Analysis, language: Language) -> String {
    let focus = Focus::new(analysis, language);
    let t = focus.t;
    let mut page = MarkdownPage::new(&words::question(&focus));
    for leak in words::leaks(analysis) {
        page.written(&format!("**{}**", escaped(&words::finding(t, leak))));
        page.written(&code(&leak.display_filter));
    }
    verdict(&mut page, &focus);
    account(&mut page, &focus);
    sections::two_points(&mut page, &focus);
    page.heading(&t.word("heading-capture"));
    page.item(&words::capture(t, &analysis.capture));
    page.items(&words::quality(t, &analysis.capture));
    page.item(&words::decryption(t, analysis));
    let missing = words::missing_keys(t, analysis);
    missing.iter().for_each(|text| page.typed(text));
    for &tunnel in focus.tunnels.iter().take(MOST_TUNNELS) {
        of_tunnel(&mut page, &focus, tunnel);
    }
    sections::overlays(&mut page, &focus);
    sections::causes(&mut page, &focus);
    sections::findings(&mut page, &focus);
    sections::diagnostics(&mut page, &focus);
    sections::advice(&mut page, &focus);
    let program = format!("{} {}", analysis.generator.name, analysis.generator.version);
    let made_by = fill!(t, "made-by", program = escaped(&program));
    page.out += &format!("\n{made_by} {}\n", code(&words::command(analysis)));
    page.finish()
}

fn of_tunnel(page: &mut MarkdownPage, focus: &Focus, tunnel: usize) {
    let (analysis, t) = (focus.analysis, focus.t);
    let Some(ends) = analysis.tunnels.get(tunnel) else {
        return;
    };
    let what = words::tunnel(t, ends);
    page.heading(&fill!(t, "heading-tunnel", tunnel, what));
    page.table(&tables::rekeys(focus, tunnel, MOST_ROWS));
    page.items(&words::trigger_rules(t, analysis, tunnel));
    page.table(&tables::attempts(focus, tunnel, true, MOST_ROWS));
    page.items(&words::outages(focus, tunnel, MOST_ROWS));
    page.table(&tables::security_associations(focus, tunnel, MOST_ROWS));
}

fn verdict(page: &mut MarkdownPage, focus: &Focus) {
    let analysis = focus.analysis;
    let answer = words::answer(focus);
    page.written(&format!("**{}**", escaped(&answer.headline)));
    let in_full = words::in_full(focus).unwrap_or_default();
    let rest = in_full.strip_prefix(&answer.headline).unwrap_or(&in_full);
    for line in [
        prose(&answer.why),
        prose(&answer.change),
        escaped(rest.trim_start()),
    ] {
        if !line.is_empty() {
            page.written(&line);
        }
    }
    let Some(headline) = analysis.impact.first() else {
        return;
    };
    if let Some(said) = words::change_of_address(focus) {
        page.paragraph(&said);
    }
    page.item(&focus.direction(headline));
    if !focus.other_verdicts().is_empty() {
        page.table(&tables::verdicts(focus, MOST_ROWS));
    }
    page.table(&tables::transfers(focus, MOST_ROWS));
}

fn account(page: &mut MarkdownPage, focus: &Focus) {
    let (accounts, t) = (words::accounts(focus.analysis), focus.t);
    if accounts.is_empty() {
        return;
    }
    page.heading(&t.word("heading-account"));
    for account in accounts.into_iter().take(MOST_TUNNELS) {
        let direction = words::direction(t, focus.analysis, account.tunnel, account.direction);
        let sentence = clean::said(t, &account.sentence, &account.messages);
        page.paragraph_break();
        let said = fill!(t, "direction-sentence", direction, sentence);
        page.paragraph(&said);
        if let Some(said) = words::outage_note(focus, account) {
            page.paragraph(&said);
        }
        page.table(&tables::account(focus, account));
        for line in account.labels.iter().filter(|l| !l.evidence.is_empty()) {
            let label = escaped(&words::account_label(t, line.label));
            let filter = code(&words::stretches_filter(line));
            let said = fill!(t, "account-filter", label, filter);
            page.out += &format!("- {said}\n");
        }
    }
    if let Some(gap) = &focus.analysis.gap {
        page.paragraph_break();
        page.paragraph(&clean::said(t, &gap.sentence, &gap.messages));
        page.table(&tables::gap(t, gap));
    }
}

/// The page so far.
pub(crate) struct MarkdownPage {
    out: String,
}

impl Page for MarkdownPage {
    const MOST_ENTRIES: usize = MOST_ROWS;
    const MOST_ROWS: usize = MOST_ROWS;

    fn heading(&mut self, text: &str) {
        self.out += &format!("\n## {}\n\n", escaped(text));
    }

    fn paragraph(&mut self, text: &str) {
        self.written(&escaped(text));
    }

    fn item(&mut self, text: &str) {
        self.out += &format!("- {}\n", escaped(text));
    }

    fn typed(&mut self, text: &str) {
        self.out += &format!("- {}\n", prose(text));
    }

    fn remark(&mut self, text: &str) {
        self.item(text);
    }

    fn table(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        self.paragraph_break();
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        self.out += &line(table.columns.iter().map(|c| escaped(&c.name)).collect());
        let rule = |a: Align| if a == Align::Right { "--:" } else { "---" }.to_string();
        self.out += &line(table.columns.iter().map(|c| rule(c.align)).collect());
        for row in &table.rows {
            self.out += &line(row.cells.iter().map(|c| escaped(c)).collect());
        }
        self.out.push('\n');
        table.notes.iter().for_each(|note| self.paragraph(note));
    }

    fn filter(&mut self, said: impl Fn(&str) -> String, filter: &str) {
        self.out += &format!("  {}\n", said(&code(filter)));
    }
}

impl MarkdownPage {
    /// A page with its title.
    pub(crate) fn new(title: &str) -> Self {
        let out = format!("# {title}\n\n");
        MarkdownPage { out }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// A paragraph that is Markdown already.
    fn written(&mut self, text: &str) {
        self.out += text;
        self.out += "\n\n";
    }

    fn items(&mut self, texts: &[String]) {
        texts.iter().for_each(|text| self.item(text));
    }

    /// Right below a list, a table or a paragraph would be text of its last item.
    fn paragraph_break(&mut self) {
        if !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}

/// Clean text in which no character is markup (CommonMark §2.4: a backslash before ASCII punctuation; `<` and `&` as
/// entities, because some renderers let HTML through). An underscore within a word is none (§6.2).
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let text = clean::sentence(text);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        match c {
            '_' if in_word(out.chars().next_back()) && in_word(rest.peek().copied()) => out.push(c),
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
    use crate::words::advice;
    use proptest::prelude::*;
    use rekeyscope_testkit::example;

    /// A ticket is read as it is typed, too.
    #[test]
    fn names_stay_as_they_are_and_nothing_is_said_twice() {
        assert_eq!(escaped("large_packets _x_ a_"), "large_packets \\_x\\_ a\\_");
        let mut document = example::seven_rekeys();
        document.account.clear();
        let headline = words::answer(&Focus::new(&document, Language::English)).headline;
        let text = render(&document, Language::English);
        assert_eq!(text.matches(&escaped(&headline)).count(), 1, "{text}");
        let document = example::outages().remove(0);
        let text = render(&document, Language::English);
        let (_, causes) = text.split_once("## Causes").unwrap();
        assert!(causes.contains(", at ") && !causes.contains(". at "), "{causes}");
    }

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
                let advice = advice::advice(&focus, &words::answer(&focus).change).into_iter();
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
