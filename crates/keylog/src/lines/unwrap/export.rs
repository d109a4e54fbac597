//! `journalctl -o export` and `-o verbose`: a message is one field among many.

use crate::lines::text::{About, Text, TextLine};
use crate::lines::unwrap::names::{RecordField, about, message};

/// The messages, each with its thread, host and time.
pub(super) fn export(text: &Text) -> Option<Text> {
    let begins =
        |what: &'static [u8]| move |line: &TextLine<'_>| line.bytes.trim_ascii_start().starts_with(what);
    text.lines()
        .find(|l| begins(b"MESSAGE=")(l) || l.bytes == b"MESSAGE")?;
    text.lines()
        .find(|l| begins(b"__REALTIME_TIMESTAMP=")(l) || begins(b"_HOSTNAME=")(l) || begins(b"_PID=")(l))?;
    let mut next = text.next();
    let mut record: Vec<RecordField> = Vec::new();
    let field = |name: &[u8], value: &[u8], line: u64| RecordField {
        name: name.to_ascii_lowercase(),
        value: value.to_vec(),
        line,
    };
    let mut skip_to = 0;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if text.offset(line) < skip_to {
            continue;
        }
        let trimmed = line.bytes.trim_ascii_start();
        let name_len = trimmed
            .iter()
            .take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b'_')
            .count();
        let (name, rest) = trimmed.split_at(name_len);
        match rest.first() {
            // A value with a line end in it: its length in eight bytes, then the value.
            None if !name.is_empty() => {
                let start = lines.peek().map_or(usize::MAX, |next| text.offset(*next));
                let Some(len) = text.bytes().get(start..).and_then(|b| b.first_chunk::<8>()) else {
                    continue;
                };
                let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
                let Some(value) = text.bytes().get(start + 8..).and_then(|b| b.get(..len)) else {
                    continue;
                };
                skip_to = start + 8 + len;
                record.push(field(name, value, line.number));
            }
            Some(b'=') if !name.is_empty() => {
                record.push(field(name, rest.get(1..).unwrap_or_default(), line.number));
            }
            // A line of `-o verbose` that goes on with its message.
            Some(_) if line.bytes.starts_with(b"     ") && !record.is_empty() => {
                let last = record.last_mut().filter(|field| field.name == b"message");
                last.into_iter()
                    .for_each(|field| field.value.extend([b"\n", trimmed].concat()));
            }
            _ => give(&mut record, &mut next),
        }
    }
    give(&mut record, &mut next);
    Some(next)
}

/// Hands the message of a record over, and forgets the record.
fn give(record: &mut Vec<RecordField>, next: &mut Text) {
    if let Some(field) = message(record) {
        next.push_lines(field.line, about(record, About::default()), &field.value);
    }
    record.clear();
}
