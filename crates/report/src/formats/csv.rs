//! Tables for spreadsheets: one CSV file each for SAs, rekeys and series (and attempts, the account of the time, the other capture point and overlays, where there are any). Numbers are unformatted, times are RFC 3339,
//! an empty cell is unknown.

mod account;
mod two_points;

use crate::words::focus;
use rekeyscope_model::analysis::{
    Analysis, Attempt, Direction, Outage, Overlay, OverlayPoint, Rekey, RekeyImpact,
};
use rekeyscope_model::time::Timestamp;
use std::fmt::Display;

/// Names of the files that [`render`] may give.
pub const NAMES: [&str; 8] = [
    "sas.csv",
    "rekeys.csv",
    "series.csv",
    "attempts.csv",
    "account.csv",
    "two_points.csv",
    "two_points_rekeys.csv",
    "overlays.csv",
];

/// File names with their contents.
pub fn render(analysis: &Analysis) -> Vec<(&'static str, Vec<u8>)> {
    let mut files = vec![
        ("sas.csv", security_associations(analysis)),
        ("rekeys.csv", rekeys(analysis)),
        ("series.csv", series(analysis)),
    ];
    if !analysis.attempts.is_empty() {
        files.push(("attempts.csv", attempts(analysis)));
    }
    if !analysis.account.is_empty() {
        files.push(("account.csv", account::account(analysis)));
    }
    if let Some(points) = &analysis.two_points {
        files.push(("two_points.csv", two_points::directions(points)));
        files.push(("two_points_rekeys.csv", two_points::rekeys(points)));
    }
    if !analysis.overlays.is_empty() {
        files.push(("overlays.csv", overlays(analysis)));
    }
    files
}

/// Every attempt, with the time around it during which nothing passed.
fn attempts(analysis: &Analysis) -> Vec<u8> {
    fn of<T: Display>(a: &Attempt, value: fn(&Outage) -> Option<T>) -> String {
        cell(a.outage.as_ref().and_then(value))
    }
    columns(
        &analysis.attempts,
        [
            ("index", |a| a.index.to_string()),
            ("tunnel", |a| a.tunnel.to_string()),
            ("exchange", |a| cell(a.exchange)),
            ("initiator", |a| cell(a.initiator)),
            ("first_time", |a| a.first_time.to_string()),
            ("last_time", |a| a.last_time.to_string()),
            ("messages", |a| a.messages.to_string()),
            ("transmissions", |a| a.transmissions.to_string()),
            ("answered_after_s", |a| number(a.answered_after_s)),
            ("outcome", |a| a.outcome.to_string()),
            ("reason", |a| given(a.reason.as_deref())),
            ("rekey", |a| cell(a.rekey)),
            ("outage_direction", |a| of(a, |o| Some(o.direction))),
            ("outage_start", |a| of(a, |o| Some(o.start))),
            ("outage_end", |a| of(a, |o| o.end)),
            ("outage_s", |a| number(a.outage.as_ref().map(|o| o.seconds))),
            ("outage_at_least", |a| of(a, |o| Some(o.at_least))),
            ("outage_ended_by", |a| of(a, |o| Some(o.ended_by))),
            ("outage_cause", |a| of(a, |o| Some(o.explanation.as_ref()?.cause))),
        ],
    )
}

/// Every value of every overlay, on the capture's clock.
fn overlays(analysis: &Analysis) -> Vec<u8> {
    let all = analysis.overlays.iter();
    let rows: Vec<(&Overlay, &OverlayPoint)> =
        all.flat_map(|o| o.points.iter().map(move |p| (o, p))).collect();
    columns(
        &rows,
        [
            ("path", |(o, _)| text(&o.path)),
            ("name", |(o, _)| text(&o.name)),
            ("time", |(_, p)| p.time.to_string()),
            ("seconds", |(_, p)| number(Some(p.seconds))),
            ("value", |(_, p)| number(Some(p.value))),
        ],
    )
}

/// Text from outside, so that no spreadsheet takes it for a formula (a leading `=`, `+`, `-`, `@`, tab or line end gets
/// an apostrophe before it, also after spaces).
pub(crate) fn text(value: &str) -> String {
    let first = value.trim_start_matches(' ').chars().next();
    let value: String = value.chars().filter(|c| *c != '\0').collect();
    match first {
        Some('=' | '+' | '-' | '@' | '\t' | '\r' | '\n') => format!("'{value}"),
        _ => value,
    }
}

fn given(value: Option<&str>) -> String {
    text(value.unwrap_or_default())
}

pub(crate) fn cell<T: Display>(value: Option<T>) -> String {
    value.map_or_else(String::new, |v| v.to_string())
}

/// A figure; JSON cannot hold infinities, but a document built in memory could.
pub(crate) fn number(value: Option<f64>) -> String {
    cell(value.filter(|v| v.is_finite()))
}

