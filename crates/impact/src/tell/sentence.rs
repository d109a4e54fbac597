//! The verdict and the arithmetic bound in words: complete answers with numbers.

pub mod words;

use crate::decide::all_transfers::AllTransfers;
use crate::decide::evaluation::Evaluation;
use crate::decide::verdict::LEVEL;
use crate::estimate::aggregate::{LEAST_REKEYS, MOST_BIAS_S, MeanStall};
use crate::input::moment::ProvenOutage;
use crate::input::settings::MethodSettings;
use crate::input::start::{ASSUMED_EXCHANGE_S, Start};
use crate::tell::projection::Attribution;
use rekeyscope_model::analysis::{Direction, ProofRule, Verdict};
use rekeyscope_model::text::{Arg, Message, grouped};
use words::{explained, interval, list, megabytes, p_value, percent, rate, seconds};

/// Transfers named one by one where their verdicts differ; the rest is counted.
const MOST_TRANSFERS: usize = 6;
/// Stall for which the bound gives the cost, seconds.
const EXAMPLE_STALL_S: f64 = 0.1;

/// The verdict, the first line of the report, with each reservation that belongs to it as a message of its own.
///
/// `rest_s` lies between the transfers.
pub(crate) fn verdict(
    e: &AllTransfers,
    attribution: &Attribution,
    settings: &MethodSettings,
    rest_s: f64,
) -> Vec<Message> {
    let view = View {
        e,
        attribution,
        settings,
    };
    let mut messages = vec![match e.decision.verdict {
        Verdict::NoTraffic => view.no_traffic(),
        Verdict::NoRekeys => view.no_rekeys(),
        Verdict::Shown => view.shown(),
        Verdict::Some => view.some(),
        Verdict::Bounded => view.bounded(),
        // That a rekey failed is not for the statistics to find.
        Verdict::Inconclusive | Verdict::Failed => view.inconclusive(),
    }];
    messages.extend(view.transfers(rest_s));
    messages.extend(view.explained());
    messages.extend(view.no_gap());
    if let Some(stall) = e.decided_stall() {
        if stall.low > 0.0 && e.decision.verdict != Verdict::Shown {
            messages.push(
                Message::new("note-above-zero")
                    .with("least", seconds(e.least_effect_s()))
                    .with("level", p_value(LEVEL)),
            );
        }
        if e.mostly_affected {
            messages.push(Message::new("note-mostly-affected"));
        }
        if stall.bias_s.is_none() && !settings.time_triggered {
            let note = if settings.volume_triggered {
                "note-bias"
            } else {
                "note-bias-unknown"
            };
            messages.push(Message::new(note).with("most", seconds(MOST_BIAS_S)));
        }
    }
    messages.extend(view.holes());
    messages.extend(view.late_starts());
    if settings.outer {
        messages.push(Message::new("note-outer-bytes"));
    }
    messages
}

/// What the rekeys would have to waste, whatever the tests say.
pub(crate) fn arithmetic_bound(
    e: &AllTransfers,
    attribution: &Attribution,
    settings: &MethodSettings,
) -> Vec<Message> {
    let (Some(observed), Some(interval_s)) = (attribution.observed_bps, e.mean_interval_s()) else {
        return vec![Message::new("arithmetic-none")];
    };
    let volume_bits = observed * interval_s;
    let with_example = |message: Message| {
        message
            .with("interval", seconds(interval_s))
            .with("volume", megabytes(volume_bits / 8.0))
            .with("stall", seconds(EXAMPLE_STALL_S))
            .with("cost", percent(EXAMPLE_STALL_S / interval_s))
    };
    match settings.reference_bps.filter(|&r| r > observed) {
        Some(reference) => vec![
            Message::new("arithmetic-reference")
                .with("reference", rate(reference))
                .with("observed", rate(observed))
                .with("waste", seconds(volume_bits / observed - volume_bits / reference)),
            with_example(Message::new("arithmetic-example")),
        ],
        None => {
            vec![
                with_example(Message::new("arithmetic-halve"))
                    .with("observed", rate(observed))
                    .with("half", seconds(interval_s / 2.0))
                    .with(
                        "measured",
                        or_nothing(e.decided_stall().map(|stall| {
                            Message::new("arithmetic-measured").with("stall", seconds(stall.mean))
                        })),
                    ),
            ]
        }
    }
}

