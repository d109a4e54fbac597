//! Keys of IPsec SAs from the secrets of their IKE SA: RFC 2409 §5.5 (KEYMAT), RFC 7296 §2.17 (prf+). With perfect forward
//! secrecy the exchange's own Diffie–Hellman secret is needed too: a log's derivation seed begins with it.

use crate::ike::crypto::{Hash, keymat};
use crate::ike::exchange::{ChildKeys, Exchange, NegotiatedSa, Nonces};
use crate::ike::prf::Prf;
use crate::ike::timeline::Timeline;
use rekeyscope_keylog::{KeyOrigin, KeyRoad, Seed};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::IpsecProtocol;
use zeroize::Zeroizing;

/// Most secrets that are tried for one exchange: files with more of them without an IKE SPI are not read further.
const MAX_SECRETS: usize = 16;

/// SKEYID_d or SK_d, with where it stands.
type DerivationSecret = (SecretBytes, KeyOrigin);

impl Timeline {
    /// Adds derivation seeds from a log: they hold the Diffie–Hellman secrets that perfect forward secrecy asks for.
    #[must_use]
    pub fn with_seeds(mut self, seeds: Vec<Seed>) -> Self {
        self.seeds = seeds;
        self
    }

    /// Adds pre-shared keys: where a key file has the Diffie–Hellman secret of an IKEv1 SA, they give SKEYID and all that
    /// follows (RFC 2409 §5).
    #[must_use]
    pub fn with_pre_shared_keys(mut self, keys: Vec<SecretBytes>) -> Self {
        self.psks = keys;
        self
    }

    /// All keys that the children of an exchange may have (RFC 2409 §5.5, RFC 7296 §2.17), in the order of
    /// [`Exchange::children`], likeliest first: several where the files hold several
    /// derivation secrets without saying which IKE SA they belong to. Only the ICV of a packet decides.
    pub fn child_key_candidates(&self, exchange: usize) -> Vec<Vec<ChildKeys>> {
        let Some(exchange) = self.exchanges.get(exchange) else {
            return Vec::new();
        };
        let children = &exchange.children;
        let known = exchange
            .ike_sa
            .zip(exchange.nonces.as_ref())
            .filter(|(_, n)| !n.initiator.is_empty() && !n.responder.is_empty());
        let Some((ike_sa, nonces)) = known else {
            return vec![Vec::new(); children.len()];
        };
        let secrets = self.derivation_secrets(ike_sa);
        children
            .iter()
            .map(|child| {
                let derive = |(secret, origin): &DerivationSecret| {
                    self.derive_one(ike_sa, exchange, child, nonces, secret, origin)
                };
                secrets.iter().filter_map(derive).collect()
            })
            .collect()
    }

    fn derive_one(
        &self,
        ike_sa: usize,
        exchange: &Exchange,
        child: &NegotiatedSa,
        nonces: &Nonces,
        secret: &SecretBytes,
        origin: &KeyOrigin,
    ) -> Option<ChildKeys> {
        let transform = child.transform?;
        let encryption_len = transform.key_len? + transform.encryption.salt_len();
        let (encryption_len, integrity_len) = match child.protocol {
            IpsecProtocol::Esp => (encryption_len, transform.integrity.key_len()),
            IpsecProtocol::Ah => (0, transform.integrity.key_len()),
        };
        let len = encryption_len + integrity_len;
        let key = if self.ike_sas.get(ike_sa)?.version == 1 {
            self.ikev1_keymat(ike_sa, exchange, child, nonces, secret, len)?
        } else {
            self.ikev2_keymat(ike_sa, exchange, child, nonces, secret, len)?
        };
        let (encryption, integrity) = key.split_at_checked(encryption_len)?;
        Some(ChildKeys {
            encryption: encryption.into(),
            integrity: integrity.into(),
            origin: KeyOrigin {
                road: KeyRoad::Derived,
                ..origin.clone()
            },
        })
    }

