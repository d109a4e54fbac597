//! Sources of bytes: a file, a pipe, or either of them in gzip (RFC 1952), zstd (RFC 8878) or LZ4 frames. The
//! compression is recognised by its magic, never by a file name.

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Compressed bytes asked for at once.
const STORED_READ: usize = 256 * 1024;
/// Most decompressed bytes asked for at once: what a decoder has made in the call in which it meets damage is lost.
const DECODED_READ: usize = 64 * 1024;
/// zstd frames that ask for a larger window (2^27 bytes) are refused: memory stays bounded.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Packed data is at most this much longer than what it holds, and so many bytes: compression never adds more than a few
/// per cent, but a block of LZ4 (4 MiB, of the old format 8 MiB) is read whole before a byte comes of it, and up to
/// [`STORED_READ`] behind it. Millions of empty members would be walked over for nothing.
const MOST_OVERHEAD: u64 = 2;
/// See [`MOST_OVERHEAD`].
const MOST_EMPTY: u64 = 9 * 1024 * 1024;
/// Gzip alone has this bound, as its bytes come out as they come in: a member without any takes 3 µs for its 20 bytes.
const MOST_EMPTY_GZIP: u64 = 1024 * 1024;

/// Compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstd,
    Lz4,
}

impl Compression {
    fn by_magic(head: &[u8]) -> Option<Compression> {
        match head {
            [0x1f, 0x8b, 0x08, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] => Some(Compression::Zstd),
            // A skippable frame (RFC 8878 §3.1.2): pzstd begins its files with one.
            [low, 0x2a, 0x4d, 0x18] if low & 0xf0 == 0x50 => Some(Compression::Zstd),
            [0x04, 0x22, 0x4d, 0x18] | LZ4_LEGACY_MAGIC => Some(Compression::Lz4),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Lz4 => "LZ4",
        }
    }
}

/// The frame format of `lz4 -l`: it has no end mark.
const LZ4_LEGACY_MAGIC: &[u8] = &[0x02, 0x21, 0x4c, 0x18];

#[derive(Debug)]
pub(super) enum SourceRead {
    /// At least one byte came, this many in all.
    Bytes(usize),
    /// The end.
    End,
    /// The compressed data cannot be unpacked any further, and why.
    Broken(String),
}

/// The stored stream, with a count of what was taken from it and a note whether it failed: that tells an error of the
/// system from one of the decoder, which come by the same way.
struct StoredStream {
    head: Cursor<Vec<u8>>,
    stream: Box<dyn Read + Send>,
    state: Arc<StoredState>,
    /// See [`MOST_EMPTY`].
    most_empty: u64,
}

#[derive(Debug, Default)]
pub(super) struct StoredState {
    taken: AtomicU64,
    /// Bytes that were made of them.
    made: AtomicU64,
    failed: AtomicBool,
}

impl StoredState {
    /// Bytes taken from the stored stream.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Read for StoredStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (taken, made) = (&self.state.taken, &self.state.made);
        let most = MOST_OVERHEAD
            .saturating_mul(made.load(Ordering::Relaxed))
            .saturating_add(self.most_empty);
        if taken.load(Ordering::Relaxed) > most {
            return Err(io::Error::other("it holds hardly anything"));
        }
        let from_head = self.head.read(into)?;
        let n = if from_head > 0 {
            from_head
        } else {
            self.read_stream(into)?
        };
        self.state.taken.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl StoredStream {
    /// Repeats what a signal interrupted: a decoder that sees such an error forgets the bytes it already took.
    fn read_stream(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(into) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.state.failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
                Ok(n) => return Ok(n),
            }
        }
    }
}

/// The capture's bytes, unpacked.
pub(super) struct ByteSource {
    reader: Box<dyn Read + Send>,
    /// State of the stored file, kept up to date by whoever reads on: bytes read, and damage.
    pub(super) state: Arc<StoredState>,
    pub(super) compression: Option<Compression>,
}

impl ByteSource {
    /// Looks at the first four bytes and chooses a decoder.
    pub(super) fn new(mut stream: Box<dyn Read + Send>) -> io::Result<ByteSource> {
        let mut head = Vec::with_capacity(4);
        stream.by_ref().take(4).read_to_end(&mut head)?;
        let compression = Compression::by_magic(&head);
        let legacy_lz4 = head == LZ4_LEGACY_MAGIC;
        let state = Arc::new(StoredState::default());
        let stored = StoredStream {
            head: Cursor::new(head),
            stream,
            state: Arc::clone(&state),
            most_empty: match compression {
                Some(Compression::Gzip) => MOST_EMPTY_GZIP,
                _ => MOST_EMPTY,
            },
        };
        let reader: Box<dyn Read + Send> = match compression {
            None => Box::new(stored),
            Some(packed) => {
                let stored = BufReader::with_capacity(STORED_READ, stored);
                match packed {
                    Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(stored)),
                    Compression::Zstd => {
                        let mut decoder = zstd::stream::read::Decoder::with_buffer(stored)?;
                        decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                        Box::new(decoder)
                    }
                    Compression::Lz4 => Box::new(Lz4Frames::new(stored, legacy_lz4)),
                }
            }
        };
        Ok(ByteSource {
            reader,
            state,
            compression,
        })
    }

    /// Reads once.
    ///
    /// # Errors
    /// Those of the stored stream; what a decoder does not like is [`SourceRead::Broken`].
    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<SourceRead> {
        let most = if self.compression.is_some() {
            DECODED_READ.min(into.len())
        } else {
            into.len()
        };
        let into = into.get_mut(..most).unwrap_or_default();
        match self.reader.read(into) {
            Ok(0) => Ok(SourceRead::End),
            Ok(n) => {
                self.state.made.fetch_add(n as u64, Ordering::Relaxed);
                Ok(SourceRead::Bytes(n))
            }
            Err(error) => self.broken_or_failed(error),
        }
    }

    fn broken_or_failed(&self, error: io::Error) -> io::Result<SourceRead> {
        match self.compression {
            Some(packed) if !self.state.failed.load(Ordering::Relaxed) => {
                let name = packed.name();
                Ok(SourceRead::Broken(if error.kind() == ErrorKind::UnexpectedEof {
                    format!("the {name} data ends before its end mark")
                } else {
                    format!("the {name} data is damaged ({error})")
                }))
            }
            _ => Err(error),
        }
    }
}

/// LZ4 frames one after the other. The crate's decoder answers an end of input inside a frame like the end of the frame;
/// this tells them apart by whether the input ended while it looked for the next block.
struct Lz4Frames<R: BufRead> {
    decoder: lz4_flex::frame::FrameDecoder<EndNoted<R>>,
    between_frames: bool,
    legacy: bool,
}

struct EndNoted<R> {
    inner: R,
    ended: bool,
}

impl<R: Read> Read for EndNoted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.ended |= n == 0 && !into.is_empty();
        Ok(n)
    }
}

impl<R: BufRead> Lz4Frames<R> {
    fn new(inner: R, legacy: bool) -> Self {
        let decoder = lz4_flex::frame::FrameDecoder::new(EndNoted { inner, ended: false });
        Lz4Frames {
            decoder,
            between_frames: false,
            legacy,
        }
    }
}

impl<R: BufRead> Read for Lz4Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.decoder.read(into)?;
            if n > 0 || into.is_empty() {
                self.between_frames = false;
                return Ok(n);
            }
            if self.decoder.get_ref().ended {
                let clean = self.between_frames || self.legacy;
                return if clean {
                    Ok(0)
                } else {
                    Err(ErrorKind::UnexpectedEof.into())
                };
            }
            self.between_frames = true;
        }
    }
}
