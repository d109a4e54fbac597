//! The verdict and the arithmetic bound in words: complete answers with numbers.

pub(crate) mod words;

use super::aggregate::{LEAST_REKEYS, MeanStall};
use super::evaluate::Evaluation;
use super::projection::Attribution;
use super::{Settings, Start};
use crate::analysis::{Direction, Verdict};
use crate::text::Message;
use words::{explained, interval, list, megabytes, p_value, percent, plural, rate, seconds};

/// Stall for which the bound gives the cost, seconds.
const EXAMPLE_STALL_S: f64 = 0.1;
/// Up to how far raw stalls of volume-triggered rekeys are too low (they fall in fast moments), for the reader.
const BIAS_NOTE: &str = " The stall may be up to 25 ms too low: volume-triggered rekeys fall in fast moments, and these \
                         are too close together to measure by how much.";
const AFFECTED_NOTE: &str = " Rekeys take up most of the run, so there is too little undisturbed traffic for a p-value: \
                             the verdict rests on the interval and on silences that are rare elsewhere.";
const OUTER_NOTE: &str =
    " Counted are outer bytes, because keys are missing: retransmissions count as throughput.";

/// The verdict sentence, the first line of the report, with the reservations that belong to it.
pub(super) fn verdict(e: &Evaluation, attribution: &Attribution, settings: &Settings) -> String {
    let view = View {
        e,
        attribution,
        settings,
    };
    let mut text = match e.decision.verdict {
        Verdict::NoTraffic => view.no_traffic(),
        Verdict::NoRekeys => view.no_rekeys(),
        Verdict::Shown => view.shown(),
        Verdict::Some => view.some(),
        Verdict::Bounded => view.bounded(),
        Verdict::Inconclusive => view.inconclusive(),
    };
    text += &view.explained();
    if let Some(stall) = e.decided_stall() {
        if e.mostly_affected {
            text += AFFECTED_NOTE;
        }
        if stall.bias_s.is_none() && !settings.time_triggered {
            text += BIAS_NOTE;
        }
    }
    text += &view.late_starts();
    if settings.outer {
        text += OUTER_NOTE;
    }
    text
}

/// What the rekeys would have to waste, whatever the tests say.
pub(super) fn arithmetic_bound(
    e: &Evaluation,
    attribution: &Attribution,
    settings: &Settings,
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
        None => vec![
            with_example(Message::new("arithmetic-halve"))
                .with("observed", rate(observed))
                .with("half", seconds(interval_s / 2.0)),
        ],
    }
}

struct View<'a> {
    e: &'a Evaluation,
    attribution: &'a Attribution,
    settings: &'a Settings,
}

