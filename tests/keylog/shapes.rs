//! The same keys in every shape of a router's log: whatever stands before the lines, between them and in them, every key that
//! stands whole in the log comes out, byte by byte, and nothing else. All keys here are synthetic.
//!
//! `REKEYSCOPE_SHAPES=20000 cargo test -p rekeyscope-keylog --test keylog shapes -- --nocapture` tries more logs. With
//! `REKEYSCOPE_SHAPES_INTO=FOLDER` they are also written there, each with its `.expect` and uncompressed, for the Lua parser:
//! `REKEYSCOPE_CORPUS=FOLDER luajit tests/lua/corpus_test.lua .`

use super::{hex, read};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Logs that are tried without `REKEYSCOPE_SHAPES`: about three seconds in the test profile.
const LOGS: u64 = 1_500;
/// Where the numbers begin.
const SEED: u64 = 15;

/// SplitMix64: numbers that are the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

struct Sa {
    spi: u32,
    key: Vec<u8>,
    auth: Vec<u8>,
}

/// How the hex of a value is grouped.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Grouping {
    Spaced,
    Upper,
    Halves,
    Groups(usize),
    Solid,
    Prefixed,
    PrefixedBytes,
    Joined(char),
}

impl Grouping {
    const ALL: [Grouping; 10] = [
        Grouping::Spaced,
        Grouping::Upper,
        Grouping::Halves,
        Grouping::Groups(4),
        Grouping::Groups(8),
        Grouping::Solid,
        Grouping::Prefixed,
        Grouping::PrefixedBytes,
        Grouping::Joined(':'),
        Grouping::Joined('-'),
    ];

    fn write(self, bytes: &[u8]) -> String {
        let digits = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let groups =
            |len: usize, between: &str| bytes.chunks(len).map(digits).collect::<Vec<_>>().join(between);
        match self {
            Grouping::Spaced => groups(1, " "),
            Grouping::Upper => groups(1, " ").to_uppercase(),
            Grouping::Halves => {
                let halves = bytes.chunks(8).map(|half| Grouping::Spaced.write(half));
                halves.collect::<Vec<_>>().join("  ")
            }
            Grouping::Groups(len) => groups(len, " "),
            Grouping::Solid => digits(bytes),
            Grouping::Prefixed => format!("0x{}", digits(bytes)),
            Grouping::PrefixedBytes => format!("0x{}", groups(1, " 0x")),
            Grouping::Joined(by) => groups(1, &by.to_string()),
        }
    }
}

/// What one log looks like.
#[derive(Debug)]
struct Shape {
    collector: usize,
    stamped: bool,
    tag: &'static str,
    context: bool,
    labels: [&'static str; 3],
    whole: &'static str,
    grouping: Grouping,
    row: usize,
    /// Rows below the first have neither time nor tag.
    bare_rows: bool,
    /// The label stands alone on its line.
    label_alone: bool,
    indent: &'static str,
    /// One message for each SA, cut after that many characters, as syslog over UDP does.
    cut: Option<usize>,
    end: &'static str,
    encoding: usize,
    container: usize,
    noise: bool,
}

/// Collectors with words between their time and an untagged message: nothing tells those from the message.
const NEEDS_TAG: [usize; 2] = [12, 13];

impl Shape {
    fn of(n: &mut Numbers) -> Shape {
        let mut shape = Shape {
            collector: n.below(15),
            stamped: !n.one_in(3),
            tag: n.pick(&["", "[IKE] ", "[IKE] ", "[IKE1] ", "[IKE2] "]),
            context: n.one_in(2),
            labels: n.pick(&[
                ["SPI: ", "encryption key: ", "authentication key: "],
                ["SPI = ", "enc key = ", "auth key = "],
                ["spi:", "ENC_KEY:", "INTEG KEY:"],
                ["inbound SPI[4]: ", "encrypt key[16]: ", "authenticator key[20]: "],
                ["send SPI: ", "Encryption Key ", "Integrity Key "],
            ]),
            whole: n.pick(&["", "", "KEYMAT: ", "Key: "]),
            grouping: n.pick(&Grouping::ALL),
            row: n.pick(&[8, 16, 16, 20, 32, 64]),
            bare_rows: n.one_in(4),
            label_alone: n.one_in(5),
            indent: n.pick(&["", " ", "  ", "    "]),
            cut: None,
            end: n.pick(&["\n", "\n", "\r\n", "\r", "\0\n", " \r\n"]),
            encoding: n.below(12),
            container: n.below(8),
            noise: n.one_in(2),
        };
        if NEEDS_TAG.contains(&shape.collector) && shape.tag.is_empty() {
            shape.tag = "[IKE] ";
        }
        if let Grouping::Groups(len) = shape.grouping {
            shape.row = shape.row.max(len);
        }
        if n.one_in(6) {
            shape.cut = Some(40 + n.below(192));
            (shape.whole, shape.label_alone, shape.noise) = ("", false, false);
            shape.grouping = n.pick(&[
                Grouping::Spaced,
                Grouping::Upper,
                Grouping::Solid,
                Grouping::Groups(4),
            ]);
        }
        shape
    }

