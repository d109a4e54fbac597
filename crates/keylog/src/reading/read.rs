//! Reads key files: every line goes to the first format that takes it.

use crate::formats::table::FORMATS;
use crate::lines::order;
use crate::material::contents::{KeyFileInfo, KeyMaterial};
use crate::material::sink::Sink;
use crate::reading::unpack::Unpacked;
use rekeyscope_model::error::Error;
use std::io::Read;
use std::path::Path;

impl KeyMaterial {
    /// Reads one more file; its formats, its compression (gzip, zstd) and how it writes its characters are recognised by content. Streams: memory does not grow with the file beyond
    /// the stated bounds.
    ///
    /// # Errors
    /// [`Error::KeyFile`] when the file cannot be read. A malformed row is a [`KeyProblem`](crate::material::contents::KeyProblem), not an error.
    pub fn read(&mut self, path: &Path) -> Result<(), Error> {
        let failed = |source| Error::KeyFile {
            path: path.to_owned(),
            source,
        };
        let file = std::fs::File::open(path).map_err(failed)?;
        let mut text = Unpacked::new(file).map_err(failed)?;
        if is_capture(text.head()) {
            let other =
                std::io::Error::other("it is a capture, and holds no keys; name the captures without --keys");
            return Err(failed(other));
        }
        self.read_text(path, &mut text).map_err(failed)
    }

    /// As [`KeyMaterial::read`] for bytes in memory.
    pub fn read_bytes(&mut self, path: &Path, bytes: &[u8]) {
        // Reading from memory cannot fail.
        let _ = self.read_from(path, bytes);
    }

    /// As [`KeyMaterial::read_bytes`] for the keys inside `capture`, of its Decryption Secrets Block number `block`.
    pub fn read_block(&mut self, capture: &Path, block: u64, bytes: &[u8]) {
        self.read_bytes(capture, bytes);
        if let Some(info) = self.files.last_mut() {
            info.block = Some(block);
        }
    }

    /// As [`KeyMaterial::read`] for an open stream; `path` only names it.
    ///
    /// # Errors
    /// The reader's. What was read before stays.
    pub fn read_from(&mut self, path: &Path, reader: impl Read) -> std::io::Result<()> {
        self.read_text(path, &mut Unpacked::new(reader)?)
    }

    fn read_text(&mut self, path: &Path, text: &mut Unpacked<'_>) -> std::io::Result<()> {
        let mut formats = FORMATS.map(|row| (row.name, (row.reader)(), false));
        self.files.push(KeyFileInfo {
            path: path.to_owned(),
            block: None,
            formats: Vec::new(),
        });
        let mut sink = Sink::new(self);
        let result = order::for_each_line(&mut *text, &mut sink, &mut |line, sink| {
            for (_, format, seen) in &mut formats {
                if format.line(line, sink) {
                    *seen = true;
                    break;
                }
            }
        });
        for (_, format, _) in &mut formats {
            format.finish(&mut sink);
        }
        if let Some(sentence) = text.trouble() {
            sink.saw_text();
            sink.problem(1, sentence);
        }
        let names = formats
            .iter()
            .filter(|(_, _, seen)| *seen)
            .map(|(name, format, _)| format.special_name().unwrap_or(name))
            .collect();
        sink.finish(names);
        result
    }
}

/// Whether a file begins as a pcap file (either byte order, micro- or nanoseconds) or a pcapng file does.
fn is_capture(head: &[u8]) -> bool {
    const MAGIC: [u32; 5] = [0xa1b2_c3d4, 0xd4c3_b2a1, 0xa1b2_3c4d, 0x4d3c_b2a1, 0x0a0d_0d0a];
    let head = head.first_chunk().map(|head| u32::from_be_bytes(*head));
    head.is_some_and(|head| MAGIC.contains(&head))
}
