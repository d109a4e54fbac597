//! ESP keys of a Yamaha key log, collected line by line.

use crate::formats::yamaha::labels::Kind;
use crate::lines::algorithm_names::fits_encryption;
use crate::material::key::{EspKey, KeyDefect};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::Encryption;
use rekeyscope_model::secret::SecretBytes;

/// Keys of the SA whose SPI came last.
#[derive(Default)]
pub(crate) struct EspRecord {
    pub(crate) sa: EspKey,
    /// Why the SA has no whole key, and the line that shows it.
    defect: Option<(KeyDefect, u64)>,
}

impl EspRecord {
    fn slot(&mut self, kind: Kind) -> &mut SecretBytes {
        match kind {
            Kind::IntegrityKey => &mut self.sa.integrity_key,
            _ => &mut self.sa.encryption_key,
        }
    }

    /// A key of the SA whose SPI came last. Without one there is no claim; mining has the bytes.
    pub(crate) fn key(&mut self, kind: Kind, line: u64, bytes: &[u8], sink: &mut Sink<'_>) {
        if self.sa.spi.is_none() {
            return;
        }
        if !self.slot(kind).is_empty() {
            let spi = self.sa.spi;
            self.emit(sink);
            self.sa.spi = spi;
        }
        if kind != Kind::IntegrityKey {
            self.sa.origin.line = line;
        }
        *self.slot(kind) = bytes.into();
    }

    /// A key of this SA stands there, but not the whole of it.
    pub(crate) fn defective(&mut self, defect: KeyDefect, line: u64) {
        self.defect = self.sa.spi.and(self.defect.or(Some((defect, line))));
    }

    /// Claims what is complete: both keys, or the one of a combined mode.
    pub(crate) fn emit(&mut self, sink: &mut Sink<'_>) {
        let EspRecord { mut sa, defect } = std::mem::take(self);
        if let Some((defect, line)) = defect {
            sa.origin.line = line;
            return sa.hand_over_defective(defect, sink);
        }
        let combined = fits_encryption(Encryption::AesGcm { icv: 16 }, sa.encryption_key.len());
        if !sa.encryption_key.is_empty() && (combined || !sa.integrity_key.is_empty()) {
            sa.hand_over(sink);
        }
    }
}
