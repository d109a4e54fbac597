//! ESP keys of a Yamaha key log, collected line by line.

use crate::formats::yamaha::labels::Kind;
use crate::lines::algorithm_names::fits_encryption;
use crate::material::claim::Claim;
use crate::material::key::KeyDefect;
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::Encryption;
use rekeyscope_model::spi::Spi;
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

impl EspRecord {
    fn slot(&mut self, kind: Kind) -> &mut Option<(u64, Zeroizing<Vec<u8>>)> {
        match kind {
            Kind::IntegrityKey => &mut self.integrity_key,
            _ => &mut self.encryption_key,
        }
    }

    /// A key of the SA whose SPI came last. Without one there is no claim; mining has the bytes.
    pub(crate) fn key(&mut self, kind: Kind, line: u64, bytes: &[u8], sink: &mut Sink<'_>) {
        let Some(spi) = self.spi else { return };
        if self.slot(kind).is_some() {
            self.emit(sink);
            self.spi = Some(spi);
        }
        *self.slot(kind) = Some((line, Zeroizing::new(bytes.to_vec())));
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
