//! Lines of `rekeyscope watch`: an event as text.

use crate::words::{self, clean, ends, format};
use rekeyscope_impact::tell::words::seconds;
use rekeyscope_model::analysis::{AttemptOutcome, Direction};
use rekeyscope_model::text::{Catalogue, Language};
use rekeyscope_model::watch::{Occurrence, TunnelEnd, TunnelEnds, WatchEvent, WatchTotals};

/// Digits of an RFC 3339 time that a line shows: milliseconds.
const SHOWN_TIME: usize = "2026-01-31T12:00:00.000".len();

/// An event as one line, without a newline.
pub fn line(event: &WatchEvent, language: Language) -> String {
    let t = Catalogue::of(language);
    let time = event.time.to_string();
    let time = time
        .get(..SHOWN_TIME)
        .map_or(time.clone(), |shown| format!("{shown}Z"));
    let ends = event
        .ends
        .map_or_else(|| "–".to_string(), |e| format!("{} – {}", e.client, e.gateway));
    format!("{time}  {ends}  {}", what(t, event))
}

/// The counters as one line, for a terminal.
pub fn summary(totals: &WatchTotals, language: Language) -> String {
    let t = Catalogue::of(language);
    let counted = |id: &str, n: u64| format::counted(t, id, n);
    let rekeys = counted("watch-count-rekeys", totals.rekeys.values().sum());
    let failures = counted("watch-count-failures", totals.failures.values().sum());
    let outages = counted("watch-count-outages", totals.all.outages);
    let packets = counted("counted-packets", totals.packets);
    fill!(t, "watch-summary", rekeys, failures, outages, packets)
}

fn what(t: &Catalogue, event: &WatchEvent) -> String {
    let direction = |direction| of_direction(t, event.ends, direction);
    match &event.what {
        Occurrence::Rekey {
            trigger,
            initiator,
            exchange_ms,
            gap_ms,
            silence_ms,
            cost_so_far_seconds,
            ..
        } => {
            let mut parts = vec![words::trigger_kind(t, *trigger)];
            parts.extend(end_of(t, *initiator).map(|end| fill!(t, "watch-rekey-by", end)));
            let lengths = [
                ("watch-rekey-exchange", exchange_ms),
                ("watch-rekey-gap", gap_ms),
                ("watch-rekey-silence", silence_ms),
            ];
            let known = lengths.into_iter().filter_map(|(id, ms)| Some((id, (*ms)?)));
            parts.extend(known.map(|(id, ms)| fill!(t, id, time = format::duration_ms(ms))));
            let cost = cost_so_far_seconds.filter(|cost| *cost > 0.0);
            parts.extend(cost.map(|s| fill!(t, "watch-rekey-cost-so-far", time = seconds(s))));
            fill!(t, "watch-rekey", parts = t.joined(&parts))
        }
        Occurrence::RekeyFailed {
            outcome,
            reason,
            transmissions,
            ..
        } => {
            let id = match outcome {
                AttemptOutcome::Unanswered => "watch-unanswered",
                _ => "watch-failed",
            };
            let outcome = words::outcome_because(t, *outcome, reason.as_deref());
            let copies = format::counted(t, "watch-copies", *transmissions);
            fill!(t, id, outcome, copies)
        }
        Occurrence::RekeyCost {
            direction: d,
            cost_seconds,
            silence_ms,
            at_least,
            ..
        } => {
            let cost = match at_least {
                true => fill!(t, "outage-or-more", seconds = seconds(*cost_seconds)),
                false => seconds(*cost_seconds),
            };
            let silence = format::duration_ms(*silence_ms);
            fill!(t, "watch-rekey-cost", direction = direction(*d), cost, silence)
        }
        Occurrence::RekeyTrigger { trigger, .. } => fill!(
            t,
            "watch-rekey-trigger",
            trigger = words::trigger_kind(t, *trigger)
        ),
        Occurrence::OutageCorrected {
            direction: d,
            seconds,
            ..
        } => {
            let id = match *seconds > 0.0 {
                true => "watch-outage-corrected",
                false => "watch-outage-none",
            };
            let length = format::seconds(*seconds);
            fill!(t, id, direction = direction(*d), length)
        }
        Occurrence::OutageBegan { direction: d } => {
            fill!(t, "watch-outage-began", direction = direction(*d))
        }
        Occurrence::OutageEnded {
            direction: d,
            seconds,
            ended_by,
            ..
        } => {
            let (length, end) = (format::seconds(*seconds), words::outage_end(t, *ended_by));
            fill!(t, "watch-outage-ended", direction = direction(*d), length, end)
        }
        Occurrence::KeyMissing { spi, dst, status } => {
            let status = words::key_status(t, *status);
            fill!(t, "watch-key-missing", spi, dst, status)
        }
        Occurrence::VerdictChanged {
            direction: d,
            verdict,
            before,
            sentence,
            messages,
        } => {
            let sentence = t.sentence(sentence, messages);
            let (id, before) = match before {
                Some(before) => ("watch-verdict-before", words::verdict(t, *before)),
                None => ("watch-verdict", String::new()),
            };
            fill!(
                t,
                id,
                direction = direction(*d),
                verdict = words::verdict(t, *verdict),
                before,
                sentence = clean::line(&sentence)
            )
        }
        Occurrence::Kernel {
            counter,
            packets,
            meaning,
        } => {
            let meaning = t.name("watch-kernel", meaning.as_str());
            let (counter, packets) = (clean::line(counter), format::count(*packets));
            fill!(t, "watch-kernel", counter, packets, meaning)
        }
    }
}

fn of_direction(t: &Catalogue, tunnel: Option<TunnelEnds>, direction: Direction) -> String {
    match tunnel {
        Some(e) => direction.pick(
            format!("{} → {}", e.client, e.gateway),
            format!("{} → {}", e.gateway, e.client),
        ),
        None => ends::up_or_down(t, direction),
    }
}

fn end_of(t: &Catalogue, end: TunnelEnd) -> Option<String> {
    match end {
        TunnelEnd::Client => Some(t.word("end-client")),
        TunnelEnd::Gateway => Some(t.word("end-gateway")),
        TunnelEnd::Unknown => None,
    }
}
