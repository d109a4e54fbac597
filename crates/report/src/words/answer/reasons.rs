//! Line 2: why.

use crate::words::ends::side;
use crate::words::explanations::Explained;
use crate::words::focus::Focus;
use crate::words::lengths::moment;
use crate::words::{self, account_label, clean, format, lost_to};
use rekeyscope_impact::answer::{BrokenPackets, LoneWay, Reason};
use rekeyscope_impact::explain::{ToldNoReturn, ToldQueue};
use rekeyscope_impact::tell::account::{amount, amount_alone, lost_in_all};
use rekeyscope_model::analysis::{Account, AccountLabel, AccountLine, KeysFit};

pub(super) fn why(focus: &Focus, reasons: &[Reason<'_>]) -> String {
    let t = focus.t;
    let said: Vec<String> = reasons.iter().map(|reason| one(focus, reason)).collect();
    let Some((first, others)) = said.split_first() else {
        return String::new();
    };
    // The rate is no reason.
    let is_rate = matches!(reasons.first(), Some(Reason::Rate { .. }));
    let first = if is_rate {
        format::capitalised(first)
    } else {
        first.clone()
    };
    let others = others.iter().map(|reason| format::capitalised(reason));
    let text = t.sentences(&Vec::from_iter(std::iter::once(first).chain(others)));
    match is_rate {
        true => text,
        false => fill!(t, "why-outage", text),
    }
}

/// Tells whether an end is known at which a queue stands, and names it.
pub(super) fn queue_at(focus: &Focus, queue: &ToldQueue) -> (&'static str, String) {
    let tunnel = focus.analysis.tunnels.get(queue.tunnel);
    match queue.at {
        Some(_) => ("known", side(focus.t, tunnel, queue.at)),
        None => ("unknown", String::new()),
    }
}

/// A reason, which begins with a small letter.
fn one(focus: &Focus, reason: &Reason<'_>) -> String {
    let t = focus.t;
    match reason {
        Reason::Lost(account, line, beside) => lost(focus, account, line, *beside),
        Reason::Rate {
            observed_bps,
            own_bps,
            own_from,
            reached,
        } => {
            let (observed, own) = (format::rate(*observed_bps), format::rate(*own_bps));
            let how = if *reached { "reached" } else { own_from.as_str() };
            fill!(t, "why-at-the-limit", observed, own, how)
        }
        Reason::Queue(queue) | Reason::Waits(queue) => {
            let (at, who) = queue_at(focus, queue);
            let id = match reason {
                Reason::Waits(_) => "why-waits",
                _ => "why-queue",
            };
            fill!(t, id, at, who, delay = format::duration_ms(queue.longest_ms))
        }
        Reason::Rekeys(shared, of) => {
            let why = Explained::new(focus, shared.time.clone()).why();
            let (n, of) = (shared.rekeys, *of);
            let all = match n {
                2 if of == 2 => "both",
                n if n == of => "yes",
                _ => "no",
            };
            let of_all = (of > 1).then(|| fill!(t, "why-shared", n, of, all));
            t.sentences(&Vec::from_iter(std::iter::once(why).chain(of_all)))
        }
        Reason::RekeysToo(shared) => {
            let text = Explained::new(focus, shared.time.clone()).why();
            fill!(t, "why-rekeys", text)
        }
        Reason::SlowReturn(silent, cost) => {
            let (silent, cost) = (format::seconds(*silent), amount_alone(*cost));
            fill!(t, "why-slow-return", silent, cost)
        }
        Reason::More(line) => {
            let label = account_label(t, line.label);
            fill!(t, "why-more", label, seconds = amount_alone(line.lost_seconds))
        }
        Reason::Idle(idle, account) => {
            let (seconds, whole) = (amount_alone(idle.lost_seconds), amount_alone(account.seconds));
            fill!(t, "why-idle", seconds, whole)
        }
        Reason::SilenceAlone => {
            let keys = match focus.analysis.keys_fit() {
                KeysFit::Some => "some",
                _ => "none",
            };
            fill!(t, "why-silence-alone", keys)
        }
        Reason::Commonest(why, n, of) => {
            let cause = t.name("why", why.as_str());
            fill!(
                t,
                "why-cause",
                cause,
                n = *n,
                of = *of,
                several = format::yes(*of > 1)
            )
        }
        Reason::NoCause => t.word(match focus.analysis.keys_fit() {
            KeysFit::Some => "why-no-cause",
            KeysFit::Nothing => "why-no-cause-wrong-keys",
            KeysFit::Cut => "why-no-cause-cut",
            KeysFit::Absent => "why-no-cause-without-keys",
        }),
        Reason::Outside => t.word("why-outside"),
        Reason::Datagrams => t.word("why-datagrams"),
        Reason::Bound(bound) => fill!(t, "why-bound", bound = format::duration_ms(*bound)),
        Reason::NoData => t.word("why-no-data"),
        Reason::FirstNumbers(told) => {
            let (n, sas) = (format::count(told.missing), format::count(told.sas as u64));
            fill!(t, "why-first-numbers", n, sas)
        }
        Reason::Stopped(at, rest) => {
            let (moment, seconds) = (moment(focus, *at), format::seconds(*rest));
            fill!(t, "why-stopped", moment, seconds)
        }
        Reason::LoneWay(own) => of_one_way(focus, own),
        Reason::Late(message)
        | Reason::PathLoss(message)
        | Reason::Broken(BrokenPackets::Damaged(message) | BrokenPackets::Fragments(message, _)) => {
            clean::sentence(&t.say(message))
        }
    }
}

/// The line that a transfer lost most to.
fn lost(focus: &Focus, account: &Account, line: &AccountLine, as_much: Option<&AccountLine>) -> String {
    let t = focus.t;
    let lost = lost_in_all(account);
    let id = match line.label {
        AccountLabel::Unexplained => "why-unexplained",
        AccountLabel::Application => "why-idle",
        _ if as_much.is_some() => "why-largest-two",
        _ => "why-largest",
    };
    let other = as_much.unwrap_or(line);
    let share = |line: &AccountLine| format::or_unknown(line.lost_share, format::percent);
    fill!(
        t,
        id,
        lost = amount_alone(lost),
        whole = amount_alone(account.seconds),
        to = lost_to(t, line.label),
        seconds = amount(line.lost_seconds, lost),
        share = share(line),
        other = lost_to(t, other.label),
        others = amount(other.lost_seconds, lost),
        theirs = share(other)
    )
}

/// One direction alone carries packets.
pub(super) fn of_one_way(focus: &Focus, own: &LoneWay) -> String {
    let t = focus.t;
    let direction = words::direction(t, focus.analysis, own.tunnel, own.direction);
    // IKE of both ends shows that both directions pass the capture.
    let Some(told) = &own.no_return else {
        return fill!(t, "why-one-way", direction);
    };
    if let Some(through) = told.through {
        let known = if through.proven { "proven" } else { "time" };
        let (peer, packets) = (through.peer, format::count(through.packets));
        return fill!(t, "why-two-tunnels", direction, peer, packets, known);
    }
    let to = side(t, focus.analysis.tunnels.get(own.tunnel), Some(told.to));
    fill!(t, "why-no-return", direction, to, by = no_return_by(told))
}

/// Names what packets without an answer show beside that.
pub(super) fn no_return_by(told: &ToldNoReturn) -> &'static str {
    match (told.cut_icv, told.same_ports) {
        (true, _) => "icv",
        (false, true) => "ports",
        (false, false) => "nothing",
    }
}
