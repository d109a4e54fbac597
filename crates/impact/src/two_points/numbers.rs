//! Sequence numbers through their wraps, and the packets of an SA at both points side by side.

use crate::two_points::pairing::SaPair;
use crate::two_points::trace::PointTrace;
use rekeyscope_model::time::Timestamp;

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
