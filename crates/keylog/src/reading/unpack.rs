//! Key files in gzip (RFC 1952) or zstd (RFC 8878), known by their magic. What comes out is bounded, and a file that cannot be
//! unpacked any further keeps what came before.

use std::io::{self, BufReader, Cursor, Read};

/// Most bytes that a compressed file may unpack to: five times the largest log that the benchmark reads, and no ring buffer of a
/// router holds a hundredth of it. A few kilobytes can unpack to any amount, which would be read for hours.
pub(super) const MOST_UNPACKED: u64 = 1 << 30;
/// zstd frames that ask for a larger window (2^27 bytes) are refused: memory stays bounded.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;
/// Most unpacked bytes asked for at once: what a decoder has made in the call in which it meets damage is lost.
const UNPACKED_READ: usize = 16 << 10;
/// Bytes that tell a compression, or a capture.
const HEAD: u64 = 4;

/// A key file's text.
pub(super) struct Unpacked<'r> {
    /// The first bytes of the text.
    pub(super) head: Vec<u8>,
    text: Box<dyn Read + 'r>,
    compression: Option<&'static str>,
    most: u64,
    left: u64,
    /// Why a part of the file was not read.
    pub(super) trouble: Option<String>,
}

impl<'r> Unpacked<'r> {
    /// Chooses by the first bytes.
    pub(super) fn new(reader: impl Read + 'r) -> io::Result<Self> {
        Unpacked::bounded(reader, MOST_UNPACKED)
    }

    fn bounded(mut stored: impl Read + 'r, most: u64) -> io::Result<Self> {
        let mut magic = Vec::new();
        stored.by_ref().take(HEAD).read_to_end(&mut magic)?;
        let first = magic.first_chunk().copied();
        let stored = Cursor::new(magic).chain(stored);
        let (compression, text): (_, Box<dyn Read + 'r>) = match first {
            Some([0x1f, 0x8b, 0x08, _]) => {
                let decoder = flate2::bufread::MultiGzDecoder::new(BufReader::new(stored));
                (Some("gzip"), Box::new(decoder))
            }
            // The second is a skippable frame (RFC 8878 §3.1.2): pzstd begins its files with one.
            Some([0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18]) => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(BufReader::new(stored))?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                (Some("zstd"), Box::new(decoder))
            }
            _ => (None, Box::new(stored)),
        };
        let mut unpacked = Unpacked {
            head: Vec::new(),
            text,
            compression,
            most,
            left: most,
            trouble: None,
        };
        let mut head = Vec::new();
        unpacked.by_ref().take(HEAD).read_to_end(&mut head)?;
        unpacked.head = head;
        Ok(unpacked)
    }

    fn unpack(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(compression) = self.compression else {
            return self.text.read(into);
        };
        if self.trouble.is_some() {
            return Ok(0);
        }
        let room = into.len().min(UNPACKED_READ);
        match self.text.read(into.get_mut(..room).unwrap_or_default()) {
            Ok(read) if read as u64 > self.left => {
                self.trouble = Some(format!(
                    "the {compression} data unpacks to more than {} bytes: the rest was not read; cut the log down to \
                     the time of the capture",
                    self.most
                ));
                Ok(usize::try_from(std::mem::take(&mut self.left)).unwrap_or(0))
            }
            Ok(read) => {
                self.left -= read as u64;
                Ok(read)
            }
            // The system could not read the stored bytes: no fault of the compression.
            Err(error) if error.raw_os_error().is_some() => Err(error),
            Err(_) => {
                self.trouble = Some(format!(
                    "the {compression} data is cut or damaged: what stands before that place was read; copy the file again"
                ));
                Ok(0)
            }
        }
    }
}

/// The kind of a file by its first bytes, where another program has to unpack it.
pub(super) fn archive(head: &[u8]) -> Option<&'static str> {
    Some(match head {
        [b'P', b'K', 3, 4] => "a zip file",
        [0xfd, b'7', b'z', b'X'] => "an xz file",
        [b'B', b'Z', b'h', _] => "a bzip2 file",
        [b'7', b'z', 0xbc, 0xaf] => "a 7z file",
        [b'R', b'a', b'r', b'!'] => "a rar file",
        [0x04, 0x22, 0x4d, 0x18] => "an lz4 file",
        [b'%', b'P', b'D', b'F'] => "a PDF document",
        [b'{', b'\\', b'r', b't'] => "an RTF document",
        _ => return None,
    })
}

impl Read for Unpacked<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let held = self.head.as_slice().read(into)?;
        self.head.drain(..held);
        if held > 0 { Ok(held) } else { self.unpack(into) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TEXT: &[u8] = b"2026/11/20 20:11:53: [IKE] SPI: c7df968a\n";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(stored: &[u8], most: u64) -> (Vec<u8>, Option<String>) {
        let mut unpacked = Unpacked::bounded(stored, most).unwrap();
        let mut text = Vec::new();
        unpacked.read_to_end(&mut text).unwrap();
        (text, unpacked.trouble)
    }

    #[test]
    fn every_form_gives_the_text() {
        let twice = [gzip(TEXT), gzip(TEXT)].concat();
        let zstd = zstd::encode_all(TEXT, 0).unwrap();
        for (stored, text) in [
            (TEXT.to_vec(), TEXT.to_vec()),
            (gzip(TEXT), TEXT.to_vec()),
            (twice, [TEXT, TEXT].concat()),
            (zstd, TEXT.to_vec()),
            (b"ab".to_vec(), b"ab".to_vec()),
        ] {
            assert_eq!(read(&stored, MOST_UNPACKED), (text, None));
        }
    }

    #[test]
    fn a_bomb_is_a_sentence() {
        let (text, trouble) = read(&gzip(&[b' '; 1_000_000]), 70_000);
        assert_eq!(text.len(), 70_000);
        assert!(trouble.unwrap().contains("more than 70000 bytes"));
        assert_eq!(read(&gzip(TEXT), TEXT.len() as u64), (TEXT.to_vec(), None));
    }

    #[test]
    fn a_cut_file_keeps_what_came_before() {
        let text: Vec<u8> = (0..2_000_u32)
            .flat_map(|n| format!("{n} {}\n", n.wrapping_mul(0x9e37_79b9)).into_bytes())
            .collect();
        let stored = gzip(&text);
        let (got, trouble) = read(&stored[..stored.len() / 2], MOST_UNPACKED);
        assert!(
            got.len() > text.len() / 4 && text.starts_with(&got),
            "{}",
            got.len()
        );
        assert!(trouble.unwrap().contains("cut or damaged"));
    }

    #[test]
    fn errors_of_the_system_stay_errors() {
        struct Fails;
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::from_raw_os_error(5))
            }
        }
        let stored = gzip(TEXT);
        let mut unpacked = Unpacked::new(stored[..20].chain(Fails)).unwrap();
        assert!(unpacked.read_to_end(&mut Vec::new()).is_err());
    }
}
