//! What failed, in sentences: which rekey, how, and for how long nothing passed. Read from the finished lists.

use crate::explain::is_cost_of_renewal;
use crate::tell::words::{cause, seconds};
use rekeyscope_model::analysis::{
    Attempt, AttemptOutcome, Direction, Event, EventKind, ExplanationCause, Ledger, Outage, OutageEnd, Rekey,
    Tunnel,
};
use rekeyscope_model::text::{Arg, Message};
use rekeyscope_model::time::Timestamp;

/// What failed in one tunnel.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldFailure {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// The direction in which nothing passed, where one is known.
    pub direction: Option<Direction>,
    /// The same in at most 15 words.
    pub headline: Message,
    /// The sentences.
    pub messages: Vec<Message>,
}

/// Lists of the document that failures are read from.
#[derive(Debug, Clone, Copy)]
pub struct FailureFacts<'a> {
    /// Tunnels.
    pub tunnels: &'a [Tunnel],
    /// Attempts to renew SAs.
    pub attempts: &'a [Attempt],
    /// Rekeys.
    pub rekeys: &'a [Rekey],
    /// Outages.
    pub outages: &'a [Outage],
    /// Events.
    pub events: &'a [Event],
    /// Ledgers.
    pub ledgers: &'a [Ledger],
    /// Time zero of the report.
    pub origin: Timestamp,
    /// End of the capture.
    pub end: Timestamp,
}

/// One entry for each tunnel in which rekeys failed or SAs died, in order of the tunnels.
pub fn failed(facts: FailureFacts<'_>) -> Vec<ToldFailure> {
    let of_tunnel = |tunnel: &Tunnel| {
        let own = Told {
            facts,
            attempts: facts.attempts.iter().filter(|a| a.tunnel == tunnel.id).collect(),
            outages: facts.outages.iter().filter(|o| o.tunnel == tunnel.id).collect(),
            tunnel,
        };
        own.tell()
    };
    facts.tunnels.iter().filter_map(of_tunnel).collect()
}

/// What is spoken of.
struct Told<'a> {
    facts: FailureFacts<'a>,
    attempts: Vec<&'a Attempt>,
    outages: Vec<&'a Outage>,
    tunnel: &'a Tunnel,
}

