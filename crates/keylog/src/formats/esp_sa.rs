//! Wireshark's `esp_sa` table: eight quoted columns, two more since 4.4 (sequence number length and upper half).
//!
//! ```text
//! "IPv4","src","dst","0x%08x","AES-CBC [RFC3602]","0x…","HMAC-SHA-1-96 [RFC2404]","0x…"
//! ```
//! An address or SPI with `*` in it stands for any.

use crate::formats::format::KeyFormat;
use crate::lines::fields::{self, unquoted, words};
use crate::lines::outer::LogLine;
use crate::lines::text::append;
use crate::lines::{algorithm_names, hex};
use crate::material::contents::LONGEST_LINE;
use crate::material::key::{EspKey, KeyDefect};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use std::net::IpAddr;
use zeroize::Zeroizing;

/// Columns that every version has.
const COLUMNS: usize = 8;

/// Reader of the table.
#[derive(Default)]
pub(crate) struct EspSa {
    /// A row that a terminal wrapped: it is not complete. With the line on which it began.
    open: Option<(u64, Zeroizing<Vec<u8>>)>,
}

impl KeyFormat for EspSa {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        let text = line.text.trim_ascii_start();
        let preferences = preferences(text);
        if !preferences.is_empty() {
            self.finish(sink);
            preferences
                .into_iter()
                .for_each(|row| self.take(line.number, row, sink));
            return true;
        }
        if starts_row(text) {
            self.finish(sink);
            self.take(line.number, Zeroizing::new(text.to_vec()), sink);
            return true;
        }
        let Some((number, mut row)) = self.open.take() else {
            return false;
        };
        let in_quotes = quotes(&row) % 2 == 1;
        let goes_on = in_quotes || text.starts_with(b",") || (text.starts_with(b"\"") && row.ends_with(b","));
        if text.is_empty() || !goes_on || row.len() + text.len() > LONGEST_LINE {
            self.open = Some((number, row));
            self.finish(sink);
            return false;
        }
        append(&mut row, text);
        self.take(number, row, sink);
        true
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        if let Some((number, row)) = self.open.take() {
            read_row(number, &row, sink).unwrap_or_else(|sentence| sink.problem(number, sentence));
        }
    }
}

impl EspSa {
    /// Reads a row, or keeps it open when it may go on on the next line.
    fn take(&mut self, number: u64, row: Zeroizing<Vec<u8>>, sink: &mut Sink<'_>) {
        let quotes = quotes(&row);
        if quotes > 0 && (quotes % 2 == 1 || columns(&row).len() < COLUMNS || row.ends_with(b",")) {
            self.open = Some((number, row));
        } else {
            read_row(number, &row, sink).unwrap_or_else(|sentence| sink.problem(number, sentence));
        }
    }
}

/// The rows of `tshark -o 'uat:esp_sa:"IPv4",…' -o …`, also with their quotes escaped.
fn preferences(line: &[u8]) -> Vec<Zeroizing<Vec<u8>>> {
    const NAME: &[u8] = b"uat:esp_sa:";
    let starts: Vec<usize> = memchr::memmem::find_iter(line, NAME).collect();
    let rows = starts.iter().enumerate().filter_map(|(at, start)| {
        let end = starts.get(at + 1).copied().unwrap_or(line.len());
        let escaped = line.get(start + NAME.len()..end)?;
        // The quote before the name ends the row.
        let outer = start.checked_sub(1).and_then(|before| line.get(before));
        let escaped = match outer {
            Some(b'\'') => escaped.split(|b| *b == b'\'').next()?,
            Some(b'"') if escaped.starts_with(b"\\\"") => {
                let end = escaped
                    .windows(2)
                    .position(|w| matches!(w, [before, b'"'] if *before != b'\\'));
                escaped.get(..end.map_or(escaped.len(), |end| end + 1))?
            }
            _ => escaped,
        };
        let mut row = Zeroizing::new(Vec::with_capacity(escaped.len()));
        row.extend(escaped.iter().copied().filter(|b| *b != b'\\'));
        let last = row.iter().rposition(|b| *b == b'"')?;
        row.truncate(last + 1);
        Some(row)
    });
    rows.collect()
}

