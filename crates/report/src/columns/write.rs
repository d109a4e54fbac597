//! Rows → a Parquet file, sorted by time, with statistics of every column. A list has the three levels that the format asks for.

use crate::columns::rows::rows;
use crate::columns::shape::{COMMON, ColumnKind, ColumnShape, TIME, columns};
use crate::columns::tables::FleetTable;
use crate::columns::value::ColumnValue;
use parquet::basic::{
    Compression, LogicalType, Repetition, TimeUnit, TimestampType, Type as Physical, ZstdLevel,
};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use rekeyscope_model::analysis::{Analysis, SCHEMA_VERSION};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::sync::Arc;

/// Rows of a row group: what is in memory at once.
const ROWS_PER_GROUP: usize = 65_536;

/// Facts on a capture that all of its rows repeat, and on its analysis, which its own row holds.
#[derive(Debug, Clone)]
pub struct Origin {
    /// SHA-256 of the capture's bytes, in hex; none of a capture that was not analysed.
    pub capture: Option<String>,
    /// The UTC day of its first packet, counted from 1970.
    pub day: Option<i32>,
    /// Gateway at which the capture was taken.
    pub gateway: String,
    /// Place of the capture.
    pub uri: String,
    /// Reason why the capture, or a part of it, was not analysed.
    pub problem: Option<String>,
}

/// Writes one table of a document; of none, the row of a capture that was not analysed.
///
/// # Errors
/// What `out` says.
pub fn write<W: Write + Send>(
    table: &FleetTable,
    analysis: Option<&Analysis>,
    origin: &Origin,
    out: W,
) -> Result<()> {
    let columns = columns(table);
    let mut writer = TableWriter::new(out, schema(&columns)?)?;
    let rows = match analysis {
        Some(analysis) => rows(table, analysis),
        None => Box::new(std::iter::once(Value::Object(Map::new()))),
    };
    let common = json!({
        "capture": origin.capture,
        "schema_version": analysis.map_or(SCHEMA_VERSION, |analysis| analysis.schema_version),
        "day": origin.day,
        "gateway": origin.gateway,
        "uri": origin.uri,
        "status": if analysis.is_some() { "analysed" } else { "failed" },
        "problem": origin.problem,
        "attempts": 1,
    });
    for row in rows {
        let cell = |column: &ColumnShape| match ColumnValue::of(column, &common) {
            ColumnValue::Missing => ColumnValue::of(column, &row),
            said => said,
        };
        writer.push(columns.iter().map(cell).collect())?;
    }
    writer.finish(None)
}

/// Rows on their way into a file.
pub(super) struct TableWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    schema: TypePtr,
    waiting: Vec<Vec<ColumnValue>>,
}

impl<W: Write + Send> TableWriter<W> {
    pub(super) fn new(out: W, schema: TypePtr) -> Result<Self> {
        Ok(TableWriter {
            writer: SerializedFileWriter::new(out, schema.clone(), properties())?,
            schema,
            waiting: Vec::new(),
        })
    }

    /// Takes the next row by time.
    pub(super) fn push(&mut self, row: Vec<ColumnValue>) -> Result<()> {
        self.waiting.push(row);
        if self.waiting.len() < ROWS_PER_GROUP {
            return Ok(());
        }
        self.write_group()
    }

    fn write_group(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        let mut group = self.writer.next_row_group()?;
        for (place, shape) in self.schema.get_fields().iter().enumerate() {
            let cells = rows
                .iter()
                .map(|row| row.get(place).unwrap_or(&ColumnValue::Missing));
            let Some(mut column) = group.next_column()? else {
                break;
            };
            write_column(column.untyped(), &Levels::of(shape, cells)?)?;
            column.close()?;
        }
        group.close().map(drop)
    }

