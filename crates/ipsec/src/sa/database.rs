//! All SAs of a capture. Bounded: [`SaDatabase::MAX_SAS`].

mod live;
pub mod path;

use crate::esp::null::NullVerdict;
use crate::ike::timeline::{ChildKeys, NegotiatedSa};
use crate::sa::association::{AssignedKey, Association, Clear, SaContext};
use crate::sa::budget::Budget;
use crate::sa::docket::Docket;
use crate::sa::mine::Mining;
use crate::sa::prove::{self, Trust};
use crate::sa::specimen::Specimen;
use crate::sa::tunnel::TunnelIndex;
use foldhash::{HashMap, HashMapExt};
use rekeyscope_keylog::{EspKey, EspKeyIndex, KeyMaterial, SaLifetime};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::spi::{IpsecProtocol, SaId, Spi};
use std::collections::VecDeque;
use std::net::IpAddr;

/// Index in [`SaDatabase::associations`].
pub type SaIndex = usize;

/// All SAs, and the keys that may fit them.
#[derive(Debug)]
pub struct SaDatabase {
    associations: Vec<Association>,
    newest: HashMap<SaId, SaIndex>,
    by_end: HashMap<EndId, SaIndex>,
    by_spi: HashMap<Spi, Vec<SaIndex>>,
    /// By the last bits of an SPI the SA that began last with these: it is looked at before the table.
    recent: [SaIndex; RECENT],
    derived: HashMap<SaIndex, Vec<AssignedKey>>,
    mining: Mining,
    by_tunnel: HashMap<TunnelIndex, Vec<SaIndex>>,
    keys: KeyMaterial,
    index: EspKeyIndex,
    /// The files hold nothing that could be a key of ESP.
    has_nothing: bool,
    budget: Budget,
    /// SAs that keep packets, the oldest first.
    holding: VecDeque<SaIndex>,
    /// Lifetimes that texts state.
    lifetimes: HashMap<Spi, SaLifetime>,
}

/// Name of an SA by the end of its tunnel that receives it, wherever that end is.
type EndId = (TunnelIndex, Direction, IpsecProtocol, Spi);

/// Places of SAs that are found without the table.
const RECENT: usize = 64;

/// SAs that keep packets to try keys on, at most 12 KiB each; beyond, the oldest gives its packets up and is judged by what comes.
const MOST_HOLDING: usize = 4_096;

impl Default for SaDatabase {
    fn default() -> Self {
        SaDatabase::new(KeyMaterial::default())
    }
}

impl SaDatabase {
    /// Most SAs that are kept: those of 10,000 rekeys, at most 10 KB each with what the document says of them; packets of a further
    /// one are counted and not analysed.
    pub const MAX_SAS: usize = 20 << 10;

