//! Mining: finds an SA's keys among bytes whose labels say nothing certain. The packets decide, so nothing is ever guessed.
//!
//! The ICV of a transform without combined mode depends on the integrity key alone (RFC 4303 §2.8). So that key is
//! sought first, and only when it is proven the encryption key, first right before it (in KEYMAT the encryption key
//! comes first, RFC 2409 §5.5 and RFC 7296 §2.17). Both searches slide windows over the same bytes one after the other:
//! the cost grows with the bytes, not with their square. Of all encryption keys the one with most evidence is handed back, with
//! its bits; whether they are enough for all the trials made is the caller's to say.

use crate::lines::text::hash_of;
use crate::material::claim::LONGEST_HMAC_KEY;
use crate::material::contents::{Blob, KeyMaterial};
use crate::material::key::EspKey;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use std::collections::{HashMap, HashSet};

/// Most trials for one SPI, unless the caller sets another bound. A trial is one HMAC or one decryption of a packet's
/// end: 3 µs for a packet of 1,300 bytes with SHA-1, so an SPI costs at most about 0.3 s.
pub const MOST_TRIALS_PER_SPI: u64 = 100_000;

/// Keys to try on packets of one SA.
#[derive(Debug, Clone, Copy)]
pub struct KeyCandidate<'a> {
    /// The cipher; [`Encryption::Null`] with an empty key while only the integrity key is sought.
    pub encryption: Encryption,
    /// Encryption key with salt.
    pub encryption_key: &'a [u8],
    /// The integrity transform; [`Integrity::None`] for a combined mode.
    pub integrity: Integrity,
    /// Integrity key.
    pub integrity_key: &'a [u8],
}

