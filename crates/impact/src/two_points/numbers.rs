//! Sequence numbers through their wraps, and the packets of an SA at both points side by side.

use crate::two_points::trace::PointTrace;
use rekeyscope_model::spi::{IpsecProtocol, SaId, Spi};
use rekeyscope_model::time::Timestamp;
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
    // An SA that nobody asked for here is not missing here.
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

/// One wrap of the number on the wire.
const WRAP: i64 = 1 << 32;

/// Packets of one SA at one point, each once, by number.
#[derive(Debug, Default)]
struct SaPackets {
    packets: Vec<(i64, Timestamp)>,
    copies: u64,
}

/// The packets of one SA at both points.
#[derive(Debug, Default)]
pub(crate) struct SaMatch {
    /// Index of the SA here.
    pub(crate) sa: usize,
    /// And there.
    pub(crate) there: usize,
    pub(crate) behind_nat: bool,
    /// Number, time here, time there; by number.
    pub(crate) both: Vec<(i64, Timestamp, Timestamp)>,
    /// Number, time here.
    pub(crate) only_here: Vec<(i64, Timestamp)>,
    /// Number, time there.
    pub(crate) only_there: Vec<(i64, Timestamp)>,
    pub(crate) copies_here: u64,
    pub(crate) copies_there: u64,
}

/// The packets of each of these SAs: one step through the trace for all of them.
fn numbered(trace: &PointTrace, sas: &[usize]) -> Vec<SaPackets> {
    let mut places = vec![usize::MAX; trace.sas.len()];
    for (place, &sa) in sas.iter().enumerate() {
        places[sa] = place;
    }
    let mut out: Vec<SaPackets> = sas.iter().map(|_| SaPackets::default()).collect();
    let mut last: Vec<Option<i64>> = vec![None; sas.len()];
    for packet in &trace.packets {
        let place = places.get(usize::from(packet.sa)).copied().unwrap_or(usize::MAX);
        let (Some(sa), Some(last)) = (out.get_mut(place), last.get_mut(place)) else {
            continue;
        };
        let number = match *last {
            // The closest number with these lower bits: packets overtake each other by less than half a wrap.
            Some(last) => last + i64::from(packet.sequence.wrapping_sub(last as u32).cast_signed()),
            None => i64::from(packet.sequence),
        };
        *last = Some(last.map_or(number, |last| last.max(number)));
        sa.packets.push((number, packet.time));
    }
    for sa in &mut out {
        sa.packets.sort_unstable();
        let all = sa.packets.len();
        sa.packets.dedup_by_key(|packet| packet.0);
        sa.copies = (all - sa.packets.len()) as u64;
    }
    out
}

/// By how many wraps the numbers there have to be moved: to where they share most of their range with those here.
fn shift(here: &[(i64, Timestamp)], there: &[(i64, Timestamp)]) -> i64 {
    let range = |packets: &[(i64, Timestamp)]| Some((packets.first()?.0, packets.last()?.0));
    let (Some(ours), Some(theirs)) = (range(here), range(there)) else {
        return 0;
    };
    let shared = |moved: &i64| ours.1.min(theirs.1 + moved) - ours.0.max(theirs.0 + moved);
    // The last of equal ones wins.
    [-WRAP, WRAP, 0].into_iter().max_by_key(shared).unwrap_or(0)
}

/// The packets of all pairs. A pair by SPI alone without one common packet is none.
pub(crate) fn matches(here: &PointTrace, there: &PointTrace, pairs: &[SaPair]) -> Vec<SaMatch> {
    let sas = |of: fn(&SaPair) -> usize| pairs.iter().map(of).collect::<Vec<_>>();
    let ours = numbered(here, &sas(|pair| pair.here));
    let theirs = numbered(there, &sas(|pair| pair.there));
    let both = pairs.iter().zip(ours.into_iter().zip(theirs));
    both.map(|(pair, (ours, theirs))| side_by_side(pair, &ours, &theirs))
        .filter(|found| !found.behind_nat || !found.both.is_empty())
        .collect()
}

fn side_by_side(pair: &SaPair, ours: &SaPackets, theirs: &SaPackets) -> SaMatch {
    let moved = shift(&ours.packets, &theirs.packets);
    let mut found = SaMatch {
        sa: pair.here,
        there: pair.there,
        behind_nat: pair.behind_nat,
        copies_here: ours.copies,
        copies_there: theirs.copies,
        ..SaMatch::default()
    };
    let mut theirs = theirs
        .packets
        .iter()
        .map(|&(n, time)| (n + moved, time))
        .peekable();
    for &(number, time) in &ours.packets {
        while let Some(alone) = theirs.next_if(|packet| packet.0 < number) {
            found.only_there.push(alone);
        }
        match theirs.next_if(|packet| packet.0 == number) {
            Some((_, there)) => found.both.push((number, time, there)),
            None => found.only_here.push((number, time)),
        }
    }
    found.only_there.extend(theirs);
    found
}
