//! FortiOS: `diagnose vpn tunnel list`.
//!
//! ```text
//! name=lab ver=1 serial=1 10.9.0.2:0->10.9.0.1:0
//!   dec: spi=24c2ab68 esp=aes key=16 3de8…
//!        ah=sha1 key=20 f054…
//!   enc: spi=b1b08d90 esp=aes key=16 …
//! ```
//! `dec` is what this side decrypts.

use crate::formats::format::KeyFormat;
use crate::lines::fields::{address, find, value_of, words};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::material::claim::Claim;
use crate::material::key::KeyDefect;
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::spi::Spi;
use std::net::IpAddr;

/// Reader of the listing.
#[derive(Default)]
pub(crate) struct FortiOs {
    /// Local and remote address of the tunnel at hand.
    ends: Option<(IpAddr, IpAddr)>,
    claim: Option<Claim>,
}

impl KeyFormat for FortiOs {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        let text = line.raw.trim_ascii();
        if text.starts_with(b"name=") && find(text, b"->").is_some() {
            self.finish(sink);
            self.ends = words(text).find_map(ends);
            return true;
        }
        if (text.starts_with(b"dec:") || text.starts_with(b"enc:")) && find(text, b" esp=").is_some() {
            self.finish(sink);
            match self.esp(text, line.number) {
                Ok((claim, Ok(()))) => self.claim = Some(claim),
                Ok((claim, Err(sentence))) => cut(claim, line.number, sentence, sink),
                Err(sentence) => sink.problem(line.number, sentence),
            }
            return true;
        }
        let Some(mut claim) = self.claim.take() else {
            return false;
        };
        if !text.starts_with(b"ah=") {
            claim.hand_over(sink);
            return false;
        }
        claim.integrity = value_of(text, b"ah").and_then(Integrity::named);
        match key_of(text) {
            Ok(key) => {
                claim.integrity_key = key.into();
                claim.hand_over(sink);
            }
            Err(sentence) => cut(claim, line.number, sentence, sink),
        }
        true
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        if let Some(claim) = self.claim.take() {
            claim.hand_over(sink);
        }
    }
}

impl FortiOs {
    /// The SA, and whether its key is whole.
    fn esp(&self, text: &[u8], line: u64) -> Result<(Claim, Result<(), &'static str>), &'static str> {
        let spi = value_of(text, b"spi")
            .and_then(hex::spi_digits)
            .ok_or("the SPI is not up to 8 hex digits: copy the line again")?;
        let (local, remote) = self.ends.unzip();
        let (src, dst) = if text.starts_with(b"dec:") {
            (remote, local)
        } else {
            (local, remote)
        };
        let encryption = value_of(text, b"esp")
            .and_then(Encryption::named)
            .ok_or("the encryption of this SA is not supported here")?;
        let mut claim = Claim {
            line,
            src,
            dst,
            spi: Some(Spi(spi)),
            encryption: Some(encryption),
            ..Claim::default()
        };
        let whole = key_of(text).map(|key| claim.encryption_key = key.into());
        Ok((claim, whole))
    }
}

fn cut(claim: Claim, line: u64, sentence: &'static str, sink: &mut Sink<'_>) {
    sink.problem(line, sentence);
    claim.hand_over_defective(KeyDefect::Truncated, sink);
}

/// `10.9.0.2:0->10.9.0.1:0`: local, then remote.
fn ends(word: &[u8]) -> Option<(IpAddr, IpAddr)> {
    let at = find(word, b"->")?;
    let end = |text: &[u8]| {
        let colon = text.iter().rposition(|b| *b == b':').unwrap_or(text.len());
        address(text.get(..colon)?)
    };
    Some((end(word.get(..at)?)?, end(word.get(at + 2..)?)?))
}

/// `key=16 3de8…`: so many bytes.
fn key_of(text: &[u8]) -> Result<Vec<u8>, &'static str> {
    let len = value_of(text, b"key").and_then(|len| std::str::from_utf8(len).ok()?.parse::<usize>().ok());
    let mut words = words(text).skip_while(|word| !word.starts_with(b"key="));
    let digits = words.nth(1).unwrap_or_default();
    let key =
        hex::decode(digits).ok_or("the key is not an even number of hex digits: copy the line again")?;
    match len {
        Some(len) if len == key.len() => Ok(key),
        _ => Err("the key has not as many bytes as `key=` says: copy the whole line"),
    }
}
