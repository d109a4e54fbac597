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
            behind_rekeys: 0.0,
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

/// The account of the direction that carries the data: its row of rekeys is the ledger's.
pub(super) fn of_download(shape: &Shape, ledger: &Ledger) -> Account {
    let (s, cost) = (ledger.seconds, ledger.cost_seconds);
    let part = |share: f64| (share * s * 1e6) as u64;
    let (waited, grew) = (part(0.213), part(0.01));
    let account = match shape.keys {
        true => {
            let labels = [
                (AccountLabel::Rekey, cost, 0),
                (AccountLabel::ReceiveWindow, 0.25 * s, waited),
                (AccountLabel::Growth, 0.01 * s, grew),
                (
                    AccountLabel::Capacity,
                    (0.739 * s - cost).max(0.0),
                    ledger.bytes.saturating_sub(waited + grew),
                ),
                (AccountLabel::Unexplained, 0.001 * s, 0),
            ];
            let account = account(9.6, &labels);
            let lost = |label| {
                account
                    .labels
                    .iter()
                    .find(|l| l.label == label)
                    .map_or(0.0, |l| l.lost_seconds)
            };
            let sentence = format!(
                "Of {:.1} s that the transfer took longer than at 9.60 Mbit/s, {:.1} s it waited for the receiver's window of \
                 64 kB, {:.1} s went to rekeys, 0.0 s unexplained.",
                account.lost_seconds,
                lost(AccountLabel::ReceiveWindow),
                lost(AccountLabel::Rekey)
            );
            Account { sentence, ..account }
        }
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
                    (AccountLabel::Rekey, cost, 0),
                    (AccountLabel::Capacity, 0.5 * s, ledger.bytes / 2),
                    (
                        AccountLabel::Unexplained,
                        (0.5 * s - cost).max(0.0),
                        ledger.bytes - ledger.bytes / 2,
                    ),
                ],
            )
        },
    };
    Account {
        tunnel: ledger.tunnel,
        ..account
    }
}
