//! strongSwan's charon log with level 4 for IKE and CHD. Key lines name no SPI; lines of one thread belong together. The level (`09[CHD4]`), the name of the
//! connection (`09[CHD] <lab|1>`) and, in the journal, even thread and group are a matter of settings.
//!
//! ```text
//! 1795205513.615 11[IKE] SKEYID_e => 20 bytes @ 0x552ab01a40
//! 1795205513.615 11[IKE]    0: 55 A5 1C D0 EA FB 9C 97 8D AE 05 9E 95 A3 33 E0  U.............3.
//! 1795205513.615 11[IKE]   16: 85 96 52 29                                      ..R)
//! 1795205513.877 09[IKE] CHILD_SA lab{1} established with SPIs c7df968a_i c06e0f04_o and TS …
//! ```

use crate::formats::charon_child::Child;
use crate::formats::format::KeyFormat;
use crate::lines::dump::{Dump, MOST_DUMP_BYTES, spaced_pairs};
use crate::lines::fields::{after_program, find, parsed, word_after, words};
use crate::lines::hex;
use crate::lines::outer::{LogLine, sender};
use crate::material::ike_record::{IkeRecord, ike_spi};
use crate::material::key::SecretName;
use crate::material::sink::Sink;
use rekeyscope_model::spi::{IkeSpi, Spi};
use std::collections::HashMap;

/// `09[CHD]` is looked for in this many bytes at the start of a line.
const FRAMING_REACH: usize = 200;
/// Most threads of all daemons whose lines are kept apart; at the bound what they have is handed over.
const MOST_THREADS: usize = 1_024;
/// IKE secrets take the cookies that their thread names at most this many lines later.
const COOKIE_LINES: u64 = 200;

/// Names that a syslog has for the daemon.
const PROGRAMS: [&[u8]; 4] = [b"charon", b"ipsec", b"strongswan", b"daemon."];

/// Reader of the log.
#[derive(Default)]
pub(crate) struct Charon {
    threads: HashMap<(u64, u32), Thread>,
    /// Sender of the last line: rows without anything before them are of the same sender.
    last: (u64, u32),
}

/// Stands for the thread where a log names none.
const NO_THREAD: u32 = u32::MAX;

#[derive(Default)]
struct Thread {
    dump: Option<(Dump, usize)>,
    /// Both SPIs of the IKE SA that the thread works on.
    spis: Option<(IkeSpi, Option<IkeSpi>)>,
    /// The message at hand creates a CHILD_SA: new IKE secrets belong to another IKE SA than `spis`.
    in_create_child: bool,
    ike: IkeRecord,
    child: Child,
}

impl KeyFormat for Charon {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        let (key, message) = match split(line.raw) {
            Some((prefix, number, message)) => ((line.about.source ^ sender(prefix), number), message),
            None => match self.bare_message(line) {
                Some(bare) => bare,
                None => return false,
            },
        };
        self.last = key;
        if self.threads.len() >= MOST_THREADS && !self.threads.contains_key(&key) {
            self.finish(sink);
        }
        self.threads
            .entry(key)
            .or_default()
            .line(message, line.number, sink);
        true
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        let mut threads: Vec<_> = self.threads.drain().collect();
        threads.sort_unstable_by_key(|(key, _)| *key);
        for (_, mut thread) in threads {
            if let Some((dump, _)) = thread.dump.take() {
                thread.child.cut(&dump, sink);
            }
            thread.ike.emit(sink);
            thread.child.hand_over(sink);
        }
    }
}

impl Charon {
    /// A message that only its own words tell. Rows are such where a dump is open.
    fn bare_message<'l>(&self, line: &LogLine<'l>) -> Option<((u64, u32), &'l [u8])> {
        let text = after_program(line.text, &PROGRAMS);
        let text = after_group(text).unwrap_or_else(|| after_name(text));
        let key = (line.sender, line.about.thread.unwrap_or(NO_THREAD));
        let is_open = |key: &(u64, u32)| self.threads.get(key).is_some_and(|thread| thread.dump.is_some());
        if line.framed_at == 0
            && is_open(&self.last)
            && (row(text).is_some() || !spaced_pairs(text).is_empty())
        {
            return Some((self.last, text));
        }
        let known = dump_header(text)
            .is_some_and(|(label, _)| secret_of(label).is_some() || Child::has_label(label))
            || text.starts_with(b"using ")
                && (text.ends_with(b" for encryption") || text.ends_with(b" for integrity"))
            || text.starts_with(b"adding ") && text.ends_with(b" ESP SA")
            || text.starts_with(b"SPI 0x") && find(text, b", src ").is_some()
            || text.starts_with(b"parsed ")
                && (find(text, b" request ").is_some() || find(text, b" response ").is_some())
            || find(text, b"_SA ").is_some() && find(text, b" with SPIs ").is_some()
            || is_open(&key) && (row(text).is_some() || !spaced_pairs(text).is_empty());
        known.then_some((key, text))
    }
}

