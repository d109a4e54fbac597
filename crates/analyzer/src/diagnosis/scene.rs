//! The packets of the window of one rekey: which SAs end and begin, and which direction carries the data. Directions are internal ones, as
//! positions in a pair.

use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::recorder::{OpenWindow, Subject};
use rekeyscope_ipsec::rekey::{Evidence, slot};
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// Packets belong to the rekey for this long after the switch of the data direction: two doubled minimum retransmission timeouts
/// (0.2 + 0.4 + 0.8 s, RFC 6298 with Linux' minimum) end within.
const RECOVERY: i64 = 2 * NANOS_PER_SECOND;
/// Newest SAs of a tunnel that are looked through for those of a rekey.
const MOST_SAS: usize = 64;

/// One direction around the rekey.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LaneChange {
    /// SA that ends.
    pub(crate) old: Option<SaIndex>,
    /// SA that begins.
    pub(crate) new: Option<SaIndex>,
    /// First packet on `new`.
    pub(crate) switched: Option<Timestamp>,
}

/// The packets of one rekey.
#[derive(Debug)]
pub(crate) struct RekeyScene<'a> {
    /// The first message, where an exchange was captured.
    pub(crate) first_message: Option<Timestamp>,
    /// First exchange message; without one, the first packet on a new SA.
    pub(crate) started: Timestamp,
    /// End of the time that belongs to the rekey.
    pub(crate) zone_end: Timestamp,
    pub(crate) lanes: [LaneChange; 2],
    /// The direction with more payload.
    pub(crate) data: usize,
    /// Packets of the tunnel in the window, in capture order.
    pub(crate) packets: Vec<&'a PacketRecord>,
}

impl<'a> RekeyScene<'a> {
    /// `None` where no SA begins, or none ends: an exchange that came to nothing makes no rekey here.
    pub(crate) fn new(
        evidence: Evidence<'_>,
        own_sas: &[SaIndex],
        window: &OpenWindow,
        packets: impl FnOnce() -> Vec<&'a PacketRecord>,
    ) -> Option<Self> {
        let exchange = match window.subject {
            Subject::Exchange(exchange) => Some(exchange),
            Subject::Sa(_) => None,
        };
        let lanes = lanes(&evidence, own_sas, exchange, window.opened);
        let switched = lanes.iter().filter_map(|l| l.switched).max()?;
        if lanes.iter().all(|lane| lane.old.is_none()) {
            return None; // the tunnel's first SAs: nothing was renewed
        }
        let packets = packets();
        let first_message = exchange.and_then(|e| evidence.exchanges.get(e)?.first_time());
        Some(RekeyScene {
            first_message,
            started: window.opened,
            zone_end: switched.plus_nanos(RECOVERY),
            lanes,
            data: data_slot(&packets),
            packets,
        })
    }

    /// Packets of one direction.
    pub(crate) fn lane_packets(&self, slot: usize) -> impl Iterator<Item = &'a PacketRecord> {
        self.packets.iter().copied().filter(move |p| p.slot() == slot)
    }

    /// The switch of the data direction, else of the other one.
    pub(crate) fn data_switch(&self) -> Timestamp {
        let [x, y] = [self.data, 1 - self.data].map(|d| self.lanes[d].switched);
        x.or(y).unwrap_or(self.started)
    }
}

fn data_slot(packets: &[&PacketRecord]) -> usize {
    let mut sums = [(0u64, 0u64); 2];
    for p in packets {
        let sum = &mut sums[p.slot()];
        sum.0 += u64::from(p.payload);
        sum.1 += u64::from(p.outer);
    }
    usize::from(sums[1] > sums[0])
}

/// The SAs that end and begin. An exchange that could be read names the new ones; else it is the first that begins after it.
fn lanes(
    evidence: &Evidence<'_>,
    own_sas: &[SaIndex],
    exchange: Option<usize>,
    opened: Timestamp,
) -> [LaneChange; 2] {
    let readable = exchange.is_some_and(|e| !evidence.exchanges[e].children.is_empty());
    [0, 1].map(|d| {
        let used = || {
            own_sas.iter().rev().take(MOST_SAS).filter_map(move |&sa| {
                let a = &evidence.associations[sa];
                (slot(a.direction) == d).then_some((sa, a, a.first?.0))
            })
        };
        let new = used()
            .filter(|(_, a, first)| {
                if readable {
                    a.exchange == exchange
                } else {
                    *first >= opened && a.exchange.is_none_or(|e| Some(e) == exchange)
                }
            })
            .min_by_key(|&(sa, _, first)| (first, sa));
        let before = new.map_or(opened, |(_, _, first)| first);
        let old = used()
            .filter(|(sa, _, first)| *first < before && new.is_none_or(|(n, ..)| n != *sa))
            .max_by_key(|&(sa, a, first)| (a.exchange.is_some_and(|e| Some(e) < exchange), first, sa));
        LaneChange {
            old: old.map(|(sa, ..)| sa),
            new: new.map(|(sa, ..)| sa),
            switched: new.map(|(.., first)| first),
        }
    })
}
