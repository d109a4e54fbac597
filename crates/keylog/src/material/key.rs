//! Claims of a file: a key of an SA, the secrets of an IKE SA, the input of a derivation.

use crate::lines::algorithm_names;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IkeSpi, Spi};
use std::net::IpAddr;

/// Road by which a key came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum KeyRoad {
    /// A row or line names SPI and key.
    #[default]
    Explicit,
    /// Found among unlabelled bytes and proven.
    Mined,
    /// Computed from phase-1 secrets.
    Derived,
}

/// Place of a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct KeyOrigin {
    /// Index in [`KeyMaterial::files`](crate::material::contents::KeyMaterial::files).
    pub file: usize,
    /// 1-based line.
    pub line: u64,
    /// The road it came by.
    pub road: KeyRoad,
}

/// Why an explicit entry holds no usable key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyDefect {
    /// `** ** **` / `(confidential)`.
    Masked,
    /// Only eight bytes are shown.
    Prefix8,
    /// Shorter than the algorithm's key, or cut on its way here.
    Truncated,
}

/// An ESP key that a file claims.
#[derive(Debug, Clone, Default)]
pub struct EspKey {
    /// Outer source as the file knows it; `None` for any. Behind NAT it differs from the capture's.
    pub src: Option<IpAddr>,
    /// Outer destination as the file knows it; `None` for any.
    pub dst: Option<IpAddr>,
    /// SPI; `None` for any (`*`, or a log without SPI on the key lines).
    pub spi: Option<Spi>,
    /// Cipher; `None` where the file does not say.
    pub encryption: Option<Encryption>,
    /// Encryption key, with salt where the transform has one.
    pub encryption_key: SecretBytes,
    /// Integrity; `None` where the file does not say.
    pub integrity: Option<Integrity>,
    /// Integrity key.
    pub integrity_key: SecretBytes,
    /// Set when the entry only shows that there is a key.
    pub defect: Option<KeyDefect>,
    /// Place in the files.
    pub origin: KeyOrigin,
}

impl EspKey {
    /// The transforms that the key can be meant for: what the file says, and where it does not say, what fits the
    /// lengths of the keys, the most usual first. Empty when there is a defect.
    pub fn transforms(&self) -> Vec<(Encryption, Integrity)> {
        if self.defect.is_some() {
            return Vec::new();
        }
        algorithm_names::plausible(
            self.encryption,
            self.encryption_key.len(),
            self.integrity,
            self.integrity_key.len(),
        )
    }
}

/// Secrets of an IKE SA that a file claims. Absent ones are `None`.
#[derive(Debug, Clone, Default, Hash)]
pub struct IkeSecrets {
    /// IKEv1: the expanded encryption key Ka (RFC 2409 Appendix B).
    pub ka: Option<SecretBytes>,
    /// IKEv1 SKEYID_e.
    pub skeyid_e: Option<SecretBytes>,
    /// IKEv1 SKEYID_d.
    pub skeyid_d: Option<SecretBytes>,
    /// IKEv1 SKEYID_a.
    pub skeyid_a: Option<SecretBytes>,
    /// IKEv2 SK_ei (with salt for an AEAD).
    pub sk_ei: Option<SecretBytes>,
    /// IKEv2 SK_er.
    pub sk_er: Option<SecretBytes>,
    /// IKEv2 SK_ai.
    pub sk_ai: Option<SecretBytes>,
    /// IKEv2 SK_ar.
    pub sk_ar: Option<SecretBytes>,
    /// IKEv2 SK_d.
    pub sk_d: Option<SecretBytes>,
    /// IKEv1 SKEYID, from which the other three follow (RFC 2409 §5).
    pub skeyid: Option<SecretBytes>,
    /// IKEv2 SKEYSEED, from which the other five follow (RFC 7296 §2.14).
    pub skeyseed: Option<SecretBytes>,
    /// The shared Diffie–Hellman secret of the key exchange that made this IKE SA.
    pub dh_secret: Option<SecretBytes>,
    /// First bytes of Ka (a Yamaha console shows eight): only a check value.
    pub ka_prefix: Option<SecretBytes>,
}

/// A secret of an IKE SA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretName {
    Skeyid,
    SkeyidD,
    SkeyidA,
    SkeyidE,
    Ka,
    Skeyseed,
    SkD,
    SkEi,
    SkEr,
    SkAi,
    SkAr,
    /// The shared Diffie–Hellman secret, which both versions of IKE have.
    Dh,
}

