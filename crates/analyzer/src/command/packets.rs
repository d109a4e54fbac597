//! The packets of a capture in one file, in a stream, or in many files.

use crate::command::digest::HashedStream;
use crate::command::options::{Input, holds_keys};
use rekeyscope_capture::file::{CaptureInfo, CaptureReader, EspSecrets, Frame};
use rekeyscope_capture::join::{CapturePiece, JoinedReader};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::error::Error;

/// Sources of packets.
// There is one of it.
#[allow(clippy::large_enum_variant)]
pub(crate) enum PacketSource {
    One(CaptureReader),
    Many(JoinedReader),
}

/// A text in the place of the capture may be a key log.
fn or_keys(error: Error) -> Error {
    match error {
        Error::NotACapture { path, .. } if holds_keys(&path) => Error::KeysAsCapture { path },
        other => other,
    }
}

impl PacketSource {
    pub(crate) fn open(input: &Input, hashed: Option<HashedStream>) -> Result<PacketSource, Error> {
        Ok(if let Some(stream) = hashed {
            let name = input.capture.to_string_lossy();
            PacketSource::One(CaptureReader::from_stream(Box::new(stream), &name)?)
        } else if !input.pieces.is_empty() {
            PacketSource::Many(JoinedReader::open(&input.capture, &input.pieces)?)
        } else if input.reads_stdin() {
            PacketSource::One(CaptureReader::from_stream(Box::new(std::io::stdin()), "-")?)
        } else {
            PacketSource::One(CaptureReader::open(&input.capture).map_err(or_keys)?)
        })
    }

    /// Another thread reads ahead of what is taken.
    pub(crate) fn read_ahead(&mut self) {
        if let PacketSource::One(reader) = self {
            reader.read_ahead();
        }
    }

    pub(crate) fn look_ahead(&mut self, diagnostics: &mut Diagnostics) -> Result<(), Error> {
        match self {
            PacketSource::One(reader) => reader.look_ahead(diagnostics),
            PacketSource::Many(reader) => {
                reader.look_ahead(diagnostics);
                Ok(())
            }
        }
    }

    #[inline]
    pub(crate) fn next_frame(&mut self, diagnostics: &mut Diagnostics) -> Result<Option<Frame<'_>>, Error> {
        match self {
            PacketSource::One(reader) => reader.next_frame(diagnostics),
            PacketSource::Many(reader) => Ok(reader.next_frame(diagnostics)),
        }
    }

    #[inline]
    pub(crate) fn has_secrets(&self) -> bool {
        match self {
            PacketSource::One(reader) => reader.has_secrets(),
            PacketSource::Many(reader) => reader.has_secrets(),
        }
    }

    pub(crate) fn take_secrets(&mut self) -> Vec<EspSecrets> {
        match self {
            PacketSource::One(reader) => reader.take_secrets(),
            PacketSource::Many(reader) => reader.take_secrets(),
        }
    }

    pub(crate) fn info(&self) -> &CaptureInfo {
        match self {
            PacketSource::One(reader) => reader.info(),
            PacketSource::Many(reader) => reader.info(),
        }
    }

    pub(crate) fn position(&self) -> u64 {
        match self {
            PacketSource::One(reader) => reader.position(),
            PacketSource::Many(reader) => reader.position(),
        }
    }

    /// The files of a joined capture; none of a single one.
    pub(crate) fn pieces(&self) -> &[CapturePiece] {
        match self {
            PacketSource::One(_) => &[],
            PacketSource::Many(reader) => reader.pieces(),
        }
    }
}
