//! The IKE header, the same 28 bytes in both versions (RFC 2408 §3.1, RFC 7296 §3.1).

use rekeyscope_model::error::WireError;
use rekeyscope_model::spi::IkeSpi;

/// Bytes of the header.
pub(super) const LEN: usize = 28;

/// IKEv1: the payloads are encrypted.
pub(super) const FLAG_ENCRYPTED: u8 = 0x01;
/// IKEv2: the sender is the initiator of the IKE SA.
pub(super) const FLAG_INITIATOR: u8 = 0x08;
/// IKEv2: the message is a response.
pub(super) const FLAG_RESPONSE: u8 = 0x20;

/// A parsed header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IkeHeader {
    pub(super) initiator_spi: IkeSpi,
    pub(super) responder_spi: IkeSpi,
    pub(super) next_payload: u8,
    /// Major version: 1 or 2 in messages that we understand.
    pub(super) major: u8,
    pub(super) exchange_type: u8,
    pub(super) flags: u8,
    pub(super) message_id: u32,
    /// Length of the whole message as its sender declares it.
    pub(super) length: u32,
}

impl IkeHeader {
    /// Reads the first 28 bytes of a message.
    ///
    /// # Errors
    /// [`WireError`] when the message is shorter than its header, or declares to be.
    pub(super) fn parse(message: &[u8]) -> Result<IkeHeader, WireError> {
        let short = |offset, required, available| WireError {
            layer: "IKE header",
            offset,
            required,
            available,
        };
        let fixed: &[u8; LEN] = message
            .first_chunk()
            .ok_or_else(|| short(0, LEN, message.len()))?;
        let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let cookie = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&fixed[at..at + 8]);
            IkeSpi(bytes)
        };
        let header = IkeHeader {
            initiator_spi: cookie(0),
            responder_spi: cookie(8),
            next_payload: fixed[16],
            major: fixed[17] >> 4,
            exchange_type: fixed[18],
            flags: fixed[19],
            message_id: word(20),
            length: word(24),
        };
        if (header.length as usize) < LEN {
            return Err(short(24, LEN, header.length as usize));
        }
        Ok(header)
    }

    /// Tells whether a flag bit is set.
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    const MESSAGE: [u8; 28] = hex!("33acac7650479d9d 4330a6ed090669bf 08 10 20 01 b31f4f4b 0000001c");

    #[test]
    fn reads_every_field() {
        let header = IkeHeader::parse(&MESSAGE).unwrap();
        assert_eq!(header.initiator_spi.to_string(), "33acac7650479d9d");
        assert_eq!(header.responder_spi.to_string(), "4330a6ed090669bf");
        assert_eq!(
            (header.next_payload, header.major, header.exchange_type),
            (8, 1, 32)
        );
        assert_eq!((header.message_id, header.length), (0xb31f_4f4b, 28));
        assert!(header.has(FLAG_ENCRYPTED) && !header.has(FLAG_RESPONSE));
    }

    #[test]
    fn short_headers_say_what_is_missing() {
        for cut in 0..LEN {
            let error = IkeHeader::parse(&MESSAGE[..cut]).unwrap_err();
            assert_eq!((error.required, error.available), (LEN, cut));
        }
        let mut lying = MESSAGE;
        lying[27] = 27;
        assert_eq!(IkeHeader::parse(&lying).unwrap_err().offset, 24);
    }
}
