//! IKEv2 messages (RFC 7296): exchange types, and what IKE_SA_INIT says in the clear.

use super::contents::Scene;
use super::crypto::Hash;
use super::header::{FLAG_INITIATOR, FLAG_RESPONSE, Header};
use super::nat;
use super::notify::{NAT_DETECTION_DESTINATION, NAT_DETECTION_SOURCE, Notification};
use super::payload::{Payload, v2};
use crate::analysis::ExchangeKind;

/// Exchange types (RFC 7296 §3.1).
pub(super) fn exchange_kind(exchange_type: u8) -> ExchangeKind {
    match exchange_type {
        34 => ExchangeKind::IkeSaInit,
        35 => ExchangeKind::IkeAuth,
        36 => ExchangeKind::CreateChildSa,
        37 => ExchangeKind::Informational,
        _ => ExchangeKind::Other,
    }
}

/// Identifier (for diagnostics) and name of exchange types that are not decoded.
pub(super) fn other_exchange_name(exchange_type: u8) -> (&'static str, &'static str) {
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

/// Whether the IKE SA's initiator began the exchange: both sides number theirs independently (RFC 7296 §2.2).
pub(super) fn begun_by_initiator(header: &Header) -> bool {
    header.has(FLAG_INITIATOR) != header.has(FLAG_RESPONSE)
}

impl Scene<'_> {
    /// What an unencrypted IKEv2 message says.
    pub(super) fn read_ikev2(&mut self, payloads: &[Payload<'_>]) {
        let mut source = Vec::new();
        let mut destination = Vec::new();
        for payload in payloads.iter().filter(|p| p.kind == v2::NOTIFY) {
            match Notification::parse(2, payload.body) {
                Ok(n) => match n.kind {
                    NAT_DETECTION_SOURCE => source.push(n.data),
                    NAT_DETECTION_DESTINATION => destination.push(n.data),
                    _ => {}
                },
                Err(error) => self.diagnostics.count_wire_error(error, self.context.frame),
            }
        }
        let detected = nat::detected(Hash::Sha1, self.header, self.context, &source, &destination);
        self.hear_nat(detected);
    }
}