    /// KEYMAT = prf(SKEYID_d, [g(qm)^xy |] protocol | SPI | Ni_b | Nr_b), iterated.
    fn ikev1_keymat(
        &self,
        ike_sa: usize,
        exchange: &Exchange,
        child: &NegotiatedSa,
        nonces: &Nonces,
        skeyid_d: &SecretBytes,
        len: usize,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let phase1 = &self.sa_states.get(ike_sa)?.phase1;
        let hash = phase1
            .hash()
            .or_else(|| Hash::from_len(skeyid_d.len()))
            .filter(|h| h.len() == skeyid_d.len())?;
        let protocol = match child.protocol {
            IpsecProtocol::Ah => 2,
            IpsecProtocol::Esp => 3,
        };
        let spi = child.spi.0.to_be_bytes();
        let tail = [&[protocol], &spi[..], &nonces.initiator, &nonces.responder].concat();
        let dh = self.fresh_secret(exchange, &tail)?;
        Some(keymat(hash, skeyid_d.expose(), &[&dh, &tail], len))
    }

    /// KEYMAT = prf+(SK_d, [g^ir |] Ni | Nr): first the SA from the exchange's initiator to its responder, then the other;
    /// of each, the encryption key, then the integrity key.
    fn ikev2_keymat(
        &self,
        ike_sa: usize,
        exchange: &Exchange,
        child: &NegotiatedSa,
        nonces: &Nonces,
        sk_d: &SecretBytes,
        len: usize,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let proposal = self.sa_states.get(ike_sa)?.ikev2.proposal;
        let negotiated = proposal.and_then(|p| p.prf);
        let prf = negotiated
            .filter(|prf| prf.len() == sk_d.len())
            .or_else(|| Prf::of_len(sk_d.len()).first().copied())?;
        let tail = [&nonces.initiator[..], &nonces.responder].concat();
        let dh = self.fresh_secret(exchange, &tail)?;
        let both = prf.plus(sk_d.expose(), &[&dh, &tail], 2 * len);
        let from = if child.dst == exchange.responder { 0 } else { len };
        both.get(from..from + len).map(|key| Zeroizing::new(key.to_vec()))
    }

    /// The Diffie–Hellman secret of an exchange: nothing without a key exchange payload, else what stands before `tail`
    /// in one of the seeds; `None` when none of them has it.
    fn fresh_secret(&self, exchange: &Exchange, tail: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        if !exchange.key_exchange {
            return Some(Zeroizing::new(Vec::new()));
        }
        let secret = |seed: &Seed| {
            let secret = seed.bytes.expose().strip_suffix(tail)?;
            (!secret.is_empty()).then(|| Zeroizing::new(secret.to_vec()))
        };
        self.seeds.iter().find_map(secret)
    }

    /// SKEYID_d or SK_d: of the key that opened the IKE SA's messages, then of others that name it, then of those that
    /// name none.
    fn derivation_secrets(&self, ike_sa: usize) -> Vec<DerivationSecret> {
        let (Some(sa), Some(state)) = (self.ike_sas.get(ike_sa), self.sa_states.get(ike_sa)) else {
            return Vec::new();
        };
        let proven = if sa.version == 1 {
            let session = state.phase1.session.as_ref();
            session.map(|s| (s.secrets.skeyid_d.clone(), s.key_index))
        } else {
            let session = state.ikev2.session.as_ref();
            session.map(|s| (s.secrets.sk_d.clone(), s.key_index))
        };
        let proven = proven.and_then(|(secret, index)| secret.zip(self.keys.get(index)));
        let proven = proven.map(|(secret, key)| (secret, key.origin.clone()));
        if let Some(proven) = proven {
            return vec![proven];
        }
        let named = self.keys_by_spi.get(&Some(sa.initiator_spi));
        let nameless = self.keys_by_spi.get(&None);
        let keys = named.into_iter().chain(nameless).flatten();
        keys.filter_map(|&index| self.keys.get(index))
            .filter(|key| key.version == sa.version)
            .filter(|key| key.responder_spi.is_none() || key.responder_spi == sa.responder_spi)
            .filter_map(|key| {
                let secrets = &key.secrets;
                let secret = if sa.version == 1 {
                    &secrets.skeyid_d
                } else {
                    &secrets.sk_d
                };
                Some((secret.clone()?, key.origin.clone()))
            })
            .take(MAX_SECRETS)
            .collect()
    }
}
