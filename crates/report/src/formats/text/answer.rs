//! The page that everyone reads, a screen at most: the answer in three lines, where the time went, the rekeys that cost most.

use crate::formats::comparison::gap_title;
use crate::formats::sections::Page;
use crate::formats::terminal::TerminalPage;
use crate::formats::text::top::{TextOptions, answer_lines, leaks};
use crate::tables::{self, Table};
use crate::words::focus::Focus;
use crate::words::underivable::lines_that_would_open;
use crate::words::{self, clean, format};
use rekeyscope_impact::answer::ToldAnswer;
use rekeyscope_model::analysis::{Direction, Finding, KeyFile, KeysFit, Verdict};
use rekeyscope_model::text::Message;

/// Lines of the whole, from a terminal of 80 columns on: with the command above and the prompt below it fits beside other windows.
const MOST_LINES: usize = 30;

/// Rows and entries that each list may show.
#[derive(Clone, Copy)]
struct Room {
    rekeys: usize,
    /// Entries of every other list.
    others: usize,
}

/// Rekeys and entries of the other lists, tried one after the other until the whole fits: what has few entries leaves room for
/// the rekeys.
const ROOMS: [(usize, usize); 7] = [(5, 5), (5, 4), (5, 3), (5, 2), (3, 2), (3, 1), (1, 1)];

/// The answer, ending in a newline.
pub(super) fn page(focus: &Focus, options: TextOptions) -> String {
    let new = || TerminalPage::new(options.width, options.color);
    let mut first = new();
    leaks(&mut first, focus);
    let first = first.finish();
    let mut last = new();
    last.blank();
    harmless_rekeys(&mut last, focus);
    findings(&mut last, focus);
    if !are_of_no_use(focus) {
        missing_keys(&mut last, focus);
    }
    beyond(&mut last, focus);
    first_packet(&mut last, focus);
    last.paragraphs(&Vec::from_iter(words::doubled(focus.t, &focus.analysis.capture)));
    last.paragraph(&focus.t.word("answer-further"));
    let last = last.finish();
    let most = MOST_LINES.saturating_sub(first.lines().count() + last.lines().count());
    let mut body = String::new();
    for (rekeys, others) in ROOMS {
        let mut page = new();
        sections(&mut page, focus, Room { rekeys, others });
        body = page.finish();
        if body.lines().count() <= most {
            break;
        }
    }
    first + &cut(focus, body, most) + &last
}

/// At most so many lines, the last of which says how many are left out.
fn cut(focus: &Focus, body: String, most: usize) -> String {
    let lines: Vec<&str> = body.lines().collect();
    if lines.len() <= most {
        return body;
    }
    let mut kept = lines.get(..most.saturating_sub(1)).unwrap_or_default();
    // A heading and the head of a table say nothing without a row.
    if let Some(blank) = kept
        .iter()
        .rposition(|line| line.is_empty())
        .filter(|at| kept.len() - at <= 3)
    {
        kept = kept.get(..blank).unwrap_or_default();
    }
    let left_out = format::count((lines.len() - kept.len()) as u64);
    let more = fill!(focus.t, "answer-more", n = left_out);
    kept.iter()
        .copied()
        .chain([more.as_str()])
        .map(|line| format!("{line}\n"))
        .collect()
}

fn sections(page: &mut TerminalPage, focus: &Focus, room: Room) {
    answer_lines(page, focus);
    if are_of_no_use(focus) {
        missing_keys(page, focus);
    }
    account(page, focus, room);
    against_another(page, focus, room);
    two_points(page, focus, room);
    if let Some(&tunnel) = focus.tunnels.first() {
        attempts(page, focus, tunnel, room);
        rekeys(page, focus, tunnel, room);
        others(page, focus, room);
    }
    overlays(page, focus, room);
}

/// A line for each thing that cost, and what has to be known to read them.
fn account(page: &mut TerminalPage, focus: &Focus, room: Room) {
    if let Some(brief) = tables::brief_account(focus) {
        page.blank();
        page.paragraph(&brief.lead);
        // One line for the cause that cost most, and one for the rekeys.
        let others = room.others.max(2);
        shortened(page, focus, brief.table, Room { others, ..room });
        page.paragraphs(&brief.notes);
    }
    page.paragraphs(&Vec::from_iter(words::change_of_address(focus)));
}

fn against_another(page: &mut TerminalPage, focus: &Focus, room: Room) {
    let t = focus.t;
    let Some(gap) = &focus.analysis.gap else {
        return;
    };
    page.heading(&gap_title(t, gap));
    page.paragraph(&clean::said(t, &gap.sentence, &gap.messages));
    shortened(page, focus, tables::gap(t, gap), room);
}