impl Told<'_> {
    fn tell(&self) -> Option<ToldFailure> {
        let longest = |a: &&&Outage, b: &&&Outage| a.seconds.total_cmp(&b.seconds);
        let failures: Vec<&Outage> = self
            .outages
            .iter()
            .copied()
            .filter(|o| self.is_failure(o))
            .collect();
        let counts =
            failures.iter().any(|outage| outage.end.is_none()) || self.cost_more_than_rekeys(&failures);
        let worst = failures.iter().filter(|_| counts).max_by(longest);
        let (message, headline, direction) = match worst {
            Some(outage) => (
                self.of_outage(outage),
                self.about("headline-outage", outage.start)
                    .with("down", down(outage)),
                Some(outage.direction),
            ),
            None => {
                let attempt = self.for_good()?;
                let down = match self.ended(attempt) {
                    Some(time) => {
                        let rest = seconds(self.facts.end.seconds_since(time));
                        self.about("headline-sa-ended", time).with("rest", rest)
                    }
                    None => Message::new("headline-not-down"),
                };
                let headline = self
                    .about("headline-failed", attempt.first_time)
                    .with("down", down);
                (self.of_attempt(attempt), headline, None)
            }
        };
        let mut messages = vec![message];
        let failed = self.attempts.iter().filter(|a| a.outcome.failed()).count();
        if failed > 0 && (worst.is_some() || failed > 1) {
            messages.push(
                Message::new("failed-in-all")
                    .with("failed", failed)
                    .with("attempts", self.attempts.len()),
            );
        }
        Some(ToldFailure {
            tunnel: self.tunnel.id,
            direction,
            headline,
            messages,
        })
    }

    /// A report begins with what cost most.
    fn cost_more_than_rekeys(&self, failures: &[&Outage]) -> bool {
        let own = self
            .facts
            .ledgers
            .iter()
            .filter(|ledger| ledger.tunnel == self.tunnel.id);
        let rekeys = own.map(|ledger| ledger.cost_seconds).fold(0.0, f64::max);
        failures.iter().map(|outage| outage.seconds).sum::<f64>() > rekeys
    }

    /// The cost of a renewal that succeeds is the ledger's matter; packets that the capture lacks are nobody's. Documents of earlier versions
    /// have no explanations.
    fn is_failure(&self, outage: &Outage) -> bool {
        let cause = outage.explanation.as_ref().map(|explanation| explanation.cause);
        cause != Some(ExplanationCause::CaptureHole)
            && (!is_cost_of_renewal(outage, self.facts.attempts, self.facts.rekeys)
                || self.is_down_before(outage))
    }

    /// Tells whether the tunnel was down, by the ledger, for half of the outage before anybody asked for the renewal that ended it.
    fn is_down_before(&self, outage: &Outage) -> bool {
        let own = self
            .facts
            .ledgers
            .iter()
            .filter(|l| (l.tunnel, l.direction) == (outage.tunnel, outage.direction));
        let mut down = own
            .flat_map(|ledger| &ledger.down)
            .filter(|down| down.rekey.is_some());
        down.any(|down| {
            let (from, to) = (
                down.interval.from,
                down.interval.arrived.unwrap_or(down.interval.to),
            );
            let end = outage.start.plus_seconds(outage.seconds);
            2.0 * to.min(end).seconds_since(from.max(outage.start)) > outage.seconds
        })
    }

    /// The first attempt that failed with no success after it.
    fn for_good(&self) -> Option<&Attempt> {
        let last_success = self.attempts.iter().rposition(|a| {
            matches!(
                a.outcome,
                AttemptOutcome::Completed | AttemptOutcome::CompletedUnused
            )
        });
        let after = last_success.map_or(0, |last| last + 1);
        self.attempts[after..]
            .iter()
            .find(|a| a.outcome.failed())
            .copied()
    }

    fn of_outage(&self, outage: &Outage) -> Message {
        let explanation = outage.explanation.as_ref();
        let why = explanation.map_or(ExplanationCause::Unexplained, |e| e.cause);
        self.about("failed-outage", outage.start)
            .with("cause", cause(why))
            .with("outage", ended(outage))
    }

    fn moment(&self, time: Timestamp) -> String {
        format!("{:.1} s", time.seconds_since(self.facts.origin))
    }

    fn about(&self, id: &str, time: Timestamp) -> Message {
        Message::new(id).with("time", self.moment(time))
    }

    fn of_attempt(&self, attempt: &Attempt) -> Message {
        let about = |id: &str| self.about(id, attempt.first_time);
        let message = match attempt.outcome {
            AttemptOutcome::Refused => about("failed-refused")
                .with("requests", self.alike(attempt))
                .with("who", self.who(attempt))
                .with("reason", reason(attempt)),
            _ => about("failed-unanswered").with("requests", attempt.transmissions),
        };
        message.with(
            "outage",
            match self.ended(attempt) {
                Some(time) => self.about("failed-sa-ended", time),
                None => Message::new("failed-no-outage"),
            },
        )
    }

    /// The end of the old SA that came after the request in vain: a Delete, a limit, or ESP of one side that stops while its IKE comes.
    fn ended(&self, attempt: &Attempt) -> Option<Timestamp> {
        let ends = |event: &&Event| match event.kind {
            EventKind::ChildDeleted => event.successor != Some(true),
            EventKind::LimitReached | EventKind::EspSilent => true,
            _ => false,
        };
        let own = self
            .facts
            .events
            .iter()
            .filter(|event| event.tunnel == Some(self.tunnel.id) && event.time > attempt.first_time);
        own.filter(ends).map(|event| event.time).min()
    }

    /// Attempts of the same outcome.
    fn alike(&self, attempt: &Attempt) -> usize {
        let same = |a: &&&Attempt| a.outcome == attempt.outcome;
        self.attempts.iter().filter(same).count()
    }

    fn who(&self, attempt: &Attempt) -> Arg {
        match attempt.initiator {
            Some(address) => address.to_string().into(),
            None => Message::new("failed-someone").into(),
        }
    }
}

fn reason(attempt: &Attempt) -> Arg {
    match &attempt.reason {
        Some(name) => name.as_str().into(),
        None => Message::new("failed-short-answer").into(),
    }
}

fn down(outage: &Outage) -> Message {
    let id = if outage.at_least {
        "headline-down-open"
    } else {
        "headline-down"
    };
    Message::new(id).with("seconds", seconds(outage.seconds))
}

/// The time in which nothing passed, and its end.
fn ended(outage: &Outage) -> Message {
    let id = match outage.ended_by {
        OutageEnd::End => "failed-outage-open",
        OutageEnd::NewSa => "failed-outage-new-sa",
        OutageEnd::NewIkeSa => "failed-outage-new-ike-sa",
        OutageEnd::OldSa => "failed-outage-old-sa",
    };
    Message::new(id).with("seconds", seconds(outage.seconds))
}

#[cfg(test)]
mod tests;
