//! A keyed ESP transform: checks ICVs and decrypts (RFC 4303 §3.4.4).
//!
//! Checking and decrypting are apart: an ICV covers the whole packet, but an analysis needs only the first headers and
//! the trailer, so [`EspCipher::open`] decrypts only the blocks that hold them. Nothing allocates per packet.

use crate::esp::cipher::aead::new_aead;
use crate::esp::cipher::decrypt::{Decrypt, Null, new_decrypt};
use crate::esp::cipher::hmac::Chains;
use crate::esp::cipher::integrity::{Authenticate, new_integrity};
use crate::esp::cipher::parts::{Icv, Opened, Parts};
use crate::esp::header::{HEADER_LEN, NullFormat};
use rekeyscope_model::algorithm::{Encryption, Integrity};

/// Pad length and next header (RFC 4303 §2.4).
const TRAILER_LEN: usize = 2;
/// ESP right-aligns its trailer in a word of four bytes (RFC 4303 §2.4).
const WORD: usize = 4;
/// The longest block of any cipher here.
const MOST_BLOCK: usize = 16;
/// The longest padding with its trailer, from a block boundary on.
const MOST_TAIL: usize = 255 + TRAILER_LEN + MOST_BLOCK;

/// A transform with its keys. Cheap to share between threads; `Debug` shows no key.
pub struct EspCipher {
    decrypt: Box<dyn Decrypt>,
    authenticate: Option<Box<dyn Authenticate>>,
    iv_len: usize,
    icv_len: usize,
    block_len: usize,
    implicit_iv: bool,
}

impl std::fmt::Debug for EspCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EspCipher(…)")
    }
}

impl EspCipher {
    /// Keys a transform. `encryption_key` carries the salt at its end where the transform has one. A combined mode
    /// brings its own ICV: `integrity` and its key are not looked at then. `None` where a key has a length that its transform
    /// does not take.
    // What it leaves on the stack has to lie below its caller, who wipes it.
    #[inline(never)]
    pub fn new(
        encryption: Encryption,
        encryption_key: &[u8],
        integrity: Integrity,
        integrity_key: &[u8],
    ) -> Option<Self> {
        let row = encryption.row();
        let key_len = encryption_key.len().checked_sub(row.salt_len)?;
        if !row.key_lens.contains(&key_len) {
            return None;
        }
        let (key, salt) = encryption_key.split_at(key_len);
        let explicit = row.explicit.unwrap_or(encryption);
        let decrypt = new_decrypt(explicit, key, salt)?;
        let (authenticate, icv_len) = if row.icv_len > 0 {
            (Some(new_aead(explicit, key, salt)?), row.icv_len)
        } else if matches!(integrity, Integrity::None | Integrity::Unknown { .. }) {
            (None, integrity.icv_len())
        } else {
            (
                Some(new_integrity(integrity, integrity_key)?),
                integrity.icv_len(),
            )
        };
        Some(EspCipher {
            decrypt,
            authenticate,
            iv_len: row.iv_len,
            icv_len,
            block_len: row.block_len,
            implicit_iv: row.explicit.is_some(),
        })
    }

    /// NULL encryption whose integrity key is unknown: opens packets, checks no ICV.
    pub fn null_unchecked(format: NullFormat) -> Self {
        EspCipher {
            decrypt: Box::new(Null),
            authenticate: None,
            iv_len: format.iv_len,
            icv_len: format.icv_len,
            block_len: 1,
            implicit_iv: false,
        }
    }

    /// Bytes of ICV at the end of each packet.
    pub fn icv_len(&self) -> usize {
        self.icv_len
    }

    /// Bytes of explicit IV.
    pub fn iv_len(&self) -> usize {
        self.iv_len
    }

    /// The key of an HMAC that lanes know, for many packets at once.
    pub(super) fn chains(&self) -> Option<&Chains> {
        self.authenticate.as_ref()?.chains()
    }

    /// Checks the ICV of a whole packet (from the SPI on). `esn_high`: upper half of an extended sequence number.
    pub fn verify(&self, packet: &[u8], esn_high: Option<u32>) -> Icv {
        let Some(authenticate) = &self.authenticate else {
            return Icv::Unchecked;
        };
        let mut implicit = [0; 8];
        let fits = self
            .parts(packet, esn_high, &mut implicit)
            .is_some_and(|parts| authenticate.fits(&parts, esn_high));
        if fits { Icv::Verified } else { Icv::Failed }
    }