/// Another capture point in short: the sentence and the rekeys that lost packets.
fn two_points(page: &mut TerminalPage, focus: &Focus, room: Room) {
    let t = focus.t;
    let Some(points) = &focus.analysis.two_points else {
        return;
    };
    page.heading(&t.word("heading-two-points"));
    page.paragraph(&clean::said(t, &points.sentence, &points.messages));
    let listed = words::lost_between(t, points, room.others);
    listed.iter().for_each(|sentence| page.item(sentence));
    more(page, focus, points.rekeys.len() - listed.len());
}

/// Writes the requests in trouble where the answer is about something else.
fn attempts(page: &mut TerminalPage, focus: &Focus, tunnel: usize, room: Room) {
    if matches!(
        focus.answer,
        ToldAnswer::Outages(..) | ToldAnswer::FailedRenewal(_)
    ) {
        return;
    }
    let heading = fill!(focus.t, "heading-attempts-of", tunnel);
    let table = tables::attempts(focus, tunnel, false, usize::MAX);
    listed(page, focus, &heading, table, room);
}

/// The costliest, and how many there are.
fn rekeys(page: &mut TerminalPage, focus: &Focus, tunnel: usize, room: Room) {
    let mut table = tables::costliest_rekeys(focus, tunnel, room.rekeys).without_empty();
    // A sentence on the columns that is cut off says nothing.
    if room.rekeys == 1 {
        table.notes.clear();
    }
    if table.rows.is_empty() {
        return;
    }
    page.heading(&focus.counted_rekeys(tunnel));
    page.table(&table);
    let (n, all) = (table.rows.len(), focus.analysis.rekeys_of(tunnel).count());
    if n < all {
        let own = focus.analysis.verdicts_of(tunnel);
        let are_all = own.map(|impact| impact.rekeys_hurt.len()).max() == Some(n);
        let message = Message::new("answer-costliest")
            .with("n", n)
            .with("all", all)
            .with("hurt", if are_all { "all" } else { "more" });
        page.paragraph(&focus.t.say(&message));
    }
}

/// Rekeys of which none cost anything: only that there were some.
fn harmless_rekeys(page: &mut TerminalPage, focus: &Focus) {
    let first = focus.tunnels.first().copied();
    let any = first.filter(|tunnel| focus.analysis.rekeys_of(*tunnel).next().is_some());
    if let Some(tunnel) = any.filter(|tunnel| tables::costliest_rekeys(focus, *tunnel, 1).rows.is_empty()) {
        listed_in_full(page, focus, &focus.counted_rekeys(tunnel));
    }
}

/// Names a list that only the full report has.
fn listed_in_full(page: &mut TerminalPage, focus: &Focus, what: &str) {
    page.paragraph(&fill!(focus.t, "answer-listed", what));
}

/// The other directions and tunnels where they have a verdict of their own, and transfers that differ.
fn others(page: &mut TerminalPage, focus: &Focus, room: Room) {
    let t = focus.t;
    let told = |v: Verdict| !matches!(v, Verdict::NoTraffic | Verdict::NoRekeys);
    if focus.other_verdicts().iter().any(|i| told(i.verdict)) {
        let verdicts = tables::verdicts_in_brief(focus);
        listed(page, focus, &t.word("heading-verdicts"), verdicts, room);
        if let [tunnel] = focus.tunnels[..] {
            let direction = words::direction(t, focus.analysis, tunnel, Direction::AToB);
            page.paragraph(&fill!(t, "note-up", direction));
        }
    }
    let transfers = tables::transfers(focus, usize::MAX);
    listed(page, focus, &t.word("heading-transfers"), transfers, room);
    let other_tunnels = focus.tunnels.len() - 1;
    if other_tunnels > 0 && focus.other_verdicts().iter().all(|i| !told(i.verdict)) {
        page.paragraph(&format::counted(t, "left-out-tunnels", other_tunnels as u64));
    }
}

/// A table below its heading; neither where it has no rows.
fn listed(page: &mut TerminalPage, focus: &Focus, heading: &str, table: Table, room: Room) {
    if !table.rows.is_empty() {
        page.heading(heading);
        shortened(page, focus, table, room);
    }
}

/// The first rows of a table, without its notes, and the number of those that are left out.
fn shortened(page: &mut TerminalPage, focus: &Focus, mut table: Table, room: Room) {
    let left_out = table.rows.len().saturating_sub(room.others);
    table.rows.truncate(room.others);
    table.notes.clear();
    page.table(&table);
    more(page, focus, left_out);
}

