//! How a file writes its characters: bytes, UTF-16 or UTF-32, with a byte order mark or without.

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

/// Writes wide characters as UTF-8; a unit may lie on both sides of a chunk's end. Half of a surrogate pair becomes a question mark.
#[derive(Default)]
pub(crate) struct Narrower {
    unit: u32,
    bytes: usize,
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
                if self.unit != MARK {
                    let character = char::from_u32(self.unit).unwrap_or('?');
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                *self = Narrower::default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
