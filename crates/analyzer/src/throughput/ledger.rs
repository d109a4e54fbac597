//! What is counted of the packets that were accounted for, and nothing else of the analysis waits for: meters and connections. A thread of
//! its own does it, in capture order, while the next packets are accounted for.

use crate::decode::InFlight;
use crate::throughput::booking::Booking;
use crate::throughput::connections::Connections;
use crate::throughput::meter::Meters;
use rekeyscope_impact::account::AccountSettings;

/// So many packets are worth another thread: some 50 µs of work.
const MANY: usize = 512;

/// Meters and connections.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) meters: Meters,
    pub(crate) connections: Connections,
}

impl Ledger {
    pub(crate) fn new(settings: AccountSettings) -> Ledger {
        Ledger {
            meters: Meters::default(),
            connections: Connections::new(settings),
        }
    }

    /// Counts the packets, and leaves their memory.
    fn take(&mut self, packets: &mut Vec<Booking>) {
        for packet in packets.drain(..) {
            self.meters.observe(&packet);
            self.connections.take(&packet);
        }
    }
}

/// Packets on their way to a [`Ledger`].
#[derive(Debug, Default)]
pub(crate) struct LedgerQueue {
    waiting: Vec<Booking>,
    /// Memory for them, used again.
    spare: Vec<Booking>,
    in_flight: Option<InFlight<(Ledger, Vec<Booking>)>>,
}

impl LedgerQueue {
    #[inline]
    pub(crate) fn push(&mut self, packet: Booking) {
        self.waiting.push(packet);
    }

    /// Sends what waits on its way, once it is much. Until [`LedgerQueue::settle`] `ledger` stands empty. False when the thread that counted
    /// what was sent before died, and what it had counted with it.
    pub(crate) fn hand_over(&mut self, ledger: &mut Ledger, settings: AccountSettings) -> bool {
        if self.waiting.len() < MANY {
            return true;
        }
        let landed = self.land(ledger);
        let mut packets = std::mem::replace(&mut self.waiting, std::mem::take(&mut self.spare));
        let mut counting = std::mem::replace(ledger, Ledger::new(settings));
        self.in_flight = Some(InFlight::begin(move || {
            counting.take(&mut packets);
            (counting, packets)
        }));
        landed
    }

    /// Counts everything, after what is on its way. False as [`LedgerQueue::hand_over`] says.
    pub(crate) fn settle(&mut self, ledger: &mut Ledger) -> bool {
        let landed = self.land(ledger);
        ledger.take(&mut self.waiting);
        landed
    }

    fn land(&mut self, ledger: &mut Ledger) -> bool {
        match self.in_flight.take().map(InFlight::wait) {
            None => true,
            Some(None) => false,
            Some(Some((counted, spare))) => {
                (*ledger, self.spare) = (counted, spare);
                true
            }
        }
    }
}
