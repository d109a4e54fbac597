//! What makes a side renew: all countings in use side by side, and which of them is the steady one over the trace.
//!
//! A peer that renews at a limit does so at (nearly) the same value every time, in *its* counting; in any other counting the
//! value varies with packet sizes, with the traffic of the other direction, or with the rate. Where two countings keep a
//! constant ratio no capture can tell them apart, and the rule says so.

mod sentence;

pub(super) use crate::analysis::TriggerKind as Kind;

use crate::analysis::{TriggerCandidate, TriggerRule};
use crate::sa::association::{Counters, LARGEST_LIFETIME_KILOBYTE, LIFETIME_KILOBYTE};
use crate::sa::tunnel::TunnelIndex;
use crate::sample::Sample;
use crate::text::{Catalogue, Language, Message, Said};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::net::IpAddr;

/// Least lag between the peer's own trigger and its first message on the wire, seconds (0.03–0.5 s measured).
const LEAST_LAG_S: f64 = 0.03;
/// What the lower envelope still lags at most, seconds: the least of some lags is near the least lag.
const ENVELOPE_LAG_S: f64 = 0.1;
/// A counting is told from the steadiest one only if its spread is this many times as large …
const LEAST_SPREAD_RATIO: f64 = 1.5;
/// … and reaches this: the lags alone move every counting by 0.5 % (10 kB of 2 MB).
const LEAST_SPREAD: f64 = 0.005;
/// … and the difference of the two spreads is significant at this level.
const SIGNIFICANT: f64 = 0.05;
/// Rekeys that give a spread with a test of it (Pitman's has n − 2 degrees of freedom).
const ENOUGH: usize = 3;
/// Shares of a limit that a soft limit can be: those seen are a third to all of it; a much lower one has another reason, or is
/// another direction's volume.
pub(super) const LEAST_FRACTION: f64 = 0.05;
/// A loaded link was seen to lag up to this; nothing passes the hard limit by more before the exchange.
const MOST_SOFT_FRACTION: f64 = 1.01;
/// Both readings of the kilobyte.
const KILOBYTE: f64 = LIFETIME_KILOBYTE as f64;
const LARGEST_KILOBYTE: f64 = LARGEST_LIFETIME_KILOBYTE as f64;
/// Soft limits of well-known products: 75 % (Yamaha), 80 % (HP), 90 % (strongSwan), 95 %.
const KNOWN_FRACTIONS: [f64; 4] = [0.75, 0.80, 0.90, 0.95];
/// The two kilobytes differ by 2.4 %. Where the lag blurs a fraction by more than this, a known fraction falls into one of
/// the blurred ranges too easily (four ranges of 0.5 % in 0.3–1: 3 %) to decide between them.
const SHARP_FRACTION: f64 = 0.005;

/// What one rekey shows at its first message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Observation {
    /// Inbound, outbound SA of the initiator.
    pub(super) sides: [Option<Counters>; 2],
    /// Age of the pair, seconds.
    pub(super) age_s: Option<f64>,
    /// Negotiated.
    pub(super) limit_kilobytes: Option<u64>,
    /// Negotiated.
    pub(super) limit_seconds: Option<u64>,
    /// The first message of the exchange is not in the capture: all of it was read later.
    pub(super) late: bool,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Inner,
    Esp,
    Outer,
    Packets,
    Age,
}

/// Of which SA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Inbound,
    Outbound,
    Both,
}

/// In order of preference among those that cannot be told apart: RFC 4301 §4.4.2.1 counts what the algorithm was applied to,
/// per SA; Linux counts the decrypted payload.
const QUANTITIES: [Quantity; 4] = [Quantity::Inner, Quantity::Esp, Quantity::Outer, Quantity::Packets];

/// A counting with its values, one per rekey.
struct Counted {
    quantity: Quantity,
    side: Side,
    values: Vec<f64>,
}

