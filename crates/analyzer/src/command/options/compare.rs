//! Options of `rekeyscope compare`.

use crate::command::options::help::{INPUT, OUTPUT};
use crate::command::options::input::Input;
use crate::command::options::language::LanguageArgument;
use crate::command::options::outputs::ReplaceArgument;
use crate::command::options::refusal::{refuse_if, refused};
use crate::command::sources::{self, Grouping, NamedCapture, is_document};
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `rekeyscope compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    input: Input,

    /// Further captures, folders, 'patterns*', or analyses saved by --json: two captures are compared, three give an interval. The pieces of a
    /// ring buffer (dumpcap -b, tcpdump -C or -G) are known by name and time, and are one capture
    #[arg(value_name = "MORE", value_hint = ValueHint::FilePath)]
    more: Vec<PathBuf>,

    /// Take every file for a capture of its own
    ///
    /// Without this, the pieces of a ring buffer are one capture.
    #[arg(long, help_heading = INPUT)]
    each: bool,

    /// The captures that these files are; found once.
    #[arg(skip)]
    sources: Vec<NamedCapture>,

    /// Write table and plot as one offline HTML file
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,

    /// Write the comparison as JSON; - is standard output
    ///
    /// On standard output it takes the place of the report.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,

    /// Write the table as CSV; - is standard output
    ///
    /// On standard output it takes the place of the report.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    csv: Option<PathBuf>,

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
        self.sources.iter().map(|source| self.input.of(source)).collect()
    }

    /// Places of JSON, HTML and CSV.
    pub(crate) fn results(&self) -> [&Option<PathBuf>; 3] {
        [&self.json, &self.html, &self.csv]
    }

    /// Looks for the captures among the files. A saved analysis is one of its own.
    pub(super) fn find_sources(&mut self) -> Result<(), clap::Error> {
        let words = self.input.with(&self.more);
        let on_stream = |paths: &[&PathBuf]| paths.iter().filter(|path| path.as_os_str() == "-").count() > 1;
        let results: Vec<&PathBuf> = self.results().into_iter().flatten().collect();
        refuse_if(
            on_stream(&results),
            "only one of --json, --html and --csv can go to standard output",
        )?;
        refuse_if(
            on_stream(&Vec::from_iter(&words)),
            "standard input holds one capture: give - once",
        )?;
        let same_kind = |a: &PathBuf, b: &PathBuf| is_document(a) == is_document(b);
        for words in words.chunk_by(same_kind) {
            let documents = words.first().is_some_and(|word| is_document(word));
            let found = sources::find(words, Grouping::of(false, self.each || documents));
            self.sources.extend(found.map_err(refused)?);
        }
        match self.sources.len() {
            2..=MOST_CAPTURES => Ok(()),
            1 => Err(refused(self.only_one())),
            many => Err(refused(format!(
                "{many} captures are more than one comparison takes ({MOST_CAPTURES})"
            ))),
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
}
