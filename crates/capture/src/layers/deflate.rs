//! IPComp with DEFLATE (RFC 3173, RFC 2394).

use flate2::{Decompress, FlushDecompress, Status};

/// No IP packet is longer, whatever its compressed form claims.
pub const MOST_INFLATED: usize = 65_535;

/// Result of decompression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inflated {
    /// Bytes that were written to the beginning of the buffer.
    pub filled: usize,
    /// Length of it all, when the compressed data was all there.
    pub whole_len: Option<usize>,
}

/// Tells whether all of `compressed` is one DEFLATE stream, to its last byte. Noise ends early, or is none.
pub fn is_one_stream(compressed: &[u8]) -> bool {
    let mut stream = Decompress::new(false);
    let mut scratch = [0; 1024];
    loop {
        let (read, made) = (stream.total_in(), stream.total_out());
        let rest = usize::try_from(read).ok().and_then(|read| compressed.get(read..));
        match stream.decompress(rest.unwrap_or_default(), &mut scratch, FlushDecompress::None) {
            Ok(Status::StreamEnd) => return stream.total_in() == compressed.len() as u64,
            Ok(_) if stream.total_out() > made && stream.total_out() <= MOST_INFLATED as u64 => {}
            _ => return false,
        }
    }
}

/// Inflates the beginning of `compressed` into `out`; where it is `whole`, to its end, to know its length. `None` when that is no
/// DEFLATE data, or expands beyond an IP packet.
pub fn inflate(compressed: &[u8], whole: bool, out: &mut [u8]) -> Option<Inflated> {
    let mut stream = Decompress::new(false);
    let mut status = stream.decompress(compressed, out, FlushDecompress::None).ok()?;
    let filled = usize::try_from(stream.total_out()).ok()?;
    let mut scratch = [0; 1024];
    while whole && status != Status::StreamEnd {
        let rest = compressed.get(usize::try_from(stream.total_in()).ok()?..)?;
        let before = stream.total_out();
        status = stream
            .decompress(rest, &mut scratch, FlushDecompress::None)
            .ok()?;
        let stuck = status != Status::StreamEnd && stream.total_out() == before;
        if stuck || stream.total_out() > MOST_INFLATED as u64 {
            return None;
        }
    }
    let ended = status == Status::StreamEnd;
    let whole_len = usize::try_from(stream.total_out()).ok().filter(|_| ended);
    Some(Inflated { filled, whole_len })
}
