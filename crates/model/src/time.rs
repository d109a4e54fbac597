//! Integer nanoseconds inside, RFC 3339 outside.

use std::fmt;
use std::str::FromStr;

/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const NANOS_PER_MILLI: i64 = 1_000_000;
/// The least that a retransmission timer adds to the round trip (Linux; RFC 6298 §2.4 asks for a second): no shorter silence is a wait for it.
pub const LEAST_TIMEOUT: i64 = 200 * NANOS_PER_MILLI;

/// Seconds of a number of nanoseconds.
pub fn seconds(nanos: i64) -> f64 {
    nanos as f64 / NANOS_PER_SECOND as f64
}

/// Milliseconds of a number of nanoseconds.
pub fn millis(nanos: i64) -> f64 {
    nanos as f64 / NANOS_PER_MILLI as f64
}

/// A moment: nanoseconds since the Unix epoch, UTC (range: the years 1677 to 2262).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Nanoseconds from `earlier` to `self`; negative when `self` comes first. Saturates.
    pub fn nanos_since(self, earlier: Timestamp) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Seconds from `earlier` to `self`; negative when `self` comes first.
    pub fn seconds_since(self, earlier: Timestamp) -> f64 {
        seconds(self.nanos_since(earlier))
    }

    /// Milliseconds from `earlier` to `self`; negative when `self` comes first.
    pub fn millis_since(self, earlier: Timestamp) -> f64 {
        millis(self.nanos_since(earlier))
    }

    /// The day and the time of day in UTC, to the hundredth of a second, cut: `2026-11-20 20:11:49.39`. `None` where no clock was set:
    /// a device without one counts from 1970, and ESP with sequence numbers and IKE is younger than that (RFC 2406).
    pub fn day_and_time(self) -> Option<String> {
        /// The begin of November 1998, the month of RFC 2406 to 2409.
        const ESP: Timestamp = Timestamp(909_878_400 * NANOS_PER_SECOND);
        let text = (self >= ESP).then(|| self.to_string())?;
        Some(format!("{} {}", text.get(..10)?, text.get(11..22)?))
    }

    /// This moment moved by `nanos` (may be negative). Saturates.
    #[must_use]
    pub fn plus_nanos(self, nanos: i64) -> Timestamp {
        Timestamp(self.0.saturating_add(nanos))
    }

    /// This moment moved by `seconds` (may be negative), rounded to the nanosecond. Saturates.
    #[must_use]
    pub fn plus_seconds(self, seconds: f64) -> Timestamp {
        self.plus_nanos((seconds * NANOS_PER_SECOND as f64).round() as i64)
    }
}

/// RFC 3339 with nine fractional digits, UTC.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_nanosecond(i128::from(self.0)) {
            Ok(t) => write!(f, "{t:.9}"),
            Err(_) => write!(f, "{} ns", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let moment: jiff::Timestamp = text.parse().map_err(|error: jiff::Error| error.to_string())?;
        let nanos = i64::try_from(moment.as_nanosecond());
        nanos.map(Timestamp).map_err(|error| error.to_string())
    }
}

serde_by_text!(Timestamp, {"type": "string", "format": "date-time", "description": "RFC 3339, nanoseconds, UTC"});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_nanoseconds_and_reads_them_back() {
        let t = Timestamp(1_795_205_509_390_776_001);
        assert_eq!(t.to_string(), "2026-11-20T20:11:49.390776001Z");
        let json = serde_json::to_string(&t).unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), t);
    }

    #[test]
    fn a_clock_that_was_not_set_has_no_time_of_day() {
        let said = |seconds: i64| Timestamp(seconds * NANOS_PER_SECOND).day_and_time();
        assert_eq!(
            Timestamp(1_795_205_509_399_776_001).day_and_time().as_deref(),
            Some("2026-11-20 20:11:49.39")
        );
        assert_eq!([0, -1, 909_878_399].map(said), [None, None, None]);
        assert_eq!(said(909_878_400).as_deref(), Some("1998-11-01 00:00:00.00"));
    }

    #[test]
    fn extremes_do_not_overflow() {
        assert_eq!(Timestamp(i64::MIN).nanos_since(Timestamp(i64::MAX)), i64::MIN);
        assert_eq!(Timestamp(i64::MAX).plus_seconds(1e30), Timestamp(i64::MAX));
        assert!(!Timestamp(i64::MIN).to_string().is_empty());
    }
}
