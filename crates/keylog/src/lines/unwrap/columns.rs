//! Tables of messages: CSV and its kin (RFC 4180), as collectors and spreadsheets export them. Wireshark's own tables stay, with commas.

use crate::lines::hex;
use crate::lines::text::{About, Text, TextLine, source};
use crate::lines::unwrap::names::{MESSAGE_NAMES, time};

/// Shares of records, in tenths, that must have the same number of columns.
const SAME: usize = 8;

/// A field, and the number of the line on which it begins.
type NumberedField = (Vec<u8>, u64);

/// The column of messages, or the table with commas.
pub(super) fn columns(text: &Text) -> Option<Text> {
    if let Some(one) = one_column(text) {
        return Some(one);
    }
    let votes: Vec<Option<u8>> = text.filled().map(|line| separator_of(line.bytes)).collect();
    let counted = |separator: &u8| votes.iter().filter(|vote| **vote == Some(*separator)).count();
    let separator = SEPARATORS.into_iter().max_by_key(counted)?;
    // Further lines of one field have no vote.
    if counted(&separator) == 0 || counted(&separator) * 4 < votes.len() {
        return None;
    }
    let records = records(text, separator);
    if records.iter().filter(|record| is_row(record)).count() * 2 < records.len() {
        return messages(text, &records);
    }
    (separator != b',').then(|| with_commas(text, &records))
}

/// Lines that a spreadsheet quoted as a whole: `"""IPv4"",""10.9.0.1"",…"`.
fn one_column(text: &Text) -> Option<Text> {
    let inside = |line: &[u8]| {
        let inside = line
            .trim_ascii()
            .strip_prefix(b"\"")?
            .strip_suffix(b"\"")?
            .to_vec();
        let mut quotes = inside.split(|b| *b != b'"').filter(|run| !run.is_empty());
        quotes.all(|run| run.len().is_multiple_of(2)).then_some(inside)
    };
    let (quoted, lines) = text.count(|line| inside(line).is_some());
    if quoted == 0 || quoted * 10 < lines * SAME {
        return None;
    }
    text.map(|line| {
        let mut quotes = 0;
        let mut single = inside(line)?;
        single.retain(|byte| {
            quotes = if *byte == b'"' { quotes + 1 } else { 0 };
            quotes % 2 != 1 || *byte != b'"'
        });
        Some(single)
    })
}

/// The signs that part columns.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Longest time with a zone: `2026-11-20T20:11:53.123456789+01:00`, with blanks around. A longer column is a line that begins with a time.
const LONGEST_TIME: usize = 40;

/// The separator behind a line's first column, where that is quoted, a time, or the family of an address.
fn separator_of(line: &[u8]) -> Option<u8> {
    if let Some(quoted) = line.strip_prefix(b"\"") {
        let end = quoted.iter().position(|b| *b == b'"')?;
        return quoted.get(end + 1).copied().filter(|b| SEPARATORS.contains(b));
    }
    let end = line.iter().position(|b| SEPARATORS.contains(b))?;
    let first = line.get(..end)?;
    let is_time = first.len() <= LONGEST_TIME && time(first).is_some();
    (is_time || is_family(first) || first.len() == 16 && hex::all_digits(first))
        .then(|| line.get(end).copied())?
}

fn is_family(field: &[u8]) -> bool {
    let field = field.trim_ascii_end();
    let field = field.strip_suffix(b"\"").unwrap_or(field);
    field.len() >= 4
        && [&b"IPv4"[..], b"IPv6"].iter().any(|family| {
            field
                .get(field.len() - 4..)
                .is_some_and(|end| end.eq_ignore_ascii_case(family))
        })
}

/// A row of one of Wireshark's tables.
fn is_row(record: &[NumberedField]) -> bool {
    let first = record.first().map(|f| f.0.trim_ascii()).unwrap_or_default();
    is_family(first) || first.len() == 16 && hex::all_digits(first) && matches!(record.len(), 2 | 8)
}

/// The same table as Wireshark writes it.
fn with_commas(text: &Text, records: &[Vec<NumberedField>]) -> Text {
    let mut next = text.next();
    for record in records {
        let fields: Vec<Vec<u8>> = record
            .iter()
            .map(|(field, _)| [b"\"", field.trim_ascii(), b"\""].concat())
            .collect();
        next.push(TextLine {
            number: record.first().map_or(0, |f| f.1),
            bytes: &fields.join(&b','),
            about: About::default(),
        });
    }
    next
}

fn messages(text: &Text, records: &[Vec<NumberedField>]) -> Option<Text> {
    let mut widths: Vec<usize> = records.iter().map(Vec::len).collect();
    widths.sort_unstable();
    let width = *widths.get(widths.len() / 2)?;
    let same = widths.iter().filter(|w| **w == width).count();
    // `2026-11-20 20:11:53,123 …` is a time with a fraction, not two columns.
    let quoted = text
        .count(|line| line.starts_with(b"\"") || line.windows(2).any(|pair| pair == b",\""))
        .0
        > 0;
    if width < 2 || same * 10 < records.len() * SAME || (!quoted && width < 3) {
        return None;
    }
    let header: Vec<Vec<u8>> = records
        .first()?
        .iter()
        .map(|f| f.0.trim_ascii().to_ascii_lowercase())
        .collect();
    let named = |names: &[&[u8]]| {
        names
            .iter()
            .find_map(|name| header.iter().position(|h| h == name))
    };
    let words = |column: usize| -> usize {
        let fields = records.iter().filter_map(|record| record.get(column));
        fields
            .filter(|f| time(&f.0).is_none())
            .map(|f| f.0.iter().filter(|b| b" =:".contains(b)).count())
            .sum()
    };
    let message = named(&MESSAGE_NAMES).or_else(|| (0..width).max_by_key(|column| words(*column)))?;
    let host = named(&[b"host", b"hostname", b"source", b"_hostname", b"node"]);
    let mut next = text.next();
    for record in records {
        let Some((value, number)) = record.get(message) else {
            continue;
        };
        let about = About {
            source: host.and_then(|host| record.get(host)).map_or(0, |f| source(&f.0)),
            thread: None,
            time: record
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != message)
                .find_map(|(_, f)| time(&f.0)),
        };
        next.push_lines(*number, about, value);
    }
    Some(next)
}

/// The records; a quoted field may hold ends of lines.
fn records(text: &Text, separator: u8) -> Vec<Vec<NumberedField>> {
    let mut records: Vec<Vec<NumberedField>> = Vec::new();
    let mut record: Vec<NumberedField> = Vec::new();
    // The field at hand, and whether it is inside quotes.
    let (mut field, mut quoted) = (Vec::new(), false);
    for line in text.lines() {
        if quoted {
            field.push(b'\n');
        } else if line.bytes.iter().all(|b| b" -+|=".contains(b)) {
            continue;
        }
        // Bars are not escaped: those behind the last column's are the message's.
        let most = records
            .first()
            .filter(|_| separator == b'|')
            .map_or(usize::MAX, Vec::len);
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
                _ if byte == separator && !quoted && record.len() + 1 < most => {
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
