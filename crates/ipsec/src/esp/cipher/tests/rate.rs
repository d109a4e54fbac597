//! How fast one core checks and opens packets, on every path that the processor has.

use super::*;
use crate::esp::cipher::many::{Check, Lanes, verify_with};
use crate::esp::header::HEADER_LEN;
use std::time::Duration;

/// As on a path with an MTU of 1400.
const LEN: usize = 1380;
/// What `verify_many` is given at once.
const GROUP: usize = 256;
const PREFIX: usize = 192;
const TURN: Duration = Duration::from_millis(2);
const TURNS: usize = 100;

/// Packets per microsecond on each path: all ICVs checked, the first bytes and the trailer decrypted. The packets are zeros:
/// neither the ICV nor the padding fits, but the work is the same. The paths take turns and the best turn of each counts:
/// what else the machine does only slows them.
fn rates(cipher: &EspCipher, paths: &[Option<Lanes>]) -> Vec<f64> {
    let body = (LEN - HEADER_LEN - cipher.iv_len() - cipher.icv_len()) / 16 * 16;
    let packet = vec![0; HEADER_LEN + cipher.iv_len() + body + cipher.icv_len()];
    let mut out = Vec::new();
    let mut rates = vec![0.0_f64; paths.len()];
    for _ in 0..TURNS {
        for (best, lanes) in rates.iter_mut().zip(paths) {
            let mut packets = 0;
            #[allow(clippy::disallowed_methods)] // a measurement is what this is
            let start = std::time::Instant::now();
            while start.elapsed() < TURN {
                let check = Check {
                    cipher,
                    packet: &packet,
                    esn_high: None,
                    icv: Icv::Unchecked,
                };
                let mut checks = [std::hint::black_box(check); GROUP];
                verify_with(&mut checks, |_| *lanes);
                for check in &checks {
                    let _ = std::hint::black_box(cipher.open_verified(check.packet, None, PREFIX, &mut out));
                }
                packets += GROUP;
            }
            *best = best.max(packets as f64 / start.elapsed().as_secs_f64() / 1e6);
        }
    }
    rates
}

/// Prints packets per second and core; run in release with `--ignored --nocapture` on Linux. What `verify_many` takes is no
/// slower than one packet after the other.
#[test]
#[ignore = "a measurement, for release builds"]
fn the_fastest_path_is_taken_in_time() {
    let suites = [
        (Encryption::AesCbc, 16, Integrity::HmacSha1_96),
        (Encryption::AesCbc, 32, Integrity::HmacSha256_128),
        (Encryption::AesGcm { icv: 16 }, 20, Integrity::None),
        (Encryption::AesGcm { icv: 16 }, 36, Integrity::None),
        (Encryption::AesGmac, 20, Integrity::None),
        (Encryption::ChaCha20Poly1305, 36, Integrity::None),
        (Encryption::AesCcm { icv: 16 }, 19, Integrity::None),
        (Encryption::AesCtr, 20, Integrity::HmacSha1_96),
        (Encryption::AesCbc, 32, Integrity::HmacSha512_256),
        (Encryption::AesCbc, 16, Integrity::HmacMd5_96),
        (Encryption::AesCbc, 16, Integrity::AesXcbc96),
        (Encryption::AesCbc, 16, Integrity::AesCmac96),
        (Encryption::TripleDesCbc, 24, Integrity::HmacMd5_96),
        (Encryption::CamelliaCbc, 16, Integrity::HmacSha1_96),
        (Encryption::Null, 0, Integrity::HmacSha1_96),
    ];
    for (encryption, key_len, integrity) in suites {
        let integrity_key = vec![2; integrity.key_len()];
        let cipher = EspCipher::new(encryption, &vec![1; key_len], integrity, &integrity_key).unwrap();
        let hash = cipher.chains().map(|chains| chains.hash());
        let mut paths = Lanes::all();
        paths.truncate(if hash.is_some() { paths.len() } else { 1 });
        let rates = rates(&cipher, &paths);
        for (lanes, rate) in paths.iter().zip(&rates) {
            let name = match lanes {
                None => "one by one",
                Some(Lanes::Avx512(_)) => "16 lanes, AVX-512",
                Some(Lanes::Avx2(_)) => "8 lanes, AVX2",
                Some(Lanes::ShaNi(_)) => "2 lanes, SHA-NI",
                Some(Lanes::Simd128(_)) => "4 lanes, simd128",
            };
            let taken = hash.and_then(Lanes::fastest) == *lanes;
            println!(
                "{encryption} {key_len} {integrity}, {name}: {rate:.2} Mpkt/s{}",
                if taken { ", taken" } else { "" }
            );
            // A build for debugging promises nothing.
            assert!(!taken || *rate > 0.95 * rates[0] || cfg!(debug_assertions));
        }
    }
}
