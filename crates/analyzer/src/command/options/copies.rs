//! Options of the main job that write the capture once more.

use crate::command::options::help::OUTPUT;
use clap::error::ErrorKind;
use clap::{Args, ValueHint};
use rekeyscope::write::inner::InnerLayers;
use std::path::PathBuf;

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
    /// An index of several captures has no place for copies of each.
    pub(super) fn want_no_index(&self) -> Result<(), clap::Error> {
        if self.write_inner.is_some() || self.annotate.is_some() {
            return Err(clap::Error::raw(
                ErrorKind::ArgumentConflict,
                "--write-inner and --annotate belong to one capture: give one capture at a time, and --html a file",
            ));
        }
        Ok(())
    }

    /// A copy is one of a file.
    pub(super) fn want_one_file(&self) -> Result<(), clap::Error> {
        if self.write_inner.is_some() || self.annotate.is_some() {
            return Err(clap::Error::raw(
                ErrorKind::ArgumentConflict,
                "--write-inner and --annotate copy one file: join the pieces first, with mergecap -a -w FILE PIECE…",
            ));
        }
        Ok(())
    }

    /// Keys go into a capture that is written, and into no other place.
    pub(super) fn want_a_place_for_keys(&self) -> Result<(), clap::Error> {
        if self.embed_keys && self.annotate.is_none() {
            return Err(clap::Error::raw(
                ErrorKind::MissingRequiredArgument,
                "--embed-keys puts the keys into the capture that --annotate writes: give --annotate FILE as well",
            ));
        }
        Ok(())
    }

    pub(crate) fn layers(&self) -> InnerLayers {
        if self.keep_l2tp {
            InnerLayers::Keep
        } else {
            InnerLayers::Strip
        }
    }
}

fn file(text: &str) -> Result<PathBuf, String> {
    if text == "-" {
        Err("expected a file: the report goes to standard output".into())
    } else {
        Ok(text.into())
    }
}
