//! What inner TCP did in a window, as the detectors read it.

use crate::throughput::flow::ConnectionId;
use foldhash::HashMap;
use rekeyscope_model::time::Timestamp;

/// A segment of which at least a part was on its way before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retransmission {
    pub(crate) slot: usize,
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    pub(crate) connection: ConnectionId,
    pub(crate) end: u32,
    /// The frame of its first transmission, where that lies in the window.
    pub(crate) original: Option<u64>,
    /// Three duplicate acknowledgements asked for it.
    pub(crate) fast: bool,
}

/// A pause of a connection's data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DataStall {
    pub(crate) slot: usize,
    pub(crate) connection: ConnectionId,
    pub(crate) from: Timestamp,
    pub(crate) from_frame: u64,
    pub(crate) to: Timestamp,
    pub(crate) to_frame: u64,
    /// The segment after it repeats the oldest byte that is not acknowledged.
    pub(crate) ended_by_retransmission: bool,
    /// Three duplicate acknowledgements asked for that segment.
    pub(crate) asked_for: bool,
}

impl DataStall {
    /// Its length, nanoseconds.
    pub(crate) fn nanos(&self) -> i64 {
        self.to.nanos_since(self.from)
    }
}

/// Bytes that the receiver acknowledged and the capture never showed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnseenBytes {
    pub(crate) slot: usize,
    /// The segment behind the hole.
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    pub(crate) ack_frame: u64,
    pub(crate) bytes: u32,
}

/// All of it, each list in order of time.
#[derive(Debug, Default)]
pub(crate) struct TcpEvents {
    pub(crate) retransmissions: Vec<Retransmission>,
    pub(crate) stalls: Vec<DataStall>,
    pub(crate) unseen: Vec<UnseenBytes>,
    /// Acknowledgements with a window of 0: direction of the data that they stop, time, frame.
    pub(crate) zero_windows: Vec<(usize, Timestamp, u64)>,
    /// Payload bytes of each connection, per direction.
    pub(crate) bytes: HashMap<ConnectionId, [u64; 2]>,
    /// Frame of a segment → frame of its first repetition.
    pub(crate) repeated: HashMap<u64, u64>,
    /// Least time from data to its acknowledgement and on to the next data: both halves of a round trip.
    pub(crate) rtt: Option<i64>,
}
