//! Series from elsewhere on the capture's time axis: what iperf3 saw, what the router's processor did.
//!
//! They change no verdict. An iperf3 run is placed by cross-correlation ([`align`]), samples by their own times.

mod align;
mod around;
mod iperf3;
mod samples;

use crate::analysis::{Analysis, Overlay, OverlayClock, OverlayKind, OverlayPoint};
use crate::error::Error;
use crate::time::Timestamp;
use align::Placed;
use std::path::Path;

/// Most values of one overlay; further ones are left out, and a sentence says so. As many as a series of the document
/// has bins.
const MOST_POINTS: usize = 20_000;
/// Most overlays of one document.
const MOST_OVERLAYS: usize = 8;
/// A stall of which it is said whether the intervals could show it: one that a person notices.
const STALL_S: f64 = 0.2;

/// Reads the JSON output of iperf3, finds its place on the capture's clock, and adds it.
///
/// # Errors
/// Where the file cannot be read or is not iperf3's.
pub fn add_iperf3(analysis: &mut Analysis, path: &Path) -> Result<(), Error> {
    let run = iperf3::parse(&read(path)?).map_err(|reason| failed(path, reason))?;
    let overlay = of_run(analysis, &run, &path.to_string_lossy());
    add(analysis, path, overlay)
}

/// Reads a CSV file of times and values and adds it.
///
/// # Errors
/// Where the file cannot be read or no row is a time and a number.
pub fn add_csv(analysis: &mut Analysis, path: &Path) -> Result<(), Error> {
    let origin = analysis.capture.first_time;
    let table = samples::parse(&read(path)?, origin).map_err(|reason| failed(path, reason))?;
    let name = table.name.unwrap_or_else(|| {
        path.file_stem()
            .map_or_else(String::new, |s| s.to_string_lossy().into_owned())
    });
    let mut overlay = Overlay {
        path: path.to_string_lossy().into_owned(),
        kind: OverlayKind::Samples,
        name,
        unit: String::new(),
        tunnel: None,
        direction: None,
        clock: None,
        at_rekeys: Vec::new(),
        points: table.points,
        comparison: None,
        sentences: table.sentences,
        messages: Vec::new(),
    };
    bound(&mut overlay);
    add(analysis, path, overlay)
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|e| failed(path, format!("{e}; check its name, and that you may read it")))
}

fn failed(path: &Path, reason: String) -> Error {
    Error::Overlay {
        path: path.into(),
        reason,
    }
}

fn add(analysis: &mut Analysis, path: &Path, mut overlay: Overlay) -> Result<(), Error> {
    if analysis.overlays.len() >= MOST_OVERLAYS {
        let reason = format!("a document holds {MOST_OVERLAYS} overlays at most; leave one out");
        return Err(failed(path, reason));
    }
    overlay.at_rekeys = around::rekeys(analysis, &overlay);
    if overlay.at_rekeys.is_empty() && !analysis.rekeys.is_empty() {
        overlay.sentences.push(
            "It covers no rekey of this capture: check the file and the clocks of the two machines.".into(),
        );
    }
    analysis.overlays.push(overlay);
    Ok(())
}

/// Where an iperf3 run lies in the packet record, and how the two compare.
fn of_run(analysis: &Analysis, run: &iperf3::Run, path: &str) -> Overlay {
    let placed = align::place(&analysis.series, run);
    let aligned = placed.as_ref().filter(|p| p.aligned);
    let offset_s = aligned.map_or(0.0, |p| p.offset_s);
    let start = run.start.plus_seconds(offset_s);
    let mut overlay = Overlay {
        path: path.into(),
        kind: OverlayKind::Iperf3,
        name: "iperf3".into(),
        unit: "bit/s".into(),
        tunnel: aligned.map(|p| p.tunnel),
        direction: aligned.map(|p| p.direction),
        clock: placed.as_ref().map(|p| OverlayClock {
            offset_s,
            correlation: p.correlation,
            step_s: p.step_s,
            interval_s: run.interval_s(),
            aligned: p.aligned,
        }),
        points: points(run, start),
        comparison: aligned.and_then(|p| align::compare(&analysis.series, run, p)),
        at_rekeys: Vec::new(),
        sentences: Vec::new(),
        messages: Vec::new(),
    };
    overlay.sentences = sentences(&overlay, run, placed.as_ref());
    bound(&mut overlay);
    overlay
}