/// Text before the thread number, the number, and the message after `09[CHD] `, `09[CHD4] ` or `09[CHD] <lab|1> `.
fn split(raw: &[u8]) -> Option<(&[u8], u32, &[u8])> {
    let reach = raw.get(..raw.len().min(FRAMING_REACH))?;
    memchr::memchr_iter(b'[', reach).find_map(|bracket| {
        let before = raw.get(..bracket)?;
        let digits = before.iter().rev().take_while(|b| b.is_ascii_digit()).count();
        let message = after_group(raw.get(bracket..)?).filter(|_| digits >= 2)?;
        let (prefix, number) = before.split_at(bracket - digits);
        Some((prefix, parsed(number)?, message))
    })
}

/// The message after `[CHD] `, `[CHD4] ` or `[CHD] <lab|1> `.
fn after_group(text: &[u8]) -> Option<&[u8]> {
    let (group, rest) = text.strip_prefix(b"[")?.split_first_chunk::<3>()?;
    let rest = rest.strip_prefix(b"]").or_else(|| match rest {
        [level, b']', rest @ ..] if level.is_ascii_digit() => Some(rest),
        _ => None,
    })?;
    let message = rest.strip_prefix(b" ").or(rest.is_empty().then_some(rest))?;
    group
        .iter()
        .all(u8::is_ascii_uppercase)
        .then(|| after_name(message).trim_ascii_start())
}

/// The message without the name of the connection: `<lab|1> `.
fn after_name(message: &[u8]) -> &[u8] {
    let name = message
        .strip_prefix(b"<")
        .and_then(|name| name.iter().position(|b| *b == b'>'));
    name.and_then(|end| message.get(end + 2..))
        .and_then(|rest| rest.strip_prefix(b" ").or(rest.is_empty().then_some(rest)))
        .unwrap_or(message)
}

/// Offset and pairs of a row: `   16: E2 C5 9C A7   ....`
fn row(message: &[u8]) -> Option<(usize, &[u8])> {
    let trimmed = message.trim_ascii_start();
    let digits = trimmed.iter().take_while(|b| b.is_ascii_digit()).count();
    let offset = parsed(trimmed.get(..digits)?)?;
    let pairs = trimmed.get(digits..)?.strip_prefix(b": ")?;
    Some((offset, pairs.trim_ascii_start()))
}

impl Thread {
    fn line(&mut self, message: &[u8], number: u64, sink: &mut Sink<'_>) {
        if self.dump_row(message, sink) {
            return;
        }
        if let Some((dump, _)) = self.dump.take() {
            self.child.cut(&dump, sink);
        }
        if let Some((label, len)) = dump_header(message) {
            self.dump = Some((Dump::new(label, number), len));
        } else if message.starts_with(b"parsed ") {
            self.child.begin_message(message);
            self.in_create_child = find(message, b" CREATE_CHILD_SA ").is_some();
        } else if let Some(at) = find(message, b" with SPIs ") {
            self.named_spis(message.get(at + 11..).unwrap_or_default(), number, sink);
        } else if message.starts_with(b"using ") && message.ends_with(b" for encryption") {
            self.child.begin(word_after(message, b"using"), sink);
        } else if message.starts_with(b"using ") && message.ends_with(b" for integrity") {
            self.child.integrity(word_after(message, b"using"));
        } else if message.starts_with(b"adding ") && message.ends_with(b" ESP SA") {
            self.child.adding(message.starts_with(b"adding inbound"));
        } else if let Some(rest) = message.strip_prefix(b"SPI 0x") {
            self.child.added(rest, number, sink);
        }
    }

