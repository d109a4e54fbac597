//! Options, validated once.

use crate::command::replace::Replacement;
use crate::command::sources::{self, Grouping, NamedCapture, is_capture};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};
pub(crate) use compare::CompareArguments;
pub(crate) use input::{Input, holds_keys};
pub(crate) use keys::{Export, KeysArguments, ProgramArguments};
#[cfg(feature = "parquet")]
pub(crate) use outputs::CompactArguments;
pub(crate) use outputs::{CopyArguments, OutputArguments, OutputFormat, OverlayArguments, ReportArguments};
pub(crate) use overhead::OverheadArguments;
use refusal::{refuse_if, refused, shown};
use rekeyscope::pipeline::{Options, TunnelChoice};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
pub(crate) use watch::WatchArguments;

mod compare;
mod help;
mod input;
mod keys;
mod language;
mod outputs;
mod overhead;
mod refusal;
mod watch;

/// `--version` names the version of the document: a fleet asks for it, to know what is analysed already.
const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\nschema_version 3");

/// What did the IPsec rekeys in a capture cost?
///
/// Decrypts ESP, finds IKE Quick Mode and CREATE_CHILD_SA rekeys, relates each to throughput, and says how much the
/// rekeys cost.
#[derive(Debug, Parser)]
#[command(version, long_version = LONG_VERSION, after_help = help::EXAMPLES, max_term_width = 110)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    _command: Option<Command>,
    #[command(flatten)]
    _arguments: Arguments,
}

/// Jobs beside the main one. A capture with such a name is given as `./keys`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Render saved analyses (--json) again, also several with an index
    Report(ReportArguments),
    /// Which SAs have a key, where it stands, what is missing; and tables for other programs
    Keys(KeysArguments),
    /// What ESP costs in bytes: wire size, largest inner packet, MSS; no capture needed
    Overhead(OverheadArguments),
    /// What does a rekey cost, seen over several captures (or analyses saved by --json)
    Compare(CompareArguments),
    /// Follow a capture that goes on: a line for each rekey, failure, outage and missing key within two seconds; metrics
    ///
    /// A folder stands for the files of a ring buffer in it, which are followed in the order in which they are written.
    Watch(Box<WatchArguments>),
    /// Put the many small tables of --parquet together, month by month
    #[cfg(feature = "parquet")]
    Compact(CompactArguments),
    /// Start Wireshark with the keys in a configuration folder of its own, which is removed afterwards
    Wireshark(ProgramArguments),
    /// Start tshark with the keys in a configuration folder of its own, which is removed afterwards
    Tshark(ProgramArguments),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// The job to be done.
// There is one of it.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub(crate) enum Request {
    /// The main job.
    Analyze(Arguments),
    Beside(Command),
}

impl Request {
    /// Checks what clap cannot: options that exclude each other only with some values.
    fn make_sense(&mut self) -> Result<(), clap::Error> {
        match self {
            Request::Analyze(a) => {
                a.must_name_captures()?;
                a.find_sources()?;
                let copies = [&a.copies.write_inner, &a.copies.annotate];
                let copies = copies.into_iter().filter_map(|p| p.as_deref());
                a.outputs.must_make_sense(copies, a.sources.len(), &a.overlays)?;
                let has_pieces = a.sources.iter().any(|source| !source.pieces.is_empty());
                a.copies.must_make_sense(a.wants_index(), has_pieces)?;
            }
            Request::Beside(Command::Report(a)) => {
                a.documents = a
                    .documents
                    .iter()
                    .flat_map(|word| sources::matching(word))
                    .collect();
                let none = std::iter::empty();
                a.outputs.must_make_sense(none, a.documents.len(), &a.overlays)?;
            }
            Request::Beside(Command::Compare(c)) => c.find_sources()?,
            Request::Beside(Command::Watch(w)) => w.must_make_sense()?,
            Request::Beside(Command::Keys(k)) => {
                k.exports()?;
                k.find_source()?;
            }
            Request::Beside(Command::Wireshark(p)) => p.must_name_a_file("wireshark ")?,
            Request::Beside(Command::Tshark(p)) => p.must_name_a_file("tshark ")?,
            Request::Beside(_) => {}
        }
        Ok(())
    }
}

