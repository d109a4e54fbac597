//! Tables for spreadsheets: one CSV file each for SAs, rekeys and series (and attempts, the account of the time, the other capture point and
//! overlays, where there are any). Numbers are unformatted, times are RFC 3339, an empty cell is unknown.

use crate::words::{self, focus};
use rekeyscope_model::analysis::{
    Account, AccountGapLine, AccountLine, Analysis, Direction, Overlay, TunnelSeries,
};
use rekeyscope_model::time::Timestamp;
use serde_json::{Value, json};

/// Columns of a table: each is called as its field in the document, or has the path of that field behind its name.
const SAS: &str = "tunnel src dst spi generation mode encryption integrity encapsulation key_status=key/status \
    key_source=key/source first_time last_time first_frame last_frame packets outer_bytes esp_bytes inner_bytes \
    icv_verified=icv/verified icv_failed=icv/failed icv_unchecked=icv/unchecked sequence_first=sequence/first \
    sequence_last=sequence/last sequence_missing=sequence/missing sequence_duplicates=sequence/duplicates \
    sequence_reordered=sequence/reordered";
const REKEYS: &str = "index number tunnel exchange initiator evidence trigger=trigger/kind trigger_fraction=trigger/fraction \
    trigger_bytes=trigger/bytes limit_kilobytes=trigger/limit_kilobytes age_s=trigger/age_s \
    limit_seconds=trigger/limit_seconds counting=trigger/counting started exchange_ms overlap_ms direction old_spi=old \
    new_spi=new switched gap_ms used=impact/used hurt=impact/hurt cost_s=impact/cost_seconds at_least=impact/at_least \
    silence_ms=impact/silence_ms why=impact/why swallowed=impact/swallowed flags=impact/flags cause=impact/cause";
const ATTEMPTS: &str = "index tunnel exchange initiator first_time last_time messages transmissions answered_after_s outcome \
    reason rekey outage_direction=outage/direction outage_start=outage/start outage_end=outage/end outage_s=outage/seconds \
    outage_at_least=outage/at_least outage_ended_by=outage/ended_by outage_cause=outage/explanation/cause";
const ACCOUNT: &str = "tunnel direction label seconds bytes lost_seconds share lost_share s_per_gb without_mbps \
    reference_mbps own_mbps own_from also reference_s_per_gb=gap/reference_s_per_gb gap_s_per_gb=gap/gap_s_per_gb \
    display_filter";
const TWO_POINTS: &str = "tunnel direction src dst order order_by both only_here only_there outside lost_between \
    not_recorded missing_at_both duplicates_here duplicates_there reordered delay_ms_least=delay_ms/least \
    delay_ms_median=delay_ms/median delay_ms_p95=delay_ms/p95 delay_ms_most=delay_ms/most \
    variation_ms_least=variation_ms/least variation_ms_median=variation_ms/median variation_ms_p95=variation_ms/p95 \
    variation_ms_most=variation_ms/most ike_both ike_only_here ike_only_there";
const TWO_POINTS_REKEYS: &str = "rekey number tunnel direction old_spi old_lost new_spi new_lost sent usual_lost ike_lost \
    first_ms last_ms";
const OVERLAYS: &str = "path name time seconds value";
const SERIES: &str = "tunnel direction rekey time bin_ms inner_new_bytes outer_bytes";

/// The files: their names, and their contents where a document has such rows.
const FILES: [(&str, fn(&Analysis) -> Option<Vec<u8>>); 8] = [
    ("sas.csv", |a| {
        Some(table(SAS, entries(json!(a.security_associations))))
    }),
    ("rekeys.csv", |a| Some(rekeys(a))),
    ("series.csv", |a| Some(series(a))),
    ("attempts.csv", |a| {
        (!a.attempts.is_empty()).then(|| table(ATTEMPTS, entries(json!(a.attempts))))
    }),
    ("account.csv", |a| (!a.account.is_empty()).then(|| account(a))),
    ("two_points.csv", |a| {
        let directions = entries(json!(a.two_points.as_ref()?.directions));
        Some(table(TWO_POINTS, directions))
    }),
    ("two_points_rekeys.csv", |a| {
        let rekeys = entries(json!(a.two_points.as_ref()?.rekeys));
        Some(table(TWO_POINTS_REKEYS, rekeys))
    }),
    ("overlays.csv", |a| {
        (!a.overlays.is_empty()).then(|| table(OVERLAYS, a.overlays.iter().flat_map(points)))
    }),
];

/// Names of the files that [`render`] may give.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// File names with their contents.
pub fn render(analysis: &Analysis) -> Vec<(&'static str, Vec<u8>)> {
    let files = FILES.iter();
    files
        .filter_map(|(name, of)| Some((*name, of(analysis)?)))
        .collect()
}

fn points(overlay: &Overlay) -> Vec<Value> {
    let names = || [("path", json!(overlay.path)), ("name", json!(overlay.name))];
    let points = overlay.points.iter();
    points.map(|point| with(json!(point), names())).collect()
}

/// The entries of a list of the document.
pub(crate) fn entries(list: Value) -> Vec<Value> {
    match list {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    }
}

/// An entry with further fields, or with others in their place.
fn with<const N: usize>(mut entry: Value, fields: [(&str, Value); N]) -> Value {
    for (name, value) in fields {
        entry[name] = value;
    }
    entry
}

/// A table of a row for each entry of the document.
pub(crate) fn table(columns: &str, rows: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let columns = columns.split_whitespace();
    let columns = columns.map(|column| column.split_once('=').unwrap_or((column, column)));
    let (names, paths): (Vec<&str>, Vec<String>) =
        columns.map(|(name, path)| (name, format!("/{path}"))).unzip();
    let row = |row: Value| -> Vec<String> {
        let cells = paths.iter().map(|path| row.pointer(path));
        cells.map(|value| value.map_or_else(String::new, shown)).collect()
    };
    write(&names, rows.into_iter().map(row))
}

