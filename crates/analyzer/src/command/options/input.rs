//! The capture and what decrypts it.

use clap::{Args, ValueHint};
use rekeyscope_model::error::Error;
use std::path::{Path, PathBuf};

/// The capture and what decrypts it, the same for every job. A secret never is an argument: other users see those.
#[derive(Debug, Clone, Args)]
pub(crate) struct Input {
    /// Capture: pcap or pcapng, also .gz, .zst, .lz4; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) capture: PathBuf,

    /// Key file, format recognised by content; may be given more than once [default: files beside the capture]
    #[arg(short, long = "keys", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) keys: Vec<PathBuf>,

    /// Ignore key files beside the capture, and keys inside it (pcapng Decryption Secrets Blocks)
    #[arg(long, conflicts_with = "keys")]
    pub(crate) no_keys: bool,

    /// File that holds the IKE pre-shared key, as text or as 0x and hex digits; with a Diffie–Hellman secret in a key file
    /// it gives all keys of that IKEv1 SA
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) psk_file: Vec<PathBuf>,

    /// UDP or TCP port that carries IKE and ESP like port 4500; may be given more than once (where IKE is in the capture,
    /// its ports are found without this)
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) esp_port: Vec<u16>,

    /// Do not write notes to standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl Input {
    /// True when the capture comes from standard input.
    pub(crate) fn reads_stdin(&self) -> bool {
        self.capture.as_os_str() == "-"
    }

    /// Makes sure that an output does not take the place of the capture or of a key file.
    pub(crate) fn spare(&self, output: &Path) -> Result<(), Error> {
        let found = if self.keys.is_empty() {
            rekeyscope_keylog::find_beside(&self.capture)
        } else {
            Vec::new()
        };
        let inputs = std::iter::once(&self.capture)
            .chain(&self.keys)
            .chain(&self.psk_file)
            .chain(&found);
        crate::command::output::spare(output, inputs.map(PathBuf::as_path))
    }
}