impl CommandLine {
    /// Reads the command line; explains itself and ends the program where it makes no sense.
    pub(crate) fn read() -> Request {
        let words = words(std::env::args_os());
        let job = job_of(words.get(1));
        help::laid_out(Self::full(), &words)
            .try_get_matches_from(words)
            .and_then(|matches| {
                let explained =
                    |error: clap::Error| error.format(&mut Self::of_job(matches.subcommand_name()));
                let mut job = Self::job(&matches).map_err(explained)?;
                job.make_sense().map_err(explained)?;
                Ok(job)
            })
            .unwrap_or_else(|error| refusal::refuse(&refusal::advised(error, job.as_deref())))
    }

    /// A job's own command, for what is said of its use.
    fn of_job(name: Option<&str>) -> clap::Command {
        let mut all = Self::full();
        all.build();
        let job = name.and_then(|name| all.find_subcommand(name).cloned());
        job.unwrap_or(all)
    }

    /// The command, with what its derived form cannot say.
    pub(crate) fn full() -> clap::Command {
        Self::command().mut_subcommands(|job| match job.get_name() {
            "wireshark" | "tshark" => job.mut_args(|argument| match argument.get_id().as_str() {
                "capture" => argument.help(
                    "Capture file: pcap or pcapng, also .gz, .zst, .lz4; read twice, so not from a pipe",
                ),
                // Few options need no groups.
                _ => argument.help_heading(None::<&str>),
            }),
            "watch" => job.mut_args(|argument| match argument.get_id().as_str() {
                // A watch has no whole capture, by which those tables are named.
                "parquet" | "gateway" => argument.hide(true),
                _ => argument,
            }),
            _ => job,
        })
    }

    fn job(matches: &ArgMatches) -> Result<Request, clap::Error> {
        match matches.subcommand_name() {
            Some(_) => Command::from_arg_matches(matches).map(Request::Beside),
            None => Arguments::from_arg_matches(matches).map(Request::Analyze),
        }
    }
}

/// The main job.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) input: Input,

    /// Further captures, folders, 'patterns*': each capture gets a report, and --html DIR/ an index page. The pieces of a ring buffer
    /// (dumpcap -b, tcpdump -C or -G) are known by name and time, and are one capture
    #[arg(value_name = "MORE", value_hint = ValueHint::FilePath)]
    pub(crate) more: Vec<PathBuf>,

    /// Read all files as one capture, merged by time, whatever their names
    #[arg(long, help_heading = help::INPUT, conflicts_with = "each")]
    join: bool,

    /// Take every file for a capture of its own, also the pieces of a ring buffer
    #[arg(long, help_heading = help::INPUT)]
    pub(crate) each: bool,

    /// The captures that these files are; found once.
    #[arg(skip)]
    pub(crate) sources: Vec<NamedCapture>,

    #[command(flatten)]
    pub(crate) outputs: OutputArguments,

    #[command(flatten)]
    pub(crate) overlays: OverlayArguments,

    #[command(flatten)]
    pub(crate) copies: CopyArguments,

    /// Say how much of the difference to this rate the rekeys explain
    #[arg(long, help_heading = help::METHOD, value_name = "MBIT/S", value_parser = reference_rate)]
    pub(crate) reference_mbps: Option<f64>,

    /// Say how much of the difference to another capture's mean rate the rekeys explain: a capture, or an analysis saved by --json, in its busiest direction
    #[arg(long, help_heading = help::METHOD, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "reference_mbps")]
    pub(crate) reference: Option<PathBuf>,

    /// Say what was lost on the way to this capture
    ///
    /// It is one of the same tunnel at another point of its path, and needs no keys. The report has the delay one way and the offset of the
    /// clocks too. The option may be given more than once, also with a folder or a 'pattern*': those files are pieces of one capture.
    #[arg(long, help_heading = help::INPUT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    also_from: Vec<PathBuf>,

    /// Analyse one of several tunnels alone, also one inside another's ESP: its number in the report, or the address of one of its ends
    #[arg(long, help_heading = help::INPUT, value_name = "NUMBER|ADDRESS")]
    pub(crate) tunnel: Option<TunnelChoice>,
}

