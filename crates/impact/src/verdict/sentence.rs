//! The verdict in words: the answer first, then each reservation as a message of its own.

use super::judged_direction::JudgedDirection;
use crate::ledger::LEAST_SHARE;
use crate::tell::account::amount_alone;
use crate::tell::words::{explained, interval, percent, rate, seconds, volume};
use rekeyscope_model::analysis::{Counted, Estimate, Ledger, LedgerBasis, LedgerRekey, Verdict};
use rekeyscope_model::text::{Arg, Message};

/// Messages about a direction.
pub(super) fn sentence(
    of: &JudgedDirection<'_>,
    verdict: Verdict,
    explained_share: Option<&Estimate>,
) -> Vec<Message> {
    let Some(ledger) = of.ledger else {
        return vec![about(of, "verdict-no-traffic").with("total", of.renewals)];
    };
    let told = LedgerWords { of, ledger };
    let mut messages = vec![match verdict {
        Verdict::NoTraffic | Verdict::NoRekeys => about(of, without_rekeys(of.renewals))
            .with("renewals", of.renewals)
            .with("volume", volume(ledger.bytes as f64))
            .with("rate", rate(of.observed_bps().unwrap_or(0.0))),
        Verdict::Shown | Verdict::Some => told.stopped(),
        Verdict::Bounded => told.bounded(),
        Verdict::Inconclusive | Verdict::Failed => told.undecided(),
    }];
    messages.extend(told.rates());
    messages.extend(told.slow());
    if of.transfers.len() > 1 {
        messages.push(
            Message::new("note-transfers")
                .with("transfers", of.transfers.len())
                .with("rest", seconds(of.rest_s())),
        );
    }
    messages.extend(told.reference(explained_share));
    messages.extend(told.holes());
    if of.counted == Counted::OuterBytes {
        messages.push(Message::new("note-outer-bytes"));
    }
    messages
}

/// Names the message of a transfer without rekeys, whose SAs no packet used where there are renewals.
fn without_rekeys(renewals: usize) -> &'static str {
    match renewals {
        0 => "verdict-no-rekeys",
        _ => "verdict-unused",
    }
}

/// A message about the direction.
fn about(of: &JudgedDirection<'_>, id: &str) -> Message {
    let direction = of.direction.pick("verdict-upload", "verdict-download");
    Message::new(id).with("direction", Message::new(direction))
}

/// `0.08–0.61 s`, and one length where all are alike.
fn lengths(rekeys: &[&LedgerRekey]) -> Arg {
    let silences = || rekeys.iter().map(|own| own.silence_ms / 1_000.0);
    let least = silences().fold(f64::INFINITY, f64::min);
    let most = silences().fold(0.0, f64::max);
    if seconds(least) == seconds(most) || rekeys.is_empty() {
        seconds(most).into()
    } else {
        interval(least, most)
    }
}

struct LedgerWords<'a> {
    of: &'a JudgedDirection<'a>,
    ledger: &'a Ledger,
}

