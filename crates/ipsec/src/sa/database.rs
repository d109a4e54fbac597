//! All SAs of a capture. Bounded: [`SaDatabase::MAX_SAS`].

use crate::esp::null::NullVerdict;
use crate::esp::sequence;
use crate::ike::timeline::{ChildKeys, NegotiatedSa};
use crate::sa::association::{AssignedKey, Association, Clear};
use crate::sa::mine::Mining;
use crate::sa::prove::{self, MOST_CHANCES, Specimen};
use crate::sa::tunnel::TunnelIndex;
use rekeyscope_keylog::{EspKeyIndex, KeyMaterial};
use rekeyscope_model::analysis::{Direction, Encapsulation};
use rekeyscope_model::spi::{IpsecProtocol, SaId, Spi};
use std::collections::HashMap;
use std::net::IpAddr;

/// Index in [`SaDatabase::associations`].
pub type SaIndex = usize;

/// Where a packet of an SA was seen.
#[derive(Debug, Clone, Copy)]
pub struct SaContext {
    /// Tunnel.
    pub tunnel: TunnelIndex,
    /// Internal direction.
    pub direction: Direction,
    /// Outer source.
    pub src: IpAddr,
    /// Outer destination.
    pub dst: IpAddr,
    /// How it is carried.
    pub encapsulation: Encapsulation,
    /// ESP or AH.
    pub protocol: IpsecProtocol,
}

/// All SAs, and the keys that may fit them.
#[derive(Debug)]
pub struct SaDatabase {
    associations: Vec<Association>,
    newest: HashMap<SaId, SaIndex>,
    derived: HashMap<SaIndex, Vec<AssignedKey>>,
    mining: Mining,
    by_tunnel: HashMap<TunnelIndex, Vec<SaIndex>>,
    keys: KeyMaterial,
    index: EspKeyIndex,
}

impl SaDatabase {
    /// Most SAs that are kept; packets of a further one are counted and not analysed.
    pub const MAX_SAS: usize = 65_536;

    /// An empty database that will try `keys`.
    pub fn new(keys: KeyMaterial) -> Self {
        SaDatabase {
            associations: Vec::new(),
            newest: HashMap::new(),
            derived: HashMap::new(),
            mining: Mining::default(),
            by_tunnel: HashMap::new(),
            index: EspKeyIndex::new(&keys),
            keys,
        }
    }

    /// The SAs in order of appearance (first packet or first exchange that names them).
    pub fn associations(&self) -> &[Association] {
        &self.associations
    }

    /// One SA.
    pub fn get_mut(&mut self, sa: SaIndex) -> &mut Association {
        &mut self.associations[sa]
    }

    /// SAs of a tunnel in order of appearance.
    pub fn of_tunnel(&self, tunnel: TunnelIndex) -> &[SaIndex] {
        self.by_tunnel.get(&tunnel).map_or(&[], Vec::as_slice)
    }

    /// The newest generation of the SA that a packet names, made on first sight; `None` at the bound.
    pub fn of_packet(&mut self, context: SaContext, spi: Spi) -> Option<SaIndex> {
        let id = SaId {
            dst: context.dst,
            protocol: context.protocol,
            spi,
        };
        match self.newest.get(&id) {
            Some(&sa) => Some(sa),
            None => self.insert(context, spi),
        }
    }

    /// The newest generation of an SA, where there is one.
    pub fn newest(&self, dst: IpAddr, protocol: IpsecProtocol, spi: Spi) -> Option<SaIndex> {
        self.newest.get(&SaId { dst, protocol, spi }).copied()
    }

    /// Starts a new generation under the same (destination, SPI).
    pub fn renew(&mut self, sa: SaIndex) -> Option<SaIndex> {
        let old = &self.associations[sa];
        let context = SaContext {
            tunnel: old.tunnel,
            direction: old.direction,
            src: old.src,
            dst: old.dst,
            encapsulation: old.encapsulation,
            protocol: old.protocol,
        };
        self.insert(context, old.spi)
    }

    fn insert(&mut self, context: SaContext, spi: Spi) -> Option<SaIndex> {
        if self.associations.len() >= Self::MAX_SAS {
            return None;
        }
        let sa = self.associations.len();
        let SaContext {
            tunnel,
            direction,
            src,
            dst,
            encapsulation,
            protocol,
        } = context;
        self.associations.push(Association::new(
            tunnel,
            direction,
            src,
            dst,
            (protocol, spi),
            encapsulation,
        ));
        self.newest.insert(SaId { dst, protocol, spi }, sa);
        self.by_tunnel.entry(tunnel).or_default().push(sa);
        Some(sa)
    }

