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

use crate::formats::format::KeyFormat;
use crate::formats::yamaha::labels::{Kind, continuation, is_masked, kind, next_run};
use crate::lines::algorithm_names::{self, keymat_encryption_len};
use crate::lines::fields::{address, contains_ignoring_case};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::material::key::{EspKey, IkeKey, IkeSecrets, KeyDefect};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IkeSpi, Spi};
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
    spi: Vec<u8>,
    masked: bool,
    whole: Zeroizing<Vec<u8>>,
    encryption_key: Zeroizing<Vec<u8>>,
    integrity_key: Zeroizing<Vec<u8>>,
    /// The value that a line of hex goes on with.
    open: Option<Kind>,
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
        if block.goes_on(text) {
            return true;
        }
        let Some(colon) = text
            .iter()
            .position(|b| *b == b':')
            .filter(|_| line.moment.is_none())
        else {
            self.finish(sink);
            return false;
        };
        let (name, value) = text.split_at(colon);
        let value = value.get(1..).unwrap_or_default().trim_ascii();
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
                 `ipsec ike log <gateway> key-info` and `syslog debug on`",
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
            b"SPI" => self.spi = hex_of(value).to_vec(),
            _ => {
                let kind = kind(name);
                let Some(slot) = self.key(kind) else { return };
                *slot = hex_of(value);
                self.masked |= is_masked(value);
                self.open = Some(kind);
                self.line = line;
            }
        }
    }

    /// Hex that goes on with the last key.
    fn goes_on(&mut self, text: &[u8]) -> bool {
        let Some(kind) = self.open else { return false };
        let Some(run) = continuation(text, 2, false).filter(|run| run.end == text.len()) else {
            return false;
        };
        if let Some(slot) = self.key(kind) {
            slot.extend(hex::pack(&run.nibbles));
        }
        true
    }

    fn key(&mut self, kind: Kind) -> Option<&mut Zeroizing<Vec<u8>>> {
        match kind {
            Kind::Key | Kind::Keymat => Some(&mut self.whole),
            Kind::EncryptionKey | Kind::Ka => Some(&mut self.encryption_key),
            Kind::IntegrityKey => Some(&mut self.integrity_key),
            _ => None,
        }
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

    fn emit_esp(mut self, local: Option<IpAddr>, remote: Option<IpAddr>, sink: &mut Sink<'_>) {
        let Ok(spi) = <[u8; 4]>::try_from(self.spi.as_slice()) else {
            return;
        };
        let defect = self.defect();
        if defect.is_none() && self.encryption_key.is_empty() {
            let split = keymat_encryption_len(self.whole.len(), self.encryption, self.integrity);
            let (encryption, integrity) = self.whole.split_at(split.unwrap_or(0));
            self.encryption_key = Zeroizing::new(encryption.to_vec());
            self.integrity_key = Zeroizing::new(integrity.to_vec());
        }
        let (src, dst) = match self.send {
            Some(true) => (local, remote),
            Some(false) => (remote, local),
            None => (None, None),
        };
        sink.blob(self.line, b"Key", &self.whole);
        let secret = |bytes: &[u8]| {
            if defect.is_some() {
                SecretBytes::default()
            } else {
                SecretBytes::from(bytes)
            }
        };
        let origin = sink.explicit(self.line);
        sink.esp(EspKey {
            src,
            dst,
            spi: Some(Spi(u32::from_be_bytes(spi))),
            encryption: self.encryption,
            encryption_key: secret(&self.encryption_key),
            integrity: self.integrity,
            integrity_key: secret(&self.integrity_key),
            defect,
            origin,
        });
    }

    fn defect(&self) -> Option<KeyDefect> {
        let longest = self.whole.len().max(self.encryption_key.len());
        let complete = if self.encryption_key.is_empty() {
            keymat_encryption_len(self.whole.len(), self.encryption, self.integrity).is_some()
        } else {
            !algorithm_names::plausible(
                self.encryption,
                self.encryption_key.len(),
                self.integrity,
                self.integrity_key.len(),
            )
            .is_empty()
        };
        match longest {
            _ if complete => None,
            0 => Some(KeyDefect::Masked),
            PREFIX_LEN => Some(KeyDefect::Prefix8),
            _ => Some(KeyDefect::Truncated),
        }
    }

    /// SPI: the initiator's cookie, then the responder's.
    fn emit_ike(self, sink: &mut Sink<'_>) {
        let (initiator, responder) = self.spi.split_at(self.spi.len().min(PREFIX_LEN));
        let key = if self.whole.is_empty() {
            &self.encryption_key
        } else {
            &self.whole
        };
        let key = SecretBytes::from(key.as_slice());
        let secrets = match key.len() {
            0 => return,
            1..=PREFIX_LEN => IkeSecrets {
                ka_prefix: Some(key),
                ..IkeSecrets::default()
            },
            _ => IkeSecrets {
                ka: Some(key),
                ..IkeSecrets::default()
            },
        };
        let origin = sink.explicit(self.line);
        sink.ike(IkeKey {
            version: 1,
            initiator_spi: initiator.try_into().ok().map(IkeSpi),
            responder_spi: responder.try_into().ok().map(IkeSpi),
            secrets,
            encryption: None,
            integrity: None,
            origin,
        });
    }
}

fn hex_of(value: &[u8]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(
        next_run(value, 0)
            .map(|run| hex::pack(&run.nibbles))
            .unwrap_or_default(),
    )
}