impl Arguments {
    /// Several captures, or a folder for the page: a report of each, and an index.
    pub(crate) fn wants_index(&self) -> bool {
        self.sources.len() > 1 || self.outputs.wants_index()
    }

    /// Looks for the capture of the other point. It is one, and compared with one.
    fn find_other_point(&mut self, grouping: Grouping) -> Result<(), clap::Error> {
        let [first, ..] = self.also_from.as_slice() else {
            return Ok(());
        };
        let name = shown(first);
        refuse_if(
            self.also_from.iter().any(|word| word.as_os_str() == "-"),
            "--also-from reads a file: give standard input as the capture, and the other point by its name",
        )?;
        if self.sources.len() > 1 {
            return Err(refused(format!(
                "--also-from {name} is compared with one capture, and {} are given: analyse that one alone, or give its pieces with --join",
                self.sources.len()
            )));
        }
        let found = sources::find(&self.also_from, grouping).map_err(refused)?;
        let [one] = found.as_slice() else {
            return Err(refused(format!(
                "--also-from {name}: these are {} captures, and one is compared: give that one alone, or its pieces with --join",
                found.len()
            )));
        };
        let own: Vec<&PathBuf> = self.sources.iter().flat_map(NamedCapture::files).collect();
        refuse_if(
            one.files().any(|file| own.iter().any(|own| is_same(own, file))),
            &format!(
                "--also-from {name} is the capture itself: give the one of the other point, rekeyscope HERE.pcapng --also-from THERE.pcapng"
            ),
        )?;
        self.input.other_point = Some(one.clone());
        Ok(())
    }

    /// Looks for the captures among the files. Where it is one, it is the input.
    fn find_sources(&mut self) -> Result<(), clap::Error> {
        self.input.wants_digest = self.outputs.parquet.is_some();
        let words = self.input.with(&self.more);
        let grouping = Grouping::of(self.join, self.each);
        self.sources = sources::find(&words, grouping).map_err(refused)?;
        self.find_other_point(grouping)?;
        if let [one] = self.sources.as_slice() {
            self.input = self.input.of(one);
        }
        Ok(())
    }

    /// The rule of replacement, with all that is read.
    pub(crate) fn replacement(&self) -> Replacement {
        let inputs = self.sources.iter().map(|source| self.input.of(source));
        let read: Vec<PathBuf> = inputs.flat_map(|input| input.everything_read()).collect();
        let read = read.iter().chain(&self.reference).chain(self.overlays.files());
        Replacement::new(read, self.outputs.replace.force)
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            reference_bps: self.reference_mbps.map(|m| m * 1e6),
            tunnel: self.tunnel,
            esp_ports: self.input.esp_port.clone(),
            two_points: self.input.other_point.is_some(),
        }
    }

    /// The first word is a file, and so is the second; where none of the further ones is a capture, they are no captures to be
    /// listed beside it.
    fn must_name_captures(&self) -> Result<(), clap::Error> {
        let refuse = |reason: String| Err(refusal::refused(reason));
        let capture = &self.input.capture;
        if let Some(reason) = capture
            .to_str()
            .and_then(refusal::why_not_here)
            .filter(|_| !capture.exists())
        {
            return refuse(reason);
        }
        self.input.must_be_the_capture("", &self.more)?;
        let Some(second) = self.more.first() else {
            return Ok(());
        };
        if !capture.exists() && capture.extension().is_none() && !self.input.reads_stdin() {
            let (word, file) = (capture.to_string_lossy(), second.display());
            return refuse(match refusal::meant(&word) {
                Some(job) => format!("there is no command '{word}', and no such file: did you mean '{job}'?"),
                None => format!(
                    "there is no command '{word}', and no such file: to analyse a capture, 'rekeyscope {file}' is enough"
                ),
            });
        }
        if self.more.iter().all(|file| file.is_file() && !is_capture(file)) {
            let file = shown(second);
            return refuse(format!("{file} is not a capture: is it a key log? --keys {file}"));
        }
        Ok(())
    }
}

