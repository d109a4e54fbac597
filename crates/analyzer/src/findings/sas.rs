//! More SAs than the tunnel needs.

use crate::diagnosis::MOST_FRAMES;
use crate::findings::lane::{ENOUGH, Lane, finding};
use crate::pipeline::record::Record;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Finding, FindingKind};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::text::Message;
use std::collections::{BTreeSet, HashSet};

impl Lane<'_> {
    pub(crate) fn parallel_sas(&self) -> Option<Finding> {
        let c = self.counters;
        (c.returns >= ENOUGH && !self.has_several_children()).then(|| {
            let message = self.about("finding-parallel-sas").with("returns", c.returns);
            finding(FindingKind::DuplicateSas, message, c.return_frames.frames())
        })
    }

    /// SAs of this direction carry different inner addresses: they are children for different subnets or hosts, side by side by intent.
    fn has_several_children(&self) -> bool {
        let mut carried = self.associations().filter(|a| !a.inner_ends().is_empty());
        let first = carried.next();
        first.is_some_and(|first| carried.any(|other| !first.shares_ends(other)))
    }
}

/// Pairs that were negotiated and never used although older ones were, behind that; the newest one left out (it may be used later).
pub(crate) fn unused_sas(record: &Record, tunnel: TunnelIndex) -> Option<Finding> {
    let exchanges = record.timeline.exchanges();
    let own = || record.sas_of(tunnel);
    let of = |d: usize| own().filter(move |a| slot(a.direction) == d);
    if !(0..2).all(|d| of(d).any(|a| a.first.is_some())) {
        return None; // the packets of a direction went past the capture point
    }
    // A refused exchange names the SA of one direction, and so does one of which the capture lacks a side.
    let [one, other] = [0, 1].map(|d| BTreeSet::from_iter(of(d).filter_map(|a| a.exchange)));
    let mut granted = Vec::from_iter(&one & &other);
    granted.pop();
    let carried = own().filter(|a| a.last.is_some());
    let used: HashSet<usize> = carried.filter_map(|a| a.exchange).collect();
    let until = |a: &Association| a.last.map(|last| last.0);
    let outlived = |e: usize| own().any(|a| a.exchange < Some(e) && until(a) > exchanges[e].first_time());
    let unused = granted.iter().filter(|e| !used.contains(e) && outlived(**e));
    let frames = unused.filter_map(|&e| exchanges[e].records.first());
    let mut frames: Vec<u64> = frames.map(|r| r.frame).collect();
    if (frames.len() as u64) < LEAST_NOT_BY_CHANCE {
        return None;
    }
    let message = Message::new("finding-unused-sas")
        .with("unused", frames.len())
        .with("negotiated", granted.len());
    frames.truncate(MOST_FRAMES);
    Some(finding(FindingKind::RedundantSas, message, &frames))
}
