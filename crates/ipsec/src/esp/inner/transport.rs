//! Transport headers, at which the walk ends: TCP (RFC 9293), UDP (RFC 768) and everything else above IP.

use crate::esp::inner::found::{ESP_IN_ESP, EchoHeader, Inner, WHOLE_PAYLOAD_NEEDED};
use etherparse::{IpNumber, UdpHeader, ip_number};
use rekeyscope_capture::layers::{IcmpError, Layers, Stop, Walk};
use rekeyscope_model::flow::{FiveTuple, TcpHeader};
use std::net::IpAddr;

/// The walk's present state.
pub(super) struct Descent<'a, 'i> {
    pub(super) walk: Walk<'a>,
    /// Source and destination of the innermost IP header so far.
    pub(super) ends: Option<(IpAddr, IpAddr)>,
    pub(super) inflated: bool,
    pub(super) inner: &'i mut Inner,
}

impl Descent<'_, '_> {
    /// The walk ends short of transport: what is left counts as payload, unless it is a control message.
    pub(super) fn stop(&mut self, stop: Stop) {
        self.inner.layers = self.inner.layers.with(self.walk.passed());
        self.inner.stopped_at = Some(stop.name());
        let ran_out = matches!(stop, Stop::Broken(_) | Stop::Other(WHOLE_PAYLOAD_NEEDED));
        self.inner.prefix_too_short = ran_out && self.walk.bytes().len() < self.walk.layer_len();
        match stop {
            Stop::Control(control) => self.inner.control = Some(control),
            _ => self.inner.transport_bytes = saturated(self.walk.layer_len()),
        }
    }

    /// Ends the walk at a flow. Without addresses (transport mode, outer ones not given) there is no flow.
    pub(super) fn reached(&mut self, protocol: IpNumber, (src_port, dst_port): (u16, u16), payload: usize) {
        self.inner.layers = self.inner.layers.with(self.walk.passed());
        self.inner.transport_bytes = saturated(payload);
        self.inner.flow = self.ends.map(|(src, dst)| FiveTuple {
            protocol: protocol.0,
            src,
            dst,
            src_port,
            dst_port,
        });
    }
}

