//! Fragmented IKE messages: RFC 7383 for IKEv2 (each piece is encrypted by itself), the Cisco scheme for IKEv1 (pieces of
//! a message that may be encrypted as a whole; Windows, strongSwan and racoon use it too). What a bound cuts off is counted.

use crate::ike::payload::Fields;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::error::WireError;
use rekeyscope_model::text::Message;
use std::collections::{BTreeMap, HashMap};
use zeroize::Zeroizing;

/// Most pieces of one message: enough for 64 KiB in pieces of 256 bytes. A message of more is not put together.
const MAX_PIECES: u16 = 256;
/// Most bytes of one message (a UDP datagram holds no more); pieces beyond it are dropped.
const MAX_BYTES: usize = 65_535;
/// Most bytes that unfinished IKEv1 messages hold together, [`ENTRY`] for each piece included: 16 MiB as for IP fragments,
/// two hundred of the longest messages at a time. The message that was begun first gives way.
const MOST_HELD: usize = 16 << 20;
/// Memory of a piece beside its bytes.
const ENTRY: usize = 64;

/// Result of adding a piece.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AddedPiece<T> {
    /// The message, where the piece was its last.
    pub(super) whole: Option<T>,
    /// Pieces that a bound cut off: this one, or earlier ones.
    dropped: usize,
}

impl<T> AddedPiece<T> {
    fn dropped(dropped: usize) -> Self {
        AddedPiece { whole: None, dropped }
    }

    /// The message, where the piece was its last; what was cut off is counted.
    pub(super) fn counted(self, frame: u64, diagnostics: &mut Diagnostics) -> Option<T> {
        for _ in 0..self.dropped {
            diagnostics.count("fragment_dropped", "IKE", Some(frame), || {
                Message::new("oddity-ike-fragment-dropped")
                    .with("pieces", u32::from(MAX_PIECES))
                    .with("bytes", MAX_BYTES)
            });
        }
        self.whole
    }
}

/// The inside of an encrypted payload.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OpenedPayload {
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
    /// Takes piece `number` (from 1) of `total`. Gives the whole once it is complete. `None`: there can be no such piece.
    pub(super) fn add(
        &mut self,
        number: u16,
        total: u16,
        next: u8,
        part: Zeroizing<Vec<u8>>,
    ) -> Option<AddedPiece<OpenedPayload>> {
        if number == 0 || number > total {
            return None;
        }
        if total > MAX_PIECES {
            return Some(AddedPiece::dropped(1));
        }
        // A sender that splits anew, smaller, starts over (RFC 7383 §2.5.2).
        if total != self.total {
            self.parts.clear();
            self.total = total;
        }
        if number == 1 {
            self.first = next;
        }
        let others = self.parts.iter().filter(|(n, _)| **n != number);
        if others.map(|(_, p)| p.len()).sum::<usize>() + part.len() > MAX_BYTES {
            return Some(AddedPiece::dropped(1));
        }
        self.parts.insert(number, part);
        if self.parts.len() < usize::from(total) {
            return Some(AddedPiece::dropped(0));
        }
        let mut payloads = Zeroizing::new(Vec::new());
        self.parts
            .values()
            .for_each(|part| payloads.extend_from_slice(part));
        self.parts.clear();
        Some(AddedPiece {
            whole: Some(OpenedPayload {
                first: self.first,
                payloads,
            }),
            dropped: 0,
        })
    }
}

/// IKE SA (its index) and side of the sender.
type FragmentSender = (usize, usize);

/// Pieces of IKEv1 messages, at most one message of each sender and [`MOST_HELD`] bytes.
#[derive(Debug, Default)]
pub(super) struct Ikev1Fragments {
    messages: HashMap<FragmentSender, Ikev1Pieces>,
    /// In order of their begin.
    begun: BTreeMap<u64, FragmentSender>,
    next_serial: u64,
    held: usize,
}

