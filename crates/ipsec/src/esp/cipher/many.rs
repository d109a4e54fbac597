//! Checks the ICVs of many packets at once. HMACs with SHA-1 and SHA-256 go through the processor's [lanes](rekeyscope_lanes) where that
//! is faster; everything else packet by packet, with the same results.

use crate::esp::cipher::hmac::{Digest, Job, authenticate};
use crate::esp::cipher::keyed::EspCipher;
use crate::esp::cipher::parts::Icv;
use crate::esp::header::HEADER_LEN;
use rekeyscope_lanes::{Avx2, Avx512, LaneHash, ShaNi, Simd128};

/// A whole packet whose ICV is to be checked.
#[derive(Debug, Clone, Copy)]
pub struct Check<'a> {
    /// Its transform.
    pub cipher: &'a EspCipher,
    /// From the SPI on.
    pub packet: &'a [u8],
    /// Upper half of an extended sequence number.
    pub esn_high: Option<u32>,
    /// The answer.
    pub icv: Icv,
}

/// A way to hash many messages at once that this processor has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lanes {
    Avx512(Avx512),
    Avx2(Avx2),
    ShaNi(ShaNi),
    Simd128(Simd128),
}

impl Lanes {
    /// The fastest for a hash, or `None` where one packet after the other is no slower (measured by `tests::rate`). A single
    /// SHA-256 with SHA-NI was as fast as eight in AVX2 lanes; without SHA-NI it takes five times as long.
    pub(super) fn fastest(hash: LaneHash) -> Option<Lanes> {
        let avx512 = Avx512::detect().map(Lanes::Avx512);
        let avx2 = Avx2::detect().map(Lanes::Avx2);
        let simd128 = Simd128::detect().map(Lanes::Simd128);
        match hash {
            LaneHash::Sha1 => avx512.or(avx2).or(simd128),
            LaneHash::Sha256 => avx512.or(ShaNi::detect().map(Lanes::ShaNi)).or(avx2).or(simd128),
        }
    }

    /// Fewer packets are left to the other way: all lanes cost the same however few are used. With 8 of 16 they were measured
    /// 1.5 to 2 times as fast, with 6 no faster; all eight of AVX2 cost as much as four packets alone.
    fn fewest(self) -> usize {
        match self {
            Lanes::Avx512(_) => 8,
            Lanes::Avx2(_) => 6,
            Lanes::ShaNi(_) => 2,
            Lanes::Simd128(_) => 3,
        }
    }

    /// None, and all that this processor has.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Option<Lanes>> {
        let avx512 = Avx512::detect().map(Lanes::Avx512);
        let avx2 = Avx2::detect().map(Lanes::Avx2);
        let sha_ni = ShaNi::detect().map(Lanes::ShaNi);
        let simd128 = Simd128::detect().map(Lanes::Simd128);
        let here = [avx512, avx2, sha_ni, simd128]
            .into_iter()
            .filter(Option::is_some);
        [None].into_iter().chain(here).collect()
    }

    fn authenticate(self, jobs: &mut [Job<'_>], hash: LaneHash) {
        match self {
            Lanes::Avx512(lanes) => authenticate(jobs, hash, lanes),
            Lanes::Avx2(lanes) => authenticate(jobs, hash, lanes),
            Lanes::ShaNi(lanes) => authenticate(jobs, hash, lanes),
            Lanes::Simd128(lanes) => authenticate(jobs, hash, lanes),
        }
    }
}

