//! A time without delivery and its explanation, as an answer speaks of it: what follows from both.

use crate::explain::renewal::leaves_unused;
use crate::explain::table::{CostOfRenewal, Moment, row_of};
use crate::explain::windows::renews_as_windows;
use rekeyscope_model::analysis::{
    Analysis, Direction, EventKind, Explanation, ExplanationCause, Ledger, LedgerInterval, LedgerRekey,
    Outage, OutageEnd,
};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::INITIAL_RTO;

/// An outage, the longest silence of a rekey, or a time of which no outage tells.
#[derive(Debug, Clone)]
pub struct ExplainedTime<'a> {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// The direction in which nothing was delivered.
    pub direction: Direction,
    /// The last delivery.
    pub start: Timestamp,
    /// The next one; the end of the capture, where none came.
    pub end: Timestamp,
    /// Packets that were sent in it and did not arrive.
    pub swallowed: u64,
    /// A new SA brought the way back.
    pub ended_by_renewal: bool,
    /// The explanation.
    pub explanation: &'a Explanation,
    /// Explanations of the others that a sentence speaks of, too: it says the least and the most of their figures.
    pub alike: Vec<&'a Explanation>,
}

/// The part of a renewal of Windows' client that can be made better, though its limit cannot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WindowsPart {
    /// The gateway is to have the new SA ready before it is used.
    Ready,
    /// The exchange takes from so many to so many seconds.
    Exchange(f64, f64),
}

impl<'a> ExplainedTime<'a> {
    /// An outage that has an explanation.
    pub fn of_outage(outage: &'a Outage) -> Option<Self> {
        Some(ExplainedTime {
            tunnel: outage.tunnel,
            direction: outage.direction,
            start: outage.start,
            end: outage.until(),
            swallowed: outage.swallowed,
            ended_by_renewal: matches!(outage.ended_by, OutageEnd::NewSa | OutageEnd::NewIkeSa),
            explanation: outage.explanation.as_ref()?,
            alike: Vec::new(),
        })
    }

    /// The longest silence of a rekey.
    pub fn of_rekey(ledger: &Ledger, rekey: &'a LedgerRekey) -> Option<Self> {
        let stop = |interval: &LedgerInterval| interval.arrived.unwrap_or(interval.to);
        let intervals = rekey.intervals.iter();
        let longest = intervals.max_by_key(|interval| stop(interval).nanos_since(interval.from))?;
        Some(ExplainedTime {
            tunnel: ledger.tunnel,
            direction: ledger.direction,
            start: longest.from,
            end: stop(longest),
            swallowed: u64::from(rekey.swallowed),
            ended_by_renewal: true,
            explanation: rekey.explanation.as_ref()?,
            alike: Vec::new(),
        })
    }

    /// A time from `start` on of which no outage tells.
    pub fn since(
        analysis: &Analysis,
        explanation: &'a Explanation,
        (tunnel, start): (usize, Timestamp),
    ) -> Self {
        ExplainedTime {
            tunnel,
            direction: Direction::AToB,
            start,
            end: analysis.capture.last_time.unwrap_or(start),
            swallowed: 0,
            ended_by_renewal: false,
            explanation,
            alike: Vec::new(),
        }
    }

    /// Takes the explanations of others along that a sentence speaks of.
    pub fn of_all(self, alike: impl Iterator<Item = &'a Explanation>) -> Self {
        ExplainedTime {
            alike: alike.collect(),
            ..self
        }
    }

    /// The least and the most of a figure of all that a sentence speaks of.
    pub fn spread(&self, of: impl Fn(&Explanation) -> Option<f64>) -> Option<(f64, f64)> {
        let all = self.alike.iter().copied().chain([self.explanation]);
        let known = all.filter_map(of).map(|n| (n, n));
        known.reduce(|(least, most), (n, _)| (least.min(n), most.max(n)))
    }

    /// The largest of the volumes at which the SAs ended, kilobytes.
    pub fn most_kilobytes(&self) -> Option<u64> {
        let (_, most) = self.spread(|e| Some(e.limit_kilobytes? as f64))?;
        Some(most as u64)
    }

    fn is(&self, cause: ExplanationCause) -> bool {
        self.explanation.cause == cause
    }

    fn moment(&self) -> Moment {
        row_of(self.explanation.cause).moment
    }

    /// Tells whether the event may not lie where the time begins: the old SA still carried data after it, or the way was dead before.
    pub fn may_lie_elsewhere(&self, analysis: &Analysis) -> bool {
        let change = analysis.event_of(self.explanation);
        let change = change.filter(|_| self.is(ExplanationCause::AddressChanged));
        change.is_some_and(|event| event.time > self.start) || self.moment() == Moment::Request
    }

    /// Tells whether the time began before the capture: nothing was delivered in it until then, and a program that asks again and again waits a second.
    pub fn begins_before_capture(&self, analysis: &Analysis) -> bool {
        let own = analysis
            .impact
            .iter()
            .filter(|impact| impact.tunnel == self.tunnel);
        let mut transfers = own.flat_map(|impact| &impact.transfers);
        let first = analysis.capture.first_time;
        let at_once = first.is_some_and(|first| self.start.nanos_since(first) <= INITIAL_RTO);
        let by_renewal = row_of(self.explanation.cause).cost_of_renewal == CostOfRenewal::Always;
        let mut own = analysis.events_of(self.tunnel);
        let begins = own.any(|event| event.kind == EventKind::NewIkeSa && event.time <= self.start);
        at_once && !by_renewal && !begins && transfers.all(|transfer| transfer.start >= self.start)
    }

    /// Tells whether the event lies before the time: a moment beside it would be taken for the begin.
    pub fn comes_before(&self, analysis: &Analysis) -> bool {
        let event = analysis.event_of(self.explanation);
        self.may_lie_elsewhere(analysis) && event.is_some_and(|event| event.time < self.start)
    }

    /// Tells whether nothing was sent on the new SA for most of the time, though the renewal took `took` seconds at most.
    pub fn is_left_unused(&self, took: f64) -> bool {
        let silent = self.end.seconds_since(self.start);
        leaves_unused(self.explanation, (silent, self.swallowed), took)
    }

    /// The part of the renewal that can be made better where Windows' built-in client, which cannot be changed, renews.
    pub fn windows_part(&self, analysis: &Analysis) -> Option<WindowsPart> {
        use ExplanationCause as Cause;
        if !renews_as_windows(analysis, self.tunnel, self.explanation.limit_kilobytes) {
            return None;
        }
        match (self.explanation.cause, self.spread(|e| e.seconds)) {
            (Cause::NewSaLost | Cause::FirstNumber, _) => Some(WindowsPart::Ready),
            (Cause::LimitReached, Some((_, took))) if self.is_left_unused(took) => Some(WindowsPart::Ready),
            (
                Cause::LimitReached | Cause::SlowRenewal | Cause::SlowExchange | Cause::BreakBeforeMake,
                Some((least, most)),
            ) => Some(WindowsPart::Exchange(least, most)),
            _ => None,
        }
    }
}
