//! JSON Lines and JSON documents: journalctl, Docker, Loki, Elasticsearch, cloud exports. Of each object the field that holds the message is the line; an
//! object without one is written as `name="value"`, which is how RouterOS prints the same.

use crate::lines::fields::number;
use crate::lines::text::{Text, TextLine};
use crate::lines::unwrap::names::{RecordField, about, is_about, message};

/// Most fields of one object; the rest of a larger one is left out.
const MOST_FIELDS: usize = 256;

/// The messages of objects that make up most of the text.
pub(super) fn json(text: &Text) -> Option<Text> {
    memchr::memchr(b'{', text.bytes())?;
    let first = text.filled().next()?.bytes.trim_ascii_start();
    let (objects, lines) = text.count(|line| object_at(line).is_some());
    let (parts, _) = text.count(|line| {
        let line = line.trim_ascii();
        line.starts_with(b"\"") || line.iter().all(|b| b"{}[], ".contains(b))
    });
    let document = matches!(first.first(), Some(b'{' | b'[')) && parts * 10 >= lines * 9;
    if objects * 2 < lines && !document {
        return None;
    }
    let mut next = text.next();
    let mut reader = JsonReader::default();
    for line in text.lines() {
        let start = if document {
            0
        } else {
            object_at(line.bytes).unwrap_or(0)
        };
        if reader.depth == 0 && object_at(line.bytes).is_none() && !document {
            next.push(line);
        } else {
            reader.line(line.from(start), &mut next);
        }
    }
    Some(next)
}

/// Where an object begins that reaches to the end of the line.
fn object_at(line: &[u8]) -> Option<usize> {
    let at = memchr::memchr(b'{', line)?;
    let rest = line.get(at + 1..)?.trim_ascii();
    let closed =
        rest.ends_with(b"}") || rest.ends_with(b"},") || rest.ends_with(b"}]") || rest.ends_with(b"]");
    (rest.starts_with(b"\"") && closed).then_some(at)
}

/// Reads strings; everything else only says where they stand.
#[derive(Default)]
struct JsonReader {
    depth: usize,
    key: Vec<u8>,
    /// A string that is a value unless a colon follows.
    string: Option<Vec<u8>>,
    bare: Vec<u8>,
    /// The message at hand was given: exports write it more than once.
    said: Vec<u8>,
    /// An array of nothing but bytes: journalctl writes so what is no text to it.
    byte_array: Option<Vec<u8>>,
    fields: Vec<RecordField>,
}

impl JsonReader {
    fn line(&mut self, line: TextLine<'_>, next: &mut Text) {
        let mut rest = line.bytes;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'"' => {
                    self.settle(line);
                    let (string, len) = string(after);
                    self.string = Some(string);
                    rest = after.get(len..).unwrap_or_default();
                }
                b':' if self.string.is_some() => self.key = self.string.take().unwrap_or_default(),
                b',' => self.settle(line),
                b'{' | b'[' => {
                    self.settle(line);
                    self.depth += 1;
                    self.byte_array = (byte == b'[').then(Vec::new);
                    // Text before an inner object is not of its message.
                    if byte == b'{' {
                        self.fields.retain(|field| is_about(&field.name));
                    }
                }
                b'}' | b']' => {
                    self.settle(line);
                    self.depth = self.depth.saturating_sub(1);
                    if let Some(bytes) = self.byte_array.take().filter(|bytes| !bytes.is_empty()) {
                        self.string = Some(bytes);
                        continue;
                    }
                    self.give(line, byte == b'}', next);
                }
                _ if byte.is_ascii_whitespace() => {}
                _ => self.bare.push(byte),
            }
        }
        self.settle(line);
    }

    /// The value at hand is complete.
    fn settle(&mut self, line: TextLine<'_>) {
        let bare = std::mem::take(&mut self.bare);
        if let Some(bytes) = self.byte_array.as_mut().filter(|_| !bare.is_empty())
            && let Some(byte) = number(&bare).and_then(|byte| u8::try_from(byte).ok())
        {
            bytes.push(byte);
            return;
        }
        let value = self.string.take().or_else(|| (!bare.is_empty()).then_some(bare));
        if let Some(value) = value
            && self.fields.len() < MOST_FIELDS
        {
            self.fields.push(RecordField {
                name: self.key.to_ascii_lowercase(),
                value,
                line: line.number,
            });
        }
    }

    /// An object or an array ends.
    fn give(&mut self, line: TextLine<'_>, object: bool, next: &mut Text) {
        let widest = || {
            let words = |field: &RecordField| field.value.iter().filter(|b| b.is_ascii_whitespace()).count();
            let fields = self
                .fields
                .iter()
                .filter(|field| !is_about(&field.name) && words(field) > 1);
            fields.max_by_key(|field| words(field))
        };
        let about = about(&self.fields, line.about);
        if let Some(field) = message(&self.fields).or_else(|| widest().filter(|_| object)) {
            if field.value != self.said {
                next.push_lines(field.line, about, &field.value);
            }
            self.said.clone_from(&field.value);
        } else if !object {
            // Lines of an array, or Loki's pairs of a time and a line.
            let lines = self.fields.iter().filter(|field| number(&field.value).is_none());
            lines.for_each(|field| next.push_lines(field.line, about, &field.value));
        } else if self.fields.len() > 1 {
            let part = |field: &RecordField| [field.name.as_slice(), b"=\"", &field.value, b"\" "].concat();
            let parts: Vec<Vec<u8>> = self.fields.iter().map(part).collect();
            next.push_lines(line.number, about, &parts.concat());
        }
        self.fields.clear();
        self.key.clear();
        if self.depth == 0 {
            self.said.clear();
        }
    }
}

/// A string up to its quote, and how many bytes that is, the quote included.
fn string(text: &[u8]) -> (Vec<u8>, usize) {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => break,
            b'\\' => {
                let escaped = text.get(at).copied().unwrap_or(b'\\');
                at += 1;
                match escaped {
                    b'n' => out.push(b'\n'),
                    b't' => out.push(b'\t'),
                    b'r' | b'b' | b'f' => out.push(b' '),
                    b'u' => {
                        let digits = text.get(at..at + 4).and_then(|d| std::str::from_utf8(d).ok());
                        let unit = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
                        let character = unit.and_then(char::from_u32).unwrap_or('?');
                        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                        at += 4;
                    }
                    other => out.push(other),
                }
            }
            other => out.push(other),
        }
    }
    (out, at)
}
