//! The countings that a limit may be in, and which of them can be told apart.

use crate::sa::association::{Counters, LARGEST_LIFETIME_KILOBYTE, LIFETIME_KILOBYTE};
use rekeyscope_model::analysis::TriggerCandidate;
use rekeyscope_model::sample::Sample;
use rekeyscope_model::text::{Catalogue, Language, Message};
use statrs::distribution::{ContinuousCDF, StudentsT};

#[derive(Debug, Clone, Copy, Default)]
pub(in crate::rekey) struct Observation {
    /// Inbound, outbound SA of the initiator.
    pub(in crate::rekey) sides: [Option<Counters>; 2],
    /// Age of the pair, seconds.
    pub(in crate::rekey) age_s: Option<f64>,
    /// Negotiated.
    pub(in crate::rekey) limit_kilobytes: Option<u64>,
    /// Negotiated.
    pub(in crate::rekey) limit_seconds: Option<u64>,
    /// The first message of the exchange is not in the capture: all of it was read later.
    pub(in crate::rekey) late: bool,
}

/// A counting is told from the steadiest one only if its spread is this many times as large …
const LEAST_SPREAD_RATIO: f64 = 1.5;
/// … and reaches this: the lags alone move every counting by 0.5 % (10 kB of 2 MB).
const LEAST_SPREAD: f64 = 0.005;
/// … and the difference of the two spreads is significant at this level.
const SIGNIFICANT: f64 = 0.05;
/// Rekeys that give a spread with a test of it (Pitman's has n − 2 degrees of freedom).
pub(super) const ENOUGH: usize = 3;
/// Shares of a limit that a soft limit can be: those seen are a third to all of it; a much lower one has another reason, or is
/// another direction's volume.
pub(in crate::rekey) const LEAST_FRACTION: f64 = 0.05;
/// A loaded link was seen to lag up to this; nothing passes the hard limit by more before the exchange.
pub(super) const MOST_SOFT_FRACTION: f64 = 1.01;
/// Both readings of the kilobyte.
pub(super) const KILOBYTE: f64 = LIFETIME_KILOBYTE as f64;
pub(super) const LARGEST_KILOBYTE: f64 = LARGEST_LIFETIME_KILOBYTE as f64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Inner,
    Esp,
    Outer,
    Packets,
    Age,
}

/// The SA that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedSide {
    Inbound,
    Outbound,
    Both,
}

/// In order of preference among those that cannot be told apart: RFC 4301 §4.4.2.1 counts what the algorithm was applied to,
/// per SA; Linux counts the decrypted payload.
pub(super) const QUANTITIES: [Quantity; 4] =
    [Quantity::Inner, Quantity::Esp, Quantity::Outer, Quantity::Packets];

/// A counting with its values, one per rekey.
pub(super) struct Counting {
    pub(super) quantity: Quantity,
    pub(super) side: CountedSide,
    pub(super) values: Vec<f64>,
}

/// All countings of which every rekey has a value above 0.
pub(super) fn countings(observations: &[Observation]) -> Vec<Counting> {
    let mut all = Vec::new();
    for quantity in QUANTITIES {
        for side in [CountedSide::Inbound, CountedSide::Outbound, CountedSide::Both] {
            let values = observations.iter().map(|o| value(o, quantity, side));
            all.extend(Counting::new(quantity, side, values.collect()));
        }
    }
    let ages = observations.iter().map(|o| o.age_s);
    all.extend(Counting::new(Quantity::Age, CountedSide::Both, ages.collect()));
    all
}

pub(super) fn value(o: &Observation, quantity: Quantity, side: CountedSide) -> Option<f64> {
    let of = |c: &Counters| match quantity {
        // The payload of an SA without a key is unknown, not 0.
        Quantity::Inner => (c.opened == c.packets).then_some(c.inner_bytes),
        Quantity::Esp => Some(c.esp_bytes),
        Quantity::Outer => Some(c.outer_bytes),
        Quantity::Packets => Some(c.packets),
        Quantity::Age => None,
    };
    let [inbound, outbound] = [&o.sides[0], &o.sides[1]].map(|c| c.as_ref().and_then(of));
    let n = match side {
        CountedSide::Inbound => inbound?,
        CountedSide::Outbound => outbound?,
        CountedSide::Both => inbound?.saturating_add(outbound?),
    };
    Some(n as f64)
}