/// What one rekey had carried in the counting of an unambiguous volume rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reached {
    /// Bytes at the first exchange message.
    pub(super) bytes: u64,
    /// Over the negotiated kilobytes, where there are any.
    pub(super) fraction: Option<f64>,
}

/// What observations of one side give.
pub(super) struct Inferred {
    pub(super) rule: TriggerRule,
    /// What the rule counts, in words.
    pub(super) counting: Option<Message>,
    /// What each observation had reached in that counting, where it is a volume and no other counting fits (`None` where the
    /// capture lacks an SA's start).
    pub(super) reached: Vec<Option<Reached>>,
}

/// The rule of one side. `kind` is what the limits and the single rekeys say; `by_ike`: inbound and outbound are known.
pub(super) fn infer(
    (tunnel, initiator): (TunnelIndex, Option<IpAddr>),
    observations: &[Observation],
    kind: Kind,
    by_ike: bool,
) -> Inferred {
    let all: Vec<Observation> = observations.iter().copied().filter(is_whole).collect();
    let in_time: Vec<Observation> = all.iter().copied().filter(|o| !o.late).collect();
    let at_most = in_time.is_empty() && !all.is_empty();
    let whole = if at_most { all } else { in_time };
    let counted = countings(&whole);
    let kilobytes = common(observations, |o| o.limit_kilobytes);
    let seconds = common(observations, |o| o.limit_seconds);
    let kind = match kind {
        Kind::Volume | Kind::Unknown if packets_run_out(&counted) => Kind::Packets,
        other => other,
    };
    let chosen = choose(&counted, kind, kilobytes);
    let mut rule = TriggerRule {
        tunnel,
        initiator,
        kind,
        sentence: String::new(),
        messages: Vec::new(),
        rekeys: whole.len(),
        at_most,
        counting: chosen.as_ref().map(|c| c.0.name(by_ike)),
        not_told_apart: chosen
            .as_ref()
            .map_or_else(Vec::new, |c| c.1.iter().map(|c| c.name(by_ike)).collect()),
        limit_kilobytes: kilobytes,
        limit_seconds: seconds,
        bytes_per_kilobyte: None,
        kilobyte_told: false,
        fraction_low: None,
        fraction_high: None,
        soft_limit: None,
        soft_fraction: None,
        candidates: counted
            .iter()
            .map(|c| c.published(kilobytes, seconds, by_ike))
            .collect(),
    };
    if let Some((counting, _)) = &chosen {
        size(&mut rule, counting, &whole);
    }
    let (counting, alike) = chosen.as_ref().map_or((None, Vec::new()), |(counting, alike)| {
        let alike = alike.iter().map(|c| c.words(by_ike)).collect();
        (Some(counting.words(by_ike)), alike)
    });
    let said = Said::of(sentence::rule(&rule, counting.clone(), alike));
    (rule.sentence, rule.messages) = (said.sentence, said.messages);
    let sure = chosen.filter(|c| kind == Kind::Volume && !at_most && whole.len() >= ENOUGH && c.1.is_empty());
    let limit = kilobytes.map(|k| k as f64 * rule.bytes_per_kilobyte.map_or(KILOBYTE, f64::from));
    let reached = |o: &Observation| {
        let (counting, _) = sure.as_ref().filter(|_| !o.late)?;
        let bytes = value(o, counting.quantity, counting.side)?;
        Some(Reached {
            bytes: bytes as u64,
            fraction: limit.filter(|l| *l > 0.0).map(|l| bytes / l),
        })
    };
    let reached = observations.iter().map(reached).collect();
    Inferred {
        rule,
        counting,
        reached,
    }
}

fn is_whole(o: &Observation) -> bool {
    o.sides.iter().any(Option::is_some)
}

/// The value that all of them have; of several, the first.
fn common(observations: &[Observation], of: impl Fn(&Observation) -> Option<u64>) -> Option<u64> {
    observations.iter().find_map(of)
}

