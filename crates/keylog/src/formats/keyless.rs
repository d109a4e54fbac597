//! Texts that people take for key logs and that never hold a key: what such a text is, what it tells, and where keys come from instead.

use crate::lines::fields::{find, number, parsed};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::material::key::{EspKey, KeyDefect};
use crate::material::sink::Sink;
use rekeyscope_model::analysis::Lifetime;
use rekeyscope_model::lifetime::LIFETIME_KILOBYTE;
use rekeyscope_model::spi::Spi;

/// Lines of a file that are looked at: such texts say what they are at once.
const MOST_LINES: u64 = 20_000;
/// SPIs that the sentence names; more are counted.
const NAMED_SPIS: usize = 4;
/// Most SPIs that are counted.
const MOST_SPIS: usize = 10_000;

/// A program's output without keys.
struct Keyless {
    /// Texts of which one is enough.
    marks: &'static [&'static [u8]],
    name: &'static str,
    instead: &'static str,
}

const WINDOWS: &str = "Windows shows no IPsec keys at all: take them from the other end of the tunnel";

static TEXTS: [Keyless; 8] = [
    Keyless {
        marks: &[
            b"Get-NetIPsecQuickModeSA",
            b"Get-NetIPsecMainModeSA",
            b"MSFT_NetQuickModeSA",
            b"TransportLayerFilterName",
            b"IdleDurationSeconds",
        ],
        name: "Windows' `Get-NetIPsecQuickModeSA`",
        instead: WINDOWS,
    },
    Keyless {
        marks: &[
            b"netsh wfp",
            b"<wfpstate",
            b"<wfpdiag",
            b"<ikeSaDetails",
            b"<ipsecSaContext",
            b"<saContexts>",
            b"<ikeSaDb>",
            b"FWPM_PROVIDER_IKEEXT",
        ],
        name: "Windows' `netsh wfp show state`",
        instead: WINDOWS,
    },
    Keyless {
        marks: &[
            b"current outbound spi:",
            b"Crypto map tag:",
            b"#pkts encaps:",
            b"IPSEC(create_sa)",
            b"show crypto ",
            b"ISAKMP:(",
        ],
        name: "Cisco's `show crypto ipsec sa` or its debug log",
        instead: "IOS and ASA print no keys, not in debug logs either: take them from the other end of the tunnel",
    },
    Keyless {
        marks: &[
            b"IpSecService dump",
            b"mKey=<hidden>",
            b"mUserResourceTracker",
            b"TransformRecord",
        ],
        name: "Android's `dumpsys ipsec`",
        instead: "Android hides them: run `ip xfrm state` as root on the device, or take them from the other end of the tunnel",
    },
    Keyless {
        marks: &[
            b"INSTALLED, TUNNEL, ",
            b"INSTALLED, TRANSPORT, ",
            b"ESP SPIs: ",
            b"ESP in UDP SPIs: ",
        ],
        name: "strongSwan's `swanctl --list-sas` or `ipsec statusall`",
        instead: "on the same machine `ip xfrm state` shows them while the SA lives, and charon's log does at level 4 for ike and chd",
    },
    Keyless {
        marks: &[b"show security ipsec security-associations", b"Life:sec/kb"],
        name: "Junos' `show security ipsec security-associations`",
        instead: "Junos prints no keys: take them from the other end of the tunnel",
    },
    Keyless {
        marks: &[b"STATE_V2_ESTABLISHED_", b"inBytes=", b"IKE SAs: total("],
        name: "libreswan's `ipsec status` or `ipsec trafficstatus`",
        instead: "on the same machine `ip xfrm state` shows them while the SA lives, and pluto's log does with `plutodebug=private`",
    },
    Keyless {
        marks: &[b"show vpn ipsec-sa", b"GwID/client IP", b"TnID"],
        name: "PAN-OS' `show vpn ipsec-sa`",
        instead: "PAN-OS prints no keys there: take them from the other end of the tunnel",
    },
];

