//! The chain of payloads behind the header. Both versions share the generic payload header: next payload, a byte that
//! is reserved (IKEv2: critical bit), length (RFC 2408 §3.2, RFC 7296 §3.2).

use rekeyscope_model::error::WireError;

/// IKEv1 payload types (RFC 2408 §3.1, RFC 3947, and the drafts that came before it).
pub(super) mod v1 {
    pub(crate) const SA: u8 = 1;
    pub(crate) const KEY_EXCHANGE: u8 = 4;
    pub(crate) const IDENTIFICATION: u8 = 5;
    pub(crate) const HASH: u8 = 8;
    pub(crate) const NONCE: u8 = 10;
    pub(crate) const NOTIFICATION: u8 = 11;
    pub(crate) const DELETE: u8 = 12;
    pub(crate) const VENDOR_ID: u8 = 13;
    pub(crate) const ATTRIBUTES: u8 = 14;
    pub(crate) const NAT_D: u8 = 20;
    pub(crate) const NAT_OA: u8 = 21;
    pub(crate) const NAT_D_DRAFT: u8 = 130;
    pub(crate) const NAT_OA_DRAFT: u8 = 131;
    /// A piece of a larger message (the Cisco scheme, used by Windows and strongSwan).
    pub(crate) const FRAGMENT: u8 = 132;

    /// Types that occur in messages of real implementations.
    pub(crate) fn is_known(kind: u8) -> bool {
        matches!(
            kind,
            SA | KEY_EXCHANGE..=ATTRIBUTES | 15 | NAT_D | NAT_OA | NAT_D_DRAFT | NAT_OA_DRAFT
        )
    }
}

/// IKEv2 payload types (RFC 7296 §3.2, RFC 7383 §2.5).
pub(super) mod v2 {
    pub(crate) const SA: u8 = 33;
    pub(crate) const KEY_EXCHANGE: u8 = 34;
    pub(crate) const NONCE: u8 = 40;
    pub(crate) const NOTIFY: u8 = 41;
    pub(crate) const DELETE: u8 = 42;
    pub(crate) const VENDOR_ID: u8 = 43;
    pub(crate) const ENCRYPTED: u8 = 46;
    pub(crate) const ENCRYPTED_FRAGMENT: u8 = 53;
}

/// Bytes of the generic payload header.
pub(super) const GENERIC_LEN: usize = 4;

/// One payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Payload<'a> {
    /// The type, as the payload before it (or the header) announced it.
    pub(super) kind: u8,
    /// The type that it announces for the next one; 0 ends the chain.
    pub(super) next: u8,
    /// The byte after it: zero, but for the critical bit of IKEv2.
    pub(super) reserved: u8,
    pub(super) body: &'a [u8],
    /// Offset of its generic header in the walked bytes.
    pub(super) offset: usize,
}

/// Walks a chain. After the last payload, [`PayloadChain::rest`] is what follows it (padding in IKEv1).
#[derive(Debug, Clone)]
pub(super) struct PayloadChain<'a> {
    next: u8,
    rest: &'a [u8],
    offset: usize,
}

impl<'a> PayloadChain<'a> {
    /// The chain that starts with a payload of type `first` at the beginning of `bytes`.
    pub(super) fn new(first: u8, bytes: &'a [u8]) -> Self {
        PayloadChain {
            next: first,
            rest: bytes,
            offset: 0,
        }
    }

    /// Bytes not walked yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The bodies of a chain of one kind, which ends where another begins.
    pub(super) fn bodies(kind: u8, bytes: &'a [u8]) -> impl Iterator<Item = Result<&'a [u8], WireError>> {
        PayloadChain::new(kind, bytes)
            .take_while(move |p| p.as_ref().map_or(true, |p| p.kind == kind))
            .map(|p| Ok(p?.body))
    }

    fn step(&mut self) -> Result<Payload<'a>, WireError> {
        let available = self.rest.len();
        let short = |offset, required| WireError {
            layer: "IKE payload",
            offset,
            required,
            available,
        };
        let &[next, reserved, high, low] = self
            .rest
            .first_chunk()
            .ok_or_else(|| short(self.offset, GENERIC_LEN))?;
        let len = usize::from(u16::from_be_bytes([high, low]));
        let body = self
            .rest
            .get(GENERIC_LEN..len)
            .ok_or_else(|| short(self.offset, len.max(GENERIC_LEN)))?;
        let payload = Payload {
            kind: self.next,
            next,
            reserved,
            body,
            offset: self.offset,
        };
        self.rest = &self.rest[len..];
        self.offset += len;
        Ok(payload)
    }
}

impl<'a> Iterator for PayloadChain<'a> {
    type Item = Result<Payload<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == 0 {
            return None;
        }
        let step = self.step();
        self.next = match &step {
            // The next payload field of an encrypted payload names the first one inside it (RFC 7296 §3.14).
            Ok(p) if p.kind == v2::ENCRYPTED || p.kind == v2::ENCRYPTED_FRAGMENT => 0,
            Ok(p) => p.next,
            Err(_) => 0,
        };
        Some(step)
    }
}

