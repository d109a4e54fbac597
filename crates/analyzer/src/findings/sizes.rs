//! Packet sizes: fragments, and writes that are a few bytes too long.

use crate::findings::lane::{ENOUGH, Lane, finding};
use rekeyscope_ipsec::overhead::EspSizes;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_model::analysis::{Encapsulation, Finding, FindingKind};
use rekeyscope_model::text::{Message, grouped};

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
