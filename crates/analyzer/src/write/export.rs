//! Keys → the tables of other programs. The texts are secrets: the caller writes them only where the user asked for them.

pub mod tcpdump;
pub mod wireshark;

use crate::write::key_ring::{KeyRing, Proof, SaKey};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use std::collections::HashSet;
use std::net::IpAddr;
use zeroize::Zeroizing;

/// Longest row in bytes: that of an IKEv2 SA with four keys of 36, 36, 64 and 64 bytes in hex has under 550.
const LONGEST_ROW: usize = 768;

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

/// The keys that an export can use: one per (destination, SPI), busiest first, none that the packets contradict. Says what
/// is left out.
fn usable<'r>(ring: &'r KeyRing, notes: &mut Vec<String>) -> Vec<&'r SaKey> {
    let mut seen: HashSet<(IpAddr, Spi)> = HashSet::new();
    let (mut wrong, mut reused) = (0_u64, 0_u64);
    let mut keys = Vec::new();
    for key in &ring.esp {
        if key.proof == Proof::Contradicted {
            wrong += 1;
        } else if seen.insert((key.dst, key.spi)) {
            keys.push(key);
        } else {
            reused += 1;
        }
    }
    if wrong > 0 {
        notes.push(format!(
            "keys of {wrong} SAs are left out: the ICVs of their packets do not fit"
        ));
    }
    if reused > 0 {
        notes.push(format!(
            "{reused} SAs are left out because their SPI was used again under another key: the table cannot say when a key \
             applies, the SA with most packets is in it"
        ));
    }
    keys
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

    use crate::write::key_ring::{KeyRing, Proof, SaKey};
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
            proof: Proof::Proven,
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
