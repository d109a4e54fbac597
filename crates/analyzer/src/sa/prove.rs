//! Which claimed key fits an SA: the ICV decides (RFC 4303 §3.4.4). A wrong key of a 96-bit ICV passes one packet with
//! probability 2⁻⁹⁶.

use crate::algorithm::{Integrity, Transform};
use crate::analysis::KeyStatus;
use crate::esp::cipher::Icv;
use crate::keylog::{EspKey, KeyDefect, KeyOrigin};
use crate::sa::association::AssignedKey;

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
    derived: &[AssignedKey],
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
    for derived in derived {
        if fits(derived, specimen, &mut finding.trials) {
            return Finding {
                key: Some(derived.clone()),
                proven: true,
                ..finding
            };
        }
    }
    if finding.key.is_none() {
        finding.key = derived.first().cloned();
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
    let mut transforms = claim.transforms();
    if let (Some(t), None) = (negotiated, claim.encryption) {
        let first = (t.encryption, t.integrity);
        transforms.retain(|other| *other != first);
        transforms.insert(0, first);
    }
    transforms
        .into_iter()
        .filter_map(|(encryption, integrity)| {
            let integrity = if encryption.is_aead() {
                Integrity::None
            } else {
                integrity
            };
            let keys = (&claim.encryption_key, &claim.integrity_key);
            AssignedKey::new(encryption, keys.0, integrity, keys.1, &claim.origin)
        })
        .collect()
}
