//! Losses in one direction that the packets around a rekey prove, by inner TCP or by a limit that was passed.
//!
//! What lies beyond the window of the rekey ([`crate::diagnosis::recorder`]) is not seen: an outage that began before it is
//! longer than proven here, and one that outlasts it is proven by [`crate::assembly`] alone, as an outage.

mod beyond;
mod coverage;
mod lost;
mod segments;

pub(crate) use coverage::Coverage;

use crate::diagnosis::proven::ProvenByPackets;
use crate::diagnosis::scene::RekeyScene;
pub(crate) use segments::Segment;

/// The segments of each direction in the window of a rekey.
pub(crate) fn segments_of<'a>(scene: &RekeyScene<'a>) -> [Vec<Segment<'a>>; 2] {
    segments::segments(scene.earlier.iter().copied().chain(scene.all_packets()))
}

/// What the packets show at the switch of each direction; `None` where no SA of that direction begins.
pub(crate) fn at_switches(
    scene: &RekeyScene<'_>,
    segments: &[Vec<Segment<'_>>; 2],
) -> [Option<ProvenByPackets>; 2] {
    [0, 1].map(|d| {
        let new = scene.lanes[d].new?;
        lost::lost(&segments[d], new).or_else(|| beyond::beyond_limit(scene, d))
    })
}
