//! Reads a listing by its [`Spec`]: words behind labels. A key goes on on the next line until it is as long as its transform asks for.

use crate::formats::format::KeyFormat;
use crate::formats::listing::record::{Awaited, Field, KeyKind, ListingRecord};
use crate::formats::listing::specs::Spec;
use crate::lines::outer::{LogLine, Tag};
use crate::material::sink::Sink;
use std::net::IpAddr;

pub(crate) use crate::formats::listing::specs::{
    DPDK, FORTIOS, FORTIOS_IKE, MIKROTIK, SCAPY, SETKEY, SETKEY_CONF, TCPDUMP, VPP, XFRM, begins_any,
};

/// Lines after which an SA that nothing was added to is complete.
const MOST_LINES: u64 = 40;
/// Words before a literal that are no key.
const CALLS: [&[u8]; 6] = [
    b"b",
    b"bytes.fromhex",
    b"binascii.unhexlify",
    b"unhexlify",
    b"bytearray.fromhex",
    b"codecs.decode",
];

/// Reader of a listing.
pub(crate) struct Listing {
    spec: &'static Spec,
    record: Option<ListingRecord>,
    /// The line that added to the SA last.
    last: u64,
    /// The key at the end of that line.
    open: Option<KeyKind>,
    ends: Option<(IpAddr, IpAddr)>,
    told_hidden: bool,
}

impl Listing {
    pub(crate) fn new(spec: &'static Spec) -> Listing {
        Listing {
            spec,
            record: None,
            last: 0,
            open: None,
            ends: None,
            told_hidden: false,
        }
    }
}

impl KeyFormat for Listing {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        if line.moment.is_some() || line.tag != Tag::None {
            return false; // a router's log line
        }
        if let Some(ends) = (self.spec.ends)(line.text) {
            self.finish(sink);
            self.ends = Some(ends);
            return true;
        }
        let begins = (self.spec.begins)(line.text);
        let others = begins.is_none() && self.record.is_some() && begins_any(line.text);
        if begins.is_some() || others || line.number.saturating_sub(self.last) > MOST_LINES {
            self.finish(sink);
        }
        if begins.is_some() {
            let mut record = ListingRecord::default();
            record.at(line.number, self.ends);
            self.record = Some(record);
        }
        if self.record.is_none() {
            return false;
        }
        let start = begins.unwrap_or(0);
        let taken = self.words(
            line.text.get(start..).unwrap_or_default(),
            line.number,
            begins.is_some(),
        );
        if taken {
            self.last = line.number;
        }
        taken
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        (self.open, self.last) = (None, 0);
        if let Some(record) = self.record.take() {
            record.hand_over(self.spec.hidden, &mut self.told_hidden, sink);
        }
    }
}

impl Listing {
    /// Reads a line; true when anything on it is of the SA.
    fn words(&mut self, line: &[u8], number: u64, begins: bool) -> bool {
        let Some(record) = &mut self.record else {
            return false;
        };
        let mut taken = begins;
        let mut open = self.open.take();
        // The transform that the line named last.
        let mut last = KeyKind::Encryption;
        // A key of the line before.
        let mut carried = open.is_some();
        let (mut rest, mut begun) = (line, false);
        let mut awaited: Vec<Awaited> = if begins {
            self.spec.unlabelled.to_vec()
        } else {
            Vec::new()
        };
        while let Some((word, quoted, after)) = next_word(rest, self.spec.separators) {
            rest = after;
            if let Some(half) = open {
                if record.goes_on(half, word, carried && !begun) {
                    (taken, begun) = (true, true);
                    continue;
                }
                open = None;
            }
            (begun, carried) = (true, false);
            if let Some(value) = awaited.first().copied() {
                let call = matches!(value, Awaited::Key(_)) && !quoted && CALLS.contains(&word);
                let bracketed =
                    matches!(value, Awaited::Bits(_)) && (word.starts_with(b"(") || word.ends_with(b")"));
                if call || bracketed {
                    continue;
                }
                awaited.remove(0);
                record.value(value, word, quoted, number);
                taken = true;
                open = if let Awaited::Key(half) = value {
                    Some(half)
                } else {
                    None
                };
                continue;
            }
            let Some((_, field)) = self.spec.labels.iter().find(|(label, _)| *label == word) else {
                continue;
            };
            taken = true;
            awaited.clear();
            match field {
                Field::Skip => {
                    // The value reaches to the end of the line, or of what stands for one.
                    let Some(end) = after
                        .iter()
                        .position(|b| self.spec.separators == b"\\" && *b == b'\\')
                    else {
                        break;
                    };
                    rest = after.get(end..).unwrap_or_default();
                }
                Field::Outbound => record.outbound(),
                Field::NotEsp => record.other_protocol = true,
                Field::Of(half) => last = *half,
                Field::Values(values) => {
                    if let [
                        Awaited::Name(half @ (KeyKind::Encryption | KeyKind::Integrity)),
                        ..,
                    ] = values
                    {
                        last = *half;
                    }
                    awaited = values.iter().map(|value| value.of(last)).collect();
                }
            }
        }
        self.open = open.filter(|half| !record.is_whole(*half));
        taken
    }
}

/// The next word, whether it stood in quotes, and what follows.
fn next_word<'l>(line: &'l [u8], separators: &[u8]) -> Option<(&'l [u8], bool, &'l [u8])> {
    let parts = |b: &u8| b.is_ascii_whitespace() || separators.contains(b);
    let start = line.iter().position(|b| !parts(b))?;
    let line = line.get(start..)?;
    if let Some((quote @ (b'"' | b'\''), inside)) = line.split_first() {
        if let Some(end) = inside.iter().position(|b| b == quote) {
            return Some((inside.get(..end)?, true, inside.get(end + 1..)?));
        }
        return next_word(inside, separators);
    }
    // `b'…'`: the letter is a word of its own.
    if let [b'b', quote @ (b'"' | b'\''), ..] = line
        && line.get(2..).is_some_and(|rest| rest.contains(quote))
    {
        return Some((line.get(..1)?, false, line.get(1..)?));
    }
    let end = line
        .iter()
        .position(|b| parts(b) || matches!(b, b'"' | b'\''))
        .unwrap_or(line.len());
    Some((line.get(..end)?, false, line.get(end..)?))
}
