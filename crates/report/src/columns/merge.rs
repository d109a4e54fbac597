//! Many Parquet files of one table → one, sorted by time, in row groups of the usual size.

use crate::columns::shape::TIME;
use crate::columns::value::ColumnValue;
use crate::columns::write::{FILES, TableWriter};
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::record::reader::RowIter;
use parquet::schema::types::TypePtr;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The files by what became of them.
#[derive(Debug, Default)]
pub struct Merged {
    /// Rows written.
    pub rows: usize,
    /// Files whose rows are in the new one.
    pub taken: Vec<PathBuf>,
    /// Files that were left, and why: not readable, or of another schema than the newest.
    pub left: Vec<(PathBuf, String)>,
}

/// Writes the rows of `files`, all of one table, to `out`. Those with the columns of the last one are taken. A file is in memory while
/// its rows are written: captures of the same time are, those of a month are not.
///
/// # Errors
/// What `out` says, or a file that breaks off behind its description.
pub fn merge<W: Write + Send>(files: &[PathBuf], out: W) -> Result<Merged> {
    let mut merged = Merged::default();
    let Some(schema) = files
        .iter()
        .rev()
        .find_map(|file| Some(schema_of(&open(file).ok()?)))
    else {
        return Ok(merged);
    };
    let mut waiting = Vec::new();
    for file in files {
        match open(file) {
            Ok(reader) if schema_of(&reader) == schema => {
                waiting.push((first_time(&reader), file));
                merged.taken.push(file.clone());
            }
            Ok(_) => {
                let reason = "its columns are not those of the newest file";
                merged.left.push((file.clone(), reason.into()));
            }
            Err(error) => merged.left.push((file.clone(), error.to_string())),
        }
    }
    waiting.sort();
    let mut waiting = waiting.into_iter().peekable();
    let mut writer = TableWriter::new(out, schema.clone())?;
    let place = schema.get_fields().iter().position(|field| field.name() == TIME);
    let place = place.ok_or_else(|| ParquetError::General(format!("no column {TIME}")))?;
    let mut open_tables: Vec<OpenTable> = Vec::new();
    // The time of the next row of every open file, the earliest first.
    let mut next: BinaryHeap<Reverse<(Option<i64>, usize)>> = BinaryHeap::new();
    loop {
        let earliest = next.peek().map(|Reverse((time, _))| *time);
        let at = if let Some((_, file)) =
            waiting.next_if(|(first, _)| earliest.is_none_or(|time| *first < time))
        {
            open_tables.push(OpenTable::open(file)?);
            open_tables.len() - 1
        } else {
            let Some(Reverse((_, at))) = next.pop() else {
                break;
            };
            let row = open_tables
                .get_mut(at)
                .map(|table| std::mem::take(&mut table.row));
            writer.push(row.unwrap_or_default())?;
            merged.rows += 1;
            at
        };
        if let Some(time) = open_tables
            .get_mut(at)
            .map(|table| table.advance(place))
            .transpose()?
            .flatten()
        {
            next.push(Reverse((time, at)));
        }
    }
    let names: Vec<String> = merged.taken.iter().map(|file| name_of(file)).collect();
    writer.finish(Some(&names))?;
    Ok(merged)
}

/// A file whose rows are being written.
struct OpenTable {
    /// Rows to come.
    rows: RowIter<'static>,
    /// The row that was read last and is not yet written.
    row: Vec<ColumnValue>,
}

impl OpenTable {
    fn open(file: &Path) -> Result<OpenTable> {
        let rows = RowIter::from_file_into(Box::new(open(file)?));
        let row = Vec::new();
        Ok(OpenTable { rows, row })
    }

    /// Reads the next row; its time, where there is one.
    fn advance(&mut self, place: usize) -> Result<Option<Option<i64>>> {
        let Some(row) = self.rows.next().transpose()? else {
            return Ok(None);
        };
        self.row = row
            .into_columns()
            .into_iter()
            .map(|(_, field)| field.into())
            .collect();
        let time = self.row.get(place).and_then(|cell| match cell {
            ColumnValue::Integer(time) => Some(*time),
            _ => None,
        });
        Ok(Some(time))
    }
}

/// The time of the first row, by the statistics.
fn first_time(reader: &SerializedFileReader<Bytes>) -> Option<i64> {
    let group = reader.metadata().row_groups().first()?;
    let mut columns = group.columns().iter();
    let time = columns.find(|column| column.column_path().string() == TIME)?;
    match time.statistics()? {
        Statistics::Int64(statistics) => statistics.min_opt().copied(),
        _ => None,
    }
}

/// Checks that a file is a table.
///
/// # Errors
/// Reports why the file is no table.
pub fn check(file: &Path) -> Result<()> {
    open(file).map(drop)
}

/// The files whose rows are in a merged one, by their names in a table: none of a file that cannot be read.
pub fn files_in(merged: &Path) -> Vec<String> {
    let Ok(reader) = open(merged) else {
        return Vec::new();
    };
    let entries = reader.metadata().file_metadata().key_value_metadata();
    let entry = entries.into_iter().flatten().find(|entry| entry.key == FILES);
    let list = entry.and_then(|entry| entry.value.as_deref()).unwrap_or_default();
    list.split(',').map(str::to_owned).collect()
}

/// The name of a file in its table, which says day, gateway and capture.
pub fn name_of(file: &Path) -> String {
    let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    parts[parts.len().saturating_sub(3)..].join("/")
}

fn open(file: &Path) -> Result<SerializedFileReader<Bytes>> {
    SerializedFileReader::new(Bytes::from(std::fs::read(file)?))
}

fn schema_of(reader: &SerializedFileReader<Bytes>) -> TypePtr {
    reader.metadata().file_metadata().schema_descr().root_schema_ptr()
}