/// SPIs and lifetimes of a text, and its kind where it is one of [`TEXTS`].
#[derive(Default)]
pub(crate) struct KeylessText {
    /// The kind of text, and the line that told.
    found: Option<(&'static Keyless, u64)>,
    /// SPIs, each with the line that names it first.
    spis: Vec<(Spi, u64)>,
    /// Whole lifetimes, each with its first line.
    lifetimes: Vec<(Lifetime, u64)>,
    /// Seconds that remained when the text was made.
    remains: Option<u64>,
}

impl KeylessText {
    pub(crate) fn line(&mut self, line: &LogLine<'_>) {
        if line.number > MOST_LINES {
            return;
        }
        if self.found.is_none() {
            let told = |text: &&Keyless| text.marks.iter().any(|mark| find(line.raw, mark).is_some());
            self.found = TEXTS.iter().find(told).map(|text| (text, line.number));
        }
        self.spis(line);
        let stated = lifetime(line.raw);
        if find(line.raw, b"remaining").is_some() {
            self.remains = self.remains.or(stated.seconds);
        } else if stated != Lifetime::default() {
            self.lifetime(stated, line.number);
        }
    }

    /// Seconds and kilobytes of one SA may stand on two lines.
    fn lifetime(&mut self, stated: Lifetime, line: u64) {
        match self.lifetimes.last_mut() {
            Some((last, _))
                if last
                    .seconds
                    .and(stated.seconds)
                    .or(last.kilobytes.and(stated.kilobytes))
                    .is_none() =>
            {
                last.seconds = last.seconds.or(stated.seconds);
                last.kilobytes = last.kilobytes.or(stated.kilobytes);
            }
            _ => self.lifetimes.push((stated, line)),
        }
    }

    /// The lifetime of the SA that `line` names. A text has lifetimes either before the SPIs or behind them, as in its first record.
    fn lifetime_of(&self, line: u64) -> Option<(Lifetime, u64)> {
        let (_, first_spi) = self.spis.first()?;
        let (_, first) = self.lifetimes.first()?;
        let at =
            |is_before: fn(u64, u64) -> bool| self.lifetimes.partition_point(|(_, at)| is_before(*at, line));
        let place = if first < first_spi {
            at(|at, line| at <= line).checked_sub(1)?
        } else {
            at(|at, line| at < line)
        };
        self.lifetimes.get(place).copied()
    }

    /// The file ends; true where it is one of [`TEXTS`]. Where a format found keys, it is not; where none did, what they stumbled over is no row of a key.
    pub(crate) fn finish(self, sink: &mut Sink<'_>) -> bool {
        for (spi, line) in &self.spis {
            if let Some((lifetime, line)) = self.lifetime_of(*line) {
                sink.lifetime(line, *spi, lifetime);
            }
        }
        let Some((text, line)) = self.found.filter(|_| !sink.keyed) else {
            return false;
        };
        let named: Vec<String> = self
            .spis
            .iter()
            .take(NAMED_SPIS)
            .map(|(spi, _)| spi.to_string())
            .collect();
        let more = self.spis.len().saturating_sub(NAMED_SPIS);
        let spis = match (named.as_slice(), more) {
            ([], _) => String::new(),
            (named, 0) => format!("; it names the SPIs {}", named.join(", ")),
            (named, more) => format!("; it names the SPIs {} and {more} more", named.join(", ")),
        };
        let limit =
            |limit: Option<u64>, unit: &str| limit.map(|limit| format!(", a lifetime of {limit} {unit}"));
        let first = self
            .lifetimes
            .first()
            .map(|(lifetime, _)| *lifetime)
            .unwrap_or_default();
        let lifetimes = [
            limit(first.seconds, "s"),
            limit(first.kilobytes, "kB"),
            limit(self.remains, "s that remains"),
        ];
        let Keyless { name, instead, .. } = text;
        let lifetimes: String = lifetimes.into_iter().flatten().collect();
        sink.only_problem(
            line,
            format!("this is {name}, which holds no keys{spis}{lifetimes}. {instead}"),
        );
        // An SA of the capture that the text names has a key, which the text does not show.
        for (spi, line) in self.spis {
            let hidden = EspKey {
                spi: Some(spi),
                ..EspKey::at(line)
            };
            hidden.hand_over_defective(KeyDefect::Masked, sink);
        }
        true
    }

