//! The parts of an ESP packet (RFC 4303 §2), as its transform cuts it.

use crate::esp::header::HEADER_LEN;

/// A packet cut at its transform's seams.
pub(super) struct Parts<'a> {
    /// SPI and sequence number.
    pub(super) header: &'a [u8; HEADER_LEN],
    /// Explicit or implicit IV.
    pub(super) iv: &'a [u8],
    /// Ciphertext.
    pub(super) body: &'a [u8],
    /// ICV as sent.
    pub(super) icv: &'a [u8],
    /// Everything before the ICV.
    pub(super) authenticated: &'a [u8],
}
