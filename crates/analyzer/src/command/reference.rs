//! `--reference`: the rate of another capture, or of an analysis saved by `--json`, is what this one should have reached.

use crate::command::options::{Arguments, Input};
use crate::command::{compare as compare_job, output, read};
use anyhow::{Context, Result};
use rekeyscope::pipeline::Options;
use rekeyscope_impact::compare;
use std::path::Path;

/// The options of the main job, with the rate of the reference where one is given.
pub(crate) fn options(arguments: &Arguments) -> Result<Options> {
    let options = arguments.options();
    let Some(path) = &arguments.reference else {
        return Ok(options);
    };
    let reference_bps = Some(rate(arguments, path)?);
    Ok(Options {
        reference_bps,
        ..options
    })
}

/// Bits per second: the mean rate of the transfer in the direction that carries most, as `rekeyscope compare` has it.
fn rate(arguments: &Arguments, path: &Path) -> Result<f64> {
    let analysis = match compare_job::saved(path)? {
        Some(analysis) => analysis,
        None => {
            let input = Input {
                capture: path.into(),
                ..arguments.input.clone()
            };
            // The tunnel is chosen in the capture in question; the other one may number it differently.
            let options = Options {
                tunnel: None,
                ..arguments.options()
            };
            read::analyze(&input, options)?.0
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
        output::complain(&format!(
            "the reference is {:.3} Mbit/s, {}the mean rate of {}",
            rate / 1e6,
            direction.map_or_else(String::new, |(src, dst)| format!("{src} → {dst}, ")),
            path.display()
        ));
    }
    Ok(rate)
}
