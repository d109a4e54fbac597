//! Silences: times from one arrival to the next, with the transmissions in vain between them.

use super::input::{LedgerInput, TimeSpan};
use super::spans::meets;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{FINEST, Interval, TransmissionRun};

/// Share of silences that are longer than the usual ones: one in a thousand.
const USUAL_SHARE: f64 = 0.001;

/// Time in which no bytes arrived: from the last arrival before it to the one that ends it, or to the end of the transfer.
pub(super) type Silence = Interval<NoArrival>;

/// Facts of a silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoArrival {
    /// Frames of the arrivals before and after the silence; 0 where nothing ends it.
    pub(super) frames: (u64, u64),
    /// Index of the run that ends the silence.
    pub(super) ended_by: Option<usize>,
    /// Transmissions in the silence that did not arrive.
    pub(super) swallowed: u32,
    /// Retransmissions in the silence of what had arrived.
    pub(super) superfluous: u32,
    /// Time at which everything that was sent before the silence had been acknowledged; `None` where nobody acknowledged anything.
    pub(super) acknowledged: Option<Timestamp>,
    /// True where the receiver lacked something that had been sent before the silence.
    pub(super) lacks: bool,
    /// True where the next byte in sequence, sent for the first time, ends the silence.
    pub(super) in_sequence: bool,
    /// True where what ends the silence goes beyond bytes that the capture lacks: they were lost before it.
    pub(super) beyond_gap: bool,
    /// Time at which everything that was sent before the end of the silence was acknowledged.
    pub(super) settled: Timestamp,
    /// True where the counts say all that was sent in the silence.
    pub(super) counted: bool,
}

impl NoArrival {
    /// Transmissions in the silence that brought nothing.
    pub(super) fn in_vain(&self) -> u32 {
        self.swallowed.saturating_add(self.superfluous)
    }

    /// Whether all that was sent in the silence was lost before the capture.
    pub(super) fn vanished(&self) -> bool {
        self.beyond_gap && self.in_vain() == 0
    }

    /// Whether something was sent in the silence that did not arrive, before the capture or behind it: then its sender did not pause.
    pub(super) fn is_loss(&self) -> bool {
        self.in_vain() > 0 || self.beyond_gap
    }
}

/// Transmissions in vain, to be asked for by time.
#[derive(Debug)]
pub(super) struct VainTransmissions<'a> {
    runs: &'a [TransmissionRun],
    /// Latest acknowledgement of the runs up to each one.
    acknowledged: Vec<Option<Timestamp>>,
}

fn latest_so_far(runs: &[TransmissionRun]) -> Vec<Option<Timestamp>> {
    let mut latest = None;
    let mut so_far = |run: &TransmissionRun| {
        latest = latest.max(run.acknowledged);
        latest
    };
    runs.iter().map(&mut so_far).collect()
}

impl<'a> VainTransmissions<'a> {
    pub(super) fn new(runs: &'a [TransmissionRun]) -> Self {
        VainTransmissions {
            runs,
            acknowledged: latest_so_far(runs),
        }
    }

    /// The first of them that had not ended at a moment.
    pub(super) fn first(&self, since: Timestamp) -> Option<Timestamp> {
        let place = self.runs.partition_point(|run| run.to < since);
        self.runs.get(place).map(|run| run.from)
    }

    /// Swallowed and superfluous transmissions between two moments. A run that reaches beyond one of them counts by its share.
    pub(super) fn between(&self, from: Timestamp, to: Timestamp) -> (u32, u32) {
        let first = self.runs.partition_point(|run| run.to <= from);
        let inside = self.runs.iter().skip(first).take_while(|run| run.from < to);
        inside.fold((0, 0), |sums, run| {
            let length = run.to.nanos_since(run.from).max(1) as f64;
            let common = run.to.min(to).nanos_since(run.from.max(from));
            let share = if run.from > from && run.to < to {
                1.0
            } else {
                common as f64 / length
            };
            let of = |count: u32| (f64::from(count) * share).round() as u32;
            let superfluous = of(run.superfluous);
            (sums.0 + of(run.packets) - superfluous, sums.1 + superfluous)
        })
    }

