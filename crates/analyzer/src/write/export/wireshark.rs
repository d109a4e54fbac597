//! Wireshark's tables `esp_sa`, `ikev1_decryption_table` and `ikev2_decryption_table`. Their names of transforms are exact and
//! case-sensitive; a row with a mistake ends the reading of the table, a key of a wrong length is a dissector bug on every
//! packet. So rows are checked here, and what Wireshark has no name for is left out.

use super::esp_row::EspRow;
use super::{SecretText, comment, usable};
use crate::write::key_ring::KeyRing;
use rekeyscope_ipsec::ike::proven::{ProvenIkeKey, ProvenIkev2Keys};
use rekeyscope_model::algorithm::Encryption;
use rekeyscope_model::secret::SecretBytes;

/// Wireshark becomes slow with more rows than this: it looks through the table for every packet, 1.2 µs per row, so that
/// 100 rows halve its speed several times over.
pub const SLOW_ROWS: usize = 100;

/// The tables, ready to be written.
#[derive(Debug)]
pub struct Tables {
    /// `esp_sa`: eight quoted columns, which every version reads.
    pub esp_sa: SecretBytes,
    /// The rows.
    pub esp_rows: usize,
    /// `ikev1_decryption_table`.
    pub ikev1: SecretBytes,
    /// `ikev2_decryption_table`.
    pub ikev2: SecretBytes,
    /// IKE SAs in both.
    pub ike_rows: usize,
    /// Notes for a person: what is left out and why.
    pub notes: Vec<String>,
}

/// Names of the tables in Wireshark's configuration folder.
pub const NAMES: [&str; 3] = ["esp_sa", "ikev1_decryption_table", "ikev2_decryption_table"];

impl Tables {
    /// The tables, in the order of their [`NAMES`].
    pub fn texts(&self) -> [&SecretBytes; 3] {
        [&self.esp_sa, &self.ikev1, &self.ikev2]
    }
}

/// Makes the tables: SAs that occur in the capture, with its addresses, busiest first.
pub fn tables(ring: &KeyRing) -> Tables {
    let mut notes = Vec::new();
    let keys = usable(ring, &mut notes);
    // A version that does not know this name stops reading there: these rows come last.
    let is_newest = |row: &EspRow<'_>| row.key.transform.encryption == Encryption::ChaCha20Poly1305;
    let all = EspRow::of(keys, &mut notes).into_iter();
    let (mut newest, mut rows): (Vec<EspRow>, Vec<EspRow>) = all.partition(is_newest);
    note_esp(&rows, &newest, &mut notes);
    rows.append(&mut newest);
    let mut esp_sa = SecretText::for_rows(rows.len());
    for row in &rows {
        comment(&mut esp_sa, row.key.proof);
        row.columns(&mut esp_sa);
        esp_sa.push("\n");
    }
    let (ikev1, ikev2) = ike_tables(ring, &mut notes);
    Tables {
        esp_sa: esp_sa.finish(),
        esp_rows: rows.len(),
        ike_rows: ikev1.1 + ikev2.1,
        ikev1: ikev1.0.finish(),
        ikev2: ikev2.0.finish(),
        notes,
    }
}

fn note_esp(rows: &[EspRow], newest: &[EspRow], notes: &mut Vec<String>) {
    if !newest.is_empty() {
        notes.push(format!(
            "{} SAs with ChaCha20-Poly1305 need Wireshark 4.6 or newer; older versions complain about the last rows of esp_sa",
            newest.len()
        ));
    }
    let unchecked = rows.iter().filter(|row| row.unchecked).count();
    if unchecked > 0 {
        notes.push(format!(
            "Wireshark decrypts {unchecked} SAs without checking their ICVs: it does not know their integrity algorithm, or \
             its key is not known"
        ));
    }
    let all = rows.len() + newest.len();
    if all > SLOW_ROWS {
        notes.push(format!(
            "{all} SAs (more than {} pairs) make Wireshark slow: it looks through them for every packet; cut the capture in \
             time first",
            SLOW_ROWS / 2
        ));
    }
}

type CountedText = (SecretText, usize);

