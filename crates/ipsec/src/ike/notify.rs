//! Notification and Delete payloads (RFC 2408 §3.14–3.15, RFC 7296 §3.10–3.11). Their bodies differ between the
//! versions by the DOI field that IKEv1 puts first.

use crate::ike::context::MessageContext;
use crate::ike::exchange::ErrorNotice;
use crate::ike::payload::Fields;
use rekeyscope_model::error::WireError;
use rekeyscope_model::spi::{IpsecProtocol, Spi};

/// RESPONDER-LIFETIME (RFC 2407 §4.6.3.1).
pub(super) const RESPONDER_LIFETIME: u16 = 24576;
/// INITIAL-CONTACT (RFC 2407 §4.6.3.3) and INITIAL_CONTACT (RFC 7296 §2.4).
pub(super) const INITIAL_CONTACT_V1: u16 = 24578;
pub(super) const INITIAL_CONTACT: u16 = 16384;
/// Number of INVALID-SPI (RFC 2408 §3.14.1) and of INVALID_SPI (RFC 7296 §3.10.1).
const INVALID_SPI: u16 = 11;
/// NAT_DETECTION_SOURCE_IP and NAT_DETECTION_DESTINATION_IP (RFC 7296 §2.23).
pub(super) const NAT_DETECTION_SOURCE: u16 = 16388;
pub(super) const NAT_DETECTION_DESTINATION: u16 = 16389;

pub(super) const USE_TRANSPORT_MODE: u16 = 16391;
pub(super) const REKEY_SA: u16 = 16393;
/// Notifications below it are errors (RFC 2408 §3.14.1, RFC 7296 §3.10.1).
pub(super) const FIRST_STATUS: u16 = 16384;

/// A notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Notification<'a> {
    /// IKEv1 only.
    pub(super) doi: Option<u32>,
    pub(super) protocol: u8,
    pub(super) spi: &'a [u8],
    pub(super) kind: u16,
    pub(super) data: &'a [u8],
}

/// A Delete payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delete<'a> {
    /// IKEv1 only.
    pub(super) doi: Option<u32>,
    pub(super) protocol: u8,
    pub(super) spi_size: u8,
    pub(super) spis: &'a [u8],
}

impl<'a> Notification<'a> {
    pub(super) fn parse(major: u8, body: &'a [u8]) -> Result<Self, WireError> {
        let mut fields = Fields::new("IKE notification", body);
        let doi = if major == 1 { Some(fields.u32()?) } else { None };
        let protocol = fields.u8()?;
        let spi_size = fields.u8()?;
        let kind = fields.u16()?;
        let spi = fields.bytes(usize::from(spi_size))?;
        Ok(Notification {
            doi,
            protocol,
            spi,
            kind,
            data: fields.rest(),
        })
    }

    pub(super) fn error(&self, context: &MessageContext) -> Option<ErrorNotice> {
        let name = if self.doi.is_some() { name_v1 } else { name_v2 };
        (self.kind < FIRST_STATUS).then(|| ErrorNotice {
            name: name(self.kind),
            by: context.src,
            frame: context.frame,
            time: context.time,
            message_id: self.data.try_into().ok().map(u32::from_be_bytes),
            spi: self.invalid_spi().or_else(|| self.ipsec_spi()),
        })
    }

    /// INVALID_SPI names the SPI in its data (RFC 7296 §3.10.1) or in its SPI field, whatever the protocol there.
    fn invalid_spi(&self) -> Option<Spi> {
        let named = [self.data, self.spi].into_iter().find(|field| field.len() == 4);
        let named = named.filter(|_| self.kind == INVALID_SPI)?;
        named.try_into().ok().map(|b| Spi(u32::from_be_bytes(b)))
    }

    /// The SPI when it is one of ESP or AH.
    pub(super) fn ipsec_spi(&self) -> Option<Spi> {
        ipsec_protocol(self.protocol)?;
        self.spi.try_into().ok().map(|b| Spi(u32::from_be_bytes(b)))
    }
}

