//! `rekeyscope report`: saved documents rendered again. Nothing is computed but the place of an overlay.

use crate::command::options::ReportArguments;
use crate::command::outputs::Outputs;
use crate::command::replace::Replacement;
use crate::command::several;
use crate::command::sources::is_capture;
use anyhow::Result;
use rekeyscope::overlay;
use rekeyscope_keylog::utf8_text;
use rekeyscope_model::analysis::{Analysis, OLDEST_READ, SCHEMA_VERSION};
use rekeyscope_model::error::{Error, about_reading};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reads the documents, writes the reports.
pub(crate) fn run(arguments: &ReportArguments) -> Result<ExitCode> {
    let outputs = &arguments.outputs;
    let (paths, overlays) = (&arguments.documents, &arguments.overlays);
    let replacement = Replacement::new(paths.iter().chain(overlays.files()), outputs.replace.force);
    let read = |path: &PathBuf| {
        Ok(overlay::with_overlays(
            document(path)?,
            &overlays.iperf3,
            &overlays.overlay,
        )?)
    };
    let Some(path) = paths.first().filter(|_| !arguments.wants_index()) else {
        return several::run(paths, PathBuf::as_path, (outputs, &replacement), read);
    };
    let places = Outputs::reserve(outputs, &replacement, false)?;
    places.write(&read(path)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Largest document that is read, bytes: 64 tunnels of 20,000 bins in both directions take under 64 MB.
const LARGEST: u64 = 1 << 30;

/// Reads a document; one of another version is told apart from a file that is none.
pub(crate) fn document(path: &Path) -> Result<Analysis, Error> {
    let failed = |reason: String| Error::Document {
        path: path.into(),
        reason,
    };
    let opened: io::Result<Box<dyn Read>> = match path.to_str() {
        Some("-") => Ok(Box::new(io::stdin())),
        _ => File::open(path).map(|file| Box::new(file) as Box<dyn Read>),
    };
    let mut bytes = Vec::new();
    let read = opened.and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    read.map_err(|error| failed(about_reading(&error)))?;
    let analysis: Analysis = serde_json::from_slice(&utf8_text(&bytes)).map_err(|error| {
        let what = match error.is_eof() {
            _ if is_capture(path) => "a capture, no analysis that --json wrote",
            true => "no whole analysis: it ends too early",
            false => "no analysis that --json wrote",
        };
        failed(format!(
            "it is {what}; to analyse a capture, 'rekeyscope FILE' is enough"
        ))
    })?;
    match analysis.schema_version {
        OLDEST_READ..=SCHEMA_VERSION => Ok(analysis),
        theirs => Err(failed(format!(
            "its schema version is {theirs}, this program reads {OLDEST_READ} to {SCHEMA_VERSION}: analyse the capture again"
        ))),
    }
}
