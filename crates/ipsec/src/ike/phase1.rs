//! The IKEv1 phase-1 SA as a decryptor: which cipher, which key, which IV.
//!
//! IVs (RFC 2409 Appendix B): phase 1 starts with hash(g^xi | g^xr) and goes on with the last ciphertext block of the
//! message before; every other exchange starts with hash(last phase-1 block | message ID) and then chains by itself.
//! Where a message before is not in the capture, the IV is unknown and CBC garbles the first block only: it holds the
//! HASH payload's header and some bytes of the hash, so the payloads behind it are still read.

use crate::esp::cipher::decrypt;
use crate::ike::crypto::{Hash, PHASE_1_CIPHERS, phase1_key};
use crate::ike::header::IkeHeader;
use crate::ike::ikev1::Phase1Transform;
use crate::ike::payload::{GENERIC_LEN, PayloadChain, v1};
use crate::ike::reading::{self, PROOF_BITS};
use rekeyscope_keylog::{IkeKey, IkeSecrets};
use rekeyscope_model::algorithm::Encryption;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_model::secret::SecretBytes;
use zeroize::Zeroizing;

/// Most decryptions that are tried to find the key of one IKE SA. Beyond it the SA stays encrypted.
pub(super) const MAX_TRIALS: u32 = 1 << 20;
/// Evidence in bits that a message with a garbled first block needs once the key is proven: its first payload type and
/// the hash length are guesses.
const GARBLED_BITS: u32 = 32;
/// The longest cipher block, so as much of a ciphertext's end as the next IV can need.
const LONGEST_BLOCK: usize = 16;

/// The end of a ciphertext: the next IV is in there.
#[derive(Debug, Clone, Copy)]
pub(super) struct CipherTail([u8; LONGEST_BLOCK]);

impl CipherTail {
    /// `None` for a ciphertext shorter than a DES block.
    pub(super) fn of(ciphertext: &[u8]) -> Option<CipherTail> {
        let len = ciphertext.len().min(LONGEST_BLOCK);
        let mut tail = [0; LONGEST_BLOCK];
        tail[LONGEST_BLOCK - len..].copy_from_slice(ciphertext.get(ciphertext.len() - len..)?);
        (len >= 8).then_some(CipherTail(tail))
    }

    fn block(&self, len: usize) -> &[u8] {
        &self.0[LONGEST_BLOCK - len.min(LONGEST_BLOCK)..]
    }
}

/// An encrypted message as it arrives here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encrypted<'a> {
    pub(super) header: &'a IkeHeader,
    pub(super) kind: ExchangeKind,
    pub(super) ciphertext: &'a [u8],
    /// End of the message before in the same exchange.
    pub(super) previous: Option<CipherTail>,
}

impl Encrypted<'_> {
    pub(super) fn is_phase1(&self) -> bool {
        matches!(self.kind, ExchangeKind::MainMode | ExchangeKind::AggressiveMode)
    }
}

/// A decrypted message, from its first readable payload on.
#[derive(Debug)]
pub(super) struct Plain {
    bytes: Zeroizing<Vec<u8>>,
    first: u8,
    start: usize,
    /// The hash that made the IV or has the length of the HASH payload.
    hash: Option<Hash>,
}

impl Plain {
    /// The payloads that can be read.
    pub(super) fn payloads(&self) -> PayloadChain<'_> {
        PayloadChain::new(self.first, self.bytes.get(self.start..).unwrap_or_default())
    }
}

/// A key that decrypts.
#[derive(Debug)]
pub(super) struct Phase1Session {
    cipher: Encryption,
    /// Ka, as long as the cipher's key.
    pub(super) key: SecretBytes,
    pub(super) hash: Option<Hash>,
    pub(super) secrets: IkeSecrets,
    /// Index among the given keys.
    pub(super) key_index: usize,
}

