//! How a file writes its characters: bytes, UTF-16 or UTF-32, with a byte order mark or without.

use std::borrow::Cow;

/// Byte order mark of UTF-8.
pub(crate) const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes at the start of a file that tell how it is written.
pub(crate) const SAMPLE: usize = 4_096;
/// Units behind a byte order mark of which one at least is a Latin letter.
const SOME_LATIN: usize = 16;
/// Byte order mark.
const MARK: u32 = 0xfeff;
/// Wide forms in the order in which they are tried: bytes of a unit, and which of them holds a Latin letter.
const WIDE: [(usize, usize); 4] = [(4, 0), (4, 3), (2, 0), (2, 1)];

/// How characters are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// ASCII, UTF-8, Shift_JIS.
    Bytes,
    /// Units of `len` bytes; the lowest eight bits stand at `low`.
    Wide { len: usize, low: usize },
}

impl Encoding {
    /// NUL bytes tell: in more than half of the units that hold anything, or in some behind a byte order mark, exactly where Latin
    /// letters have them. NUL bytes that pad a text of bytes stand elsewhere; a mark alone says nothing, noise looks like one.
    pub(crate) fn of(sample: &[u8]) -> Encoding {
        let mut wide = WIDE.into_iter();
        match wide.find(|(len, low)| holds_latin(sample, *len, *low)) {
            Some((len, low)) => Encoding::Wide { len, low },
            None => Encoding::Bytes,
        }
    }
}

fn holds_latin(sample: &[u8], len: usize, low: usize) -> bool {
    let (mut latin, mut others) = (0, 0);
    for unit in sample
        .chunks_exact(len)
        .filter(|unit| unit.iter().any(|b| *b != 0))
    {
        let fits = unit.iter().enumerate().all(|(at, b)| (*b != 0) == (at == low));
        *(if fits { &mut latin } else { &mut others }) += 1;
    }
    let marked = sample
        .get(..len)
        .and_then(|unit| unit.iter().position(|b| *b == 0xff));
    latin > others || marked == Some(low) && latin > others / SOME_LATIN
}

/// A whole text as UTF-8, whatever wrote it: Windows' editors and shells write UTF-16 or a mark before UTF-8. Other bytes stay as they are.
///
/// The text is allocated once, so that no copy stays behind: a caller with a secret in `bytes` wipes the text.
pub fn utf8_text(bytes: &[u8]) -> Cow<'_, [u8]> {
    match Encoding::of(bytes.get(..SAMPLE).unwrap_or(bytes)) {
        Encoding::Bytes => Cow::Borrowed(bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes)),
        Encoding::Wide { len, low } => {
            // Two bytes of UTF-16 become three of UTF-8 at most, and a cut pair one more.
            let mut text = Vec::with_capacity(bytes.len() * 3 / 2 + 4);
            Narrower::default().push(bytes, (len, low), &mut text);
            Cow::Owned(text)
        }
    }
}

/// Writes wide characters as UTF-8; a unit may lie on both sides of a chunk's end. Half of a surrogate pair alone becomes a question mark.
#[derive(Default)]
pub(crate) struct Narrower {
    unit: u32,
    bytes: usize,
    /// The first half of a surrogate pair (RFC 2781 §2.2).
    high: Option<u32>,
}

impl Narrower {
    /// Appends the characters of `data` to `out`.
    pub(crate) fn push(&mut self, data: &[u8], (len, low): (usize, usize), out: &mut Vec<u8>) {
        for &byte in data {
            self.unit = match low {
                0 => self.unit | u32::from(byte) << (8 * self.bytes),
                _ => self.unit << 8 | u32::from(byte),
            };
            self.bytes += 1;
            if self.bytes == len {
                let (unit, high) = (self.unit, self.high.take());
                *self = Narrower::default();
                match (high, unit) {
                    (Some(high), 0xdc00..=0xdfff) => {
                        put(0x1_0000 + ((high & 0x3ff) << 10 | unit & 0x3ff), out);
                    }
                    (alone, _) => {
                        if let Some(half) = alone {
                            put(half, out);
                        }
                        match unit {
                            0xd800..=0xdbff => self.high = Some(unit),
                            MARK => {}
                            _ => put(unit, out),
                        }
                    }
                }
            }
        }
    }
}

fn put(character: u32, out: &mut Vec<u8>) {
    let character = char::from_u32(character).unwrap_or('?');
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_text_is_utf_8_whoever_wrote_it() {
        let text = "{\"title\": \"回線 😀\"}\r\n";
        let units = || text.encode_utf16();
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        for written in [
            text.as_bytes().to_vec(),
            [UTF8_MARK, text.as_bytes()].concat(),
            [&b"\xff\xfe"[..], &little].concat(),
            [&b"\xfe\xff"[..], &big].concat(),
            little,
            big,
        ] {
            assert_eq!(utf8_text(&written), text.as_bytes());
        }
        let halves = b"\xff\xfea\0\x3d\xd8b\0\x3d\xd8\x3d\xd8\x00\xdec\0";
        assert_eq!(utf8_text(halves), "a?b?😀c".as_bytes());
    }

    fn wide(text: &str, len: usize, low: usize) -> Vec<u8> {
        let unit = |b: u8| (0..len).map(move |at| if at == low { b } else { 0 });
        text.bytes().flat_map(unit).collect()
    }

    #[test]
    fn wide_characters_are_known_by_their_zeros() {
        for (len, low) in WIDE {
            let data = wide("SPI: c7df968a\r\n", len, low);
            let encoding = Encoding::Wide { len, low };
            assert_eq!(Encoding::of(&data), encoding);
            let mut narrower = Narrower::default();
            let mut out = Vec::new();
            data.chunks(3)
                .for_each(|part| narrower.push(part, (len, low), &mut out));
            assert_eq!(out, b"SPI: c7df968a\r\n");
        }
    }

    #[test]
    fn padding_is_no_wide_character() {
        for text in [
            &b"SPI: c7df968a\0\n\0\n\0\nkey: 00\0\n"[..],
            b"\0\0\0\0\0\0\0\0SPI: c7df968a\n",
            b"",
            b"\0\0\0",
            b"\xff\xfe\x80\r\n2026/11/21 05:23:10: [IKE]",
        ] {
            assert_eq!(Encoding::of(text), Encoding::Bytes);
        }
    }
}
