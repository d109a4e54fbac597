//! A client that renews at a limit in *its* counting, on **synthetic** captures, and the counting that the analysis finds.

use crate::support::analyze_world;
use rekeyscope_model::analysis::{Analysis, TriggerKind};
use rekeyscope_testkit::scenario::World;

/// Segment lengths of the SAs one after the other, so that bytes and packets part …
const SEGMENTS: [usize; 6] = [1_228, 500, 900, 400, 1_100, 700];
/// … and whether the client sends meanwhile, so that one direction and both do.
const UPLOADS: [bool; 6] = [false, true, false, false, true, true];
/// Bytes (of 1,500 kB negotiated, 80 %), packets, and milliseconds after which the client renews.
const SOFT_BYTES: u64 = 1_200_000;
const SOFT_PACKETS: u64 = 2_000;
const SOFT_MS: u64 = 5_000;
const KILOBYTES: u32 = 1_500;

/// A Quick Mode, with so many milliseconds behind each message, and both sides switch.
fn renew(w: &mut World, kilobytes: u32, lags: [u64; 3]) {
    let mut qm = w.begin(true);
    qm.kilobytes = kilobytes;
    for lag in lags {
        w.message(&mut qm);
        w.steady(lag);
    }
    w.switch_up(&qm);
    w.switch_down(&qm);
}

/// What the capture of it says, with what was on the newest SAs last.
fn analysis_of(mut w: World) -> Analysis {
    w.steady(3_000);
    analyze_world(w, true)
}

/// Plays six lives of SAs.
fn played(kilobytes: u32, due: fn(&World) -> bool) -> Analysis {
    let mut w = World::new();
    w.establish(kilobytes);
    for (segment, upload) in SEGMENTS.into_iter().zip(UPLOADS) {
        (w.segment_len, w.upload) = (segment, upload);
        while !due(&w) {
            w.steady(2);
        }
        renew(&mut w, kilobytes, [20, 4, 0]);
    }
    analysis_of(w)
}

fn assert_rule(analysis: &Analysis, kind: TriggerKind, counting: &str) {
    let [rule] = &analysis.trigger_rules[..] else {
        panic!("{:?}", analysis.trigger_rules);
    };
    assert_eq!((rule.kind, rule.rekeys), (kind, SEGMENTS.len()), "{rule:?}");
    let named = rule.counting.iter().chain(&rule.not_told_apart);
    assert!(named.clone().any(|c| c == counting), "{rule:?}");
    assert_eq!(rule.counting.as_deref(), Some(counting), "{rule:?}");
    assert!(rule.not_told_apart.is_empty(), "{rule:?}");
}

/// Every rekey is given in the rule's counting; packets after the limit are the one that reached it, at most.
fn assert_each(analysis: &Analysis, counting: &str) {
    for rekey in &analysis.rekeys {
        let trigger = &rekey.trigger;
        let over = trigger.bytes.unwrap() - SOFT_BYTES;
        assert!(over < 4_000, "{trigger:?}");
        let fraction = trigger.fraction.unwrap();
        assert!((0.8..0.803).contains(&fraction), "{trigger:?}");
        assert_eq!(
            trigger.counting.as_deref(),
            Some(&*format!("{counting}, kB = 1000"))
        );
    }
}

#[test]
fn decrypted_payload_of_the_inbound_sa() {
    let analysis = played(KILOBYTES, |w| w.carried()[0].inner >= SOFT_BYTES);
    let counting = "decrypted payload of the inbound SA";
    assert_rule(&analysis, TriggerKind::Volume, counting);
    assert_each(&analysis, counting);
}

#[test]
fn esp_bytes_of_both_directions() {
    let analysis = played(KILOBYTES, |w| {
        w.carried().iter().map(|c| c.esp).sum::<u64>() >= SOFT_BYTES
    });
    let counting = "ESP bytes of both directions";
    assert_rule(&analysis, TriggerKind::Volume, counting);
    assert_each(&analysis, counting);
}

/// Without a kilobyte limit in reach.
#[test]
fn packets() {
    let analysis = played(250_000, |w| w.carried()[0].packets >= SOFT_PACKETS);
    assert_rule(&analysis, TriggerKind::Packets, "packets of the inbound SA");
}

/// What was negotiated is far away; the client has a limit of its own.
#[test]
fn volume_far_below_what_was_negotiated() {
    let analysis = played(250_000, |w| w.carried()[0].inner >= SOFT_BYTES);
    assert_rule(
        &analysis,
        TriggerKind::Volume,
        "decrypted payload of the inbound SA",
    );
    let sentence = &analysis.trigger_rules[0].sentence;
    assert!(
        sentence.contains("far below the limit of 250,000 kB"),
        "{sentence}"
    );
}

/// The same by age: of 250,000 kB and 3,600 s neither is in reach.
#[test]
fn age_far_below_what_was_negotiated() {
    let mut w = World::new();
    w.establish(250_000);
    for (segment, upload) in SEGMENTS.into_iter().zip(UPLOADS) {
        (w.segment_len, w.upload) = (segment, upload);
        w.steady(SOFT_MS);
        renew(&mut w, 250_000, [20, 4, 0]);
    }
    let analysis = analysis_of(w);
    assert_rule(&analysis, TriggerKind::Time, "age");
    let rule = &analysis.trigger_rules[0];
    assert!(
        rule.sentence.contains("long before the limit of 3,600 s"),
        "{rule:?}"
    );
}

/// IKEv2: no limit is on the wire at all.
#[test]
fn age() {
    let mut w = World::new();
    for (segment, upload) in SEGMENTS.into_iter().zip(UPLOADS) {
        (w.segment_len, w.upload) = (segment, upload);
        w.steady(SOFT_MS);
        w.renew_v2(true);
    }
    assert_rule(&analysis_of(w), TriggerKind::Time, "age");
}

/// The same size of packet in every life and no data the other way: no capture can tell payload from ESP bytes, and the busier
/// SA's payload is what each rekey is given in.
#[test]
fn what_cannot_be_told_apart_is_said() {
    let mut w = World::new();
    w.establish(KILOBYTES);
    for _ in 0..5 {
        while w.carried()[0].inner < SOFT_BYTES {
            w.steady(2);
        }
        renew(&mut w, KILOBYTES, [4, 4, 4]);
    }
    let analysis = analysis_of(w);
    let rule = &analysis.trigger_rules[0];
    assert!(
        rule.not_told_apart
            .iter()
            .any(|c| c == "ESP bytes of the inbound SA"),
        "{rule:?}"
    );
    for rekey in &analysis.rekeys {
        assert_eq!(
            rekey.trigger.counting.as_deref(),
            Some("inner bytes of the expiring inbound SA, kB = 1000")
        );
    }
}
