//! What most tests carry: a connection between two networks, in a tunnel between two hosts.

use crate::headers::{framed, ipv4, tcp};

/// One end of the tunnel.
pub const A: [u8; 4] = [192, 0, 2, 1];
/// The other end.
pub const B: [u8; 4] = [198, 51, 100, 7];

/// The inner connection: segment `n` of `len` bytes.
pub fn inner_tcp(n: u32, len: usize) -> Vec<u8> {
    tcp(5201, 40_000, 1 + n * len as u32, 0x10, &vec![0x61; len])
}

/// That segment in IP between 10.1.0.1 and 10.2.0.1.
pub fn inner_ip(n: u32, len: usize) -> Vec<u8> {
    ipv4([10, 1, 0, 1], [10, 2, 0, 1], 6, &inner_tcp(n, len))
}

/// RFC 9329: messages in a stream from A to B, cut into segments of any size.
pub fn in_tcp(messages: &[Vec<u8>], segment: usize, with_start: bool) -> Vec<Vec<u8>> {
    let prefix = if with_start { &b"IKETCP"[..] } else { &[] };
    let stream = [prefix.to_vec(), messages.iter().flat_map(|m| framed(m)).collect()].concat();
    let packet = |seq: u32, flags: u8, body: &[u8]| ipv4(A, B, 6, &tcp(40_123, 4500, seq, flags, body));
    let mut frames = Vec::new();
    if with_start {
        frames.push(packet(999, 2, &[]));
    }
    let mut seq = 1_000;
    for part in stream.chunks(segment) {
        frames.push(packet(seq, 0x10, part));
        seq += part.len() as u32;
    }
    frames
}
