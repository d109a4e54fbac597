//! IKEv2: CREATE_CHILD_SA exchanges and Deletes under an IKE SA's keys (AES-128-CBC, HMAC-SHA1-96; RFC 7296 §3.14). The client
//! began the IKE SA; IKE_SA_INIT and IKE_AUTH are not in the capture.

use super::World;
use aes::Aes128;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit, block_padding::NoPadding};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;

const CREATE_CHILD_SA: u8 = 36;
const INFORMATIONAL: u8 = 37;
/// SK_e and SK_a of the initiator's and of the responder's messages.
pub(super) const SK_E: [[u8; 16]; 2] = [[0x1e; 16], [0x2e; 16]];
pub(super) const SK_A: [[u8; 20]; 2] = [[0x1a; 20], [0x2a; 20]];
/// Payload types (RFC 7296 §3.2).
const SA: u8 = 33;
const KE: u8 = 34;
const NONCE: u8 = 40;
const NOTIFY: u8 = 41;
const DELETE: u8 = 42;
const TS_I: u8 = 44;
const TS_R: u8 = 45;
const SK: u8 = 46;

/// A CREATE_CHILD_SA that renews the pair in use when it began.
pub(crate) struct ChildRekey {
    from_client: bool,
    message_id: u32,
    pub down: u32,
    pub up: u32,
    /// The SPI that its initiator receives on.
    renews: u32,
    /// With a new Diffie–Hellman exchange (PFS).
    pub key_exchange: bool,
    sent: Vec<(bool, Vec<u8>)>,
}

impl World {
    /// Begins a CREATE_CHILD_SA.
    pub fn begin_v2(&mut self, from_client: bool) -> ChildRekey {
        let [down, up] = self.new_spis();
        ChildRekey {
            from_client,
            message_id: self.next_v2_id(from_client),
            down,
            up,
            renews: if from_client { self.down.spi } else { self.up.spi },
            key_exchange: false,
            sent: Vec::new(),
        }
    }

    fn next_v2_id(&mut self, from_client: bool) -> u32 {
        let next = &mut self.next_v2_ids[usize::from(from_client)];
        *next += 1;
        *next
    }

    /// Request and response, 20 ms apart; both sides switch at once.
    pub fn renew_v2(&mut self, from_client: bool) {
        let mut rekey = self.begin_v2(from_client);
        self.message_v2(&mut rekey);
        self.steady(20);
        self.message_v2(&mut rekey);
        self.switch_up_v2(&rekey);
        self.switch_down_v2(&rekey);
    }

    /// The request is sent and lost before the capture point.
    pub fn lose_request(&mut self, rekey: &mut ChildRekey) {
        self.blind = true;
        self.message_v2(rekey);
        self.blind = false;
    }

    /// The next message, request or response, passes the capture.
    pub fn message_v2(&mut self, rekey: &mut ChildRekey) {
        let response = rekey.sent.len() == 1;
        let from_client = rekey.from_client != response;
        let spi = if from_client { rekey.down } else { rekey.up };
        let mut payloads = Vec::new();
        if !response {
            payloads.push((
                NOTIFY,
                [&[3, 4, 0x40, 0x09][..], &rekey.renews.to_be_bytes()].concat(),
            ));
        }
        payloads.push((NOTIFY, vec![0, 0, 0x40, 0x07])); // USE_TRANSPORT_MODE
        payloads.push((SA, proposal(spi)));
        payloads.push((NONCE, vec![3; 32]));
        if rekey.key_exchange {
            payloads.push((KE, [&[0, 14, 0, 0][..], &[5; 256]].concat()));
        }
        payloads.extend([(TS_I, selector(2)), (TS_R, selector(1))]);
        let message = self.seal_v2(
            from_client,
            CREATE_CHILD_SA,
            response,
            rekey.message_id,
            &payloads,
        );
        self.ike_datagram(from_client, &message);
        rekey.sent.push((from_client, message));
    }

