//! Characters that were written as other characters: quoted-printable, `#012`, `\n`, a line that goes on behind a backslash.

use crate::lines::dump::is_dump_row;
use crate::lines::hex::digit;
use crate::lines::text::{Text, TextLine};
use crate::lines::unwrap::names::MESSAGE_NAMES;

/// A mail's body in quoted-printable (RFC 2045 §6.7): every `=` is followed by two digits, or ends its line.
pub(super) fn quoted_printable(text: &Text) -> Option<Text> {
    let bytes = text.bytes();
    memchr::memchr(b'=', bytes)?;
    let told = memchr::memmem::find(bytes, b"quoted-printable").is_some();
    let (mut encoded, mut plain, mut others, mut soft) = (0, 0, 0, 0);
    for at in memchr::memchr_iter(b'=', bytes) {
        match bytes.get(at + 1..).unwrap_or_default() {
            [] | [b'\n' | b'\r', ..] => soft += 1,
            [a, b, ..] if upper_digit(*a) && upper_digit(*b) => {
                encoded += 1;
                // Only what no line may hold as it is has to be encoded.
                plain += usize::from(!matches!(
                    [*a, *b],
                    [b'0', b'9' | b'A' | b'D'] | [b'2', b'0'] | [b'3', b'D'] | [b'8'..=b'F', _]
                ));
            }
            _ => others += 1,
        }
    }
    if others > 0 && !told || encoded + soft == 0 || plain > 0 && soft == 0 && !told {
        return None;
    }
    let mut next = text.next();
    let mut goes_on = false;
    for line in text.lines() {
        let trimmed = line.bytes.trim_ascii_end();
        let soft = trimmed.strip_suffix(b"=");
        let decoded = decoded(soft.unwrap_or(trimmed));
        if goes_on {
            next.extend_last(&[&decoded]);
        } else {
            next.push(TextLine {
                bytes: &decoded,
                ..line
            });
        }
        goes_on = soft.is_some();
    }
    // A header that names the encoding says so once.
    next.map(|line| memchr::memmem::find(line, b"quoted-printable").map(|_| Vec::new()))
        .or(Some(next))
}

fn upper_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte)
}

fn decoded(line: &[u8]) -> Vec<u8> {
    replaced(line, b'=', |rest| match rest {
        [a, b, ..] if upper_digit(*a) && upper_digit(*b) => Some((digit(*a)? << 4 | digit(*b)?, 2)),
        _ => None,
    })
}

