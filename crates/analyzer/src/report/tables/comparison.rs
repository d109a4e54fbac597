//! One row per capture of a comparison.

use super::{Mark, Table, WIDE, from, left, right};
use crate::comparison::{ComparedCapture, Comparison};
use crate::report::clean;
use crate::report::format::{self, UNKNOWN, or_unknown};

/// One row per capture, in the order given.
pub(crate) fn comparison(comparison: &Comparison) -> Table {
    let mut table = Table::new(&[
        left("Capture"),
        left("Cipher suite"),
        left("Lifetime"),
        right("Rekeys"),
        from(WIDE, right("per GB")),
        right("Rate"),
        right("s per GB"),
        right("Stall per rekey"),
        right("95 %"),
        right("Efficiency"),
    ]);
    for capture in &comparison.captures {
        let mark = if capture.used { Mark::None } else { Mark::Faint };
        table.push(mark, cells(capture));
    }
    table
        .notes
        .push("GB: 10⁹ new bytes. Stall per rekey: measured within the capture. Efficiency: decrypted payload over IP bytes.".into());
    table
}

fn cells(c: &ComparedCapture) -> Vec<String> {
    let at_least = if c.at_least { "≥ " } else { "" };
    let stall = c.stall_ms.as_ref();
    vec![
        clean::line(&c.name),
        c.suite.as_deref().map_or_else(|| UNKNOWN.into(), clean::line),
        lifetime(c),
        or_unknown(c.rekeys, |n| format::count(n as u64)),
        or_unknown(c.rekeys_per_gb, figures),
        or_unknown(c.rate_bps, format::rate),
        or_unknown(c.seconds_per_gb, figures),
        or_unknown(stall, |s| format!("{at_least}{}", format::duration_ms(s.mean))),
        or_unknown(stall, |s| {
            format!(
                "{} to {}",
                format::duration_ms(s.low),
                format::duration_ms(s.high)
            )
        }),
        or_unknown(c.efficiency, |e| format!("{:.1} %", 100.0 * e)),
    ]
}

/// `2,400 kB, 3,600 s`.
fn lifetime(c: &ComparedCapture) -> String {
    let kilobytes = c.lifetime_kilobytes.map(|n| format!("{} kB", format::count(n)));
    let seconds = c.lifetime_seconds.map(|n| format!("{} s", format::count(n)));
    let parts: Vec<String> = kilobytes.into_iter().chain(seconds).collect();
    if parts.is_empty() {
        UNKNOWN.into()
    } else {
        parts.join(", ")
    }
}

/// Three figures at least.
fn figures(value: f64) -> String {
    match value {
        v if !v.is_finite() => UNKNOWN.into(),
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format::count(v.round() as u64),
    }
}
