//! For which packets a label holds that the rules found for the one before them.

/// A short wait has the label of the wait before while the flight and the rate stay within these bounds, and no acknowledgement changes
/// what is known of the sender beside its flight: most packets do not need the rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Holds {
    /// Flight with the packet, bytes: at least, and less than.
    flight: (u64, u64),
    /// Rate, of C: likewise.
    rate: (f64, f64),
}

impl Holds {
    /// For no packet.
    pub(super) const NEVER: Holds = Holds {
        flight: (0, 0),
        rate: (0.0, 0.0),
    };

    /// For any flight, at this `rate`, as far as none of the `limits` lies between.
    pub(super) fn at(rate: f64, limits: &[f64]) -> Holds {
        let mut bounds = (f64::NEG_INFINITY, f64::INFINITY);
        for &limit in limits {
            if rate < limit {
                bounds.1 = bounds.1.min(limit);
            } else {
                bounds.0 = bounds.0.max(limit);
            }
        }
        Holds {
            flight: (0, u64::MAX),
            rate: bounds,
        }
    }

    /// Nor across this flight, bytes, when it is now `flight`.
    pub(super) fn not_across(&mut self, limit: u64, flight: u64) {
        if flight < limit {
            self.flight.1 = self.flight.1.min(limit);
        } else {
            self.flight.0 = self.flight.0.max(limit);
        }
    }

    /// The same where the larger of the flight and `last` counts.
    pub(super) fn not_across_or_above(&mut self, last: u64, limit: u64, flight: u64) {
        if last < limit {
            self.not_across(limit, flight);
        }
    }

    pub(super) fn include(&self, flight: u64) -> bool {
        self.flight.0 <= flight && flight < self.flight.1
    }

    pub(super) fn include_rate(&self, rate: f64) -> bool {
        self.rate.0 <= rate && rate < self.rate.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn include(holds: &Holds, flight: u64, rate: f64) -> bool {
        holds.include(flight) && holds.include_rate(rate)
    }

    #[test]
    fn a_label_holds_up_to_the_next_limit() {
        let mut holds = Holds::at(0.8, &[0.75, 0.9]);
        assert!(include(&holds, 0, 0.75) && include(&holds, u64::MAX - 1, 0.89));
        assert!(!include(&holds, 0, 0.74) && !include(&holds, 0, 0.9));
        holds.not_across(101, 50);
        holds.not_across(20, 50);
        assert!(include(&holds, 20, 0.8) && include(&holds, 100, 0.8));
        assert!(!include(&holds, 19, 0.8) && !include(&holds, 101, 0.8));
        holds.not_across_or_above(60, 60, 50);
        assert!(include(&holds, 20, 0.8) && include(&holds, 100, 0.8));
        holds.not_across_or_above(59, 60, 50);
        assert!(include(&holds, 59, 0.8) && !include(&holds, 60, 0.8));
        assert!(!include(&Holds::NEVER, 0, 0.0));
    }
}
