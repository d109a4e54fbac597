//! What is kept of the packets of a connection.

use rekeyscope_model::time::Timestamp;

/// The bits of [`AccountPacket::bits`].
pub(super) mod bit {
    pub(in crate::account) const REVERSE: u8 = 1;
    pub(in crate::account) const LATE: u8 = 2;
    pub(in crate::account) const SEEN_BEFORE: u8 = 4;
    pub(in crate::account) const ACKNOWLEDGES: u8 = 8;
    pub(in crate::account) const STAMPED: u8 = 16;
    pub(in crate::account) const NUMBERED: u8 = 32;
    pub(in crate::account) const ENDS: u8 = 64;
    pub(in crate::account) const SYN: u8 = 128;
}

/// One packet: 64 bytes.
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
    /// ESP sequence number.
    pub esp: u32,
    /// Names its SA.
    pub sa: u32,
    /// ESP numbers of its direction that no packet had, until this packet.
    pub missing: u32,
    /// Transport payload.
    pub payload: u16,
    /// Of it, bytes that the capture shows for the first time.
    pub new: u16,
    /// TCP window field, unscaled.
    pub window: u16,
    /// Identification of the inner IPv4 packet.
    pub ip_id: u16,
    /// What [`AccountPacket::that`] says.
    pub bits: u8,
}

impl AccountPacket {
    /// Says what else it is: of the connection's second direction; overtaken by a higher ESP number; with bytes that were seen
    /// before; with an acknowledgement number; with TCP timestamps; with an IPv4 identification; with FIN or RST; with SYN.
    #[must_use]
    pub fn that(self, facts: [bool; 8]) -> Self {
        let bits = facts
            .iter()
            .rev()
            .fold(0, |bits, &fact| bits << 1 | u8::from(fact));
        AccountPacket { bits, ..self }
    }

    pub(super) fn is(&self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    pub(super) fn slot(&self) -> usize {
        usize::from(self.is(bit::REVERSE))
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

/// One inner connection, or what takes the place of one: a UDP flow, or everything of a tunnel that cannot be read.
#[derive(Debug, Clone, Default)]
pub struct AccountConnection {
    /// In order of the capture.
    pub packets: Vec<AccountPacket>,
    /// Of each direction.
    pub syns: [Option<Syn>; 2],
    /// It is TCP that can be read.
    pub tcp: bool,
    /// New bytes of each direction.
    pub bytes: [u64; 2],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_one_cache_line() {
        assert!(size_of::<AccountPacket>() <= 64);
    }

    #[test]
    fn facts_keep_their_places() {
        let all = [
            bit::REVERSE,
            bit::LATE,
            bit::SEEN_BEFORE,
            bit::ACKNOWLEDGES,
            bit::STAMPED,
            bit::NUMBERED,
            bit::ENDS,
            bit::SYN,
        ];
        for (k, own) in all.into_iter().enumerate() {
            let mut facts = [false; 8];
            facts[k] = true;
            let packet = AccountPacket::default().that(facts);
            assert_eq!(all.map(|bit| packet.is(bit)), facts, "{own}");
        }
    }
}