/// All countings of which every rekey has a value above 0.
fn countings(observations: &[Observation]) -> Vec<Counted> {
    let mut all = Vec::new();
    for quantity in QUANTITIES {
        for side in [Side::Inbound, Side::Outbound, Side::Both] {
            let values = observations.iter().map(|o| value(o, quantity, side));
            all.extend(Counted::new(quantity, side, values.collect()));
        }
    }
    let ages = observations.iter().map(|o| o.age_s);
    all.extend(Counted::new(Quantity::Age, Side::Both, ages.collect()));
    all
}

fn value(o: &Observation, quantity: Quantity, side: Side) -> Option<f64> {
    let of = |c: &Counters| match quantity {
        // Of an SA without a key the payload is unknown, not 0.
        Quantity::Inner => (c.opened == c.packets).then_some(c.inner_bytes),
        Quantity::Esp => Some(c.esp_bytes),
        Quantity::Outer => Some(c.outer_bytes),
        Quantity::Packets => Some(c.packets),
        Quantity::Age => None,
    };
    let [inbound, outbound] = [&o.sides[0], &o.sides[1]].map(|c| c.as_ref().and_then(of));
    let n = match side {
        Side::Inbound => inbound?,
        Side::Outbound => outbound?,
        Side::Both => inbound?.saturating_add(outbound?),
    };
    Some(n as f64)
}

impl Counted {
    fn new(quantity: Quantity, side: Side, values: Option<Vec<f64>>) -> Option<Counted> {
        let values = values.filter(|v| !v.is_empty() && v.iter().all(|&x| x > 0.0))?;
        Some(Counted {
            quantity,
            side,
            values,
        })
    }

