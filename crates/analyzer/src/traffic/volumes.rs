//! Volumes: the bytes that an SA had carried at a moment.

use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// Points of each SA. Where they are full, every second one goes: between two of 32 a steady transfer is a line.
const MOST_POINTS: usize = 64;
/// Points lie this far apart at first.
const FIRST_STEP: i64 = 50 * NANOS_PER_MILLI;
/// Most SAs with points, 24 MB; what later ones carried is known at their end only.
const MOST_SAS: usize = 1 << 14;

#[derive(Debug, Default)]
struct VolumeCourse {
    points: Vec<(Timestamp, u64)>,
    /// The number of times at which every second point went.
    thinned: u32,
    /// The next point lies behind this.
    due: Option<Timestamp>,
}

/// The courses of all SAs, by their index.
#[derive(Debug, Default)]
pub(super) struct Volumes(Vec<VolumeCourse>);

impl Volumes {
    /// Takes what an SA had carried with the packet of this moment, bytes.
    #[inline]
    pub(super) fn take(&mut self, sa: SaIndex, time: Timestamp, bytes: u64) {
        if sa >= self.0.len() && sa < MOST_SAS {
            self.0.resize_with(sa + 1, VolumeCourse::default);
        }
        if let Some(course) = self.0.get_mut(sa)
            && course.due.is_none_or(|due| time >= due)
        {
            course.point(time, bytes);
        }
    }

    /// Bytes that an SA had carried at `time`, between points by a line; `last`: its last packet, and all that it carried.
    pub(super) fn at(&self, sa: SaIndex, time: Timestamp, last: (Timestamp, u64)) -> Option<u64> {
        let points = &self.0.get(sa)?.points;
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

impl VolumeCourse {
    #[cold]
    fn point(&mut self, time: Timestamp, bytes: u64) {
        if self.points.len() >= MOST_POINTS {
            let mut index = 0;
            self.points.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.thinned += 1;
        }
        self.points.push((time, bytes));
        self.due = Some(time.plus_nanos(FIRST_STEP << self.thinned.min(20)));
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
            volumes.take(3, at(ms as i64), ms * 1_000);
        }
        let last = (at(99_999), 99_999_000);
        for ms in [0, 10, 777, 50_123, 99_998] {
            let told = volumes.at(3, at(ms), last).unwrap();
            assert!(told.abs_diff(ms as u64 * 1_000) < 2_000, "{ms}: {told}");
        }
        assert!(volumes.0[3].points.len() <= MOST_POINTS);
        assert_eq!(volumes.at(4, at(1), last), None);
    }
}
