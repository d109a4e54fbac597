//! Places of results, the same for a capture and for a saved document.

use crate::command::options::help::{OUTPUT, REPORT};
use crate::command::options::language::LanguageArgument;
use crate::command::options::refusal::{refuse_if, refused, shown};
use clap::{Args, ValueEnum, ValueHint};
use std::path::{Path, PathBuf};

/// Formats for standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The terminal report
    Text,
    /// The offline page
    Html,
    /// The whole document
    Json,
    /// The table of rekeys
    Csv,
    /// For tickets (GitHub's flavour)
    Markdown,
}

/// Places of results.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OutputArguments {
    /// Write the report as one offline HTML file
    ///
    /// A folder (DIR/) gets an index page beside the report, and a report of each of several captures.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) html: Option<PathBuf>,

    /// Write the analysis as JSON; - is standard output
    ///
    /// On standard output it takes the place of the report. Of several captures it goes into a folder (DIR/), a file for each.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) json: Option<PathBuf>,

    /// Write the tables as CSV files into this folder
    #[arg(long, help_heading = OUTPUT, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = folder)]
    pub(crate) csv: Option<PathBuf>,

    /// Write every plot as an SVG file into this folder
    #[arg(long, help_heading = OUTPUT, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = folder)]
    pub(crate) svg: Option<PathBuf>,

    /// Write every plot as a PNG file into this folder, at twice its size
    #[cfg_attr(feature = "png", arg(long, help_heading = OUTPUT, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = folder))]
    #[cfg_attr(not(feature = "png"), arg(skip))]
    pub(crate) png: Option<PathBuf>,

    /// Write tables for many captures as Parquet files into this folder: TABLE/day=…/gateway=…/SHA256.parquet
    #[cfg_attr(feature = "parquet", arg(long, help_heading = OUTPUT, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = folder))]
    #[cfg_attr(not(feature = "parquet"), arg(skip))]
    pub(crate) parquet: Option<PathBuf>,

    /// With --parquet, name the gateway at which the capture was taken [default: its address]
    #[cfg(feature = "parquet")]
    #[arg(long, help_heading = OUTPUT, value_name = "NAME", requires = "parquet")]
    pub(crate) gateway: Option<String>,

    /// Print text, html, json, csv or markdown
    ///
    /// Without this it is text. Of several captures the index is printed, or as JSON an array of their documents.
    #[arg(long, help_heading = OUTPUT, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<OutputFormat>,

    /// Show every figure, filter and row in the terminal
    ///
    /// The report then has each figure, display filters, events, projections, and tables in full.
    #[arg(short, long, help_heading = REPORT)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) replace: ReplaceArgument,

    #[command(flatten)]
    pub(crate) lang: LanguageArgument,
}

impl OutputArguments {
    /// Refuses results that are in each other's way. `more`: other files of the run; `inputs`: so many captures or documents are read.
    pub(super) fn must_make_sense<'a>(
        &'a self,
        more: impl Iterator<Item = &'a Path>,
        inputs: usize,
        overlays: &OverlayArguments,
    ) -> Result<(), clap::Error> {
        self.one_at_most_on_stdout()?;
        all_different(self.files().chain(more))?;
        if inputs > 1 || self.wants_index() {
            // An overlay cannot belong to several captures.
            refuse_if(
                inputs > 1 && overlays.files().next().is_some(),
                "--iperf3 and --overlay belong to one capture: give one capture at a time",
            )?;
            self.want_folders()?;
        }
        Ok(())
    }

    /// No two results may want standard output.
    pub(super) fn one_at_most_on_stdout(&self) -> Result<(), clap::Error> {
        let wanted = [
            self.format.is_some(),
            is_stdout(self.json.as_deref()),
            is_stdout(self.html.as_deref()),
        ];
        refuse_if(
            wanted.iter().filter(|w| **w).count() > 1,
            "only one of --format, --json - and --html - can have standard output",
        )
    }

    /// The format for standard output.
    pub(crate) fn on_stdout(&self) -> OutputFormat {
        match self.format {
            Some(format) => format,
            None if is_stdout(self.json.as_deref()) => OutputFormat::Json,
            None if is_stdout(self.html.as_deref()) => OutputFormat::Html,
            None => OutputFormat::Text,
        }
    }

    /// Files of the page and the document.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let given = [self.html.as_deref(), self.json.as_deref()];
        given.into_iter().flatten().filter(|p| p.as_os_str() != "-")
    }

    /// The page goes into a folder, with an index beside it.
    pub(crate) fn wants_index(&self) -> bool {
        self.html.as_deref().is_some_and(is_folder)
    }

    /// Several results do not go into one file. A folder ends with a slash, is there, or looks like
    /// none: no extension.
    fn want_folders(&self) -> Result<(), clap::Error> {
        for (option, path) in [("--html", &self.html), ("--json", &self.json)] {
            let file = path
                .as_deref()
                .filter(|p| p.as_os_str() != "-" && !is_folder(p) && p.extension().is_some());
            if let Some(file) = file {
                let folder = shown(&file.with_extension(""));
                return Err(refused(format!(
                    "several reports do not fit into one file: give a folder, for example {option} {folder}/"
                )));
            }
        }
        Ok(())
    }

    /// The outputs of one input: with several inputs every option names a folder.
    pub(crate) fn of_one(&self, name: &str) -> OutputArguments {
        let file = |folder: &Option<PathBuf>, end: &str| {
            let folder = folder.as_ref().filter(|p| p.as_os_str() != "-");
            folder.map(|f| f.join(format!("{name}{end}")))
        };
        OutputArguments {
            html: file(&self.html, ".html"),
            json: file(&self.json, ".json"),
            csv: file(&self.csv, ""),
            svg: file(&self.svg, ""),
            png: file(&self.png, ""),
            // Tables have one folder for all: a capture has its own names in it.
            ..self.clone()
        }
    }
}

