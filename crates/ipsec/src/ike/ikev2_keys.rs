//! Keys of an IKEv2 IKE SA: which of the claimed ones open its messages, and those that follow from SKEYSEED
//! (RFC 7296 §2.14).

use crate::ike::phase1::MAX_TRIALS;
use crate::ike::prf::Prf;
use crate::ike::sealed::IkeSuite;
use rekeyscope_keylog::{IkeKey, IkeSecrets};
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::IkeSpi;
use zeroize::Zeroizing;

/// The proposal that the responder chose for the IKE SA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IkeProposal {
    pub(super) encryption: Encryption,
    /// Bytes without salt.
    pub(super) key_len: usize,
    pub(super) integrity: Integrity,
    pub(super) prf: Option<Prf>,
}

/// A message's encrypted payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct SealedMessage<'a> {
    /// From the IKE header to the IV.
    pub(super) outside: &'a [u8],
    /// IV, ciphertext, ICV.
    pub(super) sealed: &'a [u8],
    /// Sent by the initiator of the IKE SA: SK_ei and SK_ai apply.
    pub(super) from_initiator: bool,
}

/// Keys that opened a message.
#[derive(Debug)]
pub(super) struct Ikev2Session {
    pub(super) suite: IkeSuite,
    pub(super) secrets: IkeSecrets,
    /// Index among the given keys.
    pub(super) key_index: usize,
}

/// State of one IKEv2 IKE SA.
#[derive(Debug, Default)]
pub(super) struct Ikev2Keys {
    /// Ni and Nr of IKE_SA_INIT.
    pub(super) nonces: [Vec<u8>; 2],
    pub(super) proposal: Option<IkeProposal>,
    /// The prf and the SK_d of the IKE SA that this one replaces (RFC 7296 §2.18).
    pub(super) parent: Option<(Prf, SecretBytes)>,
    pub(super) session: Option<Ikev2Session>,
    trials: u32,
}

impl Ikev2Keys {
    /// Opens a payload: with the proven keys, else with the first of `keys` (indices `candidates`) whose ICV fits.
    pub(super) fn open(
        &mut self,
        message: &SealedMessage<'_>,
        spis: (IkeSpi, IkeSpi),
        keys: &[IkeKey],
        candidates: impl Iterator<Item = usize>,
        budget: &mut u64,
    ) -> Option<Zeroizing<Vec<u8>>> {
        if let Some(session) = &self.session {
            return open_with(session.suite, &session.secrets, message);
        }
        for index in candidates {
            let Some(key) = keys.get(index).filter(|k| k.version == 2) else {
                continue;
            };
            for secrets in self.secret_sets(&key.secrets, spis) {
                let (sk_e, sk_a) = directed(&secrets, message.from_initiator);
                let Some(sk_e) = sk_e else { continue };
                for suite in IkeSuite::of_lens(sk_e.len(), sk_a.map_or(0, SecretBytes::len)) {
                    if self.trials >= MAX_TRIALS || *budget == 0 {
                        return None;
                    }
                    self.trials += 1;
                    *budget -= 1;
                    if let Some(plaintext) = open_with(suite, &secrets, message) {
                        self.session = Some(Ikev2Session {
                            suite,
                            secrets,
                            key_index: index,
                        });
                        return Some(plaintext);
                    }
                }
            }
        }
        None
    }

    /// The secrets as claimed, and those that SKEYSEED or the Diffie–Hellman secret give.
    fn secret_sets(&self, claimed: &IkeSecrets, spis: (IkeSpi, IkeSpi)) -> Vec<IkeSecrets> {
        if claimed.sk_ei.is_some() || claimed.sk_er.is_some() {
            return vec![claimed.clone()];
        }
        let Some((proposal, prf)) = self.proposal.and_then(|p| p.prf.map(|prf| (p, prf))) else {
            return Vec::new();
        };
        let given = claimed.skeyseed.as_ref().map(|s| s.expose().to_vec().into());
        let [initiator, responder] = &self.nonces;
        let computed = claimed.dh_secret.as_ref().map(|dh| match &self.parent {
            None => prf.skeyseed(&self.nonces, dh.expose()),
            Some((prf, sk_d)) => prf.compute(sk_d.expose(), &[dh.expose(), initiator, responder]),
        });
        given
            .into_iter()
            .chain(computed)
            .map(|skeyseed: Zeroizing<Vec<u8>>| self.expand(&skeyseed, proposal, prf, spis))
            .collect()
    }

    /// The state of the IKE SA that a CREATE_CHILD_SA under this one makes.
    pub(super) fn successor(&self, nonces: [Vec<u8>; 2], proposal: Option<IkeProposal>) -> Ikev2Keys {
        let sk_d = self.session.as_ref().and_then(|s| s.secrets.sk_d.clone());
        let parent = sk_d.and_then(|sk_d| {
            let negotiated = self.proposal.and_then(|p| p.prf);
            let prf = negotiated.or_else(|| Prf::of_len(sk_d.len()).first().copied())?;
            Some((prf, sk_d))
        });
        Ikev2Keys {
            nonces,
            proposal,
            parent,
            ..Ikev2Keys::default()
        }
    }

    /// SK_d | SK_ai | SK_ar | SK_ei | SK_er (| SK_pi | SK_pr) = prf+(SKEYSEED, Ni | Nr | SPIi | SPIr).
    fn expand(&self, skeyseed: &[u8], proposal: IkeProposal, prf: Prf, spis: (IkeSpi, IkeSpi)) -> IkeSecrets {
        let sk_a = proposal.integrity.key_len();
        let sk_e = proposal.key_len + proposal.encryption.salt_len();
        let seed: [&[u8]; 4] = [&self.nonces[0], &self.nonces[1], &spis.0.0, &spis.1.0];
        let material = prf.plus(skeyseed, &seed, prf.len() + 2 * (sk_a + sk_e));
        let mut rest = &material[..];
        let mut take = |len: usize| {
            let (head, tail) = rest.split_at(len.min(rest.len()));
            rest = tail;
            Some(SecretBytes::from(head))
        };
        IkeSecrets {
            sk_d: take(prf.len()),
            sk_ai: take(sk_a),
            sk_ar: take(sk_a),
            sk_ei: take(sk_e),
            sk_er: take(sk_e),
            ..IkeSecrets::default()
        }
    }
}

fn directed(secrets: &IkeSecrets, from_initiator: bool) -> (Option<&SecretBytes>, Option<&SecretBytes>) {
    if from_initiator {
        (secrets.sk_ei.as_ref(), secrets.sk_ai.as_ref())
    } else {
        (secrets.sk_er.as_ref(), secrets.sk_ar.as_ref())
    }
}

fn open_with(
    suite: IkeSuite,
    secrets: &IkeSecrets,
    message: &SealedMessage<'_>,
) -> Option<Zeroizing<Vec<u8>>> {
    let (sk_e, sk_a) = directed(secrets, message.from_initiator);
    let sk_a = sk_a.map_or(&[][..], SecretBytes::expose);
    suite.open(sk_e?.expose(), sk_a, message.outside, message.sealed)
}