    /// Numbers behind the word SPI, which Java writes with a sign, and charon's `c7df968a_i`.
    fn spis(&mut self, line: &LogLine<'_>) {
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let (mut after_spi, mut after_direction) = (false, false);
        for token in line.raw.split(|b| !word(b)).filter(|token| !token.is_empty()) {
            let lower = token.to_ascii_lowercase();
            let of_charon = lower
                .strip_suffix(b"_i")
                .or_else(|| lower.strip_suffix(b"_o"))
                .filter(|t| t.len() == 8);
            let signed = || parsed(token).map(i32::cast_unsigned);
            let eight = || (token.len() == 8).then(|| hex::spi_digits(token))?;
            let given = || match token {
                [b'-', ..] => signed(),
                _ => hex::spi_number(token).or_else(eight),
            };
            let spi = of_charon
                .and_then(hex::spi_digits)
                .or_else(|| after_spi.then(given)?)
                // swanctl writes `in  c7df968a,`.
                .or_else(|| after_direction.then(eight)?)
                .filter(|spi| *spi > 255)
                .map(Spi);
            let is_new = |spi: &Spi| self.spis.iter().all(|(known, _)| known != spi);
            if let Some(spi) = spi.filter(is_new).filter(|_| self.spis.len() < MOST_SPIS) {
                self.spis.push((spi, line.number));
            }
            after_direction = lower == b"in" || lower == b"out";
            after_spi = lower.ends_with(b"spi")
                || lower.ends_with(b"spis")
                || after_spi && spi.is_none() && lower.len() < 3;
        }
    }
}

/// Greatest limit, seconds or kilobytes: Windows writes 2^31 − 1 for none, Linux more.
const GREATEST_LIMIT: u64 = i32::MAX as u64 - 1;

/// The lifetime that a line states, if any:
///
/// ```text
/// LifetimeSeconds : 3600        <lifetimeKilobytes>250000</lifetimeKilobytes>     (Windows)
/// sa_lifetime(k/sec)= (4608000/3600)    remaining key lifetime (k/sec): (4608000/3563)    (Cisco)
/// installed 12s ago, rekeying in 3014s, expires in 3588s     (swanctl)
/// expire add: soft 3060(sec), hard 3600(sec)    limit: soft (INF)(bytes), hard 2600000(bytes)    (ip -s xfrm state)
/// diff: 5(s)    hard: 3600(s)    soft: 2880(s)    (setkey -D)
/// ```
fn lifetime(line: &[u8]) -> Lifetime {
    let behind = |name: &[u8]| numbers(line.get(find(line, name)? + name.len()..)?).next();
    let two = |name: &[u8]| {
        let mut numbers = numbers(line.get(find(line, name)? + name.len()..)?);
        Some((numbers.next()?, numbers.next()?))
    };
    let both = two(b"ifetime (k/sec)")
        .or_else(|| two(b"ifetime(k/sec)"))
        .or_else(|| two(b"ifetime (kB/sec)"));
    let hard = |unit: &[u8]| find(line, unit).and_then(|_| behind(b"hard"));
    let in_all = || Some(behind(b"installed ")? + behind(b"expires in ")?);
    let seconds = behind(b"ifetimeSeconds")
        .or_else(in_all)
        .or_else(|| hard(b"(sec)").or_else(|| hard(b"(s)")));
    let kilobytes = behind(b"ifetimeKilobytes").or_else(|| Some(hard(b"(bytes)")? / LIFETIME_KILOBYTE));
    let is_limit = |limit: &u64| (1..=GREATEST_LIMIT).contains(limit);
    let (kilobytes_of_both, seconds_of_both) = both.unzip();
    Lifetime {
        seconds: seconds_of_both.or(seconds).filter(is_limit),
        kilobytes: kilobytes_of_both.or(kilobytes).filter(is_limit),
    }
}

fn numbers(text: &[u8]) -> impl Iterator<Item = u64> {
    text.split(|b| !b.is_ascii_digit()).filter_map(number)
}
