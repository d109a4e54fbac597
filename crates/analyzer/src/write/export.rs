//! Keys → the tables of other programs. The texts are secrets: the caller writes them only where the user asked for them.

pub mod claims;
pub mod embedded;
mod esp_row;
pub mod tcpdump;
pub mod wireshark;

use crate::write::key_ring::{KeyProof, KeyRing, SaKey};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use std::collections::HashSet;
use std::net::IpAddr;
use zeroize::Zeroizing;

/// Longest row in bytes, with its comment: that of an IKEv2 SA with four keys of 36, 36, 64 and 64 bytes in hex has under 550, one of
/// an ESP SA with two keys, two IPv6 addresses and a comment under 600.
const LONGEST_ROW: usize = 768;

/// Keys as another program reads them, ready to be written.
#[derive(Debug)]
pub struct SecretTable {
    /// The text.
    pub text: SecretBytes,
    /// The rows.
    pub rows: usize,
    /// Notes for a person: what is left out and why.
    pub notes: Vec<String>,
}

/// A text being made. It never grows beyond its first allocation, so that no copy of a key stays behind in freed memory.
struct SecretText(Zeroizing<Vec<u8>>);

impl SecretText {
    fn for_rows(rows: usize) -> Self {
        SecretText(Zeroizing::new(Vec::with_capacity(
            rows.saturating_mul(LONGEST_ROW),
        )))
    }

    fn push(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// Lower-case hex digits, without `0x`.
    fn push_hex(&mut self, key: &SecretBytes) -> &mut Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for byte in key.expose() {
            let digits = [byte >> 4, byte & 15].map(|nibble| DIGITS[usize::from(nibble)]);
            self.0.extend_from_slice(&digits);
        }
        self
    }

    fn finish(mut self) -> SecretBytes {
        SecretBytes::new(std::mem::take(&mut *self.0))
    }
}

/// The keys that an export can use: one per (source, destination, SPI), busiest first. Says what is left out, and what is not verified.
fn usable<'r>(ring: &'r KeyRing, notes: &mut Vec<String>) -> Vec<&'r SaKey> {
    let mut seen: HashSet<(IpAddr, IpAddr, Spi)> = HashSet::new();
    let (mut wrong, mut half, mut reused) = (0_u64, 0_u64, 0_u64);
    let mut keys: Vec<&SaKey> = Vec::new();
    for key in &ring.esp {
        if key.proof == KeyProof::Contradicted {
            wrong += 1;
        } else if key.proof == KeyProof::NothingOpens {
            half += 1;
        } else if seen.insert((key.src, key.dst, key.spi)) {
            keys.push(key);
        } else {
            reused += 1;
        }
    }
    let unverified = keys.iter().filter(|key| key.proof == KeyProof::Unchecked).count() as u64;
    let told = [
        (
            wrong,
            format!("keys of {wrong} SAs are left out: the ICVs of their packets do not fit"),
        ),
        (
            half,
            format!(
                "keys of {half} SAs are left out: the integrity key fits, but no packet decrypts to anything"
            ),
        ),
        (
            unverified,
            format!(
                "keys of {unverified} of {} SAs are not verified: a comment before each says why; what they decrypt may be nonsense",
                keys.len()
            ),
        ),
        (
            reused,
            format!(
                "{reused} SAs are left out because their SPI was used again under another key: the table cannot say when a key \
                 applies, the SA with most packets is in it"
            ),
        ),
    ];
    notes.extend(told.into_iter().filter(|(n, _)| *n > 0).map(|(_, note)| note));
    keys
}

/// Says of the row that follows that its key is not verified, where it is not: `#` begins a comment in Wireshark's tables and in
/// tcpdump's files.
fn comment(out: &mut SecretText, proof: KeyProof) {
    if proof == KeyProof::Unchecked {
        out.push("# The key in the next row is not verified: the packets neither prove nor refute it\n");
    }
}

/// Names each transform that was left out, with the number of SAs.
fn note_left_out(left_out: &[String], program: &str, notes: &mut Vec<String>) {
    let mut names: Vec<&String> = left_out.iter().collect();
    names.sort();
    names.dedup();
    for name in names {
        let count = left_out.iter().filter(|n| *n == name).count();
        notes.push(format!(
            "{count} SAs with {name} are left out: {program} cannot decrypt that"
        ));
    }
}

#[cfg(test)]
pub(crate) mod synthetic {
    //! Key rings of SAs that never were.

    use crate::write::key_ring::{KeyProof, KeyRing, SaKey};
    use rekeyscope_model::algorithm::{Encryption, Integrity, Transform};
    use rekeyscope_model::secret::SecretBytes;
    use rekeyscope_model::spi::Spi;

    /// A proven key of the right lengths for 10.0.0.1 → 10.0.0.2, whose bytes count up from the SPI's last.
    pub(crate) fn sa_key(spi: u32, encryption: Encryption, key_len: usize, integrity: Integrity) -> SaKey {
        let bytes =
            |len: usize| SecretBytes::new((0..len).map(|i| (spi as u8).wrapping_add(i as u8)).collect());
        SaKey {
            src: "10.0.0.1".parse().unwrap(),
            dst: "10.0.0.2".parse().unwrap(),
            spi: Spi(spi),
            packets: 1000 - u64::from(spi),
            proof: KeyProof::Proven,
            transform: Transform {
                encryption,
                key_len: Some(key_len),
                integrity,
            },
            negotiated: None,
            esn_high: None,
            encryption_key: bytes(key_len + encryption.salt_len()),
            integrity_key: bytes(integrity.key_len()),
        }
    }

    pub(crate) fn ring(esp: Vec<SaKey>) -> KeyRing {
        KeyRing {
            esp,
            ..KeyRing::default()
        }
    }

    /// The text of a table.
    pub(crate) fn text(secret: &SecretBytes) -> String {
        String::from_utf8(secret.expose().to_vec()).unwrap()
    }
}
