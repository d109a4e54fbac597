//! racoon's debug log. A label line is followed by a dump in groups of eight digits, 32 bytes to a line.
//!
//! ```text
//! 2018-03-12 09:13:04: DEBUG: SKEYID_e computed:
//! 2018-03-12 09:13:04: DEBUG:
//! 55a51cd0 eafb9c97 8dae059e 95a333e0 85965229
//! … DEBUG: KEYMAT compute with        (dump: [g^xy |] protocol | SPI | Ni | Nr)
//! … DEBUG: encklen=128 authklen=160
//! … (dump: KEYMAT)
//! … DEBUG: KEYMAT computed.
//! … INFO: IPsec-SA established: ESP/Transport 10.9.0.1[500]->10.9.0.2[500] spi=3353286282(0xc7df968a)
//! … INFO: ISAKMP-SA established 10.9.0.2[500]-10.9.0.1[500] spi:33acac7650479d9d:4330a6ed090669bf
//! ```

use crate::formats::format::KeyFormat;
use crate::lines::dump::{Dump, whole_row};
use crate::lines::fields::{address, after_program, find, number, value_of, words};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::lines::stamp;
use crate::material::ike_record::{IkeRecord, ike_spi};
use crate::material::key::{EspKey, KeyDefect, SecretName};
use crate::material::sink::Sink;
use rekeyscope_model::spi::Spi;
use std::net::IpAddr;
use zeroize::Zeroizing;

/// Most KEYMATs that wait for their SPI.
const MOST_WAITING: usize = 64;
/// ISAKMP's number of ESP (RFC 2407 §4.4.1).
const PROTO_IPSEC_ESP: u8 = 3;
/// Texts by which a line is racoon's.
const LEVELS: [&[u8]; 3] = [b"DEBUG:", b"INFO:", b"DEBUG2:"];

/// Reader of the log.
#[derive(Default)]
pub(crate) struct Racoon {
    /// Meaning of the next dump.
    label: Option<Label>,
    dump: Option<Dump>,
    ike: IkeRecord,
    seed: Zeroizing<Vec<u8>>,
    lens: Option<(usize, usize)>,
    last: Option<Dump>,
    waiting: Vec<Keymat>,
}

#[derive(Clone, Copy)]
enum Label {
    Secret(SecretName),
    Seed,
    Other,
}

struct Keymat {
    line: u64,
    seed: Zeroizing<Vec<u8>>,
    bytes: Zeroizing<Vec<u8>>,
    lens: (usize, usize),
}

impl KeyFormat for Racoon {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        let message = message_of(line.raw);
        let row = whole_row(message.unwrap_or_else(|| after_program(line.text, &[b"racoon"])))
            .filter(|_| self.label.is_some());
        if let Some(row) = row {
            self.dump
                .get_or_insert_with(|| Dump::new(b"", line.number))
                .append(&row);
            return true;
        }
        let Some(message) = message else {
            self.end_dump(sink);
            return false;
        };
        let message = message.trim_ascii();
        if !message.is_empty() {
            self.end_dump(sink);
            self.message(message, line.number, sink);
        }
        true
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.end_dump(sink);
        self.ike.emit(sink);
        for keymat in std::mem::take(&mut self.waiting) {
            match keymat.seed.as_slice() {
                // Without PFS the seed begins with the protocol and the SPI.
                [PROTO_IPSEC_ESP, a, b, c, d, ..] => {
                    let spi = Spi(u32::from_be_bytes([*a, *b, *c, *d]));
                    keymat.claim((None, None), spi, sink);
                }
                _ => sink.blob(keymat.line, b"KEYMAT", &keymat.bytes),
            }
        }
    }
}

/// Tells whether a line begins with a level, or with a time and a level.
pub(crate) fn begins(line: &[u8]) -> bool {
    let rest = after_program(stamp::header(line).rest, &[b"racoon"]);
    LEVELS.iter().any(|level| rest.starts_with(level))
}

/// The text after the level.
fn message_of(raw: &[u8]) -> Option<&[u8]> {
    let reach = raw.get(..raw.len().min(100))?;
    // A letter of each level that hex in lower case and times do not have.
    memchr::memchr2(b'U', b'F', reach)?;
    let after = |start: usize| {
        let rest = raw.get(start..)?;
        let level = LEVELS.into_iter().find_map(|level| rest.strip_prefix(level));
        level.map(after_location)
    };
    after(0).or_else(|| memchr::memchr_iter(b' ', reach).find_map(|blank| after(blank + 1)))
}

/// The message behind `oakley.c:512:oakley_compute_keymat_x(): ` of ipsec-tools 0.3 and KAME.
fn after_location(text: &[u8]) -> &[u8] {
    let word = words(text).next().unwrap_or_default();
    let located = word.ends_with(b"():") && find(word, b".c:").is_some();
    find(text, b"():")
        .filter(|_| located)
        .and_then(|at| text.get(at + 3..))
        .unwrap_or(text)
}

