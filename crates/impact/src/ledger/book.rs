//! The book: the ledger of one direction, made of all its parts.

use super::arrivals::ArrivedBytes;
use super::input::{LEAST_COST, LEAST_GAP, LEAST_SHARE, LedgerInput, RekeySpan, RuleTimes, TimeSpan};
use super::ownership::{Owned, Owner, Ownership, ownership};
use super::price::{RateWithout, carried, cost, rate, rate_without, repaired};
use super::silence::{VainTransmissions, silences};
use super::slow::{SlowRekeys, slow};
use super::spans::{joined, meets, nanos, without};
use super::undisturbed::{RateSamples, UsualRates, undisturbed};
use rekeyscope_model::analysis::LedgerWhy;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::{DEFAULT_MSS, TransmissionRun};
use std::collections::BTreeMap;

/// Most rounds in which ends of intervals and the rates without them, which depend on each other, are computed by turns.
const ROUNDS: usize = 4;

/// A stretch of the transfer that a rekey or a failure owns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnedInterval {
    /// Owner of the interval.
    pub owner: Owner,
    /// Reason why the owner owns the interval.
    pub why: LedgerWhy,
    /// Time of the last arrival before the silence.
    pub from: Timestamp,
    /// Time of the arrival that ends the silence; `None` where none does.
    pub arrived: Option<Timestamp>,
    /// Time at which the transfer is back.
    pub to: Timestamp,
    /// Frames of the arrivals before and after the silence; the second is 0 where there is none.
    pub frames: (u64, u64),
    /// Nanoseconds of the silence.
    pub silence: i64,
    /// Transmissions in the silence that brought nothing.
    pub in_vain: u32,
    /// The rate without the interval, bytes a second.
    pub rate: f64,
    /// The cost, nanoseconds. Negative where the sender made up for more than the silence took.
    pub nanos: i64,
    /// The cost by the rate of either side alone, nanoseconds.
    pub range: (i64, i64),
    /// Bytes that arrived in the interval.
    pub bytes: u64,
    /// True where the cost is a lower bound: the capture ends first, or nothing says what the rate was.
    pub at_least: bool,
}

/// Cost of one rekey.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RekeyCost {
    /// Name of the rekey.
    pub rekey: usize,
    /// Cost, nanoseconds, not negative.
    pub nanos: i64,
    /// Cost by the rate of either side alone, nanoseconds.
    pub range: (i64, i64),
    /// Longest silence of the rekey, nanoseconds.
    pub silence: i64,
    /// Transmissions in the rekey's silences that brought nothing.
    pub in_vain: u32,
    /// Reason for the interval with the longest silence.
    pub why: LedgerWhy,
    /// Rate without the rekey, bytes a second.
    pub rate: f64,
    /// True where the cost is a lower bound, as in [`OwnedInterval::at_least`].
    pub at_least: bool,
}

/// The ledger of one direction of a tunnel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LedgerBook {
    /// Length of the transfer, nanoseconds, without rests.
    pub nanos: i64,
    /// Bytes that arrived.
    pub bytes: u64,
    /// Intervals of all owners, in order of time.
    pub intervals: Vec<OwnedInterval>,
    /// Rekeys that own something, in their order.
    pub rekeys: Vec<RekeyCost>,
    /// Time that failures took, nanoseconds.
    pub down: i64,
    /// Rekeys without a silence: whether they slowed the transfer.
    pub slow: Option<SlowRekeys>,
    /// Rekeys whose time the capture lacks in part.
    pub unobserved: Vec<usize>,
    /// Rekeys within the transfer of which the capture lacks nothing.
    pub observed: Vec<usize>,
    /// Longest silence at rekeys that is no longer than what the transfer shows elsewhere, or that cost nothing, nanoseconds.
    pub threshold: i64,
    /// The stretches between rests.
    pub transfers: Vec<TransferSpan>,
    /// True where something was waiting to be sent: only then can a rekey cost anything.
    pub is_transfer: bool,
    /// Undisturbed time, nanoseconds.
    pub undisturbed: i64,
    pub(super) bound: Option<i64>,
}

/// A stretch of a transfer between rests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferSpan {
    /// Begin of the stretch.
    pub from: Timestamp,
    /// End of the stretch.
    pub to: Timestamp,
    /// Bytes that arrived.
    pub bytes: u64,
    /// Rekeys within the stretch of which the capture lacks nothing.
    pub rekeys: Vec<usize>,
    /// Cost of the rekeys within the stretch, nanoseconds.
    pub nanos: i64,
}

