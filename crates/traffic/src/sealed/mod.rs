//! Packets without a key, as they pass: data, and small ones that may answer it.

use crate::interval::{Interval, LastPacket, PacketSilence};
use crate::run::{RunBound, Runs, TransmissionRun};
use crate::table::BoundedTable;
use crate::tcp::LEAST_TIMEOUT;
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
struct SealedDirection {
    data: Runs,
    small: Runs,
    bytes: u64,
}

impl SealedDirection {
    fn len(&self) -> usize {
        self.data.len() + self.small.len()
    }

    #[inline]
    fn add(&mut self, packet: SealedPacket, width: i64) {
        self.bytes += u64::from(packet.bytes);
        let is_data = packet.bytes > LARGEST_ANSWER;
        let runs = if is_data { &mut self.data } else { &mut self.small };
        runs.add(packet.run(), width);
    }

    /// Time of the last packet.
    fn last(&self) -> Option<Timestamp> {
        self.data.last().max(self.small.last())
    }

    /// Runs of all packets that lie in a stretch, or right beside it.
    fn around(&self, stretch: (Timestamp, Timestamp)) -> impl Iterator<Item = &TransmissionRun> {
        self.data.around(stretch).chain(self.small.around(stretch))
    }

    /// Gives the number of runs that are left.
    fn coarsen(&mut self, width: i64) -> usize {
        self.data.coarsen(width);
        self.small.coarsen(width);
        self.len()
    }

    /// The packets of this direction with the answers to them; `None` where it carried no data.
    fn line(
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

/// Most directions of tunnels that are followed, 2 MB without their runs. Beyond, one that was not used lately is forgotten.
const MOST_DIRECTIONS: usize = 1 << 13;

/// Packets of each direction of each tunnel over time, by their sizes alone.
#[derive(Debug, Default)]
pub struct SealedTraffic {
    directions: BoundedTable<(u32, Direction), SealedDirection, MOST_DIRECTIONS>,
    runs: RunBound,
}

impl SealedTraffic {
    /// Takes a packet, in any order of time. Keys may read a part of a tunnel's SAs only: their packets belong in here as well, because
    /// without them the line would be silent.
    #[inline]
    pub fn take(&mut self, tunnel: u32, direction: Direction, packet: SealedPacket) {
        let key = (tunnel, direction);
        let (place, gone) = self.directions.place(key, SealedDirection::default);
        self.runs.count(gone.map_or(0, |gone| gone.len()), 0);
        let Some(direction) = self.directions.at_mut(place) else {
            return;
        };
        let before = direction.len();
        direction.add(packet, self.runs.width());
        self.runs.count(before, direction.len());
        if self.runs.is_reached() {
            let all = |width| self.directions.values_mut().map(|own| own.coarsen(width)).sum();
            self.runs.make_room(all);
        }
    }

    /// Time of the last packet of a direction of a tunnel.
    pub fn last(&self, tunnel: u32, direction: Direction) -> Option<Timestamp> {
        self.directions.get(&(tunnel, direction))?.last()
    }

    /// Times that reach into a stretch in which none of some directions of a tunnel sent anything, each longer than a retransmission timeout: a
    /// shorter one is no wait. Nothing begins the first one, if nothing came before the stretch, and nothing ends the last one, which may begin behind it.
    pub fn silences(
        &self,
        tunnel: u32,
        directions: &[Direction],
        stretch: (Timestamp, Timestamp),
    ) -> Vec<PacketSilence> {
        let own = directions
            .iter()
            .filter_map(|direction| self.directions.get(&(tunnel, *direction)));
        let runs = own.flat_map(|own| own.around(stretch));
        let mut runs: Vec<_> = runs.map(|run| (run.from, run.to, run.frames.1)).collect();
        runs.sort_unstable();
        let mut last = (Timestamp(i64::MIN), None);
        let mut silences = Vec::new();
        let silent = |(from, frame), to| Interval {
            from,
            to,
            facts: LastPacket { frame },
        };
        for (from, to, frame) in runs {
            if from.0.saturating_sub(last.0.0) > LEAST_TIMEOUT {
                silences.push(silent(last, from));
            }
            last = last.max((to, Some(frame)));
        }
        silences.push(silent(last, Timestamp(i64::MAX)));
        silences
    }

    /// Data of a direction of a tunnel, and the answers to it; `None` where no data passed.
    pub fn line(&self, tunnel: u32, direction: Direction) -> Option<SealedLine> {
        let of = |direction| self.directions.get(&(tunnel, direction));
        of(direction)?.line((tunnel, direction), of(direction.reverse()))
    }
}
