//! Integers in either byte order, and the choice between pcap-parser's functions for them.

use pcap_parser::{Block, parse_block_be, parse_block_le};

/// The byte order of a file or section. Readers answer `None` behind the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ByteOrder {
    #[default]
    Little,
    Big,
}

impl ByteOrder {
    /// Parses the block that begins here; `None` where it does not fit its kind or is not whole.
    #[inline]
    pub(super) fn parse(self, block: &[u8]) -> Option<Block<'_>> {
        let parsed = match self {
            ByteOrder::Little => parse_block_le(block),
            ByteOrder::Big => parse_block_be(block),
        };
        parsed.ok().map(|(_, block)| block)
    }

    pub(super) fn u16_bytes(self, value: u16) -> [u8; 2] {
        self.reordered(value.to_le_bytes())
    }

    pub(super) fn u32_bytes(self, value: u32) -> [u8; 4] {
        self.reordered(value.to_le_bytes())
    }

    /// Little-endian bytes in this order, and the reverse.
    #[inline]
    fn reordered<const N: usize>(self, mut bytes: [u8; N]) -> [u8; N] {
        if self == ByteOrder::Big {
            bytes.reverse();
        }
        bytes
    }

    #[inline]
    fn bytes<const N: usize>(self, bytes: &[u8], at: usize) -> Option<[u8; N]> {
        bytes.get(at..)?.first_chunk().map(|bytes| self.reordered(*bytes))
    }

    pub(super) fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        self.bytes(bytes, at).map(u16::from_le_bytes)
    }

    #[inline]
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        self.bytes(bytes, at).map(u32::from_le_bytes)
    }

    pub(super) fn u64(self, bytes: &[u8], at: usize) -> Option<u64> {
        self.bytes(bytes, at).map(u64::from_le_bytes)
    }
}
