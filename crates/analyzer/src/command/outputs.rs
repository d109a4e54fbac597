//! The results of one analysis and where they go, the same for a capture and for a saved document.

#[cfg(feature = "parquet")]
use crate::command::fleet::FleetTables;
use crate::command::options::{OutputArguments, OutputFormat};
use crate::command::output::{self, Reserved};
use crate::command::replace::Replacement;
use anyhow::Result;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::error::Error;
use rekeyscope_model::text::Language;
use rekeyscope_report::formats;
use rekeyscope_report::plot::Plot;
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Columns of a report that goes into a file or a pipe, where `COLUMNS` does not say how wide its reader is.
const PIPED_WIDTH: usize = 80;

/// Places that were made sure of before the work started.
pub(crate) struct Outputs {
    arguments: OutputArguments,
    json: Option<Reserved>,
    html: Option<Reserved>,
    #[cfg(feature = "parquet")]
    tables: Option<FleetTables>,
    silent: bool,
    replacement: Replacement,
}

impl Outputs {
    /// Makes sure that every place can be written. `silent`: nothing goes to standard output.
    pub(crate) fn reserve(
        arguments: &OutputArguments,
        replacement: &Replacement,
        silent: bool,
    ) -> Result<Self> {
        permit(arguments, replacement)?;
        let file = |path: &Option<PathBuf>| {
            let path = path.as_deref().filter(|p| p.as_os_str() != "-");
            path.map(|path| Reserved::new(path, replacement)).transpose()
        };
        let (json, html) = (file(&arguments.json)?, file(&arguments.html)?);
        let folders = [&arguments.csv, &arguments.svg, &arguments.png];
        folders
            .into_iter()
            .flatten()
            .try_for_each(|path| output::folder(path))?;
        Ok(Outputs {
            arguments: arguments.clone(),
            json,
            html,
            #[cfg(feature = "parquet")]
            tables: FleetTables::reserve(arguments, replacement)?,
            silent,
            replacement: replacement.clone(),
        })
    }

    /// Writes what was asked for.
    pub(crate) fn write(self, analysis: &Analysis) -> Result<()> {
        let (arguments, language) = (&self.arguments, self.arguments.lang.language());
        if !self.silent {
            output::to_stdout(&on_stdout(analysis, arguments)?)?;
        }
        if let Some(json) = self.json {
            json.stream(|file| write_json(analysis, file))?;
        }
        if let Some(html) = self.html {
            html.write(formats::html::render(analysis, language).as_bytes())?;
        }
        if let Some(dir) = &arguments.csv {
            for (name, bytes) in formats::csv::render(analysis) {
                Reserved::new(&dir.join(name), &self.replacement)?.write(&bytes)?;
            }
        }
        #[cfg(feature = "parquet")]
        if let Some(tables) = self.tables {
            tables.write(analysis)?;
        }
        if arguments.svg.is_some() || arguments.png.is_some() {
            for plot in rekeyscope_report::plot::render(analysis, language)
                .iter()
                .flat_map(|t| t.iter())
            {
                write_plot(plot, arguments, &self.replacement)?;
            }
        }
        Ok(())
    }

    /// Writes, where tables are wanted, the row of a capture that could not be analysed.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(unused_variables, reason = "there are no tables to name it in")
    )]
    pub(crate) fn write_failure(self, capture: &Path, error: &anyhow::Error) -> Result<()> {
        // A document that cannot be read is no capture.
        #[cfg(feature = "parquet")]
        if let Some(tables) = self.tables
            && !matches!(error.downcast_ref(), Some(Error::Document { .. }))
        {
            return tables.write_failure(capture, &error.to_string());
        }
        Ok(())
    }
}

/// Makes sure, before any work, that nothing is lost at the places whose names are known.
pub(crate) fn permit(arguments: &OutputArguments, replacement: &Replacement) -> Result<(), Error> {
    arguments.files().try_for_each(|path| replacement.permits(path))?;
    let tables = arguments.csv.iter();
    tables
        .flat_map(|dir| formats::csv::names().map(|name| dir.join(name)))
        .try_for_each(|path| replacement.permits(&path))
}

fn write_plot(plot: &Plot, arguments: &OutputArguments, replacement: &Replacement) -> Result<()> {
    if let Some(dir) = &arguments.svg {
        let path = dir.join(format!("{}.svg", plot.name));
        Reserved::new(&path, replacement)?.write(plot.standalone().as_bytes())?;
    }
    #[cfg(feature = "png")]
    if let Some(dir) = &arguments.png {
        let path = dir.join(format!("{}.png", plot.name));
        Reserved::new(&path, replacement)?.write(&rekeyscope_report::plot::raster::png(plot)?)?;
    }
    Ok(())
}

fn on_stdout(analysis: &Analysis, arguments: &OutputArguments) -> Result<Vec<u8>> {
    let language = arguments.lang.language();
    let text = match arguments.on_stdout() {
        OutputFormat::Text if arguments.verbose => {
            formats::text::render_in_full(analysis, text_options(language))
        }
        OutputFormat::Text => formats::text::render(analysis, text_options(language)),
        OutputFormat::Html => formats::html::render(analysis, language),
        OutputFormat::Markdown => formats::markdown::render(analysis, language),
        OutputFormat::Json => return json_of(analysis),
        OutputFormat::Csv => return Ok(formats::csv::rekeys(analysis)),
    };
    Ok(text.into_bytes())
}

/// The document as it is saved.
pub(crate) fn json_of(document: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_json(document, &mut bytes)?;
    Ok(bytes)
}

fn write_json(document: &impl Serialize, to: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, document)?;
    to.write_all(b"\n")
}

/// The width and the colours of the terminal that the text goes to.
pub(crate) fn text_options(language: Language) -> formats::text::TextOptions {
    let terminal = console::Term::stdout();
    let width = if terminal.is_term() {
        usize::from(terminal.size().1)
    } else {
        let told = std::env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok());
        told.unwrap_or(PIPED_WIDTH)
    };
    let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    // A console of Windows obeys escape sequences once it is told to, which this question does.
    let obeys = cfg!(not(windows)) || terminal.features().colors_supported();
    formats::text::TextOptions {
        width,
        color: terminal.is_term() && !plain && obeys,
        language,
    }
}

/// One place to write to.
pub(crate) enum Target {
    Stdout,
    File(Reserved),
}

impl Target {
    pub(crate) fn new(path: &Path, replacement: &Replacement) -> Result<Self, Error> {
        if path.as_os_str() == "-" {
            Ok(Target::Stdout)
        } else {
            Reserved::new(path, replacement).map(Target::File)
        }
    }

    pub(crate) fn write(self, bytes: &[u8]) -> Result<()> {
        match self {
            Target::Stdout => output::to_stdout(bytes),
            Target::File(file) => Ok(file.write(bytes)?),
        }
    }
}
