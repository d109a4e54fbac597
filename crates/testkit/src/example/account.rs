//! Synthetic accounts of where the time of a transfer went.

use super::shape::{Shape, at};
use rekeyscope_model::analysis::*;

/// Stretches into which a label's seconds are cut.
const ROUNDS: u64 = 4;
/// Packets of a stretch.
const FRAMES: u64 = 150;

/// Every label.
pub const LABELS: [AccountLabel; 13] = [
    AccountLabel::CaptureHole,
    AccountLabel::TunnelDown,
    AccountLabel::Rekey,
    AccountLabel::ZeroWindow,
    AccountLabel::ReceiveWindow,
    AccountLabel::SendBuffer,
    AccountLabel::Application,
    AccountLabel::PathLoss,
    AccountLabel::QueueLoss,
    AccountLabel::Reordering,
    AccountLabel::Growth,
    AccountLabel::Capacity,
    AccountLabel::Unexplained,
];

/// An account of these labels, each with its seconds and new bytes, against a given rate; it has no sentence.
pub fn account(reference_mbps: f64, labels: &[(AccountLabel, f64, u64)]) -> Account {
    let seconds: f64 = labels.iter().map(|l| l.1).sum();
    let bytes: u64 = labels.iter().map(|l| l.2).sum();
    let at_reference = |bytes: u64| bytes as f64 * 8e-6 / reference_mbps;
    let lost_seconds = seconds - at_reference(bytes);
    let runs = runs(labels);
    let line = |&(label, own_s, own_bytes): &(AccountLabel, f64, u64)| {
        let lost = own_s - at_reference(own_bytes);
        let faster = seconds - lost;
        AccountLine {
            label,
            seconds: own_s,
            bytes: own_bytes,
            lost_seconds: lost,
            share: own_s / seconds,
            lost_share: (lost_seconds > 0.0).then(|| lost / lost_seconds),
            s_per_gb: (bytes > 0).then(|| own_s * 1e9 / bytes as f64),
            without_mbps: (faster > 0.0).then(|| bytes as f64 * 8e-6 / faster),
            also: Vec::new(),
            evidence: evidence(label, &runs),
        }
    };
    let mut lines: Vec<AccountLine> = labels.iter().map(line).collect();
    lines.sort_by(|a, b| b.lost_seconds.total_cmp(&a.lost_seconds));
    let waited = labels.iter().any(|l| l.0 == AccountLabel::ReceiveWindow);
    Account {
        tunnel: 0,
        direction: Direction::BToA,
        start: at(0.0),
        end: at(seconds),
        seconds,
        bytes,
        connections: 1,
        reference_mbps,
        reference_given: true,
        own_mbps: reference_mbps,
        own_from: OwnRate::Proven,
        rtt_ms: Some(22.0),
        d2_from: D2Source::Handshake,
        scale_known: true,
        window_bytes: waited.then_some(65_535),
        not_testable: Vec::new(),
        lost_seconds,
        labels: lines,
        runs,
        sentence: String::new(),
        messages: Vec::new(),
    }
}

/// The labels one after the other, again and again.
fn runs(labels: &[(AccountLabel, f64, u64)]) -> Vec<AccountRun> {
    let (mut out, mut from_s, mut from_frame) = (Vec::new(), 0.0, 1);
    for (label, seconds, _) in (0..ROUNDS).flat_map(|_| labels) {
        let (to_s, to_frame) = (from_s + seconds / ROUNDS as f64, from_frame + FRAMES);
        out.push(AccountRun {
            label: *label,
            from_s,
            to_s,
            from_frame,
            to_frame,
        });
        (from_s, from_frame) = (to_s, to_frame);
    }
    out
}

fn evidence(label: AccountLabel, runs: &[AccountRun]) -> Vec<AccountEvidence> {
    let own = runs.iter().filter(|run| run.label == label).take(3);
    own.map(|run| AccountEvidence {
        from_frame: run.from_frame,
        to_frame: run.to_frame,
        seconds: run.to_s - run.from_s,
    })
    .collect()
}

/// The account of the direction that carries the data.
pub(super) fn of_download(shape: &Shape, tunnel: usize) -> Account {
    let (s, mb) = (shape.seconds, shape.seconds * 1e6);
    let account = match shape.keys {
        true => Account {
            sentence: format!(
                "Of {:.1} s that the transfer took longer than at 9.60 Mbit/s, {:.1} s (60 %) it waited for the receiver's \
                 window of 64 kB, {:.1} s (38 %) went to rekeys, 0.0 s unexplained.",
                0.1042 * s,
                0.0625 * s,
                0.04 * s
            ),
            ..account(
                9.6,
                &[
                    (AccountLabel::Rekey, 0.04 * s, 0),
                    (AccountLabel::ReceiveWindow, 0.25 * s, (0.225 * mb) as u64),
                    (AccountLabel::Growth, 0.01 * s, (0.01 * mb) as u64),
                    (AccountLabel::Capacity, 0.699 * s, (0.84 * mb) as u64),
                    (AccountLabel::Unexplained, 0.001 * s, 0),
                ],
            )
        },
        false => Account {
            rtt_ms: None,
            d2_from: D2Source::None,
            scale_known: false,
            not_testable: vec![
                AccountLabel::ReceiveWindow,
                AccountLabel::SendBuffer,
                AccountLabel::Application,
            ],
            sentence: "No TCP could be read inside, so little is told apart.".into(),
            ..account(
                9.6,
                &[
                    (AccountLabel::Rekey, 0.04 * s, 0),
                    (AccountLabel::Capacity, 0.5 * s, (0.6 * mb) as u64),
                    (AccountLabel::Unexplained, 0.46 * s, (0.475 * mb) as u64),
                ],
            )
        },
    };
    Account { tunnel, ..account }
}
