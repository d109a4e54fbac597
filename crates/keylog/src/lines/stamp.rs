//! Times and headers that collectors and daemons put before a line: RFC 3164, RFC 5424, ISO 8601.

/// The beginning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineHeader<'a> {
    /// Stands for its time, to the second: what is logged at once has the same. Times of different forms do not compare.
    pub(crate) time: Option<u64>,
    /// The rest of the line. The host is part of syslog's headers, not of an ISO time.
    pub(crate) rest: &'a [u8],
}

/// Takes PRI, and a header of syslog or an ISO time, off.
pub(crate) fn header(raw: &[u8]) -> LineHeader<'_> {
    let rest = after_pri(raw.trim_ascii_start());
    rfc5424(rest)
        .or_else(|| rfc3164(rest))
        .or_else(|| iso(rest))
        .unwrap_or(LineHeader {
            time: None,
            rest: after_pri(raw),
        })
}

/// The text behind `<15>`.
pub(crate) fn after_pri(raw: &[u8]) -> &[u8] {
    let Some(rest) = raw.strip_prefix(b"<") else {
        return raw;
    };
    let digits = rest.iter().take(4).take_while(|b| b.is_ascii_digit()).count();
    match rest.get(digits..).and_then(|r| r.strip_prefix(b">")) {
        Some(message) if (1..=3).contains(&digits) => message.strip_prefix(b" ").unwrap_or(message),
        _ => raw,
    }
}

/// Digits of `text` where it has the shape of `shape`: `0` stands for any digit, `?` for a T or a blank.
pub(crate) fn shaped(text: &[u8], shape: &[u8]) -> Option<u64> {
    let mut number = 0;
    for (byte, shape) in text.get(..shape.len())?.iter().zip(shape) {
        match (shape, byte.is_ascii_digit()) {
            (b'0', true) => number = number * 10 + u64::from(byte - b'0'),
            (b'0', false) => return None,
            (b'?', _) if matches!(byte, b'T' | b't' | b' ') => {}
            (separator, _) if separator != byte => return None,
            _ => {}
        }
    }
    Some(number)
}

/// `2026-11-20T20:11:53.123456+09:00`, also with a blank for T, without fraction or zone, in brackets, with a colon behind it.
pub(crate) fn iso(text: &[u8]) -> Option<LineHeader<'_>> {
    let bracketed = text.strip_prefix(b"[");
    let (time, rest) = iso_time(bracketed.unwrap_or(text))?;
    let rest = if bracketed.is_some() {
        rest.strip_prefix(b"]")?
    } else {
        rest.strip_prefix(b":").unwrap_or(rest)
    };
    let time = Some(time);
    (rest.is_empty() || rest.starts_with(b" ") || rest.starts_with(b"\t"))
        .then_some(LineHeader { time, rest })
}

fn iso_time(text: &[u8]) -> Option<(u64, &[u8])> {
    const SHAPE: &[u8] = b"0000-00-00?00:00:00";
    let time = shaped(text, SHAPE)?;
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut rest = text.get(SHAPE.len()..)?;
    if let [b'.' | b',', fraction @ ..] = rest {
        rest = fraction.get(digits(fraction)..)?;
    }
    if let [b'Z' | b'z', after @ ..] = rest {
        return Some((time, after));
    }
    let zone = match rest {
        [b' ', b'+' | b'-', zone @ ..] if digits(zone) == 4 => zone,
        [b'+' | b'-', zone @ ..] => zone,
        _ => return Some((time, rest)),
    };
    let after = zone.get(digits(zone)..)?;
    let minutes = after.strip_prefix(b":").filter(|minutes| digits(minutes) == 2);
    Some((
        time,
        minutes.and_then(|minutes| minutes.get(2..)).unwrap_or(after),
    ))
}

