//! What the control plane and the path say beside rekeys: Deletes of IKE SAs, unknown SPIs, ICMP errors, fragments, L2TP and PPP.

use crate::containers::Packet;
use crate::headers::{Ipv4, checksum, ethernet, icmp_about, ipv4, l2tp, udp};
use crate::ike::{Header, ikev2_ike_sa};
use crate::scenario::packets;
use crate::scenario::world::{CLIENT, SERVER, World};

const CREATE_CHILD_SA: u8 = 36;
const INFORMATIONAL: u8 = 37;
/// Payload types (RFC 7296 §3.2).
const SA: u8 = 33;
const NONCE: u8 = 40;
const DELETE: u8 = 42;

impl World {
    /// One side deletes the IKE SA, the other one agrees (RFC 7296 §1.4.1).
    pub fn delete_ike_sa_v2(&mut self, from_client: bool) {
        let id = self.next_v2_id(from_client);
        let request = self.seal_v2(
            from_client,
            INFORMATIONAL,
            false,
            id,
            &[(DELETE, vec![1, 0, 0, 0])],
        );
        self.ike_datagram(from_client, &request);
        let answer = self.seal_v2(!from_client, INFORMATIONAL, true, id, &[]);
        self.ike_datagram(!from_client, &answer);
    }

    /// The client renews the IKE SA (RFC 7296 §1.3.2) and deletes the old one; what follows is under the new one.
    pub fn renew_ike_sa_v2(&mut self) {
        let new = *b"inherits";
        let id = self.next_v2_id(true);
        for (from_client, spi) in [(true, new), (false, *b"responds")] {
            let payloads = [(SA, ikev2_ike_sa(&spi)), (NONCE, vec![3; 32])];
            let message = self.seal_v2(from_client, CREATE_CHILD_SA, !from_client, id, &payloads);
            self.ike_datagram(from_client, &message);
            self.steady(20);
        }
        self.delete_ike_sa_v2(true);
        self.cookie = new;
        self.cookies.push(new);
        // Both sides count from 0 on (RFC 7296 §2.2).
        self.next_v2_ids = [u32::MAX; 2];
    }

    /// One side asks whether the other one lives (RFC 7296 §1.4), and hears that it does.
    pub fn check_v2(&mut self, from_client: bool) {
        let id = self.next_v2_id(from_client);
        for response in [false, true] {
            let sender = from_client != response;
            let message = self.seal_v2(sender, INFORMATIONAL, response, id, &[]);
            self.ike_datagram(sender, &message);
        }
    }

    /// The server does not know an SPI, and says so in clear, under cookies that nobody has (RFC 2408 §3.14.1).
    pub fn invalid_spi(&mut self, spi: u32) {
        self.next_message_id += 0x101;
        let notification = [&[0, 0, 0, 16, 0, 0, 0, 1, 1, 4, 0, 11][..], &spi.to_be_bytes()].concat();
        let header = Header {
            spis: [u64::from(self.next_message_id).to_be_bytes(), [9; 8]],
            first: 11,
            exchange_type: 5,
            message_id: self.next_message_id,
            ..Header::default()
        };
        self.ike_datagram(false, &header.message(&notification));
    }

    /// A router answers a packet of the SA towards the client with an ICMP error of this type and code; of the last four bytes of its
    /// header the lower half is the MTU.
    pub fn icmp(&mut self, kind: u8, code: u8, mtu: u16) {
        let quoted = Ipv4 {
            src: SERVER,
            dst: CLIENT,
            protocol: 50,
            ..Ipv4::default()
        };
        let quoted = quoted.packet(&[&self.down.spi.to_be_bytes()[..], &[0, 0, 0, 1]].concat());
        self.capture(ipv4(
            [10, 9, 0, 9],
            SERVER,
            1,
            &icmp_about(kind, code, mtu, &quoted),
        ));
    }

    /// A router behind the client says through the tunnel that a packet of the server's host was too big: this size passes.
    pub fn too_big_inside(&mut self, mtu: u16) {
        let (server, router) = ([10, 66, 0, 1], [10, 66, 0, 254]);
        let quoted = ipv4(server, self.inner_client, 6, &[0; 8]);
        self.esp_up(&packets::l2tp(&ipv4(
            router,
            server,
            1,
            &icmp_about(3, 4, mtu, &quoted),
        )));
    }

