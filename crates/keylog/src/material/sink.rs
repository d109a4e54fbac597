//! The sink into which formats put what they find: leaves out repetitions, keeps the bounds, collects problems.

use crate::lines::text::hash_of;
use crate::material::contents::{
    Blob, KeyMaterial, KeyProblem, MOST_BLOB_BYTES, MOST_BLOBS, MOST_ESP_KEYS, MOST_IKE_KEYS, MOST_PROBLEMS,
    MOST_SPI_SIGHTINGS, SHORTEST_BLOB, SaLifetime, SpiSighting,
};
use crate::material::key::{EspKey, IkeKey, IkeSecrets, KeyOrigin, KeyRoad, Seed};
use rekeyscope_model::analysis::Lifetime;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IkeSpi, Spi};
use std::collections::HashSet;

/// Longest label that is kept with a blob, in bytes.
const LONGEST_LABEL: usize = 64;

/// The line of a problem that is the whole file's.
pub(crate) const WHOLE_FILE: u64 = 0;

/// A bound: what it counts, and how many are kept.
type MostKept = (&'static str, usize);

const ESP_KEYS: MostKept = ("ESP keys", MOST_ESP_KEYS);
const IKE_KEYS: MostKept = ("IKE keys", MOST_IKE_KEYS);
const SEEDS: MostKept = ("inputs of key derivations", MOST_ESP_KEYS);
const PLACES: MostKept = ("lines that name an SPI", MOST_SPI_SIGHTINGS);
const BLOBS: MostKept = ("stretches of hex without a label", MOST_BLOBS);
const PROBLEMS: MostKept = ("problems", MOST_PROBLEMS);

/// Takes the finds of one file.
pub(crate) struct Sink<'a> {
    material: &'a mut KeyMaterial,
    file: usize,
    /// Hashes of the keys, seeds and blobs that are kept: logs repeat themselves.
    seen: HashSet<u64>,
    blob_bytes: usize,
    problems: usize,
    /// Number of items that each bound left out, and the line where that began.
    left_out: Vec<(MostKept, u64, u64)>,
    /// A line with any content was seen.
    pub(crate) any_text: bool,
    /// Anything was found so far, if only a key that is masked.
    pub(crate) found: bool,
    /// A key or a seed was found so far.
    pub(crate) keyed: bool,
}

impl<'a> Sink<'a> {
    /// A sink of the file that was pushed last.
    pub(crate) fn new(material: &'a mut KeyMaterial) -> Self {
        let esp = material.esp.iter().map(esp_hash);
        let ike = material.ike.iter().map(ike_hash);
        let seeds = material.seeds.iter().map(seed_hash);
        let blobs = material.blobs.iter().map(|blob| blob_hash(blob.bytes.expose()));
        Sink {
            file: material.files.len().saturating_sub(1),
            seen: esp.chain(ike).chain(seeds).chain(blobs).collect(),
            blob_bytes: material.blobs.iter().map(|b| b.bytes.len()).sum(),
            material,
            problems: 0,
            left_out: Vec::new(),
            any_text: false,
            found: false,
            keyed: false,
        }
    }

    /// Tells whether something with this hash is new, and `kept` of its kind leave room for it.
    fn admits(&mut self, hash: u64, kept: usize, bound: MostKept, line: u64) -> bool {
        if self.seen.contains(&hash) {
            return false;
        }
        if kept >= bound.1 {
            self.leave_out(bound, line);
            return false;
        }
        self.seen.insert(hash)
    }

    fn leave_out(&mut self, bound: MostKept, line: u64) {
        match self.left_out.iter_mut().find(|(known, ..)| *known == bound) {
            Some((.., count)) => *count += 1,
            None => self.left_out.push((bound, line, 1)),
        }
    }

    /// Origin of an explicit key on `line`.
    pub(crate) fn explicit(&self, line: u64) -> KeyOrigin {
        KeyOrigin {
            file: self.file,
            line,
            road: KeyRoad::Explicit,
        }
    }

    /// The one thing to say about this file.
    pub(crate) fn only_problem(&mut self, line: u64, sentence: String) {
        let file = self.file;
        self.material.problems.retain(|problem| problem.file != file);
        self.problems = 0;
        self.problem(line, sentence);
    }

    /// An ESP key; its SPI also becomes a place for mining.
    pub(crate) fn esp(&mut self, mut key: EspKey) {
        key.origin.file = self.file;
        (self.found, self.keyed) = (true, true);
        let line = key.origin.line;
        if key.spi.is_some_and(|spi| self.is_foreign(&[spi])) {
            return;
        }
        if let Some(spi) = key.spi {
            self.sighting(line, spi);
        }
        if self.admits(esp_hash(&key), self.material.esp.len(), ESP_KEYS, line) {
            self.material.esp.push(key);
        }
    }

    /// Keys of none of the SPIs that are asked for, where some are.
    fn is_foreign(&self, spis: &[Spi]) -> bool {
        let wanted = self.material.wanted.as_ref();
        wanted.is_some_and(|wanted| !spis.iter().any(|spi| wanted.contains(spi)))
    }