fn points(run: &iperf3::Run, start: Timestamp) -> Vec<OverlayPoint> {
    let point = |i: &iperf3::Interval| OverlayPoint {
        time: start.plus_seconds(i.from),
        seconds: i.to - i.from,
        value: i.rate(),
    };
    run.intervals.iter().map(point).collect()
}

fn bound(overlay: &mut Overlay) {
    let total = overlay.points.len();
    if total > MOST_POINTS {
        overlay.points.truncate(MOST_POINTS);
        let sentence = format!("Only the first {MOST_POINTS} of its {total} values are kept.");
        overlay.sentences.push(sentence);
    }
}

/// What is to be said: where it lies, how it compares, what its rows can show.
fn sentences(overlay: &Overlay, run: &iperf3::Run, placed: Option<&Placed>) -> Vec<String> {
    let mut out = vec![clock_sentence(run, placed)];
    if let Some(c) = &overlay.comparison {
        let mbit = |bps: f64| format!("{:.2}", bps / 1e6);
        out.push(format!(
            "iperf3: mean {} Mbit/s, standard deviation {} Mbit/s over {} intervals; the packets over the same intervals: {} \
             and {} Mbit/s, and {} Mbit/s over bins of {:.0} ms.",
            mbit(c.mean_bps),
            mbit(c.sd_bps),
            c.intervals,
            mbit(c.packets_mean_bps),
            mbit(c.packets_sd_bps),
            mbit(c.packets_bin_sd_bps),
            placed.map_or(0.0, |p| p.step_s * 1000.0),
        ));
    }
    out.push(row_sentence(overlay, run.interval_s()));
    if !run.counts_at_receiver {
        out.push(
            "iperf3 counts here what its sender handed to the socket, which the socket's buffer lets run ahead of the \
             packets: add --get-server-output or measure with -R to count at the receiver."
                .into(),
        );
    }
    out
}

fn clock_sentence(run: &iperf3::Run, placed: Option<&Placed>) -> String {
    match placed {
        Some(p) if p.aligned => format!(
            "Its clock: {:+.2} s were added to its own times (cross-correlation {:.2} with the packets, in steps of {:.0} ms; no \
             better than its interval of {:.2} s). iperf3 writes its start in whole seconds, so that up to 1 s of that is no \
             difference of the clocks.",
            p.offset_s,
            p.correlation,
            p.step_s * 1000.0,
            run.interval_s()
        ),
        Some(p) => format!(
            "Its clock could not be found: {} (cross-correlation {:.2}). It is drawn at its own times.",
            p.doubt, p.correlation
        ),
        None => "Its clock could not be found: there is too little of it, or of the packet record, to compare. It is drawn at \
                 its own times."
            .into(),
    }
}

/// Why coarse rows hide a short stall: it takes only `STALL_S` over the row's length from one row.
fn row_sentence(overlay: &Overlay, interval_s: f64) -> String {
    let share = (STALL_S / interval_s).min(1.0) * 100.0;
    let stall_ms = STALL_S * 1000.0;
    let spread = overlay
        .comparison
        .as_ref()
        .filter(|c| c.mean_bps > 0.0)
        .map(|c| {
            format!(
                ", and its rows scatter by {:.0} % anyway",
                100.0 * c.sd_bps / c.mean_bps
            )
        })
        .unwrap_or_default();
    if interval_s <= STALL_S {
        format!(
            "Its rows of {interval_s:.2} s are short enough to show a stall of {stall_ms:.0} ms; rows of 1 s would not: it takes \
             {:.0} % from one of them, or parts of that from two.",
            STALL_S * 100.0
        )
    } else {
        format!(
            "Its rows of {interval_s:.2} s cannot show a stall of {stall_ms:.0} ms: it takes {share:.0} % from one row, or parts of \
             that from two{spread}. The packets can (bins of 10 ms)."
        )
    }
}
