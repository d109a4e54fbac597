//! Rests: silences in which nobody waits for anything. They part transfers.

use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;

/// Last new data before it, first new data behind it.
pub(crate) type Rest = (Timestamp, Timestamp);

/// The rests of every tunnel and internal direction.
#[derive(Debug, Default)]
pub(crate) struct Rests {
    of: HashMap<(TunnelIndex, Direction), Vec<Rest>>,
}

impl Rests {
    /// `rests` are in order of time.
    pub(crate) fn add(&mut self, tunnel: TunnelIndex, direction: Direction, rests: Vec<Rest>) {
        if !rests.is_empty() {
            self.of.insert((tunnel, direction), rests);
        }
    }

    /// The rests of a direction, in order of time.
    pub(crate) fn of(&self, tunnel: TunnelIndex, direction: Direction) -> &[Rest] {
        self.of.get(&(tunnel, direction)).map_or(&[], Vec::as_slice)
    }
}