    /// The secrets of one IKE SA, on `line`.
    pub(crate) fn secrets(
        &mut self,
        line: u64,
        (initiator_spi, responder_spi): (Option<IkeSpi>, Option<IkeSpi>),
        secrets: IkeSecrets,
    ) {
        (self.found, self.keyed) = (true, true);
        // A Diffie–Hellman secret alone does not say which version made it.
        for version in secrets.version().map_or(vec![1, 2], |known| vec![known]) {
            let key = IkeKey {
                version,
                initiator_spi,
                responder_spi,
                secrets: secrets.clone(),
                origin: self.explicit(line),
            };
            if self.admits(ike_hash(&key), self.material.ike.len(), IKE_KEYS, line) {
                self.material.ike.push(key);
            }
        }
    }

    /// A derivation's input.
    pub(crate) fn seed(&mut self, seed: Seed) {
        (self.found, self.keyed) = (true, true);
        if seed
            .spis
            .is_some_and(|(one, other)| self.is_foreign(&[one, other]))
        {
            return;
        }
        let line = seed.origin.line;
        if self.admits(seed_hash(&seed), self.material.seeds.len(), SEEDS, line) {
            self.material.seeds.push(seed);
        }
    }

    /// Bytes for mining; shorter ones than any key are ignored.
    pub(crate) fn blob(&mut self, line: u64, label: &[u8], bytes: &[u8]) {
        if bytes.len() < SHORTEST_BLOB {
            return;
        }
        self.found = true;
        let total = self.blob_bytes.saturating_add(bytes.len());
        let kept = if total > MOST_BLOB_BYTES {
            MOST_BLOBS
        } else {
            self.material.blobs.len()
        };
        if !self.admits(blob_hash(bytes), kept, BLOBS, line) {
            return;
        }
        self.blob_bytes = total;
        self.material.blobs.push(Blob {
            label: String::from_utf8_lossy(label.get(..LONGEST_LABEL).unwrap_or(label)).into_owned(),
            bytes: SecretBytes::from(bytes),
            origin: KeyOrigin {
                file: self.file,
                line,
                road: KeyRoad::Mined,
            },
        });
    }

    /// The lifetime of an SA, on `line`.
    pub(crate) fn lifetime(&mut self, line: u64, spi: Spi, lifetime: Lifetime) {
        self.material.lifetimes.push(SaLifetime {
            spi,
            lifetime,
            origin: self.explicit(line),
        });
    }

    /// A line that names an SPI.
    pub(crate) fn sighting(&mut self, line: u64, spi: Spi) {
        let (places, file) = (&mut self.material.spi_sightings, self.file);
        let place = SpiSighting { file, line, spi };
        if places.last() == Some(&place) {
            return;
        }
        if places.len() >= MOST_SPI_SIGHTINGS {
            return self.leave_out(PLACES, line);
        }
        places.push(place);
    }

    /// A row that cannot be read. The sentence must not repeat any of it.
    pub(crate) fn problem(&mut self, line: u64, sentence: impl Into<String>) {
        self.found = true;
        if self.problems >= MOST_PROBLEMS {
            return self.leave_out(PROBLEMS, line);
        }
        self.problems += 1;
        self.material.problems.push(KeyProblem {
            file: self.file,
            line,
            sentence: sentence.into(),
        });
    }

    /// The file is read: names its formats and says what the bounds left out.
    pub(crate) fn finish(mut self, formats: Vec<&'static str>) {
        if !self.any_text {
            self.problem(WHOLE_FILE, "the file is empty: save the log again");
        } else if !self.found {
            self.problem(
                WHOLE_FILE,
                "no keys were found in this file: expected a router's or IKE daemon's key log, or a Wireshark key table",
            );
        }
        for (bound, line, count) in std::mem::take(&mut self.left_out) {
            self.material.overflowed |= bound == ESP_KEYS || bound == SEEDS;
            let (what, most) = bound;
            self.material.problems.push(KeyProblem {
                file: self.file,
                line,
                sentence: format!(
                    "more than {most} {what}: {count} were left out from here on; cut the log down to the time of the capture"
                ),
            });
        }
        if let Some(info) = self.material.files.get_mut(self.file) {
            info.formats = formats;
        }
    }
}

/// The source is not part of it: an SA is known by its destination, protocol and SPI.
fn esp_hash(k: &EspKey) -> u64 {
    let keys = (&k.encryption_key, &k.integrity_key);
    hash_of(&(k.dst, k.spi, k.encryption, k.integrity, keys, k.defect))
}

fn seed_hash(s: &Seed) -> u64 {
    hash_of(&(s.of, &s.bytes, s.spis))
}

fn ike_hash(k: &IkeKey) -> u64 {
    hash_of(&(k.version, k.initiator_spi, k.responder_spi, &k.secrets))
}

fn blob_hash(bytes: &[u8]) -> u64 {
    hash_of(&("blob", bytes))
}
