//! Options of `rekeyscope keys`, `rekeyscope wireshark` and `rekeyscope tshark`.

use crate::command::options::help::{INPUT, OUTPUT};
use crate::command::options::input::Input;
use crate::command::options::language::LanguageArgument;
use crate::command::options::refusal::{refuse_if, refused};
use crate::command::sources::{self, Grouping};
use clap::{Args, ValueHint};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// `rekeyscope keys`.
#[derive(Debug, Args)]
pub(crate) struct KeysArguments {
    #[command(flatten)]
    pub(crate) input: Input,

    /// Further pieces of the capture, or a folder or 'pattern*' that holds them. Those of a ring buffer (dumpcap -b, tcpdump -C or -G) are
    /// known by name and time
    #[arg(value_name = "MORE", value_hint = ValueHint::FilePath)]
    more: Vec<PathBuf>,

    /// Read all files as one capture, whatever their names
    #[arg(long, help_heading = INPUT)]
    join: bool,

    /// Write the keys: 'wireshark DIR' or 'tcpdump FILE'
    ///
    /// Wireshark gets esp_sa, ikev1_decryption_table and ikev2_decryption_table; with - for DIR their rows go to standard output in place
    /// of the report. The other file is for tcpdump -E 'file FILE' (as root with -Z root). Only you can read them; the option may be given
    /// more than once.
    #[arg(long, help_heading = OUTPUT, num_args = 2, value_names = ["FORMAT", "PATH"])]
    export: Vec<OsString>,

    /// With --export wireshark, read key files alone
    ///
    /// CAPTURE and MORE are key files then. What they name is written as it stands, and no packet proves it.
    #[arg(
        long,
        help_heading = INPUT,
        requires = "export",
        conflicts_with_all = ["keys", "no_keys", "psk_file", "esp_port", "join"]
    )]
    pub(crate) claims: bool,

    #[command(flatten)]
    pub(crate) lang: LanguageArgument,
}

/// Places of exported keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Export<'a> {
    /// Wireshark's tables, into a folder.
    Wireshark(&'a Path),
    /// Their rows, to standard output.
    WiresharkRows,
    /// A secrets file of tcpdump.
    Tcpdump(&'a Path),
}

impl KeysArguments {
    /// The exports asked for.
    pub(crate) fn exports(&self) -> Result<Vec<Export<'_>>, clap::Error> {
        let pairs = self.export.chunks(2).map(|pair| match pair {
            [format, path] if format == "wireshark" && path == "-" => Ok(Export::WiresharkRows),
            [format, path] if format == "wireshark" => Ok(Export::Wireshark(Path::new(path))),
            [format, path] if format == "tcpdump" && !self.claims => Ok(Export::Tcpdump(Path::new(path))),
            _ => Err(refused(
                "--export writes 'wireshark DIR' or 'tcpdump FILE' (with --claims the former alone), no other format"
                    .to_owned(),
            )),
        });
        pairs.collect()
    }

    /// The files that are named without an option.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.input.with(&self.more)
    }

    /// The capture, in however many files.
    pub(super) fn find_source(&mut self) -> Result<(), clap::Error> {
        if self.claims {
            return Ok(());
        }
        self.input.must_be_the_capture("keys ", &self.more)?;
        let words = self.files();
        let found = sources::find(&words, Grouping::of(self.join, false)).map_err(refused)?;
        let [one] = found.as_slice() else {
            return Err(refused(format!(
                "these are {} captures, and keys are looked up for one: give one at a time, or its pieces with --join",
                found.len()
            )));
        };
        self.input = self.input.of(one);
        Ok(())
    }
}

/// `rekeyscope wireshark`, `rekeyscope tshark`.
#[derive(Debug, Args)]
pub(crate) struct ProgramArguments {
    #[command(flatten)]
    pub(crate) input: Input,

    /// Passed on to the program, after -r CAPTURE
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) rest: Vec<OsString>,
}

impl ProgramArguments {
    /// The capture must be a file: it is read twice.
    pub(super) fn must_name_a_file(&self, job: &str) -> Result<(), clap::Error> {
        self.input.must_be_the_capture(job, &[])?;
        refuse_if(
            self.input.reads_stdin(),
            "the capture is read twice here: give a file, not -",
        )
    }
}
