//! The log of a Yamaha router (NVR500, NVR510, RTX) with `ipsec ike log 1 key-info`. The labels of its lines are
//! not documented: an SPI and keys that follow it are a claim, everything else of sixteen bytes and more is kept for
//! mining, and the capture decides. `show ipsec sa gateway N detail` is read alike, SA by SA; outside of the serial console its keys are masked,
//! and the console shows eight bytes of some.
//!
//! ```text
//! SA[2] Duration: 1719s
//! Protocol: ESP (Mode: transport)
//! SPI: a6 67 47 47
//! Key: ** ** ** ** **  (confidential)   ** ** ** ** **
//! ```

use crate::formats::format::KeyFormat;
use crate::formats::yamaha::labels::{Kind, is_masked, kind};
use crate::formats::yamaha::records::EspRecord;
use crate::formats::yamaha::runs::{HexRun, RowFraming, SoFar, continuation, next_run};
use crate::lines::algorithm_names::{fits_encryption, keymat_encryption_len};
use crate::lines::fields::find;
use crate::lines::hex;
use crate::lines::outer::{LogLine, Tag};
use crate::material::claim::PREFIX_LEN;
use crate::material::ike_record::{IkeRecord, ike_spi};
use crate::material::key::{KeyDefect, Seed, SeedOf};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::Encryption;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use std::collections::HashMap;
use zeroize::Zeroizing;

/// Most senders and SA contexts whose lines are kept apart. At the bound all of them are closed: a key whose lines
/// stand on both sides of that place is then left to mining.
const MOST_CONTEXTS: usize = 4_096;
/// Most hex digits of one value; more is a dump, of which the rest opens another value.
const MOST_DIGITS: usize = 8_192;

/// An odd number of digits is a cut key from here on; fewer are some number after a word like "key".
const FEWEST_KEY_DIGITS: usize = 24;

/// Reader of the log.
#[derive(Default)]
pub(crate) struct YamahaKeyInfo {
    contexts: HashMap<(u64, u32), Context>,
    /// The context of each sender's last line that named one.
    last: HashMap<u64, u32>,
    /// The sender of the last line that had anything before its message: a bare row is of the same.
    sender: u64,
    /// A line of another subsystem came, and none with a tag since: hex without a tag is of that one.
    foreign: bool,
    /// A line had the router's own framing.
    framed: bool,
    /// A block of `show ipsec sa` came.
    listed: bool,
    told_masked: bool,
}

/// Lines of one sender and one SA number.
#[derive(Default)]
struct Context {
    open: Option<OpenValue>,
    /// The end of the last line with a value: a label may be cut there.
    tail: Option<(Vec<u8>, RowFraming)>,
    esp: EspRecord,
    ike: IkeRecord,
    /// The lines are a block of `show ipsec sa`.
    listed: bool,
}

/// A value that may go on on the next line.
struct OpenValue {
    kind: Kind,
    label: Vec<u8>,
    nibbles: Zeroizing<Vec<u8>>,
    group: usize,
    prefixed: bool,
    /// Digits in its first row and in its last.
    first_row: usize,
    last_row: usize,
    line: u64,
    framing: RowFraming,
}

