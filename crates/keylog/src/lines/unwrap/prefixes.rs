//! Prefixes of every line: `file:12:` of grep, numbers of `cat -n`, a container's name, a collector's host.

use crate::lines::fields::number;
use crate::lines::stamp;
use crate::lines::text::{Text, source};
use std::collections::HashMap;

/// Bytes at the start of a line in which the prefix ends.
const REACH: usize = 200;
/// Fewest lines by which a prefix is known.
const FEWEST: usize = 3;
/// Most files that one search found.
const MOST_FILES: usize = 1_000;

/// `grep -n`, `grep -rn`, `cat -n`: the numbers rise, file by file.
pub(super) fn numbered(text: &Text) -> Option<Text> {
    if !text.begins_with(|line| number_before(line).is_some()) {
        return None;
    }
    let mut last: HashMap<&[u8], u64> = HashMap::new();
    let (mut rising, mut all, mut first) = (0, 0, 0);
    for line in text.filled() {
        if line.bytes == b"--" {
            continue;
        }
        all += 1;
        let Some((file, number, _)) = number_before(line.bytes) else {
            continue;
        };
        match last.insert(file, number) {
            None => first += 1,
            Some(before) if number > before => rising += 1,
            Some(_) => {}
        }
        if last.len() > MOST_FILES || all > FEWEST && rising + first == 0 {
            return None;
        }
    }
    let paths = last
        .keys()
        .all(|file| file.contains(&b'/') || file.contains(&b'.'));
    if (all < FEWEST || first * 2 > all) && !paths || rising + first == 0 || (rising + first) * 10 < all * 9 {
        return None;
    }
    Some(text.without(|line| match number_before(line) {
        Some((b"", _, len)) => Some((0..len, 0)),
        Some((file, _, len)) => Some((0..len, source(file))),
        // grep parts the places that it found.
        None => (line == b"--").then_some((0..line.len(), 0)),
    }))
}

/// File, number and length of the prefix.
fn number_before(line: &[u8]) -> Option<(&[u8], u64, usize)> {
    let reach = line.get(..line.len().min(REACH))?;
    let trimmed = reach.trim_ascii_start();
    let digits = trimmed.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits > 0 {
        let start = reach.len() - trimmed.len();
        let end = start + digits;
        let value = number(reach.get(start..end)?)?;
        let ended = match reach.get(end)? {
            b':' | b'-' if start == 0 => 1,
            b'\t' => 1,
            b' ' if reach.get(end + 1) == Some(&b' ') => 2,
            b' ' if reach.get(end..)?.starts_with(b" | ") => 3,
            _ => 0,
        };
        return (ended > 0).then_some((&[][..], value, end + ended));
    }
    reach
        .iter()
        .enumerate()
        .filter(|(_, b)| matches!(b, b':' | b'-'))
        .find_map(|(at, mark)| {
            let file = reach.get(..at)?;
            let rest = reach.get(at + 1..)?;
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            // `"HMAC-SHA-256-128"` of a table is no file.
            let sign = |b: &u8| b.is_ascii_whitespace() || b"\"'=,;<>{}|".contains(b);
            let named = file.iter().any(u8::is_ascii_alphabetic) && !file.iter().any(sign);
            (named && digits > 0 && rest.get(digits) == Some(mark))
                .then(|| Some((file, number(rest.get(..digits)?)?, at + digits + 2)))?
        })
}

/// The name of a file (`grep -r`), a container (`docker compose logs`) or a pod before every line.
pub(super) fn named(text: &Text) -> Option<Text> {
    if !text.begins_with(|line| name_before(line).is_some()) {
        return None;
    }
    let (marked, lines) = text.count(|line| name_before(line).is_some());
    if lines < FEWEST || marked * 10 < lines * 9 {
        return None;
    }
    Some(text.without(|line| {
        let (name, len) = name_before(line)?;
        Some((0..len, source(name)))
    }))
}

fn name_before(line: &[u8]) -> Option<(&[u8], usize)> {
    let reach = line.get(..line.len().min(REACH))?;
    if let Some(pod) = reach.strip_prefix(b"[pod/") {
        let end = pod.iter().position(|b| *b == b']')?;
        return Some((pod.get(..end)?, (end + 7).min(line.len())));
    }
    let word_len = reach.iter().position(|b| matches!(b, b' ' | b'\t' | b':'))?;
    let word = reach.get(..word_len)?;
    let letters = word.iter().any(u8::is_ascii_alphabetic);
    let rest = reach.get(word_len..)?;
    if rest.starts_with(b":") {
        // A file: it has a folder or an ending.
        let path = word.contains(&b'/')
            || word
                .windows(4)
                .any(|w| w == b".log" || w == b".txt" || w == b".out");
        return (path && letters && !word.starts_with(b"/ip")).then_some((word, word_len + 1));
    }
    let blanks = rest.iter().take_while(|b| **b == b' ').count();
    let bar = rest.get(blanks..)?.starts_with(b"| ");
    let plain = word
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b));
    (bar && letters && plain).then_some((word, word_len + blanks + 2))
}

/// Words with which every line of a listing or a script may begin: none is a host.
const OPENINGS: [&[u8]; 6] = [b"sa", b"src", b"add", b"ip", b"ipsec", b"vppctl"];

/// A collector's host between an ISO time and the message: one and the same word on every line, or always an address.
pub(super) fn collector(text: &Text) -> Option<Text> {
    let host_of = |line: &[u8]| -> Option<(usize, usize)> {
        let rest = stamp::iso(line)?.rest;
        let word = rest.trim_ascii_start();
        let start = line.len() - word.len();
        // Kubernetes' nodes write the stream, and whether the line is whole.
        let stream = [&b"stdout F"[..], b"stdout P", b"stderr F", b"stderr P"];
        if let Some(stream) = stream.iter().find(|stream| word.starts_with(stream)) {
            return Some((start, stream.len()));
        }
        let len = word.iter().position(u8::is_ascii_whitespace)?;
        if stamp::header(word).time.is_some() {
            return None; // a daemon's own time
        }
        let host = word.get(..len)?;
        // A facility, `user.debug:`, stands behind the host.
        let name = host
            .strip_suffix(b":")
            .filter(|name| name.contains(&b'.'))
            .unwrap_or(host);
        let plain = name
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b));
        (plain && len > 1 && !OPENINGS.contains(&host)).then_some((start, len))
    };
    if !text.begins_with(|line| host_of(line).is_some()) {
        return None;
    }
    let mut first: Option<&[u8]> = None;
    let (mut timed, mut same, mut addresses) = (0, 0, 0);
    for line in text.filled() {
        if stamp::iso(line.bytes).is_none() {
            continue;
        }
        timed += 1;
        let Some(host) = host_of(line.bytes).and_then(|(start, len)| line.bytes.get(start..start + len))
        else {
            continue;
        };
        same += usize::from(*first.get_or_insert(host) == host);
        addresses += usize::from(
            host.iter().filter(|b| **b == b'.').count() == 3 && !host.iter().any(u8::is_ascii_alphabetic),
        );
    }
    if timed < FEWEST || (same < timed && addresses < timed) {
        return None;
    }
    Some(text.without(|line| {
        let (start, len) = host_of(line)?;
        let end = start + len;
        let blank = usize::from(line.get(end) == Some(&b' '));
        Some((start..end + blank, source(line.get(start..end)?)))
    }))
}
