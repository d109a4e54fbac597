//! The JSON output of iperf3 (`--json`, 3.1 and later): its start in whole seconds, and the `sum` of each interval.

use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use serde::Deserialize;

/// A run.
pub(crate) struct Iperf3Run {
    /// Start by its own clock; iperf3 writes whole seconds.
    pub(crate) start: Timestamp,
    pub(crate) intervals: Vec<IperfInterval>,
    /// False: its own side sends, so that bytes count when they are handed to the socket.
    pub(crate) counts_at_receiver: bool,
}

/// Seconds since the start, and the bytes in between.
pub(crate) struct IperfInterval {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) bytes: f64,
}

impl IperfInterval {
    /// Bit/s.
    pub(crate) fn rate(&self) -> f64 {
        self.bytes * 8.0 / (self.to - self.from)
    }
}

impl Iperf3Run {
    /// Median length of its intervals, seconds.
    pub(crate) fn interval_s(&self) -> f64 {
        let mut lengths: Vec<f64> = self.intervals.iter().map(|i| i.to - i.from).collect();
        lengths.sort_by(f64::total_cmp);
        lengths.get(lengths.len() / 2).copied().unwrap_or(0.0)
    }
}

#[derive(Deserialize)]
struct Output {
    start: Iperf3Start,
    #[serde(default)]
    intervals: Vec<IntervalRow>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Iperf3Start {
    timestamp: Option<Stamp>,
}

#[derive(Deserialize)]
struct Stamp {
    timesecs: i64,
}

#[derive(Deserialize)]
struct IntervalRow {
    sum: Iperf3Sum,
}

#[derive(Deserialize)]
struct Iperf3Sum {
    start: f64,
    end: f64,
    bytes: f64,
    #[serde(default)]
    sender: bool,
}

/// Reads it.
pub(crate) fn parse(text: &[u8]) -> Result<Iperf3Run, String> {
    let output: Output = serde_json::from_slice(text).map_err(|e| {
        format!("it is not what 'iperf3 --json' writes ({e}); run iperf3 with --json --logfile FILE")
    })?;
    let timesecs = output.start.timestamp.map(|t| t.timesecs);
    let seconds = timesecs
        .and_then(|s| s.checked_mul(NANOS_PER_SECOND))
        .ok_or("it has no start.timestamp.timesecs; use iperf3 3.1 or newer")?;
    let sane = |s: &Iperf3Sum| {
        [s.start, s.end, s.bytes].iter().all(|v| v.is_finite())
            && s.end > s.start
            && s.start >= 0.0
            && s.bytes >= 0.0
    };
    let sums: Vec<Iperf3Sum> = output.intervals.into_iter().map(|r| r.sum).filter(sane).collect();
    if sums.is_empty() {
        let why = output.error.unwrap_or_else(|| "the run was too short".into());
        return Err(format!("it has no intervals ({why})"));
    }
    Ok(Iperf3Run {
        start: Timestamp(seconds),
        counts_at_receiver: sums.iter().all(|s| !s.sender),
        intervals: sums
            .iter()
            .map(|s| IperfInterval {
                from: s.start,
                to: s.end,
                bytes: s.bytes,
            })
            .collect(),
    })
}