    /// What stands before a message logged `second` seconds after the first.
    fn header(&self, second: usize) -> String {
        let (m, s) = (second / 60 % 60, second % 60);
        let collector = match self.collector {
            0..=2 => String::new(),
            3 => "<15>".into(),
            4 => format!("<15>Nov 20 20:{m:02}:{s:02} 192.168.100.1 "),
            5 => format!("Nov  2 20:{m:02}:{s:02} rt1 rtlog[12]: "),
            6 => format!("<15>1 2026-11-20T20:{m:02}:{s:02}Z rt1 - - - - "),
            7 => format!("1 2026-11-20T20:{m:02}:{s:02}.123+09:00 rt1 ike - - - "),
            8 => format!("<15>1 2026-11-20T20:{m:02}:{s:02}Z rt1 - - "),
            9 => format!("<15>1 2026-11-20T20:{m:02}:{s:02}Z rt1 ike 1 ID [a@1 b=\"c ] d\"] "),
            10 => format!("2026-11-20T20:{m:02}:{s:02}.{second:06}Z "),
            11 => format!("2026-11-20 20:{m:02}:{s:02},123 +0900 "),
            12 => format!("2026-11-20T20:{m:02}:{s:02}Z rt1 user.debug: "),
            13 => format!("<15>Nov 20 20:{m:02}:{s:02} 192.168.100.1 router: "),
            _ => format!("[2026-11-20 20:{m:02}:{s:02}.123] "),
        };
        let stamp = if self.stamped {
            format!("2026/11/20 20:{m:02}:{s:02}: ")
        } else {
            String::new()
        };
        collector + &stamp
    }

    fn has_time(&self) -> bool {
        self.stamped || self.collector > 3
    }

    /// The lines of one value.
    fn value(&self, label: &str, bytes: &[u8], framed: &str) -> Vec<String> {
        let below = if self.bare_rows { "" } else { framed };
        let rows: Vec<String> = bytes
            .chunks(self.row)
            .map(|row| self.grouping.write(row))
            .collect();
        let alone = self.label_alone && label.trim_end().ends_with([':', '=']);
        let first = if alone {
            label.trim_end().to_owned()
        } else {
            format!("{label}{}", rows[0])
        };
        let rest = rows.iter().skip(usize::from(!alone));
        let rest = rest.map(|row| format!("{below}{}{row}", self.indent));
        std::iter::once(format!("{framed}{first}")).chain(rest).collect()
    }

    fn record(&self, number: usize, sa: &Sa, second: usize) -> Vec<String> {
        let context = if self.context {
            format!("GW:1/SA:{number}/IPSEC ")
        } else {
            String::new()
        };
        let framed = format!("{}{}", self.header(second), self.tag);
        let labelled = framed.clone() + &context;
        let spi = Grouping::Spaced.write(&sa.spi.to_be_bytes());
        let [spi_label, key_label, auth_label] = self.labels;
        if let Some(cut) = self.cut {
            let message = format!(
                "{context}{spi_label}{spi} {key_label}{} {auth_label}{}",
                self.grouping.write(&sa.key),
                self.grouping.write(&sa.auth)
            );
            return message
                .as_bytes()
                .chunks(cut)
                .map(|part| framed.clone() + std::str::from_utf8(part).unwrap())
                .collect();
        }
        let mut lines = vec![format!("{labelled}{spi_label}{spi}")];
        let values = if self.whole.is_empty() {
            vec![(key_label, sa.key.clone()), (auth_label, sa.auth.clone())]
        } else {
            vec![(self.whole, [&sa.key[..], &sa.auth].concat())]
        };
        for (label, bytes) in values {
            let mut value = self.value(label, &bytes, &framed);
            value[0].insert_str(framed.len(), &context);
            lines.extend(value);
        }
        lines
    }

    /// What may stand between two lines of a record: only where the record's own lines have a tag.
    fn noise_within(&self, n: &mut Numbers, second: usize) -> Vec<String> {
        let header = self.header(second);
        match n.below(if self.tag.is_empty() || self.bare_rows {
            2
        } else {
            5
        }) {
            0 => vec![String::new()],
            1 => vec!["---つづく---\r            \r".into()],
            2 => vec![format!("{header}[L2TP] TUNNEL[1] connected from 198.51.100.7")],
            3 => vec![format!("{header}IP Tunnel[1] Up")],
            _ => vec![
                format!("{header}PP[ANONYMOUS01] RECV LCP ConfReq in STARTING"),
                format!("{header}  c0 21 01 01 00 0e 01 04  05 ae 05 06 c0 7f 33 92"),
            ],
        }
    }

