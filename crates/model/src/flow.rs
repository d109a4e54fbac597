//! Flows inside the tunnel, and the headers of their TCP segments.

use std::net::IpAddr;

/// The ends of a flow as the packet has them: source first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FiveTuple {
    /// IP protocol number.
    pub protocol: u8,
    /// Inner source.
    pub src: IpAddr,
    /// Inner destination.
    pub dst: IpAddr,
    /// Source port; 0 where the protocol has none.
    pub src_port: u16,
    /// Destination port; 0 where the protocol has none.
    pub dst_port: u16,
}

impl FiveTuple {
    /// The same flow as the packets of the other direction have it.
    pub fn reversed(&self) -> FiveTuple {
        FiveTuple {
            src: self.dst,
            dst: self.src,
            src_port: self.dst_port,
            dst_port: self.src_port,
            ..*self
        }
    }
}

/// Most blocks that the options of one segment hold (RFC 2018 §3).
pub const MOST_SACK_BLOCKS: usize = 4;

/// Blocks of the selective acknowledgement option (RFC 2018 §3), in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(u32, u32); MOST_SACK_BLOCKS],
    count: u8,
}

impl FromIterator<(u32, u32)> for SackBlocks {
    /// The first four blocks.
    fn from_iter<T: IntoIterator<Item = (u32, u32)>>(blocks: T) -> Self {
        let mut all = SackBlocks::default();
        for (slot, block) in all.blocks.iter_mut().zip(blocks) {
            *slot = block;
            all.count += 1;
        }
        all
    }
}

impl SackBlocks {
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
    /// Maximum Segment Size option of a SYN (RFC 9293 §3.7.1), bytes.
    pub mss: Option<u16>,
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
