//! The bytes of an ESP packet around its payload.

/// SPI and sequence number before the IV (RFC 4303 §2).
pub const HEADER_LEN: usize = 8;

/// Framing of the payload in an SA without encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NullFormat {
    /// Bytes of IV: 0, or 8 with AES-GMAC.
    pub iv_len: usize,
    /// Bytes of ICV.
    pub icv_len: usize,
}
