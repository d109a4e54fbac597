//! Where the walk ends: TCP (RFC 9293), UDP (RFC 768) and everything else above IP.

use super::{FlowKey, Layer, Layers, Step, TcpSegment, Walk};

const PORT_L2TP: u16 = 1701;
/// 4789 is IANA's, 8472 the one Linux used before it.
const PORTS_VXLAN: [u16; 2] = [4789, 8472];
const PROTOCOL_UDP: u8 = 17;
const PROTOCOL_TCP: u8 = 6;
/// Protocols that begin with two ports: DCCP, SCTP, UDP-Lite.
const PROTOCOLS_WITH_PORTS: [u8; 3] = [33, 132, 136];

impl Walk<'_> {
    /// Ends the walk at a flow. Without addresses (transport mode, outer ones not given) there is no flow.
    pub(super) fn reached(&mut self, protocol: u8, src_port: u16, dst_port: u16, payload: usize) -> Step {
        self.inner.transport_bytes = u32::try_from(payload).unwrap_or(u32::MAX);
        self.inner.flow = self.addresses.map(|(src, dst)| FlowKey {
            protocol,
            src,
            dst,
            src_port,
            dst_port,
        });
        Ok(None)
    }

    pub(super) fn udp(&mut self) -> Step {
        let &[s0, s1, d0, d1, l0, l1, _, _] = self.take::<8>().ok_or("UDP")?;
        let (src, dst) = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
        // A length under 8 is offload or damage: the IP header knows the length then.
        if let Some(declared) = usize::from(u16::from_be_bytes([l0, l1])).checked_sub(8) {
            self.cut_to(declared);
        }
        if (src == PORT_L2TP || dst == PORT_L2TP) && self.looks_like_l2tp() {
            return Ok(Some(Layer::L2tp));
        }
        if PORTS_VXLAN.contains(&dst) && self.looks_like_vxlan() {
            return Ok(Some(Layer::Vxlan));
        }
        self.reached(PROTOCOL_UDP, src, dst, self.len)
    }

    /// The I flag alone, reserved bytes zero (RFC 7348 §5): the ports are sometimes other protocols'. Where the prefix
    /// ends before them, the port has to do.
    fn looks_like_vxlan(&self) -> bool {
        match self.peek::<8>() {
            Some(header) => matches!(header, [0x08, 0, 0, 0, _, _, _, 0]),
            None => self.len >= 8,
        }
    }

    /// RFC 7348 §5.
    pub(super) fn vxlan(&mut self) -> Step {
        self.inner.layers = self.inner.layers.with(Layers::VXLAN);
        self.skip(8).ok_or("VXLAN")?;
        Ok(Some(Layer::Ethernet))
    }

    pub(super) fn tcp(&mut self) -> Step {
        let header = self.peek::<20>().ok_or("TCP")?;
        let &[
            s0,
            s1,
            d0,
            d1,
            q0,
            q1,
            q2,
            q3,
            a0,
            a1,
            a2,
            a3,
            offset,
            flags,
            w0,
            w1,
            ..,
        ] = header;
        let header_len = usize::from(offset >> 4) * 4;
        let payload = self.len.checked_sub(header_len).ok_or("TCP")?;
        if header_len < 20 {
            return Err("TCP");
        }
        let mut segment = TcpSegment {
            seq: u32::from_be_bytes([q0, q1, q2, q3]),
            ack: u32::from_be_bytes([a0, a1, a2, a3]),
            flags,
            window: u16::from_be_bytes([w0, w1]),
            sack_blocks: 0,
            window_scale: None,
            mss: None,
            timestamp: None,
        };
        // A deep header stack may leave only a part of the options in the prefix.
        let options_end = header_len.min(self.bytes.len());
        read_options(self.bytes.get(20..options_end).unwrap_or_default(), &mut segment);
        self.inner.tcp = Some(segment);
        self.reached(
            PROTOCOL_TCP,
            u16::from_be_bytes([s0, s1]),
            u16::from_be_bytes([d0, d1]),
            payload,
        )
    }

    pub(super) fn other_transport(&mut self, protocol: u8) -> Step {
        let ports = match self.peek::<4>() {
            Some(&[s0, s1, d0, d1]) if PROTOCOLS_WITH_PORTS.contains(&protocol) => {
                (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]))
            }
            _ => (0, 0),
        };
        self.reached(protocol, ports.0, ports.1, self.len)
    }
}

/// RFC 9293 §3.1 options; a malformed one ends the reading.
fn read_options(mut options: &[u8], segment: &mut TcpSegment) {
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
            (2, Some(&[high, low])) if segment.has(TcpSegment::SYN) => {
                segment.mss = Some(u16::from_be_bytes([high, low]));
            }
            (3, Some(&[shift])) if segment.has(TcpSegment::SYN) => segment.window_scale = Some(shift),
            (8, Some(&[t0, t1, t2, t3, ..])) => {
                segment.timestamp = Some(u32::from_be_bytes([t0, t1, t2, t3]));
            }
            (5, _) => segment.sack_blocks = u8::try_from((len - 2) / 8).unwrap_or(u8::MAX),
            _ => {}
        }
        let Some(after) = options.get(len..) else {
            return;
        };
        options = after;
    }
}
