//! The packets right around a rekey, kept for a plot of sequence numbers over time (a Stevens graph: W. R. Stevens, TCP/IP
//! Illustrated, vol. 1, §20). They are picked while the packets of the rekey's window are still in memory, and thinned at once.

mod points;
mod thin;

use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::recorder::Subject;
use crate::diagnosis::scene::RekeyScene;
pub(crate) use points::CloseUpPoint;

use foldhash::HashMap;
use points::{esp_points, tcp_points};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::ConnectionId;
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// Most rekeys of a capture that have one, about 30 kB each: those around which new data paused for longest, of equal ones the
/// earliest.
pub(crate) const MOST_CLOSE_UPS: usize = 24;
/// Packets of the data that stay beside the marked ones: twice as many as a plot tells apart.
const MOST_DATA: usize = 400;
/// As many answers stay beside the marked ones.
const MOST_ANSWERS: usize = 200;
/// The stretch before the first message, and behind the switch, that a close-up shows.
const AROUND: i64 = 1_500 * NANOS_PER_MILLI;
/// At most so much in all, up to the end.
const LONGEST: i64 = 10 * NANOS_PER_SECOND;

/// The packets of one rekey, in internal directions.
#[derive(Debug)]
pub(crate) struct CloseUpRecord {
    /// Direction of the data, as a position in a pair.
    pub(crate) slot: usize,
    /// The connection whose bytes the values count; `None` where they count ESP packets.
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    /// In order of time, likewise the answers.
    pub(crate) data: Vec<CloseUpPoint>,
    pub(crate) answers: Vec<CloseUpPoint>,
    pub(crate) left_out: u64,
}

impl CloseUpRecord {
    fn of(scene: &RekeyScene<'_>) -> CloseUpRecord {
        let switched = scene.data_switch();
        let first_switch = scene.lanes.iter().filter_map(|lane| lane.switched).min();
        let began = scene.first_message.or(first_switch).unwrap_or(switched);
        let to = switched.max(began).plus_nanos(AROUND);
        let from = began.plus_nanos(-AROUND).max(to.plus_nanos(-LONGEST));
        let span = from..=to;
        let connection = busiest(scene, &span);
        let [data, answers] = match connection {
            Some(connection) => tcp_points(scene, connection, span),
            None => esp_points(scene, span),
        };
        let ends = |d: usize| [scene.lanes[d].old, scene.lanes[d].new];
        let (data, data_left_out) = thin::thinned(data, MOST_DATA, ends(scene.data));
        let (answers, answers_left_out) = thin::thinned(answers, MOST_ANSWERS, ends(1 - scene.data));
        CloseUpRecord {
            slot: scene.data,
            connection,
            from,
            to,
            data,
            answers,
            left_out: data_left_out + answers_left_out,
        }
    }
}

/// The TCP connection that carries most in the direction of the data, where TCP carries at least half of what is seen of it.
fn busiest(scene: &RekeyScene<'_>, span: &RangeInclusive<Timestamp>) -> Option<ConnectionId> {
    let seen = scene.lane_packets(scene.data).filter(|p| span.contains(&p.time));
    let (all, tcp) = seen.fold((0, 0), |(all, tcp), p| {
        let payload = u64::from(p.payload);
        (all + payload, tcp + if p.tcp { payload } else { 0 })
    });
    let mut of_each: HashMap<ConnectionId, u64> = HashMap::default();
    for p in scene.lane_packets(scene.data).filter(|p| p.tcp) {
        *of_each.entry(p.connection).or_default() += u64::from(p.payload);
    }
    let (id, bytes) = of_each
        .into_iter()
        .max_by_key(|(id, bytes)| (*bytes, Reverse(*id)))?;
    (bytes > 0 && tcp > 0 && 2 * tcp >= all).then_some(id)
}

/// The close-ups of the rekeys whose windows closed: at most [`MOST_CLOSE_UPS`].
#[derive(Debug, Default)]
pub(crate) struct CloseUps {
    /// Close-ups, with the pause of each: the longest first.
    kept: Vec<(i64, Subject, CloseUpRecord)>,
}

impl CloseUps {
    /// Keeps that of a rekey, unless there is no room for it: the one with the shortest pause gives way, of equal ones the latest.
    pub(crate) fn take(&mut self, subject: Subject, scene: &RekeyScene<'_>) {
        let pause = longest_pause(scene);
        let shortest = self.kept.last().map_or(0, |kept| kept.0);
        if self.kept.len() < MOST_CLOSE_UPS || shortest < pause {
            self.keep(pause, subject, CloseUpRecord::of(scene));
        }
    }

    fn keep(&mut self, pause: i64, subject: Subject, record: CloseUpRecord) {
        let place = self.kept.partition_point(|kept| kept.0 >= pause);
        self.kept.insert(place, (pause, subject, record));
        self.kept.truncate(MOST_CLOSE_UPS);
    }

    /// The close-up of a rekey.
    pub(crate) fn of(&self, subject: Subject) -> Option<&CloseUpRecord> {
        self.kept.iter().find(|k| k.1 == subject).map(|k| &k.2)
    }
}

/// Longest pause in new data between the start of the rekey and the end of recovery, nanoseconds; in packets where nothing can be read.
fn longest_pause(scene: &RekeyScene<'_>) -> i64 {
    let goes_on = |p: &&&PacketRecord| p.slot() == scene.data && (!p.opened || p.new > 0);
    let (earlier, later) = scene
        .packets
        .split_at(scene.packets.partition_point(|p| p.time < scene.started));
    let mut last = earlier.iter().rev().find(goes_on).map(|p| p.time);
    let mut longest = 0;
    for p in later.iter().filter(goes_on) {
        longest = longest.max(last.map_or(0, |last| p.time.nanos_since(last)));
        last = Some(p.time);
        if p.time > scene.zone_end {
            break;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> CloseUpRecord {
        CloseUpRecord {
            slot: 0,
            connection: None,
            from: Timestamp(0),
            to: Timestamp(1),
            data: Vec::new(),
            answers: Vec::new(),
            left_out: 0,
        }
    }

    #[test]
    fn the_longest_pauses_stay_and_of_equal_ones_the_first() {
        let mut all = CloseUps::default();
        for k in 0..MOST_CLOSE_UPS + 6 {
            let pause = if k >= MOST_CLOSE_UPS { 9 } else { 5 };
            all.keep(pause, Subject::Sa(k), record());
        }
        let kept: Vec<usize> = (0..MOST_CLOSE_UPS + 6)
            .filter(|k| all.of(Subject::Sa(*k)).is_some())
            .collect();
        let expected: Vec<usize> = (0..MOST_CLOSE_UPS - 6)
            .chain(MOST_CLOSE_UPS..MOST_CLOSE_UPS + 6)
            .collect();
        assert_eq!(kept, expected);
    }
}
