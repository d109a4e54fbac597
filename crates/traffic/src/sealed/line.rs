//! Packets of one direction of a tunnel without keys.

use crate::run::{Runs, TransmissionRun};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// Bytes of the largest ESP packet that carries an acknowledgement without data: 199. Any larger packet is data.
const LARGEST_ANSWER: u32 = {
    let spi_and_number = 8; // RFC 4303 §2
    let iv = 16; // A block of AES-CBC (RFC 3602 §3).
    let l2tp = 8 + 14 + 4; // UDP, L2TP with all its fields (RFC 2661 §3.1), address, control and protocol of PPP.
    let ipv6 = 40;
    let tcp = 60; // Options, timestamps and SACK blocks among them, take 40 at most (RFC 9293 §3.1).
    let trailer = 15 + 2; // Padding up to a block of AES, its length and the next header (RFC 4303 §2.4).
    let icv = 32; // HMAC-SHA-512-256 (RFC 4868 §2.6).
    spi_and_number + iv + l2tp + ipv6 + tcp + trailer + icv
};

/// An ESP packet as it is without a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedPacket {
    /// Time at which the packet passed the capture.
    pub time: Timestamp,
    /// The packet's frame.
    pub frame: u64,
    /// Opaque name of its security association.
    pub spi: u32,
    /// Bytes of ESP, from the SPI to the integrity check value.
    pub bytes: u32,
    /// Packets of its security association right before it that the capture lacks, by their numbers.
    pub missing: u32,
}

impl SealedPacket {
    fn run(self) -> TransmissionRun {
        TransmissionRun {
            bytes: u64::from(self.bytes),
            beyond_gap: self.missing > 0,
            ..TransmissionRun::one(self.time, self.frame, Some(self.spi))
        }
    }
}

/// Packets of one direction of a tunnel that no key reads, and the packets that answer them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedLine {
    /// Opaque name of the tunnel, as its packets have it.
    pub tunnel: u32,
    /// Direction of the data.
    pub direction: Direction,
    /// Packets of this direction that are larger than an acknowledgement. Bytes are those of ESP.
    pub data: Vec<TransmissionRun>,
    /// The other packets of this direction.
    pub small: Vec<TransmissionRun>,
    /// Packets of the reverse direction that may be acknowledgements, by their size.
    pub answers: Vec<TransmissionRun>,
    /// ESP bytes of all packets of the reverse direction.
    pub reverse_bytes: u64,
}

/// Packets of one direction.
#[derive(Debug, Clone, Default)]
pub(super) struct SealedDirection {
    data: Runs,
    small: Runs,
    bytes: u64,
}

impl SealedDirection {
    pub(super) fn len(&self) -> usize {
        self.data.len() + self.small.len()
    }

    #[inline]
    pub(super) fn add(&mut self, packet: SealedPacket, width: i64) {
        self.bytes += u64::from(packet.bytes);
        let is_data = packet.bytes > LARGEST_ANSWER;
        let runs = if is_data { &mut self.data } else { &mut self.small };
        runs.add(packet.run(), width);
    }

    /// Time of the last packet.
    pub(super) fn last(&self) -> Option<Timestamp> {
        self.data.last().max(self.small.last())
    }

    /// Runs of all packets that lie in a stretch, or right beside it.
    pub(super) fn around(&self, stretch: (Timestamp, Timestamp)) -> impl Iterator<Item = &TransmissionRun> {
        self.data.around(stretch).chain(self.small.around(stretch))
    }

    /// Gives the number of runs that are left.
    pub(super) fn coarsen(&mut self, width: i64) -> usize {
        self.data.coarsen(width);
        self.small.coarsen(width);
        self.len()
    }

    /// The packets of this direction with the answers to them; `None` where it carried no data.
    pub(super) fn line(
        &self,
        (tunnel, direction): (u32, Direction),
        reverse: Option<&SealedDirection>,
    ) -> Option<SealedLine> {
        let all = |runs: &Runs| runs.iter().copied().collect::<Vec<_>>();
        let data = all(&self.data);
        (!data.is_empty()).then(|| SealedLine {
            tunnel,
            direction,
            data,
            small: all(&self.small),
            answers: reverse.map_or_else(Vec::new, |reverse| all(&reverse.small)),
            reverse_bytes: reverse.map_or(0, |reverse| reverse.bytes),
        })
    }
}
