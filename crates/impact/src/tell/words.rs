//! Numbers for people.

use rekeyscope_model::analysis::Estimate;
use rekeyscope_model::text::{Arg, Message};

/// Below this, durations are given in milliseconds.
const MILLISECONDS_BELOW_S: f64 = 0.1;

/// U+2212, the width of a plus.
fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// `0.89 s`, `21 ms`, `−3 ms`.
pub fn seconds(s: f64) -> String {
    let (value, unit) = scaled(s, s.abs());
    format!("{value} {unit}")
}

fn scaled(s: f64, largest: f64) -> (String, &'static str) {
    // Rounded first, so that 0.0999 is not "100 ms" beside "0.10 s".
    if (largest * 1000.0).round() < MILLISECONDS_BELOW_S * 1000.0 {
        let ms = (s * 1000.0).round();
        (minus(&format!("{:.0}", ms + 0.0)), "ms")
    } else if largest < 100.0 {
        (minus(&format!("{:.2}", (s * 100.0).round() / 100.0 + 0.0)), "s")
    } else {
        (minus(&format!("{:.0}", s.round() + 0.0)), "s")
    }
}

/// `0.62–1.16 s`; `−17 to 21 ms` where a minus would collide with the dash.
pub fn interval(low: f64, high: f64) -> Arg {
    let largest = low.abs().max(high.abs());
    let ((a, _), (b, unit)) = (scaled(low, largest), scaled(high, largest));
    if low < 0.0 {
        Message::new("range")
            .with("low", a)
            .with("high", format!("{b} {unit}"))
            .into()
    } else {
        format!("{a}–{b} {unit}").into()
    }
}

/// `23 %`, `1.0 %` below ten.
pub fn percent(share: f64) -> String {
    let p = share * 100.0;
    let text = if p.abs() < 9.95 && p.fract() != 0.0 {
        format!("{p:.1}")
    } else {
        format!("{p:.0}")
    };
    minus(&format!("{text} %"))
}

/// Share of the gap to a reference rate that rekeys explain: none is shown above all of it, because no cause takes more than there is.
/// (The estimate itself may: without the rekeys the rate would then exceed the reference.)
pub fn explained(share: &Estimate, reference: &str) -> Message {
    let Estimate { estimate, low, high } = *share;
    let least = |message: Message| message.with("least", percent(low.max(0.0)));
    let estimated = |message: Message| message.with("estimate", percent(estimate.max(0.0)));
    let alike = percent(low) == percent(high);
    let message = match () {
        () if low >= 1.0 => Message::new("explained-all"),
        () if estimate >= 1.0 => least(Message::new("explained-all-at-least")),
        () if high >= 1.0 => least(estimated(Message::new("explained-up-to-all"))),
        () if alike => estimated(Message::new("explained-just")),
        () => least(estimated(Message::new("explained-share"))).with("most", percent(high)),
    };
    message.with("reference", reference)
}

/// `9.42 Mbit/s`.
pub fn rate(bps: f64) -> String {
    prefixed(bps, "bit/s")
}

/// `16.8 MB` (1 MB = 10⁶ bytes).
pub fn volume(bytes: f64) -> String {
    prefixed(bytes, "B")
}

/// A value with a prefix of its unit; `–` of infinities and of what is no number.
fn prefixed(x: f64, unit: &str) -> String {
    let (factor, prefix) = prefix_of(x.abs());
    match x {
        x if !x.is_finite() => "–".to_owned(),
        x if factor == 1.0 => format!("{x:.0} {unit}"),
        x => format!("{} {prefix}{unit}", three_digits(x / factor)),
    }
}

/// Decimal prefix for a value of that size, with its factor.
pub fn prefix_of(size: f64) -> (f64, &'static str) {
    match size {
        s if s < 999.5 => (1.0, ""),
        s if s < 999.5e3 => (1e3, "k"),
        s if s < 999.5e6 => (1e6, "M"),
        s if s < 999.5e9 => (1e9, "G"),
        _ => (1e12, "T"),
    }
}