impl Ikev1Fragments {
    /// Takes the body of a fragment payload. Gives the whole message, IKE header included, once it is complete.
    ///
    /// # Errors
    /// [`WireError`] when the body is too short.
    pub(super) fn add(
        &mut self,
        sender: FragmentSender,
        body: &[u8],
    ) -> Result<AddedPiece<Vec<u8>>, WireError> {
        let message = self.messages.entry(sender).or_insert_with(|| {
            self.next_serial += 1;
            self.begun.insert(self.next_serial, sender);
            Ikev1Pieces {
                serial: self.next_serial,
                ..Ikev1Pieces::default()
            }
        });
        let before = message.held();
        let mut added = message.add(body);
        self.held = self.held - before + message.held();
        if message.parts.is_empty() {
            let serial = message.serial;
            self.give_up(serial);
        }
        while self.held > MOST_HELD
            && let Some((&oldest, _)) = self.begun.first_key_value()
        {
            let pieces = self.give_up(oldest);
            if let Ok(added) = &mut added {
                added.dropped += pieces;
            }
        }
        added
    }

    /// Gives the number of pieces that were there.
    fn give_up(&mut self, serial: u64) -> usize {
        let sender = self.begun.remove(&serial);
        let Some(message) = sender.and_then(|sender| self.messages.remove(&sender)) else {
            return 0;
        };
        self.held -= message.held();
        message.parts.len()
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
    fn add(&mut self, body: &[u8]) -> Result<AddedPiece<Vec<u8>>, WireError> {
        let mut fields = Fields::new("IKE fragment", body);
        let (id, number, flags) = (fields.u16()?, fields.u8()?, fields.u8()?);
        let mut dropped = 0;
        if id != self.id {
            dropped = self.parts.len();
            *self = Ikev1Pieces {
                id,
                serial: self.serial,
                ..Ikev1Pieces::default()
            };
        }
        if flags & 1 != 0 {
            self.last = Some(number);
        }
        let others = self.parts.iter().filter(|(n, _)| **n != number);
        if others.map(|(_, p)| p.len()).sum::<usize>() + fields.rest().len() > MAX_BYTES {
            return Ok(AddedPiece::dropped(dropped + 1));
        }
        self.parts.insert(number, fields.rest().to_vec());
        let last = self.last.filter(|&last| last > 0);
        let Some(last) = last.filter(|&last| (1..=last).all(|n| self.parts.contains_key(&n))) else {
            return Ok(AddedPiece::dropped(dropped));
        };
        let parts: Vec<&[u8]> = self.parts.range(1..=last).map(|(_, part)| &part[..]).collect();
        let whole = Some(parts.concat());
        self.parts.clear();
        self.last = None;
        Ok(AddedPiece { whole, dropped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(bytes.to_vec())
    }

    /// Not whole yet, and nothing was cut off.
    fn goes_on<T>() -> AddedPiece<T> {
        AddedPiece::dropped(0)
    }

    fn whole(bytes: &[u8]) -> AddedPiece<Vec<u8>> {
        AddedPiece {
            whole: Some(bytes.to_vec()),
            dropped: 0,
        }
    }

    #[test]
    fn pieces_in_any_order() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.add(3, 3, 0, part(b"c")), Some(goes_on()));
        assert_eq!(pieces.add(1, 3, 33, part(b"a")), Some(goes_on()));
        assert_eq!(pieces.add(1, 3, 33, part(b"a")), Some(goes_on()));
        let whole = pieces.add(2, 3, 0, part(b"b")).unwrap().whole.unwrap();
        assert_eq!((whole.first, whole.payloads.as_slice()), (33, &b"abc"[..]));
    }

    #[test]
    fn a_new_split_starts_over() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.add(1, 2, 33, part(b"ab")), Some(goes_on()));
        assert_eq!(pieces.add(1, 3, 33, part(b"a")), Some(goes_on()));
        assert_eq!(pieces.add(2, 3, 0, part(b"b")), Some(goes_on()));
        let whole = pieces.add(3, 3, 0, part(b"c")).unwrap().whole.unwrap();
        assert_eq!(whole.payloads.as_slice(), b"abc");
        assert_eq!(pieces.add(0, 1, 0, part(b"")), None);
        assert_eq!(pieces.add(2, 1, 0, part(b"")), None);
    }

    #[test]
    fn what_a_bound_cuts_off_is_counted() {
        let mut pieces = Pieces::default();
        assert_eq!(
            pieces.add(1, MAX_PIECES + 1, 0, part(b"")),
            Some(AddedPiece::dropped(1))
        );
        let half = vec![7; MAX_BYTES / 2 + 1];
        assert_eq!(pieces.add(1, 2, 33, part(&half)), Some(goes_on()));
        assert_eq!(pieces.add(1, 2, 33, part(&half)), Some(goes_on()), "a repetition");
        let over = pieces.add(2, 2, 0, part(&half)).unwrap();
        assert_eq!(over, AddedPiece::dropped(1));
        let mut diagnostics = Diagnostics::default();
        assert_eq!(over.counted(9, &mut diagnostics), None);
        assert_eq!(diagnostics.count_of("fragment_dropped", "IKE"), 1);

        let mut pieces = Ikev1Pieces::default();
        let piece = |id: u8, number: u8, bytes: &[u8]| [&[0, id, number, 0][..], bytes].concat();
        assert_eq!(pieces.add(&piece(1, 1, &half)), Ok(goes_on()));
        assert_eq!(pieces.add(&piece(1, 1, &half)), Ok(goes_on()), "a repetition");
        assert_eq!(pieces.add(&piece(1, 2, &half)), Ok(AddedPiece::dropped(1)));
        assert_eq!(
            pieces.add(&piece(2, 1, b"a")),
            Ok(AddedPiece::dropped(1)),
            "the next message"
        );
    }

    #[test]
    fn ikev1_pieces() {
        let mut pieces = Ikev1Pieces::default();
        assert!(pieces.add(&[0, 1, 1]).is_err());
        assert_eq!(pieces.add(&[0, 1, 2, 1, b'b']), Ok(goes_on()));
        assert_eq!(pieces.add(&[0, 1, 1, 0, b'a']), Ok(whole(b"ab")));
        assert_eq!(pieces.add(&[0, 2, 0, 1]), Ok(goes_on()));
    }

    #[test]
    fn ikev1_pieces_of_all_senders_are_bounded_and_the_newest_is_put_together() {
        let mut fragments = Ikev1Fragments::default();
        let piece = |number: u8, len: usize| [&[0, 1, number, 0][..], &vec![7; len]].concat();
        let (mut added, mut dropped) = (0, 0);
        // As many IKE SAs as are kept, each with one piece on both sides; then small ones.
        for (len, rounds) in [(60_000, 1u8), (0, 3)] {
            for ike_sa in 0..2_000 {
                for number in 1..=rounds {
                    let sender = (ike_sa, number as usize % 2);
                    // A piece that takes the place of another is there once.
                    let before = fragments.messages.get(&sender);
                    added += usize::from(!before.is_some_and(|m| m.parts.contains_key(&number)));
                    let taken = fragments.add(sender, &piece(number, len)).unwrap();
                    assert_eq!(taken.whole, None);
                    dropped += taken.dropped;
                    let held: usize = fragments.messages.values().map(Ikev1Pieces::held).sum();
                    assert_eq!(held, fragments.held);
                    assert!(held <= MOST_HELD && fragments.messages.len() == fragments.begun.len());
                }
            }
        }
        let kept: usize = fragments.messages.values().map(|m| m.parts.len()).sum();
        assert!(dropped > 1_000);
        assert_eq!(dropped, added - kept);
        assert_eq!(
            fragments.add((9_999, 0), &[0, 9, 1, 0, b'a']).unwrap().whole,
            None
        );
        let last = fragments.add((9_999, 0), &[0, 9, 2, 1, b'b']).unwrap();
        assert_eq!(last.whole, Some(b"ab".to_vec()));
        assert!(!fragments.messages.contains_key(&(9_999, 0)));
        // Nothing of a message that cannot be read stays.
        assert!(fragments.add((9_998, 0), &[0]).is_err());
        assert!(!fragments.messages.contains_key(&(9_998, 0)));
    }
}
