//! Bytes → lines, with a bound on a line's length. LF, CRLF and CR alone end a line; what a terminal overwrote (`pager\r    \rtext`)
//! is a line too. NUL bytes are blanks. Wide characters are narrowed to bytes.

use crate::lines::encoding::{Encoding, Narrower, SAMPLE};
use crate::lines::wiped;
use crate::material::bounds::LONGEST_LINE;
use memchr::{memchr, memchr2};
use std::io::{ErrorKind, Read};
use zeroize::Zeroizing;

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// Byte order mark of UTF-8, also where files were joined.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A line without its end.
pub(crate) struct RawLine<'a> {
    /// 1-based. In a file with LF a CR alone does not count.
    pub(crate) number: u64,
    /// At most [`LONGEST_LINE`] bytes.
    pub(crate) bytes: &'a [u8],
    /// The line was longer and the rest is left out.
    pub(crate) cut: bool,
}

/// Calls `each` for every line.
pub(crate) fn for_each(mut reader: impl Read, each: &mut dyn FnMut(RawLine<'_>)) -> std::io::Result<()> {
    let mut splitter = Splitter::default();
    let mut chunk = Zeroizing::new(vec![0; CHUNK]);
    let (mut filled, mut result) = fill(&mut reader, &mut chunk, SAMPLE);
    let encoding = Encoding::of(chunk.get(..filled.min(SAMPLE)).unwrap_or_default());
    let mut narrower = Narrower::default();
    // What is narrow is never longer: it does not move, and so leaves nothing behind.
    let mut narrow = Zeroizing::new(Vec::with_capacity(if encoding == Encoding::Bytes {
        0
    } else {
        CHUNK
    }));
    while filled > 0 {
        let data = chunk.get_mut(..filled).unwrap_or_default();
        let data = match encoding {
            Encoding::Bytes => data,
            Encoding::Wide { len, low } => {
                narrow.clear();
                narrower.push(data, (len, low), &mut narrow);
                narrow.as_mut_slice()
            }
        };
        blank_nul(data);
        splitter.push(data, each);
        if result.is_err() {
            break;
        }
        (filled, result) = fill(&mut reader, &mut chunk, 1);
    }
    splitter.finish(each);
    result
}

/// Reads until at least `least` bytes are there, or the end.
fn fill(reader: &mut impl Read, chunk: &mut [u8], least: usize) -> (usize, std::io::Result<()>) {
    let mut filled = 0;
    while filled < least {
        match reader.read(chunk.get_mut(filled..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return (filled, Err(e)),
        }
    }
    (filled, Ok(()))
}

fn blank_nul(mut data: &mut [u8]) {
    while let Some(at) = memchr(0, data) {
        let (nuls, rest) = data.split_at_mut(at + 1);
        nuls.last_mut().into_iter().for_each(|b| *b = b' ');
        data = rest;
    }
}

#[derive(Default)]
struct Splitter {
    number: u64,
    /// Start of a line whose end has not been read yet.
    pending: Zeroizing<Vec<u8>>,
    cut: bool,
    /// The last byte was a CR: a LF that follows belongs to it.
    after_cr: bool,
    /// A LF was seen: it counts the lines.
    has_lf: bool,
}

impl Splitter {
    fn push(&mut self, mut data: &[u8], each: &mut dyn FnMut(RawLine<'_>)) {
        if self.after_cr && !data.is_empty() {
            self.after_cr = false;
            if let Some(rest) = data.strip_prefix(b"\n") {
                self.line_end(b"", b'\n', each);
                data = rest;
            } else {
                self.line_end(b"", b'\r', each);
            }
        }
        while let Some(end) = memchr2(b'\n', b'\r', data) {
            let (line, rest) = data.split_at(end);
            match rest {
                [b'\r', b'\n', rest @ ..] => {
                    self.line_end(line, b'\n', each);
                    data = rest;
                }
                [b'\r'] => {
                    self.hold(line);
                    self.after_cr = true;
                    return;
                }
                [by, rest @ ..] => {
                    self.line_end(line, *by, each);
                    data = rest;
                }
                [] => return,
            }
        }
        self.hold(data);
    }

    /// `line` and what was held before it is a whole line.
    fn line_end(&mut self, line: &[u8], by: u8, each: &mut dyn FnMut(RawLine<'_>)) {
        if self.pending.is_empty() && !self.cut {
            self.emit(line, false, each);
        } else {
            self.hold(line);
            self.emit_pending(each);
        }
        self.has_lf |= by == b'\n';
        self.number += u64::from(by == b'\n' || !self.has_lf);
    }

    fn hold(&mut self, part: &[u8]) {
        let room = LONGEST_LINE - self.pending.len().min(LONGEST_LINE);
        self.cut |= part.len() > room;
        wiped::append(&mut self.pending, part.get(..room).unwrap_or(part));
    }

    fn emit_pending(&mut self, each: &mut dyn FnMut(RawLine<'_>)) {
        let line = std::mem::take(&mut self.pending);
        let cut = std::mem::take(&mut self.cut);
        self.emit(&line, cut, each);
        self.pending = line;
        self.pending.clear();
    }

    fn emit(&mut self, line: &[u8], cut: bool, each: &mut dyn FnMut(RawLine<'_>)) {
        let within = line.get(..LONGEST_LINE).unwrap_or(line);
        let cut = cut || within.len() < line.len();
        each(RawLine {
            number: self.number + 1,
            bytes: within.strip_prefix(MARK).unwrap_or(within).trim_ascii_end(),
            cut,
        });
    }

    fn finish(&mut self, each: &mut dyn FnMut(RawLine<'_>)) {
        if !self.pending.is_empty() {
            self.emit_pending(each);
        }
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
        assert_eq!(texts, [&b"a"[..], b"", b"b", b"---", b"", b"c", b"last"]);
        assert_eq!(got.iter().map(|l| l.0).collect::<Vec<_>>(), [1, 2, 3, 4, 4, 4, 5]);
    }

    #[test]
    fn carriage_returns_alone_end_lines_and_count_them() {
        let got = lines(b"a\rb\r\rc\r");
        let texts: Vec<_> = got.iter().map(|l| (l.0, l.1.as_slice())).collect();
        assert_eq!(texts, [(1, &b"a"[..]), (2, b"b"), (3, b""), (4, b"c")]);
    }

    #[test]
    fn nul_bytes_are_blanks() {
        let texts: Vec<_> = lines(b"key: 00\0ff\0\n\0\0b\0\n")
            .into_iter()
            .map(|l| l.1)
            .collect();
        assert_eq!(texts, [&b"key: 00 ff"[..], b"  b"]);
    }

    #[test]
    fn utf16_of_both_byte_orders() {
        assert_eq!(lines(b"\xff\xfea\0\r\0\n\0b\0")[1].1, b"b");
        assert_eq!(lines(b"\xfe\xff\0a\0\n\x30\x01")[1].1, b"?");
        assert_eq!(lines(b"a\0\r\0\n\0b\0")[1].1, b"b");
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
