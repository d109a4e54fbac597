//! What the packets prove of each rekey: a **synthetic** capture for each rule, and the real captures against the logs of the
//! daemons and kernels that `truth.json` was made of.

use crate::scenarios::steps::{AFTER, BEFORE, GENEROUS, begin, exchange, resend_lost};
use crate::support::{Lab, analyses, analyze, one};
use rekeyscope_model::analysis::*;
use rekeyscope_testkit::scenario::{SEGMENT, World};
use serde_json::Value;

fn played(play: fn(&mut World)) -> Analysis {
    let mut world = World::new();
    play(&mut world);
    let folder = tempfile::tempdir().unwrap();
    let keys = world.write(folder.path(), true);
    analyze(&folder.path().join("trace.pcap"), &keys)
}

fn download(rekey: &Rekey) -> &RekeyImpact {
    let mut impact = rekey.impact.iter();
    impact.find(|i| i.direction == Direction::BToA).unwrap()
}

/// The proof of the only rekey's download.
fn proof(analysis: &Analysis) -> Option<&Proof> {
    assert_eq!(analysis.rekeys.len(), 1);
    download(&analysis.rekeys[0]).proof.as_ref()
}

fn assert_proof(analysis: &Analysis, rule: ProofRule, planted_ms: f64, segments: u64) {
    let proof = proof(analysis).unwrap_or_else(|| panic!("nothing is proven of {rule}"));
    assert_eq!((proof.rule, proof.segments), (rule, segments));
    // The clock of the scenarios steps by a tick of 2 ms.
    assert!((proof.outage_ms - planted_ms).abs() <= 4.0, "{proof:?}");
    let frames = &proof.frames;
    assert!(
        (2..=20).contains(&frames.len()) && frames.is_sorted(),
        "{proof:?}"
    );
    let hurt = download(&analysis.rekeys[0]).hurt;
    assert_eq!(hurt, rule.is_outage());
}

/// ```text
/// client ── first message ──▶ server
///        ◀═ 100 segments on the old SA, which is dead, then 340 ms of nothing
///        ◀═ the same 100 on the new SA
/// ```
fn lost_on_old(w: &mut World) {
    let mut qm = begin(w);
    w.message(&mut qm);
    w.steady(30);
    w.go_deaf(100);
    w.message(&mut qm);
    w.wait(20);
    w.message(&mut qm);
    w.wait(320);
    w.switch_down(&qm);
    w.switch_up(&qm);
    resend_lost(w, 100);
    w.steady(AFTER);
}

#[test]
fn rule_a_the_old_sa_was_dead() {
    assert_proof(&played(lost_on_old), ProofRule::LostOnOld, 540.0, 100);
}

/// ```text
/// client ◀══▶ server  three messages
///        ◀═ 8 segments on the new SA, which the client lacks, then 300 ms of nothing
///        ◀═ the same 8
/// ```
fn lost_on_new(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.switch_down(&qm);
    w.go_deaf(8);
    w.wait(300);
    w.switch_up(&qm);
    resend_lost(w, 8);
    w.steady(AFTER);
}

#[test]
fn rule_a_the_receiver_was_not_ready() {
    assert_proof(&played(lost_on_new), ProofRule::LostOnNew, 316.0, 8);
}

/// Two segments in a row are no proof: random loss takes them.
#[test]
fn rule_a_asks_for_three_segments() {
    let two = |w: &mut World| {
        let mut qm = begin(w);
        exchange(w, &mut qm);
        w.switch_down(&qm);
        w.go_deaf(2);
        w.wait(300);
        w.switch_up(&qm);
        resend_lost(w, 2);
        w.steady(AFTER);
    };
    assert_eq!(proof(&played(two)), None);
}

/// ```text
/// client ◀══▶ server  three messages
///         5 segments are dropped by the server's own stack: they use up no ESP number; 400 ms of nothing
///        ◀═ the sixth on the new SA, then the 5
/// ```
fn dropped_by_the_sender(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.acknowledge_all();
    let skipped = w.seq;
    w.seq += 5 * SEGMENT as u32;
    w.wait(400);
    w.switch_up(&qm);
    w.switch_down(&qm);
    w.lost_segment();
    for k in 0..5 {
        w.resend(skipped + k * SEGMENT as u32);
    }
    w.deliver();
    w.steady(AFTER);
}