impl Counting {
    fn new(quantity: Quantity, side: CountedSide, values: Option<Vec<f64>>) -> Option<Counting> {
        let values = values.filter(|v| !v.is_empty() && v.iter().all(|&x| x > 0.0))?;
        Some(Counting {
            quantity,
            side,
            values,
        })
    }

    pub(super) fn low(&self) -> f64 {
        self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(super) fn high(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }

    /// Standard deviation of the logarithms: the same for any unit.
    fn spread(&self) -> Option<f64> {
        let logs = self.logs();
        (logs.len() > 1).then(|| Sample::of(&logs).sd)
    }

    fn logs(&self) -> Vec<f64> {
        self.values.iter().map(|v| libm::log(*v)).collect()
    }

    pub(super) fn is_volume(&self) -> bool {
        matches!(self.quantity, Quantity::Inner | Quantity::Esp | Quantity::Outer)
    }

    /// Lower envelope over the limit.
    pub(super) fn fraction(
        &self,
        kilobytes: Option<u64>,
        seconds: Option<u64>,
        kilobyte: f64,
    ) -> Option<f64> {
        let limit = match self.quantity {
            Quantity::Age => seconds.map(|s| s as f64),
            Quantity::Packets => None,
            _ => kilobytes.map(|k| k as f64 * kilobyte),
        };
        limit.filter(|l| *l > 0.0).map(|l| self.low() / l)
    }

    /// A limit that was negotiated decides first: what cannot be its soft limit is out.
    pub(super) fn can_be(&self, kilobytes: Option<u64>) -> bool {
        self.fraction(kilobytes, None, LARGEST_KILOBYTE)
            .is_none_or(|f| (LEAST_FRACTION..=MOST_SOFT_FRACTION).contains(&f))
    }

    pub(super) fn is_far_below(&self, kilobytes: u64) -> bool {
        self.fraction(Some(kilobytes), None, KILOBYTE)
            .is_some_and(|f| f < LEAST_FRACTION)
    }

    pub(super) fn published(
        &self,
        kilobytes: Option<u64>,
        seconds: Option<u64>,
        by_ike: bool,
    ) -> TriggerCandidate {
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

    pub(super) fn name(&self, by_ike: bool) -> String {
        Catalogue::of(Language::English).say(&self.words(by_ike))
    }

    pub(super) fn words(&self, by_ike: bool) -> Message {
        let what = match self.quantity {
            Quantity::Inner => "inner",
            Quantity::Esp => "esp",
            Quantity::Outer => "outer",
            Quantity::Packets => "packets",
            Quantity::Age => return Message::new("rule-age"),
        };
        let side = match (self.side, by_ike) {
            (CountedSide::Inbound, true) => "inbound",
            (CountedSide::Outbound, true) => "outbound",
            (CountedSide::Inbound, false) => "b-to-a",
            (CountedSide::Outbound, false) => "a-to-b",
            (CountedSide::Both, _) => "both",
        };
        Message::new("rule-counting")
            .with("what", what)
            .with("side", side)
    }
}

pub(super) fn by_spread(a: &Counting, b: &Counting) -> std::cmp::Ordering {
    let spread = |c: &Counting| c.spread().unwrap_or(0.0);
    spread(a).total_cmp(&spread(b))
}

/// Tells whether `other` varies more than `steady` beyond doubt: by ratio, by size, and by Pitman's test of two variances in paired
/// samples (their sums and differences correlate exactly if the variances differ). Both have a value of each rekey.
pub(super) fn told_apart(steady: &Counting, other: &Counting) -> bool {
    let (x, y) = (steady.logs(), other.logs());
    if x.len() < ENOUGH {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(quantity: Quantity, values: Vec<f64>) -> Counting {
        Counting {
            quantity,
            side: CountedSide::Inbound,
            values,
        }
    }

    /// Values whose logarithms are so many times the pattern.
    fn varied(pattern: &[f64], times: f64) -> Counting {
        counted(Quantity::Esp, pattern.iter().map(|p| (p * times).exp()).collect())
    }

    /// Of patterns that do not correlate, t = (k − 1/k)·√f / 2, where k is how many times as much the second varies.
    fn told_at(patterns: [&[f64]; 2], k: f64) -> bool {
        let sd = |pattern| Sample::of(pattern).sd;
        let [steady, other] = patterns;
        told_apart(
            &varied(steady, 0.1 / sd(steady)),
            &varied(other, 0.1 * k / sd(other)),
        )
    }

    /// Of 1, 2 and 4 degrees of freedom: t at 0.95 in every table.
    #[test]
    fn countings_are_told_apart_from_the_critical_value_on() {
        let patterns: [([&[f64]; 2], f64); 3] = [
            ([&[-1.0, 0.0, 1.0], &[1.0, -2.0, 1.0]], 6.314),
            ([&[1.0, -1.0, 1.0, -1.0], &[1.0, 1.0, -1.0, -1.0]], 2.920),
            (
                [
                    &[1.0, -1.0, 1.0, -1.0, 0.0, 0.0],
                    &[1.0, 1.0, -1.0, -1.0, 0.0, 0.0],
                ],
                2.132,
            ),
        ];
        for (pair, critical) in patterns {
            let freedom = (pair[0].len() - 2) as f64;
            let k = |t: f64| {
                let a = t / freedom.sqrt();
                a + (a * a + 1.0).sqrt()
            };
            assert!(told_at(pair, k(1.001 * critical)), "{freedom}");
            assert!(!told_at(pair, k(0.999 * critical)), "{freedom}");
            assert!(!told_at(pair, 1.0 / k(2.0 * critical)), "the other way round");
        }
    }

    #[test]
    fn what_differs_by_little_is_not_told_apart_however_sure_that_is() {
        let [steady, other] = [
            [1.0, -1.0, 1.0, -1.0].repeat(100),
            [1.0, 1.0, -1.0, -1.0].repeat(100),
        ];
        assert!(told_at([&steady, &other], 1.51) && !told_at([&steady, &other], 1.49));
        let constant = varied(&steady, 0.0);
        let sd = Sample::of(&other).sd;
        assert!(told_apart(&constant, &varied(&other, 0.0051 / sd)));
        assert!(
            !told_apart(&constant, &varied(&other, 0.0049 / sd)),
            "a lag does that"
        );
        let two = |pattern: &[f64]| varied(pattern, 1.0);
        assert!(
            !told_apart(&two(&[0.0, 0.0]), &two(&[0.0, 1.0])),
            "two rekeys make no test"
        );
    }

    #[test]
    fn correlations() {
        let rising = [1.0, 2.0, 3.0, 4.0];
        let near = |b: &[f64], expected: f64| (correlation(&rising, b) - expected).abs() < 1e-12;
        assert!(near(&[10.0, 20.0, 30.0, 40.0], 1.0));
        assert!(near(&[4.0, 3.0, 2.0, 1.0], -1.0));
        assert!(near(&[1.0, 3.0, 2.0, 4.0], 0.8));
        assert_eq!(correlation(&rising, &[5.0; 4]), 0.0);
    }

    #[test]
    fn a_limit_rules_out_what_cannot_be_its_soft_limit() {
        let volume = |bytes: f64| counted(Quantity::Esp, vec![bytes, 2.0 * bytes]);
        let can_be = |bytes: f64| volume(bytes).can_be(Some(1_000));
        // By the larger kilobyte: 5 % are 51,200 bytes, 101 % are 1,034,240.
        assert!(can_be(51_201.0) && !can_be(51_199.0));
        assert!(can_be(1_034_239.0) && !can_be(1_034_241.0));
        assert!(volume(1.0).can_be(None) && volume(1.0).can_be(Some(0)));
        assert!(volume(49_999.0).is_far_below(1_000) && !volume(50_000.0).is_far_below(1_000));
        assert!(!volume(1.0).is_far_below(0));
    }

    #[test]
    fn fractions_are_of_the_limit_in_its_own_unit() {
        let of = |quantity| counted(quantity, vec![60.0, 30.0]).fraction(Some(3), Some(40), 10.0);
        assert_eq!(of(Quantity::Esp), Some(1.0));
        assert_eq!(of(Quantity::Age), Some(0.75));
        assert_eq!(of(Quantity::Packets), None);
        let age = counted(Quantity::Age, vec![30.0]).published(Some(3), Some(40), true);
        assert_eq!((age.fraction_1000, age.fraction_1024), (Some(0.75), None));
        assert_eq!((age.low, age.high, age.spread), (30.0, 30.0, None));
        let bytes = counted(Quantity::Outer, vec![1_500.0, 3_000.0]).published(Some(3), None, true);
        assert_eq!(
            (bytes.fraction_1000, bytes.fraction_1024),
            (Some(0.5), Some(1_500.0 / 3_072.0))
        );
        assert!(bytes.spread.is_some());
    }
}