/// Both names are of one file. (Standard input is none.)
fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The words of the command line, `--quiet` behind the name of a job: people write it in front too.
fn words(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = given.collect();
    let is_quiet = |word: &OsString| [OsStr::new("-q"), OsStr::new("--quiet")].contains(&word.as_os_str());
    let in_front = words.iter().skip(1).take_while(|word| is_quiet(word)).count();
    if job_of(words.get(1 + in_front)).is_some()
        && let Some(front) = words.get_mut(1..=1 + in_front)
    {
        front.rotate_right(1);
    }
    words
}

/// The job that a word names.
fn job_of(word: Option<&OsString>) -> Option<String> {
    let word = word.and_then(|word| word.to_str())?;
    CommandLine::command()
        .find_subcommand(word)
        .map(|_| word.to_owned())
}

/// Highest reference rate, Mbit/s: a petabit per second, a thousand times what one fibre carries.
const MOST_MBPS: f64 = 1e9;

fn reference_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= MOST_MBPS => Ok(value),
        _ => Err(format!(
            "expected a rate in Mbit/s, above 0 and at most {MOST_MBPS}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_finite_and_make_sense() {
        for wrong in ["0", "-1", "NaN", "inf", "1e308", "ten", ""] {
            assert!(reference_rate(wrong).is_err(), "{wrong}");
        }
        assert_eq!(reference_rate("94.5"), Ok(94.5));
    }
    #[test]
    fn the_version_of_the_document_is_told() {
        let told = format!("schema_version {}", rekeyscope_model::analysis::SCHEMA_VERSION);
        assert!(LONG_VERSION.ends_with(&told));
    }

    #[test]
    fn the_options_are_consistent() {
        CommandLine::full().debug_assert();
    }

    #[test]
    fn everyday_options_exist() {
        let command = CommandLine::full();
        for (job, options) in help::EVERYDAY {
            let job = command.find_subcommand(job).unwrap_or(&command);
            for option in options.split(' ') {
                let is_there = job.get_arguments().any(|argument| argument.get_id() == option);
                assert!(is_there, "{option} of {}", job.get_name());
            }
        }
    }

    #[test]
    fn jobs_are_told_apart() {
        let parse = |words: &[&str]| {
            let matches = CommandLine::command().try_get_matches_from([&["rekeyscope"], words].concat())?;
            CommandLine::job(&matches)
        };
        let Ok(Request::Analyze(main)) = parse(&["trace.pcap", "--keys", "log", "--psk-file", "psk"]) else {
            panic!("not the main job");
        };
        assert_eq!(main.input.psk_file, [PathBuf::from("psk")]);
        let words = [
            "keys",
            "t.pcap",
            "--export",
            "wireshark",
            "d",
            "--export",
            "tcpdump",
            "f",
        ];
        let Ok(Request::Beside(Command::Keys(keys))) = parse(&words) else {
            panic!("not the job keys");
        };
        assert_eq!(
            keys.exports().unwrap(),
            [Export::Wireshark(Path::new("d")), Export::Tcpdump(Path::new("f"))]
        );
        let Ok(Request::Beside(Command::Tshark(tshark))) = parse(&["tshark", "t.pcap", "--", "-Y", "esp"])
        else {
            panic!("not the job tshark");
        };
        assert_eq!(tshark.rest, ["-Y", "esp"]);
        for wrong in [
            &[][..],
            &["keys"],
            &["t.pcap", "--psk", "a secret"],
            &["t.pcap", "--export", "wireshark", "d"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
