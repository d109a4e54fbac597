//! The capture and what decrypts it.

use crate::command::options::help::{INPUT, KEYS, OUTPUT};
use crate::command::options::refusal::{refused, shown};
use crate::command::sources::{NamedCapture, is_capture};
use clap::{Args, ValueHint};
use rekeyscope::assembly::Asked;
use rekeyscope_capture::join::PieceSequence;
use rekeyscope_keylog::KeyMaterial;
use std::path::{Path, PathBuf};

/// The capture and what decrypts it, the same for every job. A secret never is an argument: other users see those.
#[derive(Debug, Clone, Args)]
pub(crate) struct Input {
    /// Capture file: pcap or pcapng, also .gz, .zst, .lz4; - is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) capture: PathBuf,

    /// The files of the capture, where they are several; `capture` is their common name then.
    #[arg(skip)]
    pub(crate) pieces: Vec<PieceSequence>,

    /// The capture gets a name by its content.
    #[arg(skip)]
    pub(crate) wants_digest: bool,

    /// Others are analysed at the same time: no bar of its own.
    #[arg(skip)]
    pub(crate) beside_others: bool,

    /// Read this UDP or TCP port as port 4500, which carries IKE and ESP; may be given more than once. Where IKE is in the capture, its
    /// ports are found without this
    #[arg(long, value_name = "PORT", help_heading = INPUT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) esp_port: Vec<u16>,

    /// Read keys from a log, a table or a folder of logs
    ///
    /// The format is recognised by content. The option may be given more than once; without it, key files beside the capture are read.
    #[arg(short, long = "keys", value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = KEYS)]
    pub(crate) keys: Vec<PathBuf>,

    /// Ignore key files beside the capture, and keys inside it (pcapng Decryption Secrets Blocks)
    #[arg(long, conflicts_with = "keys", help_heading = KEYS)]
    pub(crate) no_keys: bool,

    /// Read the IKE pre-shared key from this file
    ///
    /// It is text, or 0x and hex digits. With a Diffie–Hellman secret in a key file it gives all keys of that IKEv1 SA.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = KEYS)]
    pub(crate) psk_file: Vec<PathBuf>,

    /// Cores to use [default: all]; the results are the same
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,

    /// The capture of another point, which is read too; found once.
    #[arg(skip)]
    pub(crate) other_point: Option<NamedCapture>,

    /// Write no notes to standard error
    #[arg(short, long, help_heading = OUTPUT)]
    pub(crate) quiet: bool,
}

impl Input {
    /// The same for one of the captures.
    pub(crate) fn of(&self, source: &NamedCapture) -> Input {
        Input {
            capture: source.name.clone(),
            pieces: source.pieces.clone(),
            ..self.clone()
        }
    }

    /// The files that are named without an option: the capture and these.
    pub(crate) fn with(&self, more: &[PathBuf]) -> Vec<PathBuf> {
        [std::slice::from_ref(&self.capture), more].concat()
    }

    /// The request as the document has it, beyond the options of the analysis.
    pub(crate) fn asked(&self) -> Asked {
        Asked {
            path: self.capture.to_string_lossy().into_owned(),
            no_keys: self.no_keys,
            psk_files: self.psk_file.iter().map(|f| f.display().to_string()).collect(),
            ..Asked::default()
        }
    }

    /// Refuses a log in the place of the capture where the capture is named, too. `job` is the name of the job with a blank.
    pub(super) fn must_be_the_capture(&self, job: &str, more: &[PathBuf]) -> Result<(), clap::Error> {
        let own = &self.capture;
        if !own.is_file() || is_capture(own) {
            return Ok(());
        }
        let log = shown(own);
        if let Some(capture) = self.keys.iter().find(|file| is_capture(file)) {
            let capture = shown(capture);
            return Err(refused(format!(
                "the capture and the keys are the wrong way round: rekeyscope {job}{capture} --keys {log}"
            )));
        }
        match more {
            [one] if is_capture(one) && holds_keys(own) => Err(refused(format!(
                "{log} holds keys and no packets: rekeyscope {job}{} --keys {log}",
                shown(one)
            ))),
            _ => Ok(()),
        }
    }

