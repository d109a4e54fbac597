//! Full-sized packets that come alone, each after twice the time of the one before: a sender's retransmission timer (RFC 6298 §5.5). They
//! carry one segment that nobody acknowledges. The times show it without keys, and though small packets pass.

use super::candidate::{Before, Candidate, Delivered, InVain, MOST_COPIES};
use crate::interval::LostPacket;
use crate::tcp::{LEAST_TIMEOUT, LONGEST_ACK_DELAY, doubled_timer};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;

/// Doublings in a row that are no chance: a time within an eighth of the double is one of eight at most, three of them one of five hundred.
const LEAST_DOUBLINGS: usize = 3;

/// Number of times that are as far behind the one before as the shortest timer takes, and the first.
pub(super) fn count_apart(times: impl Iterator<Item = Timestamp>) -> u32 {
    let mut before = None;
    let apart = times.filter(|time| {
        let last = before.replace(*time);
        last.is_none_or(|last| time.nanos_since(last) >= LEAST_TIMEOUT)
    });
    u32::try_from(apart.count()).unwrap_or(u32::MAX)
}

/// Whether some times in a row are those of one timer that doubles.
pub(super) fn are_doubled(times: impl Iterator<Item = Timestamp>) -> bool {
    let times: Vec<Timestamp> = times.collect();
    let waits: Vec<i64> = times.windows(2).map(|two| two[1].nanos_since(two[0])).collect();
    let doubles = |two: &[i64]| two[0] >= LEAST_TIMEOUT && doubled_timer(two[0]).contains(&two[1]);
    let mut longest = 0;
    let mut run = 0;
    for two in waits.windows(2) {
        run = if doubles(two) { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest >= LEAST_DOUBLINGS
}

/// Tells whether packets that are missing at some times are an answer and its copies: the first are missing at the begin of the wait, before a
/// timer has doubled three times, and hardly any are left for its second half, in which chance would lose as many as in the first.
pub(super) fn are_of_an_answer(
    times: impl Iterator<Item = Timestamp>,
    (from, to): (Timestamp, Timestamp),
) -> bool {
    let times: Vec<Timestamp> = times.collect();
    let part = |of: i64| from.plus_nanos(to.nanos_since(from) / of);
    let early = times.iter().filter(|time| **time < part(2)).count();
    let begin = part(1 << LEAST_NOT_BY_CHANCE);
    times.first().is_some_and(|first| *first <= begin)
        && early as u64 >= LEAST_NOT_BY_CHANCE
        && 2 * (times.len() - early) <= early
}

/// Small packets that pass both ways while large ones do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SmallPassed {
    /// Number of them that had an answer.
    pub(super) answered: u32,
    /// Bytes of the largest of them.
    pub(super) largest: u32,
    /// Their sender had sent the same bytes in larger packets before.
    pub(super) cut: bool,
    /// Bytes of the largest packet that passed afterwards.
    pub(super) larger_since: u32,
}

/// A full-sized packet that came alone.
#[derive(Debug, Clone, Copy)]
struct Lone {
    packet: LostPacket,
    /// The other side's last packet before it.
    before: Option<Delivered>,
    busy: bool,
    /// The other side had been silent for longer than it delays an answer.
    in_silence: bool,
    /// Nanoseconds until the other side sent a packet soon behind it, with no small one between that might have asked for it.
    answered: Option<i64>,
    /// The small packets that passed before it: later ones may have passed because the way was open again.
    passed: SmallPassed,
}

/// The last full-sized packets of one sender that came alone.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    /// Packets of the series: each later one comes after twice the time of the one before.
    series: Vec<Lone>,
    asked: Option<(Timestamp, u32)>,
    /// The last two small packets that had an answer.
    asked_before: [Option<Timestamp>; 2],
    /// Time of the other side's last packet.
    heard: Option<Timestamp>,
    small: SmallPassed,
}

impl Backoff {
    /// A full-sized packet. Gives the stretch that it ends: its series is over, so the last one of it was acknowledged.
    pub(super) fn full(
        &mut self,
        packet: LostPacket,
        before: Option<Delivered>,
        busy: bool,
    ) -> Option<(Candidate, SmallPassed)> {
        let gap = |from: &Lone, to: Timestamp| to.nanos_since(from.packet.time);
        let goes_on = match self.series[..] {
            [] => true,
            [one] => gap(&one, packet.time) >= LEAST_TIMEOUT,
            [.., first, second] => {
                let doubled = doubled_timer(gap(&first, second.packet.time));
                doubled.contains(&gap(&second, packet.time)) && self.series.len() < MOST_COPIES
            }
        };
        let lone = Lone {
            packet,
            before,
            busy,
            in_silence: self
                .heard
                .is_none_or(|heard| packet.time.nanos_since(heard) > LONGEST_ACK_DELAY),
            answered: None,
            passed: self.small,
        };
        if goes_on {
            self.series.push(lone);
            return None;
        }
        let ended = self.ended();
        let over = self.series.pop();
        self.small = SmallPassed::default();
        self.asked_before = [None; 2];
        self.series.clear();
        self.series
            .extend(over.filter(|over| gap(over, packet.time) >= LEAST_TIMEOUT));
        let passed = SmallPassed::default();
        self.series.push(Lone { passed, ..lone });
        ended
    }

