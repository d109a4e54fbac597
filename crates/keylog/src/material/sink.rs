//! Where formats put what they find: leaves out repetitions, keeps the bounds, collects problems.

use crate::material::bounds::{
    MOST_BLOB_BYTES, MOST_BLOBS, MOST_ESP_KEYS, MOST_IKE_KEYS, MOST_PROBLEMS, MOST_SPI_SIGHTINGS,
    SHORTEST_BLOB,
};
use crate::material::contents::{Blob, KeyMaterial, KeyProblem, SpiSighting};
use crate::material::key::{EspKey, IkeKey, IkeSecrets, KeyOrigin, KeyRoad, Seed};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IkeSpi, Spi};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Longest label that is kept with a blob, in bytes.
const LONGEST_LABEL: usize = 64;

/// Takes the finds of one file.
pub(crate) struct Sink<'a> {
    material: &'a mut KeyMaterial,
    file: usize,
    esp_seen: HashMap<u64, usize>,
    ike_seen: HashMap<u64, usize>,
    seeds_seen: HashMap<u64, usize>,
    blobs_seen: HashMap<u64, usize>,
    blob_bytes: usize,
    problems: usize,
    left_out: LeftOut,
    /// Whether a line with any content was seen.
    any_text: bool,
    found: bool,
    keyed: bool,
}

#[derive(Default)]
struct LeftOut {
    esp: Dropped,
    ike: Dropped,
    seeds: Dropped,
    places: Dropped,
    blobs: Dropped,
    problems: Dropped,
}

/// How much a bound left out, and where that began.
#[derive(Default)]
struct Dropped {
    count: u64,
    first_line: u64,
}

impl Dropped {
    fn at(&mut self, line: u64) {
        if self.count == 0 {
            self.first_line = line;
        }
        self.count += 1;
    }
}

impl<'a> Sink<'a> {
    /// For the file that was pushed last.
    pub(crate) fn new(material: &'a mut KeyMaterial) -> Self {
        let index = |hashes: &mut dyn Iterator<Item = u64>| hashes.enumerate().map(|(i, h)| (h, i)).collect();
        Sink {
            file: material.files.len().saturating_sub(1),
            esp_seen: index(&mut material.esp.iter().map(esp_hash)),
            ike_seen: index(&mut material.ike.iter().map(ike_hash)),
            seeds_seen: index(&mut material.seeds.iter().map(seed_hash)),
            blobs_seen: index(&mut material.blobs.iter().map(|b| hash_of(&b.bytes.expose()))),
            blob_bytes: material.blobs.iter().map(|b| b.bytes.len()).sum(),
            material,
            problems: 0,
            left_out: LeftOut::default(),
            any_text: false,
            found: false,
            keyed: false,
        }
    }

    /// The origin of an explicit key on `line`.
    pub(crate) fn explicit(&self, line: u64) -> KeyOrigin {
        KeyOrigin {
            file: self.file,
            line,
            road: KeyRoad::Explicit,
        }
    }

    /// Whether anything was found so far, if only a key that is masked.
    pub(crate) fn has_found(&self) -> bool {
        self.found
    }

    /// The file is one of a log that has keys elsewhere.
    pub(crate) fn needs_no_keys(&mut self) {
        (self.any_text, self.found) = (true, true);
    }

    /// Whether any key or seed was found so far.
    pub(crate) fn has_keys(&self) -> bool {
        self.keyed
    }

    /// The one thing to say about this file.
    pub(crate) fn only_problem(&mut self, line: u64, sentence: String) {
        let file = self.file;
        self.material.problems.retain(|problem| problem.file != file);
        self.problems = 0;
        self.problem(line, sentence);
    }

    /// Notes that the file has content.
    pub(crate) fn saw_text(&mut self) {
        self.any_text = true;
    }

    /// An ESP key; its SPI also becomes a place for mining.
    pub(crate) fn esp(&mut self, key: EspKey) {
        (self.found, self.keyed) = (true, true);
        let line = key.origin.line;
        if key.spi.is_some_and(|spi| self.is_foreign(&[spi])) {
            return;
        }
        if let Some(spi) = key.spi {
            self.sighting(line, spi);
        }
        let esp = &mut self.material.esp;
        let hash = esp_hash(&key);
        if self
            .esp_seen
            .get(&hash)
            .and_then(|i| esp.get(*i))
            .is_some_and(|old| same_esp(old, &key))
        {
            return;
        }
        if esp.len() >= MOST_ESP_KEYS {
            self.material.overflowed = true;
            return self.left_out.esp.at(line);
        }
        self.esp_seen.insert(hash, esp.len());
        esp.push(key);
    }

    /// Keys of none of the SPIs that are asked for, where some are.
    fn is_foreign(&self, spis: &[Spi]) -> bool {
        let wanted = self.material.wanted.as_ref();
        wanted.is_some_and(|wanted| !spis.iter().any(|spi| wanted.contains(spi)))
    }

    /// An IKE key.
    pub(crate) fn ike(&mut self, key: IkeKey) {
        (self.found, self.keyed) = (true, true);
        let ike = &mut self.material.ike;
        let hash = ike_hash(&key);
        if self.ike_seen.contains_key(&hash) {
            return;
        }
        if ike.len() >= MOST_IKE_KEYS {
            return self.left_out.ike.at(key.origin.line);
        }
        self.ike_seen.insert(hash, ike.len());
        ike.push(key);
    }

