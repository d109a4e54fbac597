//! The outer framing of a router's log line: what collectors, syslog and the router itself put before the message.
//! Each part is optional; they come in this order:
//!
//! ```text
//! PRI        <15>                              RFC 5424  1 TIME HOST APP PROCID MSGID SD
//! RFC 3164   Nov 20 20:11:53 HOST              ISO 8601  2026-11-20T20:11:53.123+09:00
//! TS         2026/11/20 20:11:53:  (anything may precede it)
//! TAG        [IKE] [IKE1] [IKE2] [IPSEC] [L2TP]  CTX     GW:1/SA:4/INIT
//! ```

use crate::lines::fields::parsed;
use crate::lines::stamp;
use crate::lines::text::{About, TextLine};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The router's timestamp and tag are looked for in this many bytes at the start of a line.
const FRAMING_REACH: usize = 200;
const TIMESTAMP: &[u8] = b"0000/00/00 00:00:00";
/// Tags of the subsystems whose lines carry or surround keys.
const TAGS: [(&[u8], Tag); 5] = [
    (b"[IKE]", Tag::Ike),
    (b"[IKE1]", Tag::Ike),
    (b"[IKE2]", Tag::Ike2),
    (b"[IPSEC]", Tag::Ike),
    (b"[L2TP]", Tag::Other),
];

/// The subsystem that wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    /// No tag.
    None,
    /// `[IKE]`, `[IKE1]`, `[IPSEC]`.
    Ike,
    /// `[IKE2]`.
    Ike2,
    /// Another one: its lines may stand between the lines of a key.
    Other,
}

/// A line and its framing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogLine<'a> {
    /// 1-based.
    pub(crate) number: u64,
    /// The whole line.
    pub(crate) raw: &'a [u8],
    /// The message: the line without the framing, trimmed.
    pub(crate) text: &'a [u8],
    /// Stands for the sender that the framing or a wrapping names; 0 without one.
    pub(crate) sender: u64,
    /// The router's timestamp as the number yyyymmddhhmmss.
    pub(crate) moment: Option<u64>,
    /// Number of the SA that the router names before the message.
    pub(crate) context: Option<u32>,
    /// The subsystem that the tag names.
    pub(crate) tag: Tag,
    /// Words of a wrapping.
    pub(crate) about: About,
    /// Number of bytes before the router's timestamp, its tag or the message, whichever comes first.
    pub(crate) framed_at: usize,
}

