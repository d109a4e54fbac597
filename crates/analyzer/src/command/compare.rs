//! `rekeyscope compare`: several captures, or analyses saved by `--json`, against each other.

use crate::command::options::{Arguments, CompareArguments, Input};
use crate::command::outputs::{Target, json_of, text_options};
use crate::command::read::analyze;
use crate::command::replace::Replacement;
use crate::command::sources::is_document;
use crate::command::{output, read, report};
use anyhow::{Context, Result, bail};
use rekeyscope::pipeline::Options;
use rekeyscope_impact::compare;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::analysis::comparison::{ComparedCapture, Comparison, Unread};
use rekeyscope_report::formats;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reads every capture, compares them, writes the reports. A file that cannot be read is named and costs the exit
/// status, not the others' comparison.
pub(crate) fn run(arguments: &CompareArguments) -> Result<ExitCode> {
    let inputs = arguments.inputs();
    let places = reserve(arguments, &inputs)?;
    let (mut captures, mut unread, mut all_read) = (Vec::new(), Vec::new(), true);
    for input in &inputs {
        let path = input.capture.to_string_lossy();
        match analysis_of(input) {
            Ok((analysis, problems)) => {
                all_read &= problems.is_empty();
                problems.iter().for_each(|problem| output::complain(problem));
                captures.push(compare::row_of(&path, &analysis));
            }
            Err(error) => {
                let reason = error.to_string();
                output::complain(&reason);
                unread.push(Unread {
                    path: path.into_owned(),
                    reason,
                });
            }
        }
    }
    if captures.is_empty() {
        bail!(
            "none of the {} files could be read: there is nothing to compare",
            inputs.len()
        );
    }
    all_read &= unread.is_empty();
    write(&compare::compare(captures, unread), arguments, places)?;
    Ok(output::status(all_read))
}

/// An analysis, and why pieces of its capture were not read.
fn analysis_of(input: &Input) -> Result<(Analysis, Vec<String>)> {
    if let Some(analysis) = saved(&input.capture)? {
        return Ok((analysis, Vec::new()));
    }
    let (analysis, _) = read::analyze(input, Options::default())?;
    if !input.quiet {
        let used = || analysis.security_associations.iter().filter(|sa| sa.packets > 0);
        let without = used().filter(|sa| sa.inner_bytes.is_none()).count();
        if without > 0 {
            output::note(format!(
                "{}: no key for {without} of {} SAs; 'rekeyscope keys' says what is missing",
                input.capture.display(),
                used().count()
            ));
        }
    }
    let problems = read::problems(&analysis).collect();
    Ok((analysis, problems))
}

/// A document written by `--json`; `None` where the file is none: the capture reader says what it is.
pub(crate) fn saved(path: &Path) -> Result<Option<Analysis>> {
    Ok(is_document(path).then(|| report::document(path)).transpose()?)
}

/// Places of JSON, HTML and CSV, made sure of before the work starts.
type ComparisonPlaces = [Option<Target>; 3];

fn reserve(arguments: &CompareArguments, inputs: &[Input]) -> Result<ComparisonPlaces> {
    let read: Vec<PathBuf> = inputs.iter().flat_map(Input::everything_read).collect();
    let replacement = Replacement::new(&read, arguments.replace.force);
    let place = |path: &Option<PathBuf>| path.as_deref().map(|path| Target::new(path, &replacement));
    let [json, html, csv] = arguments.results().map(|path| place(path).transpose());
    Ok([json?, html?, csv?])
}

fn write(
    comparison: &Comparison,
    arguments: &CompareArguments,
    [json, html, csv]: ComparisonPlaces,
) -> Result<()> {
    let language = arguments.lang.language();
    let goes_to_stdout = |place: &Option<Target>| matches!(place, Some(Target::Stdout));
    if ![&json, &html, &csv].into_iter().any(goes_to_stdout) {
        let text = formats::comparison::render_text(comparison, text_options(language));
        output::to_stdout(text.as_bytes())?;
    }
    if let Some(json) = json {
        json.write(&json_of(comparison)?)?;
    }
    if let Some(html) = html {
        html.write(formats::html::comparison::render(comparison, language).as_bytes())?;
    }
    if let Some(csv) = csv {
        csv.write(&formats::comparison::render_csv(comparison))?;
    }
    Ok(())
}

/// The rate that should have been reached, for the analysis.
pub(crate) struct Reference {
    /// The options of the main job, with that rate where a capture gives one.
    pub(crate) options: Options,
    row: Option<ComparedCapture>,
}

/// Analyses the reference, where one is given.
pub(crate) fn reference(arguments: &Arguments) -> Result<Reference> {
    let options = arguments.options();
    let row = arguments.reference.as_ref().map(|path| row(arguments, path));
    let row = row.transpose()?;
    let reference_bps = row.as_ref().map_or(options.reference_bps, |row| row.rate_bps);
    let options = Options {
        reference_bps,
        ..options
    };
    Ok(Reference { options, row })
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
