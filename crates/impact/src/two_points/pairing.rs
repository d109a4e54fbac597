//! Which SA there is which here.

use crate::two_points::trace::PointTrace;
use rekeyscope_model::spi::{IpsecProtocol, SaId, Spi};
use std::collections::{HashMap, HashSet};

/// An SA that both captures hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SaPair {
    pub(crate) here: usize,
    pub(crate) there: usize,
    /// The destination differs.
    pub(crate) behind_nat: bool,
}

/// The pairs, and how many SAs with packets have no partner: here, there.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) pairs: Vec<SaPair>,
    pub(crate) only_here: u64,
    pub(crate) only_there: u64,
}

/// SAs with packets that are not left out.
fn used(trace: &PointTrace) -> Vec<usize> {
    let mut packets = vec![false; trace.sas.len()];
    for packet in &trace.packets {
        if let Some(used) = packets.get_mut(usize::from(packet.sa)) {
            *used = true;
        }
    }
    let wanted = |&sa: &usize| packets.get(sa) == Some(&true) && !trace.sas[sa].left_out;
    (0..trace.sas.len()).filter(wanted).collect()
}

/// Pairs them by destination and SPI, the first use of an SPI with the first; those that are left by SPI, where it is the only one on
/// both sides.
pub(crate) fn pairs(here: &PointTrace, there: &PointTrace) -> Pairs {
    let (ours, mut theirs) = (used(here), used(there));
    // What nobody asked for here is not missing here.
    let name = |id: SaId| (id.protocol, id.spi);
    let left_out = here.sas.iter().filter(|sa| sa.left_out);
    let left_out: HashSet<_> = left_out.map(|sa| name(sa.id)).collect();
    theirs.retain(|&sa| !left_out.contains(&name(there.sas[sa].id)));
    let mut by_id: HashMap<SaId, Vec<usize>> = HashMap::new();
    for &sa in theirs.iter().rev() {
        by_id.entry(there.sas[sa].id).or_default().push(sa);
    }
    let mut pairs = Vec::new();
    let mut left = Vec::new();
    for &sa in &ours {
        match by_id.get_mut(&here.sas[sa].id).and_then(Vec::pop) {
            Some(there) => pairs.push(SaPair {
                here: sa,
                there,
                behind_nat: false,
            }),
            None => left.push(sa),
        }
    }
    let unpaired: Vec<usize> = by_id.into_values().flatten().collect();
    let mut by_spi: HashMap<(IpsecProtocol, Spi), Vec<usize>> = HashMap::new();
    for &sa in &unpaired {
        by_spi.entry(name(there.sas[sa].id)).or_default().push(sa);
    }
    let mut alike: HashMap<(IpsecProtocol, Spi), usize> = HashMap::new();
    for &sa in &left {
        *alike.entry(name(here.sas[sa].id)).or_default() += 1;
    }
    for &sa in &left {
        let name = name(here.sas[sa].id);
        if let (Some([one]), Some(1)) = (by_spi.get(&name).map(Vec::as_slice), alike.get(&name)) {
            pairs.push(SaPair {
                here: sa,
                there: *one,
                behind_nat: true,
            });
        }
    }
    pairs.sort_by_key(|pair| pair.here);
    Pairs {
        only_here: (ours.len() - pairs.len()) as u64,
        only_there: (theirs.len() - pairs.len()) as u64,
        pairs,
    }
}
