//! The proof of a claimed key: the ICV decides on the integrity key (RFC 4303 §3.4.4; a wrong one passes one packet of a 96-bit
//! ICV with probability 2⁻⁹⁶), on the encryption key what packets decrypt to ([`crate::sa::weigh`]), summed over them and held
//! against all the trials made ([`crate::sa::budget`]).

use crate::esp::cipher::{Icv, wipe_stack};
use crate::esp::sequence;
use crate::sa::association::AssignedKey;
use crate::sa::budget::Budget;
use crate::sa::specimen::Lacking;
use crate::sa::weigh::{HOPELESS_BITS, Weight};
use rekeyscope_keylog::{EspKey, KeyDefect, KeyOrigin};
use rekeyscope_model::algorithm::{Encryption, Integrity, Transform};
use rekeyscope_model::analysis::KeyStatus;

/// Most candidate keys that are tried on one packet.
pub const MAX_TRIALS_PER_PACKET: u32 = 4_096;

/// Degree of proof of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Nothing speaks for it, or the ICV against it.
    None,
    /// The SA has no ICV to check, and its packets do not contradict the key.
    Possible,
    /// The ICV proves the integrity key; its packets say nothing for the encryption key, or too little.
    Integrity,
    /// No ICV checks it; what its packets decrypt to is enough to read them.
    Evident,
    /// Integrity key and encryption key.
    Whole,
}

/// Result of a search.
#[derive(Debug, Clone)]
pub struct KeyFinding {
    /// The key that fits; else the best claim, to be tried on later packets.
    pub key: Option<AssignedKey>,
    /// Degree of its proof.
    pub proof: Trust,
    /// More packets may prove it.
    pub promising: bool,
    /// Bits that its packets say for it, and how many more would be enough.
    pub lacking: Option<Lacking>,
    /// The sequence number of the newest packet that it fitted, where the SA has extended ones (RFC 4303 §2.2.1).
    pub extended: Option<u64>,
    /// Status of keys that cannot be used.
    pub hint: KeyStatus,
    /// Origin of the hint.
    pub hint_origin: Option<KeyOrigin>,
}

/// Result of trying a key on the packets.
#[derive(Debug, Clone, Copy)]
struct Standing {
    proof: Trust,
    bits: f64,
    packets: usize,
    extended: Option<u64>,
}

impl Standing {
    fn is_accepted(&self) -> bool {
        self.proof >= Trust::Evident
    }
}

/// Tries `claims` (best first), then `derived`, on packets of one SA, the newest last.
pub fn search<'k>(
    claims: impl Iterator<Item = &'k EspKey>,
    derived: &[AssignedKey],
    negotiated: Option<Transform>,
    packets: &[Box<[u8]>],
    budget: &mut Budget,
) -> KeyFinding {
    let mut round = Round::new(packets);
    for claim in claims {
        // Beyond those that name this SPI, the first that is proven is enough.
        if claim.spi.is_none() && round.is_decided() {
            break;
        }
        if let Some(defect) = claim.defect {
            round.note_defect(defect, &claim.origin);
            continue;
        }
        let readings = readings(claim, negotiated);
        if readings.is_empty() && claim.spi.is_some() {
            // No transform takes keys of these lengths.
            round.note_defect(KeyDefect::Truncated, &claim.origin);
        }
        for assigned in readings {
            if !round.weigh(assigned, claim.spi.is_some(), budget) {
                return round.finish(budget);
            }
        }
    }
    let cut = derived.iter().filter_map(AssignedKey::cut_otherwise);
    for derived in derived.iter().cloned().chain(cut) {
        if round.is_decided() || !round.weigh(derived, true, budget) {
            break;
        }
    }
    round.finish(budget)
}

/// One search.
struct Round<'p> {
    packets: &'p [Box<[u8]>],
    trials: u32,
    best: Option<(AssignedKey, Standing)>,
    /// Another key is proven as well.
    rival: bool,
    /// Different keys name this SPI.
    several: bool,
    hint: KeyStatus,
    hint_origin: Option<KeyOrigin>,
}

impl<'p> Round<'p> {
    fn new(packets: &'p [Box<[u8]>]) -> Self {
        Round {
            packets,
            trials: 0,
            best: None,
            rival: false,
            several: false,
            hint: KeyStatus::Missing,
            hint_origin: None,
        }
    }

    fn is_decided(&self) -> bool {
        self.best
            .as_ref()
            .is_some_and(|(_, standing)| standing.is_accepted())
    }

    fn note_defect(&mut self, defect: KeyDefect, origin: &KeyOrigin) {
        if self.hint == KeyStatus::Missing {
            self.hint = match defect {
                KeyDefect::Masked => KeyStatus::Masked,
                KeyDefect::Prefix8 => KeyStatus::Prefix8,
                KeyDefect::Truncated => KeyStatus::Truncated,
            };
            self.hint_origin = Some(origin.clone());
        }
    }

