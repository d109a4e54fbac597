//! Logs that mean harm, or are only very large: bounded memory, and a sentence that says what was left out.

use rekeyscope_keylog::{KeyMaterial, LONGEST_LINE, MOST_ESP_KEYS};
use std::io::Read;
use std::path::Path;

/// Lines made one by one, so that a large log needs no memory.
struct Lines<F> {
    line: F,
    next: u64,
    count: u64,
    left: Vec<u8>,
    at: usize,
}

impl<F: FnMut(u64, &mut Vec<u8>)> Read for Lines<F> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.left.len() && self.next < self.count {
            self.left.clear();
            self.at = 0;
            while self.left.len() < out.len() && self.next < self.count {
                (self.line)(self.next, &mut self.left);
                self.next += 1;
            }
        }
        let part = &self.left[self.at..(self.at + out.len()).min(self.left.len())];
        out[..part.len()].copy_from_slice(part);
        self.at += part.len();
        Ok(part.len())
    }
}

pub(super) fn lines(count: u64, line: impl FnMut(u64, &mut Vec<u8>)) -> impl Read {
    Lines {
        line,
        next: 0,
        count,
        left: Vec::new(),
        at: 0,
    }
}

fn read(reader: impl Read) -> KeyMaterial {
    let mut material = KeyMaterial::default();
    material.read_from(Path::new("log"), reader).unwrap();
    material
}

/// One row per SPI, 60 bytes.
fn many_spis(count: u64) -> impl Read {
    lines(count, |i, out| {
        out.extend_from_slice(format!("0x{i:08x}@10.0.0.1 aes128-cbc-hmac96:0x{i:032x}\n").as_bytes());
    })
}

#[test]
fn one_line_of_200_megabytes() {
    for byte in [b'a', b' ', b'"', b'0', b'[', b'/', 0] {
        let material = read(std::io::repeat(byte).take(200_000_000));
        assert!(
            material
                .problems
                .iter()
                .any(|p| p.line == 1 && p.sentence.contains(&LONGEST_LINE.to_string()))
        );
        assert!(material.esp.is_empty());
    }
}

#[test]
fn more_spis_than_are_kept() {
    let count = MOST_ESP_KEYS as u64 + 50_000;
    let material = read(many_spis(count));
    assert_eq!(material.esp.len(), MOST_ESP_KEYS);
    let [problem] = material.problems.as_slice() else {
        panic!("{:?}", material.problems)
    };
    assert_eq!(problem.line, MOST_ESP_KEYS as u64 + 1);
    assert!(
        problem.sentence.contains("50000 were left out"),
        "{}",
        problem.sentence
    );
}

#[test]
fn unclosed_and_open_ended_records() {
    // Each keeps something open that must not grow without bound.
    for line in [
        "\"IPv4\",\"",
        "2026/11/20 20:00:00: [IKE] SA:1/X 0123456789abcdef\n",
        " 0 HE spi=1 x=\"\n",
        "| enc key:\n| 00\n",
    ] {
        read(lines(300_000, |_, out| out.extend_from_slice(line.as_bytes())));
    }
    read(lines(300_000, |i, out| {
        out.extend_from_slice(format!("[IKE] SA:{i}/X SPI: 01020304 key:\n").as_bytes())
    }));
    read(lines(300_000, |i, out| {
        out.extend_from_slice(format!("{i} 10[CHD] seed => 8192 bytes @ 0\n").as_bytes())
    }));
    read(lines(300_000, |i, out| {
        out.extend_from_slice(
            format!(
                "20{:02}/01/01 00:00:{:02}: host{i} x\n",
                99 - i / 6000 % 100,
                59 - i / 100 % 60
            )
            .as_bytes(),
        );
    }));
}

#[test]
fn nul_bytes_between_rows() {
    let row = "\0\0\"IPv4\",\"*\",\"*\",\"0x1\",\"NULL\",\"\",\"NULL\",\"\"\0\n";
    let material = read(lines(1000, |_, out| out.extend_from_slice(row.as_bytes())));
    assert_eq!((material.esp.len(), material.problems.len()), (1, 0));
}

/// The full size of the promise: `cargo test --release -p rekeyscope-keylog --test keylog -- --ignored --nocapture`.
#[test]
#[ignore = "600 MB; for measuring"]
fn ten_million_spis() {
    let material = read(many_spis(10_000_000));
    assert_eq!(material.esp.len(), MOST_ESP_KEYS);
}

/// 200 MB of each kind of log. `cargo test --release -p rekeyscope-keylog --test keylog speed -- --ignored --nocapture` prints the times.
#[test]
#[ignore = "for measuring in a release build"]
#[expect(clippy::disallowed_methods, reason = "a measurement needs a clock")]
fn speed_of_200_megabytes() {
    const SIZE: u64 = 200_000_000;
    let mut slow = Vec::new();
    for name in [
        "nvr_constructed",
        "nvr_rfc5424",
        "charon_ikev1",
        "xfrm_monitor",
        "esp_sa_8_columns",
        "racoon",
        "pluto_syslog",
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/keylog")
            .join(name)
            .with_extension("log");
        let log = std::fs::read(path).unwrap();
        let start = std::time::Instant::now();
        let material = read(lines(SIZE / log.len() as u64, |_, out| {
            out.extend_from_slice(&log)
        }));
        let took = start.elapsed();
        println!("{name}: {:.2} s, {} keys", took.as_secs_f64(), material.esp.len());
        if took.as_secs_f64() >= 2.0 {
            slow.push(name);
        }
    }
    let start = std::time::Instant::now();
    read(lines(SIZE / 100, |i, out| {
        let hash = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let second = i / 500;
        let (h, m, s) = (second / 3600 % 24, second / 60 % 60, second % 60);
        out.extend_from_slice(
            format!("2026/11/20 {h:02}:{m:02}:{s:02}: [IKE] GW:1/SA:{}/IPSEC SPI: {i:08x} enc key: {hash:016x}{hash:016x}\n", i % 90).as_bytes(),
        );
    }));
    println!("always new: {:.2} s", start.elapsed().as_secs_f64());
    assert_eq!(slow, Vec::<&str>::new());
}
