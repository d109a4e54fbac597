//! Mining on one packet: the packet that an SA shows first decides which bytes of the key files are its keys.

use crate::esp::cipher::{EspCipher, Icv};
use crate::esp::inner;
use crate::sa::association::{AssignedKey, Association};
use crate::sa::prove::Specimen;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_keylog::reading::mine::{KeyCandidate, KeyShape, MOST_TRIALS_PER_SPI, Oracle, mine};
use rekeyscope_model::algorithm::Integrity;

/// Most trials over all SAs: about 15 s of one core on packets of 1,300 bytes, so that a capture of many strangers' SAs
/// still ends.
pub const MOST_TRIALS: u64 = 5_000_000;
/// An SA is mined on its first packets only: later ones say nothing that these did not.
const MOST_SEARCHES_PER_SA: u32 = 2;

/// The effort so far.
#[derive(Debug, Default)]
pub struct Mining {
    trials: u64,
    gave_up: bool,
}

impl Mining {
    /// Seeks the keys of `association` for `specimen` among the files' unassigned bytes.
    pub fn seek(
        &mut self,
        keys: &KeyMaterial,
        association: &Association,
        specimen: Specimen<'_>,
    ) -> Option<AssignedKey> {
        if keys.blobs.is_empty() || !specimen.whole || association.trials > MOST_SEARCHES_PER_SA {
            return None;
        }
        if self.trials >= MOST_TRIALS {
            self.gave_up = true;
            return None;
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
        let mut oracle = OnePacket { specimen };
        let mined = mine(keys, association.spi, &shape, &mut oracle);
        self.trials += mined.trials;
        self.gave_up |= mined.gave_up;
        let key = mined.key?;
        let integrity = key.integrity.unwrap_or(Integrity::None);
        AssignedKey::new(
            key.encryption?,
            &key.encryption_key,
            integrity,
            &key.integrity_key,
            &key.origin,
        )
    }

    /// Trials made, and whether the bound ended a search.
    pub fn effort(&self) -> (u64, bool) {
        (self.trials, self.gave_up)
    }
}

/// One packet as the oracle. That a wrong encryption key passes takes a sensible padding (10⁻⁴ or less), a known next header
/// and header stack down to a transport or control message whose lengths agree: below 10⁻⁹ together. The integrity key is
/// proven by the ICV itself.
struct OnePacket<'a> {
    specimen: Specimen<'a>,
}

impl Oracle for OnePacket<'_> {
    fn icv_fits(&mut self, candidate: &KeyCandidate<'_>) -> bool {
        cipher(candidate).is_some_and(|c| c.verify(self.specimen.packet, None) == Icv::Verified)
    }

    fn opens(&mut self, candidate: &KeyCandidate<'_>) -> bool {
        let Some(cipher) = cipher(candidate) else {
            return false;
        };
        let mut plain = Vec::new();
        let Ok(opened) = cipher.open(self.specimen.packet, None, inner::PREFIX, &mut plain) else {
            return false;
        };
        let inner = inner::walk(opened.next_header, &plain, opened.payload_len as usize, Some(ANY));
        inner.control.is_some() || (inner.flow.is_some() && inner.stopped_at.is_none())
    }
}

/// Transport mode has its addresses outside; which ones does not matter here.
const ANY: (std::net::IpAddr, std::net::IpAddr) = (
    std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
    std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
);

fn cipher(candidate: &KeyCandidate<'_>) -> Option<EspCipher> {
    let KeyCandidate {
        encryption,
        encryption_key,
        integrity,
        integrity_key,
    } = *candidate;
    EspCipher::new(encryption, encryption_key, integrity, integrity_key).ok()
}
