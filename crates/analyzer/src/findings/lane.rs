//! The parts of a finding: one tunnel and direction, and the sentence with its frames.

use crate::diagnosis::display_filter;
use crate::diagnosis::whole_run::LaneCounters;
use crate::pipeline::record::Record;
use rekeyscope_impact::explain::finding_row;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Direction, Finding, FindingKind, Severity};
use rekeyscope_model::text::{Message, Said};

/// Events of which a share is told: a number varies by its root, so that twenty are off by less than half in nineteen of twenty captures (1.96/√20).
pub(crate) const ENOUGH: u64 = 20;

pub(crate) fn finding(kind: FindingKind, said: impl Into<Said>, frames: &[u64]) -> Finding {
    let said = said.into();
    Finding {
        id: kind.as_str().into(),
        severity: finding_row(kind.as_str()).map_or(Severity::Warning, |row| row.severity),
        sentence: said.sentence,
        messages: said.messages,
        evidence_frames: frames.to_vec(),
        display_filter: display_filter(frames),
    }
}

/// One tunnel and direction.
pub(crate) struct Lane<'a> {
    pub(crate) record: &'a Record,
    pub(crate) tunnel: TunnelIndex,
    pub(crate) direction: Direction,
    pub(crate) counters: &'a LaneCounters,
}

impl<'a> Lane<'a> {
    /// A message about this direction.
    pub(crate) fn about(&self, id: &str) -> Message {
        let [a, b] = self.record.tunnels.tunnels[self.tunnel].ends;
        let (from, to) = self.direction.pick((a, b), (b, a));
        Message::new(id).with("direction", format!("{from} → {to}"))
    }

    pub(crate) fn associations(&self) -> impl Iterator<Item = &'a Association> {
        let (record, direction) = (self.record, self.direction);
        let own = record.sas_of(self.tunnel);
        own.filter(move |a| a.direction == direction)
    }
}
