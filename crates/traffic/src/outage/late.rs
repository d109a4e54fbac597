//! Packets that come so late that a replay check throws them away (RFC 4303 §3.4.3).

use crate::segment::Fate;

/// Sizes of replay windows: the smallest that a receiver may have, that which it should have, and a common larger one.
pub const REPLAY_WINDOWS: [u32; 3] = [32, 64, 128];

/// Packets that came behind each of the [`REPLAY_WINDOWS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LatePackets {
    /// All of them.
    pub packets: [u64; 3],
    /// Packets among them whose data is known to have arrived with them.
    pub arrived: [u64; 3],
    /// Packets among them whose data did not arrive with them.
    pub lost: [u64; 3],
}

impl LatePackets {
    pub(super) fn count(&mut self, behind: u32) {
        add(&mut self.packets, behind);
    }

    pub(super) fn settle(&mut self, behind: u32, fate: Fate) {
        match fate {
            Fate::Arrived => add(&mut self.arrived, behind),
            Fate::Swallowed => add(&mut self.lost, behind),
            _ => {}
        }
    }
}

fn add(counts: &mut [u64; 3], behind: u32) {
    for (count, window) in counts.iter_mut().zip(REPLAY_WINDOWS) {
        *count += u64::from(behind >= window);
    }
}