    /// The request (0) or the response (1) passes the capture again.
    pub fn repeat_v2(&mut self, rekey: &ChildRekey, number: usize) {
        let (from_client, message) = &rekey.sent[number];
        self.ike_datagram(*from_client, message);
    }

    /// One side deletes its inbound SA; the other one agrees.
    pub fn delete_v2(&mut self, from_client: bool, spi: u32, other: u32) {
        let id = self.next_v2_id(from_client);
        for (response, spi) in [(false, spi), (true, other)] {
            let body = [&[3, 4, 0, 1][..], &spi.to_be_bytes()].concat();
            let sender = from_client != response;
            let message = self.seal_v2(sender, INFORMATIONAL, response, id, &[(DELETE, body)]);
            self.ike_datagram(sender, &message);
        }
    }

    pub fn switch_up_v2(&mut self, rekey: &ChildRekey) {
        self.up = super::Sa {
            spi: rekey.up,
            sequence: 0,
        };
    }

    pub fn switch_down_v2(&mut self, rekey: &ChildRekey) {
        self.down = super::Sa {
            spi: rekey.down,
            sequence: 0,
        };
    }

    fn seal_v2(
        &self,
        from_client: bool,
        exchange: u8,
        response: bool,
        id: u32,
        payloads: &[(u8, Vec<u8>)],
    ) -> Vec<u8> {
        let keys = usize::from(!from_client);
        let mut plain = Vec::new();
        for (index, (_, body)) in payloads.iter().enumerate() {
            plain.extend([payloads.get(index + 1).map_or(0, |p| p.0), 0]);
            plain.extend(((4 + body.len()) as u16).to_be_bytes());
            plain.extend(body);
        }
        let pad = 15 - plain.len() % 16;
        plain.resize(plain.len() + pad, 0);
        plain.push(pad as u8);
        let (len, iv) = (plain.len(), [id as u8; 16]);
        cbc::Encryptor::<Aes128>::new(&SK_E[keys].into(), &iv.into())
            .encrypt_padded::<NoPadding>(&mut plain, len)
            .unwrap();
        let sealed = 4 + 16 + len + 12;
        let mut message = Vec::from(self.cookie);
        message.extend(*b"responds");
        let flags = if from_client { 0x08 } else { 0 } | if response { 0x20 } else { 0 };
        message.extend([SK, 0x20, exchange, flags]);
        message.extend(id.to_be_bytes());
        message.extend(((28 + sealed) as u32).to_be_bytes());
        message.extend([payloads[0].0, 0]);
        message.extend((sealed as u16).to_be_bytes());
        message.extend(iv);
        message.extend(plain);
        let mut mac = Hmac::<Sha1>::new_from_slice(&SK_A[keys]).unwrap();
        mac.update(&message);
        message.extend(&mac.finalize().into_bytes()[..12]);
        message
    }
}

/// One ESP proposal (RFC 7296 §3.3.1): AES-CBC-128, HMAC-SHA1-96, no extended sequence numbers.
fn proposal(spi: u32) -> Vec<u8> {
    let transforms = [
        &[3, 0, 0, 12, 1, 0, 0, 12, 0x80, 14, 0, 128][..],
        &[3, 0, 0, 8, 3, 0, 0, 2],
        &[0, 0, 0, 8, 5, 0, 0, 0],
    ]
    .concat();
    let len = (12 + transforms.len()) as u8;
    [&[0, 0, 0, len, 1, 3, 4, 3][..], &spi.to_be_bytes(), &transforms].concat()
}

/// UDP 1701 of the host at 10.9.0.`host` (RFC 7296 §3.13).
fn selector(host: u8) -> Vec<u8> {
    let port = [6, 165];
    let address = [10, 9, 0, host];
    [&[1, 0, 0, 0, 7, 17, 0, 16][..], &port, &port, &address, &address].concat()
}