/// The line with what `of` makes of the bytes behind each `mark`: a byte, and how many it stands for.
fn replaced(line: &[u8], mark: u8, of: impl Fn(&[u8]) -> Option<(u8, usize)>) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        let rest = line.get(at + 1..).unwrap_or_default();
        match (byte == mark).then(|| of(rest)).flatten() {
            Some((byte, len)) => {
                out.push(byte);
                at += 1 + len;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// RouterOS's `print as-value` writes all records on one line: each begins with its `.id`.
pub(super) fn as_value(text: &Text) -> Option<Text> {
    const NEXT: &[u8] = b";.id=";
    memchr::memmem::find(text.bytes(), NEXT)?;
    text.map(|line| {
        let mut out = line.to_vec();
        for at in memchr::memmem::find_iter(line, NEXT) {
            out.get_mut(at).into_iter().for_each(|end| *end = b'\n');
        }
        (out != line).then_some(out)
    })
}

/// One escaped line end in so many lines: fewer are an accident, such as the characters beside a dump.
const LINES_PER_ESCAPE: usize = 4;

/// rsyslog's `#012`, and `\n` of programs that write one line for each message.
pub(super) fn escapes(text: &Text) -> Option<Text> {
    let bytes = text.bytes();
    let count = |what: &[u8]| memchr::memmem::find_iter(bytes, what).count();
    let octal = count(b"#0") > 0;
    // The bytes of a key in a script are no text.
    let script = count(b"\\x") > 0 && count(b"SecurityAssociation") > 0;
    let backslash = !script && memchr::memchr(b'\\', bytes).is_some() && {
        let (_, lines) = text.count(|_| true);
        (count(b"\\n") + count(b"\\012")) * LINES_PER_ESCAPE >= lines.max(1)
    };
    if !octal && !backslash {
        return None;
    }
    text.map(|line| {
        let mut out = line.to_vec();
        if octal {
            out = replaced(&out, b'#', |rest| match rest {
                [b'0', a @ b'0'..=b'3', b @ b'0'..=b'7', ..] => Some(((a - b'0') << 3 | (b - b'0'), 3)),
                _ => None,
            });
        }
        if backslash {
            out = replaced(&out, b'\\', of_backslash);
        }
        let several = out.contains(&b'\n');
        let out = if several {
            without_name(&out, line).to_vec()
        } else {
            out
        };
        (out != line).then_some(out)
    })
}

/// A message of several lines without the field's name and the quotes around it: `msg="…"`, `b'…'`. Quotes inside of it are escaped.
fn without_name<'m>(message: &'m [u8], escaped: &[u8]) -> &'m [u8] {
    let name = message.iter().position(|b| matches!(b, b':' | b'='));
    let named = name.filter(|end| {
        message
            .get(..*end)
            .is_some_and(|name| MESSAGE_NAMES.contains(&name.to_ascii_lowercase().as_slice()))
    });
    let value = named.map_or(message, |end| {
        message.get(end + 1..).unwrap_or_default().trim_ascii_start()
    });
    let literal = value
        .strip_prefix(b"b")
        .filter(|rest| matches!(rest.first(), Some(b'"' | b'\'')))
        .unwrap_or(value);
    let Some((quote @ (b'"' | b'\''), inside)) = literal.split_first() else {
        return value;
    };
    let quotes = escaped
        .windows(2)
        .filter(|pair| matches!(pair, [before, byte] if byte == quote && *before != b'\\'))
        .count();
    let around = quotes + usize::from(escaped.first() == Some(quote)) == 2;
    inside
        .trim_ascii_end()
        .strip_suffix(&[*quote])
        .filter(|_| around)
        .unwrap_or(value)
}

/// Escapes: the sign behind a backslash in C, Python and JSON.
fn of_backslash(rest: &[u8]) -> Option<(u8, usize)> {
    Some(match rest {
        [b'n', ..] => (b'\n', 1),
        [b't', ..] => (b'\t', 1),
        [b'r', ..] => (b' ', 1),
        [b'"', ..] => (b'"', 1),
        [b'\'', ..] => (b'\'', 1),
        [b'\\', ..] => (b'\\', 1),
        [b'0', b'1', b'2', ..] => (b'\n', 3),
        [b'u', b'0', b'0', a, b, ..] => (digit(*a)? << 4 | digit(*b)?, 5),
        _ => return None,
    })
}

/// Lines that end in a backslash, as in scripts and configurations, go on on the next one. `ip -o` writes one for each end of a line, the last too.
pub(super) fn continued(text: &Text) -> Option<Text> {
    let goes_on = |line: &[u8]| {
        let line = line.trim_ascii_end();
        let inside = |pair: &[u8]| matches!(pair, [b'\\', after] if after.is_ascii_whitespace());
        line.ends_with(b"\\")
            && !line.ends_with(b"\\\\")
            && !line.windows(2).any(inside)
            && !is_dump_row(line)
    };
    text.lines().find(|line| goes_on(line.bytes))?;
    let mut next = text.next();
    let mut open = false;
    for line in text.lines() {
        let ends = goes_on(line.bytes);
        let trimmed = line.bytes.trim_ascii_end();
        let part = if ends {
            trimmed.strip_suffix(b"\\").unwrap_or(trimmed)
        } else {
            line.bytes
        };
        if open {
            next.extend_last(&[part.trim_ascii_start()]);
        } else {
            next.push(TextLine { bytes: part, ..line });
        }
        open = ends;
    }
    Some(next)
}
