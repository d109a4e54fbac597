//! One packet of a plot.

use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::time::Timestamp;

/// One packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CloseUpPoint {
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    pub(crate) sa: SaIndex,
    /// Bytes of a connection, or ESP packets.
    pub(crate) value: i64,
    /// TCP window field, unscaled.
    pub(crate) window: u16,
    /// Every byte of it is sent again later.
    pub(crate) lost: bool,
    /// The packet sends bytes again.
    pub(crate) repeated: bool,
}