/// State of one phase-1 SA.
#[derive(Debug, Default)]
pub(super) struct Phase1 {
    /// The responder's choice.
    pub(super) transform: Option<Phase1Transform>,
    /// g^xi and g^xr.
    pub(super) public: [Option<Vec<u8>>; 2],
    /// Ni_b and Nr_b.
    pub(super) nonces: [Option<Vec<u8>>; 2],
    /// End of the newest encrypted phase-1 message.
    pub(super) tail: Option<CipherTail>,
    pub(super) session: Option<Phase1Session>,
    /// Keys that decrypt but whose SKEYID_a does not fit the HASH: they are not of one SA.
    refused: Vec<usize>,
    trials: u32,
}

impl Phase1 {
    /// Decrypts a message: with the proven key, else with the first of `keys` (indices `candidates`) that proves
    /// itself. `budget` bounds the trials over all IKE SAs.
    pub(super) fn open(
        &mut self,
        message: &Encrypted<'_>,
        keys: &[IkeKey],
        candidates: impl Iterator<Item = usize>,
        psks: &[SecretBytes],
        budget: &mut u64,
    ) -> Option<Plain> {
        if let Some(session) = &self.session {
            let plain = self.decrypt(message, session.cipher, session.key.expose(), session.hash, 0)?;
            if let Some(session) = &mut self.session {
                session.hash = session.hash.or(plain.hash);
            }
            return Some(plain);
        }
        for index in candidates {
            let Some(key) = keys.get(index).filter(|k| k.version == 1) else {
                continue;
            };
            if self.refused.contains(&index) {
                continue;
            }
            for secrets in self.secret_sets(&key.secrets, message.header, psks) {
                let session = self.prove(message, &secrets, index, budget);
                if let Some((session, plain)) = session {
                    self.session = Some(session);
                    return Some(plain);
                }
            }
        }
        None
    }

    /// Tries the keys that a set of secrets can mean.
    fn prove(
        &mut self,
        message: &Encrypted<'_>,
        secrets: &IkeSecrets,
        key_index: usize,
        budget: &mut u64,
    ) -> Option<(Phase1Session, Plain)> {
        for (cipher, key, hash) in key_forms(self.transform, secrets) {
            if self.trials >= MAX_TRIALS || *budget == 0 {
                return None;
            }
            self.trials += 1;
            *budget -= 1;
            let Some(plain) = self.decrypt(message, cipher, &key, hash, PROOF_BITS) else {
                continue;
            };
            if hash_contradicts(message, &plain, secrets) {
                self.refused.push(key_index);
                return None;
            }
            let session = Phase1Session {
                cipher,
                key: SecretBytes::from(&key[..]),
                hash: hash.or(plain.hash),
                secrets: secrets.clone(),
                key_index,
            };
            return Some((session, plain));
        }
        None
    }

    /// The hash of this SA, negotiated or found by decrypting.
    pub(super) fn hash(&self) -> Option<Hash> {
        let negotiated = self.transform.and_then(|t| t.hash);
        negotiated.or_else(|| self.session.as_ref().and_then(|s| s.hash))
    }

    /// The secrets as claimed, and those that follow from SKEYID and g^xy (RFC 2409 §5). SKEYID itself is
    /// prf(pre-shared key, Ni_b | Nr_b), or, with signatures, prf(Ni_b | Nr_b, g^xy).
    fn secret_sets(&self, claimed: &IkeSecrets, header: &IkeHeader, psks: &[SecretBytes]) -> Vec<IkeSecrets> {
        let mut sets = vec![claimed.clone()];
        let (Some(dh), Some(hash)) = (&claimed.dh_secret, self.hash()) else {
            return sets;
        };
        if claimed.skeyid_e.is_some() && claimed.skeyid_d.is_some() {
            return sets;
        }
        let mut skeyids: Vec<Zeroizing<Vec<u8>>> = Vec::new();
        if let Some(skeyid) = &claimed.skeyid {
            skeyids.push(skeyid.expose().to_vec().into());
        } else if let [Some(initiator), Some(responder)] = &self.nonces {
            let nonces: &[&[u8]] = &[initiator, responder];
            skeyids.extend(psks.iter().map(|psk| hash.prf(psk.expose(), nonces)));
            skeyids.push(hash.prf(&nonces.concat(), &[dh.expose()]));
        }
        sets.extend(
            skeyids
                .iter()
                .map(|skeyid| from_skeyid(hash, skeyid, dh.expose(), header)),
        );
        sets
    }

