//! Wireshark's tables of IKE keys. Both without quotes around hex and without `0x`; quotes and `0x` are tolerated.
//!
//! ```text
//! ikev1_decryption_table   <16 hex initiator cookie>,<hex Ka>
//! ikev2_decryption_table   spi_i,spi_r,sk_ei,sk_er,"encryption",sk_ai,sk_ar,"integrity"
//! ```

use crate::formats::format::KeyFormat;
use crate::lines::fields::unquoted;
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::material::key::IkeSecrets;
use crate::material::sink::Sink;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::IkeSpi;

/// Hex digits of an IKE SPI.
const SPI_DIGITS: usize = 16;
/// Shortest Ka in bytes: DES.
const SHORTEST_KA: usize = 8;
/// Longest Ka in bytes: AES-256.
const LONGEST_KA: usize = 32;

/// Reader of the IKEv1 table.
pub(crate) struct Ikev1Table;

/// Reader of the IKEv2 table.
pub(crate) struct Ikev2Table;

impl KeyFormat for Ikev1Table {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        if !begins_with_spi(line.text) {
            return false;
        }
        let columns: Vec<&[u8]> = line.text.splitn(3, |b| *b == b',').map(bare).collect();
        let &[cookie, key] = columns.as_slice() else {
            return false;
        };
        // One of the two must look right before the other one's mistake is worth a sentence.
        let cookie_is_hex = hex::all_digits(cookie);
        let whole_cookie = cookie_is_hex && cookie.len() == SPI_DIGITS;
        let near_cookie = cookie_is_hex && cookie.len() > 8 && hex::all_digits(key);
        if !whole_cookie && !near_cookie {
            return false;
        }
        read_ikev1(line.number, cookie, key, sink)
            .unwrap_or_else(|sentence| sink.problem(line.number, sentence));
        true
    }
}

fn read_ikev1(number: u64, cookie: &[u8], key: &[u8], sink: &mut Sink<'_>) -> Result<(), String> {
    let initiator_spi = spi(cookie).ok_or_else(|| {
        format!(
            "an initiator cookie has {SPI_DIGITS} hex digits, this one has {}: copy it again",
            cookie.len()
        )
    })?;
    let ka = hex::decode(key)
        .ok_or("the key is not an even number of hex digits: copy it again, without 0x and without blanks")?;
    if !(SHORTEST_KA..=LONGEST_KA).contains(&ka.len()) {
        return Err(format!(
            "the key has {} bytes, an IKEv1 encryption key has {SHORTEST_KA} to {LONGEST_KA}: give the expanded key, not SKEYID_e",
            ka.len()
        ));
    }
    let secrets = IkeSecrets {
        ka: Some(SecretBytes::new(ka)),
        ..IkeSecrets::default()
    };
    sink.secrets(number, (Some(initiator_spi), None), secrets);
    Ok(())
}

impl KeyFormat for Ikev2Table {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        if !begins_with_spi(line.text) {
            return false;
        }
        // Commas inside quotes do not occur in the names of this table.
        let columns: Vec<&[u8]> = line.text.splitn(10, |b| *b == b',').map(bare).collect();
        let [spi_i, spi_r, ..] = columns.as_slice() else {
            return false;
        };
        if columns.len() < 3 || spi(spi_i).is_none() || !hex::all_digits(spi_r) {
            return false;
        }
        read_ikev2(line.number, &columns, sink)
            .unwrap_or_else(|sentence| sink.problem(line.number, sentence));
        true
    }
}

fn read_ikev2(number: u64, columns: &[&[u8]], sink: &mut Sink<'_>) -> Result<(), String> {
    // The ICV of a message tells which transforms open it, so that their names are not asked for.
    let &[spi_i, spi_r, ei, er, _, ai, ar, _] = columns else {
        return Err(format!(
            "an ikev2_decryption_table row has 8 columns, this one has {}{}: copy the whole row",
            if columns.len() > 9 { "more than " } else { "" },
            columns.len().min(9)
        ));
    };
    let spis = (spi(spi_i), spi(spi_r));
    if spis.0.is_none() || spis.1.is_none() {
        return Err(format!(
            "an IKE SPI has {SPI_DIGITS} hex digits: copy columns 1 and 2 again"
        ));
    }
    let key = |text: &[u8], column: u8| -> Result<Option<SecretBytes>, String> {
        let bytes = hex::decode(text).ok_or_else(|| {
            format!("column {column} is not an even number of hex digits: copy the key again")
        })?;
        Ok((!bytes.is_empty()).then(|| SecretBytes::new(bytes)))
    };
    let secrets = IkeSecrets {
        sk_ei: key(ei, 3)?,
        sk_er: key(er, 4)?,
        sk_ai: key(ai, 6)?,
        sk_ar: key(ar, 7)?,
        ..IkeSecrets::default()
    };
    if secrets.sk_ei.is_none() && secrets.sk_er.is_none() {
        return Err("columns 3 and 4 are empty: without SK_ei or SK_er nothing can be decrypted".into());
    }
    sink.secrets(number, spis, secrets);
    Ok(())
}

/// Tells whether a first column can be an SPI: most lines of most logs need no closer look.
fn begins_with_spi(raw: &[u8]) -> bool {
    let text = raw.trim_ascii_start();
    let digits = text.get(1..9).is_some_and(|d| {
        d.iter()
            .all(|b| b.is_ascii_hexdigit() || *b == b'x' || *b == b'X')
    });
    digits && memchr::memchr(b',', text).is_some()
}

/// A column without blanks, quotes and `0x`.
fn bare(column: &[u8]) -> &[u8] {
    let column = unquoted(column.trim_ascii());
    hex::after_0x(column).unwrap_or(column)
}

fn spi(text: &[u8]) -> Option<IkeSpi> {
    if text.len() != SPI_DIGITS {
        return None;
    }
    hex::decode(text)?.try_into().ok().map(IkeSpi)
}