#[test]
fn rule_b_the_senders_own_stack_dropped_it() {
    let analysis = played(dropped_by_the_sender);
    let found = proof(&analysis).expect("nothing is proven");
    assert_eq!((found.rule, found.segments), (ProofRule::NotSent, 5));
    assert!(found.outage_ms >= 400.0, "{found:?}");
}

/// ```text
/// client ── Delete ──▶ server       (or not: `deletes`)
///         one segment is dropped by the server's own stack
/// client ◀══▶ server  three messages
///        ◀═ the second on the new SA, then the first
/// ```
fn one_dropped(w: &mut World, deletes: bool) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.acknowledge_all();
    w.wait(40);
    if deletes {
        w.delete(w.down.spi);
    }
    let skipped = w.seq;
    w.seq += SEGMENT as u32;
    w.wait(100);
    let mut qm = w.begin(true);
    for _ in 0..3 {
        w.message(&mut qm);
        w.wait(20);
    }
    w.switch_up(&qm);
    w.switch_down(&qm);
    w.lost_segment();
    w.resend(skipped);
    w.deliver();
    w.steady(AFTER);
}

/// Where no SA was there, one segment is enough; else it may have been lost inside.
#[test]
fn rule_b_the_old_sa_was_deleted_first() {
    let analysis = played(|w| one_dropped(w, true));
    let found = proof(&analysis).expect("nothing is proven");
    assert_eq!((found.rule, found.segments), (ProofRule::NotSent, 1));
    assert!((200.0..220.0).contains(&found.outage_ms), "{found:?}");
    let excused = proof(&played(|w| one_dropped(w, false))).map(|p| p.rule);
    assert_ne!(excused, Some(ProofRule::NotSent));
}

/// ```text
///        ◀═ data; 30 segments of it are lost in front of the capture, and the sender counts them against its limit
/// client ── Delete ──▶ server, 5 s of nothing
/// client ◀══▶ server  three messages, and data
/// ```
fn used_up_by_its_sender(w: &mut World) {
    w.establish(6_000);
    while w.carried()[0].inner + 1_300 < 6_000_000 {
        w.blind = (3_000_000..3_036_000).contains(&w.carried()[0].inner);
        w.steady(2);
    }
    w.acknowledge_all();
    w.wait(40);
    w.delete(w.down.spi);
    w.wait(5_000);
    let mut qm = w.begin(true);
    for _ in 0..3 {
        w.message(&mut qm);
        w.wait(20);
    }
    w.switch_up(&qm);
    w.switch_down(&qm);
    w.steady(AFTER);
}

/// The SA passes its limit at the sender only, and nobody asks: no break before make; and the outage, longer than the window of a
/// rekey, is proven.
#[test]
fn rule_b_the_limit_was_reached_by_what_the_capture_lacks() {
    let analysis = played(used_up_by_its_sender);
    let outcomes: Vec<AttemptOutcome> = analysis.attempts.iter().map(|a| a.outcome).collect();
    let expected = [
        AttemptOutcome::Completed,
        AttemptOutcome::LimitWithoutAttempt,
        AttemptOutcome::Completed,
    ];
    assert_eq!(outcomes, expected);
    assert!(
        analysis.attempts[1]
            .causes
            .iter()
            .any(|c| c.id == "limit_without_rekey")
    );
    let found = proof(&analysis).expect("nothing is proven");
    assert_eq!(found.rule, ProofRule::NotSent);
    assert!((5_080.0..5_120.0).contains(&found.outage_ms), "{found:?}");
}

/// The client loses its inbound SA early in its life: no limit, another SA went further.
#[test]
fn an_sa_that_others_outlived_reached_no_limit() {
    let analysis = played(|w| {
        w.steady(BEFORE);
        w.renew_v2(true);
        w.steady(3_000);
        w.go_deaf(100);
        w.repeat_oldest(&[200, 400, 800, 1_600]);
        w.wait(500);
        let mut rekey = w.begin_v2(true);
        w.message_v2(&mut rekey);
        w.wait(20);
        w.message_v2(&mut rekey);
        w.switch_up_v2(&rekey);
        w.switch_down_v2(&rekey);
        resend_lost(w, 100);
        w.steady(AFTER);
    });
    let of_rekeys = analysis.rekeys.iter().flat_map(|r| &r.causes);
    assert!(!of_rekeys.into_iter().any(|c| c.id == "hard_limit_reached"));
    let mut of_attempts = analysis.attempts.iter().flat_map(|a| &a.causes);
    assert!(of_attempts.any(|c| c.id == "blackhole_after_rekey"));
}

