//! An ESP key as a log states it, checked against what its transform takes.

use crate::lines::algorithm_names::{fits_encryption, keymat_encryption_len, plausible};
use crate::material::key::{EspKey, KeyDefect};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};

/// Bytes that a console shows of a longer key.
pub(crate) const PREFIX_LEN: usize = 8;

/// Longest HMAC key that is tried, in bytes: the block of SHA-512. A longer one is hashed before use (RFC 2104 §2), so nobody makes it.
pub(crate) const LONGEST_HMAC_KEY: usize = 128;

impl EspKey {
    /// A key on `line`, of which nothing else is told yet.
    pub(crate) fn at(line: u64) -> EspKey {
        let mut key = EspKey::default();
        key.origin.line = line;
        key
    }

    /// Takes both keys from one SA's whole KEYMAT; false when its length fits no pair of transforms.
    pub(crate) fn split_keymat(&mut self, keymat: &[u8]) -> bool {
        let Some(split) = keymat_encryption_len(keymat.len(), self.encryption, self.integrity) else {
            return false;
        };
        let (encryption, integrity) = keymat.split_at(split);
        (self.encryption_key, self.integrity_key) = (encryption.into(), integrity.into());
        true
    }

    /// Hands the key over. One that is too short stays as a defect, so that its SA can say why it has no key; one that
    /// is too long is left out; both are problems.
    pub(crate) fn hand_over(mut self, sink: &mut Sink<'_>) {
        if self.encryption.is_some_and(Encryption::is_aead) && self.integrity_key.is_empty() {
            self.integrity = Some(Integrity::None);
        }
        match self.wrong_length() {
            None => sink.esp(self),
            Some((sentence, verdict)) => {
                sink.problem(self.origin.line, sentence);
                match verdict {
                    Length::Unusual => sink.esp(self),
                    Length::Short => {
                        let shown = [&self.encryption_key, &self.integrity_key]
                            .iter()
                            .any(|key| key.len() == PREFIX_LEN);
                        let defect = if shown {
                            KeyDefect::Prefix8
                        } else {
                            KeyDefect::Truncated
                        };
                        self.hand_over_defective(defect, sink);
                    }
                    Length::Impossible => {}
                }
            }
        }
    }

    /// The key is there, but the log hides it or lacks a part of it.
    pub(crate) fn hand_over_defective(mut self, defect: KeyDefect, sink: &mut Sink<'_>) {
        (self.encryption_key, self.integrity_key) = Default::default();
        self.defect = Some(defect);
        sink.esp(self);
    }

    /// The sentence about a length, and its consequence for the key.
    fn wrong_length(&self) -> Option<(String, Length)> {
        let given = self.encryption_key.len();
        if let Some(encryption) = self.encryption.filter(|e| !fits_encryption(*e, given)) {
            let lens: Vec<usize> = encryption
                .key_lens()
                .iter()
                .map(|len| len + encryption.salt_len())
                .collect();
            let takes = lens.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
            let sentence = format!(
                "the encryption key has {given} bytes, {encryption} takes {takes}: copy the whole key"
            );
            let short = lens.iter().all(|len| given < *len);
            return Some((sentence, if short { Length::Short } else { Length::Impossible }));
        }
        let given = self.integrity_key.len();
        if let Some(integrity) = self.integrity {
            let takes = integrity.key_len();
            let length = integrity_len(integrity, given)?;
            let what = match length {
                Length::Unusual => "it is tried as it is",
                Length::Short | Length::Impossible => "copy the whole key",
            };
            let sentence =
                format!("the authentication key has {given} bytes, {integrity} takes {takes}: {what}");
            return Some((sentence, length));
        }
        let lens = (self.encryption_key.len(), given);
        let unnamed = self.encryption.is_none() && plausible(None, lens.0, None, lens.1).is_empty();
        unnamed.then(|| {
            let sentence = "the keys of this SPI have lengths that no transform takes: the line was cut or its label means \
                            something else";
            (sentence.into(), Length::Short)
        })
    }
}

/// Consequence of a length for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// HMAC takes it (RFC 2104 §3), the RFC of the transform does not say so: the ICV decides.
    Unusual,
    /// The beginning of a key at most.
    Short,
    /// No part of a key.
    Impossible,
}

/// `None` for the length that the transform takes.
fn integrity_len(integrity: Integrity, given: usize) -> Option<Length> {
    let takes = integrity.key_len();
    match given {
        _ if given == takes => None,
        1..=LONGEST_HMAC_KEY if integrity.takes_any_key() => Some(Length::Unusual),
        _ if given < takes => Some(Length::Short),
        _ => Some(Length::Impossible),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_that_of_the_key_or_of_a_part_of_it_or_of_none() {
        let hmac = Integrity::HmacSha1_96;
        for (integrity, given, expected) in [
            (Integrity::AesXcbc96, 16, None),
            (Integrity::AesXcbc96, 15, Some(Length::Short)),
            (Integrity::AesXcbc96, 17, Some(Length::Impossible)),
            (hmac, 20, None),
            (hmac, 0, Some(Length::Short)),
            (hmac, 1, Some(Length::Unusual)),
            (hmac, LONGEST_HMAC_KEY, Some(Length::Unusual)),
            (hmac, LONGEST_HMAC_KEY + 1, Some(Length::Impossible)),
        ] {
            assert_eq!(
                integrity_len(integrity, given),
                expected,
                "{integrity:?}, {given} bytes"
            );
        }
    }
}
