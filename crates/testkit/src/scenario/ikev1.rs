//! IKEv1: Quick Modes and Deletes under a phase-1 key, and a Main Mode that cannot be read.

use crate::esp::Suite;
use crate::ike::{EspOffer, Header, chain};
use crate::scenario::sa::Sa;
use crate::scenario::world::World;
use rekeyscope_model::algorithm::Encryption;

pub(super) const IKE_KEY: [u8; 16] = [0x5c; 16];

/// A Quick Mode under way.
#[derive(Debug)]
pub struct QuickMode {
    pub(super) from_client: bool,
    pub(super) message_id: u32,
    /// The SPI towards the client.
    pub down: u32,
    /// The SPI towards the server.
    pub up: u32,
    /// The lifetime by volume.
    pub kilobytes: u32,
    /// With a new Diffie–Hellman exchange (PFS).
    pub key_exchange: bool,
    tail: Vec<u8>,
    sent: Vec<(bool, u8, Vec<u8>)>,
}

impl World {
    /// A new cookie: the next exchanges belong to another phase 1, whose Main Mode is captured.
    pub fn main_mode(&mut self) {
        self.cookie = *b"renewing";
        self.cookies.push(self.cookie);
        for message in 0..6u8 {
            // Unreadable bodies: what matters are the cookies.
            self.ike(message % 2 == 0, 2, 0, 1, 5, &[message; 64]);
            self.steady(10);
        }
    }

    /// The client begins a phase 1 that nobody answers: so many copies of its first message, milliseconds apart.
    pub fn main_mode_in_vain(&mut self, times: usize, millis: u64) {
        let header = Header {
            spis: [*b"in vain.", [0; 8]],
            first: 1,
            version: 1,
            exchange_type: 2,
            flags: 0,
            message_id: 0,
        };
        for _ in 0..times {
            self.ike_datagram(true, &header.message(&[0; 64]));
            self.wait(millis);
        }
    }

    /// A new cookie pair: the next exchanges belong to another IKE SA whose phase 1 is not captured.
    pub fn begin_ike_sa(&mut self, number: u8) {
        self.cookie = [b'i', b'k', b'e', b's', b'a', b'-', b'n', number];
        self.cookies.push(self.cookie);
    }

    /// Begins a Quick Mode.
    pub fn begin(&mut self, from_client: bool) -> QuickMode {
        self.next_message_id += 0x101;
        let spis = self.new_spis();
        QuickMode {
            from_client,
            message_id: self.next_message_id,
            down: spis[0],
            up: spis[1],
            kilobytes: 250_000,
            key_exchange: false,
            tail: vec![9; 16],
            sent: Vec::new(),
        }
    }

    /// The next message of a Quick Mode passes the capture.
    pub fn message(&mut self, qm: &mut QuickMode) {
        let number = qm.sent.len();
        let from_client = qm.from_client == (number != 1);
        // The SPI in a message is inbound to its sender.
        let spi = if from_client { qm.down } else { qm.up };
        let payloads = match number {
            0 | 1 => {
                let offer = EspOffer {
                    ah: self.ah,
                    kilobytes: qm.kilobytes,
                };
                let mut list = vec![(8, vec![7; 20]), (1, offer.sa(&[(1, spi)])), (10, vec![3; 32])];
                if qm.key_exchange {
                    list.push((4, vec![5; 512]));
                }
                list.extend([
                    (5, vec![1, 17, 6, 165, 10, 9, 0, 2]),
                    (5, vec![1, 17, 6, 165, 10, 9, 0, 1]),
                ]);
                list
            }
            _ => vec![(8, vec![8; 20])],
        };
        let (first, mut body) = chain(&payloads);
        qm.tail = phase1_cipher().encrypt_padded(&qm.tail, &mut body);
        self.ike(from_client, 32, qm.message_id, 1, first, &body);
        qm.sent.push((from_client, first, body));
    }

    /// A message of a Quick Mode (counted from 0) passes the capture again.
    pub fn repeat(&mut self, qm: &QuickMode, number: usize) {
        let (from_client, first, body) = qm.sent[number].clone();
        self.ike(from_client, 32, qm.message_id, 1, first, &body);
    }

    /// The client deletes one of its inbound SAs.
    pub fn delete(&mut self, spi: u32) {
        let body = [&[0, 0, 0, 1, 3, 4, 0, 1][..], &spi.to_be_bytes()].concat();
        self.inform(true, 12, body);
    }

    /// The client asks whether the server lives (R-U-THERE, RFC 3706), and `answered` tells whether it hears that it does.
    pub fn check(&mut self, answered: bool) {
        for (from_client, kind) in [(true, 36_136_u16), (false, 36_137)]
            .into_iter()
            .take(1 + usize::from(answered))
        {
            let head = [&[0, 0, 0, 1, 1, 16][..], &kind.to_be_bytes()].concat();
            self.inform(
                from_client,
                11,
                [&head[..], &self.cookie, b"responds", &[0, 0, 0, 7]].concat(),
            );
        }
    }

    /// The client asks the server for user and password (Transaction, XAUTH) so many times, and hears no answer; data comes all the time.
    pub fn ask_for_login(&mut self, times: usize, millis: u64) {
        self.next_message_id += 0x101;
        let id = self.next_message_id;
        let (first, mut body) = chain(&[(8, vec![6; 20]), (14, vec![1, 0, 0, 9, 0x40, 0x89, 0, 0])]);
        phase1_cipher().encrypt_padded(&[4; 16], &mut body);
        for _ in 0..times {
            self.ike(true, 6, id, 1, first, &body);
            self.steady(millis);
        }
    }

    /// One side says something, in an Informational of its own.
    fn inform(&mut self, from_client: bool, payload: u8, body: Vec<u8>) {
        self.next_message_id += 0x101;
        let id = self.next_message_id;
        let (first, mut body) = chain(&[(8, vec![6; 20]), (payload, body)]);
        phase1_cipher().encrypt_padded(&[4; 16], &mut body);
        self.ike(from_client, 5, id, 1, first, &body);
    }

    /// The first pair of SAs is made by a captured exchange, before any data.
    pub fn establish(&mut self, kilobytes: u32) {
        let mut qm = self.begin(true);
        qm.kilobytes = kilobytes;
        for _ in 0..3 {
            self.message(&mut qm);
            self.wait(10);
        }
        self.switch_up(&qm);
        self.switch_down(&qm);
    }

    /// The client sends on its new SA from now on.
    pub fn switch_up(&mut self, qm: &QuickMode) {
        self.up = Sa::new(qm.up);
    }

    /// The server sends on its new SA from now on.
    pub fn switch_down(&mut self, qm: &QuickMode) {
        self.down = Sa::new(qm.down);
    }

    pub(super) fn ike(
        &mut self,
        from_client: bool,
        exchange_type: u8,
        message_id: u32,
        flags: u8,
        first: u8,
        body: &[u8],
    ) {
        let header = Header {
            spis: [self.cookie, *b"responds"],
            first,
            version: 1,
            exchange_type,
            flags,
            message_id,
        };
        self.ike_datagram(from_client, &header.message(body));
    }
}

pub(super) fn phase1_cipher() -> Suite {
    Suite::cipher(Encryption::AesCbc, IKE_KEY.to_vec())
}
