//! Characters that word processors, web pages and terminals write in the place of plain ones: no-break spaces, typographic quotes, full-width letters,
//! colours, backspaces.

use crate::lines::text::Text;

const ESCAPE: u8 = 0x1b;
const BACKSPACE: u8 = 0x08;

/// Plain characters for others of the same meaning. NUL bytes are blanks.
pub(super) fn characters(text: &Text) -> Option<Text> {
    if text.bytes().is_ascii() && memchr::memchr3(0, ESCAPE, BACKSPACE, text.bytes()).is_none() {
        return None;
    }
    text.map(|line| {
        let plain = line.is_ascii() && memchr::memchr3(0, ESCAPE, BACKSPACE, line).is_none();
        (!plain)
            .then(|| overwritten(&of_characters(&without_colours(line))))
            .filter(|changed| changed != line)
    })
}

/// The line without the control sequences of ECMA-48 (`ESC [ 01;31 m`) and those that set a window's title (`ESC ] … BEL`).
fn without_colours(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = memchr::memchr(ESCAPE, rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        let after = rest.get(at + 1..).unwrap_or_default();
        let len = match after.first() {
            Some(b'[') => after
                .iter()
                .skip(1)
                .position(|b| (0x40..=0x7e).contains(b))
                .map(|at| at + 2),
            Some(b']') => after.iter().position(|b| *b == 7).map(|at| at + 1),
            Some(_) => Some(1),
            None => None,
        };
        rest = len.and_then(|len| after.get(len..)).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

/// The line in ASCII as far as it has the same characters there; others stay.
fn of_characters(line: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(line) else {
        return line.iter().map(|byte| of_windows(*byte)).collect();
    };
    let mut out = Vec::with_capacity(line.len());
    for character in text.chars() {
        match character {
            '\0' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
                out.push(b' ')
            }
            '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}' => {}
            '\u{2028}' | '\u{2029}' | '\u{85}' => out.push(b'\n'),
            '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '〝' | '〞' => out.push(b'"'),
            '‘' | '’' | '‚' | '‛' | '‹' | '›' | '′' => out.push(b'\''),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push(b'-'),
            '×' => out.push(b'x'),
            '⇒' | '⟹' => out.extend_from_slice(b"=>"),
            '→' | '⟶' => out.extend_from_slice(b"->"),
            '…' => out.extend_from_slice(b"..."),
            '¦' | '│' | '┃' => out.push(b'|'),
            '\u{ff01}'..='\u{ff5e}' => out.push(u8::try_from(u32::from(character) - 0xfee0).unwrap_or(b'?')),
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}

/// Characters of Windows-1252, where the line is no UTF-8: the no-break space and the typographic quotes.
fn of_windows(byte: u8) -> u8 {
    match byte {
        0 | 0xa0 => b' ',
        0x84 | 0x93 | 0x94 => b'"',
        0x91 | 0x92 => b'\'',
        0x96 | 0x97 => b'-',
        other => other,
    }
}

/// The text that a terminal shows where backspaces go back over what a pager wrote.
fn overwritten(line: &[u8]) -> Vec<u8> {
    let mut shown: Vec<u8> = Vec::with_capacity(line.len());
    let mut cursor = 0;
    for &byte in line {
        match (byte, shown.get_mut(cursor)) {
            (BACKSPACE, _) => cursor = cursor.saturating_sub(1),
            (byte, Some(place)) => {
                *place = byte;
                cursor += 1;
            }
            (byte, None) => {
                shown.push(byte);
                cursor += 1;
            }
        }
    }
    shown
}
