//! A secrets file for `tcpdump -E 'file NAME'`: `spi@dst algorithm:0xkey`, one SA per line. tcpdump knows CBC ciphers and ICVs
//! of 96 bits, and checks none.

use super::{SecretTable, SecretText, comment, note_left_out, usable};
use crate::write::key_ring::{KeyRing, SaKey};

/// First line: tcpdump opens the file when it is no longer root.
const HEADER: &str =
    "# As root: tcpdump -Z root -E 'file NAME' -r CAPTURE; without -Z root it may not read this file\n";

/// Makes the file: SAs that occur in the capture, busiest first.
pub fn secrets_file(ring: &KeyRing) -> SecretTable {
    let mut notes = Vec::new();
    let mut left_out = Vec::new();
    let keys = usable(ring, &mut notes);
    let mut text = SecretText::for_rows(1 + keys.len());
    let mut rows = 0;
    for key in keys {
        let Some(algorithm) = algorithm(key) else {
            let (encryption, integrity) = (key.transform.encryption_name(), key.transform.integrity);
            left_out.push(match key.transform.encryption.is_aead() {
                true => encryption,
                false => format!("{encryption} and {integrity}"),
            });
            continue;
        };
        if rows == 0 {
            text.push(HEADER);
        }
        comment(&mut text, key.proof);
        text.push(&format!("{}@{} {algorithm}:0x", key.spi, key.dst));
        text.push_hex(&key.encryption_key).push("\n");
        rows += 1;
    }
    note_left_out(&left_out, "tcpdump", &mut notes);
    SecretTable {
        text: text.finish(),
        rows,
        notes,
    }
}

/// tcpdump strips `-hmac96` and `-cbc` from the name and asks OpenSSL for the rest.
fn algorithm(key: &SaKey) -> Option<String> {
    let icv = key.icv_len();
    if !matches!(icv, 0 | 12) {
        return None;
    }
    let bits = key.encryption_key.len() * 8;
    let cipher = key
        .transform
        .encryption
        .row()
        .tcpdump?
        .replace("{}", &bits.to_string());
    Some(if icv == 12 { cipher + "-hmac96" } else { cipher })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::export::synthetic::{ring, sa_key, text};
    use rekeyscope_keylog::KeyMaterial;
    use rekeyscope_model::algorithm::{Encryption, Integrity};
    use std::path::Path;

    #[test]
    fn rows_read_back_and_the_rest_is_named() {
        let keys = vec![
            sa_key(1, Encryption::AesCbc, 16, Integrity::HmacSha1_96),
            sa_key(2, Encryption::AesCbc, 32, Integrity::AesXcbc96),
            sa_key(3, Encryption::TripleDesCbc, 24, Integrity::HmacMd5_96),
            sa_key(4, Encryption::AesCbc, 16, Integrity::HmacSha256_128),
            sa_key(5, Encryption::AesGcm { icv: 16 }, 16, Integrity::None),
        ];
        let made = secrets_file(&ring(keys.clone()));
        let rows = text(&made.text);
        assert_eq!(
            rows.lines().nth(1).unwrap(),
            "0x00000001@10.0.0.2 aes128-cbc-hmac96:0x0102030405060708090a0b0c0d0e0f10"
        );
        assert!(rows.contains(" aes256-cbc-hmac96:0x") && rows.contains(" 3des-cbc-hmac96:0x"));
        let mut material = KeyMaterial::default();
        material.read_bytes(Path::new("secrets"), made.text.expose());
        assert_eq!(
            (material.esp.len(), made.rows, material.problems.len()),
            (3, 3, 0)
        );
        for (row, key) in material.esp.iter().zip(&keys) {
            assert_eq!(
                (row.spi, &row.encryption_key),
                (Some(key.spi), &key.encryption_key)
            );
        }
        let told = made.notes.join("\n");
        assert!(
            told.contains("AES-CBC-128 and HMAC-SHA2-256-128") && told.contains("AES-GCM-16-128"),
            "{told}"
        );
    }
}
