//! Synthetic verdicts.

use super::shape::Shape;
use rekeyscope_model::analysis::*;
use rekeyscope_model::text::{Message, Said};

/// The rate that the tunnel should reach.
const REFERENCE_BPS: f64 = 9.6e6;

pub(super) fn impact(shape: &Shape, document: &Analysis, tunnel: usize, direction: Direction) -> Impact {
    let ledger = document.ledger_of(tunnel, direction);
    let rekeys_hurt: Vec<usize> =
        ledger.map_or_else(Vec::new, |l| l.rekeys.iter().map(|own| own.rekey).collect());
    let verdict = match (ledger, shape.rekeys, rekeys_hurt.len()) {
        (None, ..) => Verdict::NoTraffic,
        (_, 0, _) => Verdict::NoRekeys,
        (_, _, 0) => Verdict::Bounded,
        (Some(ledger), ..) if ledger.share >= 0.01 => Verdict::Shown,
        _ => Verdict::Some,
    };
    let observed_bps = ledger.map(|l| l.bytes as f64 * 8.0 / l.seconds);
    let measured = ledger.filter(|_| shape.rekeys > 0);
    let said = Said::of(said(verdict, ledger, shape.rekeys));
    Impact {
        tunnel,
        direction,
        verdict,
        sentence: said.sentence,
        messages: said.messages,
        counted: if shape.keys {
            Counted::InnerNewBytes
        } else {
            Counted::OuterBytes
        },
        rekeys: shape.rekeys,
        rekeys_used: measured.map_or(0, |_| shape.rekeys),
        rekeys_hurt,
        observed_bps,
        transfer: None,
        transfers: Vec::new(),
        reference_bps: measured.map(|_| REFERENCE_BPS),
        explained_share: measured.zip(observed_bps).map(|(ledger, observed)| {
            let estimate = (ledger.without_mbps * 1e6 - observed) / (REFERENCE_BPS - observed);
            Estimate {
                estimate,
                low: 0.97 * estimate,
                high: 1.02 * estimate,
            }
        }),
    }
}

fn said(verdict: Verdict, ledger: Option<&Ledger>, rekeys: usize) -> Vec<Message> {
    let about = |id: &str| Message::new(id).with("direction", Message::new("verdict-download"));
    let mbit = |mbps: f64| format!("{mbps:.2} Mbit/s");
    let Some(ledger) = ledger else {
        return vec![
            Message::new("verdict-no-traffic")
                .with("direction", Message::new("verdict-upload"))
                .with("total", rekeys),
        ];
    };
    let observed = ledger.bytes as f64 * 8e-6 / ledger.seconds;
    let seconds = |s: f64| format!("{s:.*} s", if s < 100.0 { 2 } else { 0 });
    let silences = || ledger.rekeys.iter().map(|own| own.silence_ms / 1e3);
    let (least, most) = (
        silences().fold(f64::MAX, f64::min),
        silences().fold(0.0, f64::max),
    );
    match verdict {
        Verdict::Shown | Verdict::Some => vec![
            about("verdict-stopped")
                .with("used", rekeys)
                .with("hurt", ledger.rekeys.len())
                .with(
                    "silence",
                    match ledger.rekeys.len() {
                        1 => format!("{most:.2} s"),
                        _ => format!("{least:.2}–{most:.2} s"),
                    },
                )
                .with(
                    "cost",
                    Message::new("verdict-just").with("cost", seconds(ledger.cost_seconds)),
                )
                .with("transfer", seconds(ledger.seconds))
                .with("share", format!("{:.1} %", ledger.share * 100.0)),
            about("note-rates")
                .with("observed", mbit(observed))
                .with("without", mbit(ledger.without_mbps)),
        ],
        Verdict::NoRekeys => vec![
            about("verdict-no-rekeys")
                .with("volume", format!("{:.1} MB", ledger.bytes as f64 / 1e6))
                .with("rate", mbit(observed)),
        ],
        _ => vec![
            about("verdict-bounded")
                .with("used", rekeys)
                .with("bound", "45 ms"),
        ],
    }
}

pub(super) fn projection(tunnel: usize, lifetime_kilobytes: u64) -> Projection {
    Projection {
        tunnel,
        direction: Direction::BToA,
        lifetime_kilobytes,
        expected_bps: Estimate {
            estimate: 8.846e6 - 1e9 / lifetime_kilobytes as f64,
            low: 8.84e6 - 1e9 / lifetime_kilobytes as f64,
            high: 8.85e6,
        },
    }
}