    /// What may stand between two records: also a dump in another second.
    fn noise_between(&self, n: &mut Numbers, second: usize) -> Vec<String> {
        if !self.has_time() || n.one_in(2) {
            return self.noise_within(n, second);
        }
        let header = self.header(second + 1 + n.below(30));
        vec![
            format!("{header}  c0 21 01 01 00 0e 01 04  05 ae 05 06 c0 7f 33 92"),
            format!("{header}  05 02 00 04"),
        ]
    }

    fn text(&self, n: &mut Numbers, sas: &[Sa]) -> String {
        let mut text = String::new();
        for (number, sa) in sas.iter().enumerate() {
            let second = 60 * number;
            for (at, line) in self.record(number + 2, sa, second).into_iter().enumerate() {
                let noise = match at {
                    _ if !self.noise || n.one_in(2) => Vec::new(),
                    0 if number > 0 => self.noise_between(n, second - 60),
                    0 => Vec::new(),
                    _ => self.noise_within(n, second),
                };
                for line in noise.into_iter().chain([line]) {
                    text += &line;
                    text += self.end;
                }
            }
        }
        text
    }

    fn encoded(&self, text: &str) -> Vec<u8> {
        let wide = |bytes_of: fn(u16) -> [u8; 2], mark: bool| {
            let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
            units.flat_map(bytes_of).collect::<Vec<u8>>()
        };
        match self.encoding {
            0 => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            at @ 1..=4 => wide([u16::to_le_bytes, u16::to_be_bytes][at % 2], at > 2),
            _ => text.as_bytes().to_vec(),
        }
    }

    fn contained(&self, text: &[u8]) -> Vec<u8> {
        match self.container {
            0 => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            1 => zstd::encode_all(text, 1).unwrap(),
            _ => text.to_vec(),
        }
    }
}

#[test]
fn every_shape_gives_every_key_and_nothing_else() {
    let logs = std::env::var("REKEYSCOPE_SHAPES").map_or(LOGS, |logs| logs.parse().unwrap());
    let folder = std::env::var_os("REKEYSCOPE_SHAPES_INTO");
    let mut spis = 0;
    let mut wrong = Vec::new();
    for number in 0..logs {
        let mut n = Numbers(SEED ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        let sas: Vec<Sa> = (0..1 + n.below(6))
            .map(|_| Sa {
                spi: 256 + n.next() as u32 / 2,
                key: n.bytes(16),
                auth: n.bytes(20),
            })
            .collect();
        let shape = Shape::of(&mut n);
        let text = shape.text(&mut n, &sas);
        if let Some(folder) = &folder {
            let expect = sas.iter().map(|sa| {
                let [key, auth] = [&sa.key, &sa.auth].map(|key| Grouping::Solid.write(key));
                format!("esp - - 0x{:08x} - {key} - {auth}\n", sa.spi)
            });
            let name = Path::new(folder).join(format!("shape_{number:06}"));
            std::fs::write(name.with_extension("log"), shape.encoded(&text)).unwrap();
            std::fs::write(name.with_extension("expect"), expect.collect::<String>()).unwrap();
        }
        let material = read(&shape.contained(&shape.encoded(&text)));
        let claims = material.esp.iter().filter(|key| key.defect.is_none());
        let got: BTreeMap<u32, (String, String)> = claims
            .clone()
            .map(|key| {
                (
                    key.spi.unwrap().0,
                    (hex(&key.encryption_key), hex(&key.integrity_key)),
                )
            })
            .collect();
        let digits = |bytes: &[u8]| Grouping::Solid.write(bytes);
        let truth: BTreeMap<u32, (String, String)> = sas
            .iter()
            .map(|sa| (sa.spi, (digits(&sa.key), digits(&sa.auth))))
            .collect();
        spis += truth.len();
        if got != truth || claims.count() != truth.len() {
            wrong.push((number, shape, text, got, truth));
        }
    }
    println!(
        "{spis} SPIs in {logs} logs, {} logs with a wrong or a missing key",
        wrong.len()
    );
    for (number, shape, text, got, truth) in wrong.iter().take(3) {
        println!("log {number}: {shape:?}\n{text}\ngot {got:#?}\ntruth {truth:#?}");
    }
    assert!(wrong.is_empty());
}
