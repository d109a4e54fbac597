//! Options of the main job that write the capture once more.

use crate::command::options::help::OUTPUT;
use crate::command::options::refusal::refuse_if;
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