impl LedgerBook {
    /// Cost of all rekeys, nanoseconds.
    pub fn rekeys_nanos(&self) -> i64 {
        self.rekeys.iter().map(|rekey| rekey.nanos).sum()
    }

    /// Upper limit of the cost of each rekey that owns nothing, nanoseconds; `None` where these packets set no bound. Acknowledgements set
    /// that of the test of all rekeys, else what counts as a silence; answers without keys set what counts as a silence of the data or of
    /// them.
    pub fn bound(&self) -> Option<i64> {
        self.bound
    }
}

/// Intervals in their first form.
struct Drafts<'a> {
    input: &'a LedgerInput<'a>,
    arrivals: ArrivedBytes<'a>,
    times: RuleTimes,
    samples: RateSamples,
    ownership: Ownership,
    grown: Timestamp,
    /// The upper quartile of the rate, bytes a second.
    usual: f64,
}

/// Ends of all intervals, and the rates without them.
struct Priced {
    ends: Vec<Timestamp>,
    rates: Vec<RateWithout>,
    undisturbed: Vec<TimeSpan>,
}

/// Makes the ledger of one direction of a tunnel.
///
/// Stretches between rests are transfers of their own: what is usual in one says nothing of another.
pub fn ledger(input: &LedgerInput<'_>) -> LedgerBook {
    let spans = without(input.transfer, &joined(input.rests.to_vec()));
    let last = spans.len().saturating_sub(1);
    let books = spans.iter().enumerate().map(|(k, span)| {
        book_of(&LedgerInput {
            arrived: within(input.arrived, *span),
            in_vain: within(input.in_vain, *span),
            transfer: *span,
            died: input.died && k == last,
            rests: &[],
            ..*input
        })
    });
    books.reduce(LedgerBook::and).unwrap_or_default()
}

/// The runs that lie in a stretch.
fn within(runs: &[TransmissionRun], (from, to): TimeSpan) -> &[TransmissionRun] {
    let first = runs.partition_point(|run| run.from < from);
    let end = runs.partition_point(|run| run.from <= to);
    runs.get(first..end).unwrap_or_default()
}

/// The book of one stretch without rests.
fn book_of(input: &LedgerInput<'_>) -> LedgerBook {
    let times = RuleTimes::of(input.round_trip);
    let in_vain = VainTransmissions::new(input.in_vain);
    let ownership = ownership(input, &silences(input, &in_vain), &in_vain, times);
    let arrivals = ArrivedBytes::new(input.arrived);
    let samples = RateSamples::new(&arrivals, input.transfer, times);
    let disturbed = joined(apart(input, &ownership).collect());
    let usual = samples.upper_quartile(&disturbed).unwrap_or(0.0);
    let drafts = Drafts {
        grown: samples.grown(usual).unwrap_or(input.transfer.0),
        input,
        arrivals,
        times,
        samples,
        ownership,
        usual,
    };
    let priced = drafts.price();
    drafts.book(&priced)
}

/// Silences that are owned or the sender's, and holes.
fn apart<'a>(input: &'a LedgerInput<'_>, ownership: &'a Ownership) -> impl Iterator<Item = TimeSpan> {
    let owned = ownership.owned.iter().map(|own| own.silence.span());
    let others = input.holes.iter().chain(&ownership.acquitted);
    owned.chain(others.copied())
}