fn overlays(page: &mut TerminalPage, focus: &Focus, room: Room) {
    for overlay in focus.analysis.overlays.iter().take(room.others) {
        page.heading(&words::overlay(overlay));
        let said = words::overlay_sentences(focus.t, overlay).into_iter();
        said.take(room.others)
            .for_each(|sentence| page.paragraph(&sentence));
    }
    let left_out = focus.analysis.overlays.len().saturating_sub(room.others);
    more(page, focus, left_out);
}

/// Writes the findings without which the answer must not be read, and other warnings in a few words, one of each kind, and how many more
/// there are.
fn findings(page: &mut TerminalPage, focus: &Focus) {
    let mut kinds = Vec::new();
    let told = focus.analysis.findings.iter().filter(|f| !words::is_leak(f));
    let said = |f: &Finding| match words::limits_figures(f) {
        true => Some(words::finding(focus.t, f)),
        false => words::brief_finding(focus.t, f),
    };
    let (warnings, others): (Vec<_>, Vec<_>) = told.partition(|f| {
        let first = !kinds.contains(&f.id) && said(f).is_some();
        kinds.extend(first.then(|| f.id.clone()));
        first
    });
    let warnings = warnings.into_iter().filter_map(said);
    warnings.for_each(|warning| page.paragraph(&warning));
    if !others.is_empty() {
        let counted = format::counted(focus.t, "counted-findings", others.len() as u64);
        listed_in_full(page, focus, &counted);
    }
}

/// Keys were given that open nothing: whoever gave them has to know that before anything else.
fn are_of_no_use(focus: &Focus) -> bool {
    matches!(focus.analysis.keys_fit(), KeysFit::Nothing | KeysFit::Cut)
}

fn missing_keys(page: &mut TerminalPage, focus: &Focus) {
    let (decrypted, total) = words::decrypted(focus.analysis);
    if decrypted < total {
        let missing = format::count(total - decrypted);
        let total = format::counted(focus.t, "counted-sas", total);
        let id = match focus.analysis.keys_fit() {
            KeysFit::Nothing => "answer-wrong-keys",
            KeysFit::Cut => "answer-cut",
            _ if focus.analysis.capture.is_cut() => "answer-cut-some",
            KeysFit::Some | KeysFit::Absent => "answer-keys",
        };
        let one_line = format::yes(!lines_that_would_open(focus.analysis).is_empty());
        // A file was given, and it holds none.
        let files = &focus.analysis.key_files;
        let given = files.first().filter(|_| !files.iter().any(KeyFile::holds_keys));
        let file = given.map_or_else(|| "none".to_owned(), |file| clean::line(&file.path));
        page.paragraph(&fill!(focus.t, id, missing, total, one_line, file));
    }
}

/// Packets of which no more were kept.
fn beyond(page: &mut TerminalPage, focus: &Focus) {
    let beyond = focus.analysis.diagnostics.iter().filter(|d| d.kind == "too_many");
    let beyond: u64 = beyond.map(|d| d.count).sum();
    if beyond > 0 {
        let packets = format::count(beyond);
        let all = format::counted(focus.t, "counted-packets", focus.analysis.capture.packets);
        page.paragraph(&fill!(focus.t, "answer-beyond", packets, all));
    }
}

/// Says whence times count where no account does, and something is there that has a time.
fn first_packet(page: &mut TerminalPage, focus: &Focus) {
    let is_said = tables::brief_account(focus).is_some();
    if !is_said && !focus.tunnels.is_empty() && focus.analysis.capture.first_time.is_some() {
        page.paragraph(&words::first_packet(focus.t, &focus.analysis.capture));
    }
}

fn more(page: &mut TerminalPage, focus: &Focus, left_out: usize) {
    if left_out > 0 {
        let n = format::count(left_out as u64);
        page.paragraph(&fill!(focus.t, "answer-more", n));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    /// A heading or the head of a table without a row says nothing.
    #[test]
    fn a_list_that_is_cut_keeps_a_row_or_goes_whole() {
        let document = example::seven_rekeys();
        let focus = Focus::new(&document, Language::English);
        let body = "answer\n\nheading\nhead\nrow 1\nrow 2\n";
        assert_eq!(cut(&focus, body.to_owned(), 6), body);
        assert_eq!(cut(&focus, body.to_owned(), 5), "answer\n… 5 more: -v\n");
        let longer = format!("{body}row 3\n");
        assert_eq!(
            cut(&focus, longer, 6),
            "answer\n\nheading\nhead\nrow 1\n… 2 more: -v\n"
        );
    }
}
