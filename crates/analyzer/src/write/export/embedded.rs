//! ESP keys for a capture itself: rows of `esp_sa` for a Decryption Secrets Block, which Wireshark's development version reads.

use super::esp_row::EspRow;
use super::{SecretTable, SecretText};
use crate::write::key_ring::{KeyProof, KeyRing};

/// The verified ESP keys for a Decryption Secrets Block, as rows of `esp_sa` with all ten columns of Wireshark 4.4 and newer, busiest SA first. Several keys of one SPI are all there: Wireshark takes
/// the first, rekeyscope the one that fits.
pub fn esp_sa(ring: &KeyRing) -> SecretTable {
    let mut notes = Vec::new();
    let proven = ring.esp.iter().filter(|key| key.proof == KeyProof::Proven);
    let rows = EspRow::of(proven, &mut notes);
    let mut esp_sa = SecretText::for_rows(rows.len());
    for row in &rows {
        row.columns(&mut esp_sa);
        match row.key.esn_high {
            None => esp_sa.push(",\"32-bit\",\"0\"\n"),
            Some(high) => esp_sa.push(&format!(",\"64-bit\",\"{high:x}\"\n")),
        };
    }
    SecretTable {
        text: esp_sa.finish(),
        rows: rows.len(),
        notes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::export::synthetic::{ring, sa_key, text};
    use crate::write::key_ring::SaKey;
    use rekeyscope_keylog::KeyMaterial;
    use rekeyscope_model::algorithm::{Encryption, Integrity};
    use std::path::Path;

    /// The last two columns are Wireshark's defaults, or the upper half of an extended number. Every key of a reused SPI is
    /// there, and none that is not verified.
    #[test]
    fn rows_fill_all_columns_and_are_verified() {
        let key = |esn_high, proof| SaKey {
            esn_high,
            proof,
            ..sa_key(1, Encryption::AesCbc, 16, Integrity::HmacSha1_96)
        };
        let made = esp_sa(&ring(vec![
            key(None, KeyProof::Proven),
            key(None, KeyProof::Unchecked),
            key(Some(0x1f), KeyProof::Proven),
            key(None, KeyProof::Contradicted),
        ]));
        let rows = text(&made.text);
        let (first, second) = rows.split_once('\n').unwrap();
        assert!(first.ends_with(",\"32-bit\",\"0\""), "{first}");
        assert!(second.ends_with(",\"64-bit\",\"1f\"\n"), "{second}");
        let mut material = KeyMaterial::default();
        material.read_bytes(Path::new("t"), made.text.expose());
        assert_eq!((made.rows, made.notes.len(), material.problems.len()), (2, 0, 0));
    }
}