impl<'a> LogLine<'a> {
    /// Takes the framing off.
    pub(crate) fn new(line: TextLine<'a>) -> LogLine<'a> {
        let TextLine {
            number,
            bytes: raw,
            about,
        } = line;
        let mut line = LogLine {
            number,
            raw,
            text: raw,
            about,
            sender: 0,
            moment: None,
            context: None,
            tag: Tag::None,
            framed_at: 0,
        };
        let (mut prefix_len, mut collected_len) = (0, 0);
        if let Some((start, moment)) = find_timestamp(raw) {
            line.moment = Some(moment);
            prefix_len = start;
            let after = raw.get(start + TIMESTAMP.len()..).unwrap_or_default();
            line.text = after.strip_prefix(b":").unwrap_or(after);
        } else {
            line.text = stamp::header(raw).rest;
            // A collector's header may stand before a daemon's own.
            let inner = stamp::header(line.text);
            if inner.time.is_some() && line.text.len() < raw.len() {
                collected_len = raw.len() - line.text.len();
                line.text = inner.rest;
            }
            prefix_len = prefix_len.max(raw.len() - line.text.len());
        }
        if let Some((start, len, tag)) = find_tag(line.text) {
            line.tag = tag;
            if line.moment.is_none() {
                prefix_len += start;
            }
            line.text = line.text.get(start + len..).unwrap_or_default();
        }
        line.text = line.text.trim_ascii();
        line.take_context();
        // A host that a collector names is the sender, whatever a daemon writes before its own lines.
        let outer = sender(raw.get(..collected_len).unwrap_or_default());
        let inner = || sender(raw.get(..prefix_len).unwrap_or_default());
        line.sender = about.source ^ if outer == 0 { inner() } else { outer };
        line.framed_at = prefix_len;
        line
    }

    /// The time of a collector before the line.
    pub(crate) fn collected(&self) -> Option<u64> {
        // Most lines have nothing before them.
        (self.framed_at > 0).then(|| stamp::header(self.raw).time)?
    }

    /// `(GW:(*|digits)/)?SA:digits/word` at the start of the message.
    fn take_context(&mut self) {
        let after_gateway = self.text.strip_prefix(b"GW:").and_then(|rest| {
            let slash = rest.iter().take(8).position(|b| *b == b'/')?;
            rest.get(slash + 1..)
        });
        let Some(digits) = after_gateway.unwrap_or(self.text).strip_prefix(b"SA:") else {
            return;
        };
        let len = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        let number = digits.get(..len).and_then(parsed);
        let state = digits.get(len..).and_then(|rest| rest.strip_prefix(b"/"));
        let (Some(number), Some(state)) = (number, state) else {
            return;
        };
        self.context = Some(number);
        let word = state
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        self.text = state.get(word..).unwrap_or_default().trim_ascii_start();
    }

    /// A prompt with or without an echoed command, or a rule of dashes: part of no message.
    pub(crate) fn is_console_noise(&self) -> bool {
        let text = self.raw.trim_ascii();
        text.is_empty()
            || text.starts_with(b"--")
            || (matches!(text.last(), Some(b'#' | b'>'))
                && !text.starts_with(b"<")
                && !text.iter().any(u8::is_ascii_whitespace))
            || is_command(text)
    }
}

/// The router's timestamp: where it starts and its digits as one number.
pub(crate) fn find_timestamp(raw: &[u8]) -> Option<(usize, u64)> {
    let reach = raw.get(..raw.len().min(FRAMING_REACH))?;
    memchr::memchr_iter(b'/', reach).find_map(|slash| {
        let start = slash.checked_sub(4)?;
        let moment = stamp::shaped(raw.get(start..)?, TIMESTAMP)?;
        Some((start, moment))
    })
}

/// The first tag: where it starts, its length. A digit before the bracket is strongSwan's thread number, not a router's tag.
fn find_tag(text: &[u8]) -> Option<(usize, usize, Tag)> {
    let reach = text.get(..text.len().min(FRAMING_REACH))?;
    memchr::memchr_iter(b'[', reach).find_map(|start| {
        if start > 0 && text.get(start - 1).is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let rest = text.get(start..)?;
        TAGS.into_iter()
            .find(|(text, _)| rest.starts_with(text))
            .map(|(text, tag)| (start, text.len(), tag))
    })
}

/// A number for the host that a prefix names: its words without times and numbers.
pub(crate) fn sender(prefix: &[u8]) -> u64 {
    let prefix = stamp::after_pri(prefix.trim_ascii());
    if prefix.is_empty() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    let mut named = false;
    for word in prefix.split(|b| b.is_ascii_whitespace()) {
        let word = word.strip_suffix(b":").unwrap_or(word);
        let word = word.strip_prefix(b"[").unwrap_or(word);
        let dots = word.iter().filter(|b| **b == b'.').count();
        let time =
            word.contains(&b':') && word.first().is_some_and(u8::is_ascii_digit) || stamp::is_of_a_date(word);
        if !time && (dots >= 3 || word.iter().any(u8::is_ascii_alphabetic)) {
            word.hash(&mut hasher);
            named = true;
        }
    }
    if named { hasher.finish() } else { 0 }
}

// Commands that a console echoes between what they print.

/// Beginnings of commands that print keys, or that people type beside those.
const COMMANDS: [&[u8]; 32] = [
    b"show ",
    b"ip xfrm",
    b"ip -",
    b"ip x",
    b"sudo ",
    b"setkey ",
    b"journalctl",
    b"tail ",
    b"cat ",
    b"grep ",
    b"less ",
    b"more ",
    b"zcat ",
    b"docker ",
    b"kubectl ",
    b"swanctl ",
    b"ipsec ",
    b"vppctl",
    b"diag ",
    b"diagnose ",
    b"get ",
    b"/ip ",
    b"/log ",
    b"no ",
    b"syslog ",
    b"console ",
    b"administrator",
    b"exit",
    b"logread",
    b"adb ",
    b"tshark ",
    b"tcpdump ",
];
/// Longest prompt.
const LONGEST_PROMPT: usize = 80;

/// The command that is typed behind a prompt; the line itself where there is none.
fn after_prompt(line: &[u8]) -> &[u8] {
    let reach = line.get(..line.len().min(LONGEST_PROMPT)).unwrap_or_default();
    let prompt = reach
        .iter()
        .position(|b| matches!(b, b'#' | b'>' | b'$' | b'%' | b']'));
    let rest = prompt
        .and_then(|at| line.get(at + 1..))
        .map(<[u8]>::trim_ascii_start);
    rest.filter(|rest| begins_command(rest))
        .unwrap_or_else(|| line.trim_ascii_start())
}

/// Tells whether the line is a command with or without a prompt before it.
pub(crate) fn is_command(line: &[u8]) -> bool {
    begins_command(after_prompt(line)) && !holds_a_key(line)
}

fn begins_command(text: &[u8]) -> bool {
    // Most lines begin with a digit or a sign.
    text.first().is_some_and(|b| b.is_ascii_lowercase() || *b == b'/')
        && COMMANDS.iter().any(|command| text.starts_with(command))
}

/// A command that gives a key is more than an echo: `ip xfrm state add …`, `tshark -o 'uat:esp_sa:…'`.
fn holds_a_key(line: &[u8]) -> bool {
    line.split(|b| !b.is_ascii_hexdigit())
        .any(|digits| digits.len() >= 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bytes: &[u8]) -> LogLine<'_> {
        LogLine::new(TextLine {
            number: 1,
            bytes,
            about: About::default(),
        })
    }

