//! Deliveries of one direction of a tunnel, and of one of its connections.

use crate::packet::Packet;
use crate::run::{FINEST, Runs, TransmissionRun};
use crate::segment::{ConnectionId, Fate, Settlement};
use crate::tcp::LONGEST_ACK_DELAY;
use crate::tracker::{SenderState, Tracker};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// Flight at the end of the capture, or before a reset, in times from data to acknowledgement: what was sent in it may still be on its way.
/// Where acknowledgements come sooner, a delayed one may.
const LAST_FLIGHT_OF_RTT: i64 = 4;

/// Deliveries of one direction of a tunnel, over all of its connections that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLine {
    /// Opaque name of the tunnel, as its packets have it.
    pub tunnel: u32,
    /// Direction of the data.
    pub direction: Direction,
    /// Transmissions that arrived.
    pub arrived: Vec<TransmissionRun>,
    /// Transmissions in vain: swallowed, or of what had arrived. No bytes count with them.
    pub in_vain: Vec<TransmissionRun>,
    /// Number of the connections that count.
    pub connections: usize,
    /// Round trip of the connection with most bytes.
    pub round_trip: Option<i64>,
    /// True where the last connection to send anything was closed or reset.
    pub closed: bool,
    /// True for datagrams, which nobody acknowledges.
    pub datagrams: bool,
}

/// One direction of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectionLine {
    /// Name of the connection; `None` for several that were forgotten.
    pub(super) connection: Option<ConnectionId>,
    pub(super) tunnel: u32,
    pub(super) direction: Direction,
    pub(super) arrived: Runs,
    pub(super) in_vain: Runs,
    pub(super) bytes: u64,
    pub(super) round_trip: Option<i64>,
    pub(super) closed: bool,
    pub(super) datagrams: bool,
    /// True once somebody acknowledged something.
    acknowledged: bool,
    least_rtt: i64,
    looked: Timestamp,
}

fn run_of(settled: &Settlement, acknowledged: Option<Timestamp>) -> TransmissionRun {
    TransmissionRun {
        superfluous: u32::from(matches!(settled.fate, Fate::Superfluous { .. })),
        acknowledged,
        lacking_since: settled.lacking_since,
        beyond_gap: settled.beyond_gap,
        ..TransmissionRun::one(settled.time, settled.frame, settled.esp.map(|esp| esp.spi))
    }
}

impl ConnectionLine {
    pub(super) fn new(tunnel: u32, direction: Direction, connection: Option<ConnectionId>) -> Self {
        ConnectionLine {
            connection,
            tunnel,
            direction,
            looked: Timestamp(i64::MIN),
            ..ConnectionLine::default()
        }
    }

    pub(super) fn len(&self) -> usize {
        self.arrived.len() + self.in_vain.len()
    }

    /// Takes the fate of a transmission. `last_copy`: none of the same bytes was sent after it.
    #[inline]
    pub(super) fn take(&mut self, settled: &Settlement, last_copy: bool, width: i64) {
        if settled.payload() == 0 {
            return;
        }
        let shown = Some(settled.shown.0);
        match settled.fate {
            Fate::Arrived => {
                self.acknowledged = true;
                self.arrive(settled, shown, width);
            }
            Fate::Swallowed => self.in_vain.add(run_of(settled, shown), width),
            Fate::Superfluous { .. } => self.in_vain.add(run_of(settled, None), width),
            Fate::Abandoned => self.give_up(settled, last_copy, settled.shown.0, width),
            Fate::Waiting => {}
        }
    }

    #[inline]
    fn arrive(&mut self, settled: &Settlement, shown: Option<Timestamp>, width: i64) {
        let bytes = u64::from(settled.payload());
        self.bytes += bytes;
        let run = run_of(settled, shown);
        self.arrived.add(TransmissionRun { bytes, ..run }, width);
    }

    /// Settles a transmission that nobody acknowledged up to `end`: of its connection, or of the capture. A capture that holds no
    /// acknowledgements at all speaks against a transmission by a later copy alone.
    pub(super) fn give_up(&mut self, settled: &Settlement, last_copy: bool, end: Timestamp, width: i64) {
        if settled.payload() == 0 {
            return;
        }
        let last_flight = LONGEST_ACK_DELAY.max(LAST_FLIGHT_OF_RTT * self.least_rtt);
        let on_its_way = !self.acknowledged || end.nanos_since(settled.time) <= last_flight;
        if last_copy && on_its_way {
            self.arrive(settled, None, width);
        } else {
            self.in_vain.add(run_of(settled, None), width);
        }
    }

    /// Takes a datagram. Nothing shows whether it arrives.
    pub(super) fn datagram(&mut self, packet: &Packet, bytes: u32, beyond_gap: bool, width: i64) {
        self.datagrams = true;
        self.bytes += u64::from(bytes);
        let run = TransmissionRun {
            bytes: u64::from(bytes),
            beyond_gap,
            ..TransmissionRun::one(packet.time, packet.frame, packet.esp.map(|esp| esp.spi))
        };
        self.arrived.add(run, width);
    }

    /// Looks at the sender, now and then.
    #[inline]
    pub(super) fn look(&mut self, now: Timestamp, tracker: &Tracker) {
        if now.nanos_since(self.looked) < FINEST {
            return;
        }
        self.looked = now;
        let Some(SenderState { round_trip, rtt, .. }) = tracker.sender(self.direction) else {
            return;
        };
        self.round_trip = round_trip.or(self.round_trip);
        self.least_rtt = rtt.min.unwrap_or(self.least_rtt);
    }

    /// Gives the number of runs that are left.
    pub(super) fn coarsen(&mut self, width: i64) -> usize {
        self.arrived.coarsen(width);
        self.in_vain.coarsen(width);
        self.len()
    }

    /// Adds the packets of another connection of the same direction.
    pub(super) fn merge(&mut self, other: &ConnectionLine, width: i64) {
        self.arrived.merge(&other.arrived, width);
        self.in_vain.merge(&other.in_vain, width);
        if other.bytes > self.bytes || self.round_trip.is_none() {
            self.round_trip = other.round_trip.or(self.round_trip);
        }
        self.bytes += other.bytes;
        self.datagrams |= other.datagrams;
    }

    /// Time at which the connection sent the last byte.
    pub(super) fn last(&self) -> Option<Timestamp> {
        self.arrived.last().max(self.in_vain.last())
    }
}