    /// The secrets of one IKE SA, on `line`.
    pub(crate) fn secrets(
        &mut self,
        line: u64,
        (initiator_spi, responder_spi): (Option<IkeSpi>, Option<IkeSpi>),
        secrets: IkeSecrets,
    ) {
        self.ike(IkeKey {
            version: secrets.version(),
            initiator_spi,
            responder_spi,
            secrets,
            encryption: None,
            integrity: None,
            origin: self.explicit(line),
        });
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
        let hash = seed_hash(&seed);
        let seeds = &mut self.material.seeds;
        if self.seeds_seen.contains_key(&hash) {
            return;
        }
        if seeds.len() >= MOST_ESP_KEYS {
            self.material.overflowed = true;
            return self.left_out.seeds.at(seed.origin.line);
        }
        self.seeds_seen.insert(hash, seeds.len());
        seeds.push(seed);
    }

    /// Bytes for mining; shorter ones than any key are ignored.
    pub(crate) fn blob(&mut self, line: u64, label: &[u8], bytes: &[u8]) {
        if bytes.len() < SHORTEST_BLOB {
            return;
        }
        self.found = true;
        let hash = hash_of(&bytes);
        if self.blobs_seen.contains_key(&hash) {
            return;
        }
        let total = self.blob_bytes.saturating_add(bytes.len());
        if self.material.blobs.len() >= MOST_BLOBS || total > MOST_BLOB_BYTES {
            return self.left_out.blobs.at(line);
        }
        self.blob_bytes = total;
        self.blobs_seen.insert(hash, self.material.blobs.len());
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

    /// A line that names an SPI.
    pub(crate) fn sighting(&mut self, line: u64, spi: Spi) {
        let places = &mut self.material.spi_sightings;
        let place = SpiSighting {
            file: self.file,
            line,
            spi,
        };
        if places.last() == Some(&place) {
            return;
        }
        if places.len() >= MOST_SPI_SIGHTINGS {
            return self.left_out.places.at(line);
        }
        places.push(place);
    }

    /// A row that cannot be read. The sentence must not repeat any of it.
    pub(crate) fn problem(&mut self, line: u64, sentence: impl Into<String>) {
        self.found = true;
        if self.problems >= MOST_PROBLEMS {
            return self.left_out.problems.at(line);
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
            self.problem(1, "the file is empty: save the log again");
        } else if !self.found {
            self.problem(
                1,
                "no keys were found in this file: expected a router's or IKE daemon's key log, or a Wireshark key table",
            );
        }
        let left_out = std::mem::take(&mut self.left_out);
        for (dropped, what, bound) in [
            (left_out.esp, "ESP keys", MOST_ESP_KEYS),
            (left_out.ike, "IKE keys", MOST_IKE_KEYS),
            (left_out.seeds, "inputs of key derivations", MOST_ESP_KEYS),
            (left_out.places, "lines that name an SPI", MOST_SPI_SIGHTINGS),
            (left_out.blobs, "stretches of hex without a label", MOST_BLOBS),
            (left_out.problems, "problems", MOST_PROBLEMS),
        ] {
            if dropped.count > 0 {
                self.material.problems.push(KeyProblem {
                    file: self.file,
                    line: dropped.first_line,
                    sentence: format!(
                        "more than {bound} {what}: {} were left out from here on; cut the log down to the time of the capture",
                        dropped.count
                    ),
                });
            }
        }
        if let Some(info) = self.material.files.get_mut(self.file) {
            info.formats = formats;
        }
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The source is not part of it: an SA is known by its destination, protocol and SPI.
fn esp_hash(k: &EspKey) -> u64 {
    hash_of(&(
        k.dst,
        k.spi,
        k.encryption,
        k.encryption_key.expose(),
        k.integrity,
        k.integrity_key.expose(),
        k.defect,
    ))
}

fn same_esp(a: &EspKey, b: &EspKey) -> bool {
    (a.dst, a.spi, a.encryption, a.integrity, a.defect) == (b.dst, b.spi, b.encryption, b.integrity, b.defect)
        && a.encryption_key == b.encryption_key
        && a.integrity_key == b.integrity_key
}

fn seed_hash(s: &Seed) -> u64 {
    hash_of(&(s.of, s.bytes.expose(), s.spis))
}

fn ike_hash(k: &IkeKey) -> u64 {
    let s = &k.secrets;
    let secrets = [
        &s.ka,
        &s.skeyid_e,
        &s.skeyid_d,
        &s.skeyid_a,
        &s.sk_ei,
        &s.sk_er,
        &s.sk_ai,
        &s.sk_ar,
        &s.sk_d,
        &s.skeyid,
        &s.skeyseed,
        &s.dh_secret,
        &s.ka_prefix,
    ]
    .map(|s| s.as_ref().map(SecretBytes::expose));
    hash_of(&(
        k.version,
        k.initiator_spi,
        k.responder_spi,
        secrets,
        &k.encryption,
        &k.integrity,
    ))
}
