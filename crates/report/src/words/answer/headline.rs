//! Line 1: the number.

use crate::words::answer::loss::leads;
use crate::words::focus::Focus;
use crate::words::{clean, format, lost_to};
use rekeyscope_impact::tell::account::amount;
use rekeyscope_model::analysis::{Analysis, AttemptOutcome, EventKind, ExchangeKind, Impact};
use rekeyscope_model::text::Catalogue;

pub(super) fn headline(focus: &Focus) -> String {
    let (analysis, t) = (focus.analysis, focus.t);
    if let Some(more) = analysis
        .impact
        .first()
        .and_then(|headline| lost_more(focus, headline))
    {
        return more;
    }
    match analysis.impact.first() {
        Some(headline) => clean::first_said(t, &headline.sentence, &headline.messages),
        None => without_verdict(t, analysis),
    }
}

/// The sentence where something else cost more than the rekeys: line 1 is about what cost most.
fn lost_more(focus: &Focus, headline: &Impact) -> Option<String> {
    let t = focus.t;
    let line = leads(focus, headline)?;
    let ledger = focus.ledger(headline)?;
    let (hurt, used) = (headline.rekeys_hurt.len(), headline.rekeys_used);
    let direction = t.word(headline.direction.pick("verdict-upload", "verdict-download"));
    let seconds = |seconds: f64| amount(seconds, seconds);
    let (lost, cost) = (seconds(line.lost_seconds), seconds(ledger.cost_seconds));
    let transfer = seconds(ledger.seconds);
    let to = lost_to(t, line.label);
    Some(fill!(
        t,
        "headline-more",
        direction,
        lost,
        transfer,
        to,
        hurt,
        used,
        cost
    ))
}

/// Without a transfer in a tunnel there is no verdict.
fn without_verdict(t: &Catalogue, analysis: &Analysis) -> String {
    let renewals = analysis.rekeys.len().max(renewals(analysis));
    let rekeys = format::counted(t, "counted-rekeys", renewals as u64);
    match analysis.capture.packets {
        0 => t.word("no-verdict-empty"),
        _ if analysis.capture.ike_packets == 0 || analysis.tunnels.is_empty() => {
            t.word("no-verdict-no-tunnel")
        }
        _ if renewals == 0 => t.word("no-verdict-ike-only"),
        _ => fill!(t, "no-verdict-ike-rekeys", rekeys),
    }
}

/// Exchanges that made child SAs and were not the first of their tunnel, as far as messages show it that no key opens. IKE_AUTH makes the
/// first of IKEv2, and a Quick Mode that of IKEv1; an exchange that renewed the IKE SA made none.
fn renewals(analysis: &Analysis) -> usize {
    let made = |tunnel: usize| {
        let completed = [AttemptOutcome::Completed, AttemptOutcome::CompletedUnused];
        let of_ike = |exchange: Option<usize>| {
            let mut renewed = analysis
                .events
                .iter()
                .filter(|e| e.kind == EventKind::IkeSaRekeyed);
            renewed.any(|e| e.exchange == exchange)
        };
        let own = analysis.attempts_of(tunnel);
        own.filter(|a| completed.contains(&a.outcome) && !of_ike(a.exchange))
            .count()
    };
    let begins = |tunnel: usize| {
        let mut own = analysis.exchanges_of(tunnel);
        own.any(|e| matches!(e.kind, ExchangeKind::MainMode | ExchangeKind::AggressiveMode))
    };
    let of = |tunnel: usize| made(tunnel).saturating_sub(usize::from(begins(tunnel)));
    (0..analysis.tunnels.len()).map(of).sum()
}
