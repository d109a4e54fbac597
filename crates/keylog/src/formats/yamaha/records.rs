//! What a Yamaha key log says about one SA, collected line by line.

use crate::formats::yamaha::labels::Kind;
use crate::lines::algorithm_names::fits_encryption;
use crate::material::key::{EspKey, IkeKey, IkeSecrets};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::Encryption;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IkeSpi, Spi};

/// Keys of the SA whose SPI came last.
#[derive(Default)]
pub(crate) struct EspRecord {
    pub(crate) spi: Option<Spi>,
    encryption_key: Option<(u64, SecretBytes)>,
    integrity_key: Option<(u64, SecretBytes)>,
}

/// Secrets of one phase 1.
#[derive(Default)]
pub(crate) struct IkeRecord {
    initiator_spi: Option<IkeSpi>,
    pub(crate) responder_spi: Option<IkeSpi>,
    secrets: IkeSecrets,
    line: u64,
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
        let key = Some((line, SecretBytes::from(bytes)));
        match kind {
            Kind::IntegrityKey => self.integrity_key = key,
            _ => self.encryption_key = key,
        }
    }

    /// Claims what is complete: both keys, or the one of a combined mode.
    pub(crate) fn emit(&mut self, sink: &mut Sink<'_>) {
        let record = std::mem::take(self);
        let (Some(spi), Some((line, encryption_key))) = (record.spi, record.encryption_key) else {
            return;
        };
        let integrity_key = record.integrity_key.map(|(_, key)| key).unwrap_or_default();
        if integrity_key.is_empty() && !fits_encryption(Encryption::AesGcm { icv: 16 }, encryption_key.len())
        {
            return;
        }
        let origin = sink.explicit(line);
        let key = EspKey {
            src: None,
            dst: None,
            spi: Some(spi),
            encryption: None,
            encryption_key,
            integrity: None,
            integrity_key,
            defect: None,
            origin,
        };
        if key.transforms().is_empty() {
            sink.problem(
                line,
                "the keys after this SPI have lengths that no transform takes: the line was cut or its label means something else",
            );
        } else {
            sink.esp(key);
        }
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
        let record = std::mem::take(self);
        if record.line == 0 {
            return;
        }
        let s = &record.secrets;
        let ikev1 = [&s.skeyid, &s.skeyid_d, &s.skeyid_a, &s.skeyid_e, &s.ka]
            .iter()
            .any(|secret| secret.is_some());
        let origin = sink.explicit(record.line);
        sink.ike(IkeKey {
            version: if ikev1 { 1 } else { 2 },
            initiator_spi: record.initiator_spi,
            responder_spi: record.responder_spi,
            secrets: record.secrets,
            encryption: None,
            integrity: None,
            origin,
        });
    }
}