impl<'a> Delete<'a> {
    pub(super) fn parse(major: u8, body: &'a [u8]) -> Result<Self, WireError> {
        let mut fields = Fields::new("IKE delete", body);
        let doi = if major == 1 { Some(fields.u32()?) } else { None };
        let protocol = fields.u8()?;
        let spi_size = fields.u8()?;
        let count = fields.u16()?;
        let spis = fields.bytes(usize::from(spi_size) * usize::from(count))?;
        Ok(Delete {
            doi,
            protocol,
            spi_size,
            spis,
        })
    }

    /// The ESP or AH SPIs that it names; none when it names an IKE SA.
    pub(super) fn ipsec_spis(&self) -> Option<(IpsecProtocol, impl Iterator<Item = Spi>)> {
        let protocol = ipsec_protocol(self.protocol).filter(|_| self.spi_size == 4)?;
        let spis = self.spis.chunks_exact(4).filter_map(|c| c.try_into().ok());
        Some((protocol, spis.map(|b| Spi(u32::from_be_bytes(b)))))
    }

    /// Tells whether the IKE SA itself is meant (protocol 1 in both versions).
    pub(super) fn is_ike_sa(&self) -> bool {
        self.protocol == 1
    }
}

/// Protocol ID (RFC 2407 §4.4.1, RFC 7296 §3.3.1) → ESP or AH.
pub(super) fn ipsec_protocol(id: u8) -> Option<IpsecProtocol> {
    match id {
        2 => Some(IpsecProtocol::Ah),
        3 => Some(IpsecProtocol::Esp),
        _ => None,
    }
}

/// Name of an IKEv1 notification (RFC 2408 §3.14.1, RFC 2407 §4.6.3, RFC 3706).
pub(super) fn name_v1(kind: u16) -> &'static str {
    match kind {
        1 => "INVALID-PAYLOAD-TYPE",
        2 => "DOI-NOT-SUPPORTED",
        3 => "SITUATION-NOT-SUPPORTED",
        4 => "INVALID-COOKIE",
        5 => "INVALID-MAJOR-VERSION",
        6 => "INVALID-MINOR-VERSION",
        7 => "INVALID-EXCHANGE-TYPE",
        8 => "INVALID-FLAGS",
        9 => "INVALID-MESSAGE-ID",
        10 => "INVALID-PROTOCOL-ID",
        11 => "INVALID-SPI",
        12 => "INVALID-TRANSFORM-ID",
        13 => "ATTRIBUTES-NOT-SUPPORTED",
        14 => "NO-PROPOSAL-CHOSEN",
        15 => "BAD-PROPOSAL-SYNTAX",
        16 => "PAYLOAD-MALFORMED",
        17 => "INVALID-KEY-INFORMATION",
        18 => "INVALID-ID-INFORMATION",
        19 => "INVALID-CERT-ENCODING",
        20 => "INVALID-CERTIFICATE",
        21 => "CERT-TYPE-UNSUPPORTED",
        22 => "INVALID-CERT-AUTHORITY",
        23 => "INVALID-HASH-INFORMATION",
        24 => "AUTHENTICATION-FAILED",
        25 => "INVALID-SIGNATURE",
        26 => "ADDRESS-NOTIFICATION",
        27 => "NOTIFY-SA-LIFETIME",
        28 => "CERTIFICATE-UNAVAILABLE",
        29 => "UNSUPPORTED-EXCHANGE-TYPE",
        30 => "UNEQUAL-PAYLOAD-LENGTHS",
        16384 => "CONNECTED",
        RESPONDER_LIFETIME => "RESPONDER-LIFETIME",
        24577 => "REPLAY-STATUS",
        24578 => "INITIAL-CONTACT",
        36136 => "R-U-THERE",
        36137 => "R-U-THERE-ACK",
        40501 => "LOAD-BALANCE",
        0..=8191 => "error (unassigned)",
        8192..=16383 => "error (private)",
        _ => "status (private)",
    }
}