impl Racoon {
    fn message(&mut self, message: &[u8], line: u64, sink: &mut Sink<'_>) {
        let has = |text: &[u8]| find(message, text).is_some();
        let secret = find(message, b" computed").and_then(|end| match words(message.get(..end)?).last()? {
            b"key" if has(b"final encryption key") => Some(SecretName::Ka),
            name => SecretName::named(name),
        });
        self.label = Some(match secret {
            Some(name) => Label::Secret(name),
            None if has(b"KEYMAT compute") && has(b"with") => Label::Seed,
            None => Label::Other,
        });
        if has(b"encklen=") {
            let bits = |name: &[u8]| {
                let bits = value_of(message, name).and_then(number)?;
                usize::try_from(bits / 8).ok()
            };
            self.lens = bits(b"encklen").zip(bits(b"authklen"));
        } else if has(b"KEYMAT computed") && !has(b"with") {
            self.keymat(sink);
        } else if has(b"IPsec-SA established: ESP") {
            self.established(message, line, sink);
        } else if has(b"ISAKMP-SA established") {
            // `spi:<initiator cookie>:<responder cookie>`
            let spis = words(message).find_map(|word| word.strip_prefix(b"spi:"));
            let spis = spis.unwrap_or_default().split(|b| *b == b':');
            let mut cookies = spis.map(|digits| ike_spi(&hex::decode(digits)?));
            self.ike.initiator_spi = cookies.next().flatten();
            self.ike.responder_spi = cookies.next().flatten();
            self.ike.emit(sink);
        }
    }

    fn end_dump(&mut self, sink: &mut Sink<'_>) {
        let (Some(dump), Some(label)) = (self.dump.take(), self.label) else {
            return;
        };
        match label {
            Label::Secret(name) => self.ike.secret(name, dump.line, &dump.bytes, sink),
            Label::Seed => self.seed.clone_from(&dump.bytes),
            Label::Other => self.last = Some(dump),
        }
    }

    /// The dump before `KEYMAT computed.` is it.
    fn keymat(&mut self, sink: &mut Sink<'_>) {
        let (Some(dump), Some(lens)) = (self.last.take(), self.lens) else {
            return;
        };
        let seed = std::mem::take(&mut self.seed);
        let keymat = Keymat {
            line: dump.line,
            seed,
            bytes: dump.bytes,
            lens,
        };
        if self.waiting.len() >= MOST_WAITING {
            let oldest = self.waiting.remove(0);
            sink.blob(oldest.line, b"KEYMAT", &oldest.bytes);
        }
        self.waiting.push(keymat);
    }

    /// The KEYMAT whose seed holds the SPI is this SA's; where no seed was logged any may be.
    fn established(&mut self, message: &[u8], line: u64, sink: &mut Sink<'_>) {
        let Some(spi) = value_of(message, b"spi").and_then(|value| {
            let decimal = value.split(|b| *b == b'(').next()?;
            hex::spi_number(decimal)
        }) else {
            return;
        };
        sink.sighting(line, Spi(spi));
        let ends = words(message).find_map(|word| {
            let at = find(word, b"->")?;
            Some((address(word.get(..at)?)?, address(word.get(at + 2..)?)?))
        });
        let [a, b, c, d] = spi.to_be_bytes();
        let sought = [PROTO_IPSEC_ESP, a, b, c, d];
        let (ours, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|keymat: &Keymat| find(&keymat.seed, &sought).is_some());
        self.waiting = rest;
        let any = self
            .waiting
            .iter()
            .filter(|keymat| ours.is_empty() && keymat.seed.is_empty());
        for keymat in ours.iter().chain(any) {
            keymat.claim(ends.unzip(), Spi(spi), sink);
        }
    }
}

impl Keymat {
    fn claim(&self, (src, dst): (Option<IpAddr>, Option<IpAddr>), spi: Spi, sink: &mut Sink<'_>) {
        let mut claim = EspKey {
            src,
            dst,
            spi: Some(spi),
            ..EspKey::at(self.line)
        };
        let (encryption, integrity) = self.lens;
        let (Some(encryption_key), Some(integrity_key)) = (
            self.bytes.get(..encryption),
            self.bytes.get(encryption..encryption.saturating_add(integrity)),
        ) else {
            sink.problem(self.line, "KEYMAT is shorter than its keys: the log was cut here");
            return claim.hand_over_defective(KeyDefect::Truncated, sink);
        };
        (claim.encryption_key, claim.integrity_key) = (encryption_key.into(), integrity_key.into());
        claim.hand_over(sink);
    }
}
