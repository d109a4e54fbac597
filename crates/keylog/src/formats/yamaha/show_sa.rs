//! `show ipsec sa gateway N detail` of a Yamaha router. Keys are shown on the serial console only; elsewhere they are
//! masked, and of some the console shows eight bytes.
//!
//! ```text
//! SA[2] Duration: 1719s
//! Direction: send
//! Protocol: ESP (Mode: transport)
//! Algorithm: AES-CBC (for Auth.: HMAC-SHA)
//! SPI: a6 67 47 47
//! Key: ** ** ** ** **  (confidential)   ** ** ** ** **
//! ```
//! Shown whole, the keys stand one after the other, or as `Key: 49 76 … (for Auth.: c4 6a …)`; of IKE it is Ka.

use crate::formats::format::KeyFormat;
use crate::formats::yamaha::labels::{Kind, is_masked, kind};
use crate::formats::yamaha::runs::{SoFar, continuation, next_run};
use crate::lines::fields::{address, contains_ignoring_case};
use crate::lines::hex;
use crate::lines::outer::{LogLine, Tag};
use crate::material::claim::Claim;
use crate::material::ike_record::{IkeRecord, ike_spi};
use crate::material::key::{KeyDefect, SecretName};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::spi::Spi;
use std::net::IpAddr;
use zeroize::Zeroizing;

/// What the console shows of a longer key.
const PREFIX_LEN: usize = 8;

/// Reader of the table.
#[derive(Default)]
pub(crate) struct YamahaShowSa {
    block: Option<SaBlock>,
    /// Addresses from the last block that named them: only the IKE SA's block does.
    local: Option<IpAddr>,
    remote: Option<IpAddr>,
    told_masked: bool,
}

#[derive(Default)]
struct SaBlock {
    line: u64,
    esp: bool,
    send: Option<bool>,
    encryption: Option<Encryption>,
    integrity: Option<Integrity>,
    masked: bool,
    /// Values in the order of the table.
    values: Vec<(Kind, Zeroizing<Vec<u8>>)>,
    /// Tells whether the rows of the last value begin with `0x`, where a line of hex may go on with it.
    open: Option<bool>,
}

impl KeyFormat for YamahaShowSa {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        let text = line.text;
        if starts_block(text) {
            self.finish(sink);
            self.block = Some(SaBlock {
                line: line.number,
                ..SaBlock::default()
            });
            return true;
        }
        let Some(block) = &mut self.block else {
            return false;
        };
        let of_table = line.moment.is_none() && line.tag == Tag::None;
        if of_table && block.goes_on(text) {
            return true;
        }
        let field = named_value(text)
            .filter(|(name, _)| of_table && !(block.esp && matches!(kind(name), Kind::Secret(_))));
        let Some((name, value)) = field else {
            self.finish(sink);
            return false;
        };
        match name {
            b"Local ID" => self.local = address(value),
            b"Remote ID" => self.remote = address(value),
            _ => block.field(name, value, line.number),
        }
        true
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        let Some(block) = self.block.take() else { return };
        if block.masked && !self.told_masked {
            self.told_masked = true;
            sink.problem(
                block.line,
                "the router masks keys on this connection: run the command on the serial console, or log the keys with \
                 `ipsec ike log 1 key-info` and `syslog debug on`",
            );
        }
        if block.esp {
            block.emit_esp(self.local, self.remote, sink);
        } else {
            block.emit_ike(sink);
        }
    }
}

/// `SA[2] Duration: 1719s`
fn starts_block(text: &[u8]) -> bool {
    text.starts_with(b"SA[")
        && text.windows(2).any(|w| w == b"] ")
        && text.windows(9).any(|w| w == b"Duration:")
}

impl SaBlock {
    fn field(&mut self, name: &[u8], value: &[u8], line: u64) {
        self.open = None;
        match name {
            b"Protocol" => self.esp = value.starts_with(b"ESP"),
            b"Direction" => self.send = Some(value.starts_with(b"send")),
            b"Algorithm" => self.algorithm(value),
            _ => {
                let kind = kind(name);
                if !kind.is_key() && kind != Kind::Spi {
                    return;
                }
                let run = next_run(value, 0);
                let bytes = run.as_ref().map(|run| hex::pack(&run.nibbles));
                self.values.push((kind, bytes.unwrap_or_default().into()));
                self.open = Some(run.as_ref().is_some_and(|run| run.prefixed));
                if kind != Kind::Spi {
                    self.masked |= is_masked(value);
                    self.line = line;
                }
                let rest = run.and_then(|run| value.get(run.end..));
                self.rest(rest.unwrap_or_default());
            }
        }
    }

