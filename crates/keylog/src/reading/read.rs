//! Reads key files: every line goes to the first format that takes it.

use crate::formats::format::KeyFormat;
use crate::formats::keyless::KeylessText;
use crate::formats::table::{FORMATS, FormatRow, begins_record, keeps_senders_apart};
use crate::lines::order;
use crate::lines::outer::LogLine;
use crate::material::contents::{KeyFileInfo, KeyMaterial};
use crate::material::sink::{Sink, WHOLE_FILE};
use crate::reading::unpack::{Unpacked, archive};
use rekeyscope_model::error::Error;
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

impl KeyMaterial {
    /// Reads one more file, or the files of a folder: a log that was rotated is one log, the oldest file first. Formats, compression (gzip, zstd) and
    /// how characters are written are recognised by content. Memory does not grow with the file beyond the stated bounds.
    ///
    /// # Errors
    /// [`Error::KeyFile`] when the file cannot be read, [`Error::CaptureAsKeys`] when it is a capture. A malformed row is a [`KeyProblem`](crate::material::contents::KeyProblem), not an error.
    pub fn read(&mut self, path: &Path) -> Result<(), Error> {
        if !path.is_dir() {
            return self.read_file(path, &mut FormatReaders::default(), true);
        }
        for log in rotated(path).map_err(|source| failed(path, source))? {
            let mut readers = FormatReaders::default();
            for (at, file) in log.iter().enumerate() {
                match self.read_file(file, &mut readers, at + 1 == log.len()) {
                    // A capture among the files of a folder is no mistake.
                    Ok(()) | Err(Error::CaptureAsKeys { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Reads a file of a log, perhaps its last one; `readers` go on where its predecessor ended.
    fn read_file(&mut self, path: &Path, readers: &mut FormatReaders, last: bool) -> Result<(), Error> {
        let file = std::fs::File::open(path).map_err(|source| failed(path, source))?;
        let mut text = Unpacked::new(file).map_err(|source| failed(path, source))?;
        if is_capture(&text.head) {
            return Err(Error::CaptureAsKeys { path: path.into() });
        }
        self.read_text(path, &mut text, readers, last)
            .map_err(|source| failed(path, source))
    }

    /// Does as [`KeyMaterial::read`] for bytes in memory.
    pub fn read_bytes(&mut self, path: &Path, bytes: &[u8]) {
        // Reading from memory cannot fail.
        let _ = self.read_from(path, bytes);
    }

    /// Does as [`KeyMaterial::read_bytes`] for the keys inside `capture`, of its Decryption Secrets Block number `block`.
    pub fn read_block(&mut self, capture: &Path, block: u64, bytes: &[u8]) {
        self.read_bytes(capture, bytes);
        if let Some(info) = self.files.last_mut() {
            info.block = Some(block);
        }
    }

    /// Does as [`KeyMaterial::read`] for an open stream; `path` only names it.
    ///
    /// # Errors
    /// The reader's. What was read before stays.
    pub fn read_from(&mut self, path: &Path, reader: impl Read) -> std::io::Result<()> {
        self.read_text(
            path,
            &mut Unpacked::new(reader)?,
            &mut FormatReaders::default(),
            true,
        )
    }

    fn read_text(
        &mut self,
        path: &Path,
        text: &mut Unpacked<'_>,
        readers: &mut FormatReaders,
        last: bool,
    ) -> std::io::Result<()> {
        self.files.push(KeyFileInfo {
            path: path.to_owned(),
            block: None,
            formats: Vec::new(),
        });
        let mut sink = Sink::new(self);
        if let Some(archive) = archive(&text.head) {
            sink.any_text = true;
            let how = if archive.ends_with("document") {
                "save it as plain text and give that"
            } else {
                "unpack it and give the text in it"
            };
            sink.problem(WHOLE_FILE, format!("this is {archive}: {how}"));
            sink.finish(Vec::new());
            return Ok(());
        }
        let mut keyless = KeylessText::default();
        let result = order::for_each_line(&mut *text, &mut sink, begins_record, &mut |line, sink| {
            keyless.line(line);
            readers.line(line, sink);
        });
        let mut names = readers.end_file(last, &mut sink);
        if keyless.finish(&mut sink) {
            names.clear();
        }
        readers.found |= sink.found;
        if readers.found || !last {
            // The log has its keys in another file.
            (sink.any_text, sink.found) = (true, true);
        }
        if let Some(sentence) = text.trouble.take() {
            sink.any_text = true;
            sink.problem(WHOLE_FILE, sentence);
        }
        sink.finish(names);
        result
    }
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    let path = path.to_owned();
    Error::KeyFile { path, source }
}

/// Most senders of one file with readers of their own; further ones share the first's.
const MOST_SENDERS: usize = 64;

/// The readers of one log, by sender.
#[derive(Default)]
struct FormatReaders {
    of_sender: Vec<(u64, Vec<FormatReader>)>,
    /// The sender of each source's last line, and whether there is a log without a sender.
    last: HashMap<u64, (u64, bool)>,
    /// Something was found in the log.
    found: bool,
    /// The message of the last line, and its source.
    message: (Zeroizing<Vec<u8>>, u64),
}

struct FormatReader {
    name: &'static str,
    format: Box<dyn KeyFormat>,
    seen: bool,
}

impl FormatReaders {
    /// Hands a line to the first format that takes it.
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) {
        let bare = line.sender == line.about.source && line.framed_at == 0;
        let (message, source) = &mut self.message;
        if bare && !line.text.is_empty() && line.text == message.as_slice() && *source == line.about.source {
            return; // the same line by a second logger
        }
        message.clear();
        message.extend_from_slice(line.text);
        *source = line.about.source;
        let (last, nameless) = self.last.entry(line.about.source).or_insert((line.sender, false));
        *nameless |= line.sender == line.about.source && !bare;
        // A line without anything before it is of the sender before, unless a log without a sender is in the file.
        if !bare || *nameless {
            *last = line.sender;
        }
        let sender = *last;
        let mine = self.index(sender);
        for at in 0..FORMATS.len() {
            let apart = FORMATS.get(at).is_some_and(|(name, _)| keeps_senders_apart(name));
            let readers = self.of_sender.get_mut(if apart { 0 } else { mine });
            if let Some(reader) = readers.and_then(|(_, readers)| readers.get_mut(at))
                && reader.format.line(line, sink)
            {
                reader.seen = true;
                break;
            }
        }
    }

    fn index(&mut self, sender: u64) -> usize {
        if let Some(at) = self.of_sender.iter().position(|(known, _)| *known == sender) {
            return at;
        }
        if self.of_sender.len() >= MOST_SENDERS {
            return 0;
        }
        let reader = |(name, new): &FormatRow| FormatReader {
            name,
            format: new(),
            seen: false,
        };
        self.of_sender
            .push((sender, FORMATS.iter().map(reader).collect()));
        self.of_sender.len() - 1
    }

    /// A file ends, perhaps the last of its log. The names of the formats that were in it.
    fn end_file(&mut self, last: bool, sink: &mut Sink<'_>) -> Vec<&'static str> {
        let mut names = Vec::new();
        for at in 0..FORMATS.len() {
            for (_, readers) in &mut self.of_sender {
                let Some(reader) = readers.get_mut(at) else {
                    continue;
                };
                if last {
                    reader.format.finish(sink);
                }
                let name = reader.format.special_name().unwrap_or(reader.name);
                if std::mem::take(&mut reader.seen) && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}

/// The logs of a folder, each with its files, the oldest first: `charon.log.2.gz`, `charon.log.1`, `charon.log`.
fn rotated(folder: &Path) -> std::io::Result<Vec<Vec<PathBuf>>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.path().is_file() {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let ending = [".gz", ".zst"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending));
        let name = ending.unwrap_or(&name);
        let numbered = name.rsplit_once(['.', '-']);
        let numbered = numbered.and_then(|(log, turn)| Some((log, turn.parse::<u32>().ok()?)));
        let (log, turn) = match numbered {
            // `charon.log-20261120` has its day, which rises.
            Some((log, day)) if day >= FIRST_DAY => (log, LAST_DAY - day.min(LAST_DAY - 1)),
            Some((log, turn)) => (log, turn.saturating_add(1)),
            None => (name, 0),
        };
        files.push((log.to_owned(), std::cmp::Reverse(turn), entry.path()));
    }
    files.sort();
    let logs = files.chunk_by(|(one, ..), (other, ..)| one == other);
    Ok(logs
        .map(|files| files.iter().map(|(.., path)| path.clone()).collect())
        .collect())
}

/// The days that logrotate's `dateext` writes.
const FIRST_DAY: u32 = 19_700_101;
const LAST_DAY: u32 = 99_991_231;

/// Tells whether a file begins as a pcap file (either byte order, micro- or nanoseconds) or a pcapng file does.
fn is_capture(head: &[u8]) -> bool {
    const MAGIC: [u32; 5] = [0xa1b2_c3d4, 0xd4c3_b2a1, 0xa1b2_3c4d, 0x4d3c_b2a1, 0x0a0d_0d0a];
    let head = head.first_chunk().map(|head| u32::from_be_bytes(*head));
    head.is_some_and(|head| MAGIC.contains(&head))
}
