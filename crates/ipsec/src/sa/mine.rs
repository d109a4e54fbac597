//! Mining: which of the key files' unlabelled bytes are an SA's keys. The packets that the SA showed decide, within the budget.

use crate::esp::cipher::{EspCipher, Icv};
use crate::sa::association::{AssignedKey, Association};
use crate::sa::budget::Budget;
use crate::sa::specimen::Lacking;
use crate::sa::weigh::{HOPELESS_BITS, Weight};
use rekeyscope_keylog::reading::mine::{KeyCandidate, KeyShape, MOST_TRIALS_PER_SPI, Oracle, mine};
use rekeyscope_keylog::{KeyMaterial, KeyRoad};
use rekeyscope_model::algorithm::Integrity;

/// Most trials over all SAs: about 15 s of one core on packets of 1,300 bytes, so that a capture of many strangers' SAs
/// still ends.
pub const MOST_TRIALS: u64 = 5_000_000;

/// The effort so far.
#[derive(Debug, Default)]
pub struct Mining {
    trials: u64,
    gave_up: bool,
}

/// Result of a search.
#[derive(Debug, Default)]
pub struct Sought {
    /// Both keys, proven.
    pub key: Option<AssignedKey>,
    /// Else the integrity key alone, with NULL encryption beside it.
    pub integrity: Option<AssignedKey>,
    /// Evidence that the likeliest encryption key still lacks.
    pub lacking: Option<Lacking>,
}

impl Mining {
    /// Seeks the keys of `association` for the packets it showed among the files' unassigned bytes.
    pub fn seek(&mut self, keys: &KeyMaterial, association: &Association, budget: &mut Budget) -> Sought {
        let packets = &association.docket.kept;
        if keys.blobs.is_empty() || packets.is_empty() {
            return Sought::default();
        }
        if self.trials >= MOST_TRIALS {
            self.gave_up = true;
            return Sought::default();
        }
        let mut shape = KeyShape {
            most_trials: MOST_TRIALS_PER_SPI.min(MOST_TRIALS - self.trials),
            ..KeyShape::default()
        };
        if let Some(t) = association.negotiated {
            shape.encryptions = vec![t.encryption];
            shape.key_len = t.key_len;
            shape.integrities = vec![t.integrity];
        }
        // A key needs as much as it will after the last trial of this search.
        let mut at_the_end = *budget;
        at_the_end.spend(shape.most_trials);
        shape.enough_bits = at_the_end.needed(KeyRoad::Mined, true);
        let mut oracle = Packets {
            shortest: packets.iter().min_by_key(|packet| packet.len()).map(|p| &**p),
            packets,
        };
        let mined = mine(keys, association.spi, &shape, &mut oracle);
        self.trials += mined.trials;
        self.gave_up |= mined.gave_up;
        budget.spend(mined.trials);
        let needed = budget.needed(KeyRoad::Mined, true);
        let assigned = |key: rekeyscope_keylog::EspKey| {
            let integrity = key.integrity.unwrap_or(Integrity::None);
            AssignedKey::new(
                key.encryption?,
                &key.encryption_key,
                integrity,
                &key.integrity_key,
                &key.origin,
            )
        };
        if mined.bits > needed {
            return Sought {
                key: mined.key.and_then(assigned),
                ..Sought::default()
            };
        }
        Sought {
            key: None,
            integrity: mined.integrity.and_then(assigned),
            lacking: (mined.bits > 0.0).then_some(Lacking {
                bits: mined.bits,
                needed,
                packets: packets.len(),
            }),
        }
    }

    /// Trials made, and whether the bound ended a search.
    pub fn effort(&self) -> (u64, bool) {
        (self.trials, self.gave_up)
    }
}

/// The packets of an SA as the oracle.
struct Packets<'a> {
    packets: &'a [Box<[u8]>],
    /// On which ICVs are tried.
    shortest: Option<&'a [u8]>,
}

impl Oracle for Packets<'_> {
    fn icv_fits(&mut self, candidate: &KeyCandidate<'_>) -> bool {
        let c = candidate;
        let cipher = EspCipher::new(c.encryption, c.encryption_key, c.integrity, c.integrity_key);
        cipher
            .zip(self.shortest)
            .is_some_and(|(cipher, packet)| cipher.verify(packet, None) == Icv::Verified)
    }

    fn weigh(&mut self, candidate: &KeyCandidate<'_>) -> f64 {
        // The cipher that checks the ICV is not made for every window.
        let icv = u8::try_from(candidate.integrity.icv_len()).unwrap_or(0);
        let unchecked = Integrity::Unknown { icv };
        let Some(cipher) = EspCipher::new(candidate.encryption, candidate.encryption_key, unchecked, &[])
        else {
            return f64::NEG_INFINITY;
        };
        let mut weight = Weight::default();
        for packet in self.packets {
            weight.add(&cipher, packet, None);
            if weight.bits < HOPELESS_BITS {
                break;
            }
        }
        weight.bits
    }
}