impl Drafts<'_> {
    fn owned(&self) -> &[Owned] {
        &self.ownership.owned
    }

    /// Tells whether an end came to another address in one of these silences.
    fn has_moved(&self, owned: &[Owned]) -> bool {
        let within = |own: &Owned, at: &Timestamp| own.silence.from <= *at && *at <= own.silence.to;
        let mut moves = self.input.moves.iter();
        moves.any(|at| owned.iter().any(|own| within(own, at)))
    }

    fn undisturbed(&self, ends: &[Timestamp]) -> Vec<TimeSpan> {
        let starts = self.owned().iter().map(|own| own.silence.from);
        let intervals = starts.zip(ends.iter().copied());
        undisturbed(self.input, self.grown, intervals, &self.ownership.acquitted)
    }

    /// Computes ends and rates by turns, until they agree.
    fn price(&self) -> Priced {
        let silences: Vec<Timestamp> = self.owned().iter().map(|own| own.silence.to).collect();
        let mut priced = Priced {
            undisturbed: self.undisturbed(&silences),
            ends: silences,
            rates: Vec::new(),
        };
        let mut rates: Vec<f64> = self
            .owned()
            .iter()
            .zip(self.rates(&priced))
            .map(|(own, rate)| {
                // On another path a transfer comes back to the rate of that path.
                if self.has_moved(std::slice::from_ref(own)) {
                    rate.both
                } else {
                    self.usual
                }
            })
            .collect();
        for _ in 0..ROUNDS {
            let usual = self.samples.usual(&priced.undisturbed);
            priced.ends = self.ends(&rates, usual);
            priced.undisturbed = self.undisturbed(&priced.ends);
            priced.rates = self.rates(&priced);
            rates = priced.rates.iter().map(|rate| rate.both).collect();
        }
        priced
    }

    fn ends(&self, rates: &[f64], usual: UsualRates) -> Vec<Timestamp> {
        let next = self.owned().iter().skip(1).map(|own| own.silence.from);
        let limits = next.chain([self.input.transfer.1]);
        let each = self.owned().iter().zip(limits).zip(rates);
        each.map(|((own, limit), rate)| {
            repaired(&self.arrivals, &own.silence, limit, (*rate, usual, self.times))
        })
        .collect()
    }

    /// Rates without the intervals; intervals that run into each other have one rate.
    fn rates(&self, priced: &Priced) -> Vec<RateWithout> {
        let owned = self.owned();
        let mut rates = Vec::with_capacity(owned.len());
        let mut from = 0;
        while let Some(first) = owned.get(from) {
            let runs_on =
                |k: &usize| owned.get(k + 1).map(|next| next.silence.from) == priced.ends.get(*k).copied();
            let last = (from..owned.len()).find(|k| !runs_on(k)).unwrap_or(from);
            let end = priced.ends.get(last).copied().unwrap_or(first.silence.to);
            let rate = rate_without(
                &self.arrivals,
                &priced.undisturbed,
                (first.silence.from, end),
                (self.usual, self.input.capacity, self.times),
                self.has_moved(&owned[from..=last]),
            );
            rates.extend(std::iter::repeat_n(rate, last + 1 - from));
            from = last + 1;
        }
        rates
    }

    fn book(&self, priced: &Priced) -> LedgerBook {
        let each = self.owned().iter().zip(&priced.ends).zip(&priced.rates);
        let intervals: Vec<OwnedInterval> = each
            .map(|((own, end), rate)| self.interval(own, *end, rate))
            .collect();
        let mut book = LedgerBook {
            nanos: nanos(&[self.input.transfer]),
            bytes: self.input.arrived.iter().map(|run| run.bytes).sum(),
            intervals,
            undisturbed: nanos(&priced.undisturbed),
            threshold: self.ownership.threshold,
            ..LedgerBook::default()
        };
        book.settle();
        let holes = joined(self.input.holes.to_vec());
        let unobserved = self
            .input
            .rekeys
            .iter()
            .filter(|rekey| meets(&holes, rekey.window()));
        book.unobserved = unobserved.map(|rekey| rekey.rekey).collect();
        book.is_transfer = self.is_transfer(book.nanos);
        self.slow(&mut book, &priced.undisturbed);
        self.place(&mut book);
        let tested = book.slow.as_ref().map(|slow| slow.bound);
        book.bound = tested.or(Some(book.threshold));
        book
    }

    /// Whether the sender had something to send: it then sends a segment for each retransmission timeout at least, and for long enough to
    /// have a rate.
    fn is_transfer(&self, nanos: i64) -> bool {
        let least = f64::from(DEFAULT_MSS) * NANOS_PER_SECOND as f64 / self.times.timeout as f64;
        nanos >= self.times.rate_within && self.usual >= least
    }

    /// Finds the rekeys that lie within the transfer, at least with the begin or the end of their window.
    fn place(&self, book: &mut LedgerBook) {
        let (from, to) = self.input.transfer;
        let is_within = |rekey: &&RekeySpan| {
            let window = rekey.window();
            from <= window.0 && window.0 < to || from < window.1 && window.1 <= to
        };
        let within = self
            .input
            .rekeys
            .iter()
            .filter(is_within)
            .map(|rekey| rekey.rekey);
        let mut rekeys: Vec<usize> = within.filter(|rekey| !book.unobserved.contains(rekey)).collect();
        rekeys.sort_unstable();
        let costs = book.rekeys.iter();
        let costs = costs.filter(|cost| rekeys.binary_search(&cost.rekey).is_ok());
        let nanos = costs.map(|cost| cost.nanos).sum();
        let owning = book.rekeys.iter().map(|cost| cost.rekey);
        book.observed = rekeys.iter().copied().chain(owning).collect();
        book.observed.sort_unstable();
        book.observed.dedup();
        book.transfers = vec![TransferSpan {
            from,
            to,
            bytes: self.arrivals.whole(to) - self.arrivals.whole(from.plus_nanos(-1)),
            rekeys,
            nanos,
        }];
    }

    fn interval(&self, own: &Owned, end: Timestamp, rate: &RateWithout) -> OwnedInterval {
        let span = (own.silence.from, end);
        let bytes = carried(&self.arrivals, span);
        let own_rate = rate_of_its_own(own, span, bytes, rate.both);
        let rate = own_rate.as_ref().unwrap_or(rate);
        let nanos = cost(span, bytes, rate.both);
        let sides = rate.sides.iter().flatten().map(|side| cost(span, bytes, *side));
        let open = own.silence.facts.ended_by.is_none();
        OwnedInterval {
            owner: own.owner,
            why: own.why,
            from: span.0,
            arrived: (!open).then_some(own.silence.to),
            to: end,
            frames: own.silence.facts.frames,
            silence: own.silence.nanos(),
            in_vain: own.silence.facts.in_vain(),
            rate: rate.both,
            nanos,
            range: sides.fold((nanos, nanos), |(low, high), side| {
                (low.min(side), high.max(side))
            }),
            bytes,
            at_least: open && self.input.died || rate.is_guessed,
        }
    }

    /// Tests all rekeys that own nothing together.
    fn slow(&self, book: &mut LedgerBook, undisturbed: &[TimeSpan]) {
        let (from, to) = self.input.transfer;
        let taken = joined(book.intervals.iter().map(|own| (own.from, own.to)).collect());
        let is_free = |rekey: &&RekeySpan| {
            let owns = book.rekeys.iter().any(|own| own.rekey == rekey.rekey);
            !owns && !book.unobserved.contains(&rekey.rekey)
        };
        // The sender's own pauses slow it beside the rekey, too.
        let apart = joined(self.ownership.acquitted.clone());
        // Windows that meet are cut.
        let mut windows: Vec<(usize, TimeSpan)> = Vec::new();
        for rekey in self.input.rekeys.iter().filter(is_free) {
            let (begin, end) = rekey.even_window(self.times.gap);
            let window = (windows.last().map_or(begin, |last| begin.max(last.1.1)), end);
            let is_free = !meets(&taken, window) && !meets(&apart, window);
            if from <= window.0 && window.0 < window.1 && window.1 <= to && is_free {
                windows.push((rekey.rekey, window));
            }
        }
        // Time that the path took beside a rekey is not held against the rekey.
        let timeouts = joined(self.ownership.timeouts.clone());
        let cut = |span: &TimeSpan| without(*span, &timeouts);
        let undisturbed: Vec<TimeSpan> = undisturbed.iter().flat_map(cut).collect();
        let least = LEAST_SHARE * to.nanos_since(from) as f64;
        book.slow = slow(&self.arrivals, &undisturbed, &windows, least);
        let Some(slow) = &book.slow else {
            return;
        };
        for (rekey, nanos) in slow.rekeys.clone() {
            let Some((_, window)) = windows.iter().find(|window| window.0 == rekey) else {
                continue;
            };
            let bytes = carried(&self.arrivals, *window);
            let length = window.1.nanos_since(window.0);
            let rate = bytes as f64 * 1e9 / (length - nanos).max(1) as f64;
            let interval = OwnedInterval {
                owner: Owner::Rekey(rekey),
                why: LedgerWhy::Slow,
                from: window.0,
                arrived: Some(window.0),
                to: window.1,
                frames: (0, 0),
                silence: 0,
                in_vain: 0,
                rate,
                nanos,
                range: (nanos, nanos),
                bytes,
                at_least: false,
            };
            add(&mut book.rekeys, rekey, &interval);
            book.intervals.push(interval);
        }
        book.intervals.sort_by_key(|own| own.from);
        book.rekeys.sort_by_key(|rekey| rekey.rekey);
    }
}

