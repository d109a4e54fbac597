//! Round trips and data in flight of the busiest flows, in two lanes for each direction.

use crate::plot::reduce::{PlotColumn, ceiling};
use crate::plot::timeline::frame::PlotLane;
use crate::words::focus::Focus;
use crate::words::{self, format};
use rekeyscope_model::analysis::{Account, Flow, FlowCourse};

/// The quantity of a lane.
#[derive(Clone, Copy)]
enum CourseKind {
    Rtt,
    InFlight,
}

/// Two lanes for each direction that has a strip; in each a line for every flow with a course.
pub(super) fn lanes(focus: &Focus, tunnel: usize, accounts: &[&Account]) -> Vec<PlotLane> {
    let mut lanes = Vec::new();
    for account in accounts {
        let own = |f: &&Flow| (f.tunnel, f.direction) == (tunnel, account.direction);
        let flows: Vec<&Flow> = focus.analysis.flows.iter().filter(own).collect();
        for kind in [CourseKind::Rtt, CourseKind::InFlight] {
            lanes.extend(lane(focus, &flows, kind));
        }
    }
    lanes
}

/// The lane of the first flow, and those over it.
fn lane(focus: &Focus, flows: &[&Flow], kind: CourseKind) -> Vec<PlotLane> {
    let curve = |f: &&Flow| {
        let course = f.tcp.as_ref()?.course.as_ref()?;
        let columns = columns(focus, course, kind);
        (!columns.is_empty()).then(|| (words::flow(f), course.rtt_whole, columns))
    };
    let curves: Vec<(String, bool, Vec<PlotColumn>)> = flows.iter().filter_map(curve).collect();
    let highest = ceiling(curves.iter().flat_map(|c| &c.2));
    let (factor, unit) = match kind {
        CourseKind::Rtt => (1.0, "ms".to_owned()),
        CourseKind::InFlight => {
            let (factor, prefix) = format::prefix_of(highest);
            (factor, format!("{prefix}B"))
        }
    };
    let (t, further) = (focus.t, curves.len().saturating_sub(1) as u64);
    let direction = flows.first().map(|f| f.direction);
    let lane = |(n, (flow, whole, columns)): (usize, (String, bool, Vec<PlotColumn>))| {
        let (id, name) = match (kind, whole) {
            (CourseKind::Rtt, true) => ("plot-rtt", "plot-rtt-name"),
            (CourseKind::Rtt, false) => ("plot-ack-rtt", "plot-ack-rtt-name"),
            (CourseKind::InFlight, _) => ("plot-in-flight", "plot-in-flight-name"),
        };
        let mut headline = fill!(t, id, unit, flow);
        if further > 0 {
            headline += &format::counted(t, "plot-further-flows", further);
        }
        Some(PlotLane {
            direction: Some(direction?),
            name: fill!(t, name, flow),
            headline: if n > 0 { String::new() } else { headline },
            over: n > 0,
            columns,
            top: (highest / factor * 1.12).max(f64::MIN_POSITIVE),
            factor,
            unit: unit.clone(),
            ..PlotLane::default()
        })
    };
    curves.into_iter().enumerate().filter_map(lane).collect()
}

/// One for each bin that has a value.
fn columns(focus: &Focus, course: &FlowCourse, kind: CourseKind) -> Vec<PlotColumn> {
    let bin_s = course.bin_ms / 1_000.0;
    let Some(start) = focus.seconds(course.start).filter(|s| (s + bin_s).is_finite()) else {
        return Vec::new();
    };
    let values: Vec<Option<[f64; 3]>> = match kind {
        CourseKind::Rtt => course.rtt_ms.clone(),
        CourseKind::InFlight => {
            let bytes = course.in_flight_bytes.iter();
            bytes.map(|b| b.map(|three| three.map(|n| n as f64))).collect()
        }
    };
    let column = |(n, value): (usize, Option<[f64; 3]>)| {
        let [low, mean, high] = value.filter(|v| v.iter().all(|x| x.is_finite()))?;
        let time = start + (n as f64 + 0.5) * bin_s;
        Some(PlotColumn {
            time,
            low,
            mean,
            high,
        })
    };
    values.into_iter().enumerate().filter_map(column).collect()
}
