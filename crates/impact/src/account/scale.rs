//! The shift of the receiver's window (RFC 7323 §2.2), where no handshake says it.

use super::delays::OUTLIERS;
use super::packet::AccountPacket;
use rekeyscope_traffic::{LARGEST_WINDOW_SCALE, TcpHeader};

/// The smallest shift, of `least` or more, at which hardly anything was sent beyond the window: its acknowledgement may be lost.
pub(crate) fn inferred_scale(data: &[AccountPacket], acks: &[AccountPacket], d2: i64, least: u8) -> u8 {
    let fits = |&scale: &u8| beyond(data, acks, d2, scale) * OUTLIERS <= data.len();
    (least..LARGEST_WINDOW_SCALE)
        .find(fits)
        .unwrap_or(LARGEST_WINDOW_SCALE)
}

/// Packets beyond the window that this shift makes.
fn beyond(data: &[AccountPacket], acks: &[AccountPacket], d2: i64, scale: u8) -> usize {
    let mut acks = acks.iter().filter(|a| !a.has(TcpHeader::SYN)).peekable();
    let arrives = |ack: Option<&&AccountPacket>| ack.map_or(i64::MAX, |ack| ack.time.0 + d2);
    // Anything is, before the first one arrives.
    let (mut allowed, mut beyond, mut next) = (u64::MAX, 0, arrives(acks.peek()));
    let mut highest = 0;
    for d in data {
        while next <= d.time.0
            && let Some(ack) = acks.next()
        {
            let opens = ack.ack + (u64::from(ack.window) << scale);
            highest = opens.max(highest);
            allowed = highest;
            next = arrives(acks.peek());
        }
        beyond += usize::from(d.end() > allowed);
    }
    beyond
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{ack, at, data};

    #[test]
    fn the_smallest_shift_that_lets_the_data_through_is_inferred() {
        // 16,000 bytes are allowed with a shift of 4.
        let heard = |ms| [ack(ms, 0, 1_000)];
        let sent = |last: u64| [data(10, 0), data(20, last - 1_000)];
        assert_eq!(inferred_scale(&sent(16_000), &heard(0), 0, 0), 4);
        assert_eq!(inferred_scale(&sent(16_001), &heard(0), 0, 0), 5);
        assert_eq!(inferred_scale(&sent(1_000), &heard(0), 0, 0), 0);
        // It reaches the sender later than it passes here.
        assert_eq!(inferred_scale(&sent(16_000), &heard(0), at(20), 0), 4);
        assert_eq!(inferred_scale(&sent(16_000), &heard(0), at(21), 0), 0);
        let mut of_a_syn = heard(0);
        of_a_syn[0].flags |= TcpHeader::SYN;
        assert_eq!(inferred_scale(&sent(16_000), &of_a_syn, 0, 0), 0);
        assert_eq!(inferred_scale(&sent(1 << 40), &heard(0), 0, 0), 14);
        assert_eq!(inferred_scale(&sent(16_000), &heard(0), 0, 6), 6, "at least");
    }

    #[test]
    fn one_packet_in_two_hundred_may_lie_beyond() {
        let beyond = |packets: usize| {
            let mut sent = vec![data(10, 0); packets];
            sent[0] = data(10, 15_000);
            inferred_scale(&sent, &[ack(0, 0, 1_000)], 0, 0)
        };
        assert_eq!((beyond(199), beyond(200)), (4, 0));
    }
}
