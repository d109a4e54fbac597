//! The account of real captures: against the sender's own kernel, and sums that are exact.

use crate::support::{analyses, analyze, labs};
use rekeyscope_model::analysis::{Account, AccountLabel};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_testkit::containers::{read_pcap, write_pcap};

/// Captures whose senders' kernels told what they waited for (`tcp_info`), and the shares of the time that they give, percent; the losses'
/// is what is left where the window (6.5), rests (5.2) and rekeys have theirs.
const BY_KERNELS: [(&str, &[(&[AccountLabel], f64)]); 2] = {
    use AccountLabel::{PathLoss, QueueLoss, ReceiveWindow, Rekey, Reordering};
    const LOSS: &[AccountLabel] = &[PathLoss, QueueLoss, Reordering];
    [
        ("acct_rwnd_down", &[(&[ReceiveWindow], 94.0), (&[Rekey], 4.0)]),
        (
            "acct_mixed_down",
            &[(&[Rekey], 39.0), (LOSS, 54.0), (&[ReceiveWindow], 7.0)],
        ),
    ]
};
/// How far the labels may be from those, points.
const WITHIN: f64 = 2.0;
/// The account of a capture whose renewals failed: the share of the time in which nothing passed, percent.
const DOWN: [(&str, f64); 2] = [("fail_blackhole_down", 51.0), ("fail_refused_ikev2_down", 93.0)];

fn share(account: &Account, labels: &[AccountLabel]) -> f64 {
    let own = account.labels.iter().filter(|l| labels.contains(&l.label));
    100.0 * own.map(|l| l.share).sum::<f64>()
}

fn is_near(name: &str, account: &Account, labels: &[AccountLabel], percent: f64) {
    let found = share(account, labels);
    assert!(
        (found - percent).abs() <= WITHIN,
        "{name}: {labels:?} {found:.1} %, not {percent} %"
    );
}

#[test]
fn labels_are_those_of_the_senders_kernel() {
    for (lab, analysis) in analyses() {
        let own = || analysis.account.first().unwrap();
        for (name, labels) in BY_KERNELS.iter().filter(|(name, _)| *name == lab.name) {
            labels
                .iter()
                .for_each(|(labels, percent)| is_near(name, own(), labels, *percent));
        }
        for (name, percent) in DOWN.iter().filter(|(name, _)| *name == lab.name) {
            is_near(name, own(), &[AccountLabel::TunnelDown], *percent);
        }
    }
}

/// The lab's link keeps the order of packets. Right after a rekey that lost a flight the queue is empty, and its copies are answered sooner than
/// the data before it was: that makes none of them superfluous.
#[test]
fn no_packets_overtook_each_other_in_the_lab() {
    for (lab, analysis) in analyses() {
        for account in &analysis.account {
            assert_eq!(share(account, &[AccountLabel::Reordering]), 0.0, "{}", lab.name);
        }
    }
}

/// Every capture with data has an account, and it adds up; hardly anything is unexplained where TCP can be read.
#[test]
fn the_sums_of_real_captures_are_exact() {
    for (lab, analysis) in analyses() {
        assert!(!analysis.account.is_empty(), "{}", lab.name);
        for account in &analysis.account {
            let nanos = |s: f64| (s * 1e9).round() as i64;
            let sum: i64 = account.labels.iter().map(|l| nanos(l.seconds)).sum();
            assert_eq!(sum, nanos(account.seconds), "{}", lab.name);
            assert_eq!(
                account.labels.iter().map(|l| l.bytes).sum::<u64>(),
                account.bytes,
                "{}",
                lab.name
            );
            let lost: f64 = account.labels.iter().map(|l| l.lost_seconds).sum();
            assert!((lost - account.lost_seconds).abs() <= 1e-6, "{}", lab.name);
            let readable = !account.not_testable.contains(&AccountLabel::Application);
            let unexplained = share(account, &[AccountLabel::Unexplained]);
            assert!(
                !readable || unexplained <= 3.0,
                "{}: {unexplained} % unexplained",
                lab.name
            );
        }
    }
}

/// The second half of a capture has no handshake, so that the window's scale is inferred: what waits for the window still does.
#[test]
fn half_a_capture_knows_what_its_transfer_waits_for() {
    use AccountLabel::{Application, Growth, SendBuffer, Unexplained};
    const MOST: f64 = 8.0;
    let Some(lab) = labs().into_iter().find(|lab| lab.name == "acct_rwnd_down") else {
        println!("skipped: the capture acct_rwnd_down is not here");
        return;
    };
    let packets = read_pcap(&lab.capture);
    let file = tempfile::Builder::new().suffix(".pcap").tempfile().unwrap();
    write_pcap(file.path(), &packets[packets.len() / 2..]);
    let half = &analyze(file.path(), &lab.keys).account[0];
    assert!(!half.scale_known);
    let others = share(half, &[Application, Growth, SendBuffer, Unexplained]);
    assert!(others <= MOST, "{others:.1} % is none of the whole's labels");
}

/// An outage that lies in the capture has its label. Where the capture ends in it, or begins behind the request for it, neither
/// label is certain.
#[test]
fn an_outage_that_the_capture_cuts_is_neither_a_rekeys_nor_the_tunnels() {
    use AccountLabel::{Rekey, TunnelDown};
    let undecided = |account: &Account| [Rekey, TunnelDown].map(|l| account.not_testable.contains(&l));
    let cases = [("fail_blackhole_down", true), ("acct_mixed_down", false)];
    for (lab, (_, at_end)) in labs()
        .iter()
        .filter_map(|lab| Some((lab, *cases.iter().find(|c| c.0 == lab.name)?)))
    {
        let whole = analyze(&lab.capture, &lab.keys);
        let sentence = &whole.account[0].sentence;
        assert_eq!(undecided(&whole.account[0]), [false; 2], "{sentence}");
        let outage = whole.outages.last().unwrap();
        let packets = read_pcap(&lab.capture);
        let (middle, before) = (
            Timestamp(outage.start.0.midpoint(outage.end.unwrap().0)),
            outage.start.plus_nanos(-400 * NANOS_PER_MILLI),
        );
        let part = match at_end {
            true => &packets[..packets.partition_point(|p| p.time < middle)],
            false => &packets[packets.partition_point(|p| p.time < before)..],
        };
        let file = tempfile::Builder::new().suffix(".pcap").tempfile().unwrap();
        write_pcap(file.path(), part);
        let account = &analyze(file.path(), &lab.keys).account[0];
        let sentence = &account.sentence;
        assert_eq!(undecided(account), [true; 2], "{sentence}");
        assert!(sentence.contains("begins or ends in an outage"), "{sentence}");
    }
}
