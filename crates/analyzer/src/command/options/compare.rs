//! Options of `rekeyscope compare`.

use crate::command::options::help::{INPUT, KEYS, OUTPUT};
use crate::command::options::input::Input;
use crate::command::options::language::LanguageArgument;
use crate::command::options::replace::ReplaceArgument;
use crate::command::sources::{self, Grouping, NamedCapture, is_document};
use clap::error::ErrorKind;
use clap::{Args, ValueHint};
use rekeyscope::pipeline::Options;
use std::path::PathBuf;

/// `rekeyscope compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Two or more captures, folders, 'patterns*', or analyses saved by --json; three give an interval. The pieces of a ring buffer
    /// (dumpcap -b, tcpdump -C or -G) are known by name and time, and are one capture
    #[arg(required = true, num_args = 1..=MOST_CAPTURES, value_name = "FILE", value_hint = ValueHint::FilePath)]
    captures: Vec<PathBuf>,

    /// Take every file for a capture of its own
    ///
    /// Without this, the pieces of a ring buffer are one capture.
    #[arg(long, help_heading = INPUT)]
    each: bool,

    /// The captures that these files are; found once.
    #[arg(skip)]
    sources: Vec<NamedCapture>,

    /// Read keys for every capture from this file
    ///
    /// The option may be given more than once; without it, key files beside each capture are read.
    #[arg(short, long = "keys", help_heading = KEYS, value_name = "FILE", value_hint = ValueHint::FilePath)]
    keys: Vec<PathBuf>,

    /// Ignore key files beside the captures, and keys inside them (pcapng Decryption Secrets Blocks)
    #[arg(long, help_heading = KEYS, conflicts_with = "keys")]
    no_keys: bool,

    /// Read this UDP or TCP port as port 4500, which carries IKE and ESP; may be given more than once
    #[arg(long, help_heading = INPUT, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    esp_port: Vec<u16>,

    /// Read the IKE pre-shared key of every capture from this file
    #[arg(long, help_heading = KEYS, value_name = "FILE", value_hint = ValueHint::FilePath)]
    psk_file: Vec<PathBuf>,

    /// Write no notes to standard error
    #[arg(short, long, help_heading = OUTPUT)]
    quiet: bool,

    /// Write table and plot as one offline HTML file
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Write the comparison as JSON; - is standard output
    ///
    /// On standard output it takes the place of the report.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) json: Option<PathBuf>,

    /// Write the table as CSV; - is standard output
    ///
    /// On standard output it takes the place of the report.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) csv: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) replace: ReplaceArgument,

    #[command(flatten)]
    pub(crate) lang: LanguageArgument,
}

/// Captures of one comparison: far more than a plot can show.
const MOST_CAPTURES: usize = 1_000;

impl CompareArguments {
    /// One input per capture, each with the keys given, or with those beside it.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        let input = |source: &NamedCapture| Input {
            capture: source.name.clone(),
            pieces: source.pieces.clone(),
            wants_digest: false,
            other_point: Vec::new(),
            beside_others: false,
            keys: self.keys.clone(),
            no_keys: self.no_keys,
            psk_file: self.psk_file.clone(),
            esp_port: self.esp_port.clone(),
            jobs: None,
            quiet: self.quiet,
        };
        self.sources.iter().map(input).collect()
    }

    pub(crate) fn options(&self) -> Options {
        Options::default()
    }

    /// Looks for the captures among the files. A saved analysis is one of its own.
    pub(super) fn find_sources(&mut self) -> Result<(), clap::Error> {
        self.must_make_sense()?;
        let refuse = |kind, reason| clap::Error::raw(kind, reason);
        let grouping = if self.each {
            Grouping::Each
        } else {
            Grouping::ByName
        };
        let same_kind = |a: &PathBuf, b: &PathBuf| is_document(a) == is_document(b);
        for words in self.captures.chunk_by(same_kind) {
            let documents = words.first().is_some_and(|word| is_document(word));
            let grouping = if documents { Grouping::Each } else { grouping };
            let found = sources::find(words, grouping);
            self.sources
                .extend(found.map_err(|reason| refuse(ErrorKind::ValueValidation, reason))?);
        }
        match self.sources.len() {
            2..=MOST_CAPTURES => Ok(()),
            1 => Err(refuse(ErrorKind::TooFewValues, self.only_one())),
            many => Err(refuse(
                ErrorKind::TooManyValues,
                format!("{many} captures are more than one comparison takes ({MOST_CAPTURES})"),
            )),
        }
    }

    /// Tells what is missing where one capture is named.
    fn only_one(&self) -> String {
        let pieces = self.sources.iter().flat_map(NamedCapture::files).count();
        if pieces > 1 {
            format!(
                "compare needs two captures or more, and these {pieces} files are pieces of one: add another capture, or give --each \
                 if they are captures of their own"
            )
        } else {
            "compare needs two captures or more, and this is one: add another".into()
        }
    }

    /// Two results, or several captures, may not share one stream.
    fn must_make_sense(&self) -> Result<(), clap::Error> {
        let stream = |path: &&PathBuf| path.as_os_str() == "-";
        let results = [&self.html, &self.json, &self.csv];
        if results.into_iter().flatten().filter(stream).count() > 1 {
            return Err(clap::Error::raw(
                ErrorKind::ArgumentConflict,
                "only one of --json, --html and --csv can go to standard output",
            ));
        }
        if self.captures.iter().filter(stream).count() > 1 {
            return Err(clap::Error::raw(
                ErrorKind::ArgumentConflict,
                "standard input holds one capture: give - once",
            ));
        }
        Ok(())
    }
}
