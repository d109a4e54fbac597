//! Rekeys of a transfer, and the transfer as the ledger reads it.

use super::course::{Course, Transmission};
use super::path::{SEGMENT, SimulatedPath};
use super::random::of_numbers;
use rekeyscope_impact::ledger::{LedgerBook, LedgerInput, RekeySpan, ledger};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_traffic::TransmissionRun;

/// Transmissions within this are one run, as in `rekeyscope-traffic`.
const RUN: i64 = 20 * NANOS_PER_MILLI;
/// Time after the limit in which the initiator computes and writes a message.
const ASKS_WITHIN: i64 = NANOS_PER_MILLI;

/// The clock that rekeys follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RekeyMoments {
    /// Moments at even distances in time.
    Time,
    /// Moments at even distances in bytes.
    Volume,
}

/// A rekey.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RekeyPlan {
    /// Time of the first message.
    pub asked: i64,
    /// Time of the last message.
    pub last_message: i64,
    /// Share of its volume that the old SA has used; `None` where no limit is known.
    pub volume: Option<f64>,
}

/// A transfer and its rekeys.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedTransfer {
    arrived: Vec<TransmissionRun>,
    in_vain: Vec<TransmissionRun>,
    rekeys: Vec<RekeySpan>,
    span: (Timestamp, Timestamp),
    round_trip: i64,
}

impl Course {
    /// Begins of this many rekeys. Their clock does not keep step with round trips.
    pub fn moments(&self, trigger: RekeyMoments, rekeys: usize, seed: u64) -> Vec<i64> {
        let end = self.sent.last().map_or(0, |one| one.time);
        let arrivals = self.arrivals();
        let moment = |k: usize| {
            let share = (k as f64 + 0.4 + 0.2 * of_numbers([seed, k as u64, 0])) / rekeys as f64;
            match trigger {
                RekeyMoments::Time => Some((end as f64 * share) as i64),
                RekeyMoments::Volume => {
                    let nth = (arrivals.len() as f64 * share) as usize;
                    arrivals.get(nth).map(|at| at + ASKS_WITHIN)
                }
            }
        };
        (0..rekeys).filter_map(moment).collect()
    }
}

impl SimulatedTransfer {
    /// The transfer as the ledger reads it. A new SA carries what passes the capture from the last message of its rekey on.
    pub fn new(path: &SimulatedPath, course: &Course, rekeys: &[RekeyPlan]) -> Self {
        let spi = |time: i64| rekeys.partition_point(|rekey| rekey.last_message <= time) as u32;
        let (mut arrived, mut in_vain) = (RunsOfOneKind::default(), RunsOfOneKind::default());
        for (one, frame) in course.sent.iter().zip(1..) {
            let kind = if one.arrived { &mut arrived } else { &mut in_vain };
            kind.add(run_of(one, frame, spi(one.time)));
        }
        let round_trip = path.round_trip();
        let span = |(rekey, plan): (usize, &RekeyPlan)| {
            let switch = course.sent.partition_point(|one| one.time < plan.last_message);
            let time = |one: &Transmission| Timestamp(one.time);
            let first = course.sent.get(switch).map(time);
            RekeySpan {
                rekey,
                asked: Timestamp(plan.asked),
                last_message: Timestamp(plan.last_message),
                // Acknowledgements change over with the last message too.
                first_on_new: [first, first.map(|at| at.max(Timestamp(plan.last_message)))],
                last_on_old: switch.checked_sub(1).and_then(|k| course.sent.get(k)).map(time),
                deleted: None,
                volume: plan.volume,
            }
        };
        let ends = |one: Option<&Transmission>| Timestamp(one.map_or(0, |one| one.time));
        SimulatedTransfer {
            rekeys: rekeys.iter().enumerate().map(span).collect(),
            span: (ends(course.sent.first()), ends(course.sent.last())),
            arrived: arrived.runs,
            in_vain: in_vain.runs,
            round_trip,
        }
    }

    /// The ledger of the transfer.
    pub fn ledger(&self) -> LedgerBook {
        ledger(&LedgerInput {
            arrived: &self.arrived,
            in_vain: &self.in_vain,
            transfer: self.span,
            died: false,
            round_trip: self.round_trip,
            capacity: None,
            rekeys: &self.rekeys,
            failed: &[],
            outages: &[],
            moves: &[],
            rests: &[],
            holes: &[],
            idle: &[],
        })
    }
}

fn run_of(one: &Transmission, frame: u64, spi: u32) -> TransmissionRun {
    TransmissionRun {
        from: Timestamp(one.time),
        to: Timestamp(one.time),
        frames: (frame, frame),
        spi: Some(spi),
        packets: 1,
        superfluous: u32::from(one.superfluous),
        bytes: if one.arrived { SEGMENT } else { 0 },
        acknowledged: one.acknowledged.map(Timestamp),
        lacking_since: Timestamp(one.lacking_since),
        beyond_gap: one.beyond_gap,
    }
}

/// Runs of transmissions that arrived, or of those that did not. An arrival that ends a silence, or comes first on an SA, stays alone.
#[derive(Debug, Default)]
struct RunsOfOneKind {
    runs: Vec<TransmissionRun>,
    alone: bool,
}

impl RunsOfOneKind {
    fn add(&mut self, one: TransmissionRun) {
        let ends_silence =
            |last: &TransmissionRun| one.from.nanos_since(last.to) > RUN || one.spi != last.spi;
        match self.runs.last_mut() {
            Some(last) if !self.alone && one.spi == last.spi && one.to.nanos_since(last.from) <= RUN => {
                (last.to, last.frames.1) = (one.to, one.frames.1);
                last.packets += 1;
                last.superfluous += one.superfluous;
                last.bytes += one.bytes;
                last.acknowledged = last.acknowledged.max(one.acknowledged);
            }
            last => {
                self.alone = one.bytes > 0 && last.is_none_or(|last| ends_silence(last));
                self.runs.push(one);
            }
        }
    }
}
