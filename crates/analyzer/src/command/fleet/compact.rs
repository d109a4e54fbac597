//! `rekeyscope compact`: the many small files of `--parquet` put together, so that a year of two hundred gateways is hundreds of files
//! and not a million.

use super::tables::short_digest;
use crate::command::options::CompactArguments;
use crate::command::output::{Reserved, complain, folder, note};
use crate::command::replace::Replacement;
use anyhow::Result;
use rekeyscope::write::copies::output_error;
use rekeyscope_report::columns::{Merged, TABLES, check, files_in, merge, name_of};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

/// Table by table and month by month: the rows of the small files as one new file, then the small files are removed. Killed in
/// between, it leaves files on both sides; the next run removes those.
pub(crate) fn run(arguments: &CompactArguments) -> Result<ExitCode> {
    let (from, into) = (arguments.from.canonicalize(), arguments.into.canonicalize());
    if from.is_ok_and(|from| into.is_ok_and(|into| from == into)) {
        anyhow::bail!("FROM and INTO are the same folder: each row would be there twice");
    }
    // The files that are read are never in the way: the new ones are named otherwise.
    let replacement = Replacement::new([], arguments.replace.force);
    let mut status = ExitCode::SUCCESS;
    for table in TABLES {
        let months = months(&arguments.from.join(table.name));
        for (month, files) in months {
            let dir = arguments.into.join(table.name).join(format!("month={month}"));
            let done = compact(files, &dir, &replacement)?;
            for (file, reason) in &done.left {
                complain(&format!("{} stays: {reason}", file.display()));
                status = ExitCode::FAILURE;
            }
            if !arguments.quiet && done.rows + done.taken.len() > 0 {
                let (name, rows, files) = (table.name, done.rows, done.taken.len());
                note(format!("{name}, {month}: {rows} rows of {files} files"));
            }
        }
    }
    Ok(status)
}

/// The files of a table by month, the newest last.
fn months(table: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut months: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for day in entries(table) {
        let name = day.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(date) = name.strip_prefix("day=") else {
            continue;
        };
        let month = date
            .get(..7)
            .filter(|month| month.starts_with(|c: char| c.is_ascii_digit()));
        let files = entries(&day).into_iter().flat_map(|gateway| entries(&gateway));
        let files = files.filter(|file| file.extension().is_some_and(|end| end == "parquet"));
        months
            .entry(month.unwrap_or("unknown").into())
            .or_default()
            .extend(files);
    }
    for files in months.values_mut() {
        files.sort_by_key(|file| (written(file), file.clone()));
    }
    months
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn written(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|m| m.modified()).ok()
}

/// Why a file of an archived capture stays.
const AGAIN: &str = "its capture was analysed again after it was archived: remove one of the two";

/// One month of one table.
fn compact(files: Vec<PathBuf>, dir: &Path, replacement: &Replacement) -> Result<Merged> {
    let parts = entries(dir);
    let named = parts
        .iter()
        .flat_map(|part| files_in(part).into_iter().map(move |name| (name, written(part))));
    let archived: HashMap<String, Option<SystemTime>> = named.collect();
    let (mut wanted, mut superseded, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for file in files {
        match (check(&file), archived.get(&name_of(&file))) {
            (Err(_), _) => left.push((file, "it is no table of --parquet, or damaged".into())),
            // Left by a run that was killed.
            (_, Some(part)) if written(&file) <= *part => superseded.push(file),
            (_, Some(_)) => left.push((file, AGAIN.into())),
            (_, None) => wanted.push(file),
        }
    }
    let mut merged = if wanted.is_empty() {
        Merged::default()
    } else {
        write(&wanted, dir, replacement)?
    };
    for file in merged.taken.iter().chain(&superseded) {
        std::fs::remove_file(file).map_err(output_error(file))?;
    }
    merged.left.extend(left);
    Ok(merged)
}

/// The new file is named by what is in it.
fn write(files: &[PathBuf], dir: &Path, replacement: &Replacement) -> Result<Merged> {
    folder(dir)?;
    let names: BTreeSet<String> = files.iter().map(|file| name_of(file)).collect();
    let names: Vec<String> = names.into_iter().collect();
    let path = dir.join(format!("part-{}.parquet", short_digest(&names.join("\n"))));
    let failed = |error| output_error(&path)(std::io::Error::other(error));
    Ok(Reserved::new(&path, replacement)?.fill(|file| merge(files, file).map_err(failed))?)
}
