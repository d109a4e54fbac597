//! JSON Lines and JSON documents: journalctl, Docker, Loki, Elasticsearch, cloud exports. The field of an object that holds the message is the line; an
//! object without one is written as `name="value"`, which is how RouterOS prints the same.

use crate::lines::fields::number;
use crate::lines::text::{About, Text, TextLine};
use crate::lines::unwrap::names::{RecordField, about, is_about, message};
use serde_json::{Deserializer, Value};

/// The messages of objects that make up most of the text.
pub(super) fn json(text: &Text) -> Option<Text> {
    memchr::memchr(b'{', text.bytes())?;
    let (objects, lines) = text.count(|line| object_at(line).is_some());
    let mut messages = JsonMessages {
        next: text.next(),
        said: Vec::new(),
    };
    if objects * 2 < lines {
        let document: Value = serde_json::from_slice(text.bytes()).ok()?;
        let first = text.filled().next()?;
        messages.give(&document, first.number, first.about);
        return Some(messages.next);
    }
    for line in text.lines() {
        let objects = object_at(line.bytes)
            .map(|at| values(line.from(at).bytes))
            .unwrap_or_default();
        if objects.is_empty() {
            messages.next.push(line);
        }
        for object in objects {
            messages.said.clear();
            messages.give(&object, line.number, line.about);
        }
    }
    Some(messages.next)
}

/// The place of an object, or of an array of objects, that reaches to the end of the line.
fn object_at(line: &[u8]) -> Option<usize> {
    let at = memchr::memchr(b'{', line)?;
    let rest = line.get(at + 1..)?.trim_ascii();
    let closed = rest.ends_with(b"}") || rest.ends_with(b"},") || rest.ends_with(b"]");
    let in_array = line.get(..at)?.ends_with(b"[") && rest.ends_with(b"]");
    (rest.starts_with(b"\"") && closed).then_some(at - usize::from(in_array))
}

/// Values one behind the other, as far as they are JSON.
fn values(text: &[u8]) -> Vec<Value> {
    let values = Deserializer::from_slice(text).into_iter();
    values.map_while(Result::ok).collect()
}

/// The value of a field; an array of nothing but bytes is how journalctl writes what is no text to it.
fn scalar(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.clone().into_bytes()),
        Value::Number(number) => Some(number.to_string().into_bytes()),
        Value::Array(bytes) if !bytes.is_empty() => {
            let byte = |value: &Value| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
            bytes.iter().map(byte).collect()
        }
        _ => None,
    }
}

struct JsonMessages {
    next: Text,
    /// The last message of the value at hand: exports write it more than once.
    said: Vec<u8>,
}

impl JsonMessages {
    /// Appends the messages of a value on line `line`; `before` is what the values around it say about them.
    fn give(&mut self, value: &Value, line: u64, before: About) {
        let (named, values): (bool, Vec<(&str, &Value)>) = match value {
            Value::Object(fields) => (
                true,
                fields
                    .iter()
                    .map(|(name, value)| (name.as_str(), value))
                    .collect(),
            ),
            Value::Array(values) => (false, values.iter().map(|value| ("", value)).collect()),
            _ => return,
        };
        let field = |(name, value): &(&str, &Value)| {
            let (name, value) = (name.to_ascii_lowercase().into_bytes(), scalar(value)?);
            Some(RecordField { name, value, line })
        };
        let record: Vec<RecordField> = values.iter().filter_map(field).collect();
        let about = about(&record, before);
        if let Some(field) = message(&record) {
            return self.say(field, about);
        }
        let inner: Vec<&Value> = values
            .iter()
            .map(|(_, value)| *value)
            .filter(|value| scalar(value).is_none())
            .collect();
        if !named {
            // Lines of an array, or Loki's pairs of a time and a line.
            let lines = record.iter().filter(|field| number(&field.value).is_none());
            lines.for_each(|field| self.say(field, about));
        } else if inner.iter().all(|value| value.is_null() || value.is_boolean()) {
            self.object(&record, line, about);
        }
        inner.into_iter().for_each(|value| self.give(value, line, about));
    }

    /// An object without a message of a known name: its longest text, else all of its fields.
    fn object(&mut self, record: &[RecordField], line: u64, about: About) {
        let blanks = |field: &RecordField| field.value.iter().filter(|b| b.is_ascii_whitespace()).count();
        let texts = record
            .iter()
            .filter(|field| !is_about(&field.name) && blanks(field) > 1);
        if let Some(text) = texts.max_by_key(|field| blanks(field)) {
            return self.say(text, about);
        }
        let part = |field: &RecordField| [field.name.as_slice(), b"=\"", &field.value, b"\" "].concat();
        let bytes = record.iter().map(part).collect::<Vec<_>>().concat();
        let number = line;
        self.next.push(TextLine {
            number,
            bytes: &bytes,
            about,
        });
    }

    fn say(&mut self, field: &RecordField, about: About) {
        if field.value != self.said {
            self.next.push_lines(field.line, about, &field.value);
            self.said.clone_from(&field.value);
        }
    }
}
