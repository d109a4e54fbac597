//! Packets of tunnels without keys.

use super::line::{SealedDirection, SealedLine, SealedPacket};
use crate::run::RunBound;
use crate::table::BoundedTable;
use rekeyscope_model::analysis::Direction;

/// Most directions of tunnels that are followed, 2 MB without their runs. Beyond, one that was not used lately is forgotten.
const MOST_DIRECTIONS: usize = 1 << 13;

/// Packets of each direction of each tunnel over time, by their sizes alone.
#[derive(Debug)]
pub struct SealedTraffic {
    directions: BoundedTable<(u32, Direction), SealedDirection>,
    runs: RunBound,
}

impl Default for SealedTraffic {
    fn default() -> Self {
        SealedTraffic::new()
    }
}

impl SealedTraffic {
    /// A reading that has seen nothing.
    pub fn new() -> Self {
        SealedTraffic {
            directions: BoundedTable::new(MOST_DIRECTIONS),
            runs: RunBound::new(),
        }
    }

    /// Takes a packet, in any order of time. Keys may read a part of a tunnel's SAs only: their packets belong in here as well, because
    /// without them the line would be silent.
    #[inline]
    pub fn take(&mut self, tunnel: u32, direction: Direction, packet: SealedPacket) {
        let key = (tunnel, direction);
        let place = self.directions.find(&key).unwrap_or_else(|| {
            let (place, gone) = self.directions.insert(key, SealedDirection::default());
            self.runs.count(gone.map_or(0, |gone| gone.len()), 0);
            place
        });
        let Some(direction) = self.directions.at_mut(place) else {
            return;
        };
        let before = direction.len();
        direction.add(packet, self.runs.width());
        self.runs.count(before, direction.len());
        if self.runs.is_reached() {
            self.runs.make_room(|width| {
                let joined = self.directions.values_mut().map(|direction| {
                    direction.coarsen(width);
                    direction.len()
                });
                joined.sum()
            });
        }
    }

    /// Data of a direction of a tunnel, and the answers to it; `None` where no data passed.
    pub fn line(&self, tunnel: u32, direction: Direction) -> Option<SealedLine> {
        let of = |direction| self.directions.get(&(tunnel, direction));
        of(direction)?.line((tunnel, direction), of(direction.reverse()))
    }
}
