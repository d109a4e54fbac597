//! The keys that opened the messages of an IKE SA, for an export to another program.

use crate::ike::timeline::Timeline;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::IkeSpi;

/// A key that decrypted at least one message, so it is not a claim any more.
#[derive(Debug, Clone)]
pub enum ProvenIkeKey {
    /// IKEv1: the encryption key of the phase-1 SA.
    Ikev1 {
        /// Initiator's cookie.
        initiator_spi: IkeSpi,
        /// Ka, expanded to the length of the cipher's key (RFC 2409 Appendix B).
        ka: SecretBytes,
    },
    /// IKEv2: the four keys that protect messages (RFC 7296 §2.14).
    Ikev2(Box<ProvenIkev2Keys>),
}

/// Keys of an IKEv2 SA.
#[derive(Debug, Clone)]
pub struct ProvenIkev2Keys {
    /// Initiator's SPI.
    pub initiator_spi: IkeSpi,
    /// Responder's SPI.
    pub responder_spi: IkeSpi,
    /// Cipher.
    pub encryption: Encryption,
    /// The keys, with salt where it has one: SK_ei, SK_er.
    pub sk_e: [SecretBytes; 2],
    /// Integrity; [`Integrity::None`] for a combined mode.
    pub integrity: Integrity,
    /// The keys: SK_ai, SK_ar; empty for a combined mode.
    pub sk_a: [SecretBytes; 2],
}

impl Timeline {
    /// The keys that opened messages, in order of the IKE SAs. An IKEv2 SA of which only one direction's keys are known
    /// is left out.
    pub fn proven_keys(&self) -> Vec<ProvenIkeKey> {
        (0..self.ike_sas.len())
            .filter_map(|sa| self.proven_key(sa))
            .collect()
    }

    fn proven_key(&self, index: usize) -> Option<ProvenIkeKey> {
        let (sa, state) = (self.ike_sas.get(index)?, self.sa_states.get(index)?);
        let initiator_spi = sa.initiator_spi;
        if sa.version == 1 {
            let ka = state.phase1.session.as_ref()?.key.clone();
            return Some(ProvenIkeKey::Ikev1 { initiator_spi, ka });
        }
        let session = state.ikev2.session.as_ref()?;
        let secrets = &session.secrets;
        Some(ProvenIkeKey::Ikev2(Box::new(ProvenIkev2Keys {
            initiator_spi,
            responder_spi: sa.responder_spi?,
            encryption: session.suite.encryption,
            sk_e: [secrets.sk_ei.clone()?, secrets.sk_er.clone()?],
            integrity: session.suite.integrity,
            sk_a: [&secrets.sk_ai, &secrets.sk_ar].map(|key| key.clone().unwrap_or_default()),
        })))
    }
}
