//! Checks the ICVs of many packets at once. HMAC-SHA1-96 goes sixteen packets at a time where the processor can
//! ([`crate::esp::cipher::sha1_lanes`]); everything else packet by packet, with the same results.

use crate::esp::cipher::hmac_sha1::{Job, authenticate};
use crate::esp::cipher::keyed::EspCipher;
use crate::esp::cipher::outcome::Icv;
use crate::esp::cipher::sha1_lanes::Sha1Lanes;
use crate::esp::header::HEADER_LEN;

/// Fewer packets are left to the other way: sixteen lanes cost the same however few are used. With 8 of them the lanes were
/// measured 1.5 to 2 times as fast, with 6 no faster (`tests::rate`).
const FEWEST: usize = 8;

/// A whole packet whose ICV is to be checked.
#[derive(Debug, Clone, Copy)]
pub struct Check<'a> {
    /// Its transform.
    pub cipher: &'a EspCipher,
    /// From the SPI on.
    pub packet: &'a [u8],
    /// Upper half of an extended sequence number. Such packets do not go through the lanes.
    pub esn_high: Option<u32>,
    /// The answer.
    pub icv: Icv,
}

/// Sets the answer of each of `checks` to what [`EspCipher::verify`] says. The packets may belong to different SAs.
pub fn verify_many(checks: &mut [Check<'_>]) {
    verify_with(checks, Sha1Lanes::detect());
}

fn verify_with(checks: &mut [Check<'_>], lanes: Option<Sha1Lanes>) {
    let mut jobs: Vec<Job<'_>> = match lanes {
        Some(_) => checks.iter().enumerate().filter_map(|(i, c)| job(i, c)).collect(),
        None => Vec::new(),
    };
    let Some(lanes) = lanes.filter(|_| jobs.len() >= FEWEST) else {
        for check in checks {
            check.icv = check.cipher.verify(check.packet, check.esn_high);
        }
        return;
    };
    authenticate(&mut jobs, |states, messages, steps| {
        lanes.compress(states, messages, steps)
    });
    for (number, check) in checks.iter_mut().enumerate() {
        if job(number, check).is_none() {
            check.icv = check.cipher.verify(check.packet, check.esn_high);
        }
    }
    for job in &jobs {
        if let Some(check) = checks.get_mut(job.number) {
            check.icv = if job.mac.starts_with(job.icv) {
                Icv::Verified
            } else {
                Icv::Failed
            };
        }
    }
}

/// The packet as work for the lanes, if it is: HMAC-SHA1-96, and long enough to be cut at its seams.
fn job<'a>(number: usize, check: &Check<'a>) -> Option<Job<'a>> {
    if check.esn_high.is_some() {
        return None;
    }
    let chains = check.cipher.sha1_chains()?;
    let (message, icv) = check.cipher.split_icv(check.packet)?;
    (message.len() >= HEADER_LEN + check.cipher.iv_len()).then_some(Job {
        number,
        chains,
        message,
        icv,
        mac: Default::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rekeyscope_model::algorithm::{Encryption, Integrity};
    use rekeyscope_testkit::esp::hmac_sha1_96;
    use rekeyscope_testkit::thread_time::thread_nanos_of;

    /// A synthetic packet: bytes counted up from `seed`, with a good ICV unless `damage` says otherwise.
    fn packet(key: &[u8], len: usize, seed: u8, damage: u8) -> Vec<u8> {
        let mut packet: Vec<u8> = (0..len)
            .map(|i| seed.wrapping_mul(31).wrapping_add((i ^ i >> 8) as u8))
            .collect();
        let Some(covered) = len.checked_sub(12) else {
            return packet;
        };
        let icv = hmac_sha1_96(key, &packet[..covered]);
        packet[covered..].copy_from_slice(&icv);
        match damage {
            0 => packet[len - 1] ^= 1,
            1 => packet[covered] ^= 0x80,
            2 => packet[covered / 2] ^= 4,
            _ => {}
        }
        packet
    }

    fn answers(packets: &[(&EspCipher, &[u8])], lanes: Option<Sha1Lanes>) -> Vec<Icv> {
        let mut checks: Vec<Check<'_>> = packets
            .iter()
            .map(|&(cipher, packet)| Check {
                cipher,
                packet,
                esn_high: None,
                icv: Icv::Unchecked,
            })
            .collect();
        verify_with(&mut checks, lanes);
        checks.iter().map(|check| check.icv).collect()
    }

    /// With lanes, without them, and packet by packet: the same answer.
    fn assert_as_verify(packets: &[(&EspCipher, &[u8])]) -> Vec<Icv> {
        let one_by_one: Vec<Icv> = packets
            .iter()
            .map(|(cipher, packet)| cipher.verify(packet, None))
            .collect();
        assert_eq!(answers(packets, None), one_by_one);
        assert_eq!(answers(packets, Sha1Lanes::detect()), one_by_one);
        one_by_one
    }

    fn cipher(encryption: Encryption, key: &[u8]) -> EspCipher {
        let encryption_key = vec![3; if encryption == Encryption::Null { 0 } else { 16 }];
        EspCipher::new(encryption, &encryption_key, Integrity::HmacSha1_96, key).unwrap()
    }

    /// Every residue of the length modulo 64, from nothing to 3,000 bytes.
    #[test]
    fn every_length() {
        let key = [0x77; 20];
        let cipher = cipher(Encryption::AesCbc, &key);
        let packets: Vec<Vec<u8>> = (0..3_000)
            .map(|len| packet(&key, len, len as u8, (len % 5) as u8))
            .collect();
        for size in [1, FEWEST - 1, FEWEST, 16, 17, 40, 500] {
            for group in packets.chunks(size) {
                let group: Vec<(&EspCipher, &[u8])> = group.iter().map(|p| (&cipher, &p[..])).collect();
                let icvs = assert_as_verify(&group);
                for ((_, packet), icv) in group.iter().zip(icvs) {
                    let long_enough = packet.len() >= 8 + 16 + 12;
                    let good = long_enough && packet.len() % 5 > 2;
                    assert_eq!(icv == Icv::Verified, good, "{} bytes", packet.len());
                }
            }
        }
    }

    #[test]
    fn other_transforms_go_along() {
        let sha1 = cipher(Encryption::AesCbc, &[1; 20]);
        let md5 = EspCipher::new(Encryption::Null, &[], Integrity::HmacMd5_96, &[1; 16]).unwrap();
        let none = EspCipher::new(Encryption::Null, &[], Integrity::None, &[]).unwrap();
        let good = packet(&[1; 20], 100, 1, 9);
        let packets: Vec<(&EspCipher, &[u8])> = (0..30)
            .map(|i| ([&sha1, &md5, &none][i % 3], &good[..]))
            .collect();
        let expected = [Icv::Verified, Icv::Failed, Icv::Unchecked];
        assert_eq!(
            assert_as_verify(&packets),
            (0..30).map(|i| expected[i % 3]).collect::<Vec<_>>()
        );
    }

    proptest! {
        #[test]
        fn any_group(
            keys in proptest::collection::vec(any::<[u8; 20]>(), 1..4),
            shapes in proptest::collection::vec((0usize..3_000, any::<u8>(), 0u8..6, any::<bool>(), any::<usize>()), 1..40),
        ) {
            let ciphers: Vec<[EspCipher; 2]> =
                keys.iter().map(|key| [Encryption::AesCbc, Encryption::Null].map(|e| cipher(e, key))).collect();
            let packets: Vec<(&EspCipher, Vec<u8>)> = shapes
                .iter()
                .map(|&(len, seed, damage, null, key)| {
                    let key = key % keys.len();
                    (&ciphers[key][usize::from(null)], packet(&keys[key], len, seed, damage))
                })
                .collect();
            let packets: Vec<(&EspCipher, &[u8])> = packets.iter().map(|(c, p)| (*c, &p[..])).collect();
            assert_as_verify(&packets);
        }
    }

    /// Prints packets verified per second and core; run in release with `--ignored --nocapture` on Linux. Synthetic packets of
    /// 1,380 bytes, or two of these and a short one in turn.
    #[test]
    #[ignore = "a measurement, for release builds"]
    fn rate() {
        let key = [0x77; 20];
        let cipher = cipher(Encryption::AesCbc, &key);
        for (name, lens) in [("1380", [1380; 3]), ("1380, 1380, 124", [1380, 1380, 124])] {
            let packets: Vec<Vec<u8>> = (0..8_192)
                .map(|i| packet(&key, lens[i % 3], i as u8, 9))
                .collect();
            for (lanes, what) in [(None, "packet by packet"), (Sha1Lanes::detect(), "lanes")] {
                for group in [4, FEWEST, 12, 16, 64, 256, 512] {
                    let mut verified = 0;
                    let nanos = thread_nanos_of(|| {
                        for group in packets.chunks(group) {
                            let mut checks: Vec<Check<'_>> = group
                                .iter()
                                .map(|packet| Check {
                                    cipher: &cipher,
                                    packet,
                                    esn_high: None,
                                    icv: Icv::Unchecked,
                                })
                                .collect();
                            verify_with(&mut checks, lanes);
                            verified += checks.iter().filter(|check| check.icv == Icv::Verified).count();
                        }
                    });
                    println!(
                        "{name} bytes, {what}, {group} at once: {:.2} Mpkt/s",
                        verified as f64 * 1e3 / nanos as f64
                    );
                }
            }
        }
    }
}
