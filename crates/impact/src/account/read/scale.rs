//! The shift of the receiver's window (RFC 7323 §2.2).

use super::data::{Ack, Data};
use crate::account::packet::Syn;

/// RFC 7323 §2.3.
const LARGEST_SCALE: u8 = 14;
/// One in so many packets may lie beyond the window: its acknowledgement was lost.
const OUTLIERS: usize = 200;

/// The shift of the receiver's window, where the handshake says it.
pub(crate) fn stated_scale(syns: &[Option<Syn>; 2], slot: usize) -> Option<u8> {
    let receiver = syns[1 - slot]?.scale;
    // RFC 7323 §2.2: both SYNs have the option, or neither side scales.
    let own = syns[slot].is_none_or(|own| own.scale.is_some());
    Some(receiver.filter(|_| own).unwrap_or(0).min(LARGEST_SCALE))
}

/// The smallest shift at which hardly anything was sent beyond the window.
pub(crate) fn inferred_scale(data: &[Data], acks: &[Ack], d2: i64) -> u8 {
    let mut allowed = [0u64; LARGEST_SCALE as usize + 1];
    let mut beyond = [0usize; LARGEST_SCALE as usize + 1];
    let mut acks = acks.iter().filter(|a| !a.unscaled).peekable();
    for d in data {
        while let Some(ack) = acks.next_if(|a| a.time + d2 <= d.time) {
            for (scale, allowed) in allowed.iter_mut().enumerate() {
                *allowed = (*allowed).max(ack.ack + (u64::from(ack.window) << scale));
            }
        }
        for (beyond, allowed) in beyond.iter_mut().zip(allowed) {
            *beyond += usize::from(allowed > 0 && d.end > allowed);
        }
    }
    let fits = |&scale: &u8| beyond[usize::from(scale)] * OUTLIERS <= data.len();
    (0..LARGEST_SCALE).find(fits).unwrap_or(LARGEST_SCALE)
}