const DAYS: [&[u8]; 7] = [b"Mon ", b"Tue ", b"Wed ", b"Thu ", b"Fri ", b"Sat ", b"Sun "];
const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// `Nov 20 20:11:53 HOST MESSAGE` (RFC 3164 §4.1.2), also with the day of the week before and the year behind, as OpenWrt has it.
fn rfc3164(text: &[u8]) -> Option<LineHeader<'_>> {
    let text = text
        .get(4..)
        .filter(|_| DAYS.iter().any(|day| text.starts_with(day)))
        .unwrap_or(text);
    let [a, b, c, b' ', ten, rest @ ..] = text else {
        return None;
    };
    let tens = if *ten == b' ' { 0 } else { shaped(&[*ten], b"0")? };
    let rest_of_time = shaped(rest, b"0 00:00:00 ")?;
    let month = MONTHS.iter().position(|month| **month == [*a, *b, *c])? as u64;
    let rest = rest.get(11..)?;
    let host_end = memchr::memchr(b' ', rest)?;
    let (host, behind) = rest.split_at(host_end);
    // A daemon's own file has a time and no host: `Nov 20 20:11:53 09[CHD] …`.
    let named = !host.ends_with(b":") && !host.contains(&b'[');
    let rest = if named { behind.get(1..)? } else { rest };
    Some(LineHeader {
        time: Some(month << 32 | (tens * 10_000_000 + rest_of_time)),
        rest: after_program(rest).unwrap_or(rest),
    })
}

/// Tells whether a word is the name of a month or of a day of the week.
pub(crate) fn is_of_a_date(word: &[u8]) -> bool {
    MONTHS.iter().any(|month| *month == word) || DAYS.iter().any(|day| day.trim_ascii() == word)
}

/// The text behind `program[123]: `. Without a number it may as well be a label.
fn after_program(text: &[u8]) -> Option<&[u8]> {
    let (program, rest) = word(text);
    let mut parts = program.strip_suffix(b"]:")?.rsplitn(2, |b| *b == b'[');
    let number = parts.next()?;
    let named = parts.next().is_some_and(|name| !name.is_empty());
    (named && !number.is_empty() && number.iter().all(u8::is_ascii_digit)).then_some(rest)
}

/// `1 TIME HOST APP PROCID MSGID SD MESSAGE` (RFC 5424 §6). Some senders write fewer or more dashes than the four after the host.
fn rfc5424(text: &[u8]) -> Option<LineHeader<'_>> {
    let (time, rest) = word(text.strip_prefix(b"1 ")?);
    let time = match iso_time(time) {
        Some((time, b"")) => Some(time),
        _ if time == b"-" => None,
        _ => return None,
    };
    let (_host, mut rest) = word(rest);
    let mut end = rest;
    for _field in 0..4 {
        if let Some(message) = after_structured_data(rest) {
            end = message;
            break;
        }
        let (field, after) = word(rest);
        rest = after;
        if field == b"-" {
            end = after;
        }
    }
    let rest = end.strip_prefix(b"\xef\xbb\xbf").unwrap_or(end);
    Some(LineHeader { time, rest })
}

/// A word and what follows the blank behind it.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b' ', text).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.get(1..).unwrap_or_default())
}