    fn low(&self) -> f64 {
        self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn high(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }

    /// Standard deviation of the logarithms: the same for any unit.
    fn spread(&self) -> Option<f64> {
        let logs = self.logs();
        (logs.len() > 1).then(|| Sample::of(&logs).sd)
    }

    fn logs(&self) -> Vec<f64> {
        self.values.iter().map(|v| v.ln()).collect()
    }

    fn is_volume(&self) -> bool {
        matches!(self.quantity, Quantity::Inner | Quantity::Esp | Quantity::Outer)
    }

    /// Lower envelope over the limit.
    fn fraction(&self, kilobytes: Option<u64>, seconds: Option<u64>, kilobyte: f64) -> Option<f64> {
        let limit = match self.quantity {
            Quantity::Age => seconds.map(|s| s as f64),
            Quantity::Packets => None,
            _ => kilobytes.map(|k| k as f64 * kilobyte),
        };
        limit.filter(|l| *l > 0.0).map(|l| self.low() / l)
    }

    /// A limit that was negotiated decides first: what cannot be its soft limit is out.
    fn can_be(&self, kilobytes: Option<u64>) -> bool {
        self.fraction(kilobytes, None, LARGEST_KILOBYTE)
            .is_none_or(|f| (LEAST_FRACTION..=MOST_SOFT_FRACTION).contains(&f))
    }

    fn is_far_below(&self, kilobytes: u64) -> bool {
        self.fraction(Some(kilobytes), None, KILOBYTE)
            .is_some_and(|f| f < LEAST_FRACTION)
    }

    fn published(&self, kilobytes: Option<u64>, seconds: Option<u64>, by_ike: bool) -> TriggerCandidate {
        TriggerCandidate {
            counting: self.name(by_ike),
            low: self.low(),
            high: self.high(),
            spread: self.spread(),
            fraction_1000: self.fraction(kilobytes, seconds, KILOBYTE),
            fraction_1024: match self.quantity {
                Quantity::Age => None,
                _ => self.fraction(kilobytes, seconds, LARGEST_KILOBYTE),
            },
        }
    }

    fn name(&self, by_ike: bool) -> String {
        Catalogue::of(Language::English).say(&self.words(by_ike))
    }

    fn words(&self, by_ike: bool) -> Message {
        let what = match self.quantity {
            Quantity::Inner => "inner",
            Quantity::Esp => "esp",
            Quantity::Outer => "outer",
            Quantity::Packets => "packets",
            Quantity::Age => return Message::new("rule-age"),
        };
        let side = match (self.side, by_ike) {
            (Side::Inbound, true) => "inbound",
            (Side::Outbound, true) => "outbound",
            (Side::Inbound, false) => "b-to-a",
            (Side::Outbound, false) => "a-to-b",
            (Side::Both, _) => "both",
        };
        Message::new("rule-counting")
            .with("what", what)
            .with("side", side)
    }
}

/// Packets are steady, and every volume and the age are told apart from them.
fn packets_run_out(counted: &[Counted]) -> bool {
    let packets = counted.iter().filter(|c| c.quantity == Quantity::Packets);
    let steadiest = packets.min_by(|a, b| by_spread(a, b));
    let Some(packets) = steadiest.filter(|c| c.values.len() >= ENOUGH) else {
        return false;
    };
    let mut others = counted.iter().filter(|c| c.quantity != Quantity::Packets);
    others.all(|other| told_apart(packets, other))
}

/// The candidate that the rule names, and those that cannot be told from it.
fn choose(counted: &[Counted], kind: Kind, kilobytes: Option<u64>) -> Option<(&Counted, Vec<&Counted>)> {
    // A limit that no volume comes near is not the one that was counted against: it rules nothing out.
    let kilobytes = kilobytes.filter(|&k| counted.iter().any(|c| c.is_volume() && !c.is_far_below(k)));
    let eligible = |c: &&Counted| match kind {
        Kind::Volume => c.is_volume() && c.can_be(kilobytes),
        Kind::Packets => c.quantity == Quantity::Packets,
        Kind::Time => c.quantity == Quantity::Age,
        _ => false,
    };
    let list: Vec<&Counted> = counted.iter().filter(eligible).collect();
    let steadiest = list.iter().copied().min_by(|a, b| by_spread(a, b))?;
    let alike: Vec<&Counted> = list
        .iter()
        .copied()
        .filter(|c| !told_apart(steadiest, c))
        .collect();
    let chosen = alike
        .iter()
        .copied()
        .min_by(|a, b| preference(a).total_cmp(&preference(b)))?;
    let rest = alike.into_iter().filter(|c| !std::ptr::eq(*c, chosen));
    Some((chosen, rest.collect()))
}

fn by_spread(a: &Counted, b: &Counted) -> std::cmp::Ordering {
    let spread = |c: &Counted| c.spread().unwrap_or(0.0);
    spread(a).total_cmp(&spread(b))
}

/// Lower is preferred: by quantity, one SA before both, the busier SA before the other.
fn preference(c: &Counted) -> f64 {
    let quantity = QUANTITIES
        .iter()
        .position(|q| *q == c.quantity)
        .unwrap_or(QUANTITIES.len());
    let side = if c.side == Side::Both {
        2.0
    } else {
        1.0 / (1.0 + c.high())
    };
    4.0 * quantity as f64 + side
}

/// Whether `other` varies more than `steady` beyond doubt: by ratio, by size, and by Pitman's test of two variances in paired
/// samples (their sums and differences correlate exactly if the variances differ).
fn told_apart(steady: &Counted, other: &Counted) -> bool {
    let (x, y) = (steady.logs(), other.logs());
    if x.len() != y.len() || x.len() < ENOUGH {
        return false;
    }
    let (sx, sy) = (Sample::of(&x).sd, Sample::of(&y).sd);
    if sy < LEAST_SPREAD || sy < LEAST_SPREAD_RATIO * sx {
        return false;
    }
    let sums: Vec<f64> = x.iter().zip(&y).map(|(a, b)| a + b).collect();
    let differences: Vec<f64> = x.iter().zip(&y).map(|(a, b)| b - a).collect();
    let freedom = (x.len() - 2) as f64;
    let r = correlation(&sums, &differences);
    if r >= 1.0 {
        return true; // the steady one does not vary at all
    }
    let t = r * (freedom / (1.0 - r * r)).sqrt();
    StudentsT::new(0.0, 1.0, freedom).is_ok_and(|d| 1.0 - d.cdf(t) <= SIGNIFICANT)
}

/// 0 where one of them does not vary.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (of_a, of_b) = (Sample::of(a), Sample::of(b));
    let product: f64 = a
        .iter()
        .zip(b)
        .map(|(x, y)| (x - of_a.mean) * (y - of_b.mean))
        .sum();
    let scale = of_a.sd * of_b.sd * (a.len() as f64 - 1.0);
    if scale > 0.0 { product / scale } else { 0.0 }
}