/// A reader of fixed fields: every read is checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    offset: usize,
    layer: &'static str,
}

impl<'a> Fields<'a> {
    pub(super) fn new(layer: &'static str, bytes: &'a [u8]) -> Self {
        Fields {
            rest: bytes,
            offset: 0,
            layer,
        }
    }

    pub(super) fn bytes(&mut self, len: usize) -> Result<&'a [u8], WireError> {
        let (head, tail) = self.rest.split_at_checked(len).ok_or(WireError {
            layer: self.layer,
            offset: self.offset,
            required: len,
            available: self.rest.len(),
        })?;
        self.rest = tail;
        self.offset += len;
        Ok(head)
    }

    pub(super) fn u8(&mut self) -> Result<u8, WireError> {
        self.bytes(1).map(|b| b[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, WireError> {
        self.bytes(2).map(|b| u16::from_be_bytes([b[0], b[1]]))
    }

    pub(super) fn u32(&mut self) -> Result<u32, WireError> {
        self.bytes(4)
            .map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

// Data attributes (RFC 2408 §3.3, RFC 7296 §3.3.5): short ones hold two bytes, long ones a length and a value.

/// The format bit: set for a two-byte value.
const SHORT: u16 = 0x8000;

/// Walks attributes; ends at the first one that does not fit.
#[derive(Debug, Clone)]
pub(super) struct Attributes<'a>(Fields<'a>);

impl<'a> Attributes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Attributes(Fields::new("IKE attribute", bytes))
    }
}

impl<'a> Iterator for Attributes<'a> {
    /// Type without the format bit, and the value.
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let kind = self.0.u16().ok()?;
        let len = if kind & SHORT != 0 {
            2
        } else {
            usize::from(self.0.u16().ok()?)
        };
        Some((kind & !SHORT, self.0.bytes(len).ok()?))
    }
}

/// The number of one class.
pub(super) fn numbered(attributes: &[u8], class: u16) -> Option<u64> {
    let (_, value) = Attributes::new(attributes).find(|a| a.0 == class)?;
    number(value)
}

/// A value as a number: `None` above 64 bits. RFC 2407 §4.5 allows durations of any length.
pub(super) fn number(value: &[u8]) -> Option<u64> {
    let start = value.iter().position(|&b| b != 0).unwrap_or(value.len());
    let significant = &value[start..];
    (significant.len() <= 8).then(|| significant.iter().fold(0, |sum, &b| sum << 8 | u64::from(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;
    use proptest::prelude::*;

    #[test]
    fn walks_to_the_padding() {
        let bytes = hex!("0a000006aabb 00000005cc 0000");
        let mut chain = PayloadChain::new(8, &bytes);
        let first = chain.next().unwrap().unwrap();
        assert_eq!((first.kind, first.next, first.body), (8, 10, &hex!("aabb")[..]));
        let second = chain.next().unwrap().unwrap();
        assert_eq!(
            (second.kind, second.body, second.offset),
            (10, &hex!("cc")[..], 6)
        );
        assert!(chain.next().is_none());
        assert_eq!(chain.rest(), [0, 0]);
    }

    #[test]
    fn a_lying_length_ends_the_chain() {
        for bytes in [&hex!("08000003")[..], &hex!("08000005"), &hex!("0800ff"), b""] {
            let mut chain = PayloadChain::new(1, bytes);
            assert!(chain.next().unwrap().is_err());
            assert!(chain.next().is_none());
        }
    }

    #[test]
    fn an_encrypted_payload_is_the_last_one_outside() {
        let bytes = hex!("2100000800010203 00000004");
        assert_eq!(PayloadChain::new(v2::ENCRYPTED, &bytes).count(), 1);
    }

    proptest! {
        #[test]
        fn payloads_never_overlap_or_leave_the_bytes(first: u8, bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut end = 0;
            for payload in PayloadChain::new(first, &bytes).flatten() {
                prop_assert_eq!(payload.offset, end);
                end = payload.offset + GENERIC_LEN + payload.body.len();
                prop_assert!(end <= bytes.len());
            }
        }
    }

    #[test]
    fn short_and_long_forms() {
        let bytes = hex!("80010002 00020004000003e8 8004");
        let found: Vec<_> = Attributes::new(&bytes).collect();
        assert_eq!(found, [(1, &hex!("0002")[..]), (2, &hex!("000003e8")[..])]);
        assert_eq!(number(found[1].1), Some(1000));
    }

    #[test]
    fn numbers_of_any_length() {
        assert_eq!(number(&[]), Some(0));
        assert_eq!(number(&[0; 20]), Some(0));
        assert_eq!(number(&[0xff; 8]), Some(u64::MAX));
        assert_eq!(number(&[0xff; 9]), None);
    }
}
