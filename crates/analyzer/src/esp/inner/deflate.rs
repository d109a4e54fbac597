//! IPComp with DEFLATE (RFC 3173, RFC 2394).

use super::{Inner, Layer, PREFIX, Walk, ip};
use flate2::{Decompress, FlushDecompress, Status};

/// No IP packet is longer, whatever its compressed form claims.
const MOST_INFLATED: u64 = 65_535;

/// The beginning of an inflated payload.
struct Inflated {
    bytes: [u8; PREFIX],
    /// Bytes of it that are there.
    filled: usize,
    /// Length of it all, when the compressed data was all there.
    whole_len: Option<usize>,
}

impl Walk<'_> {
    pub(super) fn down_inflated(mut self, protocol: u8) -> Inner {
        if let Err(name) = self.descend(super::Layers::IPCOMP) {
            return self.stop(name);
        }
        let Some(inflated) = inflate(self.bytes, self.bytes.len() >= self.len) else {
            return self.stop("IPComp");
        };
        let len = match inflated.whole_len {
            Some(len) => len,
            // The IP header inside says how long it is.
            None if matches!(protocol, ip::PROTOCOL_IPV4 | ip::PROTOCOL_IPV6) => MOST_INFLATED as usize,
            None => return self.stop("IPComp (whole payload needed)"),
        };
        let bytes = inflated.bytes.get(..inflated.filled).unwrap_or_default();
        let below = Walk {
            bytes,
            len,
            addresses: self.addresses,
            depth: self.depth,
            at: self.at,
            inner: self.inner,
        };
        below.down(Layer::Protocol(protocol))
    }
}

/// Inflates what is there; `None` when that is no DEFLATE data, or expands beyond an IP packet.
fn inflate(compressed: &[u8], whole: bool) -> Option<Inflated> {
    let mut stream = Decompress::new(false);
    let mut inflated = Inflated {
        bytes: [0; PREFIX],
        filled: 0,
        whole_len: None,
    };
    let mut status = stream
        .decompress(compressed, &mut inflated.bytes, FlushDecompress::None)
        .ok()?;
    inflated.filled = usize::try_from(stream.total_out()).ok()?;
    let mut scratch = [0; 1024];
    while whole && status != Status::StreamEnd {
        let rest = compressed.get(usize::try_from(stream.total_in()).ok()?..)?;
        let before = stream.total_out();
        status = stream
            .decompress(rest, &mut scratch, FlushDecompress::None)
            .ok()?;
        let stuck = status != Status::StreamEnd && stream.total_out() == before;
        if stuck || stream.total_out() > MOST_INFLATED {
            return None;
        }
    }
    if status == Status::StreamEnd {
        inflated.whole_len = usize::try_from(stream.total_out()).ok();
    }
    Some(inflated)
}
