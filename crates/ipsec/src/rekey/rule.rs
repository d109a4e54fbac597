//! The rule by which a side renews: all countings in use side by side, and which of them is the steady one over the trace.
//!
//! A peer that renews at a limit does so at (nearly) the same value every time, in *its* counting; in any other counting the
//! value varies with packet sizes, with the traffic of the other direction, or with the rate. Where two countings keep a
//! constant ratio no capture can tell them apart, and the rule says so.

mod counting;
mod sentence;

pub(super) use counting::{LEAST_FRACTION, Observation};
pub(super) use rekeyscope_model::analysis::TriggerKind as Kind;

use crate::sa::association::{LARGEST_LIFETIME_KILOBYTE, LIFETIME_KILOBYTE};
use crate::sa::tunnel::TunnelIndex;
use counting::{
    CountedSide, Counting, ENOUGH, KILOBYTE, LARGEST_KILOBYTE, MOST_SOFT_FRACTION, QUANTITIES, Quantity,
    by_spread, countings, told_apart, value,
};
use rekeyscope_model::analysis::TriggerRule;
use rekeyscope_model::text::{Message, Said};
use std::net::IpAddr;

/// Least lag between the peer's own trigger and its first message on the wire, seconds (0.03–0.5 s measured).
const LEAST_LAG_S: f64 = 0.03;
/// The longest lag that was measured, seconds.
const MOST_LAG_S: f64 = 0.5;
/// The lag, in seconds, that the lower envelope still has at most: the least of some lags is near the least lag.
const ENVELOPE_LAG_S: f64 = 0.1;
/// Soft limits of well-known products: 75 % (Yamaha), 80 % (HP), 90 % (strongSwan), 95 %.
const KNOWN_FRACTIONS: [f64; 4] = [0.75, 0.80, 0.90, 0.95];
/// The two kilobytes differ by 2.4 %. Where the lag blurs a fraction by more than this, a known fraction falls into one of
/// the blurred ranges too easily (four ranges of 0.5 % in 0.3–1: 3 %) to decide between them.
const SHARP_FRACTION: f64 = 0.005;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reached {
    /// Bytes at the first exchange message.
    pub(super) bytes: u64,
    /// Over the negotiated kilobytes, where there are any.
    pub(super) fraction: Option<f64>,
}

pub(super) struct Inferred {
    pub(super) rule: TriggerRule,
    pub(super) counting: Option<Message>,
    /// The value that each observation had reached in that counting, where it is a volume and no other counting fits (`None` where the
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
        Kind::Volume | Kind::Unknown if packets_run_out(&counted, &whole) => Kind::Packets,
        other => other,
    };
    let chosen = choose(&counted, kind, kilobytes);
    let mut rule = TriggerRule {
        tunnel,
        initiator,
        kind,
        rekeys: whole.len(),
        at_most,
        counting: chosen.as_ref().map(|c| c.0.name(by_ike)),
        not_told_apart: chosen
            .as_ref()
            .map_or_else(Vec::new, |c| c.1.iter().map(|c| c.name(by_ike)).collect()),
        limit_kilobytes: kilobytes,
        limit_seconds: seconds,
        candidates: counted
            .iter()
            .map(|c| c.published(kilobytes, seconds, by_ike))
            .collect(),
        ..TriggerRule::default()
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

/// Packets are steady, and every volume and the age are told apart from them. A volume that varies by no more than the lag
/// brings about fits as well, and volumes are what peers count.
fn packets_run_out(counted: &[Counting], observations: &[Observation]) -> bool {
    let noise = |c: &Counting| {
        let pairs = c.values.iter().zip(observations);
        let rates = pairs.filter_map(|(v, o)| Some(v / o.age_s.filter(|a| *a > 0.0)?));
        MOST_LAG_S * rates.fold(0.0, f64::max)
    };
    let fits = |c: &Counting| c.is_volume() && c.high() - c.low() <= noise(c);
    if counted.iter().any(fits) {
        return false;
    }
    let packets = counted.iter().filter(|c| c.quantity == Quantity::Packets);
    let steadiest = packets.min_by(|a, b| by_spread(a, b));
    let Some(packets) = steadiest.filter(|c| c.values.len() >= ENOUGH) else {
        return false;
    };
    let mut others = counted.iter().filter(|c| c.quantity != Quantity::Packets);
    others.all(|other| told_apart(packets, other))
}

/// The candidate that the rule names, and those that cannot be told from it.
fn choose(counted: &[Counting], kind: Kind, kilobytes: Option<u64>) -> Option<(&Counting, Vec<&Counting>)> {
    // A limit that no volume comes near is not the one that was counted against: it rules nothing out.
    let kilobytes = kilobytes.filter(|&k| counted.iter().any(|c| c.is_volume() && !c.is_far_below(k)));
    let eligible = |c: &&Counting| match kind {
        Kind::Volume => c.is_volume() && c.can_be(kilobytes),
        Kind::Packets => c.quantity == Quantity::Packets,
        Kind::Time => c.quantity == Quantity::Age,
        _ => false,
    };
    let list: Vec<&Counting> = counted.iter().filter(eligible).collect();
    let steadiest = list.iter().copied().min_by(|a, b| by_spread(a, b))?;
    let alike: Vec<&Counting> = list
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

/// Lower is preferred: by quantity, one SA before both, the busier SA before the other.
fn preference(c: &Counting) -> f64 {
    let quantity = QUANTITIES
        .iter()
        .position(|q| *q == c.quantity)
        .unwrap_or(QUANTITIES.len());
    let side = if c.side == CountedSide::Both {
        2.0
    } else {
        1.0 / (1.0 + c.high())
    };
    4.0 * quantity as f64 + side
}

/// Limits and fractions of the chosen counting.
fn size(rule: &mut TriggerRule, counting: &Counting, observations: &[Observation]) {
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
            (rule.bytes_per_kilobyte, rule.kilobyte_told) =
                (rule.limit_kilobytes.map(|_| bytes as u32), told);
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
