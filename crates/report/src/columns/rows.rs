//! The rows of a table, as JSON objects, sorted by their time.

use crate::columns::shape::TIME;
use crate::columns::tables::{FleetTable, TWO_POINTS};
use crate::formats::csv::{bin, bin_start};
use rekeyscope_model::analysis::{Analysis, TunnelSeries};
use rekeyscope_model::time::Timestamp;
use serde_json::{Map, Value, json};

/// Fields with the time at which a row begins; the first one counts. A row without any has the time of the entry above it, or of the first packet.
const TIMES: [&str; 6] = [
    "/started",
    "/switched/a_to_b",
    "/switched/b_to_a",
    "/first_time",
    "/start",
    "/from",
];

/// The rows of a table, the earliest first.
pub(super) fn rows<'a>(table: &FleetTable, analysis: &'a Analysis) -> Box<dyn Iterator<Item = Value> + 'a> {
    let list = match table.path.first().copied() {
        None => serde_json::to_value([&analysis.capture]),
        Some("tunnels") => serde_json::to_value(&analysis.tunnels),
        Some("security_associations") => serde_json::to_value(&analysis.security_associations),
        Some("rekeys") => serde_json::to_value(&analysis.rekeys),
        Some("attempts") => serde_json::to_value(&analysis.attempts),
        Some("impact") => serde_json::to_value(&analysis.impact),
        Some("ledger") => serde_json::to_value(&analysis.ledger),
        Some("account") => serde_json::to_value(&analysis.account),
        Some(TWO_POINTS) => serde_json::to_value(analysis.two_points.as_slice()),
        Some("findings") => serde_json::to_value(&analysis.findings),
        // Too many to make them all at once.
        Some(_) => return Box::new(bins(analysis)),
    };
    let mut found = Vec::new();
    let inner = table.path.get(1..).unwrap_or_default();
    let begin = analysis.capture.first_time;
    descend(
        list.unwrap_or_default(),
        inner,
        &mut Vec::new(),
        &mut |row, above| {
            let row = with_lent(table, row, above);
            let time = std::iter::once(&row)
                .chain(above.iter().rev())
                .find_map(time_of)
                .or(begin);
            found.push((time, row));
        },
    );
    found.sort_by_key(|(time, _)| *time);
    Box::new(found.into_iter().map(|(time, mut row)| {
        row[TIME] = json!(time);
        row
    }))
}

fn time_of(entry: &Value) -> Option<Timestamp> {
    let mut times = TIMES.iter().filter_map(|field| entry.pointer(field));
    times.find_map(|time| serde_json::from_value(time.clone()).ok())
}

/// Goes down the lists, with the entries above each row.
fn descend(
    list: Value,
    path: &[&str],
    above: &mut Vec<Value>,
    take: &mut impl FnMut(Map<String, Value>, &[Value]),
) {
    let Value::Array(entries) = list else {
        return;
    };
    for entry in entries {
        match (path, entry) {
            ([], Value::Object(row)) => take(row, above),
            ([name, rest @ ..], mut entry) => {
                let inner = entry.get_mut(*name).map(Value::take).unwrap_or_default();
                above.push(entry);
                descend(inner, rest, above, take);
                above.pop();
            }
            _ => {}
        }
    }
}

fn with_lent(table: &FleetTable, mut row: Map<String, Value>, above: &[Value]) -> Value {
    for (depth, field, name) in table.lent {
        let value = above.get(*depth).and_then(|entry| entry.get(field)).cloned();
        row.insert((*name).into(), value.unwrap_or_default());
    }
    Value::Object(row)
}

/// A row per bin of all series.
fn bins(analysis: &Analysis) -> impl Iterator<Item = Value> {
    let bin_ms = analysis.series.bin_ms;
    let mut places: Vec<(Timestamp, &TunnelSeries, usize)> = Vec::new();
    for series in &analysis.series.tunnels {
        let len = series.inner_new_bytes.len().max(series.outer_bytes.len());
        places.extend((0..len).map(|at| (bin_start(series.start, at, bin_ms), series, at)));
    }
    places.sort_by_key(|(time, ..)| *time);
    places
        .into_iter()
        .map(move |(_, series, at)| bin(series, at, bin_ms))
}