    /// Decrypts the first `prefix` bytes of the payload into `out` (cleared first; fewer when the payload is shorter)
    /// and reads the trailer. CBC: only the blocks that are needed are decrypted (block i needs ciphertext i−1 and i).
    ///
    /// A packet whose ICV was verified may have anything in its padding: the sender chooses. In others the padding must be 1, 2, 3, … and
    /// end on a word (RFC 4303 §2.4), so that a wrong key is noticed in most packets. `esn_high` matters for an implicit IV only.
    /// `None` of a packet that is too short or no whole blocks for its cipher, or whose padding makes no sense.
    pub fn open(
        &self,
        packet: &[u8],
        esn_high: Option<u32>,
        icv: Icv,
        prefix: usize,
        out: &mut Vec<u8>,
    ) -> Option<Opened> {
        out.clear();
        let mut implicit = [0; 8];
        let parts = self
            .parts(packet, esn_high, &mut implicit)
            .filter(|parts| self.whole_blocks(parts.body.len(), icv))?;
        let mut tail = [0; MOST_BLOCK];
        let tail = self.tail(&parts, &mut tail)?;
        let end = prefix.min(parts.body.len()).next_multiple_of(self.block_len);
        out.extend_from_slice(parts.body.get(..end).unwrap_or(parts.body));
        self.decrypt.decrypt_ends(parts.iv, parts.body, out, tail);
        let opened = self.trailer(&parts, tail, icv);
        out.truncate(opened.map_or(0, |opened| prefix.min(opened.payload_len as usize)));
        opened
    }

    /// The last block of the ciphertext, or what holds the trailer.
    fn tail<'t>(&self, parts: &Parts<'_>, buffer: &'t mut [u8; MOST_BLOCK]) -> Option<&'t mut [u8]> {
        let len = self.block_len.max(TRAILER_LEN);
        let ciphertext = parts.body.get(parts.body.len().checked_sub(len)?..)?;
        let tail = buffer.get_mut(..len)?;
        tail.copy_from_slice(ciphertext);
        Some(tail)
    }

    /// Pad length and next header, with the padding checked as far as asked. `tail`: the decrypted last block.
    fn trailer(&self, parts: &Parts<'_>, tail: &[u8], icv: Icv) -> Option<Opened> {
        let [.., pad_len, next_header] = *tail else {
            return None;
        };
        let payload_len = parts.body.len().checked_sub(TRAILER_LEN + usize::from(pad_len))?;
        if icv != Icv::Verified && pad_len > 0 {
            let mut buffer = [0; MOST_TAIL];
            let block_start = payload_len - payload_len % self.block_len;
            let plain = self.decrypt_tail(parts, block_start, &mut buffer);
            let pad = plain
                .iter()
                .skip(payload_len - block_start)
                .take(usize::from(pad_len));
            if !pad.zip(1u8..=255).all(|(byte, expected)| *byte == expected) {
                return None;
            }
        }
        Some(Opened {
            payload_len: u32::try_from(payload_len).ok()?,
            pad_len,
            next_header,
        })
    }

    /// Decrypts from `start` (a block boundary) to the end of the body.
    fn decrypt_tail<'t>(&self, parts: &Parts<'_>, start: usize, buffer: &'t mut [u8; MOST_TAIL]) -> &'t [u8] {
        let ciphertext = parts.body.get(start..).unwrap_or_default();
        let Some(tail) = buffer.get_mut(..ciphertext.len()) else {
            return &[];
        };
        tail.copy_from_slice(ciphertext);
        self.decrypt.decrypt(parts.iv, parts.body, start, tail);
        tail
    }

    fn whole_blocks(&self, body_len: usize, icv: Icv) -> bool {
        let unit = match icv {
            Icv::Verified => self.block_len,
            _ => self.block_len.max(WORD),
        };
        body_len >= TRAILER_LEN && body_len.is_multiple_of(unit)
    }

    pub(super) fn split_icv<'a>(&self, packet: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        packet.split_at_checked(packet.len().checked_sub(self.icv_len)?)
    }

    /// Cuts a packet at the transform's seams; `None` when it is too short.
    fn parts<'a>(
        &self,
        packet: &'a [u8],
        esn_high: Option<u32>,
        implicit: &'a mut [u8; 8],
    ) -> Option<Parts<'a>> {
        let (authenticated, icv) = self.split_icv(packet)?;
        let (header, rest) = authenticated.split_first_chunk::<HEADER_LEN>()?;
        let (mut iv, body) = rest.split_at_checked(self.iv_len)?;
        if self.implicit_iv {
            let [_, _, _, _, sequence @ ..] = *header;
            let number = u64::from(esn_high.unwrap_or(0)) << 32 | u64::from(u32::from_be_bytes(sequence));
            *implicit = number.to_be_bytes();
            iv = implicit;
        }
        Some(Parts {
            header,
            iv,
            body,
            icv,
            authenticated,
        })
    }
}
