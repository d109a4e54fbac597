//! Bytes → lines, with a bound on a line's length. LF and CRLF end a line; of a line that a terminal overwrote
//! (`pager\r    \rtext`) the last stretch counts. A UTF-16 file with a byte order mark (what a Windows console's `>`
//! writes) is narrowed to bytes.

use crate::material::bounds::LONGEST_LINE;
use memchr::{memchr, memrchr};
use std::io::Read;

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;

/// A line without its end.
pub(crate) struct RawLine<'a> {
    /// 1-based.
    pub(crate) number: u64,
    /// At most [`LONGEST_LINE`] bytes.
    pub(crate) bytes: &'a [u8],
    /// The line was longer and the rest is left out.
    pub(crate) cut: bool,
}

/// Calls `each` for every line.
pub(crate) fn for_each(mut reader: impl Read, each: &mut dyn FnMut(RawLine<'_>)) -> std::io::Result<()> {
    let mut splitter = Splitter::default();
    let mut encoding = None;
    let mut chunk = vec![0; CHUNK];
    let mut filled = 0;
    loop {
        let read = match reader.read(chunk.get_mut(filled..).unwrap_or_default()) {
            Ok(read) => read,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => {
                splitter.finish(each);
                return Err(e);
            }
        };
        filled += read;
        if read > 0 && filled < 3 && encoding.is_none() {
            continue; // a byte order mark may still be incomplete
        }
        let data = chunk.get(..filled).unwrap_or_default();
        let encoding = *encoding.get_or_insert_with(|| Encoding::of(data));
        let data = if splitter.started {
            data
        } else {
            data.get(encoding.mark_len()..).unwrap_or_default()
        };
        splitter.started = true;
        match encoding {
            Encoding::Bytes { .. } => splitter.push(data, each),
            Encoding::Utf16 { low } => splitter.push_utf16(data, low, each),
        }
        filled = 0;
        if read == 0 {
            splitter.finish(each);
            return Ok(());
        }
    }
}

#[derive(Clone, Copy)]
enum Encoding {
    Bytes { mark: usize },
    Utf16 { low: usize },
}

impl Encoding {
    fn of(start: &[u8]) -> Encoding {
        match start {
            [0xef, 0xbb, 0xbf, ..] => Encoding::Bytes { mark: 3 },
            [0xff, 0xfe, ..] => Encoding::Utf16 { low: 0 },
            [0xfe, 0xff, ..] => Encoding::Utf16 { low: 1 },
            _ => Encoding::Bytes { mark: 0 },
        }
    }

    fn mark_len(self) -> usize {
        match self {
            Encoding::Bytes { mark } => mark,
            Encoding::Utf16 { .. } => 2,
        }
    }
}

#[derive(Default)]
struct Splitter {
    number: u64,
    /// Start of a line whose end has not been read yet.
    pending: Vec<u8>,
    cut: bool,
    started: bool,
    /// UTF-16: bytes seen so far, and the half of a unit.
    utf16_bytes: usize,
    utf16_half: u8,
}

impl Splitter {
    fn push(&mut self, mut data: &[u8], each: &mut dyn FnMut(RawLine<'_>)) {
        while let Some(end) = memchr(b'\n', data) {
            let (line, rest) = data.split_at(end);
            if self.pending.is_empty() {
                self.emit(line, false, each);
            } else {
                self.hold(line);
                self.emit_pending(each);
            }
            data = rest.get(1..).unwrap_or_default();
        }
        self.hold(data);
    }

    fn push_utf16(&mut self, data: &[u8], low: usize, each: &mut dyn FnMut(RawLine<'_>)) {
        let mut narrow = Vec::with_capacity(data.len() / 2 + 1);
        for &byte in data {
            if self.utf16_bytes % 2 == 1 {
                let (low, high) = if low == 0 {
                    (self.utf16_half, byte)
                } else {
                    (byte, self.utf16_half)
                };
                narrow.push(if high == 0 { low } else { b'?' });
            }
            self.utf16_half = byte;
            self.utf16_bytes = self.utf16_bytes.wrapping_add(1);
        }
        self.push(&narrow, each);
    }

    fn hold(&mut self, part: &[u8]) {
        let room = LONGEST_LINE - self.pending.len().min(LONGEST_LINE);
        self.cut |= part.len() > room;
        self.pending.extend_from_slice(part.get(..room).unwrap_or(part));
    }

    fn emit_pending(&mut self, each: &mut dyn FnMut(RawLine<'_>)) {
        let line = std::mem::take(&mut self.pending);
        let cut = std::mem::take(&mut self.cut);
        self.emit(&line, cut, each);
        self.pending = line;
        self.pending.clear();
    }

    fn emit(&mut self, line: &[u8], cut: bool, each: &mut dyn FnMut(RawLine<'_>)) {
        self.number += 1;
        let within = line.get(..LONGEST_LINE).unwrap_or(line);
        let cut = cut || within.len() < line.len();
        each(RawLine {
            number: self.number,
            bytes: visible(within),
            cut,
        });
    }

    fn finish(&mut self, each: &mut dyn FnMut(RawLine<'_>)) {
        if !self.pending.is_empty() {
            self.emit_pending(each);
        }
    }
}

/// What a terminal shows of a line: carriage returns go back to its start.
fn visible(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii_end();
    match memrchr(b'\r', line) {
        Some(at) => line.get(at + 1..).unwrap_or_default(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(data: &[u8]) -> Vec<(u64, Vec<u8>, bool)> {
        let mut out = Vec::new();
        for_each(data, &mut |l| out.push((l.number, l.bytes.to_vec(), l.cut))).unwrap();
        out
    }

    #[test]
    fn ends_of_lines() {
        let got = lines(b"\xef\xbb\xbfa\r\n\nb  \n---\r   \rc\nlast");
        let texts: Vec<_> = got.iter().map(|l| l.1.as_slice()).collect();
        assert_eq!(texts, [&b"a"[..], b"", b"b", b"c", b"last"]);
        assert_eq!(got[4].0, 5);
    }

    #[test]
    fn utf16_of_both_byte_orders() {
        assert_eq!(lines(b"\xff\xfea\0\r\0\n\0b\0")[1].1, b"b");
        assert_eq!(lines(b"\xfe\xff\0a\0\n\x30\x01")[1].1, b"?");
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_is_whole() {
        let mut data = vec![b'x'; 3 * CHUNK];
        data.extend_from_slice(b"\nnext\n");
        let got = lines(&data);
        assert_eq!((got[0].1.len(), got[0].2), (LONGEST_LINE, true));
        assert_eq!((got[1].1.as_slice(), got[1].2), (&b"next"[..], false));
    }
}
