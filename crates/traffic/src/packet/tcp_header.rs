//! The header of a TCP segment (RFC 9293 §3.1), with the options that the tracker reads.

/// Most blocks that the options of one segment hold (RFC 2018 §3).
pub(crate) const MOST_SACK_BLOCKS: usize = 4;

/// Blocks of the selective acknowledgement option (RFC 2018 §3), in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(u32, u32); MOST_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// The first four blocks of a list.
    pub fn new(list: &[(u32, u32)]) -> Self {
        let mut all = SackBlocks::default();
        for (slot, block) in all.blocks.iter_mut().zip(list) {
            *slot = *block;
            all.count += 1;
        }
        all
    }

    /// Left and right edges.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        self.blocks.get(..usize::from(self.count)).unwrap_or_default()
    }
}

/// A header, and the length of what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpHeader {
    /// SEG.SEQ.
    pub seq: u32,
    /// SEG.ACK; counts with the ACK flag only.
    pub ack: u32,
    /// FIN 1, SYN 2, RST 4, PSH 8, ACK 16.
    pub flags: u8,
    /// SEG.WND, unscaled.
    pub window: u16,
    /// Shift of the window scale option, on a SYN that has it (RFC 7323 §2.2).
    pub window_scale: Option<u8>,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// TSval and TSecr (RFC 7323 §3).
    pub timestamps: Option<(u32, u32)>,
    /// Payload bytes as sent, whatever the snap length of the capture left of them.
    pub len: u32,
}

impl TcpHeader {
    /// FIN flag.
    pub const FIN: u8 = 1;
    /// SYN flag.
    pub const SYN: u8 = 2;
    /// RST flag.
    pub const RST: u8 = 4;
    /// PSH flag.
    pub const PSH: u8 = 8;
    /// ACK flag.
    pub const ACK: u8 = 16;

    /// Whether one of `flags` is set.
    #[inline]
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// The length of the segment in sequence space: SYN and FIN count one each (RFC 9293 §3.4).
    #[inline]
    pub fn sequence_len(&self) -> u64 {
        u64::from(self.len) + u64::from(self.has(Self::SYN)) + u64::from(self.has(Self::FIN))
    }
}