impl SecretName {
    /// The secret that logs call so, in either case.
    pub(crate) fn named(name: &[u8]) -> Option<SecretName> {
        Some(match name.to_ascii_lowercase().as_slice() {
            b"skeyid" => SecretName::Skeyid,
            b"skeyid_d" | b"skeyidd" => SecretName::SkeyidD,
            b"skeyid_a" | b"skeyida" => SecretName::SkeyidA,
            b"skeyid_e" | b"skeyide" => SecretName::SkeyidE,
            b"ka" => SecretName::Ka,
            b"skeyseed" => SecretName::Skeyseed,
            b"sk_d" => SecretName::SkD,
            b"sk_ei" => SecretName::SkEi,
            b"sk_er" => SecretName::SkEr,
            b"sk_ai" => SecretName::SkAi,
            b"sk_ar" => SecretName::SkAr,
            _ => return None,
        })
    }

    /// The version of IKE that has such a secret; `None` for both.
    pub(crate) fn version(self) -> Option<u8> {
        match self {
            SecretName::Dh => None,
            SecretName::Skeyid
            | SecretName::SkeyidD
            | SecretName::SkeyidA
            | SecretName::SkeyidE
            | SecretName::Ka => Some(1),
            _ => Some(2),
        }
    }
}

impl IkeSecrets {
    /// The place of a secret.
    pub(crate) fn slot(&mut self, name: SecretName) -> &mut Option<SecretBytes> {
        match name {
            SecretName::Skeyid => &mut self.skeyid,
            SecretName::SkeyidD => &mut self.skeyid_d,
            SecretName::SkeyidA => &mut self.skeyid_a,
            SecretName::SkeyidE => &mut self.skeyid_e,
            SecretName::Ka => &mut self.ka,
            SecretName::Skeyseed => &mut self.skeyseed,
            SecretName::SkD => &mut self.sk_d,
            SecretName::SkEi => &mut self.sk_ei,
            SecretName::SkEr => &mut self.sk_er,
            SecretName::SkAi => &mut self.sk_ai,
            SecretName::SkAr => &mut self.sk_ar,
            SecretName::Dh => &mut self.dh_secret,
        }
    }

    /// The version of IKE that has such secrets; `None` for a Diffie–Hellman secret alone.
    pub(crate) fn version(&self) -> Option<u8> {
        let s = self;
        let of_ikev2 = [&s.sk_d, &s.sk_ei, &s.sk_er, &s.sk_ai, &s.sk_ar, &s.skeyseed];
        let of_ikev1 = [
            &s.ka,
            &s.ka_prefix,
            &s.skeyid,
            &s.skeyid_d,
            &s.skeyid_a,
            &s.skeyid_e,
        ];
        let any = |secrets: [&Option<SecretBytes>; 6]| secrets.iter().any(|secret| secret.is_some());
        any(of_ikev2).then_some(2).or(any(of_ikev1).then_some(1))
    }
}

/// An IKE key that a file claims.
#[derive(Debug, Clone)]
pub struct IkeKey {
    /// 1 or 2.
    pub version: u8,
    /// Initiator's SPI; `None` when the file does not say (then every IKE SA is tried).
    pub initiator_spi: Option<IkeSpi>,
    /// Responder's SPI.
    pub responder_spi: Option<IkeSpi>,
    /// The secrets.
    pub secrets: IkeSecrets,
    /// Place in the files.
    pub origin: KeyOrigin,
}

/// SAs that a seed yields keys for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SeedOf {
    /// IKEv1: the SA on which the Quick Mode's initiator sends. Its KEYMAT is `prf(SKEYID_d, seed)`, iterated; the seed
    /// is `[g(qm)^xy |] protocol | SPI | Ni_b | Nr_b` (RFC 2409 §5.5).
    InitiatorSa,
    /// IKEv1: the same for the SA on which the Quick Mode's responder sends.
    ResponderSa,
    /// IKEv2: both SAs, `prf+(SK_d, seed)`, seed = `[g^ir |] Ni | Nr` (RFC 7296 §2.17).
    ChildSa,
    /// Not yet told: only the start of a seed, the shared Diffie–Hellman secret of some exchange. What follows it there (protocol,
    /// SPI, nonces) is in the capture.
    SharedSecret,
}

/// The input of a key derivation, as a log prints it (strongSwan, level 4), or the Diffie–Hellman secret at its start. With the whole of it not even the capture's Quick Mode
/// is needed, and PFS is no obstacle.
#[derive(Debug, Clone)]
pub struct Seed {
    /// SAs that it yields keys for.
    pub of: SeedOf,
    /// The whole seed, the Diffie–Hellman secret at its start included.
    pub bytes: SecretBytes,
    /// The new Diffie–Hellman secret by itself, where the log prints it.
    pub dh_secret: Option<SecretBytes>,
    /// SPIs that the log names for this CHILD_SA: the logging side's inbound one, then its outbound one.
    pub spis: Option<(Spi, Spi)>,
    /// Place in the files.
    pub origin: KeyOrigin,
}
