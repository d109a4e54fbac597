//! Records of exports: names that they give to the message, to who wrote it and to when.

use crate::lines::fields::number;
use crate::lines::stamp;
use crate::lines::text::{About, source};

/// A field of a record.
pub(super) struct RecordField {
    /// The name in lower case; empty where the export names none.
    pub(super) name: Vec<u8>,
    pub(super) value: Vec<u8>,
    /// The line on which it stands.
    pub(super) line: u64,
}

/// The value of the first of these names that a record has.
fn named<'r>(record: &'r [RecordField], names: &[&[u8]]) -> Option<&'r RecordField> {
    let mut names = names.iter();
    names.find_map(|name| record.iter().find(|field| field.name == *name))
}

/// The field with the message.
pub(super) fn message(record: &[RecordField]) -> Option<&RecordField> {
    named(record, &MESSAGE_NAMES)
}

/// Everything that a record says about its message; what it does not say is as `before`.
pub(super) fn about(record: &[RecordField], before: About) -> About {
    let thread = named(record, &[b"thread"]).and_then(|field| number(field.value.trim_ascii()));
    // Loki has a number without a name.
    let stamp = || {
        record
            .iter()
            .find(|field| field.value.len() > 12 && number(&field.value).is_some())
    };
    About {
        source: named(record, &SOURCE_NAMES).map_or(before.source, |field| source(&field.value)),
        thread: thread.and_then(|n| u32::try_from(n).ok()).or(before.thread),
        time: named(record, &TIME_NAMES)
            .or_else(stamp)
            .and_then(|field| time(field.value.trim_ascii()))
            .or(before.time),
    }
}

/// Names of the field or the column with the message, the likeliest first, in lower case.
pub(super) const MESSAGE_NAMES: [&[u8]; 17] = [
    b"message",
    b"msg",
    b"_raw",
    b"log",
    b"line",
    b"textpayload",
    b"@message",
    b"log_line",
    b"full_message",
    b"short_message",
    b"text",
    b"content",
    b"body",
    b"event",
    b"output",
    b"payload",
    b"data",
];

/// Names of fields that say who wrote a message.
const SOURCE_NAMES: [&[u8]; 8] = [
    b"_hostname",
    b"hostname",
    b"host",
    b"source",
    b"container_name",
    b"pod",
    b"_source.host",
    b"node",
];
/// Names of fields that say when.
const TIME_NAMES: [&[u8]; 9] = [
    b"__realtime_timestamp",
    b"time",
    b"timestamp",
    b"@timestamp",
    b"ts",
    b"_time",
    b"date",
    b"datetime",
    b"eventtime",
];

/// Tells whether a field says who wrote a message and when, not what.
pub(super) fn is_about(name: &[u8]) -> bool {
    SOURCE_NAMES.contains(&name) || TIME_NAMES.contains(&name) || name == b"thread"
}

/// A time in any form, to the millisecond, for comparison.
pub(super) fn time(text: &[u8]) -> Option<u64> {
    let mut parts = text.splitn(2, |b| *b == b'.');
    let whole = parts.next().unwrap_or_default();
    let fraction = parts.next().unwrap_or_default().iter().chain(b"000").take(3);
    let thousandths = fraction
        .map(|b| {
            if b.is_ascii_digit() {
                u64::from(b - b'0')
            } else {
                0
            }
        })
        .fold(0, |n, digit| n * 10 + digit);
    number(whole).or_else(|| Some(stamp::header(text).time?.saturating_mul(1_000) + thousandths))
}
