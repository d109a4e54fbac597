//! Packets with a wrong ICV under a key that other packets of their SA prove: they were damaged, and their receiver drops them.

use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::Side;
use rekeyscope_model::analysis::MOST_EVENTS;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{INITIAL_RTO, INITIAL_WINDOW};
use std::collections::BTreeMap;

/// Damaged packets of a side, up to a whole packet that is as large as the smallest of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DamagedRun {
    /// SA of the first.
    pub(crate) sa: SaIndex,
    pub(crate) packets: u64,
    /// Packets that came when the sender's first timer had ended.
    late: u64,
    /// Bytes of the smallest.
    smallest: u32,
    /// Time and frame of the first.
    pub(crate) first: (Timestamp, u64),
    pub(crate) last: Timestamp,
    /// SA, time and frame of the whole packet behind them.
    pub(crate) until: Option<(SaIndex, Timestamp, u64)>,
}

impl DamagedRun {
    /// Most packets, and more than an initial window, came when a sender that hears no answer sends only what its timer lets go.
    pub(crate) fn goes_on(&self) -> bool {
        self.late > u64::from(INITIAL_WINDOW) && 2 * self.late >= self.packets
    }
}

/// The runs of all sides.
#[derive(Debug, Default)]
pub(crate) struct DamagedRuns {
    open: BTreeMap<Side, DamagedRun>,
    /// Runs that are over, the first ones.
    closed: Vec<(Side, DamagedRun)>,
}

impl DamagedRuns {
    /// Notes a packet: its SA, bytes, time and frame, and whether it was whole.
    pub(crate) fn take(&mut self, side: Side, sa: SaIndex, bytes: u32, seen: (Timestamp, u64), whole: bool) {
        let Some(run) = self.open.get_mut(&side) else {
            if !whole {
                let run = DamagedRun {
                    sa,
                    packets: 1,
                    late: 0,
                    smallest: bytes,
                    first: seen,
                    last: seen.0,
                    until: None,
                };
                self.open.insert(side, run);
            }
            return;
        };
        if !whole {
            run.packets += 1;
            run.late += u64::from(seen.0.nanos_since(run.first.0) > INITIAL_RTO);
            run.smallest = run.smallest.min(bytes);
            run.last = seen.0;
            return;
        }
        if bytes < run.smallest {
            return;
        }
        run.until = Some((sa, seen.0, seen.1));
        let run = *run;
        self.open.remove(&side);
        if run.packets >= LEAST_NOT_BY_CHANCE && self.closed.len() < MOST_EVENTS {
            self.closed.push((side, run));
        }
    }

    /// Runs of more packets than chance damages one after the other.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (Side, &DamagedRun)> {
        let open = self.open.iter().map(|(side, run)| (*side, run));
        let closed = self.closed.iter().map(|(side, run)| (*side, run));
        closed
            .chain(open)
            .filter(|(_, run)| run.packets >= LEAST_NOT_BY_CHANCE)
    }
}