/// How many rekeys would make the minimum detectable stall of `used` rekeys the stall of interest: it falls with √N. `None` where
/// the number is not the matter.
pub fn rekeys_needed(used: usize, detectable: f64, interest: f64) -> Option<u64> {
    let needed = (used as f64 * (detectable / interest).powi(2)).ceil();
    (needed.is_finite() && needed > used as f64).then_some(needed as u64)
}

struct View<'a> {
    e: &'a AllTransfers,
    attribution: &'a Attribution,
    settings: &'a MethodSettings,
}

impl View<'_> {
    /// A message about the direction.
    fn about(&self, id: &str) -> Message {
        let direction = match self.settings.direction {
            Direction::AToB => "verdict-upload",
            Direction::BToA => "verdict-download",
        };
        Message::new(id).with("direction", Message::new(direction))
    }

    /// What the capture lacks.
    fn holes(&self) -> Option<Message> {
        let (holes, length_s) = self.e.unobserved();
        let left_out = self.e.placed().filter(|p| p.unobserved).count();
        (holes > 0).then(|| {
            Message::new("note-holes")
                .with("holes", holes)
                .with("length", seconds(length_s))
                .with("rekeys", left_out)
        })
    }

    /// How many transfers there are, and where their verdicts differ.
    fn transfers(&self, rest_s: f64) -> Vec<Message> {
        let transfers: Vec<&Evaluation> = self.e.measurable().collect();
        if transfers.len() < 2 {
            return Vec::new();
        }
        let count = Message::new("note-transfers")
            .with("transfers", transfers.len())
            .with("rest", seconds(rest_s));
        let with_rekeys = (1_usize..).zip(&transfers).filter(|(_, e)| !e.used.is_empty());
        let verdicts: Vec<(usize, Verdict)> = with_rekeys.map(|(k, e)| (k, e.decision.verdict)).collect();
        let differ = verdicts.windows(2).any(|pair| pair[0].1 != pair[1].1);
        let of_each = |&(number, verdict): &(usize, Verdict)| {
            Message::new(of_transfer(verdict)).with("number", number).into()
        };
        let mut named: Vec<Arg> = verdicts.iter().take(MOST_TRANSFERS).map(of_each).collect();
        if verdicts.len() > MOST_TRANSFERS {
            let more = Message::new("transfers-more").with("count", verdicts.len() - MOST_TRANSFERS);
            named.push(more.into());
        }
        let each = differ.then(|| Message::new("note-transfers-differ").with("each", named));
        std::iter::once(count).chain(each).collect()
    }

    fn no_traffic(&self) -> Message {
        match self.settings.rekeys_total {
            0 => self.about("verdict-no-traffic-no-rekey"),
            total => self.about("verdict-no-traffic").with("total", total),
        }
    }

    fn no_rekeys(&self) -> Message {
        self.about("verdict-no-rekeys")
            .with("volume", megabytes(self.e.bytes()))
            .with("rate", rate(self.attribution.observed_bps.unwrap_or(0.0)))
    }

    fn shown(&self) -> Message {
        let Some(stall) = self.e.decided_stall() else {
            return Message::new("verdict-shown-no-mean")
                .with("proven", self.proven("verdict-proven-some"))
                .with("why", self.why_no_mean());
        };
        let (verdict, lost) = if self.e.decision.at_least {
            ("verdict-shown-at-least", "verdict-lost-at-least")
        } else {
            ("verdict-shown", "verdict-lost")
        };
        let share = self.attribution.lost_share.as_ref();
        self.about(verdict)
            .with("proven", self.proven("verdict-proven-shown"))
            .with("stall", seconds(stall.mean))
            .with("interval", interval(stall.low, stall.high))
            .with(
                "lost",
                or_nothing(share.map(|s| Message::new(lost).with("share", percent(s.estimate)))),
            )
            .with("hurt", self.hurt_of_all())
            .with("p", self.p("verdict-p-in-brackets"))
    }

    fn some(&self) -> Message {
        let hurt = self.e.hurt_indexes();
        let silence = self
            .about("verdict-silence")
            .with("rekeys", list(&self.places(&hurt)))
            .with("count", hurt.len())
            .with("total", self.settings.rekeys_total)
            .with("longest", seconds(self.longest_hurt_gap_s()));
        match self.e.decided_stall() {
            Some(stall) => Message::new("verdict-some")
                .with("used", self.e.used_count())
                .with("proven", self.proven("verdict-proven-some"))
                .with("silence", silence)
                .with("mean", self.mean_in_words(&stall))
                .with("p", self.p("verdict-p-after")),
            None => Message::new("verdict-some-no-mean")
                .with("proven", self.proven("verdict-proven-some"))
                .with("silence", silence)
                .with("why", self.why_no_mean()),
        }
    }

    fn bounded(&self) -> Message {
        let Some(stall) = self.e.decided_stall() else {
            return self.nothing_decided();
        };
        self.about("verdict-bounded")
            .with("window", self.window())
            .with("high", seconds(stall.high))
            .with("mean", self.mean_in_words(&stall))
            .with("interest", self.interest())
            .with("hurt", self.hurt_of_all())
            .with("p", self.p("verdict-p-in-brackets"))
    }

    fn inconclusive(&self) -> Message {
        let Some(stall) = self.e.decided_stall() else {
            return self.nothing_decided();
        };
        self.about("verdict-inconclusive")
            .with("window", self.window())
            .with("high", seconds(stall.high))
            .with("mean", self.mean_in_words(&stall))
            .with("p", self.p("verdict-p-after"))
            .with("interest", self.interest())
            .with("hurt", self.hurt_of_all())
            .with("needed", self.what_is_needed())
    }

    /// Inconclusive, because there is no mean at all.
    fn nothing_decided(&self) -> Message {
        let why = self.why_no_mean();
        match self.e.used_count() {
            0 => Message::new("verdict-no-mean").with("why", why),
            _ => Message::new("verdict-no-mean-hurt")
                .with("why", why)
                .with("hurt", self.hurt_of_all()),
        }
    }

    /// The minimum detectable stall, and how many rekeys would make it the effect of interest.
    fn what_is_needed(&self) -> Message {
        let used = self.e.used_count();
        let longer = Message::new("verdict-needed-longer");
        let (Some(mde), Some(interest)) = (self.e.minimum_detectable_s, self.e.interest_s(self.settings))
        else {
            return longer;
        };
        let more = match rekeys_needed(used, mde, interest) {
            Some(needed) => Message::new("verdict-needed-rekeys")
                .with("interest", seconds(interest))
                .with("needed", grouped(needed)),
            None => longer,
        };
        Message::new("verdict-detectable")
            .with("used", used)
            .with("least", seconds(mde))
            .with("needed", more)
    }

    fn why_no_mean(&self) -> Message {
        let used = self.e.used_count();
        let total = self.settings.rekeys_total.max(self.e.placed().count());
        if used == 0 {
            return self.about("verdict-none-within").with("total", total);
        }
        if used >= LEAST_REKEYS {
            return Message::new("verdict-too-close");
        }
        let few = if used == total {
            self.about("verdict-too-few")
        } else {
            self.about("verdict-too-few-of").with("total", total)
        };
        few.with("used", used).with("least", LEAST_REKEYS)
    }

    fn mean_in_words(&self, stall: &MeanStall) -> Message {
        let mean = match self.e.decision.at_least {
            true => "verdict-mean-at-least",
            false => "verdict-mean",
        };
        Message::new(mean)
            .with("mean", seconds(stall.mean))
            .with("interval", interval(stall.low, stall.high))
    }

    fn window(&self) -> String {
        let s = self.e.decided_window().map_or(0.0, |w| w.seconds);
        format!("{s} s")
    }

    fn interest(&self) -> Message {
        let s = self.e.interest_s(self.settings).unwrap_or(0.0);
        Message::new("verdict-interest")
            .with("stall", seconds(s))
            .with("share", percent(self.settings.interest))
    }

    fn hurt_of_all(&self) -> Message {
        let (indexes, used) = (self.e.hurt_indexes(), self.e.used_count());
        match indexes.len() {
            0 if used == 1 => Message::new("verdict-hurt-not-the-one"),
            0 => Message::new("verdict-hurt-none").with("used", used),
            hurt if hurt == used => Message::new("verdict-hurt-all")
                .with("hurt", hurt)
                .with("used", used),
            hurt => Message::new("verdict-hurt-some")
                .with("hurt", hurt)
                .with("used", used)
                .with("rekeys", list(&self.places(&indexes))),
        }
    }

    /// What the packets prove without statistics: a floor, said first. `id` is what leads on from there.
    fn proven(&self, id: &str) -> Arg {
        let outages: Vec<ProvenOutage> = self.e.hurt().filter_map(|h| h.proven).collect();
        let least = outages.iter().map(|o| o.seconds).reduce(f64::min);
        let how = ProofRule::OUTAGES.into_iter().max_by_key(|rule| {
            let alike = outages.iter().filter(|o| o.rule == *rule).count();
            (alike, std::cmp::Reverse(*rule))
        });
        let (Some(least), Some(how)) = (least, how) else {
            return "".into();
        };
        let mean = outages.iter().map(|o| o.seconds).sum::<f64>() / outages.len() as f64;
        let proven = Message::new("verdict-proven")
            .with("proven", outages.len())
            .with("used", self.e.used_count())
            .with("least", seconds(least))
            .with("mean", seconds(mean))
            .with("how", how_it_stood_still(how));
        Message::new(id).with("proven", proven).into()
    }

    /// Where rekeys stand among those of their tunnel, from 0.
    fn places(&self, indexes: &[usize]) -> Vec<usize> {
        let own = &self.settings.own_rekeys;
        indexes
            .iter()
            .map(|index| own.binary_search(index).unwrap_or(*index))
            .collect()
    }

    fn longest_hurt_gap_s(&self) -> f64 {
        self.e
            .hurt()
            .filter(|h| h.hurt)
            .filter_map(|h| h.gap_s)
            .fold(0.0, f64::max)
    }

    fn p(&self, id: &str) -> Arg {
        or_nothing(self.e.decision.p.map(|p| Message::new(id).with("p", p_value(p))))
    }

    /// Why the stall is a lower bound where exchanges began before their windows.
    fn late_starts(&self) -> Option<Message> {
        let known = || self.e.used().map(|k| &k.known);
        let unseen = known().filter(|k| matches!(k, Start::Unseen { .. })).count();
        let silences = known().filter(|k| matches!(k, Start::AfterSilence(_))).count();
        let late = self.e.late_starts() - silences;
        if late + silences == 0 {
            return None;
        }
        let what = if late == 0 {
            Message::new("note-silent-start").with("silences", silences)
        } else if unseen == 0 {
            Message::new("note-late-start").with("late", late)
        } else {
            Message::new("note-unseen-start")
                .with("unseen", unseen)
                .with("before", format!("{ASSUMED_EXCHANGE_S} s"))
        };
        let bound = self.e.decided_stall().map(|_| Message::new("note-lower-bound"));
        Some(
            what.with("used", self.e.used_count())
                .with("bound", or_nothing(bound)),
        )
    }

    /// A reference that is reached leaves nothing to explain.
    fn no_gap(&self) -> Option<Message> {
        let (reference, observed) = (self.settings.reference_bps?, self.attribution.observed_bps?);
        (observed >= reference).then(|| {
            Message::new("explained-no-gap")
                .with("observed", rate(observed))
                .with("reference", rate(reference))
        })
    }

    fn explained(&self) -> Option<Message> {
        let (share, reference) = (
            self.attribution.explained_share.as_ref()?,
            self.settings.reference_bps?,
        );
        let shown = self.e.decision.verdict == Verdict::Shown;
        Some(explained(share, shown, &rate(reference)))
    }
}

