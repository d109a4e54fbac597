//! Transfers that tests are made of. Times in milliseconds.

use super::{FailedSpan, LedgerBook, LedgerInput, RekeySpan, ledger};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_traffic::TransmissionRun;

pub(super) fn at(ms: i64) -> Timestamp {
    Timestamp(ms * NANOS_PER_MILLI)
}

/// Packets of one kind, acknowledged 20 ms later.
pub(super) fn run((from, to): (i64, i64), packets: u32, bytes: u64) -> TransmissionRun {
    TransmissionRun {
        from: at(from),
        to: at(to),
        frames: (from.unsigned_abs(), to.unsigned_abs()),
        spi: None,
        packets,
        superfluous: 0,
        bytes,
        acknowledged: Some(at(to + 20)),
        lacking_since: at(from),
        beyond_gap: false,
    }
}

pub(super) fn packet(ms: i64, bytes: u64) -> TransmissionRun {
    run((ms, ms), 1, bytes)
}

/// A transfer over a round trip of 20 ms.
#[derive(Debug, Clone)]
pub(super) struct MadeUpTransfer {
    pub(super) arrived: Vec<TransmissionRun>,
    in_vain: Vec<TransmissionRun>,
    pub(super) rekeys: Vec<RekeySpan>,
    failed: Vec<FailedSpan>,
    pub(super) holes: Vec<(Timestamp, Timestamp)>,
    pub(super) capacity: Option<f64>,
    pub(super) round_trip: i64,
    died: Option<Timestamp>,
}

impl MadeUpTransfer {
    pub(super) fn new() -> Self {
        MadeUpTransfer {
            arrived: Vec::new(),
            in_vain: Vec::new(),
            rekeys: Vec::new(),
            failed: Vec::new(),
            holes: Vec::new(),
            capacity: None,
            round_trip: at(20).0,
            died: None,
        }
    }

    pub(super) fn packet_at_micros(&mut self, micros: i64, bytes: u64) {
        let time = Timestamp(micros * 1_000);
        self.arrived.push(TransmissionRun {
            from: time,
            to: time,
            lacking_since: time,
            acknowledged: Some(time.plus_nanos(at(20).0)),
            ..packet(micros / 1_000, bytes)
        });
    }

    /// Sends `each` packets of 1,000 bytes every millisecond.
    pub(super) fn even(&mut self, from: i64, to: i64, each: i64) {
        for ms in from..to {
            (0..each).for_each(|k| self.packet_at_micros(1_000 * ms + 1_000 * k / each, 1_000));
        }
    }

    /// Adds packets in vain, one every `step` milliseconds.
    pub(super) fn swallow(&mut self, from: i64, to: i64, step: usize) {
        self.in_vain
            .extend((from..to).step_by(step).map(|ms| packet(ms, 0)));
    }

    /// Adds a rekey whose last message and switch end what it swallows.
    pub(super) fn rekey(&mut self, asked: i64, switched: i64) {
        self.rekeys.push(RekeySpan {
            rekey: self.rekeys.len(),
            asked: at(asked),
            last_message: at(switched),
            first_on_new: [Some(at(switched)); 2],
            last_on_old: Some(at(asked)),
            deleted: None,
            volume: None,
        });
    }

    pub(super) fn fail(&mut self, from: i64, to: Option<i64>) {
        self.failed.push(FailedSpan {
            attempt: self.failed.len(),
            from: at(from),
            to: to.map(at),
        });
    }

    pub(super) fn died(&mut self, end: i64) {
        self.died = Some(at(end));
    }

    /// Moves everything to a later time.
    pub(super) fn shift(&mut self, ms: i64) {
        let by = at(ms).0;
        for run in self.arrived.iter_mut().chain(&mut self.in_vain) {
            for time in [&mut run.from, &mut run.to, &mut run.lacking_since] {
                *time = time.plus_nanos(by);
            }
            run.acknowledged = run.acknowledged.map(|time| time.plus_nanos(by));
        }
        for own in &mut self.rekeys {
            own.asked = own.asked.plus_nanos(by);
            own.last_message = own.last_message.plus_nanos(by);
            own.last_on_old = own.last_on_old.map(|time| time.plus_nanos(by));
            own.first_on_new = own
                .first_on_new
                .map(|first| first.map(|time| time.plus_nanos(by)));
        }
    }

    /// Joins arrivals within 20 ms to one run; an arrival that ends a silence stays alone.
    pub(super) fn in_runs(&mut self) {
        let mut runs: Vec<TransmissionRun> = Vec::new();
        let mut alone = true;
        for one in &self.arrived {
            let ends_silence = |last: &TransmissionRun| one.from.nanos_since(last.to) > at(20).0;
            match runs.last_mut() {
                Some(last) if !alone && one.to.nanos_since(last.from) <= at(20).0 => {
                    (last.to, last.frames.1) = (one.to, one.frames.1);
                    last.packets += one.packets;
                    last.bytes += one.bytes;
                    last.acknowledged = last.acknowledged.max(one.acknowledged);
                }
                last => {
                    alone = last.is_none_or(|last| ends_silence(last));
                    runs.push(*one);
                }
            }
        }
        self.arrived = runs;
    }

    pub(super) fn span(&self) -> (Timestamp, Timestamp) {
        let first = self.arrived.first().unwrap().from;
        let last = self
            .arrived
            .iter()
            .chain(&self.in_vain)
            .map(|run| run.to)
            .max()
            .unwrap();
        (first, self.died.unwrap_or(last))
    }

    pub(super) fn input(&self) -> LedgerInput<'_> {
        LedgerInput {
            arrived: &self.arrived,
            in_vain: &self.in_vain,
            transfer: self.span(),
            died: self.died.is_some(),
            round_trip: self.round_trip,
            capacity: self.capacity,
            rekeys: &self.rekeys,
            failed: &self.failed,
            outages: &[],
            moves: &[],
            rests: &[],
            holes: &self.holes,
            idle: &[],
        }
    }

    pub(super) fn ledger(&self) -> LedgerBook {
        ledger(&self.input())
    }
}
