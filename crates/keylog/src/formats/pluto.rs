//! pluto (libreswan, Openswan, old strongSwan) with private debugging. Lines begin with `| `; a dump goes on on lines of
//! hex.
//!
//! ```text
//! | ICOOKIE:  33 ac ac 76  50 47 9d 9d
//! | enc key:  55 a5 1c d0  ea fb 9c 97  8d ae 05 9e  95 a3 33 e0
//! | ESP encrypt key:  49 76 …         | ESP integrity key:  c4 6a …       | our  keymat  …        (libreswan 4 and 5)
//! | ESP enckey:  49 76 …              | ESP authkey:  c4 6a …             | KEYMAT computed:  …   (libreswan 3, Openswan)
//! | ikev2 I 0x33ac… 0x4330… sha1-96:0x… aes128:0x…
//! "lab" #2: STATE_QUICK_I2: sent QI2, IPsec SA established transport mode {ESP=>0xc06e0f04 <0xc7df968a …}
//! ```
//! Of an SPI in `esp.c7df968a@10.9.0.2` the nearest ESP keys are claimed.

use crate::formats::format::KeyFormat;
use crate::lines::dump::{Dump, whole_row};
use crate::lines::fields::{address, find, split_at_sign, until, words};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::material::ike_record::{IkeRecord, ike_spi};
use crate::material::key::{EspKey, SecretName};
use crate::material::sink::Sink;
use rekeyscope_model::spi::{IkeSpi, Spi};
use std::net::IpAddr;

/// An SPI and keys belong together when they are at most this many lines apart.
const NEAR_LINES: u64 = 60;
/// Most pairs of keys that wait for their SPI.
const MOST_WAITING: usize = 16;

/// Reader of the log.
#[derive(Default)]
pub(crate) struct Pluto {
    dump: Option<Dump>,
    ike: IkeRecord,
    encryption_key: Option<Dump>,
    /// The last SPI with its destination, and its line.
    near: Option<(u64, Spi, Option<IpAddr>)>,
    waiting: Vec<Pair>,
    /// SPIs that keys were claimed for: a log names them again, and what follows is of another.
    claimed: Vec<Spi>,
}

/// A line of the table that tcpdump takes, `ikev2 I …` or `ikev2 R …`: both SPIs, and the secrets of one side. Newer versions leave the keys out.
type TableLine = ([IkeSpi; 2], [(SecretName, Vec<u8>); 2]);

fn table_line(message: &[u8]) -> Option<TableLine> {
    let rest = message.trim_ascii_start().strip_prefix(b"ikev2 ")?;
    let mut words = words(rest);
    let (integrity, encryption) = match words.next()? {
        b"I" => (SecretName::SkAi, SecretName::SkEi),
        b"R" => (SecretName::SkAr, SecretName::SkEr),
        _ => return None,
    };
    let mut spi = || {
        let digits = words.next().and_then(hex::after_0x)?;
        ike_spi(&hex::decode(digits)?)
    };
    let spis = [spi()?, spi()?];
    let mut key = || {
        let (_, digits) = split_at_sign(words.next()?, b':')?;
        hex::after_0x(digits).and_then(hex::decode)
    };
    Some((spis, [(integrity, key()?), (encryption, key()?)]))
}

/// Keys without their SPI, and of a keymat whether it is of the SA that this side receives on.
struct Pair {
    inbound: Option<bool>,
    keys: EspKey,
}

impl KeyFormat for Pluto {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        if memchr::memchr2(b'|', b'#', line.raw).is_none() {
            return false; // neither a debugging line nor one about a state
        }
        let message = debug_message(if line.text.starts_with(b"|") {
            line.text
        } else {
            line.raw
        });
        if let Some(dump) = &mut self.dump
            && let Some(row) = message.and_then(whole_row)
        {
            dump.append(&row);
            return true;
        }
        let mentioned = self.mentions(line, sink);
        let Some(message) = message else { return mentioned };
        self.end_dump(sink);
        if let Some(([initiator, responder], secrets)) = table_line(message) {
            self.ike.initiator(Some(initiator), sink);
            self.ike.responder(Some(responder));
            for (name, secret) in secrets {
                self.ike.secret(name, line.number, &secret, sink);
            }
            return true;
        }
        let Some((label, rest)) = label(message) else {
            return mentioned;
        };
        let row = whole_row(rest);
        if row.is_none() && !rest.trim_ascii().is_empty() {
            return mentioned;
        }
        let mut dump = Dump::new(label, line.number);
        dump.append(&row.unwrap_or_default());
        self.dump = Some(dump);
        true
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.end_dump(sink);
        self.ike.emit(sink);
        for pair in std::mem::take(&mut self.waiting) {
            pair.keep(sink);
        }
    }
}