/// `[id@123 name="value with blanks"][…] MESSAGE`; a router's tag has neither parameters nor an enterprise number.
fn after_structured_data(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    while let Some(element) = rest.strip_prefix(b"[") {
        let (mut quoted, mut escaped) = (false, false);
        let end = element.iter().position(|byte| {
            let closes = *byte == b']' && !quoted;
            quoted ^= *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            closes
        })?;
        let (inside, after) = element.split_at(end);
        if !inside.iter().any(|b| matches!(b, b'=' | b'@')) {
            break;
        }
        rest = after.get(1..)?;
    }
    (rest.len() < text.len()).then(|| rest.strip_prefix(b" ").unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_value_may_hold_brackets_and_quotes() {
        for element in [
            r#"[a@1 x="]"]"#,
            r#"[ab@1 x="]"]"#,
            r#"[a@1 x="\"]"]"#,
            r#"[a@1 x="\\"]"#,
            r#"[a@1 x="\\\"]"]"#,
        ] {
            let text = format!("{element} message");
            assert_eq!(
                after_structured_data(text.as_bytes()),
                Some(&b"message"[..]),
                "{text}"
            );
        }
        assert_eq!(after_structured_data(br#"[a@1 x="open] message"#), None);
    }

    #[test]
    fn every_header_leaves_the_message() {
        for raw in [
            "[IKE] x",
            "<15>[IKE] x",
            "<15>Nov 20 20:11:53 rt1 [IKE] x",
            "Nov  2 20:11:53 192.0.2.1 [IKE] x",
            "Nov  2 20:11:53 192.0.2.1 rtlog[12]: [IKE] x",
            "<15>1 2026-11-20T20:11:53Z h - - - - [IKE] x",
            "1 2026-11-20T20:11:53.123+09:00 h app - - - [IKE] x",
            "1 2026-11-20T20:11:53Z h - - - [IKE] x",
            "1 2026-11-20T20:11:53Z h - - [IKE] x",
            "1 2026-11-20T20:11:53Z h - [IKE] x",
            "1 2026-11-20T20:11:53Z h [IKE] x",
            "1 - h app 123 ID47 - [IKE] x",
            "1 2026-11-20T20:11:53Z h app 123 ID47 [a@1 b=\"c ] \\\" d\"][e@2 f=\"g\"] [IKE] x",
            "1 2026-11-20T20:11:53Z - - - - - \u{feff}[IKE] x",
            "2026-11-20T20:11:53Z [IKE] x",
            "2026-11-20 20:11:53 [IKE] x",
            "2026-11-20 20:11:53,123: [IKE] x",
            "2026-11-20 20:11:53 +0900 [IKE] x",
            "2026-11-20T20:11:53.123456-0930 [IKE] x",
            "[2026-11-20 20:11:53.123] [IKE] x",
        ] {
            let rest = header(raw.as_bytes()).rest.trim_ascii_start();
            assert_eq!(String::from_utf8_lossy(rest), "[IKE] x", "{raw}");
        }
    }

    #[test]
    fn times_compare_to_the_second() {
        let time = |raw: &str| header(raw.as_bytes()).time;
        assert_eq!(time("2026-11-20T20:11:53.1Z x"), time("2026-11-20 20:11:53.9 x"));
        assert_ne!(time("2026-11-20T20:11:53Z x"), time("2026-11-20T20:11:54Z x"));
        assert_eq!(time("<15>Nov 20 20:11:53 a x"), time("Nov 20 20:11:53 b y"));
        assert_ne!(time("Nov 20 20:11:53 a x"), time("Nov 10 20:11:53 a x"));
        assert_ne!(time("Nov 20 20:11:53 a x"), time("Dec 20 20:11:53 a x"));
        assert_eq!(time("x"), None);
        assert_eq!(time("1 - h - - - - x"), None);
        for other in [
            "2026-11-20T20:11:53Zx",
            "2026-11-2 20:11:53 x",
            "[2026-11-20 20:11:53 x",
            "<9999>2026-11-20 20:11:53 x",
        ] {
            assert_eq!(
                header(other.as_bytes()),
                LineHeader {
                    time: None,
                    rest: other.as_bytes()
                }
            );
        }
    }

    #[test]
    fn cut_anywhere() {
        for raw in [
            &b"<15>1 2026-11-20T20:11:53.123+09:00 h a b c [d@1 e=\"f\"] - [IKE] x"[..],
            b"<15>Nov 20 20:11:53 rt1 x",
            b"[2026-11-20 20:11:53.123 +0900] x",
        ] {
            for end in 0..=raw.len() {
                header(&raw[..end]);
            }
        }
    }
}
