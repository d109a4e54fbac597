//! Values of options that are more than a number or a name.

use rekeyscope::pipeline::Verify;
use std::path::PathBuf;

/// Highest reference rate, Mbit/s: a petabit per second, a thousand times what one fibre carries.
const MOST_MBPS: f64 = 1e9;

pub(super) fn reference_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= MOST_MBPS => Ok(value),
        _ => Err(format!(
            "expected a rate in Mbit/s, above 0 and at most {MOST_MBPS}"
        )),
    }
}

pub(super) fn verify(text: &str) -> Result<Verify, String> {
    let count = |n: &str| n.parse::<u64>().ok().filter(|n| *n > 0);
    match text.split_once(':') {
        None if text == "all" => Some(Verify::All),
        Some(("sample", n)) => count(n).map(Verify::Sample),
        Some(("first", n)) => count(n).map(Verify::First),
        _ => None,
    }
    .ok_or_else(|| "expected all, sample:N or first:K".into())
}

/// The parser of an option that names a folder.
pub(super) fn folder(text: &str) -> Result<PathBuf, String> {
    if text == "-" {
        Err("expected a folder: the tables are several files".into())
    } else {
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_finite_and_make_sense() {
        for wrong in ["0", "-1", "NaN", "inf", "1e308", "ten", ""] {
            assert!(reference_rate(wrong).is_err(), "{wrong}");
        }
        assert_eq!(reference_rate("94.5"), Ok(94.5));
    }

    #[test]
    fn verify_values() {
        assert_eq!(verify("all"), Ok(Verify::All));
        assert_eq!(verify("sample:10"), Ok(Verify::Sample(10)));
        assert_eq!(verify("first:3"), Ok(Verify::First(3)));
        assert!(verify("sample:0").is_err() && verify("most").is_err());
    }
}