    /// `(for Auth.: c4 6a …)` behind the encryption key.
    fn rest(&mut self, text: &[u8]) {
        if let Some((name, value)) = named_value(text).filter(|(name, _)| kind(name) == Kind::IntegrityKey) {
            self.field(name, value, self.line);
        }
    }

    /// Hex that goes on with the last key.
    fn goes_on(&mut self, text: &[u8]) -> bool {
        let Some(prefixed) = self.open else {
            return false;
        };
        let so_far = SoFar {
            group: 2,
            digits: 0,
            prefixed,
        };
        let Some(run) = continuation(text, so_far) else {
            return false;
        };
        let rest = text.get(run.end..).unwrap_or_default();
        if !matches!(rest.trim_ascii().first(), None | Some(b'(' | b')')) {
            return false;
        }
        if let Some((_, value)) = self.values.last_mut() {
            value.extend(hex::pack(&run.nibbles));
        }
        self.rest(rest);
        true
    }

    /// The last value of one of these kinds; empty where there is none.
    fn value(&self, kinds: &[Kind]) -> Zeroizing<Vec<u8>> {
        let mut values = self.values.iter().rev();
        let value = values.find(|(kind, _)| kinds.contains(kind));
        value.map(|(_, bytes)| bytes.clone()).unwrap_or_default()
    }

    /// `AES-CBC (for Auth.: HMAC-SHA)`
    fn algorithm(&mut self, value: &[u8]) {
        let mut parts = value.splitn(2, |b| *b == b'(');
        self.encryption = Encryption::named(parts.next().unwrap_or_default());
        let rest = parts.next().filter(|rest| contains_ignoring_case(rest, b"auth"));
        self.integrity = rest.and_then(|rest| {
            let name = rest.split(|b| *b == b':').next_back()?;
            Integrity::named(name)
        });
    }

    fn emit_esp(self, local: Option<IpAddr>, remote: Option<IpAddr>, sink: &mut Sink<'_>) {
        let Ok(spi) = <[u8; 4]>::try_from(self.value(&[Kind::Spi]).as_slice()) else {
            return;
        };
        let whole = self.value(&[Kind::Key, Kind::Keymat]);
        sink.blob(self.line, b"Key", &whole);
        let (src, dst) = match self.send {
            Some(true) => (local, remote),
            Some(false) => (remote, local),
            None => (None, None),
        };
        let mut claim = Claim {
            line: self.line,
            src,
            dst,
            spi: Some(Spi(u32::from_be_bytes(spi))),
            encryption: self.encryption,
            integrity: self.integrity,
            encryption_key: self.value(&[Kind::EncryptionKey]),
            integrity_key: self.value(&[Kind::IntegrityKey]),
        };
        if claim.encryption_key.is_empty() && !claim.integrity_key.is_empty() {
            claim.encryption_key = whole;
            return claim.hand_over(sink);
        }
        if !claim.encryption_key.is_empty() {
            return claim.hand_over(sink);
        }
        if claim.split_keymat(&whole) {
            return claim.hand_over(sink);
        }
        let defect = match whole.len() {
            0 => KeyDefect::Masked,
            PREFIX_LEN => KeyDefect::Prefix8,
            _ => KeyDefect::Truncated,
        };
        claim.hand_over_defective(defect, sink);
    }

    /// The SPI of an IKE SA is the initiator's cookie, then the responder's; its key is Ka.
    fn emit_ike(self, sink: &mut Sink<'_>) {
        let mut ike = IkeRecord::default();
        for (kind, bytes) in &self.values {
            match (kind, bytes.len()) {
                (_, 0) => {}
                (Kind::Spi, _) => {
                    let (initiator, responder) = bytes.split_at(bytes.len().min(PREFIX_LEN));
                    ike.initiator(ike_spi(initiator), sink);
                    ike.responder(ike_spi(responder));
                }
                (Kind::Key | Kind::Keymat | Kind::EncryptionKey, 1..=PREFIX_LEN) => {
                    ike.prefix(self.line, bytes)
                }
                (Kind::Key | Kind::Keymat | Kind::EncryptionKey, _) => {
                    ike.secret(SecretName::Ka, self.line, bytes, sink);
                }
                (Kind::Secret(name), _) => ike.secret(*name, self.line, bytes, sink),
                _ => {}
            }
        }
        ike.emit(sink);
    }
}

/// `NAME: VALUE`
fn named_value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = text.iter().position(|b| *b == b':')?;
    let (name, value) = text.split_at(colon);
    Some((name.trim_ascii_start(), value.get(1..)?.trim_ascii()))
}