    fn text(raw: &[u8]) -> String {
        String::from_utf8_lossy(line(raw).text).into_owned()
    }

    #[test]
    fn every_framing_leaves_the_message() {
        for raw in [
            "SPI: aa",
            "[IKE] SPI: aa",
            "[IKE2] SA:5/IKE SPI: aa",
            "2026/11/20 20:11:53: [IKE] GW:*/SA:4/INIT SPI: aa",
            "<15>[IKE] SPI: aa",
            "<15> Nov 20 20:11:53 rt1 [IKE] SPI: aa",
            "<15>Nov  2 20:11:53 rt1 SPI: aa",
            "<15>1 2026-11-20T20:11:53.1Z rt1 - - - - [IKE1] SPI: aa",
            "2026-11-20T20:11:53+09:00 192.168.100.1 user.debug: [IKE] SPI: aa",
            "Nov 20 20:11:53 192.168.100.1 2026/11/20 20:11:53: SPI: aa",
            "2026-11-20 20:11:53.123 SPI: aa",
            "1 2026-11-20T20:11:53Z rt1 ike - - - [IKE] SPI: aa",
        ] {
            assert_eq!(text(raw.as_bytes()), "SPI: aa", "{raw}");
        }
        assert_eq!(text(b"17:01 11[IKE] SKEYID"), "17:01 11[IKE] SKEYID");
        assert_eq!(text(b"<9999>x"), "<9999>x");
    }

    #[test]
    fn what_the_framing_says() {
        let named = line(b"Nov 20 20:11:53 rt1 2026/11/20 20:11:53: [IKE2] SA:4/IKE x");
        assert_eq!(
            (named.moment, named.context, named.tag),
            (Some(20_261_120_201_153), Some(4), Tag::Ike2)
        );
        assert_ne!(named.sender, 0);
        assert_eq!(
            named.sender,
            line(b"<15>Nov 21 01:00:00 rt1 2026/11/21 01:00:00: y").sender
        );
        assert_eq!(line(b"2026/11/20 20:11:53: x").sender, 0);
        assert_eq!(line(b"<15>[IKE] x").sender, 0);
    }

    #[test]
    fn cut_anywhere() {
        let raw = b"<15>1 2026-11-20T20:11:53Z h - - - - 2026/11/20 20:11:53: [IKE] GW:1/SA:4/INIT SPI: aa";
        for end in 0..=raw.len() {
            line(&raw[..end]);
        }
    }
}