    /// Tries a key; false at the bound. One that is `named` for this SPI is kept even where nothing speaks for it.
    fn weigh(&mut self, key: AssignedKey, named: bool, budget: &mut Budget) -> bool {
        if self.trials >= MAX_TRIALS_PER_PACKET {
            return false;
        }
        self.trials += 1;
        budget.spend(1);
        let standing = stand(&key, self.packets, named, budget);
        if !named && standing.proof < Trust::Integrity {
            return true;
        }
        // Before it is moved: a value is copied with what its place on the stack held before.
        wipe_stack();
        match &self.best {
            None => self.best = Some((key, standing)),
            Some((best, theirs)) => {
                let differs = !best.holds(&key.encryption_key, &key.integrity_key);
                self.several |= differs;
                self.rival |= differs && theirs.is_accepted() && standing.is_accepted();
                if (standing.proof, standing.bits) > (theirs.proof, theirs.bits) {
                    self.best = Some((key, standing));
                }
            }
        }
        true
    }

    fn finish(self, budget: &Budget) -> KeyFinding {
        let mut finding = KeyFinding {
            key: None,
            proof: Trust::None,
            promising: false,
            lacking: None,
            extended: None,
            hint: self.hint,
            hint_origin: self.hint_origin,
        };
        let Some((key, standing)) = self.best else {
            return finding;
        };
        let checked = standing.proof == Trust::Integrity;
        finding.proof = standing.proof;
        if self.rival {
            // More packets will tell.
            finding.proof = if standing.proof == Trust::Whole {
                Trust::Integrity
            } else {
                Trust::Possible
            };
        }
        let open = finding.proof != Trust::None && !matches!(finding.proof, Trust::Evident | Trust::Whole);
        finding.promising = open && standing.bits > HOPELESS_BITS && (checked || standing.bits > 0.0);
        if checked && standing.bits > 0.0 {
            finding.lacking = Some(Lacking {
                bits: standing.bits,
                needed: budget.needed(key.origin.road, true),
                packets: standing.packets,
            });
        }
        if self.rival || self.several && finding.proof <= Trust::Possible {
            finding.hint = KeyStatus::Conflict;
        }
        finding.extended = standing.extended;
        finding.key = Some(key);
        finding
    }
}

/// The packets' evidence for a key, from the newest that fits. With `extended`, upper halves of the sequence number are tried too: a key of no SPI is tried on
/// every SA, and on those they are not sought.
// Not inlined: what trying it leaves on the stack has to lie below its caller, who wipes it.
#[inline(never)]
fn stand(key: &AssignedKey, packets: &[Box<[u8]>], extended: bool, budget: &Budget) -> Standing {
    let verify = |packet: &[u8]| match extended {
        true => sequence::verify(&key.cipher, packet),
        false => (key.cipher.verify(packet, None), None),
    };
    let mut standing = Standing {
        proof: Trust::None,
        bits: 0.0,
        packets: 0,
        extended: None,
    };
    // A key that names this SPI is not given up for a packet that was damaged on its way.
    let most = if extended { packets.len() } else { 1 };
    let results = packets.iter().enumerate().rev().take(most);
    let fitting = results.map(|(at, packet)| (at, packet, verify(packet)));
    let Some((at, newest, (icv, esn_high))) = fitting.into_iter().find(|(.., (icv, _))| *icv != Icv::Failed)
    else {
        return standing;
    };
    standing.extended = esn_high.map(|high| sequence::number(high, newest));
    if icv == Icv::Verified && key.transform.encryption.is_aead() {
        // The ICV depends on the whole key.
        return Standing {
            proof: Trust::Whole,
            bits: f64::INFINITY,
            packets: 1,
            ..standing
        };
    }
    let mut weight = Weight::default();
    weight.add(&key.cipher, newest, esn_high);
    standing.packets = 1;
    for packet in &packets[..at] {
        if weight.bits < HOPELESS_BITS {
            break;
        }
        let (fits, esn_high) = verify(packet);
        if fits == icv {
            weight.add(&key.cipher, packet, esn_high);
            standing.packets += 1;
        }
    }
    standing.bits = weight.bits;
    let checked = icv == Icv::Verified;
    let enough = weight.bits > budget.needed(key.origin.road, checked);
    standing.proof = match (checked, enough) {
        (true, true) => Trust::Whole,
        (true, false) => Trust::Integrity,
        (false, true) => Trust::Evident,
        (false, false) => Trust::Possible,
    };
    standing
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
    // Packets may have an ICV although the integrity key is not told.
    let without = transforms
        .iter()
        .find(|(e, i)| !e.is_aead() && *i == Integrity::None);
    if let (Some(&(encryption, _)), true) = (without, claim.integrity_key.is_empty()) {
        transforms.extend(UNKNOWN_ICVS.map(|icv| (encryption, Integrity::Unknown { icv })));
    }
    // A Wireshark table has no name for implicit IVs (RFC 8750): the row says the form with an explicit one.
    let implicit =
        |(encryption, integrity): (Encryption, Integrity)| Some((encryption.with_implicit_iv()?, integrity));
    let cut =
        |(encryption, integrity): (Encryption, Integrity)| Some((encryption, integrity.cut_otherwise()?));
    let others = transforms.iter().flat_map(|t| [implicit(*t), cut(*t)]).flatten();
    let others: Vec<_> = others.filter(|t| !transforms.contains(t)).collect();
    transforms.extend(others);
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