    /// An empty database that will try `keys`.
    pub fn new(keys: KeyMaterial) -> Self {
        SaDatabase {
            associations: Vec::new(),
            newest: HashMap::new(),
            by_end: HashMap::new(),
            by_spi: HashMap::new(),
            recent: [0; RECENT],
            derived: HashMap::new(),
            mining: Mining::default(),
            by_tunnel: HashMap::new(),
            index: EspKeyIndex::new(&keys),
            lifetimes: keys
                .lifetimes
                .iter()
                .map(|stated| (stated.spi, stated.clone()))
                .collect(),
            has_nothing: keys.esp.is_empty() && keys.blobs.is_empty(),
            budget: Budget::default(),
            holding: VecDeque::new(),
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

    /// The newest generation of an SA, where there is one.
    pub fn newest(&self, dst: IpAddr, protocol: IpsecProtocol, spi: Spi) -> Option<SaIndex> {
        let recent = self.recent[spi.0 as usize % RECENT];
        let is_it = |a: &Association| a.spi == spi && a.dst == dst && a.protocol == protocol;
        if self.associations.get(recent).is_some_and(is_it) {
            return Some(recent);
        }
        self.newest.get(&SaId { dst, protocol, spi }).copied()
    }

    /// From now on packets with its destination and SPI are this SA's.
    fn name(&mut self, sa: SaIndex) {
        let a = &self.associations[sa];
        let id = SaId {
            dst: a.dst,
            protocol: a.protocol,
            spi: a.spi,
        };
        self.recent[a.spi.0 as usize % RECENT] = sa;
        self.newest.insert(id, sa);
        self.by_end.insert((a.tunnel, a.direction, a.protocol, a.spi), sa);
        self.by_spi.entry(a.spi).or_default().push(sa);
        self.by_tunnel.entry(a.tunnel).or_default().push(sa);
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
        // Doubled, it would be larger than it may ever become.
        if sa == self.associations.capacity() && 2 * sa > Self::MAX_SAS {
            self.associations.reserve_exact(Self::MAX_SAS - sa);
        }
        let mut association = Association::new(context, spi);
        association.stated_lifetime = self.lifetimes.get(&spi).cloned();
        association.limit_volume(association.stated_lifetime.as_ref().map(|stated| stated.lifetime));
        self.associations.push(association);
        self.name(sa);
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
        let of_end = self.of_end(context.tunnel, context.direction, child.protocol, child.spi);
        let known = of_end.or_else(|| self.newest(child.dst, child.protocol, child.spi));
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
                association.docket.reopen();
            }
        }
        Some(sa)
    }

    /// Tries the keys on a packet of an SA whose key is not proven yet, and on those kept before. True when that decided: its packets
    /// may be opened from now on.
    pub fn prove(&mut self, sa: SaIndex, specimen: Specimen<'_>) -> bool {
        let Some(association) = self.associations.get_mut(sa) else {
            return false;
        };
        if association.proven || association.evident {
            return false;
        }
        let derived = self.derived.get(&sa).map_or(&[][..], Vec::as_slice);
        if self.has_nothing && derived.is_empty() {
            return false;
        }
        self.take(sa, specimen) && self.try_keys(sa, self.associations[sa].docket.is_mined())
    }

    /// Puts a packet on the docket of an SA; true when it is time for a search. At the bound the oldest gives its packets up.
    fn take(&mut self, sa: SaIndex, specimen: Specimen<'_>) -> bool {
        let docket = &mut self.associations[sa].docket;
        let held = !docket.kept.is_empty();
        let due = docket.take(specimen);
        if !held && !docket.kept.is_empty() {
            self.holding.push_back(sa);
        }
        if self.holding.len() > MOST_HOLDING
            && let Some(oldest) = self.holding.pop_front()
        {
            self.associations[oldest].docket.kept = Vec::new();
        }
        due
    }

    /// Tries the keys once more on SAs whose packets came since the last time: before these are accounted for as closed. The SAs that
    /// this decided.
    pub fn last_try(&mut self) -> Vec<SaIndex> {
        let mut waiting: Vec<SaIndex> = std::mem::take(&mut self.holding).into();
        waiting.sort_unstable();
        waiting.dedup();
        waiting.retain(|&sa| !self.associations[sa].opens() && self.associations[sa].docket.waiting);
        waiting
            .into_iter()
            .filter(|&sa| self.try_keys(sa, true))
            .collect()
    }

