//! Encodings of a file: bytes, or UTF-16 with a byte order mark or without.

use std::borrow::Cow;

/// Byte order mark of UTF-8.
pub(crate) const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes at the start of a file that tell how it is written.
pub(crate) const SAMPLE: usize = 4_096;
/// Units behind a byte order mark of which one at least is a Latin letter.
const SOME_LATIN: usize = 16;
/// Byte order mark.
const MARK: char = '\u{feff}';

/// Reads a unit of UTF-16.
pub(crate) type UnitOf = fn([u8; 2]) -> u16;

/// The order of bytes of a text in UTF-16; `None` for ASCII, UTF-8 and Shift_JIS.
///
/// NUL bytes tell: in more than half of the units that hold anything, or in some behind a byte order mark, exactly where Latin letters have them. NUL
/// bytes that pad a text of bytes stand elsewhere; a mark alone says nothing, noise looks like one.
pub(crate) fn utf16(sample: &[u8]) -> Option<UnitOf> {
    let orders: [(UnitOf, usize); 2] = [(u16::from_le_bytes, 0), (u16::from_be_bytes, 1)];
    let order = orders.into_iter().find(|(_, low)| holds_latin(sample, *low))?;
    Some(order.0)
}

/// Tells whether the units are Latin letters whose byte stands at `low`.
fn holds_latin(sample: &[u8], low: usize) -> bool {
    let (mut latin, mut others) = (0, 0);
    for unit in sample.chunks_exact(2).filter(|unit| unit.iter().any(|b| *b != 0)) {
        let fits = unit.iter().enumerate().all(|(at, b)| (*b != 0) == (at == low));
        *(if fits { &mut latin } else { &mut others }) += 1;
    }
    let marked = sample.iter().take(2).position(|b| *b == 0xff);
    latin > others || marked == Some(low) && latin > others / SOME_LATIN
}

/// A whole text as UTF-8, whatever wrote it: Windows' editors and shells write UTF-16 or a mark before UTF-8. Other bytes stay as they are.
///
/// The text is allocated once, so that no copy stays behind: a caller with a secret in `bytes` wipes the text.
pub fn utf8_text(bytes: &[u8]) -> Cow<'_, [u8]> {
    match utf16(bytes.get(..SAMPLE).unwrap_or(bytes)) {
        None => Cow::Borrowed(bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes)),
        Some(unit_of) => {
            // Two bytes of UTF-16 become three of UTF-8 at most.
            let mut text = Vec::with_capacity(bytes.len() * 3 / 2);
            append_utf8(bytes, unit_of, &mut text);
            Cow::Owned(text)
        }
    }
}

/// Appends a text in UTF-16 as UTF-8, without marks. Half of a surrogate pair alone becomes a question mark.
pub(crate) fn append_utf8(data: &[u8], unit_of: UnitOf, out: &mut Vec<u8>) {
    let pairs = data.chunks_exact(2).filter_map(|pair| pair.try_into().ok());
    for character in char::decode_utf16(pairs.map(unit_of)) {
        match character.unwrap_or('?') {
            MARK => {}
            character => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
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

    #[test]
    fn padding_is_no_wide_character() {
        for text in [
            &b"SPI: c7df968a\0\n\0\n\0\nkey: 00\0\n"[..],
            b"\0\0\0\0\0\0\0\0SPI: c7df968a\n",
            b"",
            b"\0\0\0",
            b"\xff\xfe\x80\r\n2026/11/21 05:23:10: [IKE]",
        ] {
            assert!(utf16(text).is_none());
        }
    }
}
