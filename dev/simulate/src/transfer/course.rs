//! Transmissions and their fate.

/// A transmission of a segment, as a capture at the sender's end of the path sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmission {
    /// Time at the capture, nanoseconds.
    pub time: i64,
    /// Number of the segment.
    pub segment: u64,
    /// True where the receiver had not had the segment before.
    pub arrived: bool,
    /// True where the receiver had the segment already.
    pub superfluous: bool,
    /// Time of the acknowledgement of the segment.
    pub acknowledged: Option<i64>,
    /// Time since which the receiver has lacked the segment.
    pub lacking_since: i64,
    /// True where the segment lies beyond one that the capture had not shown.
    pub beyond_gap: bool,
}

/// The transmissions of a transfer, in order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Course {
    /// The transmissions.
    pub sent: Vec<Transmission>,
}

impl Course {
    /// Times at which segments arrived, in order.
    pub fn arrivals(&self) -> Vec<i64> {
        let arrived = self.sent.iter().filter(|one| one.arrived);
        arrived.map(|one| one.time).collect()
    }

    /// Slows the transfer from each of `from` on: `stretch` nanoseconds take `slower` more, and later transmissions come so much later.
    pub fn slowed(&mut self, from: &[i64], stretch: i64, slower: i64) {
        let later = |time: i64| {
            let share = |begin: &i64| (time - begin).clamp(0, stretch) as f64 / stretch as f64;
            let shares: f64 = from.iter().map(share).sum();
            time + (shares * slower as f64).round() as i64
        };
        for one in &mut self.sent {
            one.time = later(one.time);
            one.lacking_since = later(one.lacking_since);
            one.acknowledged = one.acknowledged.map(later);
        }
    }
}
