//! Extended sequence numbers (RFC 4303 §2.2.1): 64 bits, of which the packet carries the lower half. Whether an SA uses
//! them is negotiated; without the negotiation, the ICV tells.

use super::cipher::{EspCipher, Icv};

/// How many packets whose ICV fails without an upper half are tried with one. Each try costs another pass over the
/// packet, which a wrong key should not cost for a whole capture.
const MOST_INFERENCE_PACKETS: u32 = 16;
/// Upper halves that are tried then: 0 on an SA's first 4 billion packets, each further one after as many again.
const FIRST_HIGHS: std::ops::Range<u32> = 0..4;

/// What is known about the sequence numbers of one SA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Width {
    #[default]
    Unknown,
    /// 32 bits: a packet verified without an upper half.
    Plain,
    /// 64 bits, with the highest number that verified.
    Extended { highest: u64 },
}

/// Verifies the packets of one SA, finding the upper halves of their sequence numbers.
#[derive(Debug, Clone, Default)]
pub struct SequenceWidth {
    width: Width,
    failed: u32,
}

impl SequenceWidth {
    /// Nothing known yet.
    pub fn new() -> Self {
        SequenceWidth::default()
    }

    /// Checks the ICV of a packet (from the SPI on) and returns the upper half with which it fits; `None` where the SA
    /// has none, or nothing fits.
    pub fn verify(&mut self, cipher: &EspCipher, packet: &[u8]) -> (Icv, Option<u32>) {
        match self.width {
            Width::Plain => (cipher.verify(packet, None), None),
            Width::Extended { highest } => self.verify_extended(cipher, packet, highest),
            Width::Unknown => self.verify_unknown(cipher, packet),
        }
    }

    /// Whether the SA uses extended sequence numbers; `None` while no ICV has fitted.
    pub fn is_extended(&self) -> Option<bool> {
        match self.width {
            Width::Unknown => None,
            Width::Plain => Some(false),
            Width::Extended { .. } => Some(true),
        }
    }

    fn verify_unknown(&mut self, cipher: &EspCipher, packet: &[u8]) -> (Icv, Option<u32>) {
        match cipher.verify(packet, None) {
            Icv::Verified => self.width = Width::Plain,
            Icv::Failed if self.failed < MOST_INFERENCE_PACKETS => {
                let fits = |high: &u32| cipher.verify(packet, Some(*high)) == Icv::Verified;
                if let Some(high) = FIRST_HIGHS.clone().find(fits) {
                    self.width = Width::Extended {
                        highest: number(high, packet),
                    };
                    return (Icv::Verified, Some(high));
                }
                self.failed += 1;
                return (Icv::Failed, None);
            }
            other => return (other, None),
        }
        (Icv::Verified, None)
    }

    fn verify_extended(&mut self, cipher: &EspCipher, packet: &[u8], highest: u64) -> (Icv, Option<u32>) {
        let likely = (nearest(highest, low_half(packet)) >> 32) as u32;
        let candidates = [Some(likely), likely.checked_add(1), likely.checked_sub(1)];
        for high in candidates.into_iter().flatten() {
            if cipher.verify(packet, Some(high)) == Icv::Verified {
                self.width = Width::Extended {
                    highest: highest.max(number(high, packet)),
                };
                return (Icv::Verified, Some(high));
            }
        }
        (Icv::Failed, None)
    }
}

/// The 64-bit number with lower half `low` that lies nearest to `highest` (the idea of RFC 4303 appendix A2, without a
/// window).
pub fn nearest(highest: u64, low: u32) -> u64 {
    let distance = low.wrapping_sub(highest as u32) as i32;
    // Below zero there is nothing: such a number lies ahead, however far.
    highest
        .checked_add_signed(i64::from(distance))
        .unwrap_or(u64::from(low))
}

fn low_half(packet: &[u8]) -> u32 {
    packet
        .get(4..8)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_be_bytes)
}

fn number(high: u32, packet: &[u8]) -> u64 {
    u64::from(high) << 32 | u64::from(low_half(packet))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Encryption, Integrity};
    use hmac::{Hmac, KeyInit, Mac};

    const KEY: [u8; 20] = [7; 20];

    fn cipher() -> EspCipher {
        EspCipher::new(Encryption::Null, &[], Integrity::HmacSha1_96, &KEY).unwrap()
    }

    fn packet(number: u64, extended: bool) -> Vec<u8> {
        let mut packet = [&[0, 0, 0, 1][..], &(number as u32).to_be_bytes(), &[1, 2, 2, 59]].concat();
        let mut mac = Hmac::<sha1::Sha1>::new_from_slice(&KEY).unwrap();
        mac.update(&packet);
        if extended {
            mac.update(&((number >> 32) as u32).to_be_bytes());
        }
        packet.extend(&mac.finalize().into_bytes()[..12]);
        packet
    }

    #[test]
    fn upper_halves_are_found_and_followed_over_the_wrap() {
        let mut width = SequenceWidth::new();
        let start = (1 << 32) - 2;
        for number in [start, start + 1, start + 3, start + 2, start, start + 10] {
            let found = width.verify(&cipher(), &packet(number, true));
            assert_eq!(found, (Icv::Verified, Some((number >> 32) as u32)), "{number}");
        }
        assert_eq!(width.is_extended(), Some(true));
        assert_eq!(
            width.verify(&cipher(), &packet(start + 11, false)),
            (Icv::Failed, None)
        );
    }

    #[test]
    fn plain_numbers_stay_plain() {
        let mut width = SequenceWidth::new();
        assert_eq!(width.is_extended(), None);
        assert_eq!(width.verify(&cipher(), &packet(1, false)), (Icv::Verified, None));
        assert_eq!(width.is_extended(), Some(false));
        assert_eq!(width.verify(&cipher(), &packet(2, true)), (Icv::Failed, None));
    }

    #[test]
    fn a_wrong_key_is_given_up_and_a_right_packet_still_counts() {
        let mut width = SequenceWidth::new();
        let wrong = EspCipher::new(Encryption::Null, &[], Integrity::HmacSha1_96, &[8; 20]).unwrap();
        for number in 0..100 {
            assert_eq!(width.verify(&wrong, &packet(number, true)), (Icv::Failed, None));
        }
        assert_eq!(width.failed, MOST_INFERENCE_PACKETS);
        assert_eq!(width.verify(&cipher(), &packet(3, false)).0, Icv::Verified);
        assert_eq!(width.verify(&cipher(), &[]), (Icv::Failed, None));
    }

    #[test]
    fn nearest_numbers() {
        assert_eq!(nearest(0x1_0000_0005, 3), 0x1_0000_0003);
        assert_eq!(nearest(0x1_0000_0005, 0xffff_fff0), 0xffff_fff0);
        assert_eq!(nearest(0xffff_fff0, 5), 0x1_0000_0005);
        assert_eq!(nearest(5, 0xffff_fff0), 0xffff_fff0);
    }
}
