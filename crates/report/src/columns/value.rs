//! A value of a table: made from a document's, or read from a Parquet file.

use crate::columns::shape::{ColumnKind, ColumnShape};
use parquet::record::Field;
use rekeyscope_model::time::Timestamp;
use serde_json::Value;

/// Nanoseconds of the unit of times in tables.
const NANOS_PER_MICRO: i64 = 1_000;

/// Value of a column in a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ColumnValue {
    Missing,
    Boolean(bool),
    /// An integer, or a time in microseconds.
    Integer(i64),
    Day(i32),
    Number(f64),
    Text(String),
    List(Vec<ColumnValue>),
}

impl ColumnValue {
    /// Reads the value of a column from a row of a document.
    pub(super) fn of(column: &ColumnShape, row: &Value) -> ColumnValue {
        let found = column.path.iter().try_fold(row, |at, name| at.get(name));
        match found {
            Some(Value::Array(list)) => {
                ColumnValue::List(list.iter().map(|value| one(column, value)).collect())
            }
            Some(value) => one(column, value),
            None => ColumnValue::Missing,
        }
    }
}

fn one(column: &ColumnShape, value: &Value) -> ColumnValue {
    let made = match column.kind {
        ColumnKind::Boolean => value.as_bool().map(ColumnValue::Boolean),
        // An unsigned integer of more than 63 bits is no count of anything.
        ColumnKind::Integer => value
            .as_u64()
            .map(|v| ColumnValue::Integer(i64::try_from(v).unwrap_or(i64::MAX))),
        ColumnKind::Day => value
            .as_i64()
            .and_then(|day| i32::try_from(day).ok())
            .map(ColumnValue::Day),
        ColumnKind::Number => value
            .as_f64()
            .map(|number| ColumnValue::Number(number / column.divisor)),
        ColumnKind::Text => value.as_str().map(|text| ColumnValue::Text(text.into())),
        ColumnKind::Time => serde_json::from_value(value.clone()).ok().map(micros),
    };
    made.unwrap_or(ColumnValue::Missing)
}

fn micros(time: Timestamp) -> ColumnValue {
    ColumnValue::Integer(time.0.div_euclid(NANOS_PER_MICRO))
}

impl From<Field> for ColumnValue {
    /// The types that [`super::write`] uses.
    fn from(field: Field) -> ColumnValue {
        match field {
            Field::Bool(value) => ColumnValue::Boolean(value),
            Field::Long(value) | Field::TimestampMicros(value) => ColumnValue::Integer(value),
            Field::Date(value) => ColumnValue::Day(value),
            Field::Double(value) => ColumnValue::Number(value),
            Field::Str(value) => ColumnValue::Text(value),
            Field::ListInternal(list) => {
                ColumnValue::List(list.elements().iter().cloned().map(ColumnValue::from).collect())
            }
            _ => ColumnValue::Missing,
        }
    }
}
