//! Logs with the newest line first, as Graylog, Kibana, `tac` and a router's `show log reverse` have them.

use crate::lines::dump::is_dump_row;
use crate::lines::fields::{find, number};
use crate::lines::outer;
use crate::lines::stamp;
use crate::lines::text::{Text, TextLine};

/// The command of a router that prints the newest line first.
const ANNOUNCED: &[u8] = b"show log reverse";
/// Falls are this many times as frequent as rises.
const FALLS: usize = 4;

/// The lines, oldest first.
pub(super) fn newest_first(text: &Text) -> Option<Text> {
    let (mut falls, mut rises) = (0, 0);
    let mut before = None;
    for line in text.lines() {
        let time = time_of(line);
        if let (Some(before), Some(time)) = (before, time) {
            falls += usize::from(time < before);
            rises += usize::from(time > before);
        }
        before = time.or(before);
    }
    if falls == 0 && rises == 0 {
        (falls, rises) = rows(text);
    }
    let is_announced = rises == 0 && find(text.bytes(), ANNOUNCED).is_some();
    if falls < FALLS * rises || falls == 0 && !is_announced {
        return None;
    }
    let mut next = text.next();
    // Without the command the order is announced no more.
    let announces = |line: &TextLine<'_>| find(line.bytes, ANNOUNCED).is_some();
    let mut lines: Vec<TextLine<'_>> = text.lines().filter(|line| !announces(line)).collect();
    // An export keeps the lines of one message in order; so does a log whose messages begin with their time.
    let grouped = lines.first().is_some_and(|first| time_of(*first).is_some())
        && lines.last().is_some_and(|last| time_of(*last).is_none());
    lines.reverse();
    let same = |a: &TextLine<'_>, b: &TextLine<'_>| {
        let exported = a.number == b.number && a.about.time.is_some() && a.about.time == b.about.time;
        exported || grouped && time_of(*a).is_none()
    };
    for group in lines.chunk_by(same) {
        group.iter().rev().for_each(|line| next.push(*line));
    }
    Some(next)
}

/// The time that an export says of a line, else the router's, else the line's own.
fn time_of(line: TextLine<'_>) -> Option<u64> {
    let router = outer::find_timestamp(line.bytes).map(|(_, moment)| moment);
    let own = || stamp::header(line.bytes).time.or_else(|| epoch(line.bytes));
    line.about.time.or(router).or_else(own)
}

/// `1795205513.615 09[CHD]`: seconds since 1970.
fn epoch(line: &[u8]) -> Option<u64> {
    let (seconds, rest) = line.split_at_checked(10)?;
    let rest = rest.strip_prefix(b".").unwrap_or(rest);
    let fraction: u64 = rest
        .iter()
        .take(3)
        .take_while(|b| b.is_ascii_digit())
        .fold(0, |n, b| n * 10 + u64::from(b - b'0'));
    let all = stamp::shaped(seconds, b"0000000000")?;
    line.get(10)
        .is_some_and(|b| matches!(b, b'.' | b' '))
        .then_some(all * 1000 + fraction)
}

/// Counts of dumps without times: rows that follow the one after them, and rows in order.
fn rows(text: &Text) -> (usize, usize) {
    let offsets: Vec<Option<u64>> = text.lines().map(|line| offset(line.bytes)).collect();
    let mut counts = (0, 0);
    for pair in offsets.windows(2) {
        if let [Some(a), Some(b)] = pair {
            counts.0 += usize::from(*a == b + 16);
            counts.1 += usize::from(*b == a + 16);
        }
    }
    counts
}

fn offset(line: &[u8]) -> Option<u64> {
    let colon = memchr::memmem::find_iter(line, b": ")
        .find(|at| is_dump_row(line.get(at.saturating_sub(5)..).unwrap_or_default()))?;
    let before = line.get(..colon)?;
    let digits = before.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    number(before.get(colon - digits..)?)
}
