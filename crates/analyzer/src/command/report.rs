//! `rekeyscope report`: saved documents rendered again. Nothing is computed but the place of an overlay.

use crate::command::options::{OverlayArguments, ReportArguments};
use crate::command::outputs::Outputs;
use crate::command::replace::Replacement;
use crate::command::{documents, several};
use anyhow::Result;
use rekeyscope::overlay;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Reads the documents, writes the reports.
pub(crate) fn run(arguments: &ReportArguments) -> Result<ExitCode> {
    let outputs = &arguments.outputs;
    let (paths, overlays) = (&arguments.documents, &arguments.overlays);
    let read_here = paths.iter().map(PathBuf::as_path).chain(overlays.files());
    let replacement = Replacement::new(read_here, outputs.replace.force);
    let read = |path: &PathBuf| Ok(with_overlays(documents::read(path)?, overlays)?);
    let Some(path) = paths.first().filter(|_| !arguments.wants_index()) else {
        return several::run(paths, PathBuf::as_path, (outputs, &replacement), read);
    };
    let places = Outputs::reserve(outputs, &replacement, false)?;
    places.write(&read(path)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The document with the overlays that were asked for, aligned with its series.
pub(crate) fn with_overlays(analysis: Analysis, asked: &OverlayArguments) -> Result<Analysis, Error> {
    overlay::with_overlays(analysis, &asked.iperf3, &asked.overlay)
}
