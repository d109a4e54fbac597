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