impl KeyFormat for YamahaKeyInfo {
    fn special_name(&self) -> Option<&'static str> {
        let table = self.listed.then_some("Yamaha show ipsec sa");
        table.or((!self.framed).then_some("labelled hex"))
    }

    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        if line.tag == Tag::Other {
            return false;
        }
        let mut line = *line;
        if line.tag == Tag::None && line.framed_at == 0 {
            line.sender = self.sender;
        }
        self.sender = line.sender;
        let line = &line;
        let number = line
            .context
            .or_else(|| self.last.get(&line.sender).copied())
            .unwrap_or(0);
        if let Some(named) = line.context {
            self.last.insert(line.sender, named);
        }
        if self.contexts.len() >= MOST_CONTEXTS && !self.contexts.contains_key(&(line.sender, number)) {
            self.finish(sink);
        }
        if starts_block(line.text) {
            self.listed = true;
            let context = self.contexts.entry((line.sender, number)).or_default();
            context.end(sink);
            context.listed = true;
            return true;
        }
        let first = next_run(line.text, 0);
        self.foreign = line.tag == Tag::None && (self.foreign || (first.is_none() && line.context.is_none()));
        let context = match &first {
            // Most lines of most logs hold no hex: they must not create a context.
            None if !line.text.ends_with(b":") => self.contexts.get_mut(&(line.sender, number)),
            _ => Some(self.contexts.entry((line.sender, number)).or_default()),
        };
        let foreign = self.foreign;
        let taken = context.is_some_and(|context| {
            if context.listed && is_masked(line.text) {
                context.close(sink);
                context.esp.defective(KeyDefect::Masked, line.number);
                if !std::mem::replace(&mut self.told_masked, true) {
                    sink.problem(line.number, MASKED);
                }
                return true;
            }
            context.line(line, first, foreign, sink)
        });
        self.framed |= taken && (line.moment.is_some() || line.tag != Tag::None || line.context.is_some());
        taken
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        let mut contexts: Vec<_> = self.contexts.drain().collect();
        contexts.sort_unstable_by_key(|(key, _)| *key);
        for (_, mut context) in contexts {
            context.end(sink);
        }
        self.last.clear();
    }
}

/// `SA[2] Duration: 1719s`
fn starts_block(text: &[u8]) -> bool {
    text.starts_with(b"SA[") && find(text, b"] Duration:").is_some()
}

const MASKED: &str = "the router masks keys on this connection: run the command on the serial console, or log the keys with \
                      `ipsec ike log 1 key-info` and `syslog debug on`";

impl Context {
    /// Everything is complete.
    fn end(&mut self, sink: &mut Sink<'_>) {
        self.close(sink);
        self.esp.emit(sink);
        self.ike.emit(sink);
    }

    /// True when the line holds or continues a value. `foreign`: hex without a tag is of another subsystem.
    fn line(
        &mut self,
        line: &LogLine<'_>,
        first: Option<HexRun<'_>>,
        foreign: bool,
        sink: &mut Sink<'_>,
    ) -> bool {
        let text = line.text;
        let mut at = 0;
        if let Some(open) = &mut self.open {
            let more = open.continuation(line, foreign);
            match more.filter(|run| open.nibbles.len() + run.nibbles.len() <= MOST_DIGITS) {
                Some(run) => {
                    open.append(&run);
                    at = run.end;
                }
                // Lines of another subsystem, without tag, may stand between the lines of a tagged value.
                None if open.framing.is_tagged() && line.tag == Tag::None && (foreign || first.is_none()) => {
                    return false;
                }
                None => {}
            }
            if at == 0 && open.framing.is_of(line) {
                // The rest of a label on a cut line may look like half a byte: the a of "auth key".
                let tail = open.take_letter().map(|letter| (vec![letter], open.framing));
                self.tail = tail.or(self.tail.take());
            }
            if at == 0 || !text.get(at..).unwrap_or_default().is_empty() {
                self.close(sink);
            }
        }
        let mut next = if at == 0 { first } else { next_run(text, at) };
        let mut found = at > 0;
        while let Some(run) = next {
            found = true;
            at = run.end;
            let tail = self
                .tail
                .take()
                .filter(|(_, framing)| framing.is_of(line) || framing.may_lack_its_tag(line));
            let tail = tail.map(|(tail, _)| tail).unwrap_or_default();
            self.open = Some(OpenValue::new(run, &tail, line));
            let ends_line = text.get(at..).unwrap_or_default().is_empty();
            if !ends_line {
                self.close(sink);
            }
            next = next_run(text, at);
        }
        let tail = text.get(at..).unwrap_or_default();
        if found {
            self.tail = (!tail.is_empty()).then(|| (tail.to_vec(), RowFraming::of(line)));
        }
        found | self.open_label(tail, line)
    }

