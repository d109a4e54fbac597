//! Transforms of ESP and AH as IKE negotiates them → [`Transform`]. IKEv1: RFC 2407 §4.5; IKEv2: RFC 7296 §3.3. What the numbers
//! mean is in the table of [`rekeyscope_model::algorithm`].

use crate::ike::payload::{Attributes, number, numbered};
use rekeyscope_model::algorithm::{Encryption, Integrity, Transform};
use rekeyscope_model::analysis::{Lifetime, Mode};
use rekeyscope_model::spi::IpsecProtocol;

/// SA attributes of the IPsec DOI (RFC 2407 §4.5).
mod class {
    pub(crate) const LIFE_TYPE: u16 = 1;
    pub(crate) const LIFE_DURATION: u16 = 2;
    pub(crate) const ENCAPSULATION_MODE: u16 = 4;
    pub(crate) const AUTHENTICATION: u16 = 5;
    pub(crate) const KEY_LENGTH: u16 = 6;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Ikev1Transform {
    /// `None` when a number is not known to us.
    pub(super) transform: Option<Transform>,
    pub(super) mode: Option<Mode>,
    pub(super) lifetime: Option<Lifetime>,
}

/// Reads one transform of a Quick Mode proposal.
pub(super) fn ikev1(protocol: IpsecProtocol, id: u8, attributes: &[u8]) -> Ikev1Transform {
    let value = |class| numbered(attributes, class);
    let integrity = match value(class::AUTHENTICATION) {
        None => Some(Integrity::None),
        Some(id) => Integrity::of_ikev1(id),
    };
    let key_len = value(class::KEY_LENGTH).and_then(|bits| usize::try_from(bits / 8).ok());
    let transform = match protocol {
        IpsecProtocol::Ah => integrity.map(|integrity| with_key_len(Encryption::Null, None, integrity)),
        IpsecProtocol::Esp => Encryption::of_ikev1(id)
            .zip(integrity)
            .map(|(encryption, integrity)| with_key_len(encryption, key_len, integrity)),
    };
    Ikev1Transform {
        transform,
        mode: value(class::ENCAPSULATION_MODE).and_then(ikev1_mode),
        lifetime: lifetimes(attributes),
    }
}

/// Pairs of life type and duration, in that order (RFC 2407 §4.5: a duration belongs to the type before it).
pub(super) fn lifetimes(attributes: &[u8]) -> Option<Lifetime> {
    let mut found = Lifetime::default();
    let mut life_type = None;
    for (class, value) in Attributes::new(attributes) {
        match (class, number(value), life_type) {
            (class::LIFE_TYPE, kind, _) => life_type = kind,
            (class::LIFE_DURATION, duration, Some(1)) => found.seconds = duration,
            (class::LIFE_DURATION, duration, Some(2)) => found.kilobytes = duration,
            _ => {}
        }
    }
    (found != Lifetime::default()).then_some(found)
}

/// The key length that applies: the negotiated one, else the only one, else (AES, Camellia) 128 bits, which is what
/// RFC 3602 §5.3 makes the default.
fn with_key_len(encryption: Encryption, negotiated: Option<usize>, integrity: Integrity) -> Transform {
    let lens = encryption.key_lens();
    Transform {
        encryption,
        key_len: negotiated
            .filter(|len| lens.contains(len))
            .or(lens.first().copied()),
        integrity: if encryption.is_aead() {
            Integrity::None
        } else {
            integrity
        },
    }
}

/// RFC 2407 §4.5, RFC 3947 §5.1 (3, 4: in UDP), its drafts (61443, 61444).
fn ikev1_mode(id: u64) -> Option<Mode> {
    match id {
        1 | 3 | 61443 => Some(Mode::Tunnel),
        2 | 4 | 61444 => Some(Mode::Transport),
        _ => None,
    }
}

/// Reads the transforms of an IKEv2 proposal for ESP or AH.
pub(super) fn ikev2(
    protocol: IpsecProtocol,
    encryption: Option<u16>,
    key_len: Option<usize>,
    integrity: Option<u16>,
) -> Option<Transform> {
    let integrity = integrity.map_or(Some(Integrity::None), Integrity::of_ikev2)?;
    let encryption = match protocol {
        IpsecProtocol::Ah => Encryption::Null,
        IpsecProtocol::Esp => Encryption::of_ikev2(encryption?)?,
    };
    Some(with_key_len(encryption, key_len, integrity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    #[test]
    fn a_windows_like_transform() {
        // Transport, AES-CBC-128, SHA-1, 3600 s (4 bytes), 250000 kB (4 bytes).
        let attributes =
            hex!("80040002 80060080 80050002 80010001 0002000400000e10 80010002 000200040003d090");
        let read = ikev1(IpsecProtocol::Esp, 12, &attributes);
        assert_eq!(read.mode, Some(Mode::Transport));
        assert_eq!(read.transform.unwrap().encryption_name(), "AES-CBC-128");
        assert_eq!(read.transform.unwrap().integrity, Integrity::HmacSha1_96);
        assert_eq!(
            read.lifetime,
            Some(Lifetime {
                seconds: Some(3600),
                kilobytes: Some(250_000)
            })
        );
    }

    #[test]
    fn modes_in_udp() {
        for (id, mode) in [
            (1, Mode::Tunnel),
            (2, Mode::Transport),
            (3, Mode::Tunnel),
            (4, Mode::Transport),
            (61443, Mode::Tunnel),
            (61444, Mode::Transport),
        ] {
            assert_eq!(ikev1_mode(id), Some(mode));
        }
        assert_eq!(ikev1_mode(5), None);
    }

    #[test]
    fn lifetimes_in_either_form_and_order() {
        assert_eq!(
            lifetimes(&hex!("80010002 80020960")).unwrap().kilobytes,
            Some(2400)
        );
        let swapped = lifetimes(&hex!("80010002 00020002 03e8 80010001 8002003c")).unwrap();
        assert_eq!((swapped.seconds, swapped.kilobytes), (Some(60), Some(1000)));
        assert_eq!(lifetimes(&hex!("8002003c")), None, "a duration without a type");
    }

    #[test]
    fn unknown_numbers_are_unknown() {
        assert_eq!(ikev1(IpsecProtocol::Esp, 7, &[]).transform, None);
        assert_eq!(ikev1(IpsecProtocol::Esp, 12, &hex!("80050063")).transform, None);
        let gcm = ikev1(IpsecProtocol::Esp, 20, &hex!("80060100"))
            .transform
            .unwrap();
        assert_eq!(
            (gcm.encryption_name().as_str(), gcm.integrity),
            ("AES-GCM-16-256", Integrity::None)
        );
    }
}
