//! The download and the passing of time: segments of the server, acknowledgements of the client.

use crate::headers::{Ipv4, Tcp, ipv4, udp};
use crate::scenario::packets::l2tp;
use crate::scenario::world::{MILLI, RTT, SEGMENT, SERVER, World};
use std::collections::VecDeque;

impl World {
    /// A packet of one of several connections, with so many bytes of payload.
    pub(super) fn tcp_packet(&self, connection: u16, from_client: bool, tcp: Tcp<'_>, len: usize) -> Vec<u8> {
        let (server, client) = ([10, 66, 0, 1], self.inner_client);
        let (src, dst, ports) = if from_client {
            (client, server, (40_000 + connection, 5201))
        } else {
            (server, client, (5201, 40_000 + connection))
        };
        let segment = Tcp { ports, ..tcp }.segment(&vec![0x61; len]);
        ipv4(src, dst, 6, &segment)
    }

    /// A packet of the server.
    fn server_packet(&self, seq: u32, window: u16, len: usize) -> Vec<u8> {
        let tcp = Tcp {
            seq,
            window,
            ..Tcp::default()
        };
        l2tp(&self.tcp_packet(0, false, tcp, len))
    }

    /// Data flows for a while; every second segment is acknowledged a round trip later.
    pub fn steady(&mut self, millis: u64) {
        let end = self.now + millis * MILLI;
        while self.now < end {
            if self.upload {
                self.upload_segment();
            }
            if self.download {
                self.segment();
            }
            self.step(self.tick);
        }
    }

    /// Sends the next segment; it arrives.
    pub fn segment(&mut self) {
        self.lost_segment();
        self.deliver();
    }

    /// Sends one byte; it arrives.
    pub fn tiny_segment(&mut self) {
        let byte = self.server_packet(self.seq, 0xffff, 1);
        self.esp_down(&byte);
        self.seq += 1;
        self.expected = self.seq;
        self.acks.push_back((self.now + RTT, self.expected));
    }

    /// Datagrams flow for a while, which nobody acknowledges; with an upload, in both directions.
    pub fn datagrams(&mut self, millis: u64) {
        let server = [10, 66, 0, 1];
        let down = udp(5201, 40_000, &[0x61; SEGMENT]);
        let up = udp(40_000, 5201, &[0x62; SEGMENT]);
        let end = self.now + millis * MILLI;
        while self.now < end {
            self.esp_down(&l2tp(&ipv4(server, self.inner_client, 17, &down)));
            if self.upload {
                self.esp_up(&l2tp(&ipv4(self.inner_client, server, 17, &up)));
            }
            self.step(self.tick);
        }
    }

    /// Datagrams that are too long for the tunnel flow for a while: IP splits them before they are encrypted.
    pub fn long_datagrams(&mut self, millis: u64) {
        let end = self.now + millis * MILLI;
        let datagram = udp(5201, 40_000, &[0x61; SEGMENT + 600]);
        for id in 1.. {
            let header = Ipv4 {
                src: [10, 66, 0, 1],
                dst: self.inner_client,
                protocol: 17,
                id,
                ..Ipv4::default()
            };
            for piece in header.fragments(&datagram, SEGMENT / 8 * 8) {
                self.esp_down(&l2tp(&piece));
            }
            self.step(self.tick);
            if self.now >= end {
                return;
            }
        }
    }

    /// A packet of a call with another host behind the server passes towards the client.
    pub fn hear(&mut self, host: [u8; 4]) {
        let voice = udp(5002, 40_002, &[0x63; 160]);
        self.esp_down(&l2tp(&ipv4(host, self.inner_client, 17, &voice)));
    }

    /// A packet of that call passes each way.
    pub fn talk(&mut self, host: [u8; 4]) {
        self.hear(host);
        let voice = udp(40_002, 5002, &[0x64; 160]);
        self.esp_up(&l2tp(&ipv4(self.inner_client, host, 17, &voice)));
    }

    /// Everything sent so far has arrived; the client acknowledges every second segment.
    pub fn deliver(&mut self) {
        self.expected = self.seq;
        if ((self.seq - 1_000) / self.segment_len as u32).is_multiple_of(2) {
            self.acks.push_back((self.now + RTT, self.expected));
        }
    }

    /// What was sent last is acknowledged too, as the delayed acknowledgement timer would bring about.
    pub fn acknowledge_all(&mut self) {
        self.acks.push_back((self.now + RTT, self.expected));
    }

    /// Sends the next segment; the client never acknowledges it (it did not arrive, or the answer is held back).
    pub fn lost_segment(&mut self) {
        self.resend(self.seq);
        self.seq = self.seq.wrapping_add(self.segment_len as u32);
    }

    /// Sends the segment at `seq`.
    pub fn resend(&mut self, seq: u32) {
        let segment = self.server_packet(seq, 0xffff, self.segment_len);
        self.esp_down(&segment);
    }

    /// Time passes; acknowledgements pass the capture.
    pub fn step(&mut self, nanos: u64) {
        let end = self.now + nanos;
        while let Some(&(when, ack)) = self.acks.front()
            && when <= end
        {
            self.acks.pop_front();
            self.now = self.now.max(when);
            self.ack(ack, 0xffff);
        }
        self.now = end;
    }

    /// Time passes; acknowledgements pass the capture.
    pub fn wait(&mut self, millis: u64) {
        self.step(millis * MILLI);
    }

    /// The acknowledgements on their way are forgotten (the client died, or holds them back).
    pub fn drop_acks(&mut self) -> VecDeque<(u64, u32)> {
        std::mem::take(&mut self.acks)
    }

    /// An acknowledgement passes the capture now.
    pub fn ack(&mut self, ack: u32, window: u16) {
        let tcp = Tcp {
            seq: 1,
            ack,
            window,
            ..Tcp::default()
        };
        let packet = l2tp(&self.tcp_packet(0, true, tcp, 0));
        self.esp_up(&packet);
    }

    /// L2TP in clear.
    pub fn leak(&mut self) {
        self.capture(ipv4(SERVER, self.client, 17, &self.server_packet(1, 100, 10)));
    }
}
