//! What failed, in sentences: which rekey, how, and for how long nothing passed. Read from the finished lists.

use crate::tell::sentence::words::seconds;
use rekeyscope_model::analysis::{Attempt, AttemptOutcome, Direction, Outage, OutageEnd, Tunnel};
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

/// One entry for each tunnel in which rekeys failed or SAs died, in order of the tunnels. `origin`: time zero of the report.
pub fn failed(
    attempts: &[Attempt],
    outages: &[Outage],
    tunnels: &[Tunnel],
    origin: Timestamp,
) -> Vec<ToldFailure> {
    let of_tunnel = |tunnel: &Tunnel| {
        let own = Told {
            attempts: attempts.iter().filter(|a| a.tunnel == tunnel.id).collect(),
            outages: outages.iter().filter(|o| o.tunnel == tunnel.id).collect(),
            tunnel,
            origin,
        };
        own.tell()
    };
    tunnels.iter().filter_map(of_tunnel).collect()
}

/// What is spoken of.
struct Told<'a> {
    attempts: Vec<&'a Attempt>,
    outages: Vec<&'a Outage>,
    tunnel: &'a Tunnel,
    origin: Timestamp,
}

impl Told<'_> {
    fn tell(&self) -> Option<ToldFailure> {
        let longest = |a: &&&Outage, b: &&&Outage| a.seconds.total_cmp(&b.seconds);
        let worst = self.outages.iter().filter(|o| self.is_failure(o)).max_by(longest);
        let (message, direction) = match worst {
            Some(outage) => (self.of_outage(outage), Some(outage.direction)),
            None => (self.of_attempt(self.for_good()?, None), None),
        };
        let headline = headline(&message, worst.copied());
        let mut messages = vec![message];
        let failed = self.attempts.iter().filter(|a| a.outcome.failed()).count();
        if failed > 1 {
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

    /// The attempts an outage comes from, those that failed first.
    fn causing(&self, outage: &Outage) -> Vec<&Attempt> {
        let of_it = |a: &&&Attempt| a.outage.as_ref().is_some_and(|o| o.index == outage.index);
        let mut own: Vec<&Attempt> = self.attempts.iter().filter(of_it).copied().collect();
        own.sort_by_key(|a| (!a.outcome.failed(), a.index));
        own
    }

    /// An SA that passed its limit while its successor was negotiated in time is the statistics' matter.
    fn is_failure(&self, outage: &Outage) -> bool {
        !outage.causes.is_empty() || self.causing(outage).iter().any(|a| !a.causes.is_empty())
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
        match self.causing(outage).first() {
            Some(attempt) => self.of_attempt(attempt, Some(outage)),
            None => self
                .about("failed-check", outage.start)
                .with("outage", ended(outage)),
        }
    }

    fn about(&self, id: &str, time: Timestamp) -> Message {
        Message::new(id).with("time", format!("{:.1} s", time.seconds_since(self.origin)))
    }

    fn of_attempt(&self, attempt: &Attempt, outage: Option<&Outage>) -> Message {
        let about = |id: &str| self.about(id, attempt.first_time);
        let ended = outage.map_or_else(|| Message::new("failed-no-outage"), ended);
        let message = match (attempt.outcome, outage) {
            (AttemptOutcome::Refused, _) => about("failed-refused")
                .with("requests", self.alike(attempt, outage))
                .with("who", self.who(attempt))
                .with("reason", reason(attempt)),
            (AttemptOutcome::Unanswered, _) => {
                about("failed-unanswered").with("requests", attempt.transmissions)
            }
            (AttemptOutcome::LimitWithoutAttempt, _) => about("failed-limit"),
            (AttemptOutcome::BreakBeforeMake, _) => about("failed-break"),
            (_, Some(outage)) if attempt.causes.iter().any(|c| c.id == "blackhole_after_rekey") => self
                .about("failed-blackhole", outage.start)
                .with("from", self.sender(outage)),
            (_, _) => about("failed-late")
                .with("requests", attempt.transmissions)
                .with("wait", seconds(attempt.answered_after_s.unwrap_or_default())),
        };
        message.with("outage", ended)
    }

    /// Attempts of the same outcome that led to the same outage.
    fn alike(&self, attempt: &Attempt, outage: Option<&Outage>) -> usize {
        let same = |a: &&&Attempt| {
            let index = |o: Option<&Outage>| o.map(|o| o.index);
            a.outcome == attempt.outcome && index(a.outage.as_ref()) == index(outage)
        };
        self.attempts.iter().filter(same).count()
    }

    fn who(&self, attempt: &Attempt) -> Arg {
        match attempt.initiator {
            Some(address) => address.to_string().into(),
            None => Message::new("failed-someone").into(),
        }
    }

    fn sender(&self, outage: &Outage) -> String {
        match outage.direction {
            Direction::AToB => self.tunnel.a.to_string(),
            Direction::BToA => self.tunnel.b.to_string(),
        }
    }
}

fn reason(attempt: &Attempt) -> Arg {
    match &attempt.reason {
        Some(name) => name.as_str().into(),
        None => Message::new("failed-short-answer").into(),
    }
}

/// A sentence without its particulars: `failed-refused` is `headline-refused`, at the same time.
fn headline(message: &Message, outage: Option<&Outage>) -> Message {
    let id = match message.id.as_str() {
        "failed-refused" => "headline-refused",
        "failed-late" => "headline-late",
        "failed-limit" => "headline-limit",
        "failed-break" => "headline-break",
        "failed-blackhole" => "headline-blackhole",
        "failed-check" => "headline-check",
        _ => "headline-unanswered",
    };
    let lasted = |o: &Outage| {
        let id = if o.at_least {
            "headline-down-open"
        } else {
            "headline-down"
        };
        Message::new(id).with("seconds", seconds(o.seconds))
    };
    let down = outage.map_or_else(|| Message::new("headline-not-down"), lasted);
    let headline = Message::new(id).with("down", down);
    message
        .args
        .get("time")
        .cloned()
        .into_iter()
        .fold(headline, |m, time| m.with("time", time))
}

/// For how long nothing passed, and what ended that.
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