    /// A label at the end of a line: its value follows on the next one.
    fn open_label(&mut self, tail: &[u8], line: &LogLine<'_>) -> bool {
        let ends = tail.ends_with(b":") || tail.ends_with(b"=");
        let opens = ends && kind(tail) != Kind::Unknown;
        if opens {
            let run = HexRun {
                label: tail,
                ..HexRun::default()
            };
            self.open = Some(OpenValue::new(run, b"", line));
        }
        opens
    }

    /// The open value is complete.
    fn close(&mut self, sink: &mut Sink<'_>) {
        let Some(open) = self.open.take().filter(|open| !open.nibbles.is_empty()) else {
            return;
        };
        if open.kind == Kind::Spi && open.nibbles.len() <= 8 {
            let number = open
                .nibbles
                .iter()
                .fold(0_u32, |n, nibble| n << 4 | u32::from(*nibble));
            return self.spi(Spi(number), open.line, sink);
        }
        let bytes = Zeroizing::new(hex::pack(&open.nibbles));
        let key_like = open.kind.is_key() && open.nibbles.len() >= FEWEST_KEY_DIGITS;
        if key_like && !open.nibbles.len().is_multiple_of(2) {
            sink.problem(
                open.line,
                "the value has an odd number of hex digits: the line was cut; save the log without line length limit",
            );
            if open.kind.may_hold_a_key() {
                self.esp.defective(KeyDefect::Truncated, open.line);
            }
            return sink.blob(open.line, open.label(), &bytes);
        }
        // Lines without a label go on where an SPI stood: then keys follow it.
        let more_than_an_spi = open.kind == Kind::Spi && bytes.len() > 16;
        if open.kind.may_hold_a_key() || more_than_an_spi {
            sink.blob(open.line, open.label(), &bytes);
        }
        self.value(&open, &bytes, sink);
    }

    fn value(&mut self, open: &OpenValue, bytes: &[u8], sink: &mut Sink<'_>) {
        match open.kind {
            Kind::EncryptionKey | Kind::IntegrityKey => self.esp.key(open.kind, open.line, bytes, sink),
            Kind::Keymat | Kind::Key => {
                if let Some(split) = keymat_encryption_len(bytes.len(), None, None) {
                    let (encryption, integrity) = bytes.split_at(split);
                    self.esp.key(Kind::EncryptionKey, open.line, encryption, sink);
                    self.esp.key(Kind::IntegrityKey, open.line, integrity, sink);
                } else if open.kind == Kind::Key && self.esp.sa.spi.is_none() {
                    match self.listed && bytes.len() <= PREFIX_LEN {
                        true => self.ike.prefix(open.line, bytes),
                        false => self.ike.unnamed_key(open.line, bytes, sink),
                    }
                } else if open.kind == Kind::Key && fits_encryption(Encryption::AesCbc, bytes.len()) {
                    // The authentication key may follow by itself.
                    self.esp.key(Kind::EncryptionKey, open.line, bytes, sink);
                } else if self.listed {
                    let defect = match bytes.len() {
                        PREFIX_LEN => KeyDefect::Prefix8,
                        _ => KeyDefect::Truncated,
                    };
                    self.esp.defective(defect, open.line);
                }
            }
            Kind::SharedSecret => sink.seed(Seed {
                of: SeedOf::SharedSecret,
                bytes: SecretBytes::from(bytes),
                dh_secret: None,
                spis: None,
                origin: sink.explicit(open.line),
            }),
            Kind::Spi | Kind::Message => self.cookies(open, bytes, sink),
            Kind::InitiatorCookie => self.ike.initiator(ike_spi(bytes), sink),
            Kind::ResponderCookie => self.ike.responder(ike_spi(bytes)),
            Kind::Secret(name) => self.ike.secret(name, open.line, bytes, sink),
            Kind::Unknown | Kind::NoKey => {}
        }
    }

    fn spi(&mut self, spi: Spi, line: u64, sink: &mut Sink<'_>) {
        sink.sighting(line, spi);
        if self.esp.sa.spi != Some(spi) {
            self.esp.emit(sink);
            self.esp.sa.spi = Some(spi);
        }
    }

