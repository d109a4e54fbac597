//! Loggers write a time in any form, a host, a program or a number before every line of a listing. Formats of logs know their own framing; listings and
//! tables have none, so their records begin only behind it.

use crate::lines::outer::sender;
use crate::lines::text::Text;

/// Tells whether a line begins a record that nothing stands before.
pub(crate) type Begins = fn(&[u8]) -> bool;

/// Most lines that are looked at: a listing of hundreds of SAs.
const SAMPLE: usize = 2_000;
/// Fewest lines by which a framing is known: two may be alike by chance.
const FEWEST: usize = 3;
/// Most bytes that the framing takes: RFC 5424 allows a time of 32, a host and a program, and hosts and programs are short.
const REACH: usize = 120;
/// Lines of ten that begin with the framing: the others are what a person or a pager added.
const FRAMED: usize = 9;

/// The lines without what stands before nearly all of them, where a record begins behind it and none begins with it.
pub(super) fn framed(text: &Text, begins: Begins) -> Option<Text> {
    let lines: Vec<&[u8]> = text.filled().take(SAMPLE).map(|line| line.bytes).collect();
    if lines.len() < FEWEST {
        return None;
    }
    let usual = shape(lines.get(lines.len() / 2)?);
    let mut shared: Vec<usize> = lines.iter().map(|line| common(&usual, &shape(line))).collect();
    shared.sort_unstable();
    let shared = *shared.get(lines.len() * (10 - FRAMED) / 10)?;
    let at_blank = |len: &usize| {
        let kind = usual.get(len - 1).map(|(kind, _)| *kind);
        matches!(kind, Some(b' ' | b'\t'))
    };
    let mut ends = (2..=shared.min(usual.len())).filter(at_blank).peekable();
    ends.peek()?;
    if lines.iter().any(|line| begins(line.trim_ascii_start())) {
        return None;
    }
    let behind = |line: &[u8], len: usize| {
        let shape = shape(line);
        let (_, end) = *shape.get(len - 1).filter(|_| common(&usual, &shape) >= len)?;
        Some(end)
    };
    let begins_behind = |line: &&[u8], len: usize| {
        let end = behind(line, len);
        end.and_then(|end| line.get(end..))
            .is_some_and(|rest| begins(rest.trim_ascii_start()))
    };
    let len = ends.find(|len| lines.iter().any(|line| begins_behind(line, *len)))?;
    Some(text.without(|line| {
        // Editors cut the blank at the end of an empty message.
        let end = behind(line, len)?;
        Some((0..end, sender(line.get(..end)?)))
    }))
}

/// The kinds of the first characters, a number being one, each with where it ends.
fn shape(line: &[u8]) -> Vec<(u8, usize)> {
    let mut shape: Vec<(u8, usize)> = Vec::with_capacity(REACH);
    for (at, byte) in line.iter().enumerate().take(REACH) {
        let kind = if byte.is_ascii_digit() { b'0' } else { *byte };
        match shape.last_mut() {
            Some((b'0', end)) if kind == b'0' => *end = at + 1,
            _ => shape.push((kind, at + 1)),
        }
    }
    shape
}

/// Characters that both begin with; all of them where one is a part of the other.
fn common(usual: &[(u8, usize)], other: &[(u8, usize)]) -> usize {
    let mut pairs = usual.iter().zip(other);
    pairs
        .position(|((one, _), (other, _))| one != other)
        .unwrap_or(usize::MAX)
}