impl View<'_> {
    fn direction(&self) -> &'static str {
        match self.settings.direction {
            Direction::AToB => "upload (a → b)",
            Direction::BToA => "download (b → a)",
        }
    }

    fn no_traffic(&self) -> String {
        let (direction, total) = (self.direction(), self.settings.rekeys_total);
        match total {
            0 => format!(
                "The {direction} carries too little data to measure, and no rekey is in this capture."
            ),
            1 => format!("The {direction} carries too little data to tell what its one rekey cost."),
            _ => format!("The {direction} carries too little data to tell what its {total} rekeys cost."),
        }
    }

    fn no_rekeys(&self) -> String {
        let bytes = self.e.grid.bytes(self.e.run.from, self.e.run.to);
        let rate = rate(self.attribution.observed_bps.unwrap_or(0.0));
        format!(
            "No rekey in this capture: the {} carried {} at {rate}, and rekeys had no part in that.",
            self.direction(),
            megabytes(bytes)
        )
    }

    fn shown(&self) -> String {
        let Some(stall) = self.e.decided_stall() else {
            return String::new();
        };
        let at_least = if self.e.decision.at_least { "at least " } else { "" };
        let share = match &self.attribution.lost_share {
            Some(share) => format!(", {at_least}{} of the transfer", percent(share.estimate)),
            None => String::new(),
        };
        format!(
            "Rekeys cost throughput: each stalls the {} for {at_least}{} on average (95 % interval {}){share}; {}{}.",
            self.direction(),
            seconds(stall.mean),
            interval(stall.low, stall.high),
            self.hurt_of_all(),
            self.p_in_brackets(),
        )
    }

    fn some(&self) -> String {
        let (hurt, one) = (self.hurt_list(), self.e.hurt_indexes().len() == 1);
        let silence = format!(
            "{hurt} of {} stall{} the {} (longest silence {})",
            self.settings.rekeys_total,
            if one { "s" } else { "" },
            self.direction(),
            seconds(self.longest_hurt_gap_s()),
        );
        match self.e.decided_stall() {
            Some(stall) => format!(
                "Single rekeys cost throughput: {silence}; an average cost of all of them is not shown ({}{}).",
                mean_in_words(&stall),
                self.p_after_semicolon(),
            ),
            None => format!(
                "Single rekeys cost throughput: {silence}; {}.",
                self.why_no_mean()
            ),
        }
    }

    fn bounded(&self) -> String {
        let Some(stall) = self.e.decided_stall() else {
            return String::new();
        };
        format!(
            "No cost of rekeys is shown: within {} of the switch, a rekey costs the {} at most {} on average ({}), less \
             than the {} that would matter; {}{}.",
            self.window(),
            self.direction(),
            seconds(stall.high),
            mean_in_words(&stall),
            self.interest(),
            self.hurt_of_all(),
            self.p_in_brackets(),
        )
    }

    fn inconclusive(&self) -> String {
        let Some(stall) = self.e.decided_stall() else {
            let some = if self.e.used_count() == 0 {
                String::new()
            } else {
                format!("; {}", self.hurt_of_all())
            };
            return format!("Inconclusive: {}{some}.", self.why_no_mean());
        };
        format!(
            "Inconclusive: within {} of the switch, a rekey may cost the {} up to {} on average ({}{}), and {} would \
             matter; {}; {}.",
            self.window(),
            self.direction(),
            seconds(stall.high),
            mean_in_words(&stall),
            self.p_after_semicolon(),
            self.interest(),
            self.hurt_of_all(),
            self.what_is_needed(),
        )
    }

    /// The minimum detectable stall, and how many rekeys would make it the effect of interest (it falls with √N).
    fn what_is_needed(&self) -> String {
        let used = self.e.used_count();
        let (Some(mde), Some(interest)) = (self.e.minimum_detectable_s, self.e.interest_s(self.settings))
        else {
            return "a longer capture is needed".to_owned();
        };
        let needed = (used as f64 * (mde / interest).powi(2)).ceil();
        let more = if needed.is_finite() && needed > used as f64 {
            format!("about {needed:.0} rekeys like these are needed")
        } else {
            "a longer capture is needed".to_owned()
        };
        format!(
            "these {used} rekeys can show stalls from {} on, {more}",
            seconds(mde)
        )
    }

    fn why_no_mean(&self) -> String {
        let used = self.e.used_count();
        let total = self.settings.rekeys_total.max(self.e.placed.len());
        if used == 0 {
            return format!(
                "none of the {} lies within the transfer of the {}",
                plural(total, "rekey"),
                self.direction()
            );
        }
        if used < LEAST_REKEYS {
            let verb = if used == 1 { "lies" } else { "lie" };
            let (few, needs) = (plural(used, "rekey"), "and a mean with an interval needs");
            let place = format!("within the transfer of the {}", self.direction());
            return if used == total {
                format!("only {few} {verb} {place}, {needs} {LEAST_REKEYS}")
            } else {
                format!(
                    "only {used} of {} {verb} {place}, {needs} {LEAST_REKEYS}",
                    plural(total, "rekey")
                )
            };
        }
        "the rekeys are too close together: no undisturbed traffic lies between them to compare with"
            .to_owned()
    }

    fn window(&self) -> String {
        let s = self.e.decided_window().map_or(0.0, |w| w.seconds);
        format!("{s} s")
    }

    fn interest(&self) -> String {
        let s = self.e.interest_s(self.settings).unwrap_or(0.0);
        format!(
            "{} ({} of throughput)",
            seconds(s),
            percent(self.settings.interest)
        )
    }

    fn hurt_list(&self) -> String {
        list(&self.e.hurt_indexes())
    }

    fn hurt_of_all(&self) -> String {
        let (hurt, used) = (self.e.hurt_indexes().len(), self.e.used_count());
        match hurt {
            0 if used == 1 => "the one rekey does not stand out".to_owned(),
            0 => format!("none of the {used} rekeys stands out by itself"),
            _ if hurt == used => format!("{hurt} of {used} rekeys hurt"),
            _ => format!("{hurt} of {used} rekeys hurt ({})", self.hurt_list()),
        }
    }

    fn longest_hurt_gap_s(&self) -> f64 {
        self.e
            .hurt
            .iter()
            .filter(|h| h.hurt)
            .filter_map(|h| h.gap_s)
            .fold(0.0, f64::max)
    }

    fn p_in_brackets(&self) -> String {
        self.e
            .decision
            .p
            .map(|p| format!(" (p = {})", p_value(p)))
            .unwrap_or_default()
    }

    fn p_after_semicolon(&self) -> String {
        self.e
            .decision
            .p
            .map(|p| format!("; p = {}", p_value(p)))
            .unwrap_or_default()
    }

    /// Why the stall is a lower bound where exchanges began before their windows.
    fn late_starts(&self) -> String {
        let used = self.e.used_count();
        let unseen = self
            .e
            .used
            .iter()
            .filter(|k| matches!(k.known, Start::Unseen { .. }));
        let silences = self
            .e
            .used
            .iter()
            .filter(|k| matches!(k.known, Start::AfterSilence(_)));
        let (unseen, silences, late) = (unseen.count(), silences.count(), self.e.late_starts());
        let what = match (unseen, late - silences) {
            (_, 0) if silences == 0 => return String::new(),
            (_, 0) => format!(
                "Both sides were silent before the exchange of {silences} of {used} rekeys, so its first message may have been \
                 lost before the capture point"
            ),
            (0, late) => format!("The first IKE message of {late} of {used} rekeys was not captured"),
            _ => format!("No IKE message of {unseen} of {used} rekeys was captured"),
        };
        let from = if unseen > 0 {
            "0.3 s before the first packet on a new SA"
        } else {
            "the first captured one"
        };
        let bound = match self.e.decided_stall() {
            Some(_) => {
                ", so a mean is a lower bound; only the upper end of its interval reaches back over slow stretches before that"
            }
            None => "",
        };
        format!(" {what}: what was lost before {from} is not counted{bound}.")
    }

    fn explained(&self) -> String {
        let (Some(share), Some(reference)) = (&self.attribution.explained_share, self.settings.reference_bps)
        else {
            return String::new();
        };
        let shown = self.e.decision.verdict == Verdict::Shown;
        format!(" {}", explained(share, shown, &rate(reference)))
    }
}

fn mean_in_words(stall: &MeanStall) -> String {
    format!(
        "mean {}, 95 % interval {}",
        seconds(stall.mean),
        interval(stall.low, stall.high)
    )
}