    /// The latest acknowledgement of what was sent before a moment.
    fn acknowledged_before(&self, time: Timestamp) -> Option<Timestamp> {
        let count = self.runs.partition_point(|run| run.from < time);
        count
            .checked_sub(1)
            .and_then(|k| self.acknowledged.get(k).copied().flatten())
    }
}

/// Silences of the transfer that are no rests and meet no hole, in order.
pub(super) fn silences(input: &LedgerInput<'_>, in_vain: &VainTransmissions<'_>) -> Vec<Silence> {
    let acknowledged = latest_so_far(input.arrived);
    let (from, to) = input.transfer;
    let apart = |span| meets(input.rests, span) || meets(input.holes, span);
    let mut all = Vec::new();
    for (k, two) in input.arrived.windows(2).enumerate() {
        let [before, ending] = two else { continue };
        let span = (before.to, ending.from);
        let is_short = ending.from.nanos_since(before.to) <= FINEST && ending.spi == before.spi;
        if is_short || before.to < from || ending.from > to || apart(span) {
            continue;
        }
        let sent_before = acknowledged
            .get(k)
            .copied()
            .flatten()
            .max(in_vain.acknowledged_before(before.to.plus_nanos(1)));
        let (swallowed, superfluous) = in_vain.between(before.to, ending.from);
        let sent = sent_before.max(in_vain.acknowledged_before(ending.from));
        all.push(Interval {
            from: before.to,
            to: ending.from,
            facts: NoArrival {
                frames: (before.frames.1, ending.frames.0),
                ended_by: Some(k + 1),
                swallowed,
                superfluous,
                acknowledged: sent_before,
                lacks: ending.lacking_since <= before.to
                    || swallowed > 0 && sent_before.is_some_and(|at| at >= ending.from),
                in_sequence: ending.lacking_since == ending.from && !ending.beyond_gap,
                beyond_gap: ending.beyond_gap,
                settled: sent.map_or(ending.from, |at| at.max(ending.from)),
                counted: true,
            },
        });
    }
    all.extend(open_silence(input, in_vain).filter(|silence| !apart(silence.span())));
    all
}

/// The silence at the end, where nothing arrives any more. A sender that sends nothing in it, through a tunnel that lives, has nothing to send.
fn open_silence(input: &LedgerInput<'_>, in_vain: &VainTransmissions<'_>) -> Option<Silence> {
    let last = input.arrived.last()?;
    let end = input.transfer.1;
    let (swallowed, superfluous) = in_vain.between(last.to, end.plus_nanos(1));
    let silence = Interval {
        from: last.to,
        to: end,
        facts: NoArrival {
            frames: (last.frames.1, 0),
            ended_by: None,
            swallowed,
            superfluous,
            acknowledged: None,
            lacks: false,
            in_sequence: false,
            beyond_gap: false,
            settled: end,
            counted: true,
        },
    };
    let waits = input.died || silence.facts.in_vain() > 0;
    (waits && silence.nanos() > FINEST).then_some(silence)
}

/// The length that all but one in a thousand waits for the next packet stay under, outside of `windows`, which are joined.
pub(super) fn usual(input: &LedgerInput<'_>, silences: &[Silence], windows: &[TimeSpan]) -> i64 {
    let outside = |span| !meets(windows, span);
    let mut long: Vec<i64> = silences
        .iter()
        .filter(|silence| silence.facts.ended_by.is_some() && outside(silence.span()))
        .map(Silence::nanos)
        .collect();
    let own = input
        .arrived
        .iter()
        .filter(|run| outside((run.from, run.to.plus_nanos(1))));
    let waits: u64 = own.map(|run| u64::from(run.packets)).sum();
    long.sort_unstable_by(|a, b| b.cmp(a));
    let rank = (waits as f64 * USUAL_SHARE) as usize;
    long.get(rank).copied().unwrap_or(FINEST)
}
