//! The keys that a capture was decrypted with, for an export that the user asks for. Never part of the document: it cannot
//! be serialized, and its `Debug` shows no byte.

use crate::pipeline::record::Record;
use rekeyscope_ipsec::esp::cipher::EspCipher;
use rekeyscope_ipsec::ike::proven::ProvenIkeKey;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::mine::MOST_TRIALS;
use rekeyscope_keylog::reading::mine::MOST_TRIALS_PER_SPI;
use rekeyscope_model::algorithm::Transform;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::mining::MiningEffort;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

/// Proof of an SA's key by its packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyProof {
    /// The ICV of at least one packet fits.
    Proven,
    /// Too little could be checked: no integrity key, only cut packets, or too few that decrypt to something.
    Unchecked,
    /// ICVs fit, and no packet decrypts to anything: half of the key is wrong.
    NothingOpens,
    /// ICVs were checked and none fits.
    Contradicted,
}

/// The key of one SA, with the addresses of the capture (behind NAT a log knows others).
#[derive(Debug, Clone)]
pub struct SaKey {
    /// Outer source.
    pub src: IpAddr,
    /// Outer destination.
    pub dst: IpAddr,
    /// SPI.
    pub spi: Spi,
    /// Packets of the SA in the capture.
    pub packets: u64,
    /// The packets' verdict on the key.
    pub proof: KeyProof,
    /// The transform that the keys are for.
    pub transform: Transform,
    /// The transform that IKE negotiated, where it could be read.
    pub negotiated: Option<Transform>,
    /// The upper half of its last sequence number, where they have 64 bits.
    pub esn_high: Option<u32>,
    /// Encryption key, with salt where the transform has one.
    pub encryption_key: SecretBytes,
    /// Integrity key; empty for an AEAD.
    pub integrity_key: SecretBytes,
}

/// The opener of the packets of one SA, and when it was in use: an SPI may be used again under another key.
#[derive(Debug, Clone)]
pub struct SaOpener {
    /// Outer destination.
    pub dst: IpAddr,
    /// SPI.
    pub spi: Spi,
    /// Number in the document: 0 for the first SA of its tunnel and direction.
    pub generation: u32,
    /// First and last frame.
    pub frames: (u64, u64),
    /// The highest sequence number, where they have 64 bits.
    pub extended: Option<u64>,
    /// The keyed transform.
    pub cipher: Arc<EspCipher>,
}

/// All keys of a capture.
#[derive(Debug, Clone, Default)]
pub struct KeyRing {
    /// ESP keys of SAs with packets, busiest SA first; of an SA whose ends moved, one for each pair of addresses.
    pub esp: Vec<SaKey>,
    /// Ciphers that open their packets, in order of appearance, for each address that they went to; none that the packets contradict. NULL encryption that was
    /// recognised without a key is among them.
    pub openers: Vec<SaOpener>,
    /// Destination and SPI of all SAs with packets in the tunnels that were chosen, with a key or without.
    pub seen: Vec<(IpAddr, Spi)>,
    /// IKE keys that opened messages.
    pub ike: Vec<ProvenIkeKey>,
    /// The effort of mining.
    pub mining: MiningEffort,
}

impl SaKey {
    /// Bytes of the ICV by the key's own transform, else by the negotiated one; 0 where neither says it.
    pub(crate) fn icv_len(&self) -> usize {
        let negotiated = self.negotiated.map_or(0, |t| t.integrity.icv_len());
        match self.transform.integrity.icv_len() {
            0 => negotiated,
            own => own,
        }
    }
}

impl KeyRing {
    /// The keys that fit the capture.
    pub fn new(record: &Record) -> Self {
        let sas = &record.sas;
        let mut esp: Vec<SaKey> = sas.associations().iter().flat_map(sa_keys).collect();
        esp.sort_by_key(|key| std::cmp::Reverse(key.packets));
        let (trials, gave_up) = sas.mining_effort();
        KeyRing {
            esp,
            openers: openers(sas.associations()),
            seen: record
                .wanted_sas()
                .filter(|a| a.first.is_some())
                .flat_map(|a| a.places().map(|(_, dst)| (dst, a.spi)))
                .collect(),
            ike: record.timeline.proven_keys(),
            mining: MiningEffort {
                trials,
                gave_up,
                most_per_packet: MOST_TRIALS_PER_SPI,
                most: MOST_TRIALS,
            },
        }
    }
}

fn openers(associations: &[Association]) -> Vec<SaOpener> {
    let mut generations: BTreeMap<(usize, Direction), u32> = BTreeMap::new();
    let openers = |a: &Association| {
        let next = generations.entry((a.tunnel, a.direction)).or_default();
        let generation = *next;
        *next += 1;
        let (cipher, first, last) = (a.cipher()?, a.first?.1, a.last?.1);
        let opener = |dst| SaOpener {
            dst,
            spi: a.spi,
            generation,
            frames: (first, last),
            extended: a.extended,
            cipher: cipher.clone(),
        };
        let opens = a.proven || a.icv.failed == 0;
        let destinations: BTreeSet<IpAddr> = a.places().map(|(_, dst)| dst).collect();
        opens.then(|| destinations.into_iter().map(opener).collect::<Vec<_>>())
    };
    associations.iter().filter_map(openers).flatten().collect()
}

fn sa_keys(a: &Association) -> Vec<SaKey> {
    let Some(key) = a.key.as_ref().filter(|_| a.counters.packets > 0) else {
        return Vec::new();
    };
    let proof = match (a.proven, a.icv.failed) {
        (true, _) => KeyProof::Proven,
        (false, 0) if a.icv.verified > 0 && a.lacking.is_none() => KeyProof::NothingOpens,
        (false, 0) => KeyProof::Unchecked,
        (false, _) => KeyProof::Contradicted,
    };
    let sa_key = |(src, dst)| SaKey {
        src,
        dst,
        spi: a.spi,
        packets: a.counters.packets,
        proof,
        transform: key.transform,
        negotiated: a.negotiated,
        esn_high: a.extended.map(|highest| (highest >> 32) as u32),
        encryption_key: key.encryption_key.clone(),
        integrity_key: key.integrity_key.clone(),
    };
    a.places().map(sa_key).collect()
}