/// Three significant digits at least, no exponent: `9.42`, `94.2`, `942`.
pub fn three_digits(x: f64) -> String {
    match x.abs() {
        a if a < 9.995 => format!("{x:.2}"),
        a if a < 99.95 => format!("{x:.1}"),
        _ => format!("{x:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::text::{Catalogue, Language};

    fn english(arg: impl Into<Arg>) -> String {
        Catalogue::of(Language::English).list(&[arg.into()]).unwrap()
    }

    #[test]
    fn durations() {
        assert_eq!(
            (seconds(0.891).as_str(), seconds(0.021).as_str()),
            ("0.89 s", "21 ms")
        );
        assert_eq!(
            (seconds(0.0999).as_str(), seconds(0.0994).as_str()),
            ("0.10 s", "99 ms")
        );
        assert_eq!(
            (seconds(-0.0031).as_str(), seconds(-0.0001).as_str()),
            ("−3 ms", "0 ms")
        );
        assert_eq!(
            (english(interval(0.62, 1.16)), english(interval(-0.0171, 0.0213))),
            ("0.62–1.16 s".into(), "−17 to 21 ms".into())
        );
        assert_eq!(english(interval(-0.02, 0.14)), "−0.02 to 0.14 s");
    }

    #[test]
    fn shares_rates_and_volumes() {
        assert_eq!(
            (
                percent(0.231).as_str(),
                percent(0.0104).as_str(),
                percent(0.03).as_str()
            ),
            ("23 %", "1.0 %", "3 %")
        );
        assert_eq!(
            (
                rate(8_394_000.0).as_str(),
                rate(700e6).as_str(),
                rate(1.2e9).as_str()
            ),
            ("8.39 Mbit/s", "700 Mbit/s", "1.20 Gbit/s")
        );
        assert_eq!(
            (volume(16.8e6).as_str(), volume(1500.0).as_str()),
            ("16.8 MB", "1.50 kB")
        );
    }

    #[test]
    fn rates_and_sizes_have_three_figures() {
        let rates = [
            1_234.0,
            999_940.0,
            1e6,
            12_345_678.0,
            99.96e6,
            123.4e6,
            1e9,
            2.5e9,
        ];
        assert_eq!(
            rates.map(rate),
            [
                "1.23 kbit/s",
                "1.00 Mbit/s",
                "1.00 Mbit/s",
                "12.3 Mbit/s",
                "100 Mbit/s",
                "123 Mbit/s",
                "1.00 Gbit/s",
                "2.50 Gbit/s"
            ]
        );
        let sizes = [500.0, 1e6, 16.8e6, 1e9, 25e9];
        assert_eq!(
            sizes.map(volume),
            ["500 B", "1.00 MB", "16.8 MB", "1.00 GB", "25.0 GB"]
        );
        assert_eq!(
            [9.994, 9.995, 99.94, 99.95].map(three_digits),
            ["9.99", "10.0", "99.9", "100"]
        );
    }

    #[test]
    fn seconds_become_milliseconds_below_a_tenth() {
        let told = [0.0994, 0.0995, 0.1, -0.003, -0.0004, 99.99, 100.0, 1_234.4];
        assert_eq!(
            told.map(seconds),
            [
                "99 ms", "0.10 s", "0.10 s", "−3 ms", "0 ms", "99.99 s", "100 s", "1234 s"
            ]
        );
    }

    #[test]
    fn no_share_is_above_all_of_the_gap() {
        let say = |low, estimate, high| english(explained(&Estimate { estimate, low, high }, "10 Mbit/s"));
        assert_eq!(
            say(0.2, 0.42, 0.63),
            "Rekeys explain 42 % (20 % to 63 %) of the gap to 10 Mbit/s."
        );
        assert_eq!(
            say(0.42, 0.42, 0.42),
            "Rekeys explain 42 % of the gap to 10 Mbit/s."
        );
        assert_eq!(
            say(0.35, 0.96, 1.9),
            "Rekeys explain 96 % of the gap to 10 Mbit/s (at least 35 %, and it could be all)."
        );
        assert_eq!(
            say(0.35, 1.2, 1.9),
            "Rekeys could explain all of the gap to 10 Mbit/s, and explain at least 35 %."
        );
        assert_eq!(say(1.1, 1.5, 1.9), "Rekeys explain all of the gap to 10 Mbit/s.");
    }
}