impl LedgerBook {
    /// The sum of this book and that of a later stretch.
    fn and(mut self, later: LedgerBook) -> LedgerBook {
        self.nanos += later.nanos;
        self.bytes += later.bytes;
        self.intervals.extend(later.intervals);
        self.rekeys.extend(later.rekeys);
        self.rekeys.sort_by_key(|rekey| rekey.rekey);
        self.down += later.down;
        self.slow = match (self.slow, later.slow) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        };
        self.unobserved.extend(later.unobserved);
        self.unobserved.sort_unstable();
        self.unobserved.dedup();
        self.observed.extend(later.observed);
        self.observed.sort_unstable();
        self.observed.dedup();
        self.threshold = self.threshold.max(later.threshold);
        self.bound = self.bound.max(later.bound);
        self.transfers.extend(later.transfers);
        self.is_transfer |= later.is_transfer;
        self.undisturbed += later.undisturbed;
        self
    }

    /// Sums up the costs of each owner's intervals. An owner whose sender made up for more than that costs nothing in any of them. A rekey
    /// owns nothing that cost nothing, or less than is said while no silence of it counts.
    fn settle(&mut self) {
        let mut sums: BTreeMap<Owner, i64> = BTreeMap::new();
        let mut longest: BTreeMap<Owner, i64> = BTreeMap::new();
        let mut open: Vec<Owner> = Vec::new();
        for own in &self.intervals {
            *sums.entry(own.owner).or_default() += own.nanos;
            let silence = longest.entry(own.owner).or_default();
            *silence = own.silence.max(*silence);
            open.extend(own.at_least.then_some(own.owner));
        }
        let is_free = |own: &OwnedInterval| {
            let stops = longest
                .get(&own.owner)
                .is_some_and(|silence| *silence >= LEAST_GAP);
            let least = if stops { 1 } else { LEAST_COST };
            let costs = sums.get(&own.owner).is_some_and(|sum| *sum >= least);
            matches!(own.owner, Owner::Rekey(_)) && !costs && !open.contains(&own.owner)
        };
        let free = self.intervals.iter().filter(|own| is_free(own));
        self.threshold = free.map(|own| own.silence).fold(self.threshold, i64::max);
        self.intervals.retain(|own| !is_free(own));
        for own in &mut self.intervals {
            if sums.get(&own.owner).is_some_and(|sum| *sum < 0) {
                (own.nanos, own.range.0, own.range.1) = (0, 0, own.range.1.max(0));
            }
        }
        for own in &self.intervals {
            match own.owner {
                Owner::Rekey(rekey) => add(&mut self.rekeys, rekey, own),
                Owner::Attempt(_) | Owner::DownBefore(_) | Owner::Outage(_) => self.down += own.nanos,
            }
        }
        self.rekeys.sort_by_key(|rekey| rekey.rekey);
    }
}

