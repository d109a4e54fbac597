//! The JSON output of iperf3 (`--json`, 3.1 and later): its start in whole seconds, and the `sum` of each interval.

use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use serde_json::Value;

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

/// Reads it.
pub(crate) fn parse(text: &[u8]) -> Result<Iperf3Run, String> {
    let output: Value = serde_json::from_slice(text).map_err(|_| {
        "it is not what 'iperf3 --json' writes: run iperf3 with --json --logfile FILE".to_owned()
    })?;
    let seconds = output["start"]["timestamp"]["timesecs"].as_i64();
    let start = seconds.and_then(|s| s.checked_mul(NANOS_PER_SECOND)).ok_or(
        "it is not what 'iperf3 --json' writes: start.timestamp.timesecs is missing; use iperf3 3.1 or newer",
    )?;
    let rows = output["intervals"].as_array().into_iter().flatten();
    let sums = rows.map(|row| &row["sum"]);
    let interval = |sum: &Value| {
        let [from, to, bytes] = ["start", "end", "bytes"].map(|field| sum[field].as_f64());
        let interval = IperfInterval {
            from: from.filter(|from| *from >= 0.0)?,
            to: to.filter(|_| to > from)?,
            bytes: bytes.filter(|bytes| *bytes >= 0.0)?,
        };
        Some((interval, sum["sender"] == true))
    };
    let (intervals, senders): (Vec<IperfInterval>, Vec<bool>) = sums.filter_map(interval).unzip();
    if intervals.is_empty() {
        let why = output["error"].as_str().unwrap_or("the run was too short");
        return Err(format!("it has no intervals ({why})"));
    }
    Ok(Iperf3Run {
        start: Timestamp(start),
        counts_at_receiver: !senders.contains(&true),
        intervals,
    })
}
