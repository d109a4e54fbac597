//! Stretches of the file between steps of the clock, by the frames' own times: where a part comes again (the file was
//! appended to itself), its steps are known.

use rekeyscope_model::time::Timestamp;

/// Jumps that are described one by one, and stretches between them that are remembered. Parts of later ones that come again keep the
/// offset of the last.
pub(super) const MOST_JUMPS: usize = 32;

/// Frames between two steps.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// Time of the first one.
    begins: Timestamp,
    /// Their earliest and latest time.
    from: Timestamp,
    to: Timestamp,
    offset: i64,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Stretches {
    known: Vec<Stretch>,
    current: usize,
}

impl Stretches {
    /// The next frame.
    #[inline]
    pub(super) fn go_on(&mut self, time: Timestamp) {
        if let Some(stretch) = self.known.get_mut(self.current) {
            stretch.from = stretch.from.min(time);
            stretch.to = stretch.to.max(time);
        } else if self.known.is_empty() {
            self.begin(time, 0);
        }
    }

    /// The clock was set before this frame.
    pub(super) fn begin(&mut self, time: Timestamp, offset: i64) {
        self.current = self.known.len();
        if self.known.len() < MOST_JUMPS {
            self.known.push(Stretch {
                begins: time,
                from: time,
                to: time,
                offset,
            });
        }
    }

    /// A frame of a part that was read before: what was added to its times then.
    pub(super) fn go_back(&mut self, time: Timestamp) -> Option<i64> {
        // A step back makes stretches overlap.
        let begun = self.known.iter().position(|s| s.begins == time);
        let within = |s: &Stretch| (s.from..=s.to).contains(&time);
        self.current = begun.or_else(|| self.known.iter().position(within))?;
        Some(self.known[self.current].offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_comes_again_has_its_offset() {
        let mut stretches = Stretches::default();
        (0..100).for_each(|t| stretches.go_on(Timestamp(t)));
        stretches.begin(Timestamp(5_000), -4_900);
        (5_000..5_100).for_each(|t| stretches.go_on(Timestamp(t)));
        assert_eq!(stretches.go_back(Timestamp(3)), Some(0));
        stretches.go_on(Timestamp(4));
        assert_eq!(stretches.go_back(Timestamp(5_003)), Some(-4_900));
        assert_eq!(stretches.go_back(Timestamp(777)), None, "nothing was there");
        stretches.begin(Timestamp(5_050), -4_850);
        stretches.go_on(Timestamp(5_060));
        assert_eq!(
            stretches.go_back(Timestamp(5_050)),
            Some(-4_850),
            "where it stepped"
        );
        assert_eq!(
            stretches.go_back(Timestamp(5_051)),
            Some(-4_900),
            "the first of both"
        );
    }

    #[test]
    fn stretches_are_bounded() {
        let mut stretches = Stretches::default();
        for n in 0..100 {
            stretches.begin(Timestamp(n * 10), n);
            stretches.go_on(Timestamp(n * 10 + 5));
        }
        assert_eq!(stretches.known.len(), MOST_JUMPS);
        assert_eq!(stretches.go_back(Timestamp(105)), Some(10));
    }
}
