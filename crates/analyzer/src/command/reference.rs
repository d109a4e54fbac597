//! `--reference`: the rate of another capture, or of an analysis saved by `--json`, is what this one should have reached.

use crate::command::compare::saved;
use crate::command::options::{Arguments, Input};
use crate::command::output;
use crate::command::read::analyze;
use anyhow::{Context, Result};
use rekeyscope::pipeline::Options;
use rekeyscope_impact::compare;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::analysis::comparison::ComparedCapture;
use std::path::Path;

/// The rate that should have been reached, for the analysis.
pub(crate) struct Reference {
    /// The options of the main job, with that rate where a capture gives one.
    pub(crate) options: Options,
    row: Option<ComparedCapture>,
}

/// Analyses the reference, where one is given.
pub(crate) fn read(arguments: &Arguments) -> Result<Reference> {
    let options = arguments.options();
    let Some(path) = &arguments.reference else {
        return Ok(Reference { options, row: None });
    };
    let row = row(arguments, path)?;
    let options = Options {
        reference_bps: row.rate_bps,
        ..options
    };
    Ok(Reference {
        options,
        row: Some(row),
    })
}

impl Reference {
    /// The analysis, compared with the reference label by label.
    pub(crate) fn compared(&self, analysis: Analysis) -> Analysis {
        let own = || compare::row_of(&analysis.capture.path, &analysis);
        let gap = self.row.as_ref().and_then(|row| compare::gap(&own(), row));
        Analysis { gap, ..analysis }
    }
}

/// The transfer in the direction that carries most, as `rekeyscope compare` has it; it has a rate.
fn row(arguments: &Arguments, path: &Path) -> Result<ComparedCapture> {
    let analysis = match saved(path)? {
        Some(analysis) => analysis,
        None => {
            let input = Input {
                capture: path.into(),
                pieces: Vec::new(),
                wants_digest: false,
                ..arguments.input.clone()
            };
            // The tunnel is chosen in the capture in question; the other one may number it differently.
            let options = Options {
                tunnel: None,
                two_points: false,
                ..arguments.options()
            };
            analyze(&input, options)?.0
        }
    };
    let reference = compare::row_of(&path.to_string_lossy(), &analysis);
    let rate = reference.rate_bps.with_context(|| {
        format!(
            "{} holds no transfer whose rate could be the reference: give one that does, or --reference-mbps",
            path.display()
        )
    })?;
    if !arguments.input.quiet {
        let direction = reference.src.zip(reference.dst);
        output::note(format!(
            "the reference is {:.3} Mbit/s, {}the mean rate of {}",
            rate / 1e6,
            direction.map_or_else(String::new, |(src, dst)| format!("{src} → {dst}, ")),
            path.display()
        ));
    }
    Ok(reference)
}