/// Sets the answer of each of `checks` to what [`EspCipher::verify`] says. The packets may belong to different SAs.
pub fn verify_many(checks: &mut [Check<'_>]) {
    verify_with(checks, Lanes::fastest);
}

/// With the lanes that `lanes` has for each hash.
pub(super) fn verify_with(checks: &mut [Check<'_>], lanes: impl Fn(LaneHash) -> Option<Lanes>) {
    let most = checks.len();
    let of_hash = |hash| Some((hash, lanes(hash)?, Vec::with_capacity(most)));
    let mut through_lanes: Vec<(LaneHash, Lanes, Vec<Job<'_>>)> = [LaneHash::Sha1, LaneHash::Sha256]
        .into_iter()
        .filter_map(of_hash)
        .collect();
    for (number, check) in checks.iter_mut().enumerate() {
        let job = job(number, check);
        let place = job.as_ref().and_then(|job| {
            let mut known = through_lanes.iter();
            known.position(|(hash, ..)| *hash == job.chains.hash())
        });
        match place.and_then(|place| through_lanes.get_mut(place)).zip(job) {
            Some(((.., jobs), job)) => jobs.push(job),
            None => check.icv = check.cipher.verify(check.packet, check.esn_high),
        }
    }
    for (hash, lanes, mut jobs) in through_lanes {
        let fills_lanes = jobs.len() >= lanes.fewest();
        if fills_lanes {
            lanes.authenticate(&mut jobs, hash);
        }
        for job in &jobs {
            if let Some(check) = checks.get_mut(job.number) {
                check.icv = if fills_lanes {
                    icv(job)
                } else {
                    check.cipher.verify(check.packet, check.esn_high)
                };
            }
        }
    }
}

fn icv(job: &Job<'_>) -> Icv {
    if job.mac.starts_with(job.icv) {
        Icv::Verified
    } else {
        Icv::Failed
    }
}

/// The packet as work for lanes, if it is: an HMAC that they know, and long enough to be cut at its seams.
fn job<'a>(number: usize, check: &Check<'a>) -> Option<Job<'a>> {
    let chains = check.cipher.chains()?;
    let (message, icv) = check.cipher.split_icv(check.packet)?;
    (message.len() >= HEADER_LEN + check.cipher.iv_len()).then_some(Job {
        number,
        chains,
        message,
        esn_high: check.esn_high,
        icv,
        mac: Digest::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hmac::{Hmac, KeyInit, Mac};
    use proptest::prelude::*;
    use rekeyscope_model::algorithm::{Encryption, Integrity};

    fn mac<M: Mac + KeyInit>(key: &[u8], text: &[u8]) -> Vec<u8> {
        let mac = <M as KeyInit>::new_from_slice(key).unwrap().chain_update(text);
        mac.finalize().into_bytes().to_vec()
    }

    type Suite = (Integrity, fn(&[u8], &[u8]) -> Vec<u8>);
    const SUITES: [Suite; 2] = [
        (Integrity::HmacSha1_96, mac::<Hmac<sha1::Sha1>>),
        (Integrity::HmacSha256_128, mac::<Hmac<sha2::Sha256>>),
    ];

    /// A synthetic packet: bytes counted up from `seed`, with a good ICV unless `damage` says otherwise.
    fn packet(
        (integrity, mac): Suite,
        key: &[u8],
        len: usize,
        seed: u8,
        damage: u8,
        esn_high: Option<u32>,
    ) -> Vec<u8> {
        let mut packet: Vec<u8> = (0..len)
            .map(|i| seed.wrapping_mul(31).wrapping_add((i ^ i >> 8) as u8))
            .collect();
        let Some(covered) = len.checked_sub(integrity.icv_len()) else {
            return packet;
        };
        let high = esn_high.map(u32::to_be_bytes);
        let text = [&packet[..covered], high.as_slice().as_flattened()].concat();
        packet[covered..].copy_from_slice(&mac(key, &text)[..integrity.icv_len()]);
        match damage {
            0 => packet[len - 1] ^= 1,
            1 => packet[covered] ^= 0x80,
            2 => packet[covered / 2] ^= 4,
            _ => {}
        }
        packet
    }

    type Packet<'a> = (&'a EspCipher, &'a [u8], Option<u32>);

    /// With these lanes the same answer as packet by packet.
    fn assert_as_verify(lanes: Option<Lanes>, packets: &[Packet<'_>]) -> Vec<Icv> {
        let one_by_one: Vec<Icv> = packets
            .iter()
            .map(|(cipher, packet, esn_high)| cipher.verify(packet, *esn_high))
            .collect();
        let mut checks: Vec<Check<'_>> = packets
            .iter()
            .map(|&(cipher, packet, esn_high)| Check {
                cipher,
                packet,
                esn_high,
                icv: Icv::Unchecked,
            })
            .collect();
        verify_with(&mut checks, |_| lanes);
        let answers: Vec<Icv> = checks.iter().map(|check| check.icv).collect();
        assert_eq!(answers, one_by_one, "{lanes:?}");
        one_by_one
    }

    fn cipher(encryption: Encryption, suite: Suite, key: &[u8]) -> EspCipher {
        let encryption_key = vec![3; if encryption == Encryption::Null { 0 } else { 16 }];
        EspCipher::new(encryption, &encryption_key, suite.0, key).unwrap()
    }

    #[test]
    fn without_lanes() {
        every_length(None);
    }

    #[test]
    fn lanes_of_avx512() {
        match Avx512::detect() {
            Some(lanes) => every_length(Some(Lanes::Avx512(lanes))),
            None => println!("skipped: lanes_of_avx512, this processor has none"),
        }
    }

    #[test]
    fn lanes_of_avx2() {
        match Avx2::detect() {
            Some(lanes) => every_length(Some(Lanes::Avx2(lanes))),
            None => println!("skipped: lanes_of_avx2, this processor has none"),
        }
    }

    #[test]
    fn lanes_of_sha_ni() {
        match ShaNi::detect() {
            Some(lanes) => every_length(Some(Lanes::ShaNi(lanes))),
            None => println!("skipped: lanes_of_sha_ni, this processor has none"),
        }
    }

    /// Every residue of the length modulo 64, from nothing to 3,000 bytes.
    fn every_length(lanes: Option<Lanes>) {
        let key = [0x77; 20];
        for suite in SUITES {
            let cipher = cipher(Encryption::AesCbc, suite, &key);
            let packets: Vec<Vec<u8>> = (0..3_000)
                .map(|len| packet(suite, &key, len, len as u8, (len % 5) as u8, None))
                .collect();
            for size in [1, 2, 5, 6, 7, 8, 9, 16, 17, 40, 500] {
                for group in packets.chunks(size) {
                    let group: Vec<Packet<'_>> = group.iter().map(|p| (&cipher, &p[..], None)).collect();
                    let icvs = assert_as_verify(lanes, &group);
                    for ((_, packet, _), icv) in group.iter().zip(icvs) {
                        let long_enough = packet.len() >= 8 + 16 + suite.0.icv_len();
                        let good = long_enough && packet.len() % 5 > 2;
                        assert_eq!(icv == Icv::Verified, good, "{} bytes", packet.len());
                    }
                }
            }
        }
    }

    #[test]
    fn other_transforms_go_along() {
        let [sha1, sha256] = SUITES.map(|suite| cipher(Encryption::AesCbc, suite, &[1; 20]));
        let md5 = EspCipher::new(Encryption::Null, &[], Integrity::HmacMd5_96, &[1; 16]).unwrap();
        let none = EspCipher::new(Encryption::Null, &[], Integrity::None, &[]).unwrap();
        let good = packet(SUITES[0], &[1; 20], 100, 1, 9, None);
        let expected = [
            (&sha1, Icv::Verified),
            (&md5, Icv::Failed),
            (&sha256, Icv::Failed),
            (&none, Icv::Unchecked),
        ];
        let packets: Vec<Packet<'_>> = (0..60).map(|i| (expected[i % 4].0, &good[..], None)).collect();
        let icvs: Vec<Icv> = (0..60).map(|i| expected[i % 4].1).collect();
        for lanes in Lanes::all() {
            assert_eq!(assert_as_verify(lanes, &packets), icvs);
        }
    }

    proptest! {
        #[test]
        fn any_group(
            keys in proptest::collection::vec(any::<[u8; 20]>(), 1..4),
            shapes in proptest::collection::vec(
                (0usize..3_000, any::<u8>(), 0u8..6, any::<[bool; 2]>(), any::<usize>(), any::<Option<u32>>()), 1..40),
        ) {
            let forms = [Encryption::AesCbc, Encryption::Null];
            let ciphers: Vec<_> =
                keys.iter().map(|key| SUITES.map(|suite| forms.map(|form| cipher(form, suite, key)))).collect();
            let packets: Vec<(&EspCipher, Vec<u8>, Option<u32>)> = shapes
                .iter()
                .map(|&(len, seed, damage, [null, sha256], key, esn_high)| {
                    let (key, suite) = (key % keys.len(), usize::from(sha256));
                    let packet = packet(SUITES[suite], &keys[key], len, seed, damage, esn_high);
                    (&ciphers[key][suite][usize::from(null)], packet, esn_high)
                })
                .collect();
            let packets: Vec<Packet<'_>> = packets.iter().map(|(c, p, high)| (*c, &p[..], *high)).collect();
            for lanes in Lanes::all() {
                assert_as_verify(lanes, &packets);
            }
        }
    }
}
