//! Series from elsewhere on the capture's time axis: what iperf3 saw, what the router's processor did.
//!
//! They change no verdict. An iperf3 run is placed by cross-correlation ([`align`]), samples by their own times.

mod align;
mod iperf3;
mod samples;

use align::{Doubt, Placed};
use rekeyscope_keylog::utf8_text;
use rekeyscope_model::analysis::{
    Analysis, Overlay, OverlayAtRekey, OverlayClock, OverlayComparison, OverlayKind, OverlayPoint, Rekey,
};
use rekeyscope_model::error::{Error, about_reading};
use rekeyscope_model::text::{Catalogue, Language, Message};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp, seconds};
use rekeyscope_traffic::LEAST_TIMEOUT;
use std::path::{Path, PathBuf};

/// Most values of one overlay; further ones are left out, and a sentence says so. As many as a series of the document
/// has bins.
const MOST_POINTS: usize = 20_000;
/// Most overlays of one document.
const MOST_OVERLAYS: usize = 8;
/// Time after the switch within which values still belong to the rekey: programs that measure a processor say a value for each second
/// before.
const AFTER_NANOS: i64 = 2 * NANOS_PER_SECOND;

/// Adds what iperf3 wrote with `--json`, each run at its place on the capture's clock, then CSV files of times and values. The
/// one place that makes a document of another.
///
/// # Errors
/// A file cannot be read, is not iperf3's, or has no row of a time and a number; or there are too many.
pub fn with_overlays(analysis: Analysis, iperf3: &[PathBuf], samples: &[PathBuf]) -> Result<Analysis, Error> {
    let runs = iperf3.iter().map(|path| (path, of_iperf3(&analysis, path)));
    let tables = samples.iter().map(|path| (path, of_csv(&analysis, path)));
    let mut added = Vec::new();
    for (path, overlay) in runs.chain(tables) {
        let overlay = overlay?;
        if analysis.overlays.len() + added.len() >= MOST_OVERLAYS {
            let reason = format!("a document holds {MOST_OVERLAYS} overlays at most; leave one out");
            return Err(failed(path, reason));
        }
        added.push(said(&analysis, overlay));
    }
    Ok(Analysis {
        overlays: analysis.overlays.into_iter().chain(added).collect(),
        ..analysis
    })
}

fn of_csv(analysis: &Analysis, path: &Path) -> Result<Overlay, Error> {
    let origin = analysis.capture.first_time;
    let table = samples::parse(&read(path)?, origin).map_err(|reason| failed(path, reason))?;
    let name = table.name.unwrap_or_else(|| {
        path.file_stem()
            .map_or_else(String::new, |s| s.to_string_lossy().into_owned())
    });
    Ok(Overlay {
        path: path.to_string_lossy().into_owned(),
        kind: OverlayKind::Samples,
        name,
        messages: table.messages,
        points: table.points,
        ..Overlay::default()
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let bytes = std::fs::read(path);
    bytes
        .map(|bytes| utf8_text(&bytes).into_owned())
        .map_err(|e| failed(path, about_reading(&e)))
}

fn failed(path: &Path, reason: String) -> Error {
    Error::Overlay {
        path: path.into(),
        reason,
    }
}

/// The overlay with what happened in it at the rekeys, and its sentences.
fn said(analysis: &Analysis, mut overlay: Overlay) -> Overlay {
    bound(&mut overlay);
    overlay.at_rekeys = at_rekeys(analysis, &overlay);
    if overlay.at_rekeys.is_empty() && !analysis.rekeys.is_empty() {
        overlay.messages.push(Message::new("overlay-no-rekey"));
    }
    let english = Catalogue::of(Language::English);
    overlay.sentences = overlay.messages.iter().map(|m| english.say(m)).collect();
    overlay
}

/// The place of an iperf3 run in the packet record, and how the two compare.
fn of_iperf3(analysis: &Analysis, path: &Path) -> Result<Overlay, Error> {
    let run = &iperf3::parse(&read(path)?).map_err(|reason| failed(path, reason))?;
    let placed = align::place(&analysis.series, run);
    let aligned = placed.as_ref().filter(|p| p.is_aligned());
    let offset_s = aligned.map_or(0.0, |p| p.offset_s);
    let start = run.start.plus_seconds(offset_s);
    let overlay = Overlay {
        path: path.to_string_lossy().into_owned(),
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
            aligned: p.is_aligned(),
        }),
        comparison: aligned.and_then(|p| align::compare(&analysis.series, run, p)),
        points: points(run, start),
        ..Overlay::default()
    };
    let messages = messages(&overlay, run, placed.as_ref());
    Ok(Overlay { messages, ..overlay })
}

