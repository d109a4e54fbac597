//! Synthetic documents at the edges: nothing known, hostile text, figures that make no sense.

use super::build::{build, empty, seven_rekeys};
use super::failed::one_failed;
use super::rest::with_overlays;
use super::shape::Shape;
use super::two_points::two_points;
use rekeyscope_model::analysis::*;
use rekeyscope_model::time::Timestamp;

/// The same document with everything unknown that can be unknown.
fn unknowns(mut document: Analysis) -> Analysis {
    document.capture.first_time = None;
    document.capture.last_time = None;
    document.capture.duration_s = None;
    document.tunnels.iter_mut().for_each(|t| t.ike_version = None);
    for sa in &mut document.security_associations {
        (sa.mode, sa.encryption, sa.integrity, sa.inner_bytes) = (None, None, None, None);
        (sa.first_time, sa.last_time, sa.first_frame, sa.last_frame) = (None, None, None, None);
        sa.key = Key {
            status: KeyStatus::Missing,
            source: None,
        };
        (sa.sequence.first, sa.sequence.last) = (None, None);
    }
    for rekey in &mut document.rekeys {
        (rekey.exchange, rekey.initiator, rekey.started) = (None, None, None);
        (rekey.exchange_ms, rekey.overlap_ms) = (None, None);
        rekey.old = SpiPair {
            a_to_b: None,
            b_to_a: None,
        };
        rekey.new = SpiPair {
            a_to_b: None,
            b_to_a: None,
        };
        rekey.switched = TimePair {
            a_to_b: None,
            b_to_a: None,
        };
        rekey.gap_ms = MillisPair {
            a_to_b: None,
            b_to_a: None,
        };
        rekey.trigger = Trigger::default();
        for i in &mut rekey.impact {
            (i.cost_seconds, i.silence_ms, i.why) = (None, None, None);
        }
    }
    for i in &mut document.impact {
        (i.observed_bps, i.reference_bps, i.explained_share) = (None, None, None);
    }
    for ledger in &mut document.ledger {
        (ledger.slow, ledger.bound_ms) = (None, None);
        let rekeys = ledger.rekeys.iter_mut().flat_map(|own| &mut own.intervals);
        rekeys.for_each(|own| (own.arrived, own.from_frame, own.to_frame) = (None, None, None));
    }
    for account in &mut document.account {
        (account.rtt_ms, account.window_bytes) = (None, None);
        for line in &mut account.labels {
            (line.lost_share, line.s_per_gb, line.without_mbps) = (None, None, None);
            line.evidence.clear();
        }
        account.runs.clear();
    }
    document
}

/// The same document with a rest in the middle.
fn with_rest(mut document: Analysis) -> Analysis {
    let first = document.capture.first_time.unwrap_or_default();
    for i in &mut document.impact {
        let transfer = |from: f64, cost_seconds: Option<f64>| TransferImpact {
            start: first.plus_seconds(from),
            end: first.plus_seconds(from + 8.0),
            bytes: 1e7,
            rekeys: i.rekeys_hurt.clone(),
            cost_seconds,
        };
        i.transfers = vec![transfer(1.0, Some(0.37)), transfer(129.0, None)];
    }
    document
}