fn table<const N: usize>(header: [&str; N], rows: impl Iterator<Item = [String; N]>) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail, and all rows are N cells long.
    let mut written = writer.write_record(header).is_ok();
    for row in rows {
        written &= writer.write_record(row).is_ok();
    }
    debug_assert!(written);
    writer.into_inner().unwrap_or_default()
}

/// A table of a row for each of `rows`: what its columns are called, and what a row has there.
pub(crate) fn columns<R, const N: usize>(rows: &[R], columns: [(&str, fn(&R) -> String); N]) -> Vec<u8> {
    table(
        columns.map(|c| c.0),
        rows.iter().map(|r| columns.map(|c| (c.1)(r))),
    )
}

fn security_associations(analysis: &Analysis) -> Vec<u8> {
    columns(
        &analysis.security_associations,
        [
            ("tunnel", |sa| sa.tunnel.to_string()),
            ("src", |sa| sa.src.to_string()),
            ("dst", |sa| sa.dst.to_string()),
            ("spi", |sa| sa.spi.to_string()),
            ("generation", |sa| sa.generation.to_string()),
            ("mode", |sa| cell(sa.mode)),
            ("encryption", |sa| given(sa.encryption.as_deref())),
            ("integrity", |sa| given(sa.integrity.as_deref())),
            ("encapsulation", |sa| sa.encapsulation.to_string()),
            ("key_status", |sa| sa.key.status.to_string()),
            ("key_source", |sa| given(sa.key.source.as_deref())),
            ("first_time", |sa| cell(sa.first_time)),
            ("last_time", |sa| cell(sa.last_time)),
            ("first_frame", |sa| cell(sa.first_frame)),
            ("last_frame", |sa| cell(sa.last_frame)),
            ("packets", |sa| sa.packets.to_string()),
            ("outer_bytes", |sa| sa.outer_bytes.to_string()),
            ("esp_bytes", |sa| sa.esp_bytes.to_string()),
            ("inner_bytes", |sa| cell(sa.inner_bytes)),
            ("icv_verified", |sa| sa.icv.verified.to_string()),
            ("icv_failed", |sa| sa.icv.failed.to_string()),
            ("icv_unchecked", |sa| sa.icv.unchecked.to_string()),
            ("sequence_first", |sa| cell(sa.sequence.first)),
            ("sequence_last", |sa| cell(sa.sequence.last)),
            ("sequence_missing", |sa| sa.sequence.missing.to_string()),
            ("sequence_duplicates", |sa| sa.sequence.duplicates.to_string()),
            ("sequence_reordered", |sa| sa.sequence.reordered.to_string()),
        ],
    )
}

/// A rekey in one direction.
struct DirectedRekey<'a> {
    rekey: &'a Rekey,
    direction: Direction,
    impact: Option<&'a RekeyImpact>,
}

/// The table of rekeys, for standard output: one row per rekey and direction.
pub fn rekeys(analysis: &Analysis) -> Vec<u8> {
    let both = |rekey| {
        Direction::BOTH.map(|direction| DirectedRekey {
            rekey,
            direction,
            impact: rekey.impact.iter().find(|i| i.direction == direction),
        })
    };
    let rows: Vec<_> = analysis.rekeys.iter().flat_map(both).collect();
    columns(
        &rows,
        [
            ("index", |r| r.rekey.index.to_string()),
            ("number", |r| focus::number(r.rekey).to_string()),
            ("tunnel", |r| r.rekey.tunnel.to_string()),
            ("exchange", |r| cell(r.rekey.exchange)),
            ("initiator", |r| cell(r.rekey.initiator)),
            ("evidence", |r| r.rekey.evidence.to_string()),
            ("trigger", |r| r.rekey.trigger.kind.to_string()),
            ("trigger_fraction", |r| number(r.rekey.trigger.fraction)),
            ("trigger_bytes", |r| cell(r.rekey.trigger.bytes)),
            ("limit_kilobytes", |r| cell(r.rekey.trigger.limit_kilobytes)),
            ("age_s", |r| number(r.rekey.trigger.age_s)),
            ("limit_seconds", |r| cell(r.rekey.trigger.limit_seconds)),
            ("counting", |r| given(r.rekey.trigger.counting.as_deref())),
            ("started", |r| cell(r.rekey.started)),
            ("exchange_ms", |r| number(r.rekey.exchange_ms)),
            ("overlap_ms", |r| number(r.rekey.overlap_ms)),
            ("direction", |r| r.direction.to_string()),
            ("old_spi", |r| cell(r.rekey.old.get(r.direction))),
            ("new_spi", |r| cell(r.rekey.new.get(r.direction))),
            ("switched", |r| cell(r.rekey.switched.get(r.direction))),
            ("gap_ms", |r| number(r.rekey.gap_ms.get(r.direction))),
            ("used", |r| cell(r.impact.map(|i| i.used))),
            ("hurt", |r| cell(r.impact.map(|i| i.hurt))),
            ("cost_s", |r| number(r.impact.and_then(|i| i.cost_seconds))),
            ("at_least", |r| cell(r.impact.map(|i| i.at_least))),
            ("silence_ms", |r| number(r.impact.and_then(|i| i.silence_ms))),
            ("why", |r| cell(r.impact.and_then(|i| i.why))),
            ("swallowed", |r| cell(r.impact.map(|i| i.swallowed))),
            ("flags", |r| {
                text(&r.impact.map(|i| i.flags.join(" ")).unwrap_or_default())
            }),
            ("cause", |r| cell(r.impact.and_then(|i| i.cause))),
        ],
    )
}