fn ike_tables(ring: &KeyRing, notes: &mut Vec<String>) -> (CountedText, CountedText) {
    let mut v1 = (SecretText::for_rows(ring.ike.len()), 0);
    let mut v2 = (SecretText::for_rows(ring.ike.len()), 0);
    let mut unnamed = 0_u64;
    for key in &ring.ike {
        match key {
            ProvenIkeKey::Ikev1 { initiator_spi, ka } => {
                v1.0.push(&format!("{initiator_spi},")).push_hex(ka).push("\n");
                v1.1 += 1;
            }
            ProvenIkeKey::Ikev2(keys) => match ikev2_names(keys) {
                Some(names) => {
                    ikev2_row(&mut v2.0, keys, &names);
                    v2.1 += 1;
                }
                None => unnamed += 1,
            },
        }
    }
    if unnamed > 0 {
        notes.push(format!(
            "{unnamed} IKE SAs are left out of ikev2_decryption_table: Wireshark has no name for their algorithms"
        ));
    }
    (v1, v2)
}

fn ikev2_row(out: &mut SecretText, keys: &ProvenIkev2Keys, names: &(String, &str)) {
    let [ei, er] = &keys.sk_e;
    let [ai, ar] = &keys.sk_a;
    out.push(&format!("{},{},", keys.initiator_spi, keys.responder_spi));
    out.push_hex(ei).push(",").push_hex(er);
    out.push(&format!(",\"{}\",", names.0));
    out.push_hex(ai).push(",").push_hex(ar);
    out.push(&format!(",\"{}\"\n", names.1));
}

