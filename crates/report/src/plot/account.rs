//! The colours of what the time went to, and the bar of the whole time.
//!
//! The colours were searched for: for full colour vision and for each of the three kinds of colour blindness, any two of them stay
//! apart (a test says how far). Nothing rests on them alone: the parts of the bar are numbered as in its legend.

use crate::plot::canvas::escaped;
use crate::words::{self, format};
use rekeyscope_model::analysis::{Account, AccountLabel, AccountLine};
use rekeyscope_model::text::Catalogue;
use std::fmt::Write as _;

/// Narrower parts of the bar have no number: two digits need this share of a bar 300 pixels wide.
const NUMBERED_FROM: f64 = 0.06;

/// The colour of a label, as red, green and blue.
const fn rgb(label: AccountLabel) -> u32 {
    match label {
        AccountLabel::CaptureHole => 0xDA_FA_E7,
        AccountLabel::TunnelDown => 0x8B_0B_00,
        AccountLabel::Rekey => 0xDE_5C_00,
        AccountLabel::ZeroWindow => 0x00_2B_83,
        AccountLabel::ReceiveWindow => 0x27_59_E2,
        AccountLabel::SendBuffer => 0x41_AF_FA,
        AccountLabel::Application => 0xED_D1_29,
        AccountLabel::PathLoss => 0xB8_6C_94,
        AccountLabel::QueueLoss => 0x82_21_66,
        AccountLabel::Reordering => 0xCC_BC_E0,
        AccountLabel::Growth => 0x92_FA_7E,
        AccountLabel::Capacity => 0x2B_89_4F,
        AccountLabel::Unexplained => 0x55_31_2F,
    }
}

/// The same for SVG.
pub(crate) fn fill(label: AccountLabel) -> String {
    format!("#{:06X}", rgb(label))
}

/// Black or white, whichever reads on the colour.
fn ink(label: AccountLabel) -> &'static str {
    // Contrast with black and with white are equal at this luminance (WCAG 2.2: (L + 0.05)² = 1.05 · 0.05).
    const EVEN: f64 = 0.179;
    if luminance(rgb(label)) > EVEN {
        "#000000"
    } else {
        "#FFFFFF"
    }
}

/// Relative luminance (WCAG 2.2).
fn luminance(rgb: u32) -> f64 {
    let [r, g, b] = linear(rgb);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Red, green and blue without the gamma of sRGB.
fn linear(rgb: u32) -> [f64; 3] {
    [rgb >> 16, rgb >> 8, rgb].map(|c| {
        let c = f64::from(c & 0xFF) / 255.0;
        if c <= 0.040_45 {
            c / 12.92
        } else {
            libm::pow((c + 0.055) / 1.055, 2.4)
        }
    })
}

/// A label with what it has of the time: `rekeys: 1.2 s (4.0 %)`.
pub(crate) fn part(t: &Catalogue, of: &Account, line: &AccountLine) -> String {
    fill!(
        t,
        "account-legend",
        label = words::account_label(t, line.label),
        seconds = words::seconds_of(line.seconds, of.seconds),
        share = format::percent(line.share)
    )
}

/// The square before an entry of the legend.
pub(crate) fn swatch(line: &AccountLine) -> String {
    format!(
        "<svg class=\"swatch\" aria-hidden=\"true\"><rect width=\"100%\" height=\"100%\" fill=\"{}\"/></svg>",
        fill(line.label)
    )
}

/// The whole time as one bar: a part per label, as wide as its share, numbered as in the legend.
pub(crate) fn bar(t: &Catalogue, of: &Account, name: &str) -> String {
    let mut out = format!(
        "<svg class=\"account\" role=\"img\" aria-label=\"{}\">\n",
        escaped(name)
    );
    let mut from = 0.0;
    for (number, line) in (1..).zip(&of.labels) {
        let share = if line.share.is_finite() {
            line.share.clamp(0.0, 1.0 - from)
        } else {
            0.0
        };
        let _ = writeln!(
            out,
            "<rect x=\"{:.3}%\" width=\"{:.3}%\" height=\"100%\" fill=\"{}\"><title>{}</title></rect>",
            from * 100.0,
            share * 100.0,
            fill(line.label),
            escaped(&part(t, of, line))
        );
        if share >= NUMBERED_FROM {
            let _ = writeln!(
                out,
                "<text x=\"{:.3}%\" y=\"50%\" fill=\"{}\">{number}</text>",
                (from + share / 2.0) * 100.0,
                ink(line.label)
            );
        }
        from += share;
    }
    out + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example::{self, LABELS};

    /// Machado, Oliveira and Fernandes (2009), severity 1.0: no red, no green, no blue cones; and full vision.
    const VISIONS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];

    /// CIELAB (D65) of a colour as this eye sees it.
    fn lab(label: AccountLabel, vision: &[[f64; 3]; 3]) -> [f64; 3] {
        let seen = linear(rgb(label));
        let [r, g, b] = vision.map(|row| {
            let sum: f64 = row.iter().zip(seen).map(|(a, b)| a * b).sum();
            sum.clamp(0.0, 1.0)
        });
        let f = |t: f64| {
            if t > 0.008856 {
                t.cbrt()
            } else {
                7.787 * t + 16.0 / 116.0
            }
        };
        let x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
        let y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
        let z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn any_two_colours_stay_apart_for_every_eye() {
        for vision in &VISIONS {
            for (n, a) in LABELS.iter().enumerate() {
                for b in &LABELS[..n] {
                    let (p, q) = (lab(*a, vision), lab(*b, vision));
                    let distance = p.iter().zip(q).map(|(p, q)| (p - q).powi(2)).sum::<f64>().sqrt();
                    // Ten times what is just noticed (about 2.3 in CIELAB).
                    assert!(distance > 23.0, "{a} and {b}: {distance:.1}");
                }
            }
        }
    }

    #[test]
    fn numbers_read_on_their_colour() {
        for label in LABELS {
            let (paper, text) = (
                luminance(rgb(label)),
                if ink(label) == "#000000" { 0.0 } else { 1.0 },
            );
            let (light, dark) = (f64::max(paper, text), f64::min(paper, text));
            assert!((light + 0.05) / (dark + 0.05) >= 4.5, "{label}");
        }
    }

    #[test]
    fn the_bar_has_a_part_per_label_and_is_full() {
        let account = &example::seven_rekeys().account[0];
        let bar = bar(Catalogue::of(Language::English), account, "a < b");
        assert!(
            bar.contains("aria-label=\"a &#60; b\"") || bar.contains("aria-label=\"a &lt; b\""),
            "{bar}"
        );
        assert_eq!(bar.matches("<rect").count(), account.labels.len());
        let widths = bar
            .split(" width=\"")
            .skip(1)
            .filter_map(|rest| rest.split('%').next());
        let sum: f64 = widths.map(|w| w.parse::<f64>().unwrap()).sum();
        assert!((sum - 100.0).abs() < 0.001 * account.labels.len() as f64, "{sum}");
        assert!(
            bar.contains("<title>receiver&#39;s window: 7.0 s (25 %)</title>"),
            "{bar}"
        );
    }
}