/// The packets of one SA as judges of keys.
pub trait Oracle {
    /// Tells whether the ICV of a packet fits. Choose a short packet: this is called up to [`MOST_TRIALS_PER_SPI`] times.
    fn icv_fits(&mut self, candidate: &KeyCandidate<'_>) -> bool;
    /// Bits that what the packets decrypt to says for the encryption key. Not asked of a combined mode, whose ICV depends on the
    /// whole key.
    fn weigh(&mut self, candidate: &KeyCandidate<'_>) -> f64;
}

/// Transforms to try, in this order. The negotiation of IKE narrows them down.
#[derive(Debug, Clone)]
pub struct KeyShape {
    /// Ciphers.
    pub encryptions: Vec<Encryption>,
    /// Length of the encryption key in bytes without salt; `None` tries all of each cipher.
    pub key_len: Option<usize>,
    /// Integrity transforms for ciphers without combined mode.
    pub integrities: Vec<Integrity>,
    /// Most trials.
    pub most_trials: u64,
    /// Bits of an encryption key that end the search; below, all windows are tried and the best is kept.
    pub enough_bits: f64,
}

impl Default for KeyShape {
    /// The usual transforms: AES-CBC and 3DES-CBC with HMAC, AES-GCM-16.
    fn default() -> Self {
        KeyShape {
            encryptions: vec![
                Encryption::AesCbc,
                Encryption::AesGcm { icv: 16 },
                Encryption::TripleDesCbc,
            ],
            key_len: None,
            integrities: vec![
                Integrity::HmacSha1_96,
                Integrity::HmacSha256_128,
                Integrity::HmacMd5_96,
                Integrity::HmacSha384_192,
                Integrity::HmacSha512_256,
                Integrity::HmacSha256_96,
            ],
            most_trials: MOST_TRIALS_PER_SPI,
            enough_bits: f64::INFINITY,
        }
    }
}

/// End of a search.
#[derive(Debug)]
pub struct Mined {
    /// A key whose ICV fits; of several encryption keys the one with most bits.
    pub key: Option<EspKey>,
    /// Bits that its packets say for the encryption key; infinite for a combined mode.
    pub bits: f64,
    /// The integrity key, alone, where one was found: NULL encryption stands beside it.
    pub integrity: Option<EspKey>,
    /// Trials that were made.
    pub trials: u64,
    /// True when the bound ended the search before all bytes were tried.
    pub gave_up: bool,
}

/// Seeks the keys of the SA `spi`, nearest to where the files name the SPI first.
pub fn mine(material: &KeyMaterial, spi: Spi, shape: &KeyShape, oracle: &mut dyn Oracle) -> Mined {
    let blobs = nearest_first(material, spi);
    let mut search = Search {
        shape,
        oracle,
        trials: 0,
        tried: HashSet::new(),
        best: None,
    };
    let combined = search.combined_mode(&blobs);
    let integrity = match combined {
        Some(_) => None,
        None => search.integrity_key(&blobs),
    };
    if let Some(proven) = &integrity {
        search.encryption_key(spi, &blobs, proven);
    }
    let (bits, key) = match combined {
        Some(proven) => (f64::INFINITY, Some(proven.claim(spi))),
        None => search
            .best
            .map_or((f64::NEG_INFINITY, None), |(bits, key)| (bits, Some(key))),
    };
    Mined {
        gave_up: bits < shape.enough_bits && search.trials >= shape.most_trials,
        key,
        bits,
        integrity: integrity.map(|proven| proven.claim(spi)),
        trials: search.trials,
    }
}

/// The blobs by their distance in lines from the nearest place of the SPI; those of files that never name it last.
fn nearest_first(material: &KeyMaterial, spi: Spi) -> Vec<&Blob> {
    let bytes = spi.0.to_be_bytes();
    let named = material
        .spi_sightings
        .iter()
        .filter(|s| s.spi == spi)
        .map(|s| (s.file, s.line));
    let dumped = material
        .blobs
        .iter()
        .filter(|blob| memchr::memmem::find(blob.bytes.expose(), &bytes).is_some());
    let mut places: HashMap<usize, Vec<u64>> = HashMap::new();
    for (file, line) in named.chain(dumped.map(|blob| (blob.origin.file, blob.origin.line))) {
        places.entry(file).or_default().push(line);
    }
    places.values_mut().for_each(|lines| lines.sort_unstable());
    let distance = |blob: &Blob| {
        let lines = places.get(&blob.origin.file)?;
        let after = lines.partition_point(|line| *line < blob.origin.line);
        let neighbours = [after.checked_sub(1).and_then(|i| lines.get(i)), lines.get(after)];
        // At the same distance the bytes after the SPI come first.
        let side = |line: &u64| {
            line.abs_diff(blob.origin.line).saturating_mul(2) + u64::from(*line > blob.origin.line)
        };
        neighbours.into_iter().flatten().map(side).min()
    };
    let mut blobs: Vec<(u64, &Blob)> = material
        .blobs
        .iter()
        .map(|blob| (distance(blob).unwrap_or(u64::MAX), blob))
        .collect();
    blobs.sort_by_key(|(distance, _)| *distance);
    blobs.into_iter().map(|(_, blob)| blob).collect()
}

struct Search<'a> {
    shape: &'a KeyShape,
    oracle: &'a mut dyn Oracle,
    trials: u64,
    /// Hashes of the windows that were tried in the search at hand: logs repeat themselves. Hashes, so that no key is
    /// copied; that two of 100,000 windows share one of 2^64 has a probability of 3·10⁻¹⁰.
    tried: HashSet<u64>,
    /// The encryption key with most bits so far, beside the integrity key.
    best: Option<(f64, EspKey)>,
}

/// A key that the ICV proved, and where it stands. Beside an integrity key stands NULL encryption.
#[derive(Clone, Copy)]
struct Proven<'b> {
    candidate: KeyCandidate<'b>,
    blob: &'b Blob,
    offset: usize,
}

impl Proven<'_> {
    fn claim(&self, spi: Spi) -> EspKey {
        EspKey {
            spi: Some(spi),
            encryption: Some(self.candidate.encryption),
            encryption_key: SecretBytes::from(self.candidate.encryption_key),
            integrity: Some(self.candidate.integrity),
            integrity_key: SecretBytes::from(self.candidate.integrity_key),
            // A blob was mined, and so is its key.
            origin: self.blob.origin.clone(),
            ..EspKey::default()
        }
    }
}

/// Bytes of HMAC keys that people type in, beside those that the RFCs ask for: HMAC takes any (RFC 2104 §2).
const OTHER_HMAC_KEY: usize = 16;

/// Looks at one window: the search, the blob, the offset in it, the bytes.
type Each<'e, 'b, S, T> = dyn FnMut(&mut S, &'b Blob, usize, &'b [u8]) -> Option<T> + 'e;

