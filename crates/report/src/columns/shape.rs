//! The columns of a table, from the JSON Schema that is made of the document's types.

use crate::columns::tables::FleetTable;
use rekeyscope_model::analysis::Analysis;
use serde_json::{Value, json};

/// Drawings of single packets: no columns.
const LEFT_OUT: [&str; 1] = ["close_up"];
/// Objects inside objects that are followed; the document has three at most.
const DEEPEST: usize = 6;

/// What a column holds. Each value may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Integer,
    Number,
    Boolean,
    Text,
    /// Nanoseconds, UTC.
    Time,
    /// Days since 1970.
    Day,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnShape {
    /// The field's name, those of the objects around it in front: `trigger_kind`.
    pub(super) name: String,
    /// Where it stands in a row.
    pub(super) path: Vec<String>,
    pub(super) kind: ColumnKind,
    /// A list of such values.
    pub(super) is_list: bool,
}

/// Columns that every table has: which capture, of which version of the document, when and where.
pub(super) const COMMON: [(&str, ColumnKind); 4] = [
    ("capture", ColumnKind::Text),
    ("schema_version", ColumnKind::Integer),
    ("day", ColumnKind::Day),
    ("gateway", ColumnKind::Text),
];

/// All columns of a table.
pub(super) fn columns(table: &FleetTable) -> Vec<ColumnShape> {
    let schema = schemars::schema_for!(Analysis).to_value();
    let definition = |name: &str| schema.pointer(&format!("/$defs/{name}")).cloned();
    let mut columns: Vec<ColumnShape> = COMMON.iter().map(|(name, kind)| plain(name, *kind)).collect();
    let above = ["Rekey", "Account"].map(|name| (name, definition(name)));
    for (_, field, name) in table.lent {
        // The entries above are rekeys or accounts.
        let row = &above[usize::from(table.path.first() != Some(&"rekeys"))];
        let property = row
            .1
            .as_ref()
            .and_then(|row| row.pointer(&format!("/properties/{field}")));
        let kind = property
            .and_then(|p| scalar(&schema, p))
            .unwrap_or(ColumnKind::Text);
        columns.push(plain(name, kind));
    }
    let row = definition(table.row).unwrap_or_else(bin);
    add_fields(&schema, &row, &[], &mut columns);
    columns
}

/// A bin of a series, which the document has as two lists.
fn bin() -> Value {
    let integer = json!({ "type": "integer" });
    json!({ "properties": {
        "tunnel": integer, "direction": { "type": "string" }, "time": { "type": "string", "format": "date-time" },
        "bin_ms": { "type": "number" }, "inner_new_bytes": integer, "outer_bytes": integer,
    } })
}

fn plain(name: &str, kind: ColumnKind) -> ColumnShape {
    ColumnShape {
        name: name.into(),
        path: vec![name.into()],
        kind,
        is_list: false,
    }
}

/// The fields of an object; lists of objects are tables of their own, or none.
fn add_fields(schema: &Value, object: &Value, around: &[String], columns: &mut Vec<ColumnShape>) {
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        return;
    };
    for (name, property) in properties {
        let path: Vec<String> = around.iter().chain([name]).cloned().collect();
        let property = resolved(schema, property);
        let items = property.get("items");
        let (value, is_list) = items.map_or((property, false), |items| (resolved(schema, items), true));
        if let Some(kind) = scalar(schema, value) {
            columns.push(ColumnShape {
                name: path.join("_"),
                path,
                kind,
                is_list,
            });
        } else if !is_list && path.len() < DEEPEST && !LEFT_OUT.contains(&name.as_str()) {
            add_fields(schema, value, &path, columns);
        }
    }
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
    fn names_and_types_are_those_of_the_contract() {
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
        assert_eq!(of("rekeys", "gap_ms_a_to_b"), (ColumnKind::Number, false));
        assert_eq!(of("rekey_impact", "rekey"), (ColumnKind::Integer, false));
        assert_eq!(
            of("security_associations", "icv_verified"),
            (ColumnKind::Integer, false)
        );
        assert_eq!(of("ledger", "cost_seconds"), (ColumnKind::Number, false));
        assert_eq!(of("attempts", "outage_seconds"), (ColumnKind::Number, false));
        assert_eq!(of("captures", "link_types"), (ColumnKind::Text, true));
        assert_eq!(of("two_points", "clock_offset_ms"), (ColumnKind::Number, false));
        assert_eq!(
            of("two_points_directions", "delay_ms_median"),
            (ColumnKind::Number, false)
        );
        assert_eq!(of("two_points_directions", "order_by"), (ColumnKind::Text, false));
        assert_eq!(of("two_points_rekeys", "old_spi"), (ColumnKind::Text, false));
        assert_eq!(of("series", "time"), (ColumnKind::Time, false));
    }
}