    /// An exchange names an SA. `keys`: derived ones, where phase-1 secrets allow, likeliest first.
    pub fn announce(
        &mut self,
        context: SaContext,
        child: &NegotiatedSa,
        exchange: usize,
        keys: &[ChildKeys],
    ) -> Option<SaIndex> {
        let known = self.newest(child.dst, child.protocol, child.spi);
        // The same SPI in a later exchange is a new SA, unless its first packets overtook the message.
        let reused = known.is_some_and(|sa| self.associations[sa].exchange.is_some_and(|e| e != exchange));
        let sa = match known {
            Some(sa) if !reused => sa,
            _ => self.insert(context, child.spi)?,
        };
        let association = &mut self.associations[sa];
        association.exchange = Some(exchange);
        association.negotiated = child.transform.or(association.negotiated);
        association.mode = child.mode.or(association.mode);
        if let (Some(t), IpsecProtocol::Esp) = (child.transform, child.protocol) {
            let keyed = |k: &ChildKeys| {
                AssignedKey::new(t.encryption, &k.encryption, t.integrity, &k.integrity, &k.origin)
            };
            let derived: Vec<AssignedKey> = keys.iter().filter_map(keyed).collect();
            if !derived.is_empty() {
                self.derived.insert(sa, derived);
                // What was tried before may fit now.
                association.trials = 0;
            }
        }
        Some(sa)
    }

    /// Tries the keys on a packet of an SA whose key is not proven yet: on its 1st, 2nd, 4th, 8th, … packet, so that the
    /// effort stays bounded on an SA without a key.
    pub fn prove(&mut self, sa: SaIndex, specimen: Specimen<'_>) {
        let association = &mut self.associations[sa];
        if association.proven || association.icv.verified >= MOST_CHANCES {
            return;
        }
        if let (Some(_), Some(key)) = (association.witness, &association.key) {
            if prove::fits(key, specimen, true, &mut 0).is_some()
                && let Some(&[_, _, _, _, n0, n1, n2, n3]) = specimen.packet.first_chunk::<8>()
            {
                association.testify(u32::from_be_bytes([n0, n1, n2, n3]));
            }
            return;
        }
        association.trials += 1;
        if !association.trials.is_power_of_two() {
            return;
        }
        let claims = self
            .index
            .candidates(&self.keys, association.src, association.dst, association.spi);
        let derived = self.derived.get(&sa).map_or(&[][..], Vec::as_slice);
        let mut found = prove::search(claims, derived, association.negotiated, specimen);
        let mut mined = false;
        if !found.proven
            && let Some(key) = self.mining.seek(&self.keys, association, specimen)
        {
            // Its oracle asks for headers down to a transport: one packet is enough.
            (found.key, mined) = (Some(key), true);
        }
        association.proven = mined;
        if found.proven {
            association.extended = found.esn_high.map(|high| sequence::number(high, specimen.packet));
        }
        association.key_hint = found.hint;
        association.hint_origin = found.hint_origin;
        if found.key.is_some() {
            association.key = found.key;
        }
        if found.proven
            && let Some(&[_, _, _, _, n0, n1, n2, n3]) = specimen.packet.first_chunk::<8>()
        {
            association.testify(u32::from_be_bytes([n0, n1, n2, n3]));
        }
    }

    /// Looks whether an SA without a proven key is encrypted at all. True at the packet that decides that it is not.
    pub fn recognise_null(&mut self, sa: SaIndex, specimen: Specimen<'_>) -> bool {
        let association = &mut self.associations[sa];
        if association.proven || association.clear.is_some() || !specimen.whole {
            return false;
        }
        let ends = (association.src, association.dst);
        let NullVerdict::Null(format) = association.null.observe(specimen.packet, ends) else {
            return false;
        };
        association.clear = Some(Clear::new(format));
        true
    }

    /// A packet does not fit the proven key of its SA: is there another claim that fits? Then the SPI was used again.
    pub fn prove_successor(&mut self, sa: SaIndex, specimen: Specimen<'_>) -> Option<SaIndex> {
        let old = &self.associations[sa];
        // At the 1st, 2nd, 4th, … such packet.
        if !(old.icv.failed + 1).is_power_of_two() {
            return None;
        }
        let claims = self.index.candidates(&self.keys, old.src, old.dst, old.spi);
        let found = prove::search(claims, &[], None, specimen);
        if !found.proven {
            return None;
        }
        let new = self.renew(sa)?;
        self.associations[new].key = found.key;
        self.associations[new].proven = true;
        self.associations[new].extended = found.esn_high.map(|high| sequence::number(high, specimen.packet));
        Some(new)
    }

    /// Gives SAs that no packet used the key that is claimed or derived for them.
    pub fn settle_unused(&mut self) {
        for sa in 0..self.associations.len() {
            let association = &self.associations[sa];
            let of_ah = association.protocol == IpsecProtocol::Ah;
            if of_ah || association.counters.packets > 0 || association.key.is_some() {
                continue;
            }
            let nothing = Specimen {
                packet: &[],
                whole: false,
            };
            let claims = self
                .index
                .candidates(&self.keys, association.src, association.dst, association.spi)
                .filter(|claim| claim.spi.is_some());
            let derived = self.derived.get(&sa).map_or(&[][..], Vec::as_slice);
            let found = prove::search(claims, derived, association.negotiated, nothing);
            let association = &mut self.associations[sa];
            association.key = found.key;
            association.key_hint = found.hint;
            association.hint_origin = found.hint_origin;
        }
    }

    /// Trials that mining made, and whether its bound ended a search.
    pub fn mining_effort(&self) -> (u64, bool) {
        self.mining.effort()
    }
}
