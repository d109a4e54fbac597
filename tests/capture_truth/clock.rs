//! Clocks that step, and files that were joined out of order.

use super::*;

fn step(packets: Vec<Packet>, at: usize, seconds: i64) -> Vec<Packet> {
    let moved = |(i, mut p): (usize, Packet)| {
        if i >= at {
            p.time = p.time.plus_nanos(seconds * 1_000_000_000);
        }
        p
    };
    packets.into_iter().enumerate().map(moved).collect()
}

#[test]
fn steps_of_the_clock_are_no_transfer_time() {
    let lab = lab("l2tp_kb_modp1024_down").unwrap();
    let full = whole(&lab);
    for seconds in [100_000, 30, -3_600, -5] {
        let stepped = changed(&lab, true, |packets| step(packets, 5_000, seconds));
        let what = format!("{seconds} s");
        assert_same_rate(&stepped, &full, &what);
        assert!(
            has_finding(&stepped, "clock_step"),
            "{what}: {:?}",
            stepped.findings
        );
        assert_eq!(stepped.rekeys.len(), full.rekeys.len(), "{what}");
        assert_eq!(stepped.impact[0].verdict, full.impact[0].verdict, "{what}");
    }
}

#[test]
fn several_steps_back_and_forth() {
    let lab = lab("l2tp_kb_modp1024_down").unwrap();
    let stepped = changed(&lab, true, |packets| {
        let packets = step(packets, 3_000, -7_200);
        let packets = step(packets, 8_000, 86_400);
        step(packets, 12_000, -20)
    });
    assert_same_rate(&stepped, &whole(&lab), "three steps");
    let steps = stepped.findings.iter().filter(|f| f.id == "clock_step").count();
    assert_eq!(steps, 3, "{:?}", stepped.findings);
}

/// Without keys nothing inside tells whether the senders were idle: then it is said, and not decided.
#[test]
fn without_evidence_a_long_silence_is_not_decided() {
    let lab = lab("l2tp_kb_modp1024_down").unwrap();
    let stepped = changed(&lab, false, |packets| step(packets, 5_000, 100_000));
    assert!(has_finding(&stepped, "silence_or_clock_step") && !has_finding(&stepped, "clock_step"));
}

#[test]
fn halves_in_the_wrong_order_keep_their_rate() {
    let lab = lab("l2tp_kb_modp1024_down").unwrap();
    let full = whole(&lab);
    for keys in [true, false] {
        let swapped = changed(&lab, keys, |packets| {
            let (first, second) = packets.split_at(5_000);
            [second, first].concat()
        });
        assert!(has_finding(&swapped, "out_of_order"), "{:?}", swapped.findings);
        assert!(!has_finding(&swapped, "clock_trouble"), "one fact, one finding");
        assert_eq!(swapped.rekeys.len(), full.rekeys.len());
        if keys {
            assert_same_rate(&swapped, &full, "halves swapped");
        }
    }
}

/// All packets of a quarter of a second have one time. Answers take none then, so nobody knows for what a sender waited.
#[test]
fn a_coarse_clock_is_said_and_times_no_sender() {
    let lab = lab("l2tp_kb_modp1024_down").unwrap();
    let rounded = |step: i64| {
        changed(&lab, true, |mut packets| {
            for packet in &mut packets {
                packet.time.0 -= packet.time.0.rem_euclid(step);
            }
            packets
        })
    };
    let labels = |analysis: &Analysis| {
        let of_account = |own: &Account| own.labels.iter().map(|line| line.label).collect::<Vec<_>>();
        analysis.account.iter().flat_map(of_account).collect::<Vec<_>>()
    };
    let timed = [AccountLabel::SendBuffer, AccountLabel::ReceiveWindow];
    let coarse = rounded(250_000_000);
    assert!(has_finding(&coarse, "clock_trouble"), "{:?}", coarse.findings);
    let told = labels(&coarse);
    assert!(!timed.iter().any(|label| told.contains(label)), "{told:?}");
    // Milliseconds are fine enough.
    assert!(!has_finding(&rounded(1_000_000), "clock_trouble"));
}
