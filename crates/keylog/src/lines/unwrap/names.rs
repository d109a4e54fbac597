//! Names that exports give to the parts of a record: its message, who wrote it and when.

use crate::lines::fields::number;
use crate::lines::stamp;

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
pub(super) const SOURCE_NAMES: [&[u8]; 7] = [
    b"_hostname",
    b"hostname",
    b"host",
    b"source",
    b"container_name",
    b"pod",
    b"_source.host",
];
/// Names of fields that say when.
pub(super) const TIME_NAMES: [&[u8]; 9] = [
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

/// Whether a field says who wrote a message and when, not what.
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