    fn try_keys(&mut self, sa: SaIndex, with_mining: bool) -> bool {
        let association = &mut self.associations[sa];
        let claims = self
            .index
            .candidates(&self.keys, association.src, association.dst, association.spi);
        let derived = self.derived.get(&sa).map_or(&[][..], Vec::as_slice);
        let kept = &association.docket.kept;
        let found = prove::search(claims, derived, association.negotiated, kept, &mut self.budget);
        let mut proof = found.proof;
        let mut promising = found.promising;
        if matches!(proof, Trust::Integrity | Trust::Whole) {
            association.extended = association.extended.max(found.extended);
        }
        association.key_hint = found.hint;
        association.key = found.key.or(association.key.take());
        // The integrity key of an earlier search among unlabelled bytes stands until the next one.
        let stands = association.integrity.is_some() && !with_mining;
        promising |= stands;
        if !stands {
            (association.hint_origin, association.lacking) = (found.hint_origin, found.lacking);
        }
        if proof <= Trust::Integrity && with_mining {
            let sought = self.mining.seek(&self.keys, association, &mut self.budget);
            if let Some(key) = sought.key {
                (association.key, association.integrity, proof) = (Some(key), None, Trust::Whole);
            } else if sought.integrity.is_some() && proof < Trust::Integrity {
                promising = sought.lacking.is_some();
                association.hint_origin = sought.integrity.as_ref().map(|key| key.origin.clone());
                (association.integrity, association.lacking) = (sought.integrity, sought.lacking);
            }
        }
        association.proven = proof == Trust::Whole;
        association.evident = proof == Trust::Evident;
        let decided = association.proven || association.evident;
        if decided {
            (association.docket, association.lacking) = (Docket::default(), None);
        } else {
            association
                .docket
                .searched(promising, with_mining || association.integrity.is_none());
        }
        decided
    }

    /// Looks whether an SA without a proven key is encrypted at all. True at the packet that decides that it is not.
    pub fn recognise_null(&mut self, sa: SaIndex, specimen: Specimen<'_>) -> bool {
        let association = &mut self.associations[sa];
        if association.opens() || !specimen.whole {
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
        // At the 1st, 2nd, 4th, … such packet, and at each while a claim lacks nothing but packets.
        if !self.take(sa, specimen) {
            return None;
        }
        let old = &mut self.associations[sa];
        let claims = self.index.candidates(&self.keys, old.src, old.dst, old.spi);
        let found = prove::search(claims, &[], None, &old.docket.kept, &mut self.budget);
        old.docket.searched(found.promising, true);
        if found.proof != Trust::Whole {
            return None;
        }
        old.docket = Docket::default();
        let new = self.renew(sa)?;
        self.associations[new].key = found.key;
        self.associations[new].proven = true;
        self.associations[new].extended = found.extended;
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
            let claims = self
                .index
                .candidates(&self.keys, association.src, association.dst, association.spi)
                .filter(|claim| claim.spi.is_some());
            let derived = self.derived.get(&sa).map_or(&[][..], Vec::as_slice);
            let found = prove::search(claims, derived, association.negotiated, &[], &mut self.budget);
            let association = &mut self.associations[sa];
            association.key = found.key;
            association.key_hint = found.hint;
            association.hint_origin = found.hint_origin;
        }
    }

    /// Keys that name an SA and fit none of its packets, where another key does: the files hold a wrong one. By file order.
    pub fn wrong_claims(&self) -> Vec<&EspKey> {
        let mut right: HashMap<Spi, Vec<&Association>> = HashMap::new();
        for association in self
            .associations
            .iter()
            .filter(|a| a.protocol == IpsecProtocol::Esp && a.counters.packets > 0)
        {
            right.entry(association.spi).or_default().push(association);
        }
        let is_wrong = |claim: &&EspKey| {
            let of_spi = claim.spi.and_then(|spi| right.get(&spi));
            // Both directions may have one SPI; and a packet that no key opens may be the claim's.
            let of_spi = of_spi.into_iter().flatten();
            let sas = || {
                of_spi
                    .clone()
                    .filter(|a| claim.dst.is_none_or(|dst| dst == a.dst))
            };
            let fits = |a: &Association| {
                a.key
                    .as_ref()
                    .is_some_and(|key| key.holds(&claim.encryption_key, &claim.integrity_key))
            };
            claim.defect.is_none() && sas().next().is_some() && sas().all(|a| a.proven && !fits(a))
        };
        self.keys.esp.iter().filter(is_wrong).collect()
    }

    /// Trials of keys on all SAs.
    pub fn trials(&self) -> u64 {
        self.budget.trials()
    }

    /// Trials that mining made, and whether its bound ended a search.
    pub fn mining_effort(&self) -> (u64, bool) {
        self.mining.effort()
    }
}
