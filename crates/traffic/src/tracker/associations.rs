//! The order of security associations, and which of their numbers the capture lacks.

use crate::packet::Packet;
use crate::table::BoundedTable;
use foldhash::HashSet;
use rekeyscope_model::analysis::Direction;

/// Most associations, 5 MB; beyond, one that is not used any more is forgotten.
const MOST_ASSOCIATIONS: usize = 1 << 16;
/// Numbers behind the highest that are remembered: a capture that has packets twice has them close together.
const WINDOW: u64 = 64;

type AssociationKey = (u32, Direction, u32);

#[derive(Debug)]
struct NumberedAssociation {
    order: u32,
    highest: u64,
    /// Bit n: the number n below the highest was seen.
    seen: u64,
}

/// The place of a packet's number among those before it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EspArrival {
    /// Order of its association; 0 without one.
    pub(super) association: u32,
    /// Numbers right before its own that no packet had.
    pub(super) missing: u32,
    /// Distance by which the highest number before the packet is ahead.
    pub(super) behind: u32,
    /// The number was there before.
    pub(super) duplicate: bool,
}

/// All associations.
#[derive(Debug, Default)]
pub(super) struct Associations {
    table: BoundedTable<AssociationKey, NumberedAssociation, MOST_ASSOCIATIONS>,
    /// Directions of tunnels that have one.
    directions: HashSet<(u32, Direction)>,
    begun: u32,
}

impl Associations {
    #[inline]
    pub(super) fn take(&mut self, packet: &Packet) -> EspArrival {
        let Some(esp) = packet.esp else {
            return EspArrival::default();
        };
        let key = (packet.tunnel, packet.direction, esp.spi);
        let Some(own) = self.table.get_mut(&key) else {
            return self.begin(key, esp.number);
        };
        let (association, mut missing, mut behind, mut duplicate) = (own.order, 0, 0, false);
        if esp.number > own.highest {
            let step = esp.number - own.highest;
            missing = u32::try_from(step - 1).unwrap_or(u32::MAX);
            own.seen = if step < WINDOW { own.seen << step | 1 } else { 1 };
            own.highest = esp.number;
        } else {
            let ahead = own.highest - esp.number;
            behind = u32::try_from(ahead).unwrap_or(u32::MAX);
            if ahead < WINDOW {
                let bit = 1 << ahead;
                duplicate = own.seen & bit != 0;
                own.seen |= bit;
            }
        }
        EspArrival {
            association,
            missing,
            behind,
            duplicate,
        }
    }

    /// A new one. Numbers begin with 1 (RFC 4303 §3.3.3), but the first ones of a capture are older than it.
    #[cold]
    fn begin(&mut self, key: AssociationKey, number: u64) -> EspArrival {
        if self.directions.len() >= MOST_ASSOCIATIONS {
            self.directions.clear();
        }
        let is_first = self.directions.insert((key.0, key.1));
        self.begun = self.begun.saturating_add(1);
        let own = NumberedAssociation {
            order: self.begun,
            highest: number,
            seen: 1,
        };
        self.table.insert(key, own);
        let missing = if is_first { 0 } else { number.saturating_sub(1) };
        EspArrival {
            association: self.begun,
            missing: u32::try_from(missing).unwrap_or(u32::MAX),
            behind: 0,
            duplicate: false,
        }
    }
}
