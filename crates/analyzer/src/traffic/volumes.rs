//! Volumes: the bytes that an SA had carried at a moment.

use foldhash::HashMap;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// Points of each SA. Where they are full, every second one goes: between two of 32 a steady transfer is a line.
const MOST_POINTS: usize = 64;
/// Points lie this far apart at first.
const FIRST_STEP: i64 = 50 * NANOS_PER_MILLI;
/// Most SAs with points, 24 MB; what later ones carried is known at their end only.
const MOST_SAS: usize = 1 << 14;

#[derive(Debug)]
struct VolumeCourse {
    points: Vec<(Timestamp, u64)>,
    step: i64,
}

/// The courses of all SAs.
#[derive(Debug, Default)]
pub(super) struct Volumes {
    courses: HashMap<SaIndex, VolumeCourse>,
    /// The next point of the SA of the last packet in each direction: most packets make none.
    next: [Option<(SaIndex, Timestamp)>; 2],
}

impl Volumes {
    /// Takes what an SA had carried with the packet of this moment, bytes.
    #[inline]
    pub(super) fn take(&mut self, slot: usize, sa: SaIndex, time: Timestamp, bytes: u64) {
        if self.next[slot].is_some_and(|(own, next)| own == sa && time < next) {
            return;
        }
        self.point(slot, sa, time, bytes);
    }

    #[cold]
    fn point(&mut self, slot: usize, sa: SaIndex, time: Timestamp, bytes: u64) {
        if self.courses.len() >= MOST_SAS && !self.courses.contains_key(&sa) {
            return;
        }
        let course = self.courses.entry(sa).or_insert_with(|| VolumeCourse {
            points: Vec::new(),
            step: FIRST_STEP,
        });
        let due = |course: &VolumeCourse| course.points.last().map(|(last, _)| last.plus_nanos(course.step));
        if due(course).is_none_or(|due| time >= due) {
            if course.points.len() >= MOST_POINTS {
                let mut index = 0;
                course.points.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                course.step *= 2;
            }
            course.points.push((time, bytes));
        }
        self.next[slot] = due(course).map(|due| (sa, due));
    }

    /// Bytes that an SA had carried at `time`, between points by a line; `last`: its last packet, and all that it carried.
    pub(super) fn at(&self, sa: SaIndex, time: Timestamp, last: (Timestamp, u64)) -> Option<u64> {
        let points = &self.courses.get(&sa)?.points;
        let behind = points.partition_point(|(point, _)| *point <= time);
        let (from, low) = *points.get(behind.checked_sub(1)?)?;
        let (to, high) = points.get(behind).copied().unwrap_or(last);
        let whole = to.nanos_since(from);
        if whole <= 0 || time >= to {
            return Some(if time >= to { high } else { low });
        }
        let part = time.nanos_since(from) as f64 / whole as f64;
        Some(low + (part * high.saturating_sub(low) as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_transfer_is_a_line_however_long_it_is() {
        let mut volumes = Volumes::default();
        let at = |ms: i64| Timestamp(ms * NANOS_PER_MILLI);
        for ms in 0..100_000_u64 {
            volumes.take(0, 3, at(ms as i64), ms * 1_000);
        }
        let last = (at(99_999), 99_999_000);
        for ms in [0, 10, 777, 50_123, 99_998] {
            let told = volumes.at(3, at(ms), last).unwrap();
            assert!(told.abs_diff(ms as u64 * 1_000) < 2_000, "{ms}: {told}");
        }
        assert!(volumes.courses[&3].points.len() <= MOST_POINTS);
        assert_eq!(volumes.at(4, at(1), last), None);
    }
}
