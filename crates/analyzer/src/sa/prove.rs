//! Which claimed key fits an SA: the ICV decides (RFC 4303 §3.4.4). A wrong key of a 96-bit ICV passes one packet with
//! probability 2⁻⁹⁶.

use crate::algorithm::{Encryption, Integrity, Transform};
use crate::analysis::KeyStatus;
use crate::esp::cipher::{EspCipher, Icv};
use crate::keylog::{EspKey, KeyDefect, KeyOrigin};
use crate::sa::association::AssignedKey;
use std::sync::Arc;

/// Most candidate keys that are tried on one packet.
pub const MAX_TRIALS_PER_PACKET: u32 = 4_096;

/// A packet to try keys on.
#[derive(Debug, Clone, Copy)]
pub struct Specimen<'a> {
    /// From the SPI on.
    pub packet: &'a [u8],
    /// Nothing of it was cut off.
    pub whole: bool,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The key that fits; else the best claim, to be tried on later packets.
    pub key: Option<AssignedKey>,
    /// The ICV fitted.
    pub proven: bool,
    /// What is known about keys that cannot be used.
    pub hint: KeyStatus,
    /// Where that stands.
    pub hint_origin: Option<KeyOrigin>,
    /// Trials made.
    pub trials: u32,
}

/// Tries `claims` (best first), then `derived`, on one packet.
pub fn search<'k>(
    claims: impl Iterator<Item = &'k EspKey>,
    derived: Option<&AssignedKey>,
    negotiated: Option<Transform>,
    specimen: Specimen<'_>,
) -> Finding {
    let mut finding = Finding {
        key: None,
        proven: false,
        hint: KeyStatus::Missing,
        hint_origin: None,
        trials: 0,
    };
    let mut rivals = 0;
    for claim in claims {
        if let Some(defect) = claim.defect {
            note_defect(&mut finding, defect, &claim.origin);
            continue;
        }
        for assigned in readings(claim, negotiated) {
            if finding.trials >= MAX_TRIALS_PER_PACKET {
                return finding;
            }
            if fits(&assigned, specimen, &mut finding.trials) {
                return Finding {
                    key: Some(assigned),
                    proven: true,
                    ..finding
                };
            }
            if claim.spi.is_some() {
                rivals += u32::from(finding.key.as_ref().is_some_and(|k| k.origin != assigned.origin));
                finding.key.get_or_insert(assigned);
            }
        }
    }
    if let Some(derived) = derived {
        if fits(derived, specimen, &mut finding.trials) {
            return Finding {
                key: Some(derived.clone()),
                proven: true,
                ..finding
            };
        }
        finding.key.get_or_insert_with(|| derived.clone());
    }
    if rivals > 0 {
        finding.hint = KeyStatus::Conflict;
    }
    finding
}

fn note_defect(finding: &mut Finding, defect: KeyDefect, origin: &KeyOrigin) {
    if finding.hint == KeyStatus::Missing {
        finding.hint = match defect {
            KeyDefect::Masked => KeyStatus::Masked,
            KeyDefect::Prefix8 => KeyStatus::Prefix8,
            KeyDefect::Truncated => KeyStatus::Truncated,
        };
        finding.hint_origin = Some(origin.clone());
    }
}

fn fits(key: &AssignedKey, specimen: Specimen<'_>, trials: &mut u32) -> bool {
    *trials += 1;
    specimen.whole && key.cipher.verify(specimen.packet, None) == Icv::Verified
}

/// The transforms that a claim can mean: what it says, else what IKE negotiated, else by the lengths of its keys.
fn readings(claim: &EspKey, negotiated: Option<Transform>) -> Vec<AssignedKey> {
    let encryptions = match (claim.encryption, negotiated) {
        (Some(e), _) => vec![e],
        (None, Some(t)) => vec![t.encryption],
        (None, None) => encryptions_by_length(claim.encryption_key.len(), claim.integrity_key.is_empty()),
    };
    let mut readings = Vec::new();
    for encryption in encryptions {
        for integrity in integrities(claim, encryption, negotiated) {
            let keys = (claim.encryption_key.expose(), claim.integrity_key.expose());
            if let Ok(cipher) = EspCipher::new(encryption, keys.0, integrity, keys.1) {
                let key_len = Some(claim.encryption_key.len().saturating_sub(encryption.salt_len()));
                readings.push(AssignedKey {
                    cipher: Arc::new(cipher),
                    transform: Transform {
                        encryption,
                        key_len,
                        integrity,
                    },
                    origin: claim.origin.clone(),
                });
            }
        }
    }
    readings
}

fn integrities(claim: &EspKey, encryption: Encryption, negotiated: Option<Transform>) -> Vec<Integrity> {
    if encryption.is_aead() {
        return vec![Integrity::None];
    }
    if let Some(integrity) = claim.integrity {
        return vec![integrity];
    }
    if let Some(t) = negotiated
        && t.integrity.key_len() == claim.integrity_key.len()
    {
        return vec![t.integrity];
    }
    integrities_by_length(claim.integrity_key.len())
}

fn encryptions_by_length(len: usize, aead: bool) -> Vec<Encryption> {
    match (len, aead) {
        (0, _) => vec![Encryption::Null],
        (20 | 28 | 36, true) => vec![
            Encryption::AesGcm { icv: 16 },
            Encryption::AesGcm { icv: 12 },
            Encryption::AesGcm { icv: 8 },
            Encryption::ChaCha20Poly1305,
            Encryption::AesGmac,
        ],
        (19 | 27 | 35, true) => [16, 12, 8].map(|icv| Encryption::AesCcm { icv }).to_vec(),
        (20 | 28 | 36, false) => vec![Encryption::AesCtr],
        (8, false) => vec![Encryption::DesCbc],
        (24, false) => vec![
            Encryption::AesCbc,
            Encryption::TripleDesCbc,
            Encryption::CamelliaCbc,
        ],
        _ => vec![Encryption::AesCbc, Encryption::CamelliaCbc],
    }
}

fn integrities_by_length(len: usize) -> Vec<Integrity> {
    match len {
        0 => vec![Integrity::None],
        16 => vec![Integrity::HmacMd5_96, Integrity::AesXcbc96, Integrity::AesCmac96],
        20 => vec![Integrity::HmacSha1_96],
        32 => vec![Integrity::HmacSha256_128, Integrity::HmacSha256_96],
        48 => vec![Integrity::HmacSha384_192],
        64 => vec![Integrity::HmacSha512_256],
        _ => Vec::new(),
    }
}