pub(super) fn saturated(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

const TCP: &str = "TCP";
const SHORTEST_TCP_HEADER: usize = 20;
/// Begins with two ports, as DCCP and SCTP do.
const UDP_LITE: IpNumber = IpNumber(136);

impl Descent<'_, '_> {
    pub(super) fn transport(&mut self, protocol: IpNumber) {
        match protocol {
            ip_number::TCP => self.tcp(),
            ip_number::UDP => self.udp(),
            ip_number::ENCAPSULATING_SECURITY_PAYLOAD => {
                self.inner.layers = self.inner.layers.with(Layers::ESP);
                self.stop(Stop::Other(ESP_IN_ESP))
            }
            // RFC 4303 §2.6: in ESP this is a dummy packet, to be discarded.
            ip_number::IPV6_NO_NEXT_HEADER => {
                self.stop(Stop::Other("no next header (dummy packet)"));
                self.inner.transport_bytes = 0;
            }
            ip_number::DCCP | ip_number::SCTP | UDP_LITE => self.with_ports(protocol),
            ip_number::ICMP | ip_number::IPV6_ICMP => self.icmp(protocol),
            _ => {
                let len = self.walk.layer_len();
                self.reached(protocol, (0, 0), len)
            }
        }
    }

    fn with_ports(&mut self, protocol: IpNumber) {
        let ports = match self.walk.bytes() {
            &[s0, s1, d0, d1, ..] => (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1])),
            _ => (0, 0),
        };
        let len = self.walk.layer_len();
        self.reached(protocol, ports, len)
    }

    fn icmp(&mut self, protocol: IpNumber) {
        if let Some(&[kind, 0, _, _, i0, i1, s0, s1]) = self.walk.bytes().first_chunk() {
            let request = match (protocol, kind) {
                (ip_number::ICMP, 8) | (ip_number::IPV6_ICMP, 128) => Some(true),
                (ip_number::ICMP, 0) | (ip_number::IPV6_ICMP, 129) => Some(false),
                _ => None,
            };
            self.inner.echo = request.map(|request| EchoHeader {
                request,
                id: u16::from_be_bytes([i0, i1]),
                seq: u16::from_be_bytes([s0, s1]),
            });
        }
        let told = IcmpError::parse(self.walk.bytes(), protocol == ip_number::IPV6_ICMP);
        let too_big = told.map(|(error, ..)| error).filter(|error| error.mtu.is_some());
        self.inner.too_big = self
            .ends
            .zip(too_big)
            .map(|((by, _), error)| Box::new((by, error)));
        let len = self.walk.layer_len();
        self.reached(protocol, (0, 0), len)
    }

    fn udp(&mut self) {
        let Some(&[s0, s1, d0, d1, l0, l1, _, _]) = self.walk.bytes().first_chunk() else {
            let stop = self.walk.short("UDP", UdpHeader::LEN);
            return self.stop(stop);
        };
        let room = self.walk.layer_len() - UdpHeader::LEN;
        // A length under 8 is offload or damage: the IP header knows the length then.
        let declared = usize::from(u16::from_be_bytes([l0, l1])).checked_sub(UdpHeader::LEN);
        let ports = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
        self.reached(ip_number::UDP, ports, declared.map_or(room, |len| len.min(room)))
    }

    fn tcp(&mut self) {
        let (words, _) = self.walk.bytes().as_chunks::<4>();
        let &[[s0, s1, d0, d1], seq, ack, [offset, flags, w0, w1], _, ..] = words else {
            let stop = self.walk.short(TCP, SHORTEST_TCP_HEADER);
            return self.stop(stop);
        };
        let header_len = usize::from(offset >> 4) * 4;
        let payload = self.walk.layer_len().checked_sub(header_len);
        let Some(payload) = payload.filter(|_| header_len >= SHORTEST_TCP_HEADER) else {
            let stop = self.walk.short(TCP, header_len);
            return self.stop(stop);
        };
        let mut header = TcpHeader {
            seq: u32::from_be_bytes(seq),
            ack: u32::from_be_bytes(ack),
            flags,
            window: u16::from_be_bytes([w0, w1]),
            ..TcpHeader::default()
        };
        // A deep header stack may leave only a part of the options in the prefix.
        let options_end = header_len.min(self.walk.bytes().len());
        let options = self.walk.bytes().get(SHORTEST_TCP_HEADER..options_end);
        read_options(options.unwrap_or_default(), &mut header);
        let ports = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
        self.reached(ip_number::TCP, ports, payload);
        header.len = self.inner.transport_bytes;
        self.inner.tcp = Some(header);
    }
}

/// RFC 9293 §3.1 options; a malformed one ends the reading.
fn read_options(mut options: &[u8], header: &mut TcpHeader) {
    while let Some((&kind, rest)) = options.split_first() {
        match kind {
            0 => return,
            1 => {
                options = rest;
                continue;
            }
            _ => {}
        }
        let Some(len) = rest.first().map(|len| usize::from(*len)).filter(|len| *len >= 2) else {
            return;
        };
        match (kind, rest.get(1..len - 1)) {
            (2, Some(&[high, low])) if header.has(TcpHeader::SYN) => {
                header.mss = Some(u16::from_be_bytes([high, low]));
            }
            (3, Some(&[shift])) if header.has(TcpHeader::SYN) => header.window_scale = Some(shift),
            (8, Some(&[t0, t1, t2, t3, e0, e1, e2, e3])) => {
                header.timestamps = Some((
                    u32::from_be_bytes([t0, t1, t2, t3]),
                    u32::from_be_bytes([e0, e1, e2, e3]),
                ));
            }
            (5, blocks) => {
                let (blocks, _) = blocks.unwrap_or_default().as_chunks::<8>();
                let edges = |&[l0, l1, l2, l3, r0, r1, r2, r3]: &[u8; 8]| {
                    (
                        u32::from_be_bytes([l0, l1, l2, l3]),
                        u32::from_be_bytes([r0, r1, r2, r3]),
                    )
                };
                header.sack = blocks.iter().map(edges).collect();
            }
            _ => {}
        }
        let Some(after) = options.get(len..) else {
            return;
        };
        options = after;
    }
}
