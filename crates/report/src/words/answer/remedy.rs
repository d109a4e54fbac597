//! Line 3: what to do.

use crate::words::advice::{self, LogSystem};
use crate::words::answer::reasons::queue_at;
use crate::words::ends::{esp, side};
use crate::words::explanations::Explained;
use crate::words::focus::Focus;
use crate::words::{format, loss_label};
use rekeyscope_impact::answer::{BrokenPackets, Cure, CureOf, LongerLifetime, Remedy};
use rekeyscope_impact::explain::ToldQueue;
use rekeyscope_impact::tell::account::amount_alone;
use rekeyscope_model::analysis::{Attempt, AttemptOutcome};

pub(super) fn change(focus: &Focus, remedy: &Remedy<'_>) -> String {
    let t = focus.t;
    let text = match remedy {
        Remedy::Said(id) => return t.word(id),
        Remedy::Cured(id) => t.word(id),
        Remedy::Queue(queue) => {
            let text = format::capitalised(&of_queue(focus, queue));
            return fill!(t, "do-queue", text);
        }
        Remedy::InVain(attempt) => {
            let (how, text) = (attempt.outcome.as_str(), of_attempt(focus, attempt));
            fill!(t, "do-in-vain", how, text)
        }
        Remedy::Cure(cure) => expected(focus, cure, None),
        Remedy::Other(cure) => about(focus, cure, true),
        Remedy::NotRekeys(cure, cost) => {
            let other = format::capitalised(&about(focus, cure, true));
            fill!(t, "do-not-rekeys", seconds = amount_alone(*cost), other)
        }
        Remedy::Both([first, second]) => {
            let second = format::capitalised(&about(focus, second, false));
            t.sentences(&[about(focus, first, false), second])
        }
    };
    fill!(t, "do", text)
}

/// The cure with the rate to expect. A rate behind two cures says which `part` gives it.
fn expected(focus: &Focus, cure: &Cure<'_>, part: Option<&str>) -> String {
    let text = text(focus, &cure.of);
    let Some((rate, now)) = cure.gain else {
        return text;
    };
    let parts = if part.is_some() { "two" } else { "one" };
    let part = part.unwrap_or_default();
    let (rate, now) = (format::rate(rate), format::rate(now));
    fill!(focus.t, "do-expected", text, parts, part, rate, now)
}

/// A cure with what it is about, and what that cost; `alone` where no other cure stands beside it.
fn about(focus: &Focus, cure: &Cure<'_>, alone: bool) -> String {
    let (label, seconds) = (loss_label(focus.t, cure.lost.0), amount_alone(cure.lost.1));
    let text = expected(focus, cure, (!alone).then_some(label.as_str()));
    fill!(focus.t, "do-about", label, seconds, text)
}

fn text(focus: &Focus, of: &CureOf<'_>) -> String {
    let t = focus.t;
    match of {
        CureOf::Label(label) => {
            advice::of_label(t, *label).map_or_else(String::new, |own| own.instruction(t))
        }
        CureOf::Queue(queue) => of_queue(focus, queue),
        CureOf::Late => t.word("cure-late"),
        CureOf::Broken(BrokenPackets::Damaged(_)) => t.word("cure-damaged"),
        CureOf::Broken(BrokenPackets::Fragments(_, mss)) => {
            let known = format::yes(mss.is_some());
            let mss = mss.map_or_else(String::new, format::count);
            fill!(t, "cure-lost-fragments", known, mss)
        }
        CureOf::Lifetime(longer) => lifetime(focus, longer),
        CureOf::Explanation(shared) => Explained::new(focus, shared.time.clone()).cure(),
    }
}

fn of_queue(focus: &Focus, queue: &ToldQueue) -> String {
    let (at, who) = queue_at(focus, queue);
    fill!(focus.t, "cure-queue", at, who)
}

fn lifetime(focus: &Focus, longer: &LongerLifetime) -> String {
    let t = focus.t;
    let [limit, lifetime] = [longer.from_kilobytes, longer.to_kilobytes].map(format::count);
    let command = lifetime_command(focus, longer);
    let windows = if longer.perhaps_windows { "maybe" } else { "no" };
    if longer.learnt {
        let kilobytes = limit;
        return fill!(t, "do-lifetime-learnt", kilobytes, lifetime, command, windows);
    }
    let tunnel = focus.answer.tunnel();
    let tunnel = tunnel.and_then(|tunnel| focus.analysis.tunnels.get(tunnel));
    let place = longer.by.map_or_else(String::new, |by| {
        fill!(t, "do-lifetime-at", who = side(t, tunnel, Some(by)))
    });
    fill!(t, "do-lifetime", place, limit, lifetime, command, windows)
}

/// The command that sets the volume; the seconds stay those that were negotiated.
fn lifetime_command(focus: &Focus, longer: &LongerLifetime) -> String {
    let id = match advice::system_of_keys(focus.analysis) {
        Some(LogSystem::Yamaha) => "do-lifetime-yamaha",
        Some(LogSystem::Strongswan) => "do-lifetime-strongswan",
        None => "do-lifetime-anywhere",
    };
    let seconds = longer
        .seconds
        .map_or_else(|| "SECONDS".to_owned(), |seconds| seconds.to_string());
    let kilobytes = longer.to_kilobytes;
    let bytes = (kilobytes * 1_000).to_string();
    fill!(focus.t, id, seconds, kilobytes, bytes)
}

/// The cure of an attempt that failed.
pub(super) fn of_attempt(focus: &Focus, attempt: &Attempt) -> String {
    let t = focus.t;
    let refusal = advice::of_refusals(t, focus.analysis).into_iter().next();
    let tunnel = focus.analysis.tunnels.get(attempt.tunnel);
    let asked = tunnel.and_then(|tunnel| tunnel.opposite(attempt.initiator));
    let who = side(t, tunnel, asked);
    match (attempt.outcome, refusal) {
        (AttemptOutcome::Refused, Some(named)) => named.instruction(t),
        (AttemptOutcome::Refused, None) => t.word("do-refused"),
        _ if attempt.reason.as_deref() == Some("peer_silent") => fill!(t, "cure-peer-silent", who),
        _ => fill!(t, "cure-unanswered", who, esp = tunnel.map_or("plain", esp)),
    }
}
