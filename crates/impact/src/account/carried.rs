//! What stays of one direction of a connection once its packets were gone over.

use super::capacity::{FullWindows, KnownRates, Passed, path};
use super::flow::measured::Measured;
use super::packet::Source;
use super::read::data::{Ack, Data};
use super::read::half::Half;
use super::read::reading::Reading;
use super::sweep::rules::sweep;
use super::sweep::sender::TcpSender;
use super::sweep::step::Step;
use super::sweep::track::{Track, TrackFacts};
use rekeyscope_model::analysis::{FlowTcp, OwnRate};

/// What stays of a connection that has sent something.
#[derive(Debug, Clone)]
pub(super) struct Swept {
    sender: TcpSender,
    pub(super) track: Track,
    /// C of the direction while it was open, bytes/s: the highest of its pieces.
    pub(super) own: (f64, OwnRate),
}

/// What stays of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Carried {
    pub(super) reading: Reading,
    pub(super) swept: Option<Swept>,
}

impl Carried {
    /// Steps that are kept.
    pub(super) fn steps(&self) -> usize {
        self.swept.as_ref().map_or(0, |s| s.track.steps.len())
    }

    /// What was measured of it, with its `course` or without; `None` where it has no sequence numbers.
    pub(super) fn flow(&self, course: bool) -> Option<FlowTcp> {
        let measured = self.swept.as_ref()?.track.measured.as_ref()?;
        Some(measured.document(self.reading.delays.both_halves, course))
    }

    /// Of neighbouring steps one is made.
    pub(super) fn coarsen(&mut self) {
        if let Some(swept) = &mut self.swept {
            swept.track.coarsen();
        }
    }
}

/// Memory for the packets of the largest connection, used again for each piece: asked for anew it would come in pages of zeros.
#[derive(Debug, Default)]
pub struct SpareMemory {
    /// Of each direction.
    lists: [(Vec<Data>, Vec<Ack>); 2],
    passed: Passed,
}

impl SpareMemory {
    /// For what is read next of a connection, so many packets.
    pub(super) fn lend(&mut self, carried: &mut [Option<Box<Carried>>; 2], packets: usize) {
        for (lists, carried) in self.lists.iter_mut().zip(carried) {
            if let Some(carried) = carried {
                let (mut data, mut acks) = std::mem::take(lists);
                // Lists that grow are copied again and again.
                data.reserve(packets);
                acks.reserve(packets);
                (carried.reading.data, carried.reading.acks) = (data, acks);
            }
        }
    }

    /// Takes lists back, unless it has larger ones.
    fn keep(&mut self, slot: usize, (mut data, mut acks): (Vec<Data>, Vec<Ack>)) {
        let own = &mut self.lists[slot];
        if data.capacity() + acks.capacity() > own.0.capacity() + own.1.capacity() {
            data.clear();
            acks.clear();
            *own = (data, acks);
        }
    }
}

