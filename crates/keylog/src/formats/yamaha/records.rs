//! What a Yamaha key log says about one SA, collected line by line.

use crate::formats::yamaha::labels::Kind;
use crate::lines::algorithm_names::fits_encryption;
use crate::material::claim::Claim;
use crate::material::key::{IkeSecrets, KeyDefect};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::Encryption;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IkeSpi, Spi};
use zeroize::Zeroizing;

/// Keys of the SA whose SPI came last.
#[derive(Default)]
pub(crate) struct EspRecord {
    pub(crate) spi: Option<Spi>,
    encryption_key: Option<(u64, Zeroizing<Vec<u8>>)>,
    integrity_key: Option<(u64, Zeroizing<Vec<u8>>)>,
    /// The line of a key of which a part is missing.
    cut: Option<u64>,
}

/// Secrets of one phase 1.
#[derive(Default)]
pub(crate) struct IkeRecord {
    initiator_spi: Option<IkeSpi>,
    pub(crate) responder_spi: Option<IkeSpi>,
    secrets: IkeSecrets,
    line: u64,
    /// A `Key:` that no SPI of ESP stands before: with other secrets or cookies of phase 1 it is Ka.
    unnamed: Option<(u64, SecretBytes)>,
}

/// A cookie; `None` for the zero one of a first message.
pub(crate) fn ike_spi(bytes: &[u8]) -> Option<IkeSpi> {
    bytes
        .try_into()
        .ok()
        .map(IkeSpi)
        .filter(|spi| *spi != IkeSpi::ZERO)
}

impl EspRecord {
    /// A key of the SA whose SPI came last. Without one there is no claim; mining has the bytes.
    pub(crate) fn key(&mut self, kind: Kind, line: u64, bytes: &[u8], sink: &mut Sink<'_>) {
        if self.spi.is_none() {
            return;
        }
        let slot = |record: &EspRecord| match kind {
            Kind::IntegrityKey => record.integrity_key.is_some(),
            _ => record.encryption_key.is_some(),
        };
        if slot(self) {
            let spi = self.spi;
            self.emit(sink);
            self.spi = spi;
        }
        let key = Some((line, Zeroizing::new(bytes.to_vec())));
        match kind {
            Kind::IntegrityKey => self.integrity_key = key,
            _ => self.encryption_key = key,
        }
    }

    /// A key of this SA stands there, but not the whole of it.
    pub(crate) fn cut_key(&mut self, line: u64) {
        self.cut = self.spi.and(self.cut.or(Some(line)));
    }

    /// Claims what is complete: both keys, or the one of a combined mode.
    pub(crate) fn emit(&mut self, sink: &mut Sink<'_>) {
        let record = std::mem::take(self);
        let mut claim = Claim {
            spi: record.spi,
            ..Claim::default()
        };
        if let Some(line) = record.cut {
            claim.line = line;
            return claim.hand_over_defective(KeyDefect::Truncated, sink);
        }
        let (Some(_), Some((line, encryption_key))) = (record.spi, record.encryption_key) else {
            return;
        };
        let integrity_key = record.integrity_key.map(|(_, key)| key).unwrap_or_default();
        if integrity_key.is_empty() && !fits_encryption(Encryption::AesGcm { icv: 16 }, encryption_key.len())
        {
            return;
        }
        claim.line = line;
        claim.encryption_key = encryption_key;
        claim.integrity_key = integrity_key;
        claim.hand_over(sink);
    }
}

impl IkeRecord {
    pub(crate) fn initiator(&mut self, spi: Option<IkeSpi>, sink: &mut Sink<'_>) {
        let Some(spi) = spi else { return };
        if self.initiator_spi.is_some_and(|known| known != spi) {
            self.emit(sink);
        }
        self.initiator_spi = Some(spi);
    }

    /// The beginning of Ka.
    pub(crate) fn prefix(&mut self, line: u64, bytes: &[u8]) {
        self.line = line;
        self.secrets.ka_prefix = Some(SecretBytes::from(bytes));
    }

    /// A key whose label says no more than that.
    pub(crate) fn unnamed_key(&mut self, line: u64, bytes: &[u8], sink: &mut Sink<'_>) {
        let key = SecretBytes::from(bytes);
        if self.unnamed.as_ref().is_some_and(|(_, known)| *known != key) {
            self.emit(sink);
        }
        self.unnamed = Some((line, key));
    }

    pub(crate) fn secret(&mut self, kind: Kind, line: u64, bytes: &[u8], sink: &mut Sink<'_>) {
        let secret = SecretBytes::from(bytes);
        if self
            .slot(kind)
            .is_some_and(|slot| slot.as_ref().is_some_and(|known| *known != secret))
        {
            self.emit(sink);
        }
        if self.line == 0 {
            self.line = line;
        }
        if let Some(slot) = self.slot(kind) {
            *slot = Some(secret);
        }
    }

    fn slot(&mut self, kind: Kind) -> Option<&mut Option<SecretBytes>> {
        let s = &mut self.secrets;
        Some(match kind {
            Kind::Skeyid => &mut s.skeyid,
            Kind::SkeyidD => &mut s.skeyid_d,
            Kind::SkeyidA => &mut s.skeyid_a,
            Kind::SkeyidE => &mut s.skeyid_e,
            Kind::Ka => &mut s.ka,
            Kind::Skeyseed => &mut s.skeyseed,
            Kind::SkD => &mut s.sk_d,
            Kind::SkEi => &mut s.sk_ei,
            Kind::SkEr => &mut s.sk_er,
            Kind::SkAi => &mut s.sk_ai,
            Kind::SkAr => &mut s.sk_ar,
            _ => return None,
        })
    }

    pub(crate) fn emit(&mut self, sink: &mut Sink<'_>) {
        let mut record = std::mem::take(self);
        let of_phase_1 = record.line > 0 || record.initiator_spi.is_some();
        if let (None, Some((line, key)), true) = (&record.secrets.ka, record.unnamed, of_phase_1) {
            record.line = if record.line == 0 { line } else { record.line };
            record.secrets.ka = Some(key);
        }
        if record.line == 0 {
            return;
        }
        let spis = (record.initiator_spi, record.responder_spi);
        sink.secrets(record.line, spis, record.secrets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_of_ike_has_a_place_of_its_own() {
        let kinds = [
            Kind::Skeyid,
            Kind::SkeyidD,
            Kind::SkeyidA,
            Kind::SkeyidE,
            Kind::Ka,
            Kind::Skeyseed,
            Kind::SkD,
            Kind::SkEi,
            Kind::SkEr,
            Kind::SkAi,
            Kind::SkAr,
        ];
        for kind in kinds {
            let mut record = IkeRecord::default();
            *record.slot(kind).unwrap() = Some(SecretBytes::from(&b"synthetic"[..]));
            for other in kinds {
                assert_eq!(
                    record.slot(other).unwrap().is_some(),
                    other == kind,
                    "{kind:?}, {other:?}"
                );
            }
        }
        assert!(IkeRecord::default().slot(Kind::Spi).is_none());
    }
}