/// The server sends all that the SA may carry, and nothing more until the new one stands: all was acknowledged, and the next
/// byte in sequence ends the silence.
fn silent_at(w: &mut World, kilobytes: u32) {
    w.establish(kilobytes);
    w.steady(BEFORE);
    let mut qm = w.begin(true);
    w.message(&mut qm);
    while w.carried()[0].inner + 1_300 < 7_900_000 {
        w.steady(2);
    }
    w.acknowledge_all();
    w.wait(200);
    w.message(&mut qm);
    w.wait(200);
    w.message(&mut qm);
    w.wait(100);
    w.switch_up(&qm);
    w.switch_down(&qm);
    w.steady(AFTER);
}

#[test]
fn rule_b_the_limit_was_reached() {
    assert_proof(&played(|w| silent_at(w, 7_900)), ProofRule::NotSent, 500.0, 0);
}

/// The same silence, far below the limit: not the rekey, whatever the statistics say.
#[test]
fn rule_c_a_sender_that_was_stopped_acquits_the_rekey() {
    let analysis = played(|w| silent_at(w, GENEROUS));
    assert_proof(&analysis, ProofRule::Acquitted, 500.0, 0);
    let headline = &analysis.impact[0];
    assert_eq!(headline.rekeys_hurt, Vec::<usize>::new(), "{}", headline.sentence);
    let causes = analysis.rekeys[0].causes.iter();
    assert_eq!(
        causes.map(|c| c.id.as_str()).collect::<Vec<_>>(),
        ["application_limited"]
    );
}

/// It is stopped 30 ms after the switch: that nothing is sent again says that it heard the acknowledgements on the new SA.
#[test]
fn rule_c_a_sender_that_is_stopped_right_after_the_switch() {
    let analysis = played(|w| {
        let mut qm = begin(w);
        exchange(w, &mut qm);
        w.switch_up(&qm);
        w.switch_down(&qm);
        w.steady(30);
        w.acknowledge_all();
        w.wait(800);
        w.steady(AFTER);
    });
    assert_proof(&analysis, ProofRule::Acquitted, 800.0, 0);
}

/// ```text
/// client ◀═ datagrams, more than 1,500 kB on the old SA: the client drops them
///        ◀══▶ server  three messages, late
///        ◀═ datagrams on the new SA
/// ```
/// Four times over.
fn datagrams_beyond_the_limit(w: &mut World) {
    w.establish(1_500);
    for _ in 0..4 {
        let old = w.down.spi;
        while w.carried()[0].inner < 1_500_000 {
            w.datagrams(2);
        }
        let mut qm = w.begin(true);
        qm.kilobytes = 1_500;
        for _ in 0..3 {
            w.message(&mut qm);
            w.datagrams(100);
        }
        w.switch_up(&qm);
        w.switch_down(&qm);
        w.delete(old);
    }
    w.datagrams(2_500);
}

#[test]
fn rule_d_datagrams_beyond_the_limit_are_no_progress() {
    let analysis = played(datagrams_beyond_the_limit);
    assert_eq!(analysis.rekeys.len(), 4);
    for rekey in &analysis.rekeys {
        let proof = download(rekey).proof.as_ref().expect("nothing is proven");
        assert_eq!(
            (proof.rule, proof.segments),
            (ProofRule::NoFeedback, 150),
            "{proof:?}"
        );
        assert!((proof.outage_ms - 300.0).abs() <= 4.0, "{proof:?}");
    }
    let headline = &analysis.impact[0];
    assert_eq!(headline.verdict, Verdict::Shown, "{}", headline.sentence);
    let says = "packets prove an outage at 4 of 4, of at least 0.30 s each";
    assert!(headline.sentence.contains(says), "{}", headline.sentence);
    let stall = headline.stall_ms.as_ref().unwrap().mean;
    assert!(
        (250.0..350.0).contains(&stall),
        "what was dropped is no progress: {stall}"
    );
}

/// When something happened to an SA, by the log of one side.
fn logged(lab: &Lab, spi: &str, side: &str, is_it: fn(&Value) -> bool) -> Option<f64> {
    let sas = lab.truth["sas"].as_array()?;
    let sa = sas.iter().find(|sa| sa["spi"].as_str() == Some(spi))?;
    let events = sa["events"].as_array()?;
    let own = events.iter().filter(|e| e["side"].as_str() == Some(side));
    own.filter(|e| is_it(e)).find_map(|e| e["t"].as_f64())
}