    /// Sets how many cores are used. Once, before the first packet. The calling thread is one of them.
    pub(crate) fn share_cores(&self) {
        // Setting it fails where that is done already.
        let _ = self.cores().use_current_thread().build_global();
    }

    /// Shares the cores where the calling thread only waits for others.
    pub(crate) fn leave_cores(&self) {
        // The calling thread works where a system has no others.
        if cfg!(target_os = "wasi") {
            return self.share_cores();
        }
        let _ = self.cores().build_global();
    }

    fn cores(&self) -> rayon::ThreadPoolBuilder {
        // 0 stands for all.
        rayon::ThreadPoolBuilder::new().num_threads(self.jobs.unwrap_or(0).into())
    }

    /// True when the capture comes from standard input.
    pub(crate) fn reads_stdin(&self) -> bool {
        self.capture.as_os_str() == "-"
    }

    /// The file of the capture, or its files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let alone = self.pieces.is_empty().then_some(&self.capture);
        alone.into_iter().chain(self.pieces.iter().flat_map(|s| &s.files))
    }

    /// Bytes to read, where that is known.
    pub(crate) fn size(&self) -> Option<u64> {
        let len = |file: &PathBuf| {
            std::fs::metadata(file)
                .ok()
                .filter(std::fs::Metadata::is_file)
                .map(|m| m.len())
        };
        let sizes: Vec<u64> = self.files().filter_map(len).collect();
        (!sizes.is_empty()).then(|| sizes.iter().sum())
    }

    /// A pipe can be read only once.
    pub(crate) fn can_be_read_again(&self) -> bool {
        self.files().all(|file| file.is_file()) || !self.pieces.is_empty()
    }

    /// Key files beside the capture: those of the common name of its pieces (`x.keylog` of `x_*.pcapng`), then those of its
    /// first file.
    pub(crate) fn keys_beside(&self) -> Vec<PathBuf> {
        let first = self.files().next();
        let mut found: Vec<PathBuf> = Vec::new();
        let common = self.pieces.iter().map(|s| s.name.to_string_lossy());
        let common = common.map(|name| PathBuf::from(name.replace("_*", "").replace(['*'], "")));
        for capture in common.chain(first.cloned()) {
            let beside = rekeyscope_keylog::find_beside(&capture);
            found.extend(beside.into_iter().filter(|file| !self.files().any(|f| f == file)));
        }
        let mut seen = std::collections::HashSet::new();
        found.retain(|file| seen.insert(file.clone()));
        found
    }

    /// Key files that are read without being named: none where keys are given, or are not wanted.
    pub(crate) fn keys_found(&self) -> Vec<PathBuf> {
        match self.no_keys || !self.keys.is_empty() || self.reads_stdin() {
            true => Vec::new(),
            false => self.keys_beside(),
        }
    }

    /// Everything that is read: the capture, key files given or found beside it.
    pub(crate) fn everything_read(&self) -> Vec<PathBuf> {
        let found = if self.keys.is_empty() && !self.reads_stdin() {
            self.keys_beside()
        } else {
            Vec::new()
        };
        let other_point = self.other_point.iter().flat_map(NamedCapture::files);
        let given = self.files().chain(&self.psk_file).chain(other_point);
        given.cloned().chain(self.keys_given()).chain(found).collect()
    }

    /// The key files that were named, a folder by its files.
    pub(crate) fn keys_given(&self) -> impl Iterator<Item = PathBuf> {
        self.keys.iter().flat_map(|path| {
            std::fs::read_dir(path).map_or_else(
                |_| vec![path.clone()],
                |entries| entries.flatten().map(|entry| entry.path()).collect(),
            )
        })
    }
}

/// A file is read as a key log or a table of keys.
pub(crate) fn holds_keys(path: &Path) -> bool {
    let mut keys = KeyMaterial::default();
    keys.read(path).is_ok() && keys.files.iter().any(|file| !file.formats.is_empty())
}
