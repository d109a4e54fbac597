//! Moments and lengths of time in prose, in the language of a catalogue.

use crate::words::focus::Focus;
use crate::words::format;
use rekeyscope_model::text::Catalogue;
use rekeyscope_model::time::Timestamp;

/// A moment in prose: `10.96 s`, from an hour on `1:02:03.214`.
pub(crate) fn moment(focus: &Focus, time: Timestamp) -> String {
    let Some(seconds) = focus.seconds(time) else {
        return format::UNKNOWN.to_owned();
    };
    let n = match seconds {
        s if s < 99.995 => format!("{s:.2}"),
        s if s < 3600.0 => format!("{s:.1}"),
        s => return format::clock(s),
    };
    focus.t.fill("outage-seconds", &[("n", &n)])
}

/// A length in prose: `0.60 s`, `14.1 s`, `2 min 5 s`.
pub(crate) fn duration(t: &Catalogue, seconds: f64) -> String {
    let whole = |s: f64| format::count(s as u64);
    match seconds {
        s if !s.is_finite() => format::UNKNOWN.to_owned(),
        s if s < 9.995 => t.fill("outage-seconds", &[("n", &format!("{s:.2}"))]),
        s if s < 119.95 => t.fill("outage-seconds", &[("n", &format!("{s:.1}"))]),
        s if s < 7200.0 => t.fill(
            "outage-minutes",
            &[("minutes", &whole(s / 60.0)), ("n", &whole(s % 60.0))],
        ),
        s => t.fill(
            "outage-hours",
            &[
                ("hours", &whole(s / 3600.0)),
                ("minutes", &whole(s % 3600.0 / 60.0)),
            ],
        ),
    }
}

/// `5.5–6.8 s`.
pub(crate) fn range(t: &Catalogue, (shortest, longest): (f64, f64)) -> String {
    let digits = if longest < 0.995 { 2 } else { 1 };
    let (from, to) = (format!("{shortest:.digits$}"), format!("{longest:.digits$}"));
    if from == to || longest >= 119.95 {
        return duration(t, longest);
    }
    t.fill("outage-range", &[("from", &from), ("to", &to)])
}