/// Every bin of every direction; the finer bins around rekeys follow where the document has them.
fn series(analysis: &Analysis) -> Vec<u8> {
    let header = [
        "tunnel",
        "direction",
        "rekey",
        "time",
        "bin_ms",
        "inner_new_bytes",
        "outer_bytes",
    ];
    let bin_ms = analysis.series.bin_ms;
    let whole = analysis.series.tunnels.iter().flat_map(|s| {
        (0..s.inner_new_bytes.len().max(s.outer_bytes.len())).map(move |i| {
            [
                s.tunnel.to_string(),
                s.direction.to_string(),
                String::new(),
                bin_start(s.start, i, bin_ms).to_string(),
                number(Some(bin_ms)),
                cell(s.inner_new_bytes.get(i)),
                cell(s.outer_bytes.get(i)),
            ]
        })
    });
    let around = analysis.series.around_rekeys.iter().flat_map(|s| {
        let tunnel = analysis.rekeys.get(s.rekey).map(|r| r.tunnel);
        s.inner_new_bytes.iter().enumerate().map(move |(i, bytes)| {
            [
                cell(tunnel),
                s.direction.to_string(),
                s.rekey.to_string(),
                bin_start(s.start, i, s.bin_ms).to_string(),
                number(Some(s.bin_ms)),
                bytes.to_string(),
                String::new(),
            ]
        })
    });
    table(header, whole.chain(around))
}

fn bin_start(start: Timestamp, bin: usize, bin_ms: f64) -> Timestamp {
    start.plus_seconds(bin as f64 * bin_ms / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_testkit::example;

    fn read(bytes: &[u8]) -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes);
        reader
            .records()
            .map(|r| r.unwrap().iter().map(str::to_string).collect())
            .collect()
    }

    #[test]
    fn the_files_hold_every_row() {
        let document = example::seven_rekeys();
        let files = render(&document);
        assert_eq!(
            files.iter().map(|f| f.0).collect::<Vec<_>>(),
            [
                "sas.csv",
                "rekeys.csv",
                "series.csv",
                "attempts.csv",
                "account.csv"
            ]
        );
        assert_eq!(read(&files[3].1).len(), 1 + document.attempts.len());
        assert_eq!(read(&files[0].1).len(), 1 + 16);
        let rekeys = read(&files[1].1);
        assert_eq!(rekeys.len(), 1 + 14);
        assert_eq!(rekeys[2][..3], ["0", "1", "0"]);
        assert_eq!(rekeys[2][16..19], ["b_to_a", "0xce200001", "0xce200008"]);
        assert_eq!(
            rekeys[0][22..28],
            ["hurt", "cost_s", "at_least", "silence_ms", "why", "swallowed"]
        );
        assert_eq!(
            rekeys[4][22..28],
            ["true", "0.23", "false", "210", "lost_on_old", "8"]
        );
        let series = read(&files[2].1);
        assert_eq!(series.len(), 1 + 2 * 3000);
        assert_eq!(series[2][3], "2026-11-20T20:11:49.010000000Z");
    }

    #[test]
    fn no_cell_is_a_formula() {
        for document in example::all() {
            for (name, bytes) in render(&document) {
                for value in read(&bytes).into_iter().flatten() {
                    let starts_formula = value
                        .trim_start_matches(' ')
                        .starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
                    assert!(!starts_formula || value.parse::<f64>().is_ok(), "{name}: {value}");
                }
            }
        }
        assert_eq!(text("=1+1"), "'=1+1");
        assert_eq!(text("  @SUM(A1)"), "'  @SUM(A1)");
        assert_eq!(text("keys.esp_sa:3 (explicit)"), "keys.esp_sa:3 (explicit)");
    }

    #[test]
    fn a_negative_number_stays_a_number() {
        assert_eq!(number(Some(-12.5)), "-12.5");
        assert_eq!(number(Some(f64::NAN)), "");
        assert_eq!(number(None), "");
    }
}