/// The same document with hostile text wherever the capture or the user can put text.
pub fn hostile(mut document: Analysis) -> Analysis {
    const EVIL: &str = "=cmd()</script><script>alert(1)</script>\u{1b}[31m\u{202e}\"'&\r\n| # `x` <img src=x onerror=alert(1)>";
    let evil = || EVIL.to_string();
    document.capture.path = evil();
    document.capture.link_types = vec![evil(); 3];
    document.generator.version = evil();
    for sa in &mut document.security_associations {
        (sa.encryption, sa.integrity, sa.key.source) = (Some(evil()), Some(evil()), Some(evil()));
    }
    for rekey in &mut document.rekeys {
        rekey.trigger.counting = Some(evil());
        rekey.impact.iter_mut().for_each(|i| i.flags = vec![evil()]);
    }
    for attempt in &mut document.attempts {
        attempt.reason = Some(evil());
        attempt.display_filter = evil();
    }
    for i in &mut document.impact {
        i.sentence = evil();
        i.messages.clear();
    }
    document.account.iter_mut().for_each(|a| a.sentence = evil());
    document.gap = Some(AccountGap {
        capture: evil(),
        reference: evil(),
        seconds_per_gb: 3.0,
        reference_s_per_gb: 2.0,
        gap_s_per_gb: 1.0,
        labels: vec![AccountGapLine {
            label: AccountLabel::Rekey,
            s_per_gb: 3.0,
            reference_s_per_gb: 2.0,
            gap_s_per_gb: 1.0,
            gap_share: None,
        }],
        sentence: evil(),
        messages: Vec::new(),
    });
    document.two_points = Some(two_points(EVIL));
    for finding in &mut document.findings {
        (finding.id, finding.sentence, finding.display_filter) = (evil(), evil(), evil());
    }
    for d in &mut document.diagnostics {
        (d.kind, d.layer, d.sentence) = (evil(), evil(), evil());
    }
    for file in &mut document.key_files {
        (file.path, file.formats, file.problems) = (evil(), vec![evil()], vec![evil(); 3]);
    }
    for overlay in &mut document.overlays {
        (overlay.path, overlay.name, overlay.unit) = (evil(), evil(), evil());
        overlay.sentences = vec![evil(); 2];
    }
    if let Some(settings) = &mut document.settings {
        settings.tunnel = Some(evil());
    }
    document.overhead.iter_mut().for_each(|o| o.suite = evil());
    document.flows.iter_mut().for_each(|f| f.protocol = evil());
    document.exchanges.iter_mut().for_each(|e| e.message_id = evil());
    document
}

/// One document of each kind that a report must survive.
pub fn all() -> Vec<Analysis> {
    let with = |shape: Shape| build(&shape);
    vec![
        seven_rekeys(),
        with_rest(seven_rekeys()),
        empty(),
        with(Shape {
            rekeys: 0,
            ..Shape::default()
        }),
        with(Shape {
            keys: false,
            ..Shape::default()
        }),
        with(Shape {
            traffic: false,
            ..Shape::default()
        }),
        with(Shape {
            rekeys: 500,
            seconds: 1900.0,
            bin_ms: 100.0,
            ..Shape::default()
        }),
        with(Shape {
            tunnels: 20,
            ..Shape::default()
        }),
        one_failed(),
        hostile(one_failed()),
        hostile(seven_rekeys()),
        unknowns(seven_rekeys()),
        hostile(with(Shape {
            tunnels: 3,
            keys: false,
            ..Shape::default()
        })),
        dangling(seven_rekeys()),
        with_overlays(seven_rekeys()),
        hostile(with_overlays(seven_rekeys())),
        dangling(with_overlays(seven_rekeys())),
    ]
}

/// A document from elsewhere: indexes that point nowhere, infinite and negative figures, moments at the end of time.
fn dangling(mut document: Analysis) -> Analysis {
    document.tunnels.clear();
    document.rekeys[2].tunnel = usize::MAX;
    document.rekeys[3].started = Some(Timestamp(i64::MIN));
    document.rekeys[3].switched.b_to_a = Some(Timestamp(i64::MAX));
    document.rekeys[4].exchange_ms = Some(f64::INFINITY);
    document.rekeys[5].impact[0].cost_seconds = Some(f64::NAN);
    document.ledger[0].rekeys[0].rekey = usize::MAX;
    document.ledger[0].rekeys[0].intervals[0].to = Timestamp(i64::MAX);
    document.ledger[0].rekeys[1].r0_mbps = f64::INFINITY;
    document.capture.duration_s = Some(-5.0);
    document.series.bin_ms = 0.0;
    document.series.tunnels[0].inner_new_bytes = vec![u64::MAX; 64];
    document.series.tunnels[1].inner_new_bytes.clear();
    document.impact[0].rekeys_hurt = vec![usize::MAX, 0];
    for overlay in &mut document.overlays {
        overlay.points[0].value = f64::NAN;
        overlay.points[1].time = Timestamp(i64::MAX);
        overlay.at_rekeys[0].rekey = usize::MAX;
    }
    document
}

/// The display filters of a document: on a terminal, the only lines that may be too long.
pub fn filters(document: &Analysis) -> Vec<String> {
    let all = document.findings.iter().map(|f| &f.display_filter);
    let lines = document.account.iter().flat_map(|a| &a.labels);
    let stretches = lines.map(|line| {
        let each = line.evidence.iter();
        let each = each.map(|s| {
            format!(
                "(frame.number >= {} && frame.number <= {})",
                s.from_frame, s.to_frame
            )
        });
        each.collect::<Vec<_>>().join(" || ")
    });
    all.cloned().chain(stretches).collect()
}
