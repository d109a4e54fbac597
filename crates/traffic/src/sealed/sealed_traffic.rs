//! Packets of tunnels without keys.

use super::line::{SealedDirection, SealedLine, SealedPacket};
use crate::interval::{Interval, LastPacket, PacketSilence};
use crate::run::RunBound;
use crate::table::BoundedTable;
use crate::tcp::LEAST_TIMEOUT;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// Most directions of tunnels that are followed, 2 MB without their runs. Beyond, one that was not used lately is forgotten.
const MOST_DIRECTIONS: usize = 1 << 13;

/// Packets of each direction of each tunnel over time, by their sizes alone.
#[derive(Debug, Default)]
pub struct SealedTraffic {
    directions: BoundedTable<(u32, Direction), SealedDirection, MOST_DIRECTIONS>,
    runs: RunBound,
}

impl SealedTraffic {
    /// Takes a packet, in any order of time. Keys may read a part of a tunnel's SAs only: their packets belong in here as well, because
    /// without them the line would be silent.
    #[inline]
    pub fn take(&mut self, tunnel: u32, direction: Direction, packet: SealedPacket) {
        let key = (tunnel, direction);
        let (place, gone) = self.directions.place(key, SealedDirection::default);
        self.runs.count(gone.map_or(0, |gone| gone.len()), 0);
        let Some(direction) = self.directions.at_mut(place) else {
            return;
        };
        let before = direction.len();
        direction.add(packet, self.runs.width());
        self.runs.count(before, direction.len());
        if self.runs.is_reached() {
            let all = |width| self.directions.values_mut().map(|own| own.coarsen(width)).sum();
            self.runs.make_room(all);
        }
    }

    /// Time of the last packet of a direction of a tunnel.
    pub fn last(&self, tunnel: u32, direction: Direction) -> Option<Timestamp> {
        self.directions.get(&(tunnel, direction))?.last()
    }

    /// Times that reach into a stretch in which none of some directions of a tunnel sent anything, each longer than a retransmission timeout: a
    /// shorter one is no wait. Nothing begins the first one, if nothing came before the stretch, and nothing ends the last one, which may begin behind it.
    pub fn silences(
        &self,
        tunnel: u32,
        directions: &[Direction],
        stretch: (Timestamp, Timestamp),
    ) -> Vec<PacketSilence> {
        let own = directions
            .iter()
            .filter_map(|direction| self.directions.get(&(tunnel, *direction)));
        let runs = own.flat_map(|own| own.around(stretch));
        let mut runs: Vec<_> = runs.map(|run| (run.from, run.to, run.frames.1)).collect();
        runs.sort_unstable();
        let mut last = (Timestamp(i64::MIN), None);
        let mut silences = Vec::new();
        let silent = |(from, frame), to| Interval {
            from,
            to,
            facts: LastPacket { frame },
        };
        for (from, to, frame) in runs {
            if from.0.saturating_sub(last.0.0) > LEAST_TIMEOUT {
                silences.push(silent(last, from));
            }
            last = last.max((to, Some(frame)));
        }
        silences.push(silent(last, Timestamp(i64::MAX)));
        silences
    }

    /// Data of a direction of a tunnel, and the answers to it; `None` where no data passed.
    pub fn line(&self, tunnel: u32, direction: Direction) -> Option<SealedLine> {
        let of = |direction| self.directions.get(&(tunnel, direction));
        of(direction)?.line((tunnel, direction), of(direction.reverse()))
    }
}