/// The rate behind a silence in which packets vanished before they had a number, where that is the transfer's and the one around it is not: a
/// sender makes up for what it missed, and one that won more than its silence lasted sends at another rate than around it.
fn rate_of_its_own(own: &Owned, span: TimeSpan, bytes: u64, around: f64) -> Option<RateWithout> {
    let won = -cost(span, bytes, around);
    let behind = rate(bytes as f64, span.1.nanos_since(own.silence.to))?;
    (own.silence.facts.vanished() && won > own.silence.nanos()).then_some(RateWithout {
        both: behind,
        sides: [None, None],
        is_guessed: false,
    })
}

fn add(rekeys: &mut Vec<RekeyCost>, rekey: usize, own: &OwnedInterval) {
    let Some(sum) = rekeys.iter_mut().find(|sum| sum.rekey == rekey) else {
        rekeys.push(RekeyCost {
            rekey,
            nanos: own.nanos,
            range: own.range,
            silence: own.silence,
            in_vain: own.in_vain,
            why: own.why,
            rate: own.rate,
            at_least: own.at_least,
        });
        return;
    };
    if own.silence > sum.silence {
        sum.why = own.why;
    }
    sum.nanos += own.nanos;
    sum.range = (sum.range.0 + own.range.0, sum.range.1 + own.range.1);
    sum.silence = sum.silence.max(own.silence);
    sum.in_vain += own.in_vain;
    sum.at_least |= own.at_least;
}