fn quotes(row: &[u8]) -> usize {
    row.iter().filter(|b| **b == b'"').count()
}

/// A quoted first column, or the protocol name without quotes.
pub(crate) fn starts_row(text: &[u8]) -> bool {
    let bare = text.strip_prefix(b"\"").unwrap_or(text);
    let family = bare
        .get(..4)
        .is_some_and(|f| f.eq_ignore_ascii_case(b"IPv4") || f.eq_ignore_ascii_case(b"IPv6"));
    let ended = |skip: usize| bare.get(skip).is_some_and(|b| matches!(b, b'"' | b','));
    // A quoted row of another first column: only with as many columns as the table has.
    let quoted = || text.starts_with(b"\"") && text.windows(3).any(|w| w == b"\",\"");
    (family && ended(4)) || (quoted() && matches!(columns(text).len(), 8 | 10))
}

/// Splits at commas outside quotes; the quotes are taken off.
fn columns<'r>(row: &'r [u8]) -> Vec<&'r [u8]> {
    let column = |text: Option<&'r [u8]>| unquoted(text.unwrap_or_default().trim_ascii());
    let mut columns = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, byte) in row.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                columns.push(column(row.get(start..at)));
                start = at + 1;
            }
            _ => {}
        }
    }
    columns.push(column(row.get(start..)));
    columns
}

fn read_row(number: u64, row: &[u8], sink: &mut Sink<'_>) -> Result<(), String> {
    let columns = columns(row);
    let &[family, src, dst, spi, encryption, ref keys @ ..] = columns.as_slice() else {
        return Err(wrong_count(columns.len()));
    };
    let claim = sa_of(number, [family, src, dst, spi, encryption]);
    let (&[encryption_key, integrity, integrity_key, ..], 8 | 10) = (keys, columns.len()) else {
        // The row was cut within a key or behind it.
        if let (1 | 2, Ok(claim)) = (keys.len(), claim) {
            claim.hand_over_defective(KeyDefect::Truncated, sink);
        }
        return Err(wrong_count(columns.len()));
    };
    let mut claim = claim?;
    claim.integrity = integrity_column(integrity)?;
    let names_icv = memchr::memmem::find(encryption, b"ICV").is_some();
    if let (Some(aead), false) = (claim.encryption.filter(|e| e.is_aead()), names_icv) {
        // Before Wireshark 3.6 the name of a combined mode left the length of its ICV to this column: `ANY 96 bit authentication [no checking]`.
        let bits = words(integrity)
            .find_map(fields::number)
            .and_then(|bits| u32::try_from(bits).ok());
        claim.encryption = Some(bits.map_or(aead, |bits| algorithm_names::with_icv_bits(aead, bits)));
    }
    let checked = claim.integrity.is_some_and(|named| named != Integrity::None);
    let integrity_key = if checked { integrity_key } else { b"" };
    let keys = key_column(encryption_key, 6).and_then(|key| Ok((key, key_column(integrity_key, 8)?)));
    match keys {
        Ok((encryption_key, integrity_key)) => {
            claim.encryption_key = SecretBytes::new(encryption_key);
            claim.integrity_key = SecretBytes::new(integrity_key);
            claim.hand_over(sink);
            Ok(())
        }
        Err((sentence, cut)) => {
            if cut {
                claim.hand_over_defective(KeyDefect::Truncated, sink);
            }
            Err(sentence)
        }
    }
}

