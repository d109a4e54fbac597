//! `setkey -D` of the KAME tools (BSD, macOS, racoon hosts).
//!
//! ```text
//! 10.9.0.1 10.9.0.2
//!         esp mode=transport spi=163029363(0x09b7a173) reqid=0(0x00000000)
//!         E: aes-cbc  7575d5cc 49a0d5c3 …      (goes on on the next line after 32 bytes)
//!         A: hmac-sha1  9a3c…
//! ```

use crate::formats::format::KeyFormat;
use crate::lines::dump::whole_row;
use crate::lines::fields::{address, find, words};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::material::claim::Claim;
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::spi::Spi;
use std::net::IpAddr;

/// Reader of the listing.
#[derive(Default)]
pub(crate) struct Setkey {
    /// Both addresses from the line before.
    addresses: Option<(IpAddr, IpAddr)>,
    claim: Option<Claim>,
    open: OpenKey,
}

/// The key that a line of hex goes on with.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum OpenKey {
    #[default]
    None,
    Encryption,
    Integrity,
}

impl KeyFormat for Setkey {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        if line.moment.is_some() {
            return false; // a router's log line
        }
        let text = line.raw.trim_ascii();
        if let Some(addresses) = two_addresses(text) {
            self.finish(sink);
            self.addresses = Some(addresses);
            return true;
        }
        if let Some(addresses) = self.addresses.take() {
            let esp = text.starts_with(b"esp ") || text.starts_with(b"esp-udp ");
            let Some(spi) = spi_in_brackets(text).filter(|_| esp) else {
                return false;
            };
            let (src, dst) = (Some(addresses.0), Some(addresses.1));
            self.claim = Some(Claim {
                line: line.number,
                src,
                dst,
                spi: Some(spi),
                ..Claim::default()
            });
            return true;
        }
        let Some(claim) = &mut self.claim else {
            return false;
        };
        if let Some(rest) = text.strip_prefix(b"E: ") {
            let (name, key) = name_and_key(rest);
            claim.encryption = Encryption::named(name);
            claim.encryption_key = key.into();
            self.open = OpenKey::Encryption;
        } else if let Some(rest) = text.strip_prefix(b"A: ") {
            let (name, key) = name_and_key(rest);
            claim.integrity = Integrity::named(name);
            claim.integrity_key = key.into();
            self.open = OpenKey::Integrity;
        } else if let Some(more) = whole_row(text).filter(|_| self.open != OpenKey::None) {
            match self.open {
                OpenKey::Integrity => claim.integrity_key.extend(more),
                _ => claim.encryption_key.extend(more),
            }
        } else {
            self.finish(sink);
            return false;
        }
        true
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.open = OpenKey::None;
        let Some(claim) = self.claim.take() else { return };
        if claim.encryption.is_none() && claim.encryption_key.is_empty() {
            return; // the listing was cut before its keys
        }
        claim.hand_over(sink);
    }
}

/// `10.9.0.1 10.9.0.2`, also with ports: `10.9.0.1[4500] 10.9.0.2[4500]`.
fn two_addresses(text: &[u8]) -> Option<(IpAddr, IpAddr)> {
    let mut words = words(text);
    let pair = (address(words.next()?)?, address(words.next()?)?);
    words.next().is_none().then_some(pair)
}

/// `spi=163029363(0x09b7a173)`
fn spi_in_brackets(text: &[u8]) -> Option<Spi> {
    let at = find(text, b"spi=")?;
    let rest = text.get(at + 4..)?;
    let open = rest.iter().position(|b| *b == b'(')?;
    let close = rest.iter().position(|b| *b == b')')?;
    hex::spi_number(rest.get(open + 1..close)?).map(Spi)
}

/// `aes-cbc  7575d5cc 49a0d5c3`
fn name_and_key(text: &[u8]) -> (&[u8], Vec<u8>) {
    let end = text
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(text.len());
    let (name, key) = text.split_at(end);
    (name, whole_row(key).unwrap_or_default())
}
