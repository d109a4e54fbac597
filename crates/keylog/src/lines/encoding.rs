//! How a file writes its characters: bytes, UTF-16 or UTF-32, with a byte order mark or without. Only the characters that keys and
//! their labels need are kept apart; any other one becomes a question mark.

/// Bytes at the start of a file that tell how it is written.
pub(crate) const SAMPLE: usize = 4_096;
/// Byte order mark.
const MARK: u32 = 0xfeff;
/// Wide forms without a mark, in the order in which they are tried: bytes of a unit, and which of them holds a Latin letter.
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
    /// By the byte order mark, else by where NUL bytes stand: in more than half of the units that hold anything, exactly where
    /// Latin letters have them. NUL bytes that pad a text of bytes stand elsewhere.
    pub(crate) fn of(sample: &[u8]) -> Encoding {
        let marked = match sample {
            [0xff, 0xfe, 0, 0, ..] => Some((4, 0)),
            [0, 0, 0xfe, 0xff, ..] => Some((4, 3)),
            [0xff, 0xfe, ..] => Some((2, 0)),
            [0xfe, 0xff, ..] => Some((2, 1)),
            _ => None,
        };
        let unmarked = || {
            WIDE.into_iter()
                .find(|(len, low)| holds_latin(sample, *len, *low))
        };
        match marked.or_else(unmarked) {
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
    latin > others
}

/// Narrows wide characters to bytes; a unit may lie on both sides of a chunk's end.
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
                    out.push(u8::try_from(self.unit).unwrap_or(b'?'));
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
    fn wide_characters_are_known_without_a_mark() {
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
        ] {
            assert_eq!(Encoding::of(text), Encoding::Bytes);
        }
    }
}