impl<'b> Search<'_> {
    /// One window gives encryption key and salt together.
    fn combined_mode(&mut self, blobs: &[&'b Blob]) -> Option<Proven<'b>> {
        self.ciphers(true).into_iter().find_map(|(encryption, len)| {
            self.windows(blobs, len, &mut |search, blob, offset, window| {
                search.proves(blob, offset, (encryption, window), (Integrity::None, &[]))
            })
        })
    }

    /// A key as long as the transform asks for; else one of [`OTHER_HMAC_KEY`] bytes, or as long as a blob is.
    fn integrity_key(&mut self, blobs: &[&'b Blob]) -> Option<Proven<'b>> {
        let all: Vec<Integrity> = self
            .shape
            .integrities
            .iter()
            .copied()
            .filter(|i| *i != Integrity::None)
            .collect();
        let hmac = || all.iter().copied().filter(|integrity| integrity.takes_any_key());
        let usual = all
            .iter()
            .copied()
            .map(|integrity| (integrity, integrity.key_len()));
        let other = hmac()
            .filter(|i| i.key_len() != OTHER_HMAC_KEY)
            .map(|i| (i, OTHER_HMAC_KEY));
        let found = usual.chain(other).find_map(|(integrity, len)| {
            self.windows(blobs, len, &mut |search, blob, offset, key| {
                search.proves(blob, offset, (Encryption::Null, &[]), (integrity, key))
            })
        });
        found.or_else(|| hmac().find_map(|integrity| self.whole_blobs(blobs, integrity)))
    }

    fn whole_blobs(&mut self, blobs: &[&'b Blob], integrity: Integrity) -> Option<Proven<'b>> {
        blobs.iter().find_map(|blob| {
            let key = blob.bytes.expose();
            let tried = key.len() == integrity.key_len() || key.len() == OTHER_HMAC_KEY;
            if tried || key.len() > LONGEST_HMAC_KEY || self.trials >= self.shape.most_trials {
                return None;
            }
            self.trials += 1;
            self.proves(blob, 0, (Encryption::Null, &[]), (integrity, key))
        })
    }

    fn proves(
        &mut self,
        blob: &'b Blob,
        offset: usize,
        (encryption, encryption_key): (Encryption, &'b [u8]),
        (integrity, integrity_key): (Integrity, &'b [u8]),
    ) -> Option<Proven<'b>> {
        let candidate = KeyCandidate {
            encryption,
            encryption_key,
            integrity,
            integrity_key,
        };
        let fits = self.oracle.icv_fits(&candidate);
        fits.then_some(Proven {
            candidate,
            blob,
            offset,
        })
    }

    /// The encryption key beside a proven integrity key: the one that ends where that begins, then all windows.
    fn encryption_key(&mut self, spi: Spi, blobs: &[&'b Blob], proven: &Proven<'b>) {
        let ciphers = self.ciphers(false);
        for (encryption, len) in &ciphers {
            let start = proven.offset.checked_sub(*len);
            let before = start.and_then(|start| proven.blob.bytes.expose().get(start..proven.offset));
            if let Some(key) = before {
                self.trials += 1;
                if self.weigh(spi, *encryption, key, proven) {
                    return;
                }
            }
        }
        ciphers.into_iter().find_map(|(encryption, len)| {
            self.windows(blobs, len, &mut |search, _, _, key| {
                search.weigh(spi, encryption, key, proven).then_some(())
            })
        });
    }

    /// Keeps the key with most bits. True when they end the search.
    fn weigh(&mut self, spi: Spi, encryption: Encryption, key: &'b [u8], proven: &Proven<'b>) -> bool {
        let candidate = KeyCandidate {
            encryption,
            encryption_key: key,
            ..proven.candidate
        };
        let bits = self.oracle.weigh(&candidate);
        if self.best.as_ref().is_none_or(|(most, _)| bits > *most) {
            self.best = Some((bits, Proven { candidate, ..*proven }.claim(spi)));
        }
        bits >= self.shape.enough_bits
    }

    /// Ciphers with or without combined mode, each with a length of its key, salt included.
    fn ciphers(&self, combined: bool) -> Vec<(Encryption, usize)> {
        let key_len = self.shape.key_len;
        let lens = move |encryption: Encryption| {
            let lens = encryption.key_lens().iter().copied();
            lens.filter(move |len| key_len.is_none_or(|known| known == *len))
                .map(move |len| (encryption, len + encryption.salt_len()))
        };
        let encryptions = self.shape.encryptions.iter().copied();
        encryptions
            .filter(|encryption| encryption.is_aead() == combined)
            .flat_map(lens)
            .collect()
    }

    /// Calls `each` for every distinct window of `len` bytes until it finds something or the bound is reached.
    fn windows<T>(&mut self, blobs: &[&'b Blob], len: usize, each: &mut Each<'_, 'b, Self, T>) -> Option<T> {
        self.tried.clear();
        if len == 0 {
            return None;
        }
        for blob in blobs {
            for (offset, window) in blob.bytes.expose().windows(len).enumerate() {
                if self.trials >= self.shape.most_trials {
                    return None;
                }
                if !self.tried.insert(hash_of(window)) {
                    continue;
                }
                self.trials += 1;
                if let Some(found) = each(self, blob, offset, window) {
                    return Some(found);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
