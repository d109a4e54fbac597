//! Exchange types of both versions.

use crate::ike::header::{FLAG_INITIATOR, FLAG_RESPONSE, IkeHeader};
use rekeyscope_model::analysis::ExchangeKind;

/// What the exchange of a message is.
pub(super) fn exchange_kind(header: &IkeHeader) -> ExchangeKind {
    if header.major == 1 {
        ikev1_kind(header.exchange_type)
    } else {
        ikev2_kind(header.exchange_type)
    }
}

/// Identifier (for diagnostics) and name of an exchange type that is not decoded.
pub(super) fn other_exchange_name(header: &IkeHeader) -> (&'static str, &'static str) {
    if header.major == 1 {
        ikev1_other_name(header.exchange_type)
    } else {
        ikev2_other_name(header.exchange_type)
    }
}

/// Whether the IKE SA's initiator began the exchange: both sides number theirs independently (RFC 7296 §2.2).
pub(super) fn begun_by_initiator(header: &IkeHeader) -> bool {
    header.has(FLAG_INITIATOR) != header.has(FLAG_RESPONSE)
}

/// Exchange types (RFC 2408 §3.1, RFC 2409 Appendix A, the ISAKMP configuration draft).
fn ikev1_kind(exchange_type: u8) -> ExchangeKind {
    match exchange_type {
        2 => ExchangeKind::MainMode,
        4 => ExchangeKind::AggressiveMode,
        5 => ExchangeKind::Informational,
        6 => ExchangeKind::Transaction,
        32 => ExchangeKind::QuickMode,
        _ => ExchangeKind::Other,
    }
}

/// Identifier (for diagnostics) and name of exchange types that are not decoded. AuthIP is Microsoft's: MS-AIPS §2.2.1.
fn ikev1_other_name(exchange_type: u8) -> (&'static str, &'static str) {
    match exchange_type {
        1 => ("base_mode", "Base"),
        3 => ("authentication_only", "Authentication Only"),
        33 => ("new_group_mode", "New Group Mode"),
        34 => ("acknowledged_informational", "Acknowledged Informational"),
        243 => ("authip_main_mode", "AuthIP Main Mode"),
        244 => ("authip_quick_mode", "AuthIP Quick Mode"),
        245 => ("authip_extended_mode", "AuthIP Extended Mode"),
        246 => ("authip_notify", "AuthIP Notify"),
        240..=255 => ("private_exchange_type", "private use"),
        _ => ("unassigned_exchange_type", "unassigned"),
    }
}

/// Exchange types (RFC 7296 §3.1).
fn ikev2_kind(exchange_type: u8) -> ExchangeKind {
    match exchange_type {
        34 => ExchangeKind::IkeSaInit,
        35 => ExchangeKind::IkeAuth,
        36 => ExchangeKind::CreateChildSa,
        37 => ExchangeKind::Informational,
        _ => ExchangeKind::Other,
    }
}

/// Identifier (for diagnostics) and name of exchange types that are not decoded.
fn ikev2_other_name(exchange_type: u8) -> (&'static str, &'static str) {
    match exchange_type {
        38 => ("ike_session_resume", "IKE_SESSION_RESUME"),
        39 => ("gsa_auth", "GSA_AUTH"),
        40 => ("gsa_registration", "GSA_REGISTRATION"),
        41 => ("gsa_rekey", "GSA_REKEY"),
        43 => ("ike_intermediate", "IKE_INTERMEDIATE"),
        44 => ("ike_followup_ke", "IKE_FOLLOWUP_KE"),
        240..=255 => ("private_exchange_type", "private use"),
        _ => ("unassigned_exchange_type", "unassigned"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::spi::IkeSpi;

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
