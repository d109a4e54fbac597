//! The bytes of an ESP packet around its payload.

use rekeyscope_model::spi::Spi;

/// SPI and sequence number before the IV (RFC 4303 §2).
pub const HEADER_LEN: usize = 8;

/// SPI and sequence number of a packet (RFC 4303 §2); `None` where it ends before.
pub fn spi_and_sequence(packet: &[u8]) -> Option<(Spi, u32)> {
    let &[s0, s1, s2, s3, n0, n1, n2, n3] = packet.first_chunk::<HEADER_LEN>()?;
    let spi = Spi(u32::from_be_bytes([s0, s1, s2, s3]));
    Some((spi, u32::from_be_bytes([n0, n1, n2, n3])))
}

/// Framing of the payload in an SA without encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NullFormat {
    /// Bytes of IV: 0, or 8 with AES-GMAC.
    pub iv_len: usize,
    /// Bytes of ICV.
    pub icv_len: usize,
}
