//! Integers in either byte order, and the choice between pcap-parser's functions for them.

use super::record::Parsed;

/// The byte order of a file or section. Readers answer `None` behind the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    /// Parses a block with the function for this order; `None` where it does not fit its kind.
    #[inline]
    pub(super) fn parse<'b, T>(
        self,
        block: &'b [u8],
        little: fn(&'b [u8]) -> Parsed<'b, T>,
        big: fn(&'b [u8]) -> Parsed<'b, T>,
    ) -> Option<T> {
        let parse = if self == Order::Big { big } else { little };
        parse(block).ok().map(|(_, parsed)| parsed)
    }

    pub(super) fn u32_bytes(self, value: u32) -> [u8; 4] {
        if self == Order::Big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn bytes<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
        bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    pub(super) fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        Self::bytes(bytes, at).map(|b| {
            if self == Order::Big {
                u16::from_be_bytes(b)
            } else {
                u16::from_le_bytes(b)
            }
        })
    }

    #[inline]
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        Self::bytes(bytes, at).map(|b| {
            if self == Order::Big {
                u32::from_be_bytes(b)
            } else {
                u32::from_le_bytes(b)
            }
        })
    }

    pub(super) fn u64(self, bytes: &[u8], at: usize) -> Option<u64> {
        Self::bytes(bytes, at).map(|b| {
            if self == Order::Big {
                u64::from_be_bytes(b)
            } else {
                u64::from_le_bytes(b)
            }
        })
    }
}
