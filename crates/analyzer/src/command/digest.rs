//! The name of a capture by its content: SHA-256 of its bytes as stored, where it is wanted. `sha256sum` gives the same, of
//! several files `cat PIECE… | sha256sum`: whoever holds the files can say what is analysed already.

use crate::command::options::Input;
use rekeyscope_model::error::Error;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A digest that is made.
pub(crate) enum CaptureDigest {
    /// Digests of files, which are read once more when the analysis is over: they are in the system's cache.
    Files(Vec<PathBuf>),
    /// The stream that the analysis reads.
    Stream(HashedStream),
}

impl CaptureDigest {
    /// Begins, where it is wanted.
    pub(crate) fn begin(input: &Input) -> Result<Option<CaptureDigest>, Error> {
        if !input.wants_digest {
            return Ok(None);
        }
        if input.can_be_read_again() {
            return Ok(Some(CaptureDigest::Files(input.files().cloned().collect())));
        }
        let stream: Box<dyn Read + Send> = if input.reads_stdin() {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(&input.capture).map_err(|source| unread(&input.capture, source))?)
        };
        let hashed = Arc::new(Mutex::new((stream, Sha256::new())));
        Ok(Some(CaptureDigest::Stream(HashedStream(hashed))))
    }

    /// The stream for the analysis to read from, so that it is hashed on the way.
    pub(crate) fn stream(&self) -> Option<HashedStream> {
        match self {
            CaptureDigest::Stream(stream) => Some(stream.clone()),
            CaptureDigest::Files(_) => None,
        }
    }

    /// The digest of everything, also of what the analysis did not read.
    pub(crate) fn finish(self, capture: &Path) -> Result<String, Error> {
        let made = match self {
            CaptureDigest::Files(files) => of_files(&files),
            CaptureDigest::Stream(stream) => stream.finish(),
        };
        made.map_err(|source| unread(capture, source))
    }
}

/// A stream that is hashed as it is read.
#[derive(Clone)]
pub(crate) struct HashedStream(Arc<Mutex<(Box<dyn Read + Send>, Sha256)>>);

impl Read for HashedStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (stream, hash) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let n = stream.read(into)?;
        hash.update(into.get(..n).unwrap_or_default());
        Ok(n)
    }
}

impl HashedStream {
    fn finish(mut self) -> io::Result<String> {
        io::copy(&mut self, &mut io::sink())?;
        let (_, hash) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(hex(hash.clone()))
    }
}

/// A file that cannot be read has no bytes: the analysis says so.
fn of_files(files: &[PathBuf]) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    for mut file in files.iter().filter_map(|file| File::open(file).ok()) {
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                n => hash.update(buffer.get(..n).unwrap_or_default()),
            }
        }
    }
    Ok(hex(hash))
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unread(path: &Path, source: io::Error) -> Error {
    Error::Capture {
        path: path.into(),
        source,
    }
}
