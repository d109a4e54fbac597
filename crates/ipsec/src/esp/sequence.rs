//! Extended sequence numbers (RFC 4303 §2.2.1): 64 bits, of which the packet carries the lower half. Whether an SA uses
//! them is negotiated; without the negotiation, the ICV tells.

use crate::esp::cipher::{EspCipher, Icv};
use crate::esp::header::spi_and_sequence;

/// Upper halves that are tried on a packet that does not fit without one: 0 on an SA's first 4 billion packets, each further
/// one after as many again. Each try costs another pass over the packet.
const FIRST_HIGHS: std::ops::Range<u32> = 0..4;

/// Checks the ICV of a packet (from the SPI on) of an SA of which nothing is known yet, and returns the upper half of its
/// sequence number with which it fits; `None` where it fits without, or nothing fits.
pub fn verify(cipher: &EspCipher, packet: &[u8]) -> (Icv, Option<u32>) {
    match cipher.verify(packet, None) {
        Icv::Failed => {
            let fits = |high: &u32| cipher.verify(packet, Some(*high)) == Icv::Verified;
            match FIRST_HIGHS.clone().find(fits) {
                Some(high) => (Icv::Verified, Some(high)),
                None => (Icv::Failed, None),
            }
        }
        other => (other, None),
    }
}

/// The same where an SA's highest number is known: far up, or near the place where the lower half begins anew, only that tells the
/// upper half.
pub fn verify_near(cipher: &EspCipher, packet: &[u8], highest: u64) -> (Icv, Option<u32>) {
    let high = (nearest(highest, low_half(packet)) >> 32) as u32;
    match cipher.verify(packet, Some(high)) {
        Icv::Failed => verify(cipher, packet),
        other => (other, Some(high)),
    }
}

/// The whole sequence number of a packet (from the SPI on) whose upper half is `high`.
pub fn number(high: u32, packet: &[u8]) -> u64 {
    u64::from(high) << 32 | u64::from(low_half(packet))
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
    spi_and_sequence(packet).map_or(0, |(_, low)| low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::algorithm::{Encryption, Integrity};
    use rekeyscope_testkit::esp::Suite;

    const KEY: [u8; 20] = [7; 20];

    fn cipher() -> EspCipher {
        EspCipher::new(Encryption::Null, &[], Integrity::HmacSha1_96, &KEY).unwrap()
    }

    fn packet(number: u64, extended: bool) -> Vec<u8> {
        let suite = Suite {
            integrity: Integrity::HmacSha1_96,
            integrity_key: KEY.to_vec(),
            ..Suite::cipher(Encryption::Null, Vec::new())
        };
        suite.seal(1, number, extended, 59, &[])
    }

    #[test]
    fn upper_halves_are_found() {
        let start = (1 << 32) - 2;
        for number in [0, 1, start, start + 1, start + 2, 3 << 32] {
            let found = verify(&cipher(), &packet(number, true));
            assert_eq!(found, (Icv::Verified, Some((number >> 32) as u32)), "{number}");
        }
        assert_eq!(verify(&cipher(), &packet(4 << 32, true)), (Icv::Failed, None));
    }

    #[test]
    fn upper_halves_are_those_next_to_a_known_number() {
        let near = |number, highest| verify_near(&cipher(), &packet(number, true), highest);
        let start = 7 << 32;
        for (number, highest) in [(start, start), (start - 1, start), (start, start - 1), (3, start)] {
            let found = (Icv::Verified, Some((number >> 32) as u32));
            assert_eq!(near(number, highest), found, "{number}");
        }
        assert_eq!(near(start, start + (1 << 33)), (Icv::Failed, None));
    }

    #[test]
    fn plain_numbers_stay_plain() {
        assert_eq!(verify(&cipher(), &packet(1, false)), (Icv::Verified, None));
        let wrong = EspCipher::new(Encryption::Null, &[], Integrity::HmacSha1_96, &[8; 20]).unwrap();
        assert_eq!(verify(&wrong, &packet(1, true)), (Icv::Failed, None));
        assert_eq!(verify(&cipher(), &[]), (Icv::Failed, None));
    }

    #[test]
    fn nearest_numbers() {
        assert_eq!(nearest(0x1_0000_0005, 3), 0x1_0000_0003);
        assert_eq!(nearest(0x1_0000_0005, 0xffff_fff0), 0xffff_fff0);
        assert_eq!(nearest(0xffff_fff0, 5), 0x1_0000_0005);
        assert_eq!(nearest(5, 0xffff_fff0), 0xffff_fff0);
    }
}
