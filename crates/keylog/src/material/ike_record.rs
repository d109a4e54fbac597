//! Secrets of one IKE SA, collected line by line.

use crate::material::key::{IkeSecrets, SecretName};
use crate::material::sink::Sink;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::IkeSpi;

/// One IKE SA as a log tells of it.
#[derive(Default)]
pub(crate) struct IkeRecord {
    pub(crate) initiator_spi: Option<IkeSpi>,
    pub(crate) responder_spi: Option<IkeSpi>,
    secrets: IkeSecrets,
    /// Line of the first secret; 0 while there is none.
    pub(crate) line: u64,
    /// A `Key:` that no SPI of ESP stands before: with other secrets or cookies of phase 1 it is Ka.
    unnamed: Option<(u64, SecretBytes)>,
}

/// A cookie; `None` for the zero one of a first message.
pub(crate) fn ike_spi(bytes: &[u8]) -> Option<IkeSpi> {
    let spi = bytes.try_into().ok().map(IkeSpi);
    spi.filter(|spi| *spi != IkeSpi::ZERO)
}

impl IkeRecord {
    /// The initiator's cookie; another one is of another IKE SA.
    pub(crate) fn initiator(&mut self, spi: Option<IkeSpi>, sink: &mut Sink<'_>) {
        let Some(spi) = spi else { return };
        if self.initiator_spi.is_some_and(|known| known != spi) {
            self.emit(sink);
        }
        self.initiator_spi = Some(spi);
    }

    /// The responder's cookie.
    pub(crate) fn responder(&mut self, spi: Option<IkeSpi>) {
        self.responder_spi = spi.or(self.responder_spi);
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

    /// A secret; another one of the same name, or one of the other version of IKE, is of another IKE SA.
    pub(crate) fn secret(&mut self, name: SecretName, line: u64, bytes: &[u8], sink: &mut Sink<'_>) {
        let secret = SecretBytes::from(bytes);
        let known = self.secrets.slot(name).as_ref();
        let is_another = known.is_some_and(|known| *known != secret);
        let versions = self.secrets.version().zip(name.version());
        if is_another || versions.is_some_and(|(known, other)| known != other) {
            self.emit(sink);
        }
        if self.line == 0 {
            self.line = line;
        }
        *self.secrets.slot(name) = Some(secret);
    }

    /// Hands over what is there.
    pub(crate) fn emit(&mut self, sink: &mut Sink<'_>) {
        let mut record = std::mem::take(self);
        let of_phase_1 = record.line > 0 || record.initiator_spi.is_some();
        if let (None, Some((line, key)), true) = (&record.secrets.ka, record.unnamed, of_phase_1) {
            record.line = if record.line == 0 { line } else { record.line };
            record.secrets.ka = Some(key);
        }
        if record.line > 0 {
            let spis = (record.initiator_spi, record.responder_spi);
            sink.secrets(record.line, spis, record.secrets);
        }
    }
}