/// The text after `| `, which stands at the start of a line or after a time or syslog's `pluto[123]: `.
fn debug_message(raw: &[u8]) -> Option<&[u8]> {
    let bar = memchr::memchr(b'|', raw.get(..raw.len().min(120))?)?;
    let framed = bar == 0 || raw.get(..bar).is_some_and(|before| before.ends_with(b": "));
    raw.get(bar + 1..)?.strip_prefix(b" ").filter(|_| framed)
}

/// Tells whether a line is a debugging line of pluto with a label that is known here.
pub(crate) fn begins(line: &[u8]) -> bool {
    line.strip_prefix(b"| ").and_then(label).is_some()
}

/// A label that is known here, and what follows it.
fn label(message: &[u8]) -> Option<(&'static [u8], &[u8])> {
    const LABELS: [&[u8]; 24] = [
        b"ICOOKIE",
        b"RCOOKIE",
        b"Skeyid_d",
        b"Skeyid_a",
        b"Skeyid_e",
        b"Skeyid",
        b"SKEYID_d",
        b"SKEYID_a",
        b"SKEYID_e",
        b"SKEYID",
        b"enc key",
        b"enc_key",
        b"ESP encrypt key",
        b"ESP integrity key",
        b"ESP enckey",
        b"ESP authkey",
        b"KEYMAT computed",
        b"Peer KEYMAT computed",
        b"our  keymat",
        b"peer  keymat",
        b"peer keymat",
        b"our keymat",
        b"SK_d",
        b"SKEYSEED",
    ];
    let message = message.trim_ascii_start();
    LABELS.into_iter().find_map(|label| {
        let rest = message.strip_prefix(label)?;
        let rest = rest
            .strip_prefix(b":")
            .or_else(|| rest.first().is_some_and(u8::is_ascii_whitespace).then_some(rest))?;
        Some((label, rest))
    })
}

impl Pluto {
    fn end_dump(&mut self, sink: &mut Sink<'_>) {
        // The authentication key of a combined mode is empty.
        let holds = |dump: &Dump| !dump.bytes.is_empty() || dump.label.as_slice() == b"ESP integrity key";
        let Some(dump) = self.dump.take().filter(holds) else {
            return;
        };
        match dump.label.as_slice() {
            b"ICOOKIE" => self.ike.initiator(ike_spi(&dump.bytes), sink),
            b"RCOOKIE" => self.ike.responder(ike_spi(&dump.bytes)),
            b"ESP encrypt key" | b"ESP enckey" => self.encryption_key = Some(dump),
            b"ESP integrity key" | b"ESP authkey" => self.integrity_key(&dump, sink),
            b"our  keymat" | b"our keymat" | b"KEYMAT computed" => self.keymat(&dump, true, sink),
            b"peer keymat" | b"peer  keymat" | b"Peer KEYMAT computed" => self.keymat(&dump, false, sink),
            label => {
                let name = SecretName::named(label).unwrap_or(SecretName::Ka);
                self.ike.secret(name, dump.line, &dump.bytes, sink);
            }
        }
    }

    fn integrity_key(&mut self, dump: &Dump, sink: &mut Sink<'_>) {
        let Some(encryption) = self.encryption_key.take() else {
            return;
        };
        let keys = EspKey {
            encryption_key: encryption.bytes.as_slice().into(),
            integrity_key: dump.bytes.as_slice().into(),
            ..EspKey::at(encryption.line)
        };
        // Keys right after their SPI are claimed, others wait for it.
        let near = self.near.take();
        let pair = Pair { inbound: None, keys };
        match near.filter(|(line, ..)| pair.keys.origin.line.saturating_sub(*line) <= NEAR_LINES) {
            Some((_, spi, dst)) => {
                pair.claim(spi, dst, sink);
                self.has_claimed(spi);
            }
            None => self.wait(pair, sink),
        }
    }

