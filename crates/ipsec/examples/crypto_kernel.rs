//! What the cryptography of an analysis costs alone: checks the ICV of every packet and decrypts its first bytes and its
//! trailer, from memory.
//!
//!   cargo run --release -p rekeyscope-ipsec --example crypto_kernel -- [SUITE [MEGABYTES [THREADS]]]
//!
//! Suites: aes128-sha1 (by default), aes256-sha256, aes128gcm, aes256gcm, chacha20poly1305. By default 1000 MB on one thread.
//! The packets have 1,380 bytes at most (an MTU of 1,400) and eight SAs; they are made first, which is not measured.

// A program that measures and prints.
#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use rekeyscope_ipsec::esp::cipher::{Check, EspCipher, Icv, verify_many};
use rekeyscope_ipsec::esp::inner::PREFIX;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::thread_time::thread_nanos;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const SUITES: [(&str, Encryption, usize, Integrity); 5] = [
    ("aes128-sha1", Encryption::AesCbc, 16, Integrity::HmacSha1_96),
    ("aes256-sha256", Encryption::AesCbc, 32, Integrity::HmacSha256_128),
    ("aes128gcm", Encryption::AesGcm { icv: 16 }, 16, Integrity::None),
    ("aes256gcm", Encryption::AesGcm { icv: 16 }, 32, Integrity::None),
    (
        "chacha20poly1305",
        Encryption::ChaCha20Poly1305,
        32,
        Integrity::None,
    ),
];
const SAS: u8 = 8;
const LEN: usize = 1_380;
/// Packets that a thread takes at a time, as an analysis does.
const TASK_PACKETS: usize = 256;
const IPV4: u8 = 4;

/// Packets of equal length, one after the other.
struct Packets {
    ciphers: Vec<EspCipher>,
    bytes: Vec<u8>,
    len: usize,
}

impl Packets {
    fn new(encryption: Encryption, key_len: usize, integrity: Integrity, megabytes: usize) -> Packets {
        let suites: Vec<Suite> = (1..=SAS)
            .map(|seed| Suite::new(encryption, key_len, integrity, seed))
            .collect();
        let keyed = |suite: &Suite| EspCipher::new(encryption, &suite.key, integrity, &suite.integrity_key);
        let ciphers: Vec<EspCipher> = suites
            .iter()
            .map(|suite| keyed(suite).expect("keys that fit"))
            .collect();
        let around = 8 + ciphers[0].iv_len() + ciphers[0].icv_len();
        let body = (LEN - around) / 16 * 16;
        let payload: Vec<u8> = (0..body - 2).map(|i| i as u8).collect();
        let mut packets = Packets {
            ciphers,
            bytes: Vec::new(),
            len: around + body,
        };
        for number in 0..megabytes * 1_000_000 / packets.len {
            let sa = number % suites.len();
            let packet = suites[sa].seal(sa as u32 + 256, number as u64 + 1, false, IPV4, &payload);
            packets.bytes.extend(packet);
        }
        packets
    }

    fn count(&self) -> usize {
        self.bytes.len() / self.len
    }

    /// Packets of task `task` that are verified and opened.
    fn work(&self, task: usize, out: &mut Vec<u8>) -> usize {
        let packets = self
            .bytes
            .chunks(self.len)
            .enumerate()
            .skip(task * TASK_PACKETS)
            .take(TASK_PACKETS);
        let check = |(number, packet)| Check {
            cipher: &self.ciphers[number % self.ciphers.len()],
            packet,
            esn_high: None,
            icv: Icv::Unchecked,
        };
        let mut checks: Vec<Check<'_>> = packets.map(check).collect();
        verify_many(&mut checks);
        let verified = checks.iter().filter(|check| check.icv == Icv::Verified);
        verified
            .filter(|check| {
                check
                    .cipher
                    .open(check.packet, None, Icv::Verified, PREFIX, out)
                    .is_some()
            })
            .count()
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default| {
        arguments
            .get(at)
            .map_or(default, |n| n.parse().expect("a number"))
    };
    let name = arguments.first().map_or("aes128-sha1", String::as_str);
    let suite = SUITES
        .into_iter()
        .find(|suite| suite.0 == name)
        .expect("a suite: see the head of this file");
    let packets = Packets::new(suite.1, suite.2, suite.3, number(1, 1_000));
    let (tasks, next) = (packets.count().div_ceil(TASK_PACKETS), AtomicUsize::new(0));
    let work = || {
        let (mut out, mut opened, begun) = (Vec::new(), 0, thread_nanos());
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                // The clock of the thread's CPU time ticks; a rest that it gives up brings it up to date.
                std::thread::yield_now();
                return (opened, thread_nanos() - begun);
            }
            opened += packets.work(task, &mut out);
        }
    };
    let begun = Instant::now();
    let results: Vec<(usize, u64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..number(2, 1)).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    let wall = begun.elapsed().as_secs_f64();
    let opened: usize = results.iter().map(|(opened, _)| opened).sum();
    assert_eq!(opened, packets.count(), "every packet is verified and opened");
    let cpu = results.iter().map(|(_, nanos)| nanos).sum::<u64>() as f64 / 1e9;
    println!(
        "{name}: {opened} packets of {} bytes, {cpu:.3} s CPU, {wall:.3} s wall, {:.2} Mpkt/s of CPU",
        packets.len,
        opened as f64 / cpu / 1e6
    );
}
