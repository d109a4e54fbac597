//! Fragmented IKE messages: RFC 7383 for IKEv2 (each piece is encrypted by itself), the Cisco scheme for IKEv1 (pieces of
//! a message that may be encrypted as a whole; Windows, strongSwan and racoon use it too).

use super::payload::Fields;
use crate::error::WireError;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// Most pieces of one message: enough for 64 KiB in pieces of 256 bytes. A message of more is not put together.
const MAX_PIECES: u16 = 256;
/// Most bytes of one message (a UDP datagram holds no more); pieces beyond it are dropped.
const MAX_BYTES: usize = 65_535;

/// The inside of an encrypted payload.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Opened {
    /// Type of the first payload.
    pub(super) first: u8,
    /// The payload chain.
    pub(super) payloads: Zeroizing<Vec<u8>>,
}

/// Pieces of one IKEv2 message, decrypted.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    total: u16,
    /// Type of the first payload, from the first piece.
    first: u8,
    parts: BTreeMap<u16, Zeroizing<Vec<u8>>>,
}

impl Pieces {
    /// Takes piece `number` (from 1) of `total`. Gives the whole once it is complete.
    pub(super) fn add(
        &mut self,
        number: u16,
        total: u16,
        next: u8,
        part: Zeroizing<Vec<u8>>,
    ) -> Option<Opened> {
        if number == 0 || number > total || total > MAX_PIECES {
            return None;
        }
        // A sender that splits anew, smaller, starts over (RFC 7383 §2.5.2).
        if total != self.total {
            self.parts.clear();
            self.total = total;
        }
        if number == 1 {
            self.first = next;
        }
        let held: usize = self.parts.values().map(|p| p.len()).sum();
        if held + part.len() <= MAX_BYTES {
            self.parts.insert(number, part);
        }
        if self.parts.len() < usize::from(total) {
            return None;
        }
        let mut payloads = Zeroizing::new(Vec::new());
        self.parts
            .values()
            .for_each(|part| payloads.extend_from_slice(part));
        self.parts.clear();
        Some(Opened {
            first: self.first,
            payloads,
        })
    }
}

/// Pieces of one IKEv1 message.
#[derive(Debug, Default)]
pub(super) struct Ikev1Pieces {
    id: u16,
    last: Option<u8>,
    parts: BTreeMap<u8, Vec<u8>>,
}

impl Ikev1Pieces {
    /// Takes the body of a fragment payload: identifier, number from 1, flags (1: the last). Gives the whole message, IKE
    /// header included, once it is complete.
    ///
    /// # Errors
    /// [`WireError`] when the body is too short.
    pub(super) fn add(&mut self, body: &[u8]) -> Result<Option<Vec<u8>>, WireError> {
        let mut fields = Fields::new("IKE fragment", body);
        let (id, number, flags) = (fields.u16()?, fields.u8()?, fields.u8()?);
        if id != self.id {
            *self = Ikev1Pieces {
                id,
                ..Ikev1Pieces::default()
            };
        }
        if flags & 1 != 0 {
            self.last = Some(number);
        }
        let held: usize = self.parts.values().map(Vec::len).sum();
        if held + fields.rest().len() <= MAX_BYTES {
            self.parts.insert(number, fields.rest().to_vec());
        }
        let Some(last) = self.last.filter(|&last| last > 0) else {
            return Ok(None);
        };
        if !(1..=last).all(|n| self.parts.contains_key(&n)) {
            return Ok(None);
        }
        let whole = self
            .parts
            .range(1..=last)
            .flat_map(|(_, part)| part)
            .copied()
            .collect();
        self.parts.clear();
        self.last = None;
        Ok(Some(whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(bytes.to_vec())
    }

    #[test]
    fn pieces_in_any_order() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.add(3, 3, 0, part(b"c")), None);
        assert_eq!(pieces.add(1, 3, 33, part(b"a")), None);
        assert_eq!(pieces.add(1, 3, 33, part(b"a")), None);
        let whole = pieces.add(2, 3, 0, part(b"b")).unwrap();
        assert_eq!((whole.first, whole.payloads.as_slice()), (33, &b"abc"[..]));
    }

    #[test]
    fn a_new_split_starts_over() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.add(1, 2, 33, part(b"ab")), None);
        assert_eq!(pieces.add(1, 3, 33, part(b"a")), None);
        assert_eq!(pieces.add(2, 3, 0, part(b"b")), None);
        assert_eq!(
            pieces.add(3, 3, 0, part(b"c")).unwrap().payloads.as_slice(),
            b"abc"
        );
        assert_eq!(pieces.add(0, 1, 0, part(b"")), None);
        assert_eq!(pieces.add(1, 60_000, 0, part(b"")), None);
    }

    #[test]
    fn ikev1_pieces() {
        let mut pieces = Ikev1Pieces::default();
        assert!(pieces.add(&[0, 1, 1]).is_err());
        assert_eq!(pieces.add(&[0, 1, 2, 1, b'b']), Ok(None));
        assert_eq!(pieces.add(&[0, 1, 1, 0, b'a']), Ok(Some(b"ab".to_vec())));
        assert_eq!(pieces.add(&[0, 2, 0, 1]), Ok(None));
    }
}
