//! Proofs by the packets around a rekey for one direction: of an outage, or that the rekey had no part in a silence. Inner TCP gives them,
//! or a limit that was passed.
//!
//! What lies beyond the window of the rekey ([`crate::diagnosis::recorder`]) is not seen: an outage that began before it is
//! longer than proven here, and one that outlasts it is proven by [`crate::assembly`] alone, as an outage.

mod beyond;
mod coverage;
mod lost;
mod pause;
mod segments;
mod unsent;

pub(crate) use coverage::Coverage;

use crate::diagnosis::proven::SwitchProof;
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
) -> [Option<SwitchProof>; 2] {
    [0, 1].map(|d| at_switch(scene, d, &segments[d]))
}

fn at_switch(scene: &RekeyScene<'_>, d: usize, segments: &[Segment<'_>]) -> Option<SwitchProof> {
    let new = scene.lanes[d].new?;
    let certain = lost::lost(segments, new).or_else(|| beyond::beyond_limit(scene, d));
    let unsent = unsent::unsent(scene, d, segments);
    // The direction with less payload pauses whenever it likes.
    let acquitted = (d == scene.data)
        .then(|| pause::pause_of_the_sender(scene, d))
        .flatten();
    Some(SwitchProof {
        new,
        certain,
        unsent,
        acquitted,
    })
}
