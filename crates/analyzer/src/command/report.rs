//! `rekeyscope report`: saved documents rendered again. Nothing is computed but the place of an overlay.

use crate::command::options::{OverlayArguments, ReportArguments};
use crate::command::outputs::Outputs;
use crate::command::replace::Replacement;
use crate::command::several;
use anyhow::Result;
use rekeyscope::overlay;
use rekeyscope_keylog::utf8_text;
use rekeyscope_model::analysis::{Analysis, OLDEST_READ, SCHEMA_VERSION};
use rekeyscope_model::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reads the documents, writes the reports.
pub(crate) fn run(arguments: &ReportArguments) -> Result<ExitCode> {
    let outputs = &arguments.outputs;
    let (documents, overlays) = (&arguments.documents, &arguments.overlays);
    let read_here = documents.iter().map(PathBuf::as_path).chain(overlays.files());
    let replacement = Replacement::new(read_here, outputs.replace.force);
    let Some(path) = documents.first().filter(|_| !arguments.wants_index()) else {
        return several::run(documents, PathBuf::as_path, (outputs, &replacement), |path| {
            read(path, overlays)
        });
    };
    let places = Outputs::reserve(outputs, &replacement, false)?;
    places.write(&read(path, overlays)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a document; one of another version is told apart from one that is none.
fn read(path: &Path, overlays: &OverlayArguments) -> Result<Analysis> {
    let failed = |reason: String| Error::Document {
        path: path.into(),
        reason,
    };
    let bytes = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|e| failed(e.to_string()))?;
    let analysis: Analysis = serde_json::from_slice(&utf8_text(&bytes)).map_err(|e| {
        failed(format!(
            "it is no analysis that --json wrote ({e}); give the capture itself without 'report'"
        ))
    })?;
    if !(OLDEST_READ..=SCHEMA_VERSION).contains(&analysis.schema_version) {
        let theirs = analysis.schema_version;
        return Err(failed(format!(
            "its schema version is {theirs}, this program reads {OLDEST_READ} to {SCHEMA_VERSION}: analyse the capture again"
        ))
        .into());
    }
    Ok(with_overlays(analysis, overlays)?)
}

/// The document with the overlays that were asked for, aligned with its series.
pub(crate) fn with_overlays(analysis: Analysis, asked: &OverlayArguments) -> Result<Analysis, Error> {
    overlay::with_overlays(analysis, &asked.iperf3, &asked.overlay)
}