    /// Both cookies, or the initiator's alone. In a message's dump they stand as two groups of sixteen digits.
    fn cookies(&mut self, open: &OpenValue, bytes: &[u8], sink: &mut Sink<'_>) {
        if open.kind == Kind::Message && (open.group != 16 || bytes.len() != 16) {
            return;
        }
        if bytes.len() == 16 || bytes.len() == 8 {
            let (initiator, responder) = bytes.split_at(8);
            self.ike.initiator(ike_spi(initiator), sink);
            self.ike.responder(ike_spi(responder));
        }
    }
}

impl OpenValue {
    fn new(run: HexRun<'_>, tail: &[u8], line: &LogLine<'_>) -> OpenValue {
        let mut nibbles = Zeroizing::new(run.nibbles);
        nibbles.truncate(MOST_DIGITS);
        let mut label = run.label.to_vec();
        let mut kind = self::kind(&label);
        if matches!(kind, Kind::Unknown | Kind::Key) && !tail.is_empty() {
            // Syslog over UDP cuts wherever its limit falls, between words or inside one.
            let joined = [[tail, &label].concat(), [tail, b" ", &label].concat()];
            if let Some(whole) = joined
                .into_iter()
                .find(|l| !matches!(self::kind(l), Kind::Unknown | Kind::Key))
            {
                kind = self::kind(&whole);
                label = whole;
            }
        }
        OpenValue {
            kind,
            label,
            first_row: nibbles.len(),
            last_row: nibbles.len(),
            nibbles,
            group: run.group,
            prefixed: run.prefixed,
            line: line.number,
            framing: RowFraming::of(line),
        }
    }

    /// The hex with which `line` goes on, where it is framed as this value is: the same time and tag, or none at all. A row with the time
    /// but no tag may be of another subsystem: it has to be the missing rest.
    fn continuation<'a>(&self, line: &LogLine<'a>, foreign: bool) -> Option<HexRun<'a>> {
        let odd = !self.nibbles.len().is_multiple_of(2);
        let so_far = SoFar {
            group: self.group,
            digits: self.nibbles.len(),
            prefixed: self.prefixed,
        };
        let run = continuation(line.text, so_far)?;
        let whole = |digits: usize| digits.is_multiple_of(2) && self.kind.is_whole(digits / 2);
        // A value whose length is reached ends there: another row would have been as long as its others.
        let as_long = run.nibbles.len() == self.first_row && self.last_row == self.first_row;
        if whole(self.nibbles.len()) && !whole(self.nibbles.len() + run.nibbles.len()) && !as_long {
            return None;
        }
        if self.framing.is_of(line) {
            return Some(run);
        }
        if !self.framing.may_lack_its_tag(line) || foreign {
            return None;
        }
        let bare = line.moment.is_none() && line.collected().is_none();
        let rest = run.nibbles.len() < self.first_row && whole(self.nibbles.len() + run.nibbles.len());
        (bare || odd || !whole(self.nibbles.len()) || rest).then_some(run)
    }

    /// Takes a single letter off that stands behind whole groups.
    fn take_letter(&mut self) -> Option<u8> {
        let letter = self
            .nibbles
            .last()
            .filter(|nibble| **nibble >= 10)
            .map(|nibble| nibble - 10 + b'a')?;
        let alone = self.group > 1 && self.nibbles.len() % self.group == 1;
        if alone && self.kind.is_whole(self.nibbles.len() / 2) {
            self.nibbles.pop();
            return Some(letter);
        }
        None
    }

    fn append(&mut self, run: &HexRun<'_>) {
        if self.nibbles.is_empty() {
            (self.prefixed, self.first_row) = (run.prefixed, run.nibbles.len());
        }
        (self.group, self.last_row) = (run.group, run.nibbles.len());
        self.nibbles.extend_from_slice(&run.nibbles);
    }

    fn label(&self) -> &[u8] {
        self.label.trim_ascii()
    }
}
