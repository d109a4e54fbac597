//! What was delivered lately, as long as its sender may show that it did not hear the acknowledgement: at a switch those
//! on the new SA are dropped until the other side has it.

use crate::diagnosis::delivery::delivered::{DeliveredPacket, ProgressKind};
use crate::diagnosis::tcp::before;
use crate::throughput::flow::ConnectionId;
use rekeyscope_model::time::NANOS_PER_MILLI;
use std::collections::VecDeque;

/// Deliveries closer together than this are remembered as one.
const STEP: i64 = 5 * NANOS_PER_MILLI;
/// Most that are remembered, 1.3 s at least: a sender that hears nothing sends for a window or two, and repeats after its
/// timeout.
const MOST_HEARD: usize = 256;

/// A delivery, and the acknowledgement that told of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeardDelivery {
    pub(super) connection: ConnectionId,
    pub(super) ack: u32,
    pub(super) last: (DeliveredPacket, ProgressKind),
    /// Segments of the direction that had been sent again until then.
    pub(super) repeats: u32,
}

/// The last ones of a direction, in order.
#[derive(Debug, Default)]
pub(super) struct HeardDeliveries(VecDeque<HeardDelivery>);

impl HeardDeliveries {
    pub(super) fn push(&mut self, own: HeardDelivery) {
        let after = |n: usize| self.0.len().checked_sub(n).and_then(|k| self.0.get(k));
        // The last but one stays where the last one is close behind it.
        let crowded = after(2).is_some_and(|before| own.last.0.time.nanos_since(before.last.0.time) < STEP);
        if crowded && after(1).is_some_and(|before| before.connection == own.connection) {
            self.0.pop_back();
        } else if self.0.len() >= MOST_HEARD {
            self.0.pop_front();
        }
        self.0.push_back(own);
    }

    /// The last delivery that its sender heard of: it repeats what comes from `seq` on. `None` where too little is remembered.
    pub(super) fn without(&mut self, connection: ConnectionId, seq: u32) -> Option<HeardDelivery> {
        let is_heard = |h: &HeardDelivery| !before(seq, h.ack);
        let known = self.0.iter().any(|h| h.connection == connection && is_heard(h));
        if !known {
            return None;
        }
        self.0.retain(|h| h.connection != connection || is_heard(h));
        self.0.back().copied()
    }
}

/// The packet behind the longest gap of at least `least` between packets that are delivered together and the `last` one before
/// them: those in front of it had arrived long before, and waited for one that was lost.
pub(super) fn behind_the_gap(
    last: DeliveredPacket,
    batch: &mut Vec<DeliveredPacket>,
    least: i64,
) -> Option<DeliveredPacket> {
    let newest = batch.iter().map(|p| p.time).max()?;
    if newest.nanos_since(last.time) < least {
        return None;
    }
    batch.push(last);
    batch.retain(|p| p.time >= last.time);
    batch.sort_by_key(|p| p.time);
    let pairs = batch.windows(2).map(|w| (w[0], w[1]));
    let length = |(from, to): &(DeliveredPacket, DeliveredPacket)| to.time.nanos_since(from.time);
    // Of equal ones the first.
    let longest = pairs.rev().max_by_key(length)?;
    (length(&longest) >= least).then_some(longest.1)
}
