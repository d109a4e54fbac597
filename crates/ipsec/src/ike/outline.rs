//! Facts that an IKE message shows without keys.

use crate::ike::header::{FLAG_RESPONSE, IkeHeader, LEN};
use crate::ike::payload::{GENERIC_LEN, v1, v2};

/// First payload inside an encrypted IKEv2 message. The type of that payload stands in clear, in front of it (RFC 7296 §3.14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstInside {
    /// No payload: a check whether the peer is alive, or the answer to a request that needs no other (RFC 7296 §1.4).
    Nothing,
    /// An SA payload, with an offer or a choice.
    SecurityAssociation,
    /// A notification.
    Notify,
    /// A Delete payload.
    Delete,
    /// Any other payload.
    Other,
}

/// Position of a fragment in its message (RFC 7383 §2.5; the scheme of Cisco in IKEv1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IkeFragment {
    /// Number of the fragment, from 1 on.
    pub number: u16,
    /// Number of fragments of the message, which IKEv1 says with the last one.
    pub total: Option<u16>,
}

/// Facts that a message shows without keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outline {
    /// True where an IKEv2 message answers a request; `None` in IKEv1, which has no flag for that.
    pub response: Option<bool>,
    /// First payload of an encrypted IKEv2 message; `None` for others, and for a fragment after the first.
    pub inside: Option<FirstInside>,
    /// Position of a message that is a fragment.
    pub fragment: Option<IkeFragment>,
}

impl Outline {
    /// Outline of a message with this header.
    pub(super) fn of(header: &IkeHeader, message: &[u8]) -> Outline {
        let body = message.get(LEN..).unwrap_or_default();
        let is_v2 = header.major == 2;
        let fields = body.get(GENERIC_LEN..).and_then(<[u8]>::first_chunk::<4>);
        let fragment = match (is_v2, header.next_payload, fields) {
            (true, v2::ENCRYPTED_FRAGMENT, Some(&[n0, n1, t0, t1])) => Some(IkeFragment {
                number: u16::from_be_bytes([n0, n1]),
                total: Some(u16::from_be_bytes([t0, t1])),
            }),
            // The fields are identifier, number and flags; the lowest flag marks the last fragment.
            (false, v1::FRAGMENT, Some(&[_, _, number, flags])) => Some(IkeFragment {
                number: u16::from(number),
                total: (flags & 1 != 0).then_some(u16::from(number)),
            }),
            _ => None,
        };
        let sealed = is_v2 && matches!(header.next_payload, v2::ENCRYPTED | v2::ENCRYPTED_FRAGMENT);
        let begins = fragment.is_none_or(|f| f.number == 1);
        Outline {
            response: is_v2.then(|| header.has(FLAG_RESPONSE)),
            inside: body
                .first()
                .filter(|_| sealed && begins)
                .map(|&kind| first_inside(kind)),
            fragment,
        }
    }
}

fn first_inside(kind: u8) -> FirstInside {
    match kind {
        0 => FirstInside::Nothing,
        v2::SA => FirstInside::SecurityAssociation,
        v2::NOTIFY => FirstInside::Notify,
        v2::DELETE => FirstInside::Delete,
        _ => FirstInside::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    fn outline(message: &[u8]) -> Outline {
        Outline::of(&IkeHeader::parse(message).unwrap(), message)
    }

    #[test]
    fn the_first_payload_inside_is_in_clear() {
        let mut delete = hex!(
            "1111111111111111 2222222222222222 2e 20 25 08 00000001 00000024"
            "2a000008 00000000"
        );
        let seen = outline(&delete);
        assert_eq!(seen.inside, Some(FirstInside::Delete));
        assert_eq!((seen.response, seen.fragment), (Some(false), None));
        (delete[19], delete[28]) = (0x28, 0);
        let seen = outline(&delete);
        assert_eq!(
            (seen.response, seen.inside),
            (Some(true), Some(FirstInside::Nothing))
        );
        assert_eq!(outline(&delete[..28]).inside, None, "cut off");
    }

    #[test]
    fn fragments_say_their_place() {
        let mut second = hex!(
            "1111111111111111 2222222222222222 35 20 24 08 00000001 00000024"
            "00000008 00020003"
        );
        let seen = outline(&second);
        let of_three = |number| {
            Some(IkeFragment {
                number,
                total: Some(3),
            })
        };
        assert_eq!((seen.inside, seen.fragment), (None, of_three(2)));
        (second[28], second[33]) = (33, 1);
        let seen = outline(&second);
        assert_eq!(seen.inside, Some(FirstInside::SecurityAssociation));
        assert_eq!(seen.fragment, of_three(1));
        let last = hex!(
            "1111111111111111 2222222222222222 84 10 02 00 00000000 00000024"
            "00000008 00010201"
        );
        let fragment = Some(IkeFragment {
            number: 2,
            total: Some(2),
        });
        assert_eq!(outline(&last).fragment, fragment);
        assert_eq!(outline(&last).response, None);
    }
}