/// A value of the document in a cell; a list is told by its names.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(value) => text(value),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(number) => number.to_string(),
            None => number.to_string(),
        },
        Value::Array(list) => text(
            &list
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(" "),
        ),
        value => value.to_string(),
    }
}

/// Writes a header and rows of as many cells.
pub(crate) fn write<R: IntoIterator<Item = String>>(
    header: &[&str],
    rows: impl Iterator<Item = R>,
) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail, and all rows are as long as the header.
    let mut written = writer.write_record(header).is_ok();
    for row in rows {
        written &= writer
            .write_record(row.into_iter().map(String::into_bytes))
            .is_ok();
    }
    debug_assert!(written);
    writer.into_inner().unwrap_or_default()
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

/// The table of rekeys, for standard output: one row per rekey and direction.
pub fn rekeys(analysis: &Analysis) -> Vec<u8> {
    let rows = analysis.rekeys.iter().flat_map(|rekey| {
        let entry = json!(rekey);
        Direction::BOTH.map(|direction| {
            let impact = rekey.impact.iter().find(|i| i.direction == direction);
            let of = |pair: &str| entry[pair][direction.as_str()].clone();
            let fields = [
                ("number", json!(focus::number(rekey))),
                ("direction", json!(direction)),
                ("impact", json!(impact)),
                ("old", of("old")),
                ("new", of("new")),
                ("switched", of("switched")),
                ("gap_ms", of("gap_ms")),
            ];
            with(entry.clone(), fields)
        })
    });
    table(REKEYS, rows)
}

/// Where the time went: one row per tunnel, direction and label.
fn account(analysis: &Analysis) -> Vec<u8> {
    let row = |of: &Account, line: &AccountLine| {
        let also: Vec<_> = line.also.iter().map(|a| a.label).collect();
        let fields = [
            ("tunnel", json!(of.tunnel)),
            ("direction", json!(of.direction)),
            ("reference_mbps", json!(of.reference_mbps)),
            ("own_mbps", json!(of.own_mbps)),
            ("own_from", json!(of.own_from)),
            ("also", json!(also)),
            ("gap", json!(gap(analysis, of, line))),
            ("display_filter", json!(words::stretches_filter(line))),
        ];
        with(json!(line), fields)
    };
    let rows = analysis.account.iter();
    table(
        ACCOUNT,
        rows.flat_map(|of| of.labels.iter().map(move |line| row(of, line))),
    )
}

/// The headline's direction alone is compared with the reference.
fn gap<'a>(analysis: &'a Analysis, of: &Account, line: &AccountLine) -> Option<&'a AccountGapLine> {
    let headline = analysis.impact.first()?;
    let own = (headline.tunnel, headline.direction) == (of.tunnel, of.direction);
    let mut all = analysis.gap.as_ref().filter(|_| own)?.labels.iter();
    all.find(|g| g.label == line.label)
}

/// Every bin of every direction; the finer bins around rekeys follow where the document has them.
fn series(analysis: &Analysis) -> Vec<u8> {
    let bin_ms = analysis.series.bin_ms;
    let whole = analysis.series.tunnels.iter().flat_map(|s| {
        let len = s.inner_new_bytes.len().max(s.outer_bytes.len());
        (0..len).map(move |i| bin(s, i, bin_ms))
    });
    let around = analysis.series.around_rekeys.iter().flat_map(|s| {
        let tunnel = analysis.rekeys.get(s.rekey).map(|r| r.tunnel);
        s.inner_new_bytes.iter().enumerate().map(move |(i, bytes)| {
            json!({
                "tunnel": tunnel,
                "direction": s.direction,
                "rekey": s.rekey,
                "time": bin_start(s.start, i, s.bin_ms),
                "bin_ms": s.bin_ms,
                "inner_new_bytes": bytes,
            })
        })
    });
    table(SERIES, whole.chain(around))
}

pub(crate) fn bin_start(start: Timestamp, bin: usize, bin_ms: f64) -> Timestamp {
    start.plus_seconds(bin as f64 * bin_ms / 1000.0)
}

/// A bin of a tunnel.
pub(crate) fn bin(series: &TunnelSeries, at: usize, bin_ms: f64) -> Value {
    json!({
        "tunnel": series.tunnel,
        "direction": series.direction,
        "time": bin_start(series.start, at, bin_ms),
        "bin_ms": bin_ms,
        "inner_new_bytes": series.inner_new_bytes.get(at),
        "outer_bytes": series.outer_bytes.get(at),
    })
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
        assert_eq!(shown(&json!(-12.5)), "-12.5");
        assert_eq!(shown(&json!(7.0)), "7");
        assert_eq!(shown(&json!(f64::NAN)), "");
    }

    #[test]
    fn a_row_per_label() {
        let mut document = example::seven_rekeys();
        let files = render(&document);
        let account = files.iter().find(|(name, _)| *name == "account.csv").unwrap();
        let text = String::from_utf8(account.1.clone()).unwrap();
        assert_eq!(text.lines().count(), 1 + document.account[0].labels.len());
        let window = text.lines().find(|l| l.contains(",receive_window,")).unwrap();
        assert!(
            window.starts_with("0,b_to_a,receive_window,7,5963999,"),
            "{window}"
        );
        assert!(
            window.ends_with(
                "(frame.number >= 151 && frame.number <= 301) || (frame.number >= 901 && frame.number <= 1051) || \
                 (frame.number >= 1651 && frame.number <= 1801)"
            ),
            "{window}"
        );
        document.account.clear();
        assert!(render(&document).iter().all(|(name, _)| *name != "account.csv"));
    }
}