/// The names of cipher and integrity in `ikev2_decryption_table`: they are not those of `esp_sa`.
fn ikev2_names(keys: &ProvenIkev2Keys) -> Option<(String, &'static str)> {
    let row = keys.encryption.row();
    let bits = keys.sk_e.first()?.len().checked_sub(row.salt_len)? * 8;
    let encryption = row.ikev2_table?.replace("{}", &bits.to_string());
    // Algorithms without a name have ICVs of 96 bits.
    let integrity = keys.integrity.row().ikev2_table;
    let integrity = integrity.unwrap_or("ANY 96-bits of Authentication [No Checking]");
    Some((encryption, integrity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::export::synthetic::{ring, sa_key, text};
    use crate::write::export::tcpdump::secrets_file;
    use crate::write::key_ring::{KeyProof, SaKey};
    use rekeyscope_keylog::KeyMaterial;
    use rekeyscope_model::algorithm::Integrity;
    use rekeyscope_model::spi::IkeSpi;
    use std::path::Path;

    fn tables(ring: &KeyRing) -> Tables {
        super::tables(ring)
    }

    #[test]
    fn a_row_is_exact() {
        let key = sa_key(0xe8, Encryption::AesCbc, 16, Integrity::HmacSha1_96);
        let row = concat!(
            r#""IPv4","10.0.0.1","10.0.0.2","0x000000e8","AES-CBC [RFC3602]","0xe8e9eaebecedeeeff0f1f2f3f4f5f6f7","#,
            r#""HMAC-SHA-1-96 [RFC2404]","0xe8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafb""#,
            "\n"
        );
        assert_eq!(text(&tables(&ring(vec![key])).esp_sa), row);
        let mut key = sa_key(1, Encryption::AesGcm { icv: 16 }, 16, Integrity::None);
        (key.src, key.dst) = ("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap());
        let row = text(&tables(&ring(vec![key])).esp_sa);
        assert!(
            row.starts_with(
                "\"IPv6\",\"2001:db8::1\",\"2001:db8::2\",\"0x00000001\",\"AES-GCM with 16 octet"
            )
        );
        assert!(
            row.ends_with(",\"0x0102030405060708090a0b0c0d0e0f1011121314\",\"NULL\",\"\"\n"),
            "{row}"
        );
    }

    /// Every transform: its row reads back as the same key, or a note says that it is left out.
    #[test]
    fn every_transform_is_written_or_named() {
        let encryptions = [
            (Encryption::Null, 0),
            (Encryption::AesCbc, 32),
            (Encryption::AesCtr, 16),
            (Encryption::AesGcm { icv: 8 }, 16),
            (Encryption::AesGcm { icv: 12 }, 24),
            (Encryption::ChaCha20Poly1305, 32),
            (Encryption::TripleDesCbc, 24),
            (Encryption::DesCbc, 8),
            (Encryption::AesCcm { icv: 16 }, 16),
            (Encryption::AesGmac, 16),
            (Encryption::CamelliaCbc, 16),
        ];
        let integrities = [
            Integrity::HmacMd5_96,
            Integrity::HmacSha1_96,
            Integrity::HmacSha256_96,
            Integrity::HmacSha256_128,
            Integrity::HmacSha384_192,
            Integrity::HmacSha512_256,
            Integrity::AesXcbc96,
            Integrity::AesCmac96,
        ];
        let mut keys = Vec::new();
        for (encryption, len) in encryptions {
            for integrity in integrities {
                let integrity = if encryption.is_aead() {
                    Integrity::None
                } else {
                    integrity
                };
                keys.push(sa_key(keys.len() as u32 + 1, encryption, len, integrity));
            }
        }
        let made = tables(&ring(keys.clone()));
        let mut material = KeyMaterial::default();
        material.read_bytes(Path::new("esp_sa"), made.esp_sa.expose());
        assert_eq!(material.problems, []);
        assert_eq!((material.esp.len(), made.esp_rows), (8 * 8, 8 * 8));
        for row in &material.esp {
            let key = keys.iter().find(|key| Some(key.spi) == row.spi).unwrap();
            assert_eq!(
                (row.encryption, &row.encryption_key),
                (Some(key.transform.encryption), &key.encryption_key)
            );
            assert!(row.integrity_key == key.integrity_key || row.integrity_key.is_empty());
        }
        let last = made.notes.join("\n");
        for needed in [
            "8 SAs with AES-CCM-16-128",
            "AES-GMAC",
            "Camellia-CBC",
            "need Wireshark 4.6",
            "without checking",
        ] {
            assert!(last.contains(needed), "{needed} in {last}");
        }
        let table = text(&made.esp_sa);
        let first_new = table.lines().position(|row| row.contains("ChaCha20")).unwrap();
        assert_eq!(first_new, 7 * 8, "rows that old versions do not know come last");
    }

    #[test]
    fn one_row_per_spi_and_none_that_the_packets_contradict() {
        let key = || sa_key(1, Encryption::AesCbc, 16, Integrity::HmacSha1_96);
        let wrong = SaKey {
            proof: KeyProof::Contradicted,
            ..sa_key(2, Encryption::AesCbc, 16, Integrity::HmacSha1_96)
        };
        let made = super::tables(&ring(vec![key(), key(), wrong]));
        assert_eq!((made.esp_rows, made.notes.len()), (1, 2), "{:?}", made.notes);
    }

    /// A table with rows that are not verified says so of each, and reads back; a verified key has no comment.
    #[test]
    fn what_is_not_verified_is_told() {
        let key = |spi, proof| SaKey {
            proof,
            ..sa_key(spi, Encryption::AesCbc, 16, Integrity::HmacSha1_96)
        };
        let ring = ring(vec![
            key(1, KeyProof::Proven),
            key(2, KeyProof::Unchecked),
            key(3, KeyProof::NothingOpens),
        ]);
        let made = tables(&ring);
        let rows = text(&made.esp_sa);
        let starts: Vec<&str> = rows.lines().map(|row| &row[..6]).collect();
        assert_eq!(starts, ["\"IPv4\"", "# The ", "\"IPv4\""]);
        let told = made.notes.join("\n");
        assert!(
            told.contains("keys of 1 SAs are left out") && told.contains("1 of 2 SAs are not verified"),
            "{told}"
        );
        let file = secrets_file(&ring);
        for secret in [made.esp_sa, file.text] {
            let mut material = KeyMaterial::default();
            material.read_bytes(Path::new("t"), secret.expose());
            assert_eq!((material.esp.len(), material.problems.len()), (2, 0));
        }
    }

    #[test]
    fn a_key_of_a_wrong_length_is_never_written() {
        let mut key = sa_key(1, Encryption::AesCbc, 16, Integrity::HmacSha1_96);
        key.encryption_key = SecretBytes::new(vec![1; 17]);
        assert_eq!(tables(&ring(vec![key])).esp_rows, 0);
        let mut key = sa_key(1, Encryption::AesCbc, 16, Integrity::HmacSha1_96);
        key.integrity_key = SecretBytes::new(vec![1; 19]);
        let row = text(&tables(&ring(vec![key])).esp_sa);
        assert!(
            row.ends_with("\"ANY 96 bit authentication [no checking]\",\"\"\n"),
            "{row}"
        );
    }

    #[test]
    fn without_an_integrity_key_the_negotiated_icv_counts() {
        let mut key = sa_key(1, Encryption::AesCbc, 16, Integrity::None);
        key.proof = KeyProof::Unchecked;
        let usual = text(&tables(&ring(vec![key.clone()])).esp_sa);
        assert!(usual.contains("ANY 96 bit"), "{usual}");
        key.negotiated = Some(rekeyscope_model::algorithm::Transform {
            integrity: Integrity::HmacSha256_128,
            ..key.transform
        });
        let negotiated = text(&tables(&ring(vec![key])).esp_sa);
        assert!(negotiated.contains("ANY 128 bit"), "{negotiated}");
    }

    #[test]
    fn more_than_fifty_pairs_are_told() {
        let keys = |n: u32| (0..n).map(|spi| sa_key(spi, Encryption::AesCbc, 16, Integrity::HmacSha1_96));
        assert_eq!(tables(&ring(keys(100).collect())).notes, [] as [String; 0]);
        let notes = tables(&ring(keys(101).collect())).notes;
        assert!(notes[0].contains("more than 50 pairs"), "{notes:?}");
    }

    #[test]
    fn ike_rows_are_unquoted() {
        let keys = |len: usize| {
            [
                SecretBytes::new(vec![0xab; len]),
                SecretBytes::new(vec![0xcd; len]),
            ]
        };
        let v2 = |encryption, sk_e, integrity: Integrity| {
            ProvenIkeKey::Ikev2(Box::new(ProvenIkev2Keys {
                initiator_spi: IkeSpi([1; 8]),
                responder_spi: IkeSpi([2; 8]),
                encryption,
                sk_e: keys(sk_e),
                integrity,
                sk_a: keys(integrity.key_len()),
            }))
        };
        let made = tables(&KeyRing {
            ike: vec![
                ProvenIkeKey::Ikev1 {
                    initiator_spi: IkeSpi([0x10; 8]),
                    ka: SecretBytes::new(vec![0xef; 16]),
                },
                v2(Encryption::AesGcm { icv: 16 }, 20, Integrity::None),
                v2(Encryption::AesCbc, 32, Integrity::HmacSha256_128),
                v2(Encryption::CamelliaCbc, 16, Integrity::HmacSha1_96),
            ],
            ..KeyRing::default()
        });
        assert_eq!(
            text(&made.ikev1),
            format!("1010101010101010,{}\n", "ef".repeat(16))
        );
        let table = text(&made.ikev2);
        let rows: Vec<&str> = table.lines().collect();
        let (ab, cd) = ("ab".repeat(20), "cd".repeat(20));
        assert_eq!(
            rows[0],
            format!(
                "0101010101010101,0202020202020202,{ab},{cd},\"AES-GCM-128 with 16 octet ICV [RFC5282]\",,,\"NONE [RFC4306]\""
            )
        );
        assert!(
            rows[1].contains(",\"AES-CBC-256 [RFC3602]\",abab")
                && rows[1].ends_with("\"HMAC_SHA2_256_128 [RFC4868]\"")
        );
        assert_eq!((rows.len(), made.ike_rows, made.notes.len()), (2, 3, 1));
        let mut material = KeyMaterial::default();
        material.read_bytes(Path::new("t"), made.ikev2.expose());
        assert_eq!((material.ike.len(), material.problems.len()), (2, 0));
    }
}
