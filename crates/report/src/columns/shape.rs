//! The columns of a table, from the JSON Schema that is made of the document's types.

use crate::columns::tables::FleetTable;
use rekeyscope_model::analysis::Analysis;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Drawings of single packets: no columns.
const LEFT_OUT: [&str; 1] = ["close_up"];
/// Fields of a capture that are `uri` and `capture` in tables.
const SAID_OTHERWISE: [&str; 2] = ["path", "sha256"];
/// Objects inside objects that are followed; the document has three at most.
const DEEPEST: usize = 6;

/// Types of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Integer,
    Number,
    Boolean,
    Text,
    /// Microseconds, UTC: Spark refuses nanoseconds.
    Time,
    /// Days since 1970.
    Day,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnShape {
    /// The field's name, those of the objects around it in front: `trigger_kind`.
    pub(super) name: String,
    /// Path to the value in a row.
    pub(super) path: Vec<String>,
    pub(super) kind: ColumnKind,
    /// A list of such values.
    pub(super) is_list: bool,
    /// The column has a value in every row.
    pub(super) is_required: bool,
    /// Divisor of the document's numbers, so that a quantity has one unit in all tables.
    pub(super) divisor: f64,
}

/// Columns that every table has: which capture, of which version of the document, when and where.
pub(super) const COMMON: [(&str, ColumnKind, bool); 5] = [
    ("capture", ColumnKind::Text, true),
    ("schema_version", ColumnKind::Integer, true),
    (TIME, ColumnKind::Time, false),
    ("day", ColumnKind::Day, false),
    ("gateway", ColumnKind::Text, true),
];
/// The column that rows are sorted by.
pub(super) const TIME: &str = "time";
/// Columns of the table of captures that no document has: what became of the analysis.
const OF_CAPTURES: [(&str, ColumnKind, bool); 5] = [
    ("uri", ColumnKind::Text, true),
    ("status", ColumnKind::Text, true),
    ("problem", ColumnKind::Text, false),
    ("attempts", ColumnKind::Integer, true),
    ("fingerprint", ColumnKind::Text, false),
];

/// The units of the document that are another one in tables: the end of a name, that of the column, and what values are divided by.
const UNITS: [(&str, &str, f64); 3] = [
    ("_ms", "_seconds", 1e3),
    ("_s", "_seconds", 1.0),
    ("_bps", "_mbps", 1e6),
];

/// All columns of a table.
pub(super) fn columns(table: &FleetTable) -> Vec<ColumnShape> {
    let settings = SchemaSettings::default().for_serialize();
    let schema = settings
        .into_generator()
        .into_root_schema_for::<Analysis>()
        .to_value();
    let definition = |name: &str| schema.pointer(&format!("/$defs/{name}")).cloned();
    let has_document = !table.path.is_empty();
    let mut columns: Vec<ColumnShape> = COMMON.iter().map(plain).collect();
    if !has_document {
        // A capture that cannot be read has no digest.
        columns[0].is_required = false;
        columns.extend(OF_CAPTURES.iter().map(plain));
    }
    for (_, _, name) in table.lent {
        let kind = if *name == "direction" {
            ColumnKind::Text
        } else {
            ColumnKind::Integer
        };
        columns.push(plain(&(name, kind, true)));
    }
    let row = definition(table.row).unwrap_or_else(bin);
    add_fields(&schema, &row, &[], has_document, &mut columns);
    columns.retain(|column| has_document || !SAID_OTHERWISE.contains(&column.name.as_str()));
    for (field, name) in table.renamed {
        let named = columns.iter_mut().filter(|column| column.path == [*field]);
        named.for_each(|column| column.name = (*name).into());
    }
    columns
}

/// The name of a field in tables, and what its numbers are divided by there.
fn in_units_of_tables(field: &str) -> (String, f64) {
    let unit = UNITS
        .iter()
        .find_map(|(end, unit, divisor)| Some((field.strip_suffix(end)?, unit, *divisor)));
    unit.map_or((field.into(), 1.0), |(stem, unit, divisor)| {
        (format!("{stem}{unit}"), divisor)
    })
}

/// A bin of a series, which the document has as two lists.
fn bin() -> Value {
    let integer = json!({ "type": "integer" });
    let properties = json!({
        "tunnel": integer, "direction": { "type": "string" }, "bin_ms": { "type": "number" },
        "inner_new_bytes": integer, "outer_bytes": integer,
    });
    json!({ "properties": properties, "required": ["tunnel", "direction", "bin_ms"] })
}

fn plain((name, kind, is_required): &(&str, ColumnKind, bool)) -> ColumnShape {
    ColumnShape {
        name: (*name).into(),
        path: vec![(*name).into()],
        kind: *kind,
        is_list: false,
        is_required: *is_required,
        divisor: 1.0,
    }
}

/// The fields of an object that every row has, or may lack; lists of objects are tables of their own, or none.
fn add_fields(
    schema: &Value,
    object: &Value,
    around: &[String],
    is_there: bool,
    columns: &mut Vec<ColumnShape>,
) {
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        return;
    };
    let required = object.get("required").and_then(Value::as_array);
    for (name, property) in properties {
        if LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        let is_required = is_there
            && required.is_some_and(|names| names.contains(&name.as_str().into()))
            && !is_nullable(property);
        let path: Vec<String> = around.iter().chain([name]).cloned().collect();
        let property = resolved(schema, property);
        let items = property.get("items");
        let (value, is_list) = items.map_or((property, false), |items| (resolved(schema, items), true));
        if let Some(kind) = scalar(schema, value) {
            let parts: Vec<(String, f64)> = path.iter().map(|part| in_units_of_tables(part)).collect();
            let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
            columns.push(ColumnShape {
                name: names.join("_"),
                path,
                kind,
                is_list,
                is_required,
                divisor: parts.iter().map(|(_, divisor)| divisor).product(),
            });
        } else if !is_list && path.len() < DEEPEST {
            add_fields(schema, value, &path, is_required, columns);
        }
    }
}

