//! Bytes → stretches of text of whole lines, small enough to be looked at as a whole. UTF-16 becomes UTF-8.

use crate::lines::encoding::{SAMPLE, UTF8_MARK, append_utf8, utf16};
use crate::lines::text::{Text, append};
use crate::material::contents::LONGEST_LINE;
use std::io::Read;
use zeroize::Zeroizing;

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// Bytes that are unwrapped as one text: more than any router's log; a larger file is unwrapped piece by piece.
const WHOLE: usize = 8 << 20;

/// Receives a stretch of text, and the number of a line that was too long to be read to its end.
type EachText<'c> = &'c mut dyn FnMut(Text, Option<u64>);

/// Calls `each` for every stretch of the text.
pub(crate) fn for_each(mut reader: impl Read, each: EachText<'_>) -> std::io::Result<()> {
    let mut stretches = TextStretches {
        held: Zeroizing::default(),
        next: 1,
        skipping: false,
        cut: None,
        each,
    };
    let mut chunk = Zeroizing::new(Vec::with_capacity(CHUNK));
    let mut read = reader.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
    let encoding = utf16(chunk.get(..SAMPLE).unwrap_or(&chunk));
    while !chunk.is_empty() {
        match encoding {
            None => stretches.take(&chunk),
            Some(unit_of) => {
                let mut text = Zeroizing::new(Vec::with_capacity(2 * CHUNK));
                append_utf8(&chunk, unit_of, &mut text);
                stretches.take(&text);
            }
        }
        if read.is_err() {
            break;
        }
        chunk.clear();
        read = reader.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
    }
    stretches.end();
    read.map(|_| ())
}

struct TextStretches<'c> {
    held: Zeroizing<Vec<u8>>,
    /// The number of the first line that is held.
    next: u64,
    /// The rest of a line that was too long is left out.
    skipping: bool,
    cut: Option<u64>,
    each: EachText<'c>,
}

impl TextStretches<'_> {
    fn take(&mut self, mut data: &[u8]) {
        if self.skipping {
            let Some(end) = memchr::memchr2(b'\n', b'\r', data) else {
                return;
            };
            self.skipping = false;
            data = data.get(end..).unwrap_or_default();
        }
        append(&mut self.held, data);
        if self.held.len() < WHOLE {
            return;
        }
        // A CR at the very end may be half of a line's end.
        let sure = self.held.get(..self.held.len() - 1).unwrap_or_default();
        match memchr::memrchr(b'\n', sure).or_else(|| memchr::memrchr(b'\r', sure)) {
            Some(end) => self.hand_on(end + 1),
            None => {
                self.skipping = true;
                self.cut = Some(self.next);
                self.hand_on(LONGEST_LINE);
                self.held.clear();
            }
        }
    }

    fn hand_on(&mut self, len: usize) {
        let mut whole = std::mem::take(&mut self.held);
        append(&mut self.held, whole.get(len..).unwrap_or_default());
        whole.truncate(len);
        let text = Text::split(without_marks(whole), self.next);
        self.next = text
            .lines()
            .next_back()
            .map_or(self.next, |last| last.number + u64::from(!self.skipping));
        (self.each)(text, self.cut.take());
    }

    fn end(&mut self) {
        let len = self.held.len();
        self.hand_on(len);
    }
}

/// Files that were joined have marks inside, too.
fn without_marks(bytes: Zeroizing<Vec<u8>>) -> Zeroizing<Vec<u8>> {
    if memchr::memmem::find(&bytes, UTF8_MARK).is_none() {
        return bytes;
    }
    let mut without = Zeroizing::new(Vec::with_capacity(bytes.len()));
    let mut from = 0;
    for at in memchr::memmem::find_iter(&bytes, UTF8_MARK) {
        without.extend_from_slice(bytes.get(from..at).unwrap_or_default());
        from = at + UTF8_MARK.len();
    }
    without.extend_from_slice(bytes.get(from..).unwrap_or_default());
    without
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(data: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut out = Vec::new();
        for_each(data, &mut |text, _| {
            out.extend(text.lines().map(|l| (l.number, l.bytes.to_vec())))
        })
        .unwrap();
        out
    }

    #[test]
    fn ends_of_lines() {
        let got = lines(b"\xef\xbb\xbfa\r\n\nb\n---\r   \rc\nlast");
        let texts: Vec<_> = got.iter().map(|l| l.1.as_slice()).collect();
        assert_eq!(texts, [&b"a"[..], b"", b"b", b"---", b"   ", b"c", b"last"]);
        assert_eq!(got.iter().map(|l| l.0).collect::<Vec<_>>(), [1, 2, 3, 4, 4, 4, 5]);
        let numbers: Vec<_> = lines(b"a\rb\r\rc\r").iter().map(|l| l.0).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
    }

    #[test]
    fn lines_keep_their_numbers_from_stretch_to_stretch() {
        let count = 2 * WHOLE / 8 + 3;
        let data: Vec<u8> = (1..=count)
            .flat_map(|n| format!("{n:07}\n").into_bytes())
            .collect();
        let got = lines(&data);
        assert_eq!(got.len(), count);
        assert!(got.iter().all(|(n, line)| format!("{n:07}").as_bytes() == line));
    }

    #[test]
    fn a_line_beyond_all_bounds_is_cut_and_the_next_is_whole() {
        let mut data = vec![b'x'; 3 * WHOLE];
        data.extend_from_slice(b"\nnext\n");
        let got = lines(&data);
        assert_eq!(got[0].1.len(), LONGEST_LINE);
        assert_eq!(got[got.len() - 1], (2, b"next".to_vec()));
    }
}
