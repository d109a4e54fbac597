//! Troubles that no rekey caused, one file for each subject: [`lane`] and [`loss`] look at one tunnel and direction (a [`Lane`]), [`trace`] at the
//! capture.

mod lane;
mod loss;
mod trace;

use crate::pipeline::record::Record;
use lane::{Lane, unused_sas};
use rekeyscope_capture::file::CaptureInfo;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_model::analysis::{Direction, Event, Finding, Outage};

/// All findings, warnings first.
pub(crate) fn findings(
    record: &Record,
    info: &CaptureInfo,
    outages: &[Outage],
    events: &[Event],
) -> Vec<Finding> {
    let mut found = Vec::new();
    for (tunnel, lanes) in record.diagnosis.whole_run.lanes.iter().enumerate() {
        for direction in Direction::BOTH {
            let lane = Lane {
                record,
                tunnel,
                direction,
                counters: &lanes[slot(direction)],
            };
            found.extend(lane.fragmentation_cliff());
            found.extend(lane.path_mtu());
            found.extend(lane.parallel_sas());
            found.extend(lane.behind_window());
            found.extend(lane.damaged());
            let of_capture = lane.dropped_by_the_capture();
            let of_path = || lane.lost_fragments().or_else(|| lane.packet_loss());
            found.extend(of_capture.or_else(of_path));
            found.extend(lane.lost_before_encryption());
        }
        if record.wants(tunnel) {
            found.extend(unused_sas(record, tunnel));
        }
    }
    found.extend(trace::capture_trouble(record, info));
    found.extend(record.clock_events.iter().map(trace::clock_event));
    found.extend(trace::in_clear(record, outages, events));
    found.extend(trace::leaks(record));
    found.sort_by_key(|f| std::cmp::Reverse(f.severity));
    found
}