/// Goes over what was read of all connections of a direction, which share a path. `reference`: bytes/s.
pub(super) fn go_on(
    connections: &mut [(Source<'_>, &mut Carried)],
    slot: usize,
    reference: Option<f64>,
    spare: &mut SpareMemory,
) {
    let mut halves: Vec<Half> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    for (place, (source, carried)) in connections.iter_mut().enumerate() {
        let reading = &mut carried.reading;
        match Half::of(reading, source) {
            Some(half) => {
                halves.push(half);
                places.push(place);
            }
            None => spare.keep(
                slot,
                (
                    std::mem::take(&mut reading.data),
                    std::mem::take(&mut reading.acks),
                ),
            ),
        }
    }
    let bytes = |h: &&Half| h.data.iter().map(|d| u64::from(d.new)).sum::<u64>();
    let main = match &halves[..] {
        // Mostly: of one nobody has to count.
        [one] => Some(one),
        several => several.iter().max_by_key(bytes),
    };
    let Some(main) = main else { return };
    let proven = connections.iter().filter_map(|(_, carried)| {
        let own = carried.swept.as_ref()?.own;
        (own.1 == OwnRate::Proven).then_some(own.0)
    });
    let known = KnownRates {
        proven: proven.max_by(f64::total_cmp),
        reference,
    };
    let full = FullWindows::new(Box::new(|| {
        let before = places.iter().map(|&place| connections[place].1.swept.as_ref());
        halves
            .iter()
            .zip(before)
            .map(|(half, before)| full_windows(half, before))
            .collect()
    }));
    let path = path(&halves, &full, (main.rtt, known), &mut spare.passed);
    drop(full);
    for ((half, rates), place) in halves.iter().zip(&path.rates).zip(&places) {
        let Carried { swept, .. } = &mut *connections[*place].1;
        let swept = swept.get_or_insert_with(|| Swept::new(half).measuring(half));
        swept.own = higher(swept.own, (path.own, path.own_from));
        swept.track.facts = TrackFacts::of(half);
        let step = swept.track.steps.len();
        swept.track.piece = Some(step);
        sweep(half, rates, &mut swept.sender, &mut swept.track);
        swept.track.complete(step);
    }
    for half in halves {
        spare.keep(slot, (half.data, half.acks));
    }
}

impl Swept {
    fn new(half: &Half) -> Swept {
        let first = half.data.first().map_or(0, |d| d.start);
        Swept {
            sender: TcpSender::new(first, half.mss),
            track: Track::new(half),
            own: (0.0, OwnRate::Best),
        }
    }

    fn measuring(mut self, half: &Half) -> Swept {
        self.track.measured = Measured::new(half);
        self
    }
}

/// What is proven counts more than what was merely seen.
pub(super) fn higher(a: (f64, OwnRate), b: (f64, OwnRate)) -> (f64, OwnRate) {
    let rank = |own: (f64, OwnRate)| (own.1 == OwnRate::Proven, own.0);
    if rank(b) > rank(a) { b } else { a }
}

/// Of each packet with data, whether the window was full before it.
fn full_windows(half: &Half, before: Option<&Swept>) -> Vec<bool> {
    let Swept {
        mut sender,
        mut track,
        ..
    } = Swept::new(half);
    if let Some(before) = before {
        sender = before.sender.clone();
    }
    sweep(half, &[], &mut sender, &mut track);
    track.mark_full(0);
    let full = |s: &Step| s.touched || s.kind.between_full;
    track.steps.iter().map(full).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_counts_more_than_what_was_merely_seen() {
        use OwnRate::{Best, Proven};
        assert_eq!(higher((2.0, Best), (1.0, Proven)), (1.0, Proven));
        assert_eq!(higher((1.0, Proven), (2.0, Best)), (1.0, Proven));
        assert_eq!(higher((1.0, Best), (2.0, Best)), (2.0, Best));
        assert_eq!(higher((3.0, Proven), (2.0, Proven)), (3.0, Proven));
    }

    /// Of two segments, and of two more: the second packet fills it, and the fourth.
    #[test]
    fn windows_are_full_before_packets_that_follow_on_one_that_filled_them() {
        use crate::account::made_up::{ack, at, data, half};
        let seen = Half {
            d2: Some(0),
            rtt: at(40),
            data: vec![
                data(10, 0),
                data(11, 1_000),
                data(20, 2_000),
                data(21, 3_000),
                data(500, 4_000),
                data(501, 5_000),
            ],
            acks: vec![ack(0, 0, 2_000), ack(15, 1_000, 3_000), ack(30, 4_000, 60_000)],
            ..half()
        };
        assert_eq!(full_windows(&seen, None), [false, false, true, true, true, false]);
        let unlimited = Half {
            acks: vec![ack(0, 0, 60_000)],
            ..seen
        };
        assert_eq!(full_windows(&unlimited, None), [false; 6]);
    }
}