    /// A smaller packet of the sender.
    pub(super) fn small(&mut self, time: Timestamp, bytes: u32) {
        // A packet that comes sooner than any timer behind one of the other side answers it, and asks for nothing.
        let answers = self
            .heard
            .is_some_and(|heard| time.nanos_since(heard) < LEAST_TIMEOUT);
        self.asked = (!answers).then_some((time, bytes));
    }

    /// A packet of the other side.
    pub(super) fn answer(&mut self, time: Timestamp) {
        let asked = self.asked.take();
        self.heard = Some(time);
        if let Some(last) = self.series.last_mut().filter(|_| asked.is_none()) {
            let after = time.nanos_since(last.packet.time);
            last.answered = last.answered.or((after <= LONGEST_ACK_DELAY).then_some(after));
        }
        if let Some((asked, bytes)) = asked
            && self.series.len() > 1
            && time.nanos_since(asked) <= LONGEST_ACK_DELAY
        {
            let [first, second] = self.asked_before;
            self.asked_before = [second, Some(asked)];
            // A request for a connection that comes again by its timer was answered in vain.
            let by_timer = first.zip(second).is_none_or(|(first, second)| {
                doubled_timer(second.nanos_since(first)).contains(&asked.nanos_since(second))
            });
            if !by_timer {
                self.small.answered = self.small.answered.saturating_add(1);
                self.small.largest = self.small.largest.max(bytes);
            }
        }
    }

    /// The stretch up to the last packet of the series, which was acknowledged.
    fn ended(&self) -> Option<(Candidate, SmallPassed)> {
        let (last, before) = self.series.split_last()?;
        let LostPacket { time, frame, esp, .. } = last.packet;
        let at = Delivered::new(time, frame, esp);
        (before.len() > LEAST_DOUBLINGS).then(|| stretch(before, at))?
    }

    /// The same where no later packet ends the series: the last one broke a silence of the other side, and no other one was answered.
    pub(super) fn answered(&self) -> Option<(Candidate, SmallPassed)> {
        let (last, before) = self.series.split_last()?;
        let only_last =
            last.answered.is_some() && last.in_silence && before.iter().all(|lone| lone.answered.is_none());
        only_last.then(|| self.ended())?
    }

    /// The stretch that has not ended. A sender whose next time has passed gave up: what the other side sends since then shows that the way
    /// is open.
    pub(super) fn open(&self, end: Timestamp) -> Option<(Candidate, SmallPassed)> {
        let gave_up = match self.series[..] {
            [.., first, last] => {
                let (sent, timer) = (last.packet.time, last.packet.time.nanos_since(first.packet.time));
                let due = sent.plus_nanos(*doubled_timer(timer).end());
                end > due && self.heard.is_some_and(|heard| heard > sent)
            }
            _ => true,
        };
        let open = self.series.len() > LEAST_DOUBLINGS + 1 && !gave_up;
        open.then(|| stretch(&self.series, Delivered::nothing(end)))?
    }
}

/// Number of full-sized packets of a series that came, as answers behind the same time each show: their sender heard none of these.
fn unheard(series: &[Lone]) -> u32 {
    let after: Vec<i64> = series.iter().filter_map(|lone| lone.answered).collect();
    let (least, most) = (after.iter().min(), after.iter().max());
    let alike = least
        .zip(most)
        .is_some_and(|(least, most)| 8 * (most - least) <= *most);
    let known = alike && after.len() as u64 >= LEAST_NOT_BY_CHANCE;
    if known {
        u32::try_from(after.len()).unwrap_or(u32::MAX)
    } else {
        0
    }
}

/// The time from the other side's last packet before a series to the first that arrived.
fn stretch(series: &[Lone], to: Delivered) -> Option<(Candidate, SmallPassed)> {
    let first = series.first().filter(|first| first.busy)?;
    let second = series.get(1)?;
    let unheard = unheard(series);
    let mut in_vain = InVain::default();
    for lone in series {
        in_vain.push(lone.packet, unheard);
    }
    let passed = match unheard {
        0 => series.last()?.passed,
        _ => SmallPassed::default(),
    };
    let before = Before {
        rto: second.packet.time.nanos_since(first.packet.time),
        busy: true,
        ..Before::default()
    };
    Some((Candidate::new((first.before?, to), before, in_vain), passed))
}
