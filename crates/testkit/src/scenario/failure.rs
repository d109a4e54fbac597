//! What goes wrong for good: refusals, checks without an answer, an SA that its receiver lost, data in clear.

use crate::headers::{Tcp, gre, ipv4};
use crate::ike::chain;
use crate::scenario::ikev1::{QuickMode, phase1_cipher};
use crate::scenario::ikev2::{ChildRekey, IKE_AUTH};
use crate::scenario::world::World;

/// Payload types: notification of IKEv1 (RFC 2408 §3.1) and IKEv2 (RFC 7296 §3.2).
const N1: u8 = 11;
const N2: u8 = 41;
const INFORMATIONAL_V1: u8 = 5;
const CREATE_CHILD_SA: u8 = 36;
const INFORMATIONAL: u8 = 37;

impl World {
    /// The other side answers a CREATE_CHILD_SA by nothing but this notification (RFC 7296 §3.10.1).
    pub fn refuse_v2(&mut self, rekey: &mut ChildRekey, notification: u16) {
        let [high, low] = notification.to_be_bytes();
        let from_client = !rekey.from_client;
        let payloads = [(N2, vec![0, 0, high, low])];
        let message = self.seal_v2(from_client, CREATE_CHILD_SA, true, rekey.message_id, &payloads);
        self.ike_datagram(from_client, &message);
        rekey.sent.push((from_client, message));
    }

    /// The other side answers a Quick Mode by an Informational with this notification (RFC 2408 §3.14.1); its data is the
    /// message ID where the sender says so.
    pub fn refuse(&mut self, qm: &QuickMode, notification: u16, names_it: bool) {
        let [high, low] = notification.to_be_bytes();
        let mut body = vec![0, 0, 0, 1, 3, 0, high, low];
        if names_it {
            body.extend(qm.message_id.to_be_bytes());
        }
        self.next_message_id += 0x101;
        let id = self.next_message_id;
        let (first, mut body) = chain(&[(8, vec![6; 20]), (N1, body)]);
        phase1_cipher().encrypt_padded(&[4; 16], &mut body);
        self.ike(!qm.from_client, INFORMATIONAL_V1, id, 1, first, &body);
    }

    /// The client asks whether the server lives: `times` copies, milliseconds apart, and no answer. `meanwhile` passes the time between them.
    pub fn check_in_vain_v2(&mut self, times: usize, millis: u64, meanwhile: fn(&mut Self, u64)) {
        let id = self.next_v2_id(true);
        let message = self.seal_v2(true, INFORMATIONAL, false, id, &[]);
        for _ in 0..times {
            self.ike_datagram(true, &message);
            meanwhile(self, millis);
        }
    }

    /// The client asks whether the server lives, and does not hear the answers: so many copies of both, milliseconds apart.
    pub fn check_unheard_v2(&mut self, times: usize, millis: u64) {
        self.unheard_v2(INFORMATIONAL, times, millis);
    }

    /// The client authenticates itself, and does not hear the answers, likewise.
    pub fn authenticate_unheard_v2(&mut self, times: usize, millis: u64) {
        self.unheard_v2(IKE_AUTH, times, millis);
    }

    fn unheard_v2(&mut self, kind: u8, times: usize, millis: u64) {
        let id = self.next_v2_id(true);
        let [message, answer] = [true, false].map(|asks| self.seal_v2(asks, kind, !asks, id, &[]));
        for _ in 0..times {
            self.ike_datagram(true, &message);
            self.ike_datagram(false, &answer);
            self.wait(millis);
        }
    }

    /// The client asks whether the server lives; returns the answer, which is still on its way.
    pub fn check_unanswered_yet_v2(&mut self) -> Vec<u8> {
        let id = self.next_v2_id(true);
        let message = self.seal_v2(true, INFORMATIONAL, false, id, &[]);
        self.ike_datagram(true, &message);
        self.seal_v2(false, INFORMATIONAL, true, id, &[])
    }

    /// Such an answer comes.
    pub fn answer_v2(&mut self, answer: &[u8]) {
        self.ike_datagram(false, answer);
    }

    /// The client lost its inbound SA: what it is sent is lost, and it has nothing to say.
    pub fn go_deaf(&mut self, segments: u32) {
        self.drop_acks();
        self.ack(self.expected, 0xffff);
        for _ in 0..segments {
            self.lost_segment();
            self.step(self.tick);
        }
    }

    /// The server sends its oldest segment again after each of these waits, milliseconds.
    pub fn repeat_oldest(&mut self, waits: &[u64]) {
        let oldest = self.expected;
        for &wait in waits {
            self.wait(wait);
            self.resend(oldest);
        }
    }

    /// The server sends the oldest segment without any tunnel around it, or in GRE that ESP would have protected.
    pub fn send_in_clear(&mut self, in_gre: bool) {
        let tcp = Tcp {
            seq: self.expected,
            window: 0xffff,
            ..Tcp::default()
        };
        let packet = self.tcp_packet(0, false, tcp, self.segment_len);
        self.capture(match in_gre {
            true => ipv4(self.server, self.client, 47, &gre(0, 0x0800, &packet)),
            false => packet,
        });
    }
}
