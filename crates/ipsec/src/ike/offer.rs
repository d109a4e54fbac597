//! Offers and choices of one side of a negotiation, in either version.

use rekeyscope_model::algorithm::Transform;
use rekeyscope_model::analysis::{Lifetime, Mode};
use rekeyscope_model::spi::{IpsecProtocol, Spi};

/// One proposal for ESP or AH, with its first transform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Offer {
    /// Number of the message's SA payload: each stands for a pair of SAs.
    pub(super) sa: usize,
    pub(super) number: u8,
    pub(super) protocol: IpsecProtocol,
    pub(super) spi: Spi,
    pub(super) transform: Option<Transform>,
    pub(super) mode: Option<Mode>,
    pub(super) lifetime: Option<Lifetime>,
}
