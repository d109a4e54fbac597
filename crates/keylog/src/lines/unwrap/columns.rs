//! Tables of messages: CSV and its kin (RFC 4180), as collectors and spreadsheets export them. Wireshark's own tables stay, with commas.

use crate::lines::hex;
use crate::lines::text::{About, Line, Text, source};
use crate::lines::unwrap::json::time;

/// Names of the field or the column with the message, the likeliest first, in lower case.
pub(super) const MESSAGE_NAMES: [&[u8]; 17] = [
    b"message", b"msg", b"_raw", b"log", b"line", b"textpayload", b"@message", b"log_line", b"full_message",
    b"short_message", b"text", b"content", b"body", b"event", b"output", b"payload", b"data",
];
/// Shares of records, in tenths, that must have the same number of columns.
const SAME: usize = 8;

/// A field, and the number of the line on which it begins.
type Field = (Vec<u8>, u64);

/// The column of messages, or the table with commas.
pub(super) fn columns(text: &Text) -> Option<Text> {
    [b',', b';', b'\t'].into_iter().find_map(|separator| {
        let quoted = [b'"', separator, b'"'];
        let (marked, lines) = text.count(|line| memchr::memmem::find(line, &quoted).is_some());
        let timed = || text.count(|line| memchr::memchr(separator, line).is_some_and(|at| line.get(..at).and_then(time).is_some()));
        if marked * 4 < lines && timed().0 * 2 < lines {
            return None;
        }
        let records = records(text, separator);
        if records.iter().filter(|record| is_row(record)).count() * 2 < records.len() {
            return messages(text, &records, marked > 0);
        }
        (separator != b',').then(|| with_commas(text, &records))
    })
}

/// A row of one of Wireshark's tables.
fn is_row(record: &[Field]) -> bool {
    let first = record.first().map(|f| f.0.trim_ascii()).unwrap_or_default();
    let family = first.eq_ignore_ascii_case(b"IPv4") || first.eq_ignore_ascii_case(b"IPv6");
    family || first.len() == 16 && hex::all_digits(first) && matches!(record.len(), 2 | 8)
}

/// The same table as Wireshark writes it.
fn with_commas(text: &Text, records: &[Vec<Field>]) -> Text {
    let mut next = text.next();
    for record in records {
        let fields: Vec<Vec<u8>> = record.iter().map(|(field, _)| [b"\"", field.as_slice(), b"\""].concat()).collect();
        next.push(Line { number: record.first().map_or(0, |f| f.1), bytes: &fields.join(&b','), about: About::default() });
    }
    next
}

fn messages(text: &Text, records: &[Vec<Field>], quoted: bool) -> Option<Text> {
    let mut widths: Vec<usize> = records.iter().map(Vec::len).collect();
    widths.sort_unstable();
    let width = *widths.get(widths.len() / 2)?;
    let same = widths.iter().filter(|w| **w == width).count();
    if width < 2 || same * 10 < records.len() * SAME || (!quoted && width < 3) {
        return None;
    }
    let header: Vec<Vec<u8>> = records.first()?.iter().map(|f| f.0.trim_ascii().to_ascii_lowercase()).collect();
    let named = |names: &[&[u8]]| names.iter().find_map(|name| header.iter().position(|h| h == name));
    let words = |column: usize| -> usize {
        let fields = records.iter().filter_map(|record| record.get(column));
        fields.filter(|f| time(&f.0).is_none()).map(|f| f.0.iter().filter(|b| b" =:".contains(b)).count()).sum()
    };
    let message = named(&MESSAGE_NAMES).or_else(|| (0..width).max_by_key(|column| words(*column)))?;
    let host = named(&[b"host", b"hostname", b"source", b"_hostname", b"node"]);
    let mut next = text.next();
    for record in records {
        let Some((value, number)) = record.get(message) else { continue };
        let about = About {
            source: host.and_then(|host| record.get(host)).map_or(0, |f| source(&f.0)),
            thread: None,
            time: record.iter().enumerate().filter(|(at, _)| *at != message).find_map(|(_, f)| time(&f.0)),
        };
        next.push_lines(Line { number: *number, bytes: &[], about }, value);
    }
    Some(next)
}

/// The records; a quoted field may hold ends of lines.
fn records(text: &Text, separator: u8) -> Vec<Vec<Field>> {
    let mut records = Vec::new();
    let mut record: Vec<Field> = Vec::new();
    // The field at hand, and whether it is inside quotes.
    let (mut field, mut quoted) = (Vec::new(), false);
    for line in text.lines() {
        if quoted {
            field.push(b'\n');
        } else if line.is_blank() {
            continue;
        }
        let mut begun = if quoted { None } else { Some(line.number) };
        let mut rest = line.bytes;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'"' if quoted && after.starts_with(b"\"") => {
                    field.push(b'"');
                    rest = after.get(1..).unwrap_or_default();
                }
                b'"' if quoted => quoted = false,
                b'"' if field.iter().all(u8::is_ascii_whitespace) => {
                    field.clear();
                    quoted = true;
                }
                _ if byte == separator && !quoted => {
                    record.push((std::mem::take(&mut field), begun.unwrap_or(line.number)));
                    begun = Some(line.number);
                }
                _ => field.push(byte),
            }
        }
        if !quoted {
            record.push((std::mem::take(&mut field), line.number));
            records.push(std::mem::take(&mut record));
        }
    }
    if !record.is_empty() || !field.is_empty() {
        record.push((field, 0));
        records.push(record);
    }
    records
}
