//! `--write-inner` and `--annotate`: the capture once more, in a second reading.

use crate::command::options::{CopyArguments, Input};
use crate::command::output::Reserved;
use crate::command::replace::Replacement;
use rekeyscope::pipeline::Options;
use rekeyscope::write::export::embedded;
use rekeyscope::write::key_ring::KeyRing;
use rekeyscope::write::{annotate, inner};
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::error::Error;
use std::path::PathBuf;

/// Places made sure of before the work starts.
pub(crate) struct Copies {
    inner: Option<(PathBuf, Reserved)>,
    annotated: Option<(PathBuf, Reserved)>,
    keep_l2tp: bool,
    embed_keys: bool,
}

impl Copies {
    pub(crate) fn reserve(
        input: &Input,
        arguments: &CopyArguments,
        replacement: &Replacement,
    ) -> anyhow::Result<Self> {
        if arguments.write_inner.is_some() || arguments.annotate.is_some() {
            must_be_read_twice(input)?;
        }
        let reserve = |path: &PathBuf, secret: bool| {
            let place = match secret {
                true => Reserved::secret(path, replacement),
                false => Reserved::new(path, replacement),
            };
            place.map(|place| (path.clone(), place))
        };
        // The packets were protected on the wire, and are nobody else's business here.
        let inner = arguments.write_inner.as_ref().map(|path| reserve(path, true));
        let annotated = arguments.annotate.as_ref();
        let annotated = annotated.map(|path| reserve(path, arguments.embed_keys));
        Ok(Copies {
            inner: inner.transpose()?,
            annotated: annotated.transpose()?,
            keep_l2tp: arguments.keep_l2tp,
            embed_keys: arguments.embed_keys,
        })
    }

    /// Reads the capture again and writes. Says what was written.
    pub(crate) fn write(
        self,
        input: &Input,
        analysis: &Analysis,
        ring: &KeyRing,
        options: &Options,
    ) -> Result<Vec<String>, Error> {
        let mut told = Vec::new();
        if let Some((path, place)) = self.inner {
            let reader = CaptureReader::open(&input.capture)?;
            let made = place.fill(|file| inner::write(reader, ring, options, self.keep_l2tp, file, &path))?;
            told.push(format!(
                "wrote {} decrypted packets to {}; {} ESP packets stay closed, {} hold no packet",
                made.packets,
                path.display(),
                made.sealed,
                made.without_packet
            ));
        }
        if let Some((path, place)) = self.annotated {
            let reader = CaptureReader::open(&input.capture)?;
            let keys = self.embed_keys.then(|| embedded::esp_sa(ring));
            let rows = keys.as_ref().filter(|k| k.rows > 0).map(|k| k.text.clone());
            let commented = place.fill(|file| annotate::write(reader, analysis, rows, file, &path))?;
            told.push(format!(
                "wrote {} with comments on {commented} packets",
                path.display()
            ));
            if let Some(keys) = keys {
                told.push(match keys.rows {
                    0 => format!("no key is verified: {} holds none", path.display()),
                    n => format!(
                        "{} holds the keys of {n} SAs: whoever has this file can read their traffic",
                        path.display()
                    ),
                });
                told.extend(keys.notes);
            }
        }
        Ok(told)
    }
}

/// A pipe gives its bytes only once.
fn must_be_read_twice(input: &Input) -> anyhow::Result<()> {
    let is_pipe = std::fs::metadata(&input.capture).is_ok_and(|m| !m.is_file());
    if !input.reads_stdin() && !is_pipe {
        return Ok(());
    }
    anyhow::bail!(
        "--write-inner and --annotate read the capture twice (what a rekey cost and which keys fit is known at its end \
         only), and a pipe can be read once: save it to a file first"
    )
}
