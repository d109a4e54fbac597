//! Knowledge of a tunnel beside the packets of its connections.

use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// Nothing was renewed any more.
#[derive(Debug, Clone, Copy)]
pub struct Death {
    /// The first request in vain after the last renewal, or the begin of the outage that the capture leaves open.
    pub from: Timestamp,
    /// The last request.
    pub last_asked: Timestamp,
    /// End of the capture.
    pub ends: Timestamp,
}

impl Death {
    /// Requests and outages end the last data where they come within this of it.
    const NEAR: i64 = 10 * NANOS_PER_SECOND;

    /// Tells whether the death ended data that lasted until `last`.
    pub(crate) fn ended(&self, last: i64) -> bool {
        self.from.0 <= last + Death::NEAR && self.last_asked.0 >= last - Death::NEAR && self.ends.0 > last
    }
}

/// Events around one direction of a tunnel. All lists are in order of time.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Stretches that the capture lacks, or in which its clock was set.
    pub holes: Vec<(Timestamp, Timestamp)>,
    /// Times at which an end came to another address: the path is another one from then on.
    pub moves: Vec<Timestamp>,
    /// Rests between transfers: they are in no account.
    pub rests: Vec<(Timestamp, Timestamp)>,
    /// How the tunnel died, if it did.
    pub died: Option<Death>,
    /// The first SA is older than the capture: what took something before this request may have been asked for earlier.
    pub first_asked: Option<Timestamp>,
    /// Likewise, and up to here nothing was delivered since the capture began.
    pub first_delivered: Option<Timestamp>,
    /// From here on nothing is delivered, up to the end of the capture, and nothing in it says whether that is for good.
    pub left_open: Option<Timestamp>,
}

/// Settings of an account.
#[derive(Debug, Clone, Copy, Default)]
pub struct AccountSettings {
    /// The rate to compare with, bit/s.
    pub reference_bps: Option<f64>,
}

impl AccountSettings {
    /// In bytes/s.
    pub(crate) fn reference(&self) -> Option<f64> {
        self.reference_bps.map(|bps| bps / 8.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::at;

    #[test]
    fn a_tunnel_that_dies_near_the_last_data_ended_it() {
        let ended = |from: i64, last_asked: i64, ends: i64, last: i64| {
            let moment = |ms| Timestamp(at(ms));
            let death = Death {
                from: moment(from),
                last_asked: moment(last_asked),
                ends: moment(ends),
            };
            death.ended(at(last))
        };
        assert!(ended(50_000, 60_000, 90_000, 40_000));
        assert!(!ended(50_001, 60_000, 90_000, 40_000), "too late");
        assert!(ended(50_000, 60_000, 90_000, 70_000));
        assert!(
            !ended(50_000, 60_000, 90_000, 70_001),
            "sent long after the last request"
        );
        assert!(!ended(50_000, 60_000, 65_000, 65_000), "nothing follows");
    }

    #[test]
    fn a_reference_is_told_in_bits() {
        let settings = AccountSettings {
            reference_bps: Some(800.0),
        };
        assert_eq!(settings.reference(), Some(100.0));
    }
}