/// How long the download of a rekey was cut off by the logs, seconds: its data (its receiver's old SA had expired or was
/// removed, or the new one was not there yet), and what the receiver answers (its peer lacked the new SA).
fn logged_outage(lab: &Lab, rekey: &Rekey) -> Option<(f64, f64)> {
    let text = |spi: Option<rekeyscope_model::spi::Spi>| spi.map(|s| s.to_string());
    let (old, new, answers) = (
        text(rekey.old.b_to_a)?,
        text(rekey.new.b_to_a)?,
        text(rekey.new.a_to_b)?,
    );
    let added = |e: &Value| e["op"].as_str() == Some("Added");
    let expired = |e: &Value| match e["op"].as_str() {
        Some("Expired") => e["hard"].as_u64() == Some(1),
        op => op == Some("Deleted"),
    };
    let switched = rekey.switched.b_to_a?.0 as f64 / 1e9;
    let ready = logged(lab, &new, "cli", added)?;
    let dead = logged(lab, &old, "cli", expired).filter(|t| *t < switched);
    let data = switched.max(ready) - dead.unwrap_or(switched);
    let heard = logged(lab, &answers, "srv", added)?;
    Some((
        data,
        heard
            - rekey
                .switched
                .a_to_b
                .map_or(ready, |t| t.0 as f64 / 1e9)
                .min(heard),
    ))
}

/// Every proof has its outage in the logs, every outage of the data that they show is proven, and nobody is acquitted who did
/// harm. Printed: what came of each rekey.
#[test]
fn proofs_are_those_of_the_logs() {
    /// A shorter one may be scheduling.
    const LEAST_LOGGED_S: f64 = 0.05;
    /// What TCP's own queue cannot hide.
    const SURE_S: f64 = 0.08;
    let (mut proven, mut wrong, mut harmed, mut missed) = (0, Vec::new(), 0, Vec::new());
    for (lab, analysis) in analyses() {
        for rekey in &analysis.rekeys {
            let Some((data, answers)) = logged_outage(lab, rekey) else {
                continue;
            };
            let impact = download(rekey);
            let outage = impact.proof.as_ref().filter(|p| p.rule.is_outage());
            let label = format!(
                "{} rekey {}: logs {data:.3} s of data, {answers:.3} s of answers; {:?}",
                lab.name, rekey.index, impact.proof
            );
            println!("{label}");
            let logged = data.max(answers);
            proven += usize::from(outage.is_some());
            harmed += usize::from(data >= SURE_S);
            if outage.is_some() && logged < LEAST_LOGGED_S {
                wrong.push(label);
            } else if outage.is_none() && data >= SURE_S {
                missed.push(label);
            } else if impact.proof.is_some() && outage.is_none() {
                assert!(logged < LEAST_LOGGED_S, "acquitted: {label}");
            }
        }
    }
    println!("{proven} proven, wrong: {wrong:#?}\n{harmed} harmed, missed: {missed:#?}");
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(missed, Vec::<String>::new());
    assert!(proven >= 5, "the samples have as many");
}

/// Nothing is proven where rekeys did no harm.
#[test]
fn nothing_is_proven_of_the_negative_control() {
    let analysis = one("l2tp_time_down").expect("a sample");
    let all = analysis.rekeys.iter().flat_map(|r| &r.impact);
    assert_eq!(
        all.filter(|i| i.proof.as_ref().is_some_and(|p| p.rule.is_outage()))
            .count(),
        0
    );
}

/// UDP inside: what went past the limit was lost, at every rekey.
#[test]
fn datagrams_past_the_limit_make_the_first_sentence() {
    let Some(analysis) = one("x_udp_slowike") else {
        return;
    };
    assert_eq!(analysis.rekeys.len(), 8);
    for rekey in &analysis.rekeys {
        let proof = download(rekey).proof.as_ref();
        assert_eq!(
            proof.map(|p| p.rule),
            Some(ProofRule::NoFeedback),
            "rekey {}",
            rekey.index
        );
    }
    let headline = &analysis.impact[0];
    assert_eq!(headline.verdict, Verdict::Shown, "{}", headline.sentence);
    assert!(
        headline.sentence.contains("past its limit"),
        "{}",
        headline.sentence
    );
}
