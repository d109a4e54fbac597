//! SAs whose key is awaited.

use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::time::Timestamp;

/// The SAs whose key is awaited.
#[derive(Debug, Default)]
pub(super) struct AwaitedKeys {
    /// True where keys come while the capture goes on.
    pub(super) grow: bool,
    /// The SAs, each with the time of its first packet.
    pub(super) sas: Vec<(SaIndex, Timestamp)>,
}