fn points(run: &iperf3::Iperf3Run, start: Timestamp) -> Vec<OverlayPoint> {
    let point = |i: &iperf3::IperfInterval| OverlayPoint {
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
        let message = Message::new("overlay-shortened")
            .with("kept", MOST_POINTS)
            .with("total", total);
        overlay.messages.push(message);
    }
}

fn messages(overlay: &Overlay, run: &iperf3::Iperf3Run, placed: Option<&Placed>) -> Vec<Message> {
    let mut out = vec![clock(run, placed)];
    out.extend(
        overlay
            .comparison
            .as_ref()
            .map(|c| beside_the_packets(c, placed.map_or(0.0, |p| p.step_s))),
    );
    out.push(rows(overlay, run.interval_s()));
    if !run.counts_at_receiver {
        out.push(Message::new("overlay-counts-at-sender"));
    }
    out
}

fn beside_the_packets(c: &OverlayComparison, step_s: f64) -> Message {
    let mbit = |bps: f64| format!("{:.2} Mbit/s", bps / 1e6);
    Message::new("overlay-comparison")
        .with("mean", mbit(c.mean_bps))
        .with("sd", mbit(c.sd_bps))
        .with("intervals", c.intervals)
        .with("packets-mean", format!("{:.2}", c.packets_mean_bps / 1e6))
        .with("packets-sd", mbit(c.packets_sd_bps))
        .with("bins-sd", mbit(c.packets_bin_sd_bps))
        .with("bin", milliseconds(step_s))
}

fn clock(run: &iperf3::Iperf3Run, placed: Option<&Placed>) -> Message {
    let Some(p) = placed else {
        return Message::new("overlay-clock-too-little");
    };
    let message = match p.doubt {
        None => Message::new("overlay-clock")
            .with("offset", format!("{:+.2} s", p.offset_s))
            .with("step", milliseconds(p.step_s))
            .with("interval", format!("{:.2} s", run.interval_s())),
        Some(Doubt::Unlike) => Message::new("overlay-clock-unlike"),
        Some(Doubt::Several) => Message::new("overlay-clock-several"),
    };
    message.with("correlation", format!("{:.2}", p.correlation))
}

/// Why coarse rows hide a short stall, the shortest that a retransmission timer makes: it takes only so much of one row.
fn rows(overlay: &Overlay, interval_s: f64) -> Message {
    let comparison = overlay.comparison.as_ref().filter(|c| c.mean_bps > 0.0);
    let stall = seconds(LEAST_TIMEOUT);
    let message = match comparison {
        _ if interval_s <= stall => Message::new("overlay-rows-fine").with("share", percent(stall)),
        Some(c) => Message::new("overlay-rows-coarse-and-scattered")
            .with("share", percent((stall / interval_s).min(1.0)))
            .with("scatter", percent(c.sd_bps / c.mean_bps)),
        None => Message::new("overlay-rows-coarse").with("share", percent((stall / interval_s).min(1.0))),
    };
    message
        .with("row", format!("{interval_s:.2} s"))
        .with("stall", milliseconds(stall))
}

fn milliseconds(s: f64) -> String {
    format!("{:.0} ms", s * 1000.0)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// One entry per rekey that lies between the overlay's first and last value. The values are in order of time.
fn at_rekeys(analysis: &Analysis, overlay: &Overlay) -> Vec<OverlayAtRekey> {
    let rekeys = analysis.rekeys.iter();
    rekeys
        .filter_map(|rekey| at_rekey(&overlay.points, rekey))
        .collect()
}

fn at_rekey(points: &[OverlayPoint], rekey: &Rekey) -> Option<OverlayAtRekey> {
    let switches = rekey.switched.values();
    let from = rekey.started.or_else(|| switches.clone().min())?;
    let to = switches.max().unwrap_or(from).plus_nanos(AFTER_NANOS);
    let end = |p: &OverlayPoint| p.time.plus_seconds(p.seconds);
    let (first, last) = (points.first()?, points.last()?);
    if from < first.time || from > end(last) {
        return None;
    }
    // The last value that was complete, or taken, before the rekey, and those that touch it.
    let complete = points.partition_point(|p| end(p) <= from);
    let before = complete.checked_sub(1).and_then(|last| points.get(last));
    let touching = points.iter().skip_while(|p| end(p) < from);
    let touching = touching.take_while(|p| p.time <= to).map(|p| p.value);
    let values = || touching.clone().filter(|value| value.is_finite());
    Some(OverlayAtRekey {
        rekey: rekey.index,
        before: before.map(|p| p.value),
        lowest: values().reduce(f64::min),
        highest: values().reduce(f64::max),
    })
}
