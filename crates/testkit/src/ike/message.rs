//! Header and payload chain, the same in both versions (RFC 2408 §3.1, §3.2; RFC 7296 §3.1, §3.2).

/// Types and bodies of payloads.
pub type Payloads = Vec<(u8, Vec<u8>)>;

/// First type and bytes of a payload chain.
pub fn chain(payloads: &[(u8, Vec<u8>)]) -> (u8, Vec<u8>) {
    let mut bytes = Vec::new();
    for (index, (_, body)) in payloads.iter().enumerate() {
        let next = payloads.get(index + 1).map_or(0, |p| p.0);
        bytes.extend([next, 0]);
        bytes.extend((body.len() as u16 + 4).to_be_bytes());
        bytes.extend(body);
    }
    (payloads.first().map_or(0, |p| p.0), bytes)
}

/// A header but for its length. By default of IKEv1 between the SPIs 01… and 02….
#[derive(Debug, Clone, Copy)]
pub struct Header {
    /// The initiator's, the responder's; cookies in IKEv1.
    pub spis: [[u8; 8]; 2],
    /// First payload.
    pub first: u8,
    /// 1 or 2.
    pub version: u8,
    /// By its number.
    pub exchange_type: u8,
    /// IKEv1: 1 is encrypted. IKEv2: 0x08 from the initiator of the IKE SA, 0x20 a response.
    pub flags: u8,
    /// 0 in phase 1.
    pub message_id: u32,
}

impl Default for Header {
    fn default() -> Self {
        Header {
            spis: [[1; 8], [2; 8]],
            first: 0,
            version: 1,
            exchange_type: 0,
            flags: 0,
            message_id: 0,
        }
    }
}

impl Header {
    /// Of so many bytes of payloads.
    pub fn bytes(&self, body: usize) -> Vec<u8> {
        let mut bytes = self.spis.concat();
        bytes.extend([self.first, self.version << 4, self.exchange_type, self.flags]);
        bytes.extend(self.message_id.to_be_bytes());
        bytes.extend((28 + body as u32).to_be_bytes());
        bytes
    }

    /// Header and payloads.
    pub fn message(&self, body: &[u8]) -> Vec<u8> {
        [&self.bytes(body.len())[..], body].concat()
    }
}
