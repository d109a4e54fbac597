//! `watch FOLDER`: the files of a ring buffer (`dumpcap -b`, `tcpdump -C -W`, `-G`) one behind the other, as one stream that does not end.

use rekeyscope_capture::file::is_plain_capture;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Between two looks for more packets, or for the next file.
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
        // Without its header nobody knows whether it becomes one of them.
        later
            .into_iter()
            .map(|(_, path)| path)
            .find(|path| is_plain_capture(path))
    }
}

fn place(path: PathBuf) -> Option<FilePlace> {
    let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.modified().ok()?, path))
}

impl Read for RingBuffer {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            // First the next file, then the rest of this one: its writer has left it where there is another.
            let next = self.next();
            if let Some((_, file)) = &mut self.current {
                let read = file.read(into)?;
                if read > 0 {
                    return Ok(read);
                }
            }
            match next {
                // It may be gone already: the ring has gone round.
                Some(path) => self.current = File::open(&path).ok().map(|file| (path, file)),
                None => std::thread::sleep(POLL),
            }
        }
    }
}