    /// The client asks through the tunnel whether the server's host lives (ICMP echo, 56 bytes of data), and hears that it does.
    pub fn ping(&mut self) {
        self.ping_server(true);
    }

    /// The client asks the server, and `answered` tells whether it hears the answer.
    pub fn ping_server(&mut self, answered: bool) {
        self.next_message_id += 1;
        self.echo(true, true);
        if answered {
            self.wait(1);
            self.echo(false, false);
        }
    }

    /// The server's host asks whether the client lives, and `answered` tells whether it hears that it does.
    pub fn ping_client(&mut self, answered: bool) {
        self.next_message_id += 1;
        self.echo(true, false);
        if answered {
            self.wait(20);
            self.echo(false, true);
        }
    }

    /// A host of the client's side asks another one through the tunnel, and hears nothing.
    pub fn ping_in_vain(&mut self, src: [u8; 4], dst: [u8; 4]) {
        self.next_message_id += 1;
        self.echo_between(true, true, (src, dst));
    }

    /// An echo request or a reply to it, of the client or of the server's host.
    fn echo(&mut self, request: bool, of_client: bool) {
        let (server, client) = ([10, 66, 0, 1], self.inner_client);
        let ends = if of_client {
            (client, server)
        } else {
            (server, client)
        };
        self.echo_between(request, of_client, ends);
    }

    fn echo_between(&mut self, request: bool, of_client: bool, (src, dst): ([u8; 4], [u8; 4])) {
        let number = (self.next_message_id as u16).to_be_bytes();
        let mut echo = [
            &[if request { 8 } else { 0 }, 0, 0, 0, 0, 7][..],
            &number,
            &[0x61; 56],
        ]
        .concat();
        let sum = checksum(&echo).to_be_bytes();
        echo[2..4].copy_from_slice(&sum);
        let header = Ipv4 {
            src,
            dst,
            protocol: 1,
            id: if self.cut { self.next_message_id as u16 } else { 0 },
            ..Ipv4::default()
        };
        let size = if self.cut { 40 } else { echo.len() };
        for piece in header.fragments(&echo, size) {
            let packet = packets::l2tp(&piece);
            if of_client {
                self.esp_up(&packet);
            } else {
                self.esp_down(&packet);
            }
        }
    }

    /// A request of a CREATE_CHILD_SA comes in fragments of IP, of which so many pass the capture.
    pub fn request_in_fragments(&mut self, passing: usize) {
        let id = self.next_v2_id(true);
        let payloads = [(SA, ikev2_ike_sa(b"inherits")), (NONCE, vec![3; 1_200])];
        let message = self.seal_v2(true, CREATE_CHILD_SA, false, id, &payloads);
        let header = Ipv4 {
            src: CLIENT,
            dst: SERVER,
            protocol: 17,
            id: id as u16,
            ..Ipv4::default()
        };
        for fragment in header
            .fragments(&udp(500, 500, &message), 576)
            .into_iter()
            .take(passing)
        {
            self.capture(fragment);
        }
    }

    /// The PPPoE session of the line is ended (PADT, RFC 2516 §5.5).
    pub fn end_pppoe(&mut self) {
        let frame = ethernet(0x8863, &[0x11, 0xa7, 0x1a, 0x2b, 0, 0]);
        self.frames.push(Packet::new(self.now.cast_signed(), frame));
    }

    /// A message of PPP's link control protocol (RFC 1661 §5).
    pub fn lcp(&mut self, from_client: bool, code: u8) {
        self.ppp(from_client, 0xc021, code);
    }

    /// A message of a control protocol of PPP with this code.
    pub fn ppp(&mut self, from_client: bool, protocol: u16, code: u8) {
        let [high, low] = protocol.to_be_bytes();
        let payload = l2tp(0x4000, 1, &[0xff, 0x03, high, low, code, 1, 0, 8, 1, 2, 3, 4]);
        if from_client {
            self.esp_up(&payload);
        } else {
            self.esp_down(&payload);
        }
    }

    /// An L2TP control message of this type from the server, outside the tunnel.
    pub fn l2tp_in_clear(&mut self, kind: u16) {
        let mut body = vec![0xc8, 0x02, 0, 20, 0, 1, 0, 0, 0, 1, 0, 1, 0x80, 8, 0, 0, 0, 0];
        body.extend(kind.to_be_bytes());
        self.capture(ipv4(SERVER, CLIENT, 17, &udp(1701, 1701, &body)));
    }
}
