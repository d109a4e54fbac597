//! The header of the first captured message of an exchange tells of its place.

use crate::ike::header::{FLAG_ENCRYPTED, FLAG_RESPONSE, IkeHeader};
use crate::ike::payload::v1;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_model::spi::IkeSpi;

/// The place of the first captured message, by its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstSeen {
    /// The message begins the exchange, as far as it says.
    Begins,
    /// The message answers one that is not in the capture.
    Answers,
    /// A message came before it; whose, it does not say.
    GoesOn,
}

/// Place of the message that an exchange is first seen with.
pub(super) fn first_seen(header: &IkeHeader, kind: ExchangeKind) -> FirstSeen {
    let answered = header.responder_spi != IkeSpi::ZERO;
    match (header.major, kind) {
        (2, _) if header.has(FLAG_RESPONSE) => FirstSeen::Answers,
        // The initiator does not know the responder's cookie when it begins (RFC 2408 §2.5.3).
        (1, ExchangeKind::MainMode | ExchangeKind::AggressiveMode) if answered => {
            if header.next_payload == v1::SA && !header.has(FLAG_ENCRYPTED) {
                FirstSeen::Answers
            } else {
                FirstSeen::GoesOn
            }
        }
        _ => FirstSeen::Begins,
    }
}
