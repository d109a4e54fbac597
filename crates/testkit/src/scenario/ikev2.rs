//! IKEv2: CREATE_CHILD_SA exchanges and Deletes under an IKE SA's keys (AES-128-CBC, HMAC-SHA1-96; RFC 7296 §3.14). The client
//! began the IKE SA; IKE_SA_INIT and IKE_AUTH are not in the capture.

use crate::esp::Suite;
use crate::ike::{Header, chain, ikev2_sa, rekey_sa, seal};
use crate::scenario::sa::Sa;
use crate::scenario::world::World;
use rekeyscope_model::algorithm::{Encryption, Integrity};

const CREATE_CHILD_SA: u8 = 36;
pub(super) const IKE_AUTH: u8 = 35;
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
/// A transform of type 3.
const HMAC_SHA1_96: u8 = 2;

/// A CREATE_CHILD_SA that renews the pair in use when it began.
#[derive(Debug)]
pub struct ChildRekey {
    pub(super) from_client: bool,
    pub(super) message_id: u32,
    /// The SPI towards the client.
    pub down: u32,
    /// The SPI towards the server.
    pub up: u32,
    /// The SPI that its initiator receives on, which REKEY_SA names; `None` makes an SA beside the others.
    pub renews: Option<u32>,
    /// With a new Diffie–Hellman exchange (PFS).
    pub key_exchange: bool,
    pub(super) sent: Vec<(bool, Vec<u8>)>,
}

impl World {
    /// The client sets up a new IKE SA: IKE_SA_INIT with unreadable bodies, since what matters are the SPIs.
    pub fn sa_init_v2(&mut self) {
        self.cookie = *b"renewing";
        self.cookie[0] += self.cookies.len() as u8;
        self.cookies.push(self.cookie);
        for (from_client, responder, flags) in [(true, [0; 8], 0x08), (false, *b"responds", 0x20)] {
            let header = Header {
                spis: [self.cookie, responder],
                first: SA,
                version: 2,
                exchange_type: 34,
                flags,
                message_id: 0,
            };
            self.ike_datagram(from_client, &header.message(&[7; 64]));
            self.steady(10);
        }
    }

    /// The client authenticates itself to the server, in so many IKE_AUTH exchanges (EAP, RFC 7296 §2.16), of which the server answers each after so
    /// many milliseconds.
    pub fn authenticate_v2(&mut self, exchanges: u32, millis: u64) {
        for _ in 0..exchanges {
            let id = self.next_v2_id(true);
            let [request, answer] =
                [false, true].map(|response| self.seal_v2(!response, IKE_AUTH, response, id, &[]));
            self.ike_datagram(true, &request);
            self.wait(millis);
            self.ike_datagram(false, &answer);
            self.wait(20);
        }
    }

    /// Begins a CREATE_CHILD_SA.
    pub fn begin_v2(&mut self, from_client: bool) -> ChildRekey {
        let [down, up] = self.new_spis();
        ChildRekey {
            from_client,
            message_id: self.next_v2_id(from_client),
            down,
            up,
            renews: Some(if from_client { self.down.spi } else { self.up.spi }),
            key_exchange: false,
            sent: Vec::new(),
        }
    }

    pub(super) fn next_v2_id(&mut self, from_client: bool) -> u32 {
        let next = &mut self.next_v2_ids[usize::from(from_client)];
        *next = next.wrapping_add(1);
        *next
    }

    /// A whole CREATE_CHILD_SA, of which the other side answers after so many milliseconds; no side switches yet.
    pub fn agree_v2(&mut self, from_client: bool, millis: u64) -> ChildRekey {
        let mut rekey = self.begin_v2(from_client);
        self.message_v2(&mut rekey);
        self.steady(millis);
        self.message_v2(&mut rekey);
        rekey
    }

    /// Request and response, 20 ms apart; both sides switch at once.
    pub fn renew_v2(&mut self, from_client: bool) {
        let rekey = self.agree_v2(from_client, 20);
        self.switch_up_v2(&rekey);
        self.switch_down_v2(&rekey);
    }

    /// A child SA that renews none: a whole exchange, of which the other side answers after 20 ms.
    pub fn make_v2(&mut self, from_client: bool) -> ChildRekey {
        let mut anew = self.begin_v2(from_client);
        anew.renews = None;
        self.message_v2(&mut anew);
        self.wait(20);
        self.message_v2(&mut anew);
        anew
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
        if let Some(renewed) = rekey.renews.filter(|_| !response) {
            payloads.push((NOTIFY, rekey_sa(renewed)));
        }
        payloads.push((NOTIFY, vec![0, 0, 0x40, 0x07])); // USE_TRANSPORT_MODE
        payloads.push((SA, ikev2_sa(3, &spi.to_be_bytes(), HMAC_SHA1_96)));
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

    /// The client sends on its new SA from now on.
    pub fn switch_up_v2(&mut self, rekey: &ChildRekey) {
        self.up = Sa::new(rekey.up);
    }

    /// The server sends on its new SA from now on.
    pub fn switch_down_v2(&mut self, rekey: &ChildRekey) {
        self.down = Sa::new(rekey.down);
    }

    /// The client asks for new SAs, and both sides send on them from now on.
    pub fn take_new_sas_v2(&mut self) {
        let anew = self.make_v2(true);
        self.switch_up_v2(&anew);
        self.switch_down_v2(&anew);
    }

    pub(super) fn seal_v2(
        &self,
        from_client: bool,
        exchange_type: u8,
        response: bool,
        message_id: u32,
        payloads: &[(u8, Vec<u8>)],
    ) -> Vec<u8> {
        let keys = usize::from(!from_client);
        let suite = Suite {
            integrity: Integrity::HmacSha1_96,
            integrity_key: SK_A[keys].to_vec(),
            ..Suite::cipher(Encryption::AesCbc, SK_E[keys].to_vec())
        };
        let header = Header {
            spis: [self.cookie, *b"responds"],
            first: SK,
            version: 2,
            exchange_type,
            flags: if from_client { 0x08 } else { 0 } | if response { 0x20 } else { 0 },
            message_id,
        };
        let (first, inner) = chain(payloads);
        seal(header, &suite, [message_id as u8; 16], &[], first, &inner)
    }
}

/// UDP 1701 of the host at 10.9.0.`host` (RFC 7296 §3.13).
fn selector(host: u8) -> Vec<u8> {
    let port = [6, 165];
    let address = [10, 9, 0, host];
    [&[1, 0, 0, 0, 7, 17, 0, 16][..], &port, &port, &address, &address].concat()
}
