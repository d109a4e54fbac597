//! The parts of a finding, and findings about one tunnel and direction that need no account of losses: packet sizes (fragments, and writes that are
//! a few bytes too long), and more SAs than the tunnel needs.

use crate::diagnosis::whole_run::LaneCounters;
use crate::diagnosis::{MOST_FRAMES, display_filter};
use crate::pipeline::record::Record;
use rekeyscope_impact::explain::finding_row;
use rekeyscope_ipsec::overhead::EspSizes;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Direction, Encapsulation, Finding, FindingKind, Severity};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::text::{Message, Said, grouped};
use std::collections::{BTreeSet, HashSet};

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
        let (from, to) = self.record.tunnels.tunnels[self.tunnel].names(self.direction);
        Message::new(id).with("direction", format!("{from} → {to}"))
    }

    pub(crate) fn associations(&self) -> impl Iterator<Item = &'a Association> {
        let (record, direction) = (self.record, self.direction);
        let own = record.sas_of(self.tunnel);
        own.filter(move |a| a.direction == direction)
    }
}

/// Share of a direction's packets that makes a pattern.
const PATTERN_SHARE: f64 = 0.1;

fn is_pattern(part: u64, of: u64) -> bool {
    part >= ENOUGH && part as f64 >= PATTERN_SHARE * of as f64
}

impl Lane<'_> {
    /// One full and one tiny packet per write: the write is a few bytes larger than what fits, as with 1,461 bytes into
    /// segments of 1,460; or the ESP packet is a few bytes larger than the path takes.
    pub(crate) fn fragmentation_cliff(&self) -> Option<Finding> {
        let c = self.counters;
        if is_pattern(c.tiny_remainders, c.packets) {
            let message = self
                .about("finding-tiny-fragments")
                .with("split", grouped(c.tiny_remainders))
                .with("packets", grouped(c.packets))
                .with("largest", u64::from(c.largest_fragment));
            let frames = c.fragment_frames.frames();
            return Some(finding(FindingKind::FragmentationCliff, message, frames));
        }
        if !is_pattern(c.full_and_tiny, c.data_segments) {
            return None;
        }
        let message = self
            .about("finding-tiny-segments")
            .with("tiny", grouped(c.full_and_tiny))
            .with("segments", grouped(c.data_segments))
            .with("largest", u64::from(c.largest_payload));
        let frames = c.full_and_tiny_frames.frames();
        Some(finding(FindingKind::FragmentationCliff, message, frames))
    }

    /// Outer fragments: how large may the payload be, and which MSS follows.
    pub(crate) fn path_mtu(&self) -> Option<Finding> {
        let c = self.counters;
        if !is_pattern(c.fragmented, c.packets) {
            return None;
        }
        let mtu = u64::from(c.largest_whole.max(c.largest_fragment));
        let opened = self.associations().filter(|a| a.counters.opened > 0);
        let largest = opened.max_by_key(|a| a.counters.largest_inner);
        let advice = largest.and_then(|a| {
            let fits = largest_payload(mtu, a)?;
            let excess = a.counters.largest_inner.checked_sub(fits).filter(|e| *e > 0)?;
            let mss = u64::from(c.largest_payload).checked_sub(excess)?;
            Some(
                Message::new("finding-fits")
                    .with("fits", fits)
                    .with("excess", excess)
                    .with("mss", mss),
            )
        });
        let mut messages = vec![
            self.about("finding-path-mtu")
                .with("fragmented", grouped(c.fragmented))
                .with("packets", grouped(c.packets))
                .with("mtu", mtu),
        ];
        messages.extend(advice);
        let frames = c.fragment_frames.frames();
        Some(finding(FindingKind::PathMtu, messages, frames))
    }
}

/// Largest ESP payload whose packet is at most `mtu` bytes.
fn largest_payload(mtu: u64, a: &Association) -> Option<u64> {
    // A stream: no packet is too long for it.
    let key = a.key.as_ref().filter(|_| a.encapsulation != Encapsulation::Tcp)?;
    let largest = EspSizes::of(a, key).largest_payload(usize::try_from(mtu).ok()?)?;
    Some(largest as u64)
}

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