fn is_folder(path: &Path) -> bool {
    ends_as_folder(path) || path.is_dir()
}

/// A name with a slash at its end.
pub(super) fn ends_as_folder(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::is_separator)
}

fn is_stdout(path: Option<&Path>) -> bool {
    path.is_some_and(|p| p.as_os_str() == "-")
}

/// Series from elsewhere, drawn over the packet record.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OverlayArguments {
    /// Draw the intervals of an iperf3 run (its --json output) over the packets, and compare the two
    #[arg(long, help_heading = REPORT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) iperf3: Vec<PathBuf>,

    /// Draw a CSV file of times and values (router CPU, vmstat, sar) below the packets. Times are in RFC 3339, Unix seconds, or seconds
    /// since the capture began
    #[arg(long, help_heading = REPORT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) overlay: Vec<PathBuf>,
}

impl OverlayArguments {
    /// The files of overlays.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.iperf3.iter().chain(&self.overlay)
    }
}

/// `rekeyscope report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Analyses that --json wrote; several give an index page with --html DIR/
    #[arg(required = true, value_name = "ANALYSIS", value_hint = ValueHint::FilePath)]
    pub(crate) documents: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) outputs: OutputArguments,

    #[command(flatten)]
    pub(crate) overlays: OverlayArguments,

    /// Write no notes to standard error
    #[arg(short, long, help_heading = OUTPUT)]
    pub(crate) quiet: bool,
}

impl ReportArguments {
    /// Several documents, or a folder for the page: a report of each, and an index.
    pub(crate) fn wants_index(&self) -> bool {
        self.documents.len() > 1 || self.outputs.wants_index()
    }
}

/// No two results may have one name.
pub(super) fn all_different<'a>(files: impl Iterator<Item = &'a Path>) -> Result<(), clap::Error> {
    let mut seen = std::collections::HashSet::new();
    for file in files {
        // A folder takes a file of each kind; devices take anything.
        if !file.is_dir() && !file.starts_with("/dev") && !ends_as_folder(file) && !seen.insert(file) {
            let name = shown(file);
            return Err(refused(format!(
                "two results cannot both be written to {name}: give each a name of its own"
            )));
        }
    }
    Ok(())
}

/// `--force`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReplaceArgument {
    /// Let an output replace a capture (pcap or pcapng, also packed). Other files are replaced without this, and what the same run reads
    /// never is
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,
}

/// The parser of an option that names a folder.
fn folder(text: &str) -> Result<PathBuf, String> {
    if text == "-" {
        Err("expected a folder: the tables are several files".into())
    } else {
        Ok(text.into())
    }
}

/// Captures to write. Both need a file to read twice.
#[derive(Debug, Args)]
pub(crate) struct CopyArguments {
    /// Write the decrypted packets as a capture
    ///
    /// The capture is pcapng with the original times; comments give SPI and generation. Only you can read the file.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = file)]
    pub(crate) write_inner: Option<PathBuf>,

    /// With --write-inner, keep L2TP and PPP around the packets inside
    #[arg(long, help_heading = OUTPUT, requires = "write_inner")]
    pub(crate) keep_l2tp: bool,

    /// Write the capture as pcapng with comments for Wireshark's expert information: at each rekey what it cost, and at each missing key
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = file)]
    pub(crate) annotate: Option<PathBuf>,

    /// With --annotate, put the verified ESP keys into that capture (pcapng Decryption Secrets Block). Whoever gets the file can read the
    /// traffic; at first only you can read it
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) embed_keys: bool,
}

impl CopyArguments {
    /// A copy is one of one file: an index of several captures has no place for copies of each, and pieces are several files.
    pub(super) fn must_make_sense(&self, is_index: bool, has_pieces: bool) -> Result<(), clap::Error> {
        let copies = self.write_inner.is_some() || self.annotate.is_some();
        refuse_if(
            copies && is_index,
            "--write-inner and --annotate belong to one capture: give one capture at a time, and --html a file",
        )?;
        refuse_if(
            copies && has_pieces,
            "--write-inner and --annotate copy one file: join the pieces first, with mergecap -a -w FILE PIECE…",
        )?;
        refuse_if(
            self.write_inner.is_some() && self.write_inner == self.annotate,
            "--write-inner and --annotate name the same file: give each its own",
        )?;
        refuse_if(
            self.embed_keys && self.annotate.is_none(),
            "--embed-keys puts the keys into the capture that --annotate writes: give --annotate FILE as well",
        )
    }
}

fn file(text: &str) -> Result<PathBuf, String> {
    if text == "-" {
        Err("expected a file: the report goes to standard output".into())
    } else {
        Ok(text.into())
    }
}

/// `rekeyscope compact`.
#[cfg(feature = "parquet")]
#[derive(Debug, Args)]
pub(crate) struct CompactArguments {
    /// Folder that --parquet wrote to: a file per table and capture. Those that were put together are removed from it
    #[arg(value_name = "FROM", value_hint = ValueHint::DirPath)]
    pub(crate) from: PathBuf,

    /// Folder for the new files: TABLE/month=YYYY-MM/part-….parquet, with day and gateway as columns. Another than FROM
    #[arg(value_name = "INTO", value_hint = ValueHint::DirPath)]
    pub(crate) into: PathBuf,

    #[command(flatten)]
    pub(crate) replace: ReplaceArgument,

    /// Write no notes to standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