    /// Decrypts under one key; accepts a reading with at least `needed` bits of evidence.
    fn decrypt(
        &self,
        message: &Encrypted<'_>,
        cipher: Encryption,
        key: &[u8],
        hash: Option<Hash>,
        needed: u32,
    ) -> Option<Plain> {
        let first = message.header.next_payload;
        let phase1 = message.is_phase1();
        for (hash, iv) in self.ivs(message, cipher.block_len(), hash) {
            let bytes = decrypt(cipher, key, &iv, message.ciphertext)?;
            if reading::evidence(first, &bytes, phase1, hash).is_some_and(|bits| bits >= needed) {
                return Some(Plain {
                    bytes,
                    first,
                    start: 0,
                    hash,
                });
            }
        }
        if phase1 || first != v1::HASH {
            return None;
        }
        let bytes = decrypt(cipher, key, &vec![0; cipher.block_len()], message.ciphertext)?;
        let (first, start, hash) = garbled_reading(&bytes, message.kind, hash, needed.max(GARBLED_BITS))?;
        Some(Plain {
            bytes,
            first,
            start,
            hash,
        })
    }

    /// The IVs that may apply, with the hash that makes each.
    fn ivs(&self, message: &Encrypted<'_>, block: usize, hash: Option<Hash>) -> Vec<(Option<Hash>, Vec<u8>)> {
        if let Some(previous) = message.previous {
            return vec![(hash, previous.block(block).to_vec())];
        }
        if let (true, Some(tail)) = (message.is_phase1(), self.tail) {
            return vec![(hash, tail.block(block).to_vec())];
        }
        let hashes = hash.map_or(Hash::ALL.to_vec(), |h| vec![h]);
        let iv = |h: Hash| {
            let mut iv = match (self.tail, &self.public) {
                (Some(tail), _) => tail.block(block).to_vec(),
                (None, [Some(initiator), Some(responder)]) => h.digest(&[initiator, responder]),
                _ => return None,
            };
            iv.truncate(block);
            if !message.is_phase1() {
                iv = h.digest(&[&iv, &message.header.message_id.to_be_bytes()]);
                iv.truncate(block);
            }
            Some((Some(h), iv))
        };
        hashes.into_iter().filter_map(iv).collect()
    }
}

/// SKEYID_d = prf(SKEYID, g^xy | CKY-I | CKY-R | 0), SKEYID_a and SKEYID_e likewise with 1 and 2 and the one before in
/// front (RFC 2409 §5).
fn from_skeyid(hash: Hash, skeyid: &[u8], dh: &[u8], header: &IkeHeader) -> IkeSecrets {
    let (initiator, responder) = (&header.initiator_spi.0, &header.responder_spi.0);
    let next = |before: &[u8], number: u8| hash.prf(skeyid, &[before, dh, initiator, responder, &[number]]);
    let d = next(&[], 0);
    let a = next(&d, 1);
    let e = next(&a, 2);
    IkeSecrets {
        skeyid_d: Some(SecretBytes::from(&d[..])),
        skeyid_a: Some(SecretBytes::from(&a[..])),
        skeyid_e: Some(SecretBytes::from(&e[..])),
        ..IkeSecrets::default()
    }
}