/// Limits and fractions of the chosen counting.
fn size(rule: &mut TriggerRule, counting: &Counted, observations: &[Observation]) {
    let lag = if counting.quantity == Quantity::Age {
        observations.iter().map(|_| LEAST_LAG_S).collect::<Vec<f64>>()
    } else {
        let rates = counting.values.iter().zip(observations);
        rates
            .map(|(v, o)| o.age_s.filter(|a| *a > 0.0).map_or(0.0, |a| LEAST_LAG_S * v / a))
            .collect()
    };
    let soft = counting
        .values
        .iter()
        .zip(&lag)
        .map(|(v, l)| v - l)
        .fold(f64::INFINITY, f64::min);
    rule.soft_limit = Some(soft.max(0.0));
    let kilobyte = match counting.quantity {
        Quantity::Packets => return,
        Quantity::Age => KILOBYTE, // not used: a second is a second
        _ => {
            let blur = lag.iter().copied().fold(0.0, f64::max) * (ENVELOPE_LAG_S / LEAST_LAG_S);
            let (bytes, told) = kilobyte(counting.low(), blur, rule.limit_kilobytes);
            (rule.bytes_per_kilobyte, rule.kilobyte_told) = (rule.limit_kilobytes.map(|_| bytes as u32), told);
            bytes as f64
        }
    };
    let Some(low) = counting.fraction(rule.limit_kilobytes, rule.limit_seconds, kilobyte) else {
        return;
    };
    rule.fraction_low = Some(low);
    rule.fraction_high = Some(low * counting.high() / counting.low());
    rule.soft_fraction = Some(low * soft.max(0.0) / counting.low());
}

/// Bytes of a kilobyte, and whether the capture shows it: a soft limit is not above the hard one, and where the lag blurs
/// little, a well-known fraction fits in one of the two only. Otherwise [`LIFETIME_KILOBYTE`], by convention.
fn kilobyte(low: f64, blur: f64, limit_kilobytes: Option<u64>) -> (u64, bool) {
    let Some(limit) = limit_kilobytes.filter(|l| *l > 0) else {
        return (LIFETIME_KILOBYTE, false);
    };
    let fraction = |bytes: f64| low / (limit as f64 * bytes);
    if fraction(KILOBYTE) > MOST_SOFT_FRACTION {
        return (LARGEST_LIFETIME_KILOBYTE, true);
    }
    let blur = blur / (limit as f64 * KILOBYTE);
    let known = |f: f64| KNOWN_FRACTIONS.iter().any(|k| (0.0..=blur).contains(&(f - k)));
    match (known(fraction(KILOBYTE)), known(fraction(LARGEST_KILOBYTE))) {
        (true, false) if blur <= SHARP_FRACTION => (LIFETIME_KILOBYTE, true),
        (false, true) if blur <= SHARP_FRACTION => (LARGEST_LIFETIME_KILOBYTE, true),
        _ => (LIFETIME_KILOBYTE, false),
    }
}

#[cfg(test)]
mod tests;
