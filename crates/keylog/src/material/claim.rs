//! An ESP key as a log states it, checked against what its transform takes.

use crate::lines::algorithm_names::fits_encryption;
use crate::material::key::{EspKey, KeyDefect};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use std::net::IpAddr;
use zeroize::Zeroizing;

/// What a console shows of a longer key, in bytes.
const PREFIX_LEN: usize = 8;

/// A stated key.
#[derive(Default)]
pub(crate) struct Claim {
    pub(crate) line: u64,
    pub(crate) src: Option<IpAddr>,
    pub(crate) dst: Option<IpAddr>,
    pub(crate) spi: Option<Spi>,
    pub(crate) encryption: Option<Encryption>,
    pub(crate) encryption_key: Zeroizing<Vec<u8>>,
    pub(crate) integrity: Option<Integrity>,
    pub(crate) integrity_key: Zeroizing<Vec<u8>>,
}

impl Claim {
    /// Hands the key over. One that is too short stays as a defect, so that its SA can say why it has no key; one that
    /// is too long is left out; both are problems.
    pub(crate) fn hand_over(mut self, sink: &mut Sink<'_>) {
        if self.encryption.is_some_and(Encryption::is_aead) && self.integrity_key.is_empty() {
            self.integrity = Some(Integrity::None);
        }
        let defect = match self.wrong_length() {
            None => None,
            Some((sentence, short)) => {
                sink.problem(self.line, sentence);
                if !short {
                    return;
                }
                let shown = [&self.encryption_key, &self.integrity_key]
                    .iter()
                    .any(|key| key.len() == PREFIX_LEN);
                Some(if shown {
                    KeyDefect::Prefix8
                } else {
                    KeyDefect::Truncated
                })
            }
        };
        let origin = sink.explicit(self.line);
        sink.esp(EspKey {
            src: self.src,
            dst: self.dst,
            spi: self.spi,
            encryption: self.encryption,
            encryption_key: SecretBytes::new(std::mem::take(&mut *self.encryption_key)),
            integrity: self.integrity,
            integrity_key: SecretBytes::new(std::mem::take(&mut *self.integrity_key)),
            defect,
            origin,
        });
    }

    /// The key is there but the log hides it.
    pub(crate) fn hand_over_masked(self, sink: &mut Sink<'_>) {
        let origin = sink.explicit(self.line);
        sink.esp(EspKey {
            src: self.src,
            dst: self.dst,
            spi: self.spi,
            encryption: self.encryption,
            encryption_key: SecretBytes::default(),
            integrity: self.integrity,
            integrity_key: SecretBytes::default(),
            defect: Some(KeyDefect::Masked),
            origin,
        });
    }

    /// What is wrong with a length, and whether the key is too short.
    fn wrong_length(&self) -> Option<(String, bool)> {
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
            return Some((sentence, lens.iter().all(|len| given < *len)));
        }
        let given = self.integrity_key.len();
        let integrity = self.integrity.filter(|i| i.key_len() != given)?;
        let takes = integrity.key_len();
        let sentence = format!(
            "the authentication key has {given} bytes, {integrity} takes {takes}: copy the whole key"
        );
        Some((sentence, given < takes))
    }
}
