//! The header of a message tells the type of its exchange, in both versions, and of the first one captured its place there.

use crate::ike::header::{FLAG_ENCRYPTED, FLAG_INITIATOR, FLAG_RESPONSE, IkeHeader};
use crate::ike::payload::v1;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_model::spi::IkeSpi;

pub(super) fn exchange_kind(header: &IkeHeader) -> ExchangeKind {
    match (header.major, header.exchange_type) {
        (1, 2) => ExchangeKind::MainMode,
        (1, 4) => ExchangeKind::AggressiveMode,
        (1, 5) => ExchangeKind::Informational,
        (1, 6) => ExchangeKind::Transaction,
        (1, 32) => ExchangeKind::QuickMode,
        (2, 34) => ExchangeKind::IkeSaInit,
        (2, 35) => ExchangeKind::IkeAuth,
        (2, 36) => ExchangeKind::CreateChildSa,
        (2, 37) => ExchangeKind::Informational,
        _ => ExchangeKind::Other,
    }
}

/// Identifier (for diagnostics) and name of an exchange type that is not decoded. AuthIP is Microsoft's: MS-AIPS §2.2.1.
pub(super) fn other_exchange_name(header: &IkeHeader) -> (&'static str, &'static str) {
    match (header.major, header.exchange_type) {
        (1, 1) => ("base_mode", "Base"),
        (1, 3) => ("authentication_only", "Authentication Only"),
        (1, 33) => ("new_group_mode", "New Group Mode"),
        (1, 34) => ("acknowledged_informational", "Acknowledged Informational"),
        (1, 243) => ("authip_main_mode", "AuthIP Main Mode"),
        (1, 244) => ("authip_quick_mode", "AuthIP Quick Mode"),
        (1, 245) => ("authip_extended_mode", "AuthIP Extended Mode"),
        (1, 246) => ("authip_notify", "AuthIP Notify"),
        (2, 38) => ("ike_session_resume", "IKE_SESSION_RESUME"),
        (2, 39) => ("gsa_auth", "GSA_AUTH"),
        (2, 40) => ("gsa_registration", "GSA_REGISTRATION"),
        (2, 41) => ("gsa_rekey", "GSA_REKEY"),
        (2, 43) => ("ike_intermediate", "IKE_INTERMEDIATE"),
        (2, 44) => ("ike_followup_ke", "IKE_FOLLOWUP_KE"),
        (_, 240..=255) => ("private_exchange_type", "private use"),
        _ => ("unassigned_exchange_type", "unassigned"),
    }
}

/// Tells whether the IKE SA's initiator began the exchange: both sides number theirs independently (RFC 7296 §2.2).
pub(super) fn begun_by_initiator(header: &IkeHeader) -> bool {
    header.has(FLAG_INITIATOR) != header.has(FLAG_RESPONSE)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_number_their_own_exchanges() {
        let mut header = IkeHeader {
            initiator_spi: IkeSpi::ZERO,
            responder_spi: IkeSpi::ZERO,
            next_payload: 0,
            major: 2,
            exchange_type: 37,
            flags: 0,
            message_id: 0,
            length: 28,
        };
        for (flags, ours) in [
            (FLAG_INITIATOR, true),
            (FLAG_RESPONSE, true),
            (0, false),
            (FLAG_INITIATOR | FLAG_RESPONSE, false),
        ] {
            header.flags = flags;
            assert_eq!(begun_by_initiator(&header), ours);
        }
    }
}
