//! MikroTik: `/ip ipsec installed-sa print`. An entry is a list of `name=value` that goes on over lines.
//!
//! ```text
//!  0 HE spi=0xE841441 src-address=10.9.0.1 dst-address=10.9.0.2 state=mature
//!       auth-algorithm=sha1 enc-algorithm=aes-cbc enc-key-size=128
//!       auth-key="c46a…" enc-key="4976…"
//! ```
//! SPIs have no leading zeros, in old versions no `0x` either.

use crate::formats::format::KeyFormat;
use crate::lines::fields::{address, find, value_of};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::material::claim::Claim;
use crate::material::key::KeyDefect;
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::spi::Spi;
use std::net::IpAddr;
use zeroize::Zeroizing;

/// Longest entry in bytes.
const LONGEST_ENTRY: usize = 4_096;

/// Reader of the listing.
#[derive(Default)]
pub(crate) struct MikroTik {
    /// The entry at hand and the line on which it began.
    entry: Option<(u64, Zeroizing<Vec<u8>>)>,
}

impl KeyFormat for MikroTik {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        if line.moment.is_some() {
            return false; // a router's log line
        }
        let text = line.raw.trim_ascii();
        if self.entry.is_none() && memchr::memchr(b'=', text).is_none() && !starts_entry(text) {
            return false;
        }
        if value_of(text, b"spi").is_some() && (starts_entry(text) || find(text, b"src-address=").is_some()) {
            self.finish(sink);
            self.entry = Some((line.number, Zeroizing::new(text.to_vec())));
            return true;
        }
        let Some((_, entry)) = &mut self.entry else {
            return false;
        };
        let in_quotes = entry.iter().filter(|b| **b == b'"').count() % 2 == 1;
        let goes_on = in_quotes || memchr::memchr(b'=', text).is_some();
        if !goes_on || starts_entry(text) || entry.len() + text.len() > LONGEST_ENTRY {
            self.finish(sink);
            // An entry whose SPI stands on the next line.
            let begins = starts_entry(text);
            if begins {
                self.entry = Some((line.number, Zeroizing::new(text.to_vec())));
            }
            return begins;
        }
        if !in_quotes {
            entry.push(b' ');
        }
        entry.extend_from_slice(text);
        true
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        let Some((line, entry)) = self.entry.take() else {
            return;
        };
        match read(&entry, line) {
            Ok(Some((claim, None))) => claim.hand_over(sink),
            Ok(Some((claim, Some(sentence)))) => {
                sink.problem(line, sentence);
                claim.hand_over_defective(KeyDefect::Truncated, sink);
            }
            Ok(None) => {}
            Err(sentence) => sink.problem(line, sentence),
        }
    }
}

/// ` 0 HE spi=…`: a number, then flags that tell ESP from AH.
fn starts_entry(text: &[u8]) -> bool {
    let mut words = crate::lines::fields::words(text);
    let number = words.next().is_some_and(|w| w.iter().all(u8::is_ascii_digit));
    number
        && words
            .next()
            .is_some_and(|w| w.len() <= 4 && w.iter().all(u8::is_ascii_uppercase) && w.contains(&b'E'))
}

/// The SA, and what a key lacks. `None` for an entry without keys (IPComp, AH).
fn read(entry: &[u8], line: u64) -> Result<Option<(Claim, Option<&'static str>)>, &'static str> {
    let Some(key) = value_of(entry, b"enc-key") else {
        return Ok(None);
    };
    let spi = value_of(entry, b"spi")
        .map(|spi| hex::after_0x(spi).unwrap_or(spi))
        .and_then(hex::spi_digits);
    let spi = spi.ok_or("the SPI is not up to 8 hex digits: print the list again")?;
    let encryption = value_of(entry, b"enc-algorithm")
        .and_then(Encryption::named)
        .ok_or("the encryption of this SA is not supported here")?;
    let odd = "a key is not an even number of hex digits: print the list again, in a wider window";
    let auth_key = value_of(entry, b"auth-key").unwrap_or_default();
    let cut = (hex::is_cut(key) || hex::is_cut(auth_key)).then_some(odd);
    let bytes = |digits: &[u8]| match cut {
        Some(_) => Ok(Vec::new()),
        None => hex::decode(digits).ok_or(odd),
    };
    let (encryption_key, integrity_key) = (bytes(key)?, bytes(auth_key)?);
    let claim = Claim {
        line,
        src: value_of(entry, b"src-address").and_then(without_port),
        dst: value_of(entry, b"dst-address").and_then(without_port),
        spi: Some(Spi(spi)),
        encryption: Some(encryption),
        encryption_key: encryption_key.into(),
        integrity: value_of(entry, b"auth-algorithm").and_then(Integrity::named),
        integrity_key: integrity_key.into(),
    };
    Ok(Some((claim, cut)))
}

/// `10.9.0.1` or, behind NAT, `10.9.0.1:4500`.
fn without_port(text: &[u8]) -> Option<IpAddr> {
    address(text).or_else(|| {
        let colon = text.iter().rposition(|b| *b == b':')?;
        address(text.get(..colon)?)
    })
}
