//! What is known of a tunnel beside the packets of its connections.

use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};

/// A silence that began before the exchange by more than this, or three round trips: the tunnel was down before anybody asked.
pub(crate) const DOWN_BEFORE: i64 = NANOS_PER_SECOND / 2;
/// An outage may begin before the exchange's first captured message: what was lost right before it is the rekey's.
const BEFORE: i64 = 20 * NANOS_PER_MILLI;
/// After the switch: packets that came too early for the new SA are sent again after a retransmission timeout.
pub(crate) const BEHIND: i64 = 250 * NANOS_PER_MILLI;

/// A renewal that succeeded, in one direction.
#[derive(Debug, Clone, Copy)]
pub struct RekeyWindow {
    /// First message of the exchange.
    pub asked: Timestamp,
    /// First packet of the new SA.
    pub switched: Timestamp,
    /// Names the new SA.
    pub new_sa: u32,
}

impl RekeyWindow {
    /// A stretch lies in it, at least in part.
    pub(crate) fn touches(&self, from: i64, to: i64) -> bool {
        from <= self.switched.0 + BEHIND && to >= self.asked.0 - BEFORE
    }
}

/// A time in which no SA carried anything.
#[derive(Debug, Clone, Copy)]
pub struct DownSpan {
    /// Its begin.
    pub from: Timestamp,
    /// Its end.
    pub to: Timestamp,
    /// A renewal that succeeded ended it: it counts as its rekey.
    pub rekey: bool,
}

impl DownSpan {
    /// They have time in common.
    pub fn touches(&self, other: &DownSpan) -> bool {
        self.from < other.to && other.from < self.to
    }
}

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
    /// It came within this of the last data.
    const NEAR: i64 = 10 * NANOS_PER_SECOND;

    /// It ended what was sent until then.
    pub(crate) fn ended(&self, last: i64) -> bool {
        self.from.0 <= last + Death::NEAR && self.last_asked.0 >= last - Death::NEAR && self.ends.0 > last
    }
}

/// What happened around one direction of a tunnel. All lists in order of time.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Renewals, of both directions.
    pub rekeys: Vec<RekeyWindow>,
    /// From a request that came to nothing to the next new SA.
    pub failed: Vec<(Timestamp, Timestamp)>,
    /// Outages that packets prove.
    pub down: Vec<DownSpan>,
    /// Stretches that the capture lacks, or in which its clock was set.
    pub holes: Vec<(Timestamp, Timestamp)>,
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

/// Of spans that begin one after the other, so many of the last begun may still go on.
const OVERLAPPING: usize = 8;

/// Those of a list in order of time that had begun and may not be over.
fn last_begun<T>(list: &[T], begun: impl Fn(&T) -> bool) -> &[T] {
    let count = list.partition_point(begun);
    &list[count.saturating_sub(OVERLAPPING)..count]
}

impl Surroundings {
    /// Renewals whose windows a stretch touches.
    pub(crate) fn rekeys_in(&self, from: i64, to: i64) -> impl Iterator<Item = &RekeyWindow> {
        let begun = last_begun(&self.rekeys, |w| to >= w.asked.0 - BEFORE);
        begun.iter().filter(move |w| w.touches(from, to))
    }

    /// The label of an outage that a stretch touches.
    pub(crate) fn down_in(&self, from: i64, to: i64) -> Option<AccountLabel> {
        let begun = last_begun(&self.down, |d| to > d.from.0);
        let down = begun.iter().find(|d| from < d.to.0)?;
        Some(if down.rekey {
            AccountLabel::Rekey
        } else {
            AccountLabel::TunnelDown
        })
    }
}

/// What an account is asked for.
#[derive(Debug, Clone, Copy)]
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

/// A stretch touches one of `spans`.
pub(crate) fn touched(spans: &[(Timestamp, Timestamp)], from: i64, to: i64) -> bool {
    last_begun(spans, |s| to > s.0.0).iter().any(|s| from < s.1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{at, span};

    fn window(asked: i64, switched: i64) -> RekeyWindow {
        let (asked, switched) = span(asked, switched);
        RekeyWindow {
            asked,
            switched,
            new_sa: 0,
        }
    }

    #[test]
    fn a_rekey_is_touched_from_right_before_its_request_to_a_timeout_behind_its_switch() {
        let around = Surroundings {
            rekeys: vec![window(1_000, 1_100)],
            ..Surroundings::default()
        };
        let touched = |from, to| around.rekeys_in(at(from), at(to)).count();
        assert_eq!((touched(0, 979), touched(0, 980)), (0, 1));
        assert_eq!((touched(1_350, 9_000), touched(1_351, 9_000)), (1, 0));
        assert_eq!(touched(1_000, 1_010), 1);
    }

    /// Of what has begun the last eight are asked: longer ago nothing goes on.
    #[test]
    fn eight_spans_may_overlap() {
        let spans = |n: i64| -> Vec<_> { (0..n).map(|k| span(k, if k == 0 { 1_000 } else { 20 })).collect() };
        assert!(touched(&spans(8), at(500), at(501)));
        assert!(!touched(&spans(9), at(500), at(501)));
    }

    #[test]
    fn a_stretch_touches_a_span_by_more_than_an_edge() {
        let touches = |from, to| touched(&[span(100, 200)], at(from), at(to));
        assert!(!touches(0, 100) && touches(0, 101));
        assert!(touches(199, 300) && !touches(200, 300));
    }

    #[test]
    fn an_outage_that_a_renewal_ended_is_its_rekeys() {
        let down = |rekey| {
            let (from, to) = span(100, 200);
            let around = Surroundings {
                down: vec![DownSpan { from, to, rekey }],
                ..Surroundings::default()
            };
            [(0, 100), (0, 101), (199, 300), (200, 300)].map(|(from, to)| around.down_in(at(from), at(to)))
        };
        let (rekey, down_for_good) = (Some(AccountLabel::Rekey), Some(AccountLabel::TunnelDown));
        assert_eq!(down(true), [None, rekey, rekey, None]);
        assert_eq!(down(false), [None, down_for_good, down_for_good, None]);
    }

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
