//! What was wrong that no rekey caused. One file per subject: [`sizes`], [`loss`], [`rate`], [`sas`] look at one tunnel and
//! direction (a [`Lane`]), [`trace`] at the capture.

mod loss;
mod rate;
mod sas;
mod sizes;
mod trace;

use super::display_filter;
use super::whole_run::LaneCounters;
use crate::analysis::{Direction, Finding, Severity};
use crate::analyzer::Analyzer;
use crate::capture::CaptureInfo;
use crate::rekey::{Succession, slot};
use crate::sa::association::Association;
use crate::sa::tunnel::TunnelIndex;
use crate::text::{Message, Said};

/// Packets of a direction that make a share of them say something.
const ENOUGH_PACKETS: u64 = 100;

/// All findings, warnings first.
pub(crate) fn findings(analyzer: &Analyzer, info: &CaptureInfo, successions: &[Succession]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (tunnel, lanes) in analyzer.diagnosis.whole_run.lanes().iter().enumerate() {
        for direction in [Direction::AToB, Direction::BToA] {
            let lane = Lane {
                analyzer,
                tunnel,
                direction,
                counters: &lanes[slot(direction)],
            };
            found.extend(lane.fragmentation_cliff());
            found.extend(lane.path_mtu());
            found.extend(lane.zero_windows());
            found.extend(lane.parallel_sas());
            found.extend(
                lane.dropped_by_the_capture()
                    .or_else(|| lane.one_direction_loss()),
            );
            found.extend(lane.rate_trouble(successions));
        }
        if analyzer.wants(tunnel) {
            found.extend(sas::unused_sas(analyzer, tunnel));
        }
    }
    found.extend(trace::capture_trouble(analyzer, info));
    found.extend(analyzer.clock.events.iter().map(trace::clock_event));
    found.extend(trace::leaks(analyzer));
    found.sort_by_key(|f| std::cmp::Reverse(f.severity));
    found
}

fn finding(id: &str, severity: Severity, said: impl Into<Said>, frames: &[u64]) -> Finding {
    let said = said.into();
    Finding {
        id: id.into(),
        severity,
        sentence: said.sentence,
        messages: said.messages,
        evidence_frames: frames.to_vec(),
        display_filter: display_filter(frames),
    }
}

/// One tunnel and direction.
struct Lane<'a> {
    analyzer: &'a Analyzer,
    tunnel: TunnelIndex,
    direction: Direction,
    counters: &'a LaneCounters,
}

impl<'a> Lane<'a> {
    /// A message about this direction.
    fn about(&self, id: &str) -> Message {
        Message::new(id).with("direction", self.name())
    }

    fn name(&self) -> String {
        let tunnel = &self.analyzer.tunnels.tunnels[self.tunnel];
        let [from, to] = match self.direction {
            Direction::AToB => [tunnel.ends[0], tunnel.ends[1]],
            Direction::BToA => [tunnel.ends[1], tunnel.ends[0]],
        };
        format!("{from} → {to}")
    }

    fn associations(&self) -> impl Iterator<Item = &'a Association> {
        let (analyzer, direction) = (self.analyzer, self.direction);
        analyzer
            .sas
            .of_tunnel(self.tunnel)
            .iter()
            .map(|&sa| &analyzer.sas.associations()[sa])
            .filter(move |a| a.direction == direction)
    }
}
