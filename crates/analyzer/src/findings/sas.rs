//! More SAs than the tunnel needs.

use crate::diagnosis::MOST_FRAMES;
use crate::findings::lane::{Lane, finding};
use crate::pipeline::record::Record;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Finding, FindingKind};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::text::Message;
use std::collections::HashSet;
use std::net::IpAddr;

/// Returns to an older SA after a renewal was over.
const ENOUGH_RETURNS: u64 = 20;

impl Lane<'_> {
    pub(crate) fn parallel_sas(&self) -> Option<Finding> {
        let c = self.counters;
        (c.returns >= ENOUGH_RETURNS && !self.has_several_children()).then(|| {
            let message = self.about("finding-parallel-sas").with("returns", c.returns);
            finding(FindingKind::DuplicateSas, message, c.return_frames.frames())
        })
    }

    /// SAs of this direction carry different inner addresses: they are children for different subnets or hosts, side by side by intent.
    fn has_several_children(&self) -> bool {
        let carried = self.associations().map(|a| a.inner_ends());
        let carried: Vec<_> = carried.filter(|ends| !ends.is_empty()).collect();
        let apart = |one: &[(IpAddr, IpAddr)], other: &[(IpAddr, IpAddr)]| {
            !one.iter().any(|ends| other.contains(ends))
        };
        let first = carried.first();
        first.is_some_and(|first| carried.iter().any(|other| apart(first, other)))
    }
}

/// Pairs that were negotiated and never used, the newest one left out (it may be used later).
pub(crate) fn unused_sas(record: &Record, tunnel: TunnelIndex) -> Option<Finding> {
    let associations = record.sas.associations();
    let own = || record.sas.of_tunnel(tunnel).iter().map(|&sa| &associations[sa]);
    let carried = || own().filter(|a| a.first.is_some());
    let used: HashSet<usize> = carried().filter_map(|a| a.exchange).collect();
    let captured = |d: usize| carried().any(|a| slot(a.direction) == d);
    if !captured(0) || !captured(1) {
        return None; // the packets of a direction went past the capture point
    }
    // An exchange of which only one side was captured names the SA of one direction.
    let whole = |&e: &usize| !record.timeline.exchanges()[e].lacks_messages();
    let named = own().filter_map(|a| a.exchange);
    let mut exchanges: Vec<usize> = named.filter(whole).collect();
    exchanges.sort_unstable();
    exchanges.dedup();
    exchanges.pop();
    let unused: Vec<usize> = exchanges.iter().copied().filter(|e| !used.contains(e)).collect();
    if (unused.len() as u64) < LEAST_NOT_BY_CHANCE {
        return None;
    }
    let frames: Vec<u64> = unused
        .iter()
        .filter_map(|&e| record.timeline.exchanges()[e].records.first())
        .map(|r| r.frame)
        .take(MOST_FRAMES)
        .collect();
    let message = Message::new("finding-unused-sas")
        .with("unused", unused.len())
        .with("negotiated", exchanges.len());
    Some(finding(FindingKind::RedundantSas, message, &frames))
}