/// Name of an IKEv2 notification (RFC 7296 §3.10.1 and the IANA registry).
pub(super) fn name_v2(kind: u16) -> &'static str {
    match kind {
        1 => "UNSUPPORTED_CRITICAL_PAYLOAD",
        4 => "INVALID_IKE_SPI",
        5 => "INVALID_MAJOR_VERSION",
        7 => "INVALID_SYNTAX",
        9 => "INVALID_MESSAGE_ID",
        11 => "INVALID_SPI",
        14 => "NO_PROPOSAL_CHOSEN",
        17 => "INVALID_KE_PAYLOAD",
        24 => "AUTHENTICATION_FAILED",
        34 => "SINGLE_PAIR_REQUIRED",
        35 => "NO_ADDITIONAL_SAS",
        36 => "INTERNAL_ADDRESS_FAILURE",
        37 => "FAILED_CP_REQUIRED",
        38 => "TS_UNACCEPTABLE",
        39 => "INVALID_SELECTORS",
        40 => "UNACCEPTABLE_ADDRESSES",
        41 => "UNEXPECTED_NAT_DETECTED",
        43 => "TEMPORARY_FAILURE",
        44 => "CHILD_SA_NOT_FOUND",
        16384 => "INITIAL_CONTACT",
        16385 => "SET_WINDOW_SIZE",
        16386 => "ADDITIONAL_TS_POSSIBLE",
        16387 => "IPCOMP_SUPPORTED",
        NAT_DETECTION_SOURCE => "NAT_DETECTION_SOURCE_IP",
        NAT_DETECTION_DESTINATION => "NAT_DETECTION_DESTINATION_IP",
        16390 => "COOKIE",
        USE_TRANSPORT_MODE => "USE_TRANSPORT_MODE",
        16392 => "HTTP_CERT_LOOKUP_SUPPORTED",
        REKEY_SA => "REKEY_SA",
        16394 => "ESP_TFC_PADDING_NOT_SUPPORTED",
        16395 => "NON_FIRST_FRAGMENTS_ALSO",
        16396 => "MOBIKE_SUPPORTED",
        16397 => "ADDITIONAL_IP4_ADDRESS",
        16398 => "ADDITIONAL_IP6_ADDRESS",
        16399 => "NO_ADDITIONAL_ADDRESSES",
        16400 => "UPDATE_SA_ADDRESSES",
        16401 => "COOKIE2",
        16402 => "NO_NATS_ALLOWED",
        16403 => "AUTH_LIFETIME",
        16404 => "MULTIPLE_AUTH_SUPPORTED",
        16406 => "REDIRECT_SUPPORTED",
        16407 => "REDIRECT",
        16417 => "EAP_ONLY_AUTHENTICATION",
        16418 => "CHILDLESS_IKEV2_SUPPORTED",
        16430 => "IKEV2_FRAGMENTATION_SUPPORTED",
        16431 => "SIGNATURE_HASH_ALGORITHMS",
        0..=8191 => "error (unassigned)",
        8192..=16383 => "error (private)",
        _ => "status (other)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    #[test]
    fn deletes_of_both_versions() {
        let v1 = hex!("00000001 03 04 0002 c7df968a c06e0f04");
        let delete = Delete::parse(1, &v1).unwrap();
        let (protocol, spis) = delete.ipsec_spis().unwrap();
        assert_eq!(protocol, IpsecProtocol::Esp);
        assert_eq!(spis.collect::<Vec<_>>(), [Spi(0xc7df968a), Spi(0xc06e0f04)]);
        let ike = hex!("01 00 0000");
        assert!(Delete::parse(2, &ike).unwrap().is_ike_sa());
        assert!(Delete::parse(2, &ike).unwrap().ipsec_spis().is_none());
        for cut in 0..v1.len() {
            assert!(Delete::parse(1, &v1[..cut]).is_err());
        }
    }

    #[test]
    fn notifications_of_both_versions() {
        let v2 = hex!("03 04 4009 cbb16e15 aa");
        let notification = Notification::parse(2, &v2).unwrap();
        assert_eq!((notification.kind, notification.data), (16393, &hex!("aa")[..]));
        assert_eq!(notification.ipsec_spi(), Some(Spi(0xcbb16e15)));
        let v1 = hex!("00000001 01 10 6002 33acac7650479d9d4330a6ed090669bf");
        let notification = Notification::parse(1, &v1).unwrap();
        assert_eq!(name_v1(notification.kind), "INITIAL-CONTACT");
        assert_eq!(notification.ipsec_spi(), None);
        for cut in 0..v1.len() {
            assert!(Notification::parse(1, &v1[..cut]).is_err());
        }
    }
}
