//! The ledger of packets that no key reads. A receiver answers what arrives: what is sent while its answers stop did not arrive.

use super::book::{LedgerBook, ledger};
use super::input::{Idle, LEAST_RATE_TIME, LedgerInput, RuleTimes, TimeSpan, divided};
use super::ownership::{Ownership, disturbing, ownership};
use super::silence::{Silence, VainTransmissions, silences};
use super::spans::{joined, meets};
use rekeyscope_model::analysis::LedgerBasis;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{
    INITIAL_RTO, Interval, LEAST_ANSWERED, LEAST_IN_LOOK, LEAST_TIMEOUT, LONGEST_ACK_DELAY, LOOK,
    MOST_PER_ANSWER, TransmissionRun,
};

/// A reverse direction with more than this share of the bytes sends data of its own: acknowledgements with timestamps and SACK (150 bytes
/// of ESP) of every segment of 536 bytes, the smallest that hosts have to take (RFC 9293 §3.7.1), make a fifth.
const TWO_WAY_SHARE: f64 = 0.2;

/// The ledger of packets that no key reads.
#[derive(Debug)]
pub struct SealedBook {
    /// The ledger.
    pub book: LedgerBook,
    /// Basis that shows which bytes arrived.
    pub basis: LedgerBasis,
    /// Data that arrived, by that basis.
    pub arrived: Vec<TransmissionRun>,
}

/// Makes the ledger of one direction of a tunnel that no key reads. `input` has its data as arrived, and nothing in vain; `answers` are
/// packets of the reverse direction that may answer it, and `small` those of its own that are no data; `reverse_bytes` count all that the reverse direction sent, as the data counts its
/// bytes. The round trip is 0 where nobody knows it: then a silence is 50 ms long at least, unless longer ones are usual.
///
/// Answers show which data was in vain: what was sent in a silence of theirs that belongs to a rekey or a failure, and was sent again
/// later. A transfer without answers shows only silences of the data: every cost is "at least", and there is no bound. No acknowledgement
/// is known: no silence is put down to the sender or to the path.
/// Bytes and rates are those of the data as `input` has it: of ESP, its headers among them.
pub fn sealed_ledger(
    input: &LedgerInput<'_>,
    (small, answers): (&[TransmissionRun], &[TransmissionRun]),
    reverse_bytes: u64,
) -> SealedBook {
    let bytes: u64 = input.arrived.iter().map(|run| run.bytes).sum();
    let two_way = reverse_bytes as f64 > TWO_WAY_SHARE * (bytes + reverse_bytes) as f64;
    if two_way || !is_answered(input, answers) {
        return SealedBook {
            book: at_least(ledger(input)),
            basis: LedgerBasis::Packets,
            arrived: input.arrived.to_vec(),
        };
    }
    let idle = idle(input.arrived, small, answers);
    let input = &LedgerInput {
        idle: &idle,
        ..*input
    };
    let stopped = stopped(&LedgerInput {
        arrived: answers,
        ..*input
    });
    let lost = stopped.owned.iter().map(|own| lost(input.arrived, &own.silence));
    let (arrived, in_vain) = unanswered(input.arrived, &joined(lost.collect()));
    let mut book = ledger(&LedgerInput {
        arrived: &arrived,
        in_vain: &in_vain,
        ..*input
    });
    book.threshold = book.threshold.max(stopped.threshold);
    book.bound = Some(book.threshold);
    SealedBook {
        book,
        basis: LedgerBasis::Answers,
        arrived,
    }
}

/// Stretches without data, behind data that was answered as before: answers came up to its last packet, and behind it. Or small packets passed
/// and were answered in them, and no number is missing: the sender probes a closed window, or has nothing to send.
fn idle(
    data: &[TransmissionRun],
    small: &[TransmissionRun],
    answers: &[TransmissionRun],
) -> Vec<Interval<Idle>> {
    let mut found = Vec::new();
    let heard = |from, to| heard_within(answers, (from, to)).is_some_and(|packets| packets > 0);
    for two in data.windows(2) {
        let span = (two[0].to, two[1].from);
        let (stopped, goes_on) = span;
        if goes_on.nanos_since(stopped) <= LEAST_TIMEOUT {
            continue;
        }
        let was_answered = heard(stopped.plus_nanos(-LOOK), stopped)
            && heard(stopped, goes_on.min(stopped.plus_nanos(LONGEST_ACK_DELAY)));
        let open = !two[1].beyond_gap && passes(small, span, heard);
        let idle = |open| Interval {
            from: span.0,
            to: span.1,
            facts: Idle { open },
        };
        found.extend(was_answered.then(|| idle(false)));
        found.extend(open.then(|| idle(true)));
    }
    found
}

/// Whether answered packets divide a stretch into parts of which none is longer than half of it: a timer that doubles comes so often.
fn passes(
    small: &[TransmissionRun],
    (from, to): TimeSpan,
    heard: impl Fn(Timestamp, Timestamp) -> bool,
) -> bool {
    let first = small.partition_point(|run| run.from <= from);
    let own = small.iter().skip(first).take_while(|run| run.from < to);
    let answered = own.filter(|run| heard(run.from, to.min(run.from.plus_nanos(LONGEST_ACK_DELAY))));
    let mut times = vec![from];
    times.extend(answered.map(|run| run.from));
    times.push(to);
    let longest = times.windows(2).map(|two| two[1].nanos_since(two[0])).max();
    longest.is_some_and(|longest| 2 * longest <= to.nanos_since(from))
}

