//! Texts that people take for key logs and that never hold a key: what such a text is, what it tells, and where keys come from instead.

use crate::lines::fields::{find, number};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::material::claim::Claim;
use crate::material::key::KeyDefect;
use crate::material::sink::Sink;
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

/// Looks at every line that comes.
#[derive(Default)]
pub(crate) struct KeylessText {
    /// The kind of text, and the line that told.
    found: Option<(&'static Keyless, u64)>,
    /// SPIs, each with the line that names it first.
    spis: Vec<(Spi, u64)>,
    /// Seconds, and whether they are what is left of the lifetime.
    lifetime: Option<(u64, bool)>,
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
        self.lifetime = self.lifetime.or_else(|| lifetime(line.raw));
    }

    /// The file ends; true where it is one of these. Where a format found keys, it is not; where none did, what they stumbled over is no row of a key.
    pub(crate) fn finish(self, sink: &mut Sink<'_>) -> bool {
        let Some((text, line)) = self.found.filter(|_| !sink.has_keys()) else {
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
        let lifetime = self
            .lifetime
            .map(|(seconds, remains)| {
                let left = if remains { " that remains" } else { "" };
                format!(", a lifetime of {seconds} s{left}")
            })
            .unwrap_or_default();
        let (name, instead) = (text.name, text.instead);
        sink.only_problem(
            line,
            format!("this is {name}, which holds no keys{spis}{lifetime}. {instead}"),
        );
        // An SA of the capture that the text names has a key, which the text does not show.
        for (spi, line) in self.spis {
            let claim = Claim {
                line,
                spi: Some(spi),
                ..Claim::default()
            };
            claim.hand_over_defective(KeyDefect::Masked, sink);
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
            let signed = || {
                std::str::from_utf8(token)
                    .ok()?
                    .parse()
                    .ok()
                    .map(i32::cast_unsigned)
            };
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

/// `LifetimeSeconds : 3600`, `remaining key lifetime (k/sec): (4608000/3563)`.
fn lifetime(line: &[u8]) -> Option<(u64, bool)> {
    let mut numbers = line
        .get(find(line, b"ifetime")?..)?
        .split(|b| !b.is_ascii_digit())
        .filter_map(number);
    let unit = |name: &[u8]| find(line, name).unwrap_or(usize::MAX);
    let seconds = if unit(b"k/sec") < usize::MAX {
        numbers.nth(1) // behind the kilobytes
    } else {
        numbers.next().filter(|_| {
            unit(b"ifetimeKilobytes") == usize::MAX || unit(b"ifetimeSeconds") < unit(b"ifetimeKilobytes")
        })
    };
    let seconds = seconds.filter(|seconds| (1..=31_536_000).contains(seconds))?;
    Some((seconds, find(line, b"remaining").is_some()))
}
