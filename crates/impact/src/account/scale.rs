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

/// Packets beyond the window that this shift makes. An acknowledgement that the packet's timestamp denies had not reached the sender.
fn beyond(data: &[AccountPacket], acks: &[AccountPacket], d2: i64, scale: u8) -> usize {
    let mut acks = acks.iter().filter(|a| !a.has(TcpHeader::SYN)).peekable();
    // Anything is, before the first one arrives.
    let (mut highest, mut heard, mut beyond) = (0, false, 0);
    for d in data {
        while let Some(ack) = acks.next_if(|ack| ack.time.0 + d2 <= d.time.0 && !d.did_not_hear(ack)) {
            highest = highest.max(ack.ack + (u64::from(ack.window) << scale));
            heard = true;
        }
        beyond += usize::from(heard && d.end() > highest);
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

    /// The second acknowledgement came 5 ms before a packet that echoes the first.
    #[test]
    fn what_a_packet_says_that_it_did_not_hear_allowed_nothing() {
        let heard = [ack(0, 0, 1_000), ack(20, 10_000, 1_000)];
        let sent = |unheard_after: Option<u32>| {
            [AccountPacket {
                unheard_after,
                ..data(25, 16_000)
            }]
        };
        let scale = |unheard_after| inferred_scale(&sent(unheard_after), &heard, 0, 0);
        assert_eq!((scale(None), scale(Some(4_000)), scale(Some(5_000))), (3, 3, 5));
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
