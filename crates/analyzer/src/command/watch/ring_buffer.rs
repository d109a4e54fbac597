//! `watch FOLDER`: the files of a ring buffer (`dumpcap -b`, `tcpdump -C -W`, `-G`) one behind the other, as one stream that does not end.

use rekeyscope_capture::file::is_plain_capture;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Pause between two looks for more packets, or for the next file: a twentieth of the 2 s within which an event is told.
const POLL: Duration = Duration::from_millis(100);

/// Files follow each other in the order in which they were written last. Names do not tell it: `tcpdump -W` begins anew with the first.
type FilePlace = (SystemTime, PathBuf);

/// The stream.
#[derive(Debug)]
pub(super) struct RingBuffer {
    folder: PathBuf,
    current: Option<(PathBuf, File)>,
}

impl RingBuffer {
    pub(super) fn new(folder: &Path) -> Self {
        RingBuffer {
            folder: folder.to_owned(),
            current: None,
        }
    }

    /// The file behind the one that is read.
    fn next(&self) -> Option<PathBuf> {
        let current = self.current.as_ref().and_then(|(path, _)| place(path.clone()));
        let entries = fs::read_dir(&self.folder).ok()?.flatten();
        let own = self.current.as_ref().map(|(path, _)| path);
        let files = entries.map(|entry| entry.path()).filter(|path| Some(path) != own);
        let later = files
            .filter_map(place)
            .filter(|file| current.as_ref().is_none_or(|current| file > current));
        let mut later: Vec<FilePlace> = later.collect();
        later.sort();
        // A file without its header may become a capture, or something else.
        later
            .into_iter()
            .map(|(_, path)| path)
            .find(|path| is_plain_capture(path))
    }

    fn read_current(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.current {
            Some((_, file)) => file.read(into),
            None => Ok(0),
        }
    }
}

fn place(path: PathBuf) -> Option<FilePlace> {
    let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.modified().ok()?, path))
}

impl Read for RingBuffer {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.read_current(into)?;
            if read > 0 {
                return Ok(read);
            }
            let Some(next) = self.next() else {
                std::thread::sleep(POLL);
                continue;
            };
            // The writer has left this file where there is another, and may have written to it since the last read.
            let rest = self.read_current(into)?;
            if rest > 0 {
                return Ok(rest);
            }
            // The next file is gone already where the ring has gone round.
            self.current = File::open(&next).ok().map(|file| (next, file));
        }
    }
}