    /// Writes the rest, and which files a merged one is made of.
    pub(super) fn finish(mut self, files: Option<&[String]>) -> Result<()> {
        if !self.waiting.is_empty() {
            self.write_group()?;
        }
        let files = files.map(|files| KeyValue::new(FILES.to_owned(), files.join(",")));
        files
            .into_iter()
            .for_each(|files| self.writer.append_key_value_metadata(files));
        self.writer.close().map(drop)
    }
}

/// The key under which a merged file names those whose rows it has.
pub(super) const FILES: &str = "rekeyscope.files";

fn properties() -> Arc<WriterProperties> {
    let time = COMMON
        .iter()
        .position(|(name, ..)| *name == TIME)
        .unwrap_or_default();
    let by_time = SortingColumn {
        column_idx: i32::try_from(time).unwrap_or_default(),
        descending: false,
        nulls_first: true,
    };
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_sorting_columns(Some(vec![by_time]))
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
                unit: TimeUnit::MICROS,
            })),
        ),
    };
    let repetition = match column.is_required {
        true => Repetition::REQUIRED,
        false => Repetition::OPTIONAL,
    };
    let value = |name: &str, repetition: Repetition| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical.clone())
            .build()
    };
    if !column.is_list {
        return value(&column.name, repetition);
    }
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(value("element", Repetition::OPTIONAL)?)])
        .build()?;
    Type::group_type_builder(&column.name)
        .with_repetition(repetition)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(list)])
        .build()
}

/// The values of a column with the levels that say which are missing and which belong to one list.
#[derive(Default)]
struct Levels<'a> {
    values: Vec<&'a ColumnValue>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl<'a> Levels<'a> {
    fn of(shape: &Type, cells: impl Iterator<Item = &'a ColumnValue>) -> Result<Self> {
        let mut levels = Levels::default();
        let present = i16::from(shape.is_optional());
        for cell in cells {
            match cell {
                ColumnValue::Missing if present == 0 => {
                    let name = shape.name();
                    return Err(ParquetError::General(format!(
                        "a row has no value in the column {name}"
                    )));
                }
                ColumnValue::Missing => levels.push(0, None, 0),
                ColumnValue::List(list) if list.is_empty() => levels.push(present, None, 0),
                ColumnValue::List(list) => {
                    for (at, value) in list.iter().enumerate() {
                        // Lists of the document hold no null.
                        levels.push(present + 2, Some(value), i16::from(at > 0));
                    }
                }
                value => levels.push(present, Some(value), 0),
            }
        }
        Ok(levels)
    }

    fn push(&mut self, definition: i16, value: Option<&'a ColumnValue>, repetition: i16) {
        self.definition.push(definition);
        self.repetition.push(repetition);
        self.values.extend(value);
    }

    fn map<T: Default>(&self, get: impl Fn(&ColumnValue) -> Option<T>) -> Vec<T> {
        self.values
            .iter()
            .map(|value| get(value).unwrap_or_default())
            .collect()
    }
}

fn write_column(column: &mut ColumnWriter<'_>, levels: &Levels<'_>) -> Result<usize> {
    macro_rules! write {
        ($writer:ident, $kind:ident, $value:expr) => {{
            let values = levels.map(|cell| match cell {
                ColumnValue::$kind(value) => Some($value(value)),
                _ => None,
            });
            $writer.write_batch(&values, Some(&levels.definition), Some(&levels.repetition))
        }};
    }
    match column {
        ColumnWriter::BoolColumnWriter(w) => write!(w, Boolean, |v: &bool| *v),
        ColumnWriter::Int32ColumnWriter(w) => write!(w, Day, |v: &i32| *v),
        ColumnWriter::Int64ColumnWriter(w) => write!(w, Integer, |v: &i64| *v),
        ColumnWriter::DoubleColumnWriter(w) => write!(w, Number, |v: &f64| *v),
        ColumnWriter::ByteArrayColumnWriter(w) => write!(w, Text, |v: &String| ByteArray::from(v.as_str())),
        // No column has another type.
        _ => Ok(0),
    }
}
