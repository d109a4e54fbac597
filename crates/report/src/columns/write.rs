//! Rows → a Parquet file. Every column is optional; a list has the three levels that the format asks for.

use crate::columns::rows::rows;
use crate::columns::shape::{ColumnKind, ColumnShape, columns};
use crate::columns::tables::FleetTable;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, TimestampType, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::time::Timestamp;
use serde_json::Value;
use std::io::Write;
use std::sync::Arc;

/// Rows of a row group: what is in memory at once.
pub(super) const ROWS_PER_GROUP: usize = 65_536;

/// What every row says of its capture.
#[derive(Debug, Clone)]
pub struct Origin {
    /// SHA-256 of the capture's bytes, in hex.
    pub capture: String,
    /// The UTC day of its first packet, counted from 1970.
    pub day: Option<i32>,
    /// Where it was taken.
    pub gateway: String,
}

/// Writes one table of a document.
///
/// # Errors
/// What `out` says.
pub fn write<W: Write + Send>(
    table: &FleetTable,
    analysis: &Analysis,
    origin: &Origin,
    out: W,
) -> Result<()> {
    let columns = columns(table);
    let mut writer = SerializedFileWriter::new(out, schema(&columns)?, properties())?;
    let mut waiting = rows(table, analysis);
    loop {
        let mut group: Vec<Value> = waiting.by_ref().take(ROWS_PER_GROUP).collect();
        if group.is_empty() {
            break;
        }
        for row in group.iter_mut().filter_map(Value::as_object_mut) {
            row.insert("capture".into(), origin.capture.as_str().into());
            row.insert("schema_version".into(), analysis.schema_version.into());
            row.insert("day".into(), origin.day.into());
            row.insert("gateway".into(), origin.gateway.as_str().into());
        }
        let mut row_group = writer.next_row_group()?;
        columns
            .iter()
            .try_for_each(|column| write_column(&mut row_group, column, &group))?;
        row_group.close()?;
    }
    let named = captures_entry(&[format!("{}:{}", origin.capture, analysis.schema_version)]);
    writer.append_key_value_metadata(named);
    writer.close().map(drop)
}

/// The key under which a file names the captures in it: digest, colon, version of the document.
pub(super) const CAPTURES: &str = "rekeyscope.captures";

pub(super) fn captures_entry(captures: &[String]) -> KeyValue {
    KeyValue::new(CAPTURES.to_owned(), captures.join(","))
}

pub(super) fn properties() -> Arc<WriterProperties> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("rekeyscope ", env!("CARGO_PKG_VERSION")).into());
    Arc::new(properties.build())
}

fn schema(columns: &[ColumnShape]) -> Result<Arc<Type>> {
    let fields: Result<Vec<_>> = columns.iter().map(|column| field(column).map(Arc::new)).collect();
    let root = Type::group_type_builder("rekeyscope").with_fields(fields?);
    Ok(Arc::new(root.build()?))
}

fn field(column: &ColumnShape) -> Result<Type> {
    let (physical, logical) = match column.kind {
        ColumnKind::Integer => (Physical::INT64, None),
        ColumnKind::Number => (Physical::DOUBLE, None),
        ColumnKind::Boolean => (Physical::BOOLEAN, None),
        ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnKind::Day => (Physical::INT32, Some(LogicalType::Date)),
        ColumnKind::Time => (
            Physical::INT64,
            Some(LogicalType::Timestamp(TimestampType {
                is_adjusted_to_u_t_c: true,
                unit: TimeUnit::NANOS,
            })),
        ),
    };
    let value = |name: &str| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical.clone())
            .build()
    };
    if !column.is_list {
        return value(&column.name);
    }
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(value("element")?)])
        .build()?;
    Type::group_type_builder(&column.name)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(list)])
        .build()
}

/// The values of a column with the levels that say which are missing and which belong to one list.
struct Levels<'a> {
    values: Vec<&'a Value>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl<'a> Levels<'a> {
    fn of(column: &ColumnShape, rows: &'a [Value]) -> Self {
        let mut levels = Levels {
            values: Vec::with_capacity(rows.len()),
            definition: Vec::with_capacity(rows.len()),
            repetition: Vec::new(),
        };
        for row in rows {
            let found = column.path.iter().try_fold(row, |at, name| at.get(name));
            match found.filter(|value| !value.is_null()) {
                Some(Value::Array(list)) if column.is_list => levels.push_list(list),
                Some(value) if !column.is_list => levels.push(1, Some(value), 0),
                _ => levels.push(0, None, 0),
            }
        }
        levels
    }

    fn push_list(&mut self, list: &'a [Value]) {
        if list.is_empty() {
            return self.push(1, None, 0);
        }
        for (at, value) in list.iter().enumerate() {
            // Lists of the document hold no null.
            self.push(3, Some(value), i16::from(at > 0));
        }
    }

    fn push(&mut self, definition: i16, value: Option<&'a Value>, repetition: i16) {
        self.definition.push(definition);
        self.repetition.push(repetition);
        self.values.extend(value);
    }

    fn map<T>(&self, get: impl Fn(&Value) -> T) -> Vec<T> {
        self.values.iter().map(|value| get(value)).collect()
    }
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &ColumnShape,
    rows: &[Value],
) -> Result<()> {
    let levels = Levels::of(column, rows);
    let (definition, repetition) = (
        Some(levels.definition.as_slice()),
        Some(levels.repetition.as_slice()),
    );
    let Some(mut open) = group.next_column()? else {
        return Ok(());
    };
    match open.untyped() {
        ColumnWriter::BoolColumnWriter(w) => w.write_batch(
            &levels.map(|v| v.as_bool().unwrap_or_default()),
            definition,
            repetition,
        ),
        ColumnWriter::Int32ColumnWriter(w) => {
            let day = |v: &Value| v.as_i64().and_then(|d| i32::try_from(d).ok()).unwrap_or_default();
            w.write_batch(&levels.map(day), definition, repetition)
        }
        ColumnWriter::Int64ColumnWriter(w) if column.kind == ColumnKind::Time => {
            w.write_batch(&levels.map(nanos), definition, repetition)
        }
        ColumnWriter::Int64ColumnWriter(w) => {
            // A seed may be larger.
            let integer = |v: &Value| v.as_i64().unwrap_or(i64::MAX);
            w.write_batch(&levels.map(integer), definition, repetition)
        }
        ColumnWriter::DoubleColumnWriter(w) => w.write_batch(
            &levels.map(|v| v.as_f64().unwrap_or(f64::NAN)),
            definition,
            repetition,
        ),
        ColumnWriter::ByteArrayColumnWriter(w) => {
            let text = |v: &Value| ByteArray::from(v.as_str().unwrap_or_default());
            w.write_batch(&levels.map(text), definition, repetition)
        }
        // No column has another type.
        _ => Ok(0),
    }?;
    open.close()
}

fn nanos(time: &Value) -> i64 {
    let parsed = serde_json::from_value::<Timestamp>(time.clone());
    parsed.map(|time| time.0).unwrap_or_default()
}