    fn keymat(&mut self, dump: &Dump, inbound: bool, sink: &mut Sink<'_>) {
        let mut keys = EspKey::at(dump.line);
        if !keys.split_keymat(&dump.bytes) {
            return sink.blob(dump.line, &dump.label, &dump.bytes);
        }
        let inbound = Some(inbound);
        self.wait(Pair { inbound, keys }, sink);
    }

    fn has_claimed(&mut self, spi: Spi) {
        if self.claimed.len() >= MOST_WAITING {
            self.claimed.remove(0);
        }
        self.claimed.push(spi);
    }

    fn wait(&mut self, pair: Pair, sink: &mut Sink<'_>) {
        if self.waiting.len() >= MOST_WAITING {
            self.waiting.remove(0).keep(sink);
        }
        self.waiting.push(pair);
    }

    /// SPIs on the line: `esp.c7df968a@10.9.0.2`, or `{ESP=>0xc06e0f04 <0xc7df968a`.
    fn mentions(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        let established = find(line.raw, b"{ESP").filter(|_| find(line.raw, b"=>0x").is_some());
        if let Some(at) = established {
            self.end_dump(sink);
            let rest = line.raw.get(at..).unwrap_or_default();
            let after = |mark: &[u8]| spi_after(rest, mark);
            let (outbound, inbound) = (after(b"=>0x"), after(b"<0x"));
            let waiting = std::mem::take(&mut self.waiting);
            // A key that KEYMAT already told with its side is there again when the kernel gets it.
            let told = |pair: &Pair| {
                pair.inbound.is_none()
                    && waiting
                        .iter()
                        .any(|p| p.inbound.is_some() && p.keys.encryption_key == pair.keys.encryption_key)
            };
            for pair in waiting.iter().filter(|pair| !told(pair)) {
                for (spi, of_inbound) in [(outbound, false), (inbound, true)] {
                    if let (Some(spi), true) = (spi, pair.inbound.is_none_or(|inbound| inbound == of_inbound))
                    {
                        sink.sighting(line.number, spi);
                        pair.claim(spi, None, sink);
                    }
                }
            }
            return true;
        }
        let Some(at) = find(line.raw, b"esp.") else {
            return false;
        };
        let rest = line.raw.get(at + 4..).unwrap_or_default();
        let Some((digits, host)) = split_at_sign(rest, b'@') else {
            return false;
        };
        let Some(spi) = hex::spi_digits(digits).map(Spi) else {
            return false;
        };
        self.end_dump(sink);
        sink.sighting(line.number, spi);
        let dst = address(until(host, |b| !b.is_ascii_hexdigit() && !b".:".contains(&b)));
        let waiting = std::mem::take(&mut self.waiting);
        let claimable = |pair: &Pair| {
            pair.inbound.is_none() && line.number.saturating_sub(pair.keys.origin.line) <= NEAR_LINES
        };
        let (now, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(claimable);
        self.waiting = later;
        now.iter().for_each(|pair| pair.claim(spi, dst, sink));
        if !now.is_empty() {
            self.near = None;
            self.has_claimed(spi);
        } else if !self.claimed.contains(&spi) {
            self.near = Some((line.number, spi, dst));
        }
        true
    }
}

fn spi_after(text: &[u8], mark: &[u8]) -> Option<Spi> {
    let rest = text.get(find(text, mark)? + mark.len()..)?;
    hex::spi_digits(until(rest, |b| !b.is_ascii_hexdigit())).map(Spi)
}

impl Pair {
    fn claim(&self, spi: Spi, dst: Option<IpAddr>, sink: &mut Sink<'_>) {
        let (spi, keys) = (Some(spi), self.keys.clone());
        EspKey { dst, spi, ..keys }.hand_over(sink);
    }

    /// No SPI came: left to mining.
    fn keep(self, sink: &mut Sink<'_>) {
        let (line, keys) = (self.keys.origin.line, self.keys);
        sink.blob(line, b"ESP encrypt key", keys.encryption_key.expose());
        sink.blob(line, b"ESP integrity key", keys.integrity_key.expose());
    }
}
