//! The account of a transfer's time, label by label.

use crate::tables::table::{Table, WIDE, WIDER};
use crate::words::focus::Focus;
use crate::words::format::{self, or_unknown};
use crate::words::{self, seconds_of};
use rekeyscope_impact::tell::account::{AccountInBrief, in_brief};
use rekeyscope_model::analysis::{
    Account, AccountEvidence, AccountGap, AccountGapLine, AccountLabel, AccountLine,
};
use rekeyscope_model::text::{Catalogue, Message};

/// One row per label, most lost first, and one for all of them.
pub(crate) fn account(focus: &Focus, of: &Account) -> Table {
    let t = focus.t;
    let rows: Vec<Option<&AccountLine>> = of.labels.iter().map(Some).chain([None]).collect();
    let s = |seconds: f64| seconds_of(seconds, of.seconds);
    let mut table = Table::of(t, &rows)
        .left("column-account", |row| match row {
            Some(line) => words::account_label_of(t, of, line.label),
            None => t.word("account-all"),
        })
        .right("column-seconds", |row| s(row.map_or(of.seconds, |l| l.seconds)))
        .right("column-share", |row| {
            format::percent(row.map_or(1.0, |l| l.share))
        })
        .right("column-lost-s", |row| {
            s(row.map_or(of.lost_seconds, |l| l.lost_seconds))
        })
        .right("column-lost-share", |row| {
            cell(*row, |l| l.lost_share.map(format::percent))
        })
        .right_from(WIDE, "column-s-per-gb", |row| {
            cell(*row, |l| l.s_per_gb.map(format::value))
        })
        .right("column-without", |row| {
            cell(*row, |l| l.without_mbps.map(|mbps| format::rate(mbps * 1e6)))
        })
        .left_from(WIDER, "column-also", |row| {
            let also = row.map_or(&[][..], |l| &l.also).iter();
            let also = also.map(|a| format!("{} {} s", words::account_label(t, a.label), s(a.seconds)));
            t.joined(&also.collect::<Vec<_>>())
        })
        .table;
    if of.labels.iter().all(|line| line.also.is_empty()) {
        table.drop_uniform("column-also");
    }
    table.notes = words::account_notes(t, of);
    table
}

/// The account of the headline's direction as every first page has it.
pub(crate) struct BriefAccount {
    /// The time, and what it is compared with.
    pub(crate) lead: String,
    pub(crate) table: Table,
    /// Notes that a reader of the table needs.
    pub(crate) notes: Vec<String>,
}

/// The account of the headline's direction in brief; `None` where that has none.
pub(crate) fn brief_account(focus: &Focus) -> Option<BriefAccount> {
    let t = focus.t;
    let accounts = words::accounts(focus.analysis);
    let mut own = accounts
        .into_iter()
        .filter(|account| words::is_headline(focus, account));
    let account = own.next()?;
    let brief = in_brief(account)?;
    // The lines above say of an outage what is known of its cause.
    let is_told = |note: &&Message| note.id == "account-cut" && focus.outages().is_some();
    let untested = brief.not_testable.iter().filter(|note| !is_told(note));
    let said = brief.won_back.iter().chain(untested);
    let mut notes: Vec<String> = said.map(|note| t.say(note)).collect();
    notes.extend(words::outage_note(focus, account));
    notes.push(words::times(focus, account));
    let headline = focus.analysis.impact.first();
    notes.extend(headline.and_then(|i| words::share_of_gap(t, i)));
    Some(BriefAccount {
        lead: t.say(&brief.lead),
        table: account_in_brief(focus, account, &brief),
        notes,
    })
}

/// A row for each label that counts, by what it cost, or where nothing was lost by its time.
fn account_in_brief(focus: &Focus, of: &Account, brief: &AccountInBrief<'_>) -> Table {
    let t = focus.t;
    let name = |line: &&AccountLine| match brief.by_loss {
        true => words::loss_label(t, line.label),
        false => words::account_label(t, line.label),
    };
    let without = |line: &&AccountLine| or_unknown(line.without_mbps, |mbps| format::rate(mbps * 1e6));
    let lost = |line: &&AccountLine| seconds_of(line.lost_seconds, of.lost_seconds);
    let share = |line: &&AccountLine| or_unknown(line.lost_share, format::percent);
    let lines = Table::of(t, &brief.lines).left("column-account", name);
    let lines = match brief.by_loss {
        true => lines
            .right("column-lost-s", lost)
            .right("column-lost-share", share)
            .right("column-without", without),
        false => lines
            .right("column-seconds", |line| seconds_of(line.seconds, of.seconds))
            .right("column-share", |line| format::percent(line.share)),
    };
    lines.table.without_empty()
}

/// The first cell of a row: a label, or that it is the row of all.
fn label(t: &Catalogue, of: Option<AccountLabel>) -> String {
    of.map_or_else(|| t.word("account-all"), |label| words::account_label(t, label))
}

/// A figure that the row of all has none of.
fn cell(row: Option<&AccountLine>, figure: impl Fn(&AccountLine) -> Option<String>) -> String {
    row.map_or_else(String::new, |line| or_unknown(figure(line), |text| text))
}

/// The longest stretches of each label that has any, each with its display filter.
pub(crate) fn stretches(of: &Account) -> Vec<(AccountLabel, &AccountEvidence)> {
    let lines = of.labels.iter();
    lines
        .flat_map(|line| line.evidence.iter().map(move |stretch| (line.label, stretch)))
        .collect()
}

/// Seconds per gigabyte that a capture needs beyond another one, label by label.
pub(crate) fn gap(t: &Catalogue, of: &AccountGap) -> Table {
    let rows: Vec<Option<&AccountGapLine>> = of.labels.iter().map(Some).chain([None]).collect();
    let whole = of.seconds_per_gb.max(of.reference_s_per_gb);
    let s = |seconds: f64| seconds_of(seconds, whole);
    let mut table = Table::of(t, &rows)
        .left("column-account", |row| label(t, row.map(|l| l.label)))
        .right("column-own-s-per-gb", |row| {
            s(row.map_or(of.seconds_per_gb, |l| l.s_per_gb))
        })
        .right("column-reference-s-per-gb", |row| {
            s(row.map_or(of.reference_s_per_gb, |l| l.reference_s_per_gb))
        })
        .right("column-difference", |row| {
            s(row.map_or(of.gap_s_per_gb, |l| l.gap_s_per_gb))
        })
        .right("column-gap-share", |row| {
            row.map_or_else(String::new, |l| or_unknown(l.gap_share, format::percent))
        })
        .table;
    table.notes.push(t.word("note-gap-account"));
    table
}