fn is_nullable(property: &Value) -> bool {
    let null = Value::from("null");
    let types = property.get("type").and_then(Value::as_array);
    let any = property.get("anyOf").and_then(Value::as_array);
    types.is_some_and(|types| types.contains(&null))
        || any.is_some_and(|any| any.iter().any(|one| one.get("type") == Some(&null)))
}

/// Behind references, and behind "or null".
fn resolved<'a>(schema: &'a Value, property: &'a Value) -> &'a Value {
    let alternative = property
        .get("anyOf")
        .and_then(|any| any.get(0))
        .unwrap_or(property);
    let reference = alternative.get("$ref").and_then(Value::as_str);
    match reference.and_then(|path| schema.pointer(path.trim_start_matches('#'))) {
        Some(definition) => resolved(schema, definition),
        None => alternative,
    }
}

fn scalar(schema: &Value, property: &Value) -> Option<ColumnKind> {
    let property = resolved(schema, property);
    // Names of an enumeration.
    if property.get("oneOf").is_some() || property.get("enum").is_some() {
        return Some(ColumnKind::Text);
    }
    let types = property.get("type")?;
    let name = types.as_str().or_else(|| types.get(0)?.as_str())?;
    match (name, property.get("format").and_then(Value::as_str)) {
        ("integer", _) => Some(ColumnKind::Integer),
        ("number", _) => Some(ColumnKind::Number),
        ("boolean", _) => Some(ColumnKind::Boolean),
        ("string", Some("date-time")) => Some(ColumnKind::Time),
        ("string", _) => Some(ColumnKind::Text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::TABLES;
    use std::collections::HashSet;

    #[test]
    fn names_and_types_are_those_of_the_contract_but_for_units() {
        for table in TABLES {
            let columns = columns(table);
            let names: HashSet<&str> = columns.iter().map(|c| c.name.as_str()).collect();
            assert_eq!(names.len(), columns.len(), "{}", table.name);
            assert!(columns.len() > COMMON.len() + table.lent.len(), "{}", table.name);
        }
        let of = |table: &str, column: &str| {
            let table = TABLES.iter().find(|t| t.name == table).unwrap();
            let column = columns(table).into_iter().find(|c| c.name == column).unwrap();
            (column.kind, column.is_list)
        };
        assert_eq!(of("rekeys", "started"), (ColumnKind::Time, false));
        assert_eq!(of("rekeys", "trigger_kind"), (ColumnKind::Text, false));
        assert_eq!(of("rekeys", "old_a_to_b"), (ColumnKind::Text, false));
        assert_eq!(of("rekeys", "gap_seconds_a_to_b"), (ColumnKind::Number, false));
        assert_eq!(of("rekey_impact", "rekey"), (ColumnKind::Integer, false));
        assert_eq!(
            of("security_associations", "icv_verified"),
            (ColumnKind::Integer, false)
        );
        assert_eq!(of("ledger", "cost_seconds"), (ColumnKind::Number, false));
        assert_eq!(of("attempts", "outage_seconds"), (ColumnKind::Number, false));
        assert_eq!(of("captures", "link_types"), (ColumnKind::Text, true));
        assert_eq!(
            of("two_points", "clock_offset_seconds"),
            (ColumnKind::Number, false)
        );
        assert_eq!(
            of("two_points_directions", "delay_seconds_median"),
            (ColumnKind::Number, false)
        );
        assert_eq!(of("two_points_directions", "order_by"), (ColumnKind::Text, false));
        assert_eq!(of("two_points_rekeys", "old_spi"), (ColumnKind::Text, false));
        assert_eq!(of("series", "time"), (ColumnKind::Time, false));
    }

    #[test]
    fn a_quantity_has_one_unit() {
        let all: Vec<ColumnShape> = TABLES.iter().flat_map(columns).collect();
        for column in &all {
            for end in ["_ms", "_s", "_bps"] {
                assert!(
                    !column.name.ends_with(end) && !column.name.contains(&format!("{end}_")),
                    "{column:?}"
                );
            }
        }
        let divisor = |name: &str| all.iter().find(|column| column.name == name).unwrap().divisor;
        assert_eq!(divisor("exchange_seconds"), 1e3);
        assert_eq!(divisor("observed_mbps"), 1e6);
        assert_eq!(divisor("without_mbps"), 1.0);
    }

    #[test]
    fn what_every_row_has_is_required() {
        let of = |table: &str, column: &str| {
            let table = TABLES.iter().find(|t| t.name == table).unwrap();
            columns(table)
                .into_iter()
                .find(|c| c.name == column)
                .unwrap()
                .is_required
        };
        for (table, column) in [
            ("rekeys", "capture"),
            ("rekeys", "rekey"),
            ("rekeys", "number"),
            ("rekey_impact", "direction"),
            ("security_associations", "icv_verified"),
            ("captures", "status"),
        ] {
            assert!(of(table, column), "{table}.{column}");
        }
        for (table, column) in [
            ("rekeys", "started"),
            ("attempts", "outage_seconds"),
            ("captures", "packets"),
            ("rekeys", "new_a_to_b"),
        ] {
            assert!(!of(table, column), "{table}.{column}");
        }
    }
}