/// The columns before the keys.
fn sa_of(line: u64, [family, src, dst, spi, encryption]: [&[u8]; 5]) -> Result<EspKey, String> {
    let ipv6 = match family.to_ascii_lowercase().as_slice() {
        b"ipv4" => false,
        b"ipv6" => true,
        _ => return Err("column 1 is neither \"IPv4\" nor \"IPv6\"".into()),
    };
    let encryption = Encryption::named(encryption).ok_or(
        "column 5 names an encryption that is not supported here: AES-CBC, AES-CTR, AES-GCM, ChaCha20-Poly1305, \
         3DES-CBC, DES-CBC and NULL are",
    );
    Ok(EspKey {
        src: address(src, ipv6, 2)?,
        dst: address(dst, ipv6, 3)?,
        spi: spi_column(spi)?,
        encryption: Some(encryption?),
        ..EspKey::at(line)
    })
}

fn wrong_count(columns: usize) -> String {
    format!(
        "an esp_sa row has 8 columns (10 since Wireshark 4.4), this one has {columns}: copy the whole row, with all its quotes"
    )
}

fn address(text: &[u8], ipv6: bool, column: u8) -> Result<Option<IpAddr>, String> {
    if text.contains(&b'*') {
        return Ok(None);
    }
    match fields::parsed::<IpAddr>(text) {
        Some(address) if address.is_ipv6() == ipv6 => Ok(Some(address)),
        Some(_) => Err(format!(
            "the address in column {column} is not of the family that column 1 names"
        )),
        None => Err(format!(
            "column {column} is no IP address: write one without a prefix length, or *"
        )),
    }
}

fn spi_column(text: &[u8]) -> Result<Option<Spi>, String> {
    if text.contains(&b'*') {
        return Ok(None);
    }
    let number = hex::spi_number(text)
        .ok_or("column 4 is no SPI: write 0x and up to 8 hex digits, a decimal number, or *")?;
    Ok(Some(Spi(number)))
}

/// The transform: `ANY 96 bit authentication [no checking]` is none, and its key means nothing.
fn integrity_column(text: &[u8]) -> Result<Option<Integrity>, String> {
    let lower = text.to_ascii_lowercase();
    if lower.starts_with(b"any ") && lower.ends_with(b"[no checking]") {
        return Ok(None);
    }
    let integrity = Integrity::named(text).ok_or(
        "column 7 names an authentication that is not supported here: HMAC-MD5, HMAC-SHA-1, HMAC-SHA-2, AES-XCBC, \
         AES-CMAC, ANY and NULL are",
    )?;
    Ok(Some(integrity))
}

/// `0x` and hex digits, or the characters of the key themselves. Digits without `0x` are taken for hex: a key typed
/// without its prefix is commoner than one of nothing but hex characters, and the ICV shows which it was.
/// With an error: whether a part of the key was lost.
fn key_column(text: &[u8], column: u8) -> Result<Vec<u8>, (String, bool)> {
    let (digits, prefixed) = hex::after_0x(text).map_or((text, false), |digits| (digits, true));
    let looks_like_hex = hex::all_digits(text) && text.len().is_multiple_of(2);
    if !prefixed && !looks_like_hex {
        return Ok(text.to_vec());
    }
    let cut = hex::is_cut(digits);
    hex::decode(digits).ok_or_else(|| {
        let sentence = if cut {
            format!(
                "the key in column {column} has an odd number of hex digits: a digit was lost, copy it again"
            )
        } else {
            format!("the key in column {column} has characters that are no hex digits: copy it again")
        };
        (sentence, cut)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_hex_or_its_characters() {
        let characters = |text: &[u8]| assert_eq!(key_column(text, 6), Ok(text.to_vec()));
        characters(b"sixteen letters!");
        characters(b"of hex digits, with others, cafe");
        // An odd number of digits without a prefix is no hex.
        characters(b"cafe0");
        assert_eq!(key_column(b"cafe", 6), Ok(vec![0xca, 0xfe]));
        assert_eq!(key_column(b"0xCAFE", 6), Ok(vec![0xca, 0xfe]));
        assert!(matches!(key_column(b"0xcafe0", 6), Err((_, true))));
        assert!(matches!(key_column(b"0xcafg", 6), Err((_, false))));
    }
}