impl LedgerWords<'_> {
    /// Rekeys that own a silence.
    fn silent(&self) -> Vec<&LedgerRekey> {
        let own = self.ledger.rekeys.iter();
        own.filter(|own| own.silence_ms > 0.0).collect()
    }

    fn stopped(&self) -> Message {
        let silent = self.silent();
        let ledger = self.ledger;
        let at_least = ledger.at_least
            || match ledger.basis {
                LedgerBasis::Packets | LedgerBasis::Datagrams => true,
                LedgerBasis::Acknowledgements | LedgerBasis::Answers => false,
            };
        let longest = silent.iter().map(|own| own.silence_ms).fold(0.0, f64::max) / 1_000.0;
        let made_up = !ledger.at_least && 2.0 * ledger.cost_seconds < longest;
        let (id, hurt) = match silent.len() {
            0 => ("verdict-slowed", ledger.rekeys.len()),
            stopped if made_up => ("verdict-made-up", stopped),
            stopped => ("verdict-stopped", stopped),
        };
        let sure = match at_least && !made_up {
            true => "verdict-at-least",
            false => "verdict-just",
        };
        let cost = Message::new(sure).with("cost", amount_alone(ledger.cost_seconds));
        about(self.of, id)
            .with("hurt", hurt)
            .with("used", self.of.observed.len().max(ledger.rekeys.len()))
            .with("silence", lengths(&silent))
            .with("cost", cost)
            .with("transfer", amount_alone(ledger.seconds))
            .with("share", percent(ledger.share))
    }

    /// Rate of the transfer, and the rate that it would have had without rekeys.
    fn rates(&self) -> Option<Message> {
        let observed = self.of.observed_bps()?;
        let ledger = self.ledger;
        (ledger.share >= LEAST_SHARE && ledger.without_mbps > 0.0).then(|| {
            let id = if self.ledger.basis == LedgerBasis::Answers {
                "note-rates-without-keys"
            } else {
                "note-rates"
            };
            about(self.of, id)
                .with("observed", rate(observed))
                .with("without", rate(ledger.without_mbps * 1e6))
        })
    }

    fn slow(&self) -> Option<Message> {
        let slow = self.ledger.slow.as_ref().filter(|slow| !slow.rekeys.is_empty())?;
        (!self.silent().is_empty()).then(|| {
            Message::new("note-slow")
                .with("cost", amount_alone(slow.cost_seconds))
                .with("rekeys", slow.rekeys.len())
        })
    }

    fn bounded(&self) -> Message {
        let bound = self.ledger.bound_ms.unwrap_or(0.0) / 1_000.0;
        let id = match self.ledger.basis {
            LedgerBasis::Acknowledgements | LedgerBasis::Datagrams => ALL_CLEAR[0],
            LedgerBasis::Answers | LedgerBasis::Packets => ALL_CLEAR[1],
        };
        about(self.of, id)
            .with("used", self.of.observed.len())
            .with("bound", seconds(bound))
    }

    fn undecided(&self) -> Message {
        let id = match self.ledger.basis {
            _ if self.of.observed.is_empty() => "verdict-outside",
            LedgerBasis::Packets => "verdict-unanswered",
            LedgerBasis::Datagrams if self.ledger.down.is_empty() => "verdict-datagrams-went-on",
            LedgerBasis::Datagrams => "verdict-datagrams",
            LedgerBasis::Acknowledgements if self.ledger.bound_ms.is_some() => "verdict-none-seen",
            LedgerBasis::Acknowledgements | LedgerBasis::Answers => "verdict-inconclusive",
        };
        about(self.of, id)
            .with("total", self.of.rekeys.len())
            .with("used", self.of.observed.len())
            .with("bound", seconds(self.ledger.bound_ms.unwrap_or(0.0) / 1_000.0))
    }

    /// Comparison with the rate that the user named.
    fn reference(&self, explained_share: Option<&Estimate>) -> Option<Message> {
        let (reference, observed) = (self.of.reference_bps?, self.of.observed_bps()?);
        if observed >= reference {
            return Some(
                Message::new("explained-no-gap")
                    .with("observed", rate(observed))
                    .with("reference", rate(reference)),
            );
        }
        Some(explained(explained_share?, &rate(reference)))
    }

    /// Stretches that the capture lacks.
    fn holes(&self) -> Option<Message> {
        let (holes, length_s) = self.of.holes;
        (holes > 0).then(|| {
            Message::new("note-holes")
                .with("holes", holes)
                .with("length", seconds(length_s))
                .with("rekeys", self.ledger.not_observed.len())
        })
    }
}

/// Messages that clear rekeys, with inner TCP or datagrams and without.
const ALL_CLEAR: [&str; 2] = ["verdict-bounded", "verdict-bounded-without-keys"];

/// Tells whether a message clears rekeys.
pub(crate) fn is_all_clear(said: &Message) -> bool {
    ALL_CLEAR.contains(&said.id.as_str())
}
