//! Fragmented IKE messages: RFC 7383 for IKEv2 (each piece is encrypted by itself), the Cisco scheme for IKEv1 (pieces of
//! a message that may be encrypted as a whole; Windows, strongSwan and racoon use it too).

use super::payload::Fields;
use crate::error::WireError;
use std::collections::{BTreeMap, HashMap};
use zeroize::Zeroizing;

/// Most pieces of one message: enough for 64 KiB in pieces of 256 bytes. A message of more is not put together.
const MAX_PIECES: u16 = 256;
/// Most bytes of one message (a UDP datagram holds no more); pieces beyond it are dropped.
const MAX_BYTES: usize = 65_535;
/// Most bytes that unfinished IKEv1 messages hold together, [`ENTRY`] for each piece included: 16 MiB as for IP fragments,
/// two hundred of the longest messages at a time. The message that was begun first gives way.
const MOST_HELD: usize = 16 << 20;
/// What a piece takes beside its bytes.
const ENTRY: usize = 64;

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

/// IKE SA (its index) and side of the sender.
type Sender = (usize, usize);

/// Pieces of IKEv1 messages, at most one message of each sender and [`MOST_HELD`] bytes.
#[derive(Debug, Default)]
pub(super) struct Ikev1Fragments {
    messages: HashMap<Sender, Ikev1Pieces>,
    /// In order of their begin.
    begun: BTreeMap<u64, Sender>,
    next_serial: u64,
    held: usize,
}

impl Ikev1Fragments {
    /// Takes the body of a fragment payload. Gives the whole message, IKE header included, once it is complete.
    ///
    /// # Errors
    /// [`WireError`] when the body is too short.
    pub(super) fn add(&mut self, sender: Sender, body: &[u8]) -> Result<Option<Vec<u8>>, WireError> {
        let message = self.messages.entry(sender).or_insert_with(|| {
            self.next_serial += 1;
            self.begun.insert(self.next_serial, sender);
            Ikev1Pieces {
                serial: self.next_serial,
                ..Ikev1Pieces::default()
            }
        });
        let before = message.held();
        let whole = message.add(body);
        self.held = self.held - before + message.held();
        if message.parts.is_empty() {
            let serial = message.serial;
            self.give_up(serial);
        }
        while self.held > MOST_HELD
            && let Some((&oldest, _)) = self.begun.first_key_value()
        {
            self.give_up(oldest);
        }
        whole
    }

    fn give_up(&mut self, serial: u64) {
        if let Some(sender) = self.begun.remove(&serial)
            && let Some(message) = self.messages.remove(&sender)
        {
            self.held -= message.held();
        }
    }
}

/// Pieces of one IKEv1 message.
#[derive(Debug, Default)]
struct Ikev1Pieces {
    serial: u64,
    id: u16,
    last: Option<u8>,
    parts: BTreeMap<u8, Vec<u8>>,
}

impl Ikev1Pieces {
    fn held(&self) -> usize {
        self.parts.values().map(|part| part.len() + ENTRY).sum()
    }

    /// Takes the body of a fragment payload: identifier, number from 1, flags (1: the last). Gives the whole message, IKE
    /// header included, once it is complete.
    ///
    /// # Errors
    /// [`WireError`] when the body is too short.
    fn add(&mut self, body: &[u8]) -> Result<Option<Vec<u8>>, WireError> {
        let mut fields = Fields::new("IKE fragment", body);
        let (id, number, flags) = (fields.u16()?, fields.u8()?, fields.u8()?);
        if id != self.id {
            *self = Ikev1Pieces {
                id,
                serial: self.serial,
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

    #[test]
    fn ikev1_pieces_of_all_senders_are_bounded_and_the_newest_is_put_together() {
        let mut fragments = Ikev1Fragments::default();
        let piece = |number: u8, len: usize| [&[0, 1, number, 0][..], &vec![7; len]].concat();
        // As many IKE SAs as are kept, each with one piece on both sides; then small ones.
        for (len, rounds) in [(60_000, 1u8), (0, 3)] {
            for ike_sa in 0..2_000 {
                for number in 1..=rounds {
                    assert_eq!(
                        fragments.add((ike_sa, number as usize % 2), &piece(number, len)),
                        Ok(None)
                    );
                    let held: usize = fragments.messages.values().map(Ikev1Pieces::held).sum();
                    assert_eq!(held, fragments.held);
                    assert!(held <= MOST_HELD && fragments.messages.len() == fragments.begun.len());
                }
            }
        }
        let last = [0, 9, 2, 1, b'b'];
        assert_eq!(fragments.add((9_999, 0), &[0, 9, 1, 0, b'a']), Ok(None));
        assert_eq!(fragments.add((9_999, 0), &last), Ok(Some(b"ab".to_vec())));
        assert!(!fragments.messages.contains_key(&(9_999, 0)));
        // Nothing of a message that cannot be read stays.
        assert!(fragments.add((9_998, 0), &[0]).is_err());
        assert!(!fragments.messages.contains_key(&(9_998, 0)));
    }
}
