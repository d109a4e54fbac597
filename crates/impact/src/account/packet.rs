//! What is kept of the packets of a connection.

use rekeyscope_model::time::Timestamp;

/// One packet: 64 bytes.
// In the order of whoever records it, and that of `Data`, so that neighbours are copied at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccountPacket {
    /// When the capture saw it.
    pub time: Timestamp,
    /// Its number.
    pub frame: u64,
    /// TCP sequence and acknowledgement number.
    pub seq: u32,
    /// See `seq`.
    pub ack: u32,
    /// TCP timestamps (RFC 7323 §3): its own and the one it echoes.
    pub stamp: u32,
    /// See `stamp`.
    pub echo: u32,
    /// TCP window field, unscaled.
    pub window: u16,
    /// Transport payload.
    pub payload: u16,
    /// Of it, bytes that the capture shows for the first time.
    pub new: u16,
    /// TCP flags as in the header (RFC 9293 §3.1): [`AccountPacket::FIN`] and others.
    pub flags: u8,
    /// Of the connection's second direction.
    pub reverse: bool,
    /// Overtaken by a higher ESP number.
    pub late: bool,
    /// Some of its bytes were seen before.
    pub seen_before: bool,
    /// It has TCP timestamps.
    pub stamped: bool,
}

impl AccountPacket {
    /// It has sent everything.
    pub const FIN: u8 = 1;
    /// It opens.
    pub const SYN: u8 = 2;
    /// Neither side sends any more.
    pub const RST: u8 = 4;
    /// Its acknowledgement number counts.
    pub const ACK: u8 = 16;

    /// One of these flags is set.
    pub(crate) fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    pub(crate) fn slot(&self) -> usize {
        usize::from(self.reverse)
    }
}

/// What a SYN says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syn {
    /// When it passed.
    pub time: Timestamp,
    /// Shift of the window scale option (RFC 7323 §2.2).
    pub scale: Option<u8>,
    /// It came more than once: which copy was answered cannot be told.
    pub repeated: bool,
}

/// What one direction of a connection is read from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) packets: &'a [AccountPacket],
    pub(crate) syns: &'a [Option<Syn>; 2],
    /// It is TCP that can be read.
    pub(crate) tcp: bool,
    /// The direction of the data.
    pub(crate) slot: usize,
}

impl Source<'_> {
    /// The other direction of the same connection.
    pub(crate) fn reversed(&self) -> Self {
        Source {
            slot: 1 - self.slot,
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_one_cache_line() {
        assert!(size_of::<AccountPacket>() <= 64);
    }
}
