//! Which claimed key fits an SA: the ICV decides (RFC 4303 §3.4.4). A wrong integrity key passes one
//! packet of a 96-bit ICV with probability 2⁻⁹⁶; the encryption key has to show by what it decrypts to ([`decrypts`]).

use crate::esp::cipher::{EspCipher, Icv};
use crate::esp::{inner, sequence};
use crate::sa::association::AssignedKey;
use rekeyscope_keylog::{EspKey, KeyDefect, KeyOrigin};
use rekeyscope_model::algorithm::{Encryption, Integrity, Transform};
use rekeyscope_model::analysis::KeyStatus;

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
pub struct KeyFinding {
    /// The key that fits; else the best claim, to be tried on later packets.
    pub key: Option<AssignedKey>,
    /// The ICV fitted.
    pub proven: bool,
    /// The upper half of the sequence number with which it fitted, where the SA has extended ones (RFC 4303 §2.2.1).
    pub esn_high: Option<u32>,
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
) -> KeyFinding {
    let mut finding = KeyFinding {
        key: None,
        proven: false,
        esn_high: None,
        hint: KeyStatus::Missing,
        hint_origin: None,
        trials: 0,
    };
    let (mut rivals, mut sense) = (0, Sense::None);
    for claim in claims {
        if let Some(defect) = claim.defect {
            note_defect(&mut finding, defect, &claim.origin);
            continue;
        }
        for assigned in readings(claim, negotiated) {
            if finding.trials >= MAX_TRIALS_PER_PACKET {
                return finding;
            }
            // A key of no SPI is tried on every SA: on those, extended sequence numbers are not sought too.
            if let Some(proof) = fits(&assigned, specimen, claim.spi.is_some(), &mut finding.trials) {
                return KeyFinding {
                    key: Some(assigned),
                    proven: true,
                    esn_high: proof.esn_high,
                    ..finding
                };
            }
            if claim.spi.is_some() {
                rivals += u32::from(finding.key.as_ref().is_some_and(|k| k.origin != assigned.origin));
                // Nothing proves a key without an ICV to check; that the packet decrypts tells more than the order does.
                let its = unchecked_sense(&assigned.cipher, specimen);
                if its > sense {
                    (finding.key, sense) = (Some(assigned), its);
                } else {
                    finding.key.get_or_insert(assigned);
                }
            }
        }
    }
    for derived in derived {
        if let Some(proof) = fits(derived, specimen, true, &mut finding.trials) {
            return KeyFinding {
                key: Some(derived.clone()),
                proven: true,
                esn_high: proof.esn_high,
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

fn note_defect(finding: &mut KeyFinding, defect: KeyDefect, origin: &KeyOrigin) {
    if finding.hint == KeyStatus::Missing {
        finding.hint = match defect {
            KeyDefect::Masked => KeyStatus::Masked,
            KeyDefect::Prefix8 => KeyStatus::Prefix8,
            KeyDefect::Truncated => KeyStatus::Truncated,
        };
        finding.hint_origin = Some(origin.clone());
    }
}

/// What a packet makes of a key that no ICV can prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sense {
    None,
    /// It decrypts to something ([`decrypts`]).
    Some,
    /// It leads down to a header of transport or of a tunnel's control.
    Transport,
}

fn unchecked_sense(cipher: &EspCipher, specimen: Specimen<'_>) -> Sense {
    let is_unchecked = specimen.whole && cipher.verify(specimen.packet, None) == Icv::Unchecked;
    if !is_unchecked || !decrypts(cipher, specimen.packet, None) {
        return Sense::None;
    }
    let mut plain = Vec::new();
    match cipher.open(specimen.packet, None, inner::PREFIX, &mut plain) {
        Ok(opened) if leads_to_transport(opened.next_header, &plain, opened.payload_len as usize) => {
            Sense::Transport
        }
        _ => Sense::Some,
    }
}

fn leads_to_transport(next_header: u8, payload: &[u8], len: usize) -> bool {
    let any = std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
    let inner = inner::walk(next_header, payload, len, Some((any, any)));
    inner.control.is_some() || (inner.flow.is_some() && inner.stopped_at.is_none())
}

/// How a key fitted.
pub(super) struct KeyProof {
    esn_high: Option<u32>,
}

/// Whether the ICV of a whole packet fits the key and the packet decrypts to something. With `extended`, upper halves of the
/// sequence number are tried too.
pub(super) fn fits(
    key: &AssignedKey,
    specimen: Specimen<'_>,
    extended: bool,
    trials: &mut u32,
) -> Option<KeyProof> {
    *trials += 1;
    if !specimen.whole {
        return None;
    }
    let (icv, esn_high) = if extended {
        sequence::verify(&key.cipher, specimen.packet)
    } else {
        (key.cipher.verify(specimen.packet, None), None)
    };
    let fits = icv == Icv::Verified && decrypts(&key.cipher, specimen.packet, esn_high);
    fits.then_some(KeyProof { esn_high })
}

/// Packets that an encryption key has to decrypt to something before it is believed, where the ICV does not prove it.
pub const WITNESSES: u64 = 2;

/// Packets with a good ICV within which a key has to do that: later ones would only add to the chance that noise passes for
/// packets.
pub const MOST_CHANCES: u64 = 8;

/// Whether an authentic packet also decrypts to something. The ICV of a transform without combined mode does not depend on
/// the encryption key, so a wrong one has to show here. Noise passes in about 1 of 5,600 packets: orderly padding (1/255) times
/// the next headers that have no length to compare (11/256), TCP with a possible data offset (0.7/256), and those with a
/// length that fits (10⁻⁵ together). Two packets ([`WITNESSES`]) of the first trial and
/// [`MOST_CHANCES`] pass in (9·8/2)/5,600² = 10⁻⁶ of the SAs whose integrity key is right and whose encryption key is wrong. An
/// SA that shows a single packet is believed on that one, and a diagnostic says so. Where the sender pads in its own way, headers down to a transport decide.
pub fn decrypts(cipher: &EspCipher, packet: &[u8], esn_high: Option<u32>) -> bool {
    let mut plain = Vec::new();
    if let Ok(opened) = cipher.open(packet, esn_high, inner::PREFIX, &mut plain) {
        return fits_payload(opened.next_header, &plain, opened.payload_len as usize);
    }
    let Ok(opened) = cipher.open_verified(packet, esn_high, inner::PREFIX, &mut plain) else {
        return false;
    };
    // Without orderly padding only a header with a length of its own can tell packets from noise.
    matches!(opened.next_header, 4 | 17 | 41)
        && fits_payload(opened.next_header, &plain, opened.payload_len as usize)
        && leads_to_transport(opened.next_header, &plain, opened.payload_len as usize)
}

/// Whether the first header of a payload agrees with its length.
fn fits_payload(next_header: u8, payload: &[u8], len: usize) -> bool {
    let word = |at: usize| {
        payload
            .get(at..at + 2)
            .map(|b| usize::from(u16::from_be_bytes([b[0], b[1]])))
    };
    let first = payload.first().copied().unwrap_or(0);
    match next_header {
        4 => first >> 4 == 4 && word(2).is_some_and(|total| total >= 20 && total <= len),
        41 => first >> 4 == 6 && word(4).is_some_and(|rest| rest + 40 <= len || rest == 0),
        17 => word(4).is_some_and(|udp| udp == len || udp == 0),
        6 => payload
            .get(12)
            .is_some_and(|b| (5..=15).contains(&(b >> 4)) && usize::from(b >> 4) * 4 <= len),
        // ICMP, GRE, ESP, AH, ICMPv6, none, EtherIP, IPComp, L2TPv3, SCTP, MPLS: no length of their own to compare.
        1 | 47 | 50 | 51 | 58 | 59 | 97 | 108 | 115 | 132 | 137 => true,
        _ => false,
    }
}

/// Bytes of ICV that are in use, the commonest first.
const UNKNOWN_ICVS: [u8; 5] = [12, 16, 24, 32, 20];

/// The transforms that a claim can mean: what it says, else what IKE negotiated, else by the lengths of its keys.
fn readings(claim: &EspKey, negotiated: Option<Transform>) -> Vec<AssignedKey> {
    let mut transforms = claim.transforms();
    if let (Some(t), None) = (negotiated, claim.encryption) {
        let first = (t.encryption, t.integrity);
        transforms.retain(|other| *other != first);
        transforms.insert(0, first);
    }
    // Where the integrity key is not told, packets may have an ICV nevertheless.
    let without = transforms
        .iter()
        .find(|(e, i)| !e.is_aead() && *i == Integrity::None);
    if let (Some(&(encryption, _)), true) = (without, claim.integrity_key.is_empty()) {
        transforms.extend(UNKNOWN_ICVS.map(|icv| (encryption, Integrity::Unknown { icv })));
    }
    // A Wireshark table has no name for implicit IVs (RFC 8750): the row says the form with an explicit one.
    let implicit = |t: &(Encryption, Integrity)| Some((t.0.with_implicit_iv()?, t.1));
    transforms.extend(transforms.iter().filter_map(implicit).collect::<Vec<_>>());
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

#[cfg(test)]
mod chance {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rekeyscope_model::algorithm::Encryption;

    /// Synthetic SAs: what matters is that ciphertext under a wrong key decrypts to noise.
    const TRIALS: usize = 60_000;

    /// An SA's integrity key is right and its encryption key wrong: how often does a packet decrypt to something, and how often
    /// do two of [`MOST_CHANCES`] + 1?
    #[test]
    fn wrong_encryption_keys_pass_one_packet_rarely_and_two_never() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let packets: Vec<Vec<u8>> = (0..=MOST_CHANCES)
            .map(|_| {
                let mut packet = vec![0; 8 + 16 + 64 + 12];
                rng.fill(&mut packet[..]);
                packet
            })
            .collect();
        let (mut one, mut two) = (0, 0);
        for _ in 0..TRIALS / packets.len() {
            let key: [u8; 16] = rng.random();
            let cipher = EspCipher::new(Encryption::AesCbc, &key, Integrity::HmacSha1_96, &[0; 20]).unwrap();
            let passed = packets.iter().filter(|p| decrypts(&cipher, p, None)).count();
            one += passed;
            two += usize::from(passed as u64 >= WITNESSES);
        }
        // Expected: 60,000/6,000 = 10 and 6,700·10⁻⁶; the bounds are exceeded with a probability below 10⁻⁵ (Poisson).
        assert!(one <= 26, "{one} of {TRIALS}");
        assert_eq!(two, 0);
    }
}
