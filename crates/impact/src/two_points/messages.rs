//! IKE messages at both points.

use crate::two_points::clock::ClockLine;
use crate::two_points::lane::PointLaneKey;
use crate::two_points::numbers::pairs;
use crate::two_points::trace::{PointMessage, PointTrace};
use rekeyscope_model::analysis::PointOrder;
use rekeyscope_model::spi::IkeSpi;
use rekeyscope_model::time::Timestamp;
use std::collections::{BTreeMap, HashMap};

/// Where a message was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Both,
    Here,
    There,
}

impl Seen {
    pub(crate) fn is_lost(self, order: PointOrder) -> bool {
        matches!(
            (self, order),
            (Seen::Here, PointOrder::HereFirst) | (Seen::There, PointOrder::ThereFirst)
        )
    }
}

/// An IKE message, once for each time it was sent.
pub(crate) struct SeenMessage {
    pub(crate) time: Timestamp,
    pub(crate) lane: PointLaneKey,
    pub(crate) seen: Seen,
    pub(crate) initiator_spi: IkeSpi,
    pub(crate) message_id: u32,
}

/// The IKE messages of both points, each with where it was seen.
pub(crate) fn messages(
    line: &ClockLine,
    same_message_s: f64,
    here: &PointTrace,
    there: &PointTrace,
) -> Vec<SeenMessage> {
    let lanes = lanes_there(here, there);
    let mut by_name: BTreeMap<(IkeSpi, u32, u64), [Vec<(Timestamp, PointLaneKey)>; 2]> = BTreeMap::new();
    let name = |m: &PointMessage| (m.initiator_spi, m.message_id, m.digest);
    for m in &here.messages {
        let [ours, _] = by_name.entry(name(m)).or_default();
        ours.push((m.time, (m.tunnel, m.direction)));
    }
    for m in &there.messages {
        let Some(lane) = lanes.get(&(m.tunnel, m.direction)) else {
            continue;
        };
        let [_, theirs] = by_name.entry(name(m)).or_default();
        theirs.push((line.here(m.time), *lane));
    }
    let mut seen = Vec::new();
    for ((initiator_spi, message_id, _), [mut ours, mut theirs]) in by_name {
        ours.sort_unstable();
        theirs.sort_unstable();
        let message = |(time, lane), seen| SeenMessage {
            time,
            lane,
            seen,
            initiator_spi,
            message_id,
        };
        let mut theirs = theirs.into_iter().peekable();
        for our in ours {
            let apart = |their: &(Timestamp, PointLaneKey)| their.0.seconds_since(our.0);
            while let Some(alone) = theirs.next_if(|their| apart(their) < -same_message_s) {
                seen.push(message(alone, Seen::There));
            }
            let same = theirs.next_if(|their| apart(their) <= same_message_s).is_some();
            seen.push(message(our, if same { Seen::Both } else { Seen::Here }));
        }
        seen.extend(theirs.map(|alone| message(alone, Seen::There)));
    }
    seen.sort_by_key(|message| message.time);
    seen
}

/// What a direction of a tunnel there is here: the documents of two captures may number tunnels and name ends differently.
fn lanes_there(here: &PointTrace, there: &PointTrace) -> HashMap<PointLaneKey, PointLaneKey> {
    let mut known = HashMap::new();
    for pair in pairs(here, there).pairs {
        let (ours, theirs) = (here.sas[pair.here], there.sas[pair.there]);
        known.insert((theirs.tunnel, theirs.direction), (ours.tunnel, ours.direction));
        known
            .entry((theirs.tunnel, theirs.direction.reverse()))
            .or_insert((ours.tunnel, ours.direction.reverse()));
    }
    known
}