/// Reads a message whose first block is garbled: skips the HASH payload, whose length follows from the hash, and
/// guesses the type of the payload behind it.
fn garbled_reading(
    plaintext: &[u8],
    kind: ExchangeKind,
    hash: Option<Hash>,
    needed: u32,
) -> Option<(u8, usize, Option<Hash>)> {
    let guesses: &[u8] = match kind {
        ExchangeKind::QuickMode => &[v1::SA],
        ExchangeKind::Transaction => &[v1::ATTRIBUTES],
        _ => &[v1::DELETE, v1::NOTIFICATION],
    };
    let hashes = hash.map_or(Hash::ALL.to_vec(), |h| vec![h]);
    hashes.into_iter().find_map(|hash| {
        let start = GENERIC_LEN + hash.len();
        let rest = plaintext.get(start..)?;
        let first = guesses
            .iter()
            .find(|&&g| reading::evidence(g, rest, false, None).is_some_and(|bits| bits >= needed))?;
        Some((*first, start, Some(hash)))
    })
}

/// SKEYID_a computes the HASH payload: HASH(1) = prf(SKEYID_a, M-ID | everything behind it)
/// (RFC 2409 §5.5, §5.7). Only the first message of an exchange, and only when its IV was known.
fn hash_contradicts(message: &Encrypted<'_>, plain: &Plain, secrets: &IkeSecrets) -> bool {
    let (Some(skeyid_a), Some(hash)) = (&secrets.skeyid_a, plain.hash) else {
        return false;
    };
    if message.is_phase1() || message.previous.is_some() || plain.start != 0 {
        return false;
    }
    let mut chain = plain.payloads();
    let Some(Ok(given)) = chain.next() else {
        return true;
    };
    let from = given.offset + GENERIC_LEN + given.body.len();
    chain.by_ref().for_each(drop);
    let to = plain.bytes.len() - chain.rest().len();
    let covered = plain.bytes.get(from..to).unwrap_or_default();
    let message_id = message.header.message_id.to_be_bytes();
    *hash.prf(skeyid_a.expose(), &[&message_id, covered]) != given.body
}

/// The encryption keys that the secrets of a key file can mean: Ka as given, or made from SKEYID_e. Without phase 1 in
/// the capture every cipher whose key has that length is possible.
fn key_forms(
    transform: Option<Phase1Transform>,
    secrets: &IkeSecrets,
) -> Vec<(Encryption, Zeroizing<Vec<u8>>, Option<Hash>)> {
    let negotiated = transform.and_then(|t| t.cipher.map(|c| (c, t.key_len)));
    let targets: Vec<(Encryption, usize)> = match negotiated {
        Some(target) => vec![target],
        None => PHASE_1_CIPHERS
            .into_iter()
            .flat_map(|c| c.key_lens().iter().map(move |&len| (c, len)))
            .collect(),
    };
    let skeyids = [&secrets.skeyid_e, &secrets.skeyid_d, &secrets.skeyid_a];
    let hash = transform.and_then(|t| t.hash).or_else(|| {
        skeyids
            .into_iter()
            .flatten()
            .find_map(|s| Hash::from_len(s.len()))
    });
    let mut forms = Vec::new();
    for (cipher, len) in targets {
        if let Some(ka) = secrets.ka.as_ref().map(|k| k.expose()) {
            let is_a_key = PHASE_1_CIPHERS.iter().any(|c| c.key_lens().contains(&ka.len()));
            // A key of the wrong length for the negotiated cipher, or for all of them, was a SKEYID_e.
            let cut = negotiated.is_some() || !is_a_key;
            if ka.len() == len || (cut && ka.len() > len) {
                forms.push((cipher, Zeroizing::new(ka[..len].to_vec()), hash));
            } else if let (true, Some(hash)) = (cut, hash.or(Hash::from_len(ka.len()))) {
                forms.push((cipher, phase1_key(hash, ka, len), Some(hash)));
            }
        }
        if let Some(skeyid_e) = secrets.skeyid_e.as_ref().map(|k| k.expose()) {
            match hash {
                Some(hash) => forms.push((cipher, phase1_key(hash, skeyid_e, len), Some(hash))),
                None => forms.extend(
                    skeyid_e
                        .get(..len)
                        .map(|key| (cipher, Zeroizing::new(key.to_vec()), None)),
                ),
            }
        }
    }
    forms
}
