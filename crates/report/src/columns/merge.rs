//! Many Parquet files of one table → one, column by column, in row groups of the usual size.

use crate::columns::write::{CAPTURES, ROWS_PER_GROUP, captures_entry, properties};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::TypePtr;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Files that are open at once: below what a system allows a process.
const FILES_AT_ONCE: usize = 256;

/// What became of the files.
#[derive(Debug, Default)]
pub struct Merged {
    /// Rows written.
    pub rows: usize,
    /// Files whose rows are in the new one.
    pub taken: Vec<PathBuf>,
    /// Files that were left, and why: not readable, or of another schema than the newest.
    pub left: Vec<(PathBuf, String)>,
}

/// Row groups that become one, by file and place in it.
type RowGroups = Vec<(PathBuf, usize)>;

/// Writes the rows of `files`, all of one table, to `out`. Those with the columns of the last one are taken.
///
/// # Errors
/// What `out` says, or a file that breaks off behind its description.
pub fn merge<W: Write + Send>(files: &[PathBuf], out: W) -> Result<Merged> {
    let mut merged = Merged::default();
    let Some(schema) = files.iter().rev().find_map(|file| schema_of(&open(file).ok()?)) else {
        return Ok(merged);
    };
    let mut writer = SerializedFileWriter::new(out, schema.clone(), properties())?;
    let mut batch = RowGroups::new();
    let mut rows = 0;
    for file in files {
        let reader = match open(file) {
            Ok(reader) if schema_of(&reader).as_ref() == Some(&schema) => reader,
            Ok(_) => {
                let reason = "its columns are not those of the newest file";
                merged.left.push((file.clone(), reason.into()));
                continue;
            }
            Err(error) => {
                merged.left.push((file.clone(), error.to_string()));
                continue;
            }
        };
        for (group, described) in reader.metadata().row_groups().iter().enumerate() {
            let len = usize::try_from(described.num_rows()).unwrap_or(0);
            if !batch.is_empty() && (rows + len > ROWS_PER_GROUP || batch.len() >= FILES_AT_ONCE) {
                write_group(&mut writer, std::mem::take(&mut batch))?;
                rows = 0;
            }
            batch.push((file.clone(), group));
            rows += len;
            merged.rows += len;
        }
        merged.taken.push(file.clone());
    }
    if !batch.is_empty() {
        write_group(&mut writer, batch)?;
    }
    let captures: Vec<String> = merged.taken.iter().flat_map(|file| captures_in(file)).collect();
    writer.append_key_value_metadata(captures_entry(&captures));
    writer.close()?;
    Ok(merged)
}

/// The captures whose rows are in a file, each with the version of its document; none of a file that cannot be read.
pub fn captures_in(file: &Path) -> Vec<String> {
    let Ok(reader) = open(file) else {
        return Vec::new();
    };
    let entries = reader.metadata().file_metadata().key_value_metadata();
    let entry = entries.into_iter().flatten().find(|entry| entry.key == CAPTURES);
    let list = entry.and_then(|entry| entry.value.as_deref()).unwrap_or_default();
    list.split(',').map(str::to_owned).collect()
}

fn open(file: &Path) -> Result<SerializedFileReader<File>> {
    SerializedFileReader::new(File::open(file)?)
}

fn schema_of(reader: &SerializedFileReader<File>) -> Option<TypePtr> {
    Some(reader.metadata().file_metadata().schema_descr().root_schema_ptr())
}

/// One row group of several.
fn write_group<W: Write + Send>(writer: &mut SerializedFileWriter<W>, batch: RowGroups) -> Result<()> {
    let readers: Result<Vec<_>> = batch
        .iter()
        .map(|(file, group)| Ok((open(file)?, *group)))
        .collect();
    let readers = readers?;
    let mut row_group = writer.next_row_group()?;
    let mut place = 0;
    while let Some(mut column) = row_group.next_column()? {
        for (reader, group) in &readers {
            copy(
                reader.get_row_group(*group)?.get_column_reader(place)?,
                column.untyped(),
            )?;
        }
        column.close()?;
        place += 1;
    }
    row_group.close().map(drop)
}

/// The types that [`super::write`] uses.
fn copy(from: ColumnReader, into: &mut ColumnWriter<'_>) -> Result<()> {
    use {ColumnReader as R, ColumnWriter as W};
    match (from, into) {
        (R::BoolColumnReader(from), W::BoolColumnWriter(into)) => copy_typed(from, into),
        (R::Int32ColumnReader(from), W::Int32ColumnWriter(into)) => copy_typed(from, into),
        (R::Int64ColumnReader(from), W::Int64ColumnWriter(into)) => copy_typed(from, into),
        (R::DoubleColumnReader(from), W::DoubleColumnWriter(into)) => copy_typed(from, into),
        (R::ByteArrayColumnReader(from), W::ByteArrayColumnWriter(into)) => copy_typed(from, into),
        _ => Err(ParquetError::General(
            "a column of a type that no table has".into(),
        )),
    }
}

fn copy_typed<T: DataType>(mut from: ColumnReaderImpl<T>, into: &mut ColumnWriterImpl<'_, T>) -> Result<()> {
    let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let (records, ..) = from.read_records(
            ROWS_PER_GROUP,
            Some(&mut definition),
            Some(&mut repetition),
            &mut values,
        )?;
        if records == 0 {
            return Ok(());
        }
        // Only lists have these.
        let lists = Some(repetition.as_slice()).filter(|levels| !levels.is_empty());
        into.write_batch(&values, Some(&definition), lists)?;
        values.clear();
        definition.clear();
        repetition.clear();
    }
}