    /// A row of the open dump: its offset says where it belongs, so a row that a collector wrote twice does no harm. A row that was broken goes on
    /// with pairs alone.
    fn dump_row(&mut self, message: &[u8], sink: &mut Sink<'_>) -> bool {
        let Some((dump, len)) = &mut self.dump else {
            return false;
        };
        let broken = !dump.bytes.len().is_multiple_of(16);
        let pairs = match row(message) {
            Some((offset, pairs)) if offset == dump.bytes.len() => pairs,
            Some((offset, _)) if offset < dump.bytes.len() => return true,
            Some(_) => return false,
            None if broken && !spaced_pairs(message).is_empty() => message,
            None => return false,
        };
        let left = *len - dump.bytes.len().min(*len);
        let pairs = spaced_pairs(pairs);
        dump.append(
            pairs
                .get(..left.min(16 - dump.bytes.len() % 16))
                .unwrap_or(&pairs),
        );
        if dump.bytes.len() == *len
            && let Some((dump, _)) = self.dump.take()
        {
            self.value(&dump, sink);
        }
        true
    }

    fn value(&mut self, dump: &Dump, sink: &mut Sink<'_>) {
        if self.child.value(dump, sink) {
            return;
        }
        let Some(name) = secret_of(&dump.label) else {
            return;
        };
        self.ike.secret(name, dump.line, &dump.bytes, sink);
        if let Some((initiator, responder)) = self.spis.filter(|_| !self.in_create_child)
            && self.ike.initiator_spi.is_none()
        {
            self.ike.initiator_spi = Some(initiator);
            self.ike.responder_spi = responder;
        }
    }

    /// `with SPIs 33ac…_i 4330…_r` (IKE SA) or `with SPIs c7df968a_i c06e0f04_o` (CHILD_SA).
    fn named_spis(&mut self, rest: &[u8], number: u64, sink: &mut Sink<'_>) {
        let mut words = words(rest);
        let initiator = words
            .next()
            .and_then(|w| w.strip_suffix(b"_i"))
            .unwrap_or_default();
        let second = words
            .find(|w| w.ends_with(b"_r") || w.ends_with(b"_o"))
            .unwrap_or_default();
        if let Some(responder) = second.strip_suffix(b"_r") {
            let decoded = |digits: &[u8]| ike_spi(&hex::decode(digits)?);
            if let Some(initiator) = decoded(initiator) {
                self.work_on(initiator, decoded(responder), number, sink);
            }
        } else if let Some(outbound) = second.strip_suffix(b"_o")
            && let (Some(inbound), Some(outbound)) = (hex::spi_digits(initiator), hex::spi_digits(outbound))
        {
            self.child.established(Spi(inbound), Spi(outbound), number, sink);
        }
    }

    fn work_on(&mut self, initiator: IkeSpi, responder: Option<IkeSpi>, number: u64, sink: &mut Sink<'_>) {
        self.spis = Some((initiator, responder));
        if self.ike.line == 0 {
            return;
        }
        let near = number.saturating_sub(self.ike.line) <= COOKIE_LINES;
        let same = self.ike.initiator_spi.is_none_or(|spi| spi == initiator);
        if near && same && !self.in_create_child {
            self.ike.initiator_spi = Some(initiator);
            self.ike.responder(responder);
        } else {
            self.ike.emit(sink);
        }
    }
}

/// `SKEYID_e => 20 bytes @ 0x552ab01a40`: label and length.
fn dump_header(message: &[u8]) -> Option<(&[u8], usize)> {
    let at = find(message, b" => ")?;
    let mut rest = words(message.get(at + 4..)?);
    let len = parsed(rest.next()?)?;
    let label = message.get(..at)?;
    (rest.next()? == b"bytes" && rest.next()? == b"@" && (1..=MOST_DUMP_BYTES).contains(&len))
        .then_some((label, len))
}

/// The secret that a dump's label names.
fn secret_of(label: &[u8]) -> Option<SecretName> {
    match label {
        b"shared Diffie Hellman secret" | b"shared key exchange secret" | b"key exchange secret" => {
            Some(SecretName::Dh)
        }
        b"encryption key Ka" => Some(SecretName::Ka),
        _ => SecretName::named(label.strip_suffix(b" secret").unwrap_or(label)),
    }
}