/// Whether the last data of a transfer was answered: it was over, and no tunnel died under it.
pub fn was_over(data: &[TransmissionRun], answers: &[TransmissionRun]) -> bool {
    data.last().is_some_and(|last| {
        let within = (last.to, last.to.plus_nanos(LONGEST_ACK_DELAY));
        heard_within(answers, within).is_some()
    })
}

/// Silences of the answers, and their owners.
fn stopped(answers: &LedgerInput<'_>) -> Ownership {
    let none = VainTransmissions::new(&[]);
    let times = RuleTimes::of(answers.round_trip);
    let each = silences(answers, &none).into_iter();
    let each = each.filter(|silence| !is_of_lost_answers(answers.arrived, silence));
    // The data goes on in silences of its answers.
    let silences: Vec<Silence> = each
        .map(|mut silence| {
            silence.facts.counted = false;
            silence
        })
        .collect();
    ownership(answers, &silences, &none, times)
}

/// Whether answers were sent in the silence and did not reach the capture, which lacks numbers of their SA. The sender sends again when its
/// timer ends, of which the round trip is not known.
fn is_of_lost_answers(answers: &[TransmissionRun], silence: &Silence) -> bool {
    let ending = silence
        .facts
        .ended_by
        .and_then(|ending| answers.get(ending - 1..=ending));
    let same_sa = ending.is_some_and(|runs| runs[0].spi == runs[1].spi);
    silence.facts.beyond_gap && same_sa && silence.nanos() <= INITIAL_RTO
}

/// A book in which every cost may be larger.
fn at_least(mut book: LedgerBook) -> LedgerBook {
    book.intervals.iter_mut().for_each(|own| own.at_least = true);
    book.rekeys.iter_mut().for_each(|own| own.at_least = true);
    book.bound = None;
    book
}

/// The stretch of data that was lost when a silence of the answers is owned. The way of an answer is not known: the stretch begins with the
/// silence of the answers. Data that had stopped before makes it end sooner by as much, so that the longer one of both silences counts.
fn lost(data: &[TransmissionRun], silence: &Silence) -> TimeSpan {
    let (from, to) = silence.span();
    let begun = data.partition_point(|run| run.from <= from);
    let last = begun.checked_sub(1).and_then(|k| data.get(k));
    let last = last.filter(|_| silence.facts.ended_by.is_some());
    let stopped = last.map_or(0, |run| from.nanos_since(run.to).max(0));
    (from, to.plus_nanos(-stopped).max(from))
}

/// Data that arrived, and data that was sent in stretches in which nothing did, which are joined.
fn unanswered(data: &[TransmissionRun], lost: &[TimeSpan]) -> (Vec<TransmissionRun>, Vec<TransmissionRun>) {
    let (mut arrived, mut in_vain) = (Vec::with_capacity(data.len()), Vec::new());
    for run in data {
        let first = lost.partition_point(|span| span.1 < run.from);
        let mut rest = Some(*run);
        for (from, to) in lost.iter().skip(first).take_while(|span| span.0 < run.to) {
            let Some(run) = rest else { break };
            let [before, behind] = divided(&run, *from);
            arrived.extend(before);
            let [within, behind] = behind.map_or([None, None], |run| divided(&run, *to));
            in_vain.extend(within.map(|run| TransmissionRun { bytes: 0, ..run }));
            rest = behind;
        }
        arrived.extend(rest);
    }
    (arrived, in_vain)
}

/// Whether the data is answered where no rekey and no failure disturbs it.
fn is_answered(input: &LedgerInput<'_>, answers: &[TransmissionRun]) -> bool {
    let apart = input.rests.iter().chain(input.holes).copied();
    let apart = joined(disturbing(input).chain(apart).collect());
    let (mut looks, mut answered, mut sent, mut heard) = (0_u32, 0_u32, 0_u64, 0_u64);
    let mut data = input.arrived.iter().peekable();
    while let Some(first) = data.next() {
        // A long capture may have runs that are longer than a piece.
        let to = first.to.max(first.from.plus_nanos(LOOK));
        let mut packets = u64::from(first.packets);
        while let Some(run) = data.next_if(|run| run.from < to) {
            packets += u64::from(run.packets);
        }
        if packets < u64::from(LEAST_IN_LOOK) || meets(&apart, (first.from, to)) {
            continue;
        }
        let own = heard_within(answers, (first.from, to));
        looks += 1;
        answered += u32::from(own.is_some());
        sent += packets;
        heard += own.unwrap_or(0);
    }
    let steady = u64::from(answered) * 100 >= u64::from(looks) * LEAST_ANSWERED;
    i64::from(looks) * LOOK >= LEAST_RATE_TIME && steady && heard * MOST_PER_ANSWER >= sent
}

/// Packets of the runs that begin within a stretch, and none of one that reaches into it; `None` where nothing came back in it.
fn heard_within(answers: &[TransmissionRun], (from, to): TimeSpan) -> Option<u64> {
    let first = answers.partition_point(|run| run.to < from);
    let own = answers.iter().skip(first).take_while(|run| run.from < to);
    let count = |run: &TransmissionRun| u64::from(run.packets) * u64::from(from <= run.from);
    own.map(count).reduce(|sum, count| sum + count)
}

#[cfg(test)]
mod tests;
