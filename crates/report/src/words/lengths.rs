//! Moments, ranges of time and frames in prose. A catalogue spells their units where they are arguments of a message.

use crate::words::focus::Focus;
use crate::words::format;
use rekeyscope_impact::explain::MOST_FRAMES;
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
    fill!(focus.t, "outage-seconds", n)
}

/// `6.56 s, 16.46 s, 26.69 s`: the first ones, because more are in the list of events or outages.
pub(crate) fn moments(focus: &Focus, times: impl Iterator<Item = Timestamp>) -> String {
    const LISTED: usize = 4;
    let mut all: Vec<String> = times.take(LISTED + 1).map(|time| moment(focus, time)).collect();
    if let Some(last) = all.get_mut(LISTED) {
        *last = "…".to_owned();
    }
    focus.t.joined(&all)
}

/// `Frames: 759, 780–783.` in their order; an explanation names no more than [`MOST_FRAMES`] of all.
pub(crate) fn frames(t: &Catalogue, frames: &[u64]) -> String {
    let more = format::yes(frames.len() >= MOST_FRAMES);
    let mut frames = frames.to_vec();
    frames.sort_unstable();
    let stretches = frames.chunk_by(|a, b| a + 1 == *b);
    let named = |stretch: &[u64]| match stretch {
        [first, _, .., last] => vec![format!("{first}–{last}")],
        few => few.iter().map(u64::to_string).collect(),
    };
    let frames: Vec<String> = stretches.flat_map(named).collect();
    fill!(t, "outage-frames", frames = t.joined(&frames), more)
}

/// `5.5–6.8 s`.
pub(crate) fn range(t: &Catalogue, (shortest, longest): (f64, f64)) -> String {
    let digits = if longest < 0.995 { 2 } else { 1 };
    let (from, to) = (format!("{shortest:.digits$}"), format!("{longest:.digits$}"));
    if from == to || longest >= 119.95 {
        return format::seconds(longest);
    }
    fill!(t, "outage-range", from, to)
}
