//! `journalctl -o export` and `-o verbose`: a message is one field among many.

use crate::lines::fields::number;
use crate::lines::text::{About, Text, TextLine, source};

/// The messages, each with its thread, host and time.
pub(super) fn export(text: &Text) -> Option<Text> {
    let begins =
        |what: &'static [u8]| move |line: &TextLine<'_>| line.bytes.trim_ascii_start().starts_with(what);
    text.lines()
        .find(|l| begins(b"MESSAGE=")(l) || l.bytes == b"MESSAGE")?;
    text.lines()
        .find(|l| begins(b"__REALTIME_TIMESTAMP=")(l) || begins(b"_HOSTNAME=")(l) || begins(b"_PID=")(l))?;
    let mut next = text.next();
    let mut record = JournalRecord::default();
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
                record.field(name, line, value);
            }
            Some(b'=') if !name.is_empty() => record.field(name, line, rest.get(1..).unwrap_or_default()),
            // A line of `-o verbose` that goes on with its message.
            Some(_) if line.bytes.starts_with(b"     ") && record.message.is_some() => {
                record.goes_on(trimmed)
            }
            _ => record.give(&mut next),
        }
    }
    record.give(&mut next);
    Some(next)
}

#[derive(Default)]
struct JournalRecord {
    message: Option<(u64, Vec<u8>)>,
    about: About,
}

impl JournalRecord {
    fn field(&mut self, name: &[u8], line: TextLine<'_>, value: &[u8]) {
        match name {
            b"MESSAGE" => self.message = Some((line.number, value.to_vec())),
            b"THREAD" => self.about.thread = number(value.trim_ascii()).and_then(|n| u32::try_from(n).ok()),
            b"__REALTIME_TIMESTAMP" => self.about.time = number(value.trim_ascii()),
            b"_HOSTNAME" => self.about.source = source(value),
            _ => {}
        }
    }

    fn goes_on(&mut self, more: &[u8]) {
        if let Some((_, message)) = &mut self.message {
            message.push(b'\n');
            message.extend_from_slice(more);
        }
    }

    fn give(&mut self, next: &mut Text) {
        let JournalRecord { message, about } = std::mem::take(self);
        if let Some((number, message)) = message {
            next.push_lines(number, about, &message);
        }
    }
}
