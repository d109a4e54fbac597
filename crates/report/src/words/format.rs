//! Numbers as people read them. Unknown, infinite and NaN are [`UNKNOWN`].

use rekeyscope_model::text::{Catalogue, Message};

/// `24,102`.
pub(crate) use rekeyscope_model::text::grouped as count;

pub(crate) use rekeyscope_impact::tell::words::{prefix_of, rate};
use rekeyscope_impact::tell::words::{three_digits, volume};

/// Stands for a value that the document does not have.
pub(crate) const UNKNOWN: &str = "–";

/// A text, with a sign where it is a lower bound.
pub(crate) fn least(at_least: bool, text: String) -> String {
    match at_least {
        true => format!("≥ {text}"),
        false => text,
    }
}

/// The choice of a message by a fact.
pub(crate) fn yes(is_so: bool) -> &'static str {
    match is_so {
        true => "yes",
        false => "no",
    }
}

/// A message with a number of things, as in `7 rekeys`, `1 rekey`: `count` chooses the plural, `n` is what is shown.
pub(crate) fn counted(t: &Catalogue, id: &str, n: u64) -> String {
    t.say(&number_of(id, n))
}

/// The same before it is said, for one with more arguments.
pub(crate) fn number_of(id: &str, n: u64) -> Message {
    Message::new(id).with("count", n).with("n", count(n))
}

/// A text with its first letter as at the begin of a sentence.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

/// `2.04 MB` (1 MB = 10⁶ bytes).
pub(crate) fn bytes(n: u64) -> String {
    volume(n as f64)
}

/// Milliseconds without their unit: `0.9`, `12`, `4,920`, `−12`.
pub(crate) fn millis(ms: f64) -> String {
    if !ms.is_finite() {
        return UNKNOWN.to_string();
    }
    let sign = if ms <= -0.05 { "−" } else { "" };
    let size = ms.abs();
    if size < 9.95 {
        format!("{sign}{size:.1}")
    } else {
        format!("{sign}{}", count(size.round() as u64))
    }
}

/// `12 ms`, `4.92 s`: for prose.
pub(crate) fn duration_ms(ms: f64) -> String {
    if ms.is_finite() && ms.abs() >= 1000.0 {
        seconds(ms / 1000.0)
    } else {
        format!("{} ms", millis(ms))
    }
}

/// Seconds that were lost, without their unit: `0`, `0.23`, `13.76`; two digits, so that what stands in a column adds up.
pub(crate) fn cost(s: f64) -> String {
    match s {
        s if !s.is_finite() => UNKNOWN.to_string(),
        s if is_nothing(s) => "0".to_string(),
        s => format!("{s:.2}"),
    }
}

/// The smallest cost that two digits show, seconds; one below is said as 0.
const LEAST_COST_S: f64 = 0.01;

/// Whether two digits show a cost as 0.
pub(crate) fn is_nothing(cost_s: f64) -> bool {
    cost_s < LEAST_COST_S
}

/// `3.0 s`, `30.1 s`, `2 min 5 s`, `3 h 12 min`.
pub(crate) fn seconds(s: f64) -> String {
    if !s.is_finite() {
        return UNKNOWN.to_string();
    }
    match s.abs() {
        a if a < 9.995 => format!("{s:.2} s"),
        a if a < 119.95 => format!("{s:.1} s"),
        a if a < 7200.0 => format!("{} min {} s", (s / 60.0).trunc(), (s % 60.0).trunc().abs()),
        _ => format!(
            "{} h {} min",
            count((s.abs() / 3600.0) as u64),
            ((s.abs() % 3600.0) / 60.0).trunc()
        ),
    }
}

/// A moment since the start: `8.214`, from an hour on `1:02:03.214`.
pub(crate) fn clock(s: f64) -> String {
    if !s.is_finite() {
        return UNKNOWN.to_string();
    }
    let millis = (s.abs() * 1000.0).round() as u64;
    let sign = if s < 0.0 && millis > 0 { "−" } else { "" };
    let (whole, fraction) = (millis / 1000, millis % 1000);
    if whole < 3600 {
        format!("{sign}{whole}.{fraction:03}")
    } else {
        format!(
            "{sign}{}:{:02}:{:02}.{fraction:03}",
            whole / 3600,
            whole / 60 % 60,
            whole % 60
        )
    }
}

/// A share as `85 %`, `3.1 %`.
pub(crate) fn percent(share: f64) -> String {
    if !share.is_finite() {
        return UNKNOWN.to_string();
    }
    let p = share * 100.0;
    if p.abs() < 9.95 && p != 0.0 {
        format!("{p:.1} %")
    } else {
        format!("{p:.0} %")
    }
    .replace('-', "−")
}

/// A figure of which nothing is known: three digits at least, thousands apart.
pub(crate) fn value(x: f64) -> String {
    match x {
        x if !x.is_finite() => UNKNOWN.to_string(),
        x if x.abs() < 999.5 => {
            let text = three_digits(x);
            let short = if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.')
            } else {
                &text
            };
            short.to_string()
        }
        x if x.abs() < 1e15 => {
            let sign = if x < 0.0 { "−" } else { "" };
            format!("{sign}{}", count(x.abs().round() as u64))
        }
        x => format!("{x:.3e}"),
    }
}

/// The formatted value, or [`UNKNOWN`].
pub(crate) fn or_unknown<T>(value: Option<T>, format: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_string(), format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(bytes(2_036_000), "2.04 MB");
        assert_eq!(bytes(999_999), "1.00 MB");
        assert_eq!(bytes(17), "17 B");
        assert_eq!(rate(8_850_000.0), "8.85 Mbit/s");
        assert_eq!(rate(-12e3), "-12.0 kbit/s");
        assert_eq!(rate(f64::NAN), UNKNOWN);
    }

    #[test]
    fn times() {
        assert_eq!(millis(0.94), "0.9");
        assert_eq!(millis(-0.01), "0.0");
        assert_eq!(millis(-12.4), "−12");
        assert_eq!(millis(4920.3), "4,920");
        assert_eq!(millis(f64::INFINITY), UNKNOWN);
        assert_eq!(duration_ms(4920.3), "4.92 s");
        assert_eq!(seconds(125.9), "2 min 5 s");
        assert_eq!(clock(8.2136), "8.214");
        assert_eq!(clock(-0.0001), "0.000");
        assert_eq!(clock(3723.2), "1:02:03.200");
        assert_eq!(clock(f64::NAN), UNKNOWN);
    }

    #[test]
    fn values() {
        for (x, text) in [
            (37.0, "37"),
            (0.5, "0.5"),
            (37.25, "37.2"),
            (0.0, "0"),
            (1e6, "1,000,000"),
            (-2e3, "−2,000"),
        ] {
            assert_eq!(value(x), text);
        }
    }

    #[test]
    fn shares() {
        assert_eq!(percent(0.848), "85 %");
        assert_eq!(percent(0.031), "3.1 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(-1.17), "−117 %");
        assert_eq!(
            [0.0, 0.0099, 0.0101, 13.756].map(cost),
            ["0", "0", "0.01", "13.76"]
        );
    }
}
