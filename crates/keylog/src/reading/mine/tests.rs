use super::*;
use crate::material::key::KeyRoad;
use std::path::Path;

/// Knows the keys and compares.
struct Knows {
    encryption: (Encryption, Vec<u8>),
    integrity: (Integrity, Vec<u8>),
}

impl Oracle for Knows {
    fn icv_fits(&mut self, c: &KeyCandidate<'_>) -> bool {
        if self.encryption.0.is_aead() {
            return (c.encryption, c.encryption_key) == (self.encryption.0, &self.encryption.1);
        }
        (c.integrity, c.integrity_key) == (self.integrity.0, &self.integrity.1)
    }
    fn weigh(&mut self, c: &KeyCandidate<'_>) -> f64 {
        let right = (c.encryption, c.encryption_key) == (self.encryption.0, &self.encryption.1);
        if right { RIGHT } else { -9.0 }
    }
}

const RIGHT: f64 = 60.0;

fn bytes(seed: u8, len: usize) -> Vec<u8> {
    (0..len)
        .map(|i| (i as u8).wrapping_mul(seed).wrapping_add(seed >> 3))
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn material(log: &str) -> KeyMaterial {
    let mut material = KeyMaterial::default();
    material.read_bytes(Path::new("log"), log.as_bytes());
    material
}

fn cbc_sha1() -> Knows {
    Knows {
        encryption: (Encryption::AesCbc, bytes(37, 16)),
        integrity: (Integrity::HmacSha1_96, bytes(91, 20)),
    }
}

#[test]
fn keys_inside_one_blob_at_any_offset() {
    let mut knows = cbc_sha1();
    for gap in [0, 1, 7] {
        let keymat = [
            bytes(5, gap),
            knows.encryption.1.clone(),
            knows.integrity.1.clone(),
            bytes(3, gap),
        ]
        .concat();
        let mined = mine(
            &material(&format!("whatever {}\n", hex(&keymat))),
            Spi(1),
            &KeyShape::default(),
            &mut knows,
        );
        let key = mined.key.unwrap();
        assert_eq!(key.encryption_key.expose(), knows.encryption.1);
        assert_eq!(key.integrity_key.expose(), knows.integrity.1);
        assert_eq!(key.origin.road, KeyRoad::Mined);
    }
}

#[test]
fn keys_in_separate_blobs_and_combined_mode() {
    let mut knows = cbc_sha1();
    let log = format!(
        "a {}\nb {}\nc {}\n",
        hex(&knows.integrity.1),
        hex(&bytes(7, 64)),
        hex(&knows.encryption.1)
    );
    assert!(
        mine(&material(&log), Spi(1), &KeyShape::default(), &mut knows)
            .key
            .is_some()
    );
    let mut gcm = Knows {
        encryption: (Encryption::AesGcm { icv: 16 }, bytes(37, 36)),
        integrity: (Integrity::None, vec![]),
    };
    let log = format!("x {}\n", hex(&[bytes(5, 9), bytes(37, 36)].concat()));
    assert!(
        mine(&material(&log), Spi(1), &KeyShape::default(), &mut gcm)
            .key
            .is_some()
    );
}

#[test]
fn the_nearest_blob_is_tried_first() {
    let mut knows = cbc_sha1();
    let noise: String = (1..200)
        .map(|i| format!("noise {}\n", hex(&bytes(i, 40))))
        .collect();
    let keys = format!(
        "SPI: 00000001\nx {}\n",
        hex(&[knows.encryption.1.clone(), knows.integrity.1.clone()].concat())
    );
    let shape = KeyShape {
        encryptions: vec![Encryption::AesCbc],
        integrities: vec![Integrity::HmacSha1_96],
        enough_bits: RIGHT,
        ..KeyShape::default()
    };
    let mined = mine(
        &material(&(noise.clone() + &keys + &noise)),
        Spi(1),
        &shape,
        &mut knows,
    );
    assert!(mined.key.is_some());
    // Windows of 20 bytes in 36, then the encryption key right before the proven one.
    assert!(mined.trials <= 36 - 20 + 1 + 1, "{} trials", mined.trials);
}

#[test]
fn trials_grow_with_the_bytes_and_are_bounded() {
    let mut never = Knows {
        encryption: (Encryption::AesCbc, vec![]),
        integrity: (Integrity::HmacSha1_96, vec![]),
    };
    let log = |lines: u32| -> String {
        let mut state = 1_u32;
        (0..lines)
            .map(|_| {
                let row: String = (0..32)
                    .map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        format!("{:02x}", state >> 24)
                    })
                    .collect();
                format!("x {row}\n")
            })
            .collect()
    };
    let mut trials = |lines| mine(&material(&log(lines)), Spi(1), &KeyShape::default(), &mut never).trials;
    let (few, many) = (trials(50), trials(500));
    assert!(many <= 11 * few, "{few} then {many}");
    let bounded = mine(
        &material(&log(500)),
        Spi(1),
        &KeyShape {
            most_trials: 100,
            ..KeyShape::default()
        },
        &mut never,
    );
    assert_eq!((bounded.trials, bounded.gave_up), (100, true));
}