/// The verdict on one transfer, in a list.
fn of_transfer(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Shown => "transfer-shown",
        Verdict::Some => "transfer-some",
        Verdict::Bounded => "transfer-bounded",
        _ => "transfer-inconclusive",
    }
}

fn how_it_stood_still(rule: ProofRule) -> Message {
    match rule {
        ProofRule::LostOnOld => Message::new("proven-lost-on-old"),
        ProofRule::LostOnNew => Message::new("proven-lost-on-new"),
        ProofRule::NoFeedback => Message::new("proven-no-feedback"),
        ProofRule::NotSent | ProofRule::Acquitted => Message::new("proven-not-sent"),
    }
}

/// A part of a sentence that may be missing.
fn or_nothing(part: Option<Message>) -> Arg {
    part.map_or_else(|| "".into(), Arg::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detectable_stall_falls_with_the_root_of_the_rekeys() {
        assert_eq!(rekeys_needed(10, 0.4, 0.2), Some(40));
        assert_eq!(rekeys_needed(10, 0.2, 0.2), None, "enough already");
        assert_eq!(rekeys_needed(10, 0.1, 0.2), None);
        assert_eq!(rekeys_needed(10, 0.2001, 0.2), Some(11));
        assert_eq!(
            (rekeys_needed(10, 0.4, 0.0), rekeys_needed(10, f64::NAN, 0.2)),
            (None, None)
        );
    }
}
