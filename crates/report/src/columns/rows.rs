//! The rows of a table, as JSON objects.

use crate::columns::tables::{FleetTable, TWO_POINTS};
use rekeyscope_model::analysis::{Analysis, TunnelSeries};
use rekeyscope_model::time::NANOS_PER_MILLI;
use serde_json::{Map, Value, json};

/// The rows of a table in the document's order.
pub(super) fn rows<'a>(table: &FleetTable, analysis: &'a Analysis) -> Box<dyn Iterator<Item = Value> + 'a> {
    let list = match table.path.first().copied() {
        None => serde_json::to_value([&analysis.capture]),
        Some("tunnels") => serde_json::to_value(&analysis.tunnels),
        Some("security_associations") => serde_json::to_value(&analysis.security_associations),
        Some("rekeys") => serde_json::to_value(&analysis.rekeys),
        Some("attempts") => serde_json::to_value(&analysis.attempts),
        Some("impact") => serde_json::to_value(&analysis.impact),
        Some("account") => serde_json::to_value(&analysis.account),
        Some(TWO_POINTS) => serde_json::to_value(analysis.two_points.as_slice()),
        Some("findings") => serde_json::to_value(&analysis.findings),
        // Too many to make them all at once.
        Some(_) => return Box::new(bins(analysis)),
    };
    let mut found = Vec::new();
    let inner = table.path.get(1..).unwrap_or_default();
    descend(
        list.unwrap_or_default(),
        inner,
        &mut Vec::new(),
        &mut |row, above| {
            found.push(with_lent(table, row, above));
        },
    );
    Box::new(found.into_iter())
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

/// A row per bin.
fn bins(analysis: &Analysis) -> impl Iterator<Item = Value> {
    let bin_ms = analysis.series.bin_ms;
    let bin = move |series: &TunnelSeries, at: usize| {
        let since = (at as f64 * bin_ms * NANOS_PER_MILLI as f64).round() as i64;
        json!({
            "tunnel": series.tunnel,
            "direction": series.direction,
            "time": series.start.plus_nanos(since),
            "bin_ms": bin_ms,
            "inner_new_bytes": series.inner_new_bytes.get(at),
            "outer_bytes": series.outer_bytes.get(at),
        })
    };
    analysis.series.tunnels.iter().flat_map(move |series| {
        let len = series.inner_new_bytes.len().max(series.outer_bytes.len());
        (0..len).map(move |at| bin(series, at))
    })
}
