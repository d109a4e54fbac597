//! Real captures in which rekeys fail, against the logs of daemons and kernels: what failed is line 1, and the
//! outage begins and ends when they say it did.

use crate::support::{Lab, analyses, keyless, nanos, repository};
use rekeyscope_model::analysis::{Analysis, AttemptOutcome, Direction, Outage, OutageEnd, Verdict};
use rekeyscope_report::words::answer_lines;
use rekeyscope_testkit::lab;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What the logs' clock and the capture's, on either end of the path, may differ by.
const WITHIN_S: f64 = 0.05;

/// One of the captures, analysed, where the captures are.
fn lab(name: &str) -> Option<&'static (Lab, Analysis)> {
    lab::capture(name)?;
    analyses().iter().find(|(lab, _)| lab.name == name)
}

fn seconds(value: &Value) -> f64 {
    nanos(value) as f64 / 1e9
}

fn start(outage: &Outage) -> f64 {
    outage.start.0 as f64 / 1e9
}

fn sa<'a>(truth: &'a Value, spi: &str) -> &'a Value {
    let mut all = truth["sas"].as_array().unwrap().iter();
    all.find(|sa| sa["spi"] == spi).unwrap()
}

/// When an SA carried its first packet.
fn first_packet(truth: &Value, spi: &str) -> f64 {
    seconds(&sa(truth, spi)["capture"]["first_t"])
}

/// The kernel's report that the client's inbound SA ended.
fn hard_expiry(truth: &Value, n: usize) -> f64 {
    seconds(&truth["hard_expires"][n]["t"])
}

fn assert_outage(label: &str, outage: &Outage, from: f64, to: Option<f64>) {
    assert!(
        (start(outage) - from).abs() <= WITHIN_S,
        "{label}: begins {} s after the log's",
        start(outage) - from
    );
    assert_eq!(outage.end.is_none(), to.is_none(), "{label}");
    if let Some(to) = to {
        let length = to - from;
        assert!(
            (outage.seconds - length).abs() <= WITHIN_S,
            "{label}: {} s, not {length} s",
            outage.seconds
        );
    }
    assert_eq!(outage.direction, Direction::BToA, "{label}");
}

#[test]
fn a_refused_rekey_is_line_1() {
    let Some((lab, analysis)) = lab("fail_refused_ikev2_down") else {
        return;
    };
    let headline = &analysis.impact[0];
    assert_eq!(headline.verdict, Verdict::Failed);
    assert_eq!(
        answer_lines(analysis).headline,
        "The gateway refused the renewal: down since 15.36 s (73.8 s)."
    );
    assert!(
        analysis
            .attempts
            .iter()
            .all(|a| a.outcome == AttemptOutcome::Refused)
    );
    let [outage] = &analysis.outages[..] else {
        panic!("{:?}", analysis.outages)
    };
    assert_outage("refused", outage, hard_expiry(&lab.truth, 0), None);
    assert!(outage.at_least);
    let until_the_end = seconds(&lab.truth["capture"]["t_end"]) - hard_expiry(&lab.truth, 0);
    assert!(
        (outage.seconds - until_the_end).abs() <= WITHIN_S,
        "{}",
        outage.seconds
    );
}

#[test]
fn a_rekey_that_is_answered_late_costs_what_nobody_delivered() {
    let Some((lab, analysis)) = lab("fail_unanswered_down") else {
        return;
    };
    let headline = &analysis.impact[0];
    assert_eq!(headline.verdict, Verdict::Failed, "{}", headline.sentence);
    let [outage] = &analysis.outages[..] else {
        panic!("{:?}", analysis.outages)
    };
    let end = first_packet(&lab.truth, "0xcf11828b");
    assert_outage("unanswered", outage, hard_expiry(&lab.truth, 0), Some(end));
    assert_eq!(outage.ended_by, OutageEnd::NewSa);
}

#[test]
fn an_sa_that_its_receiver_lost_is_line_1() {
    let Some((lab, analysis)) = lab("fail_blackhole_down") else {
        return;
    };
    let headline = &analysis.impact[0];
    assert_eq!(headline.verdict, Verdict::Failed);
    assert_eq!(
        answer_lines(analysis).headline,
        "The client fell silent at 23.80 s: nothing passed for 13.1 s."
    );
    let lost = sa(&lab.truth, "0xc6146a88")["events"].as_array().unwrap().iter();
    let mut lost = lost.filter(|e| e["side"] == "cli" && e["op"] == "Deleted");
    let from = seconds(&lost.next().unwrap()["t"]);
    let [outage] = &analysis.outages[..] else {
        panic!("{:?}", analysis.outages)
    };
    // A control message passes on the new SA at once; the transfer stands until its sender's timer has run out.
    let passable = first_packet(&lab.truth, "0xc9f324f3");
    let end = outage.end.unwrap().0 as f64 / 1e9;
    assert_outage("black hole", outage, from, Some(end));
    assert!(end > passable + 5.0, "{end}");
    let (first, last) = outage.dead.unwrap();
    assert!((first.0 as f64 / 1e9 - from).abs() <= WITHIN_S && last.0 as f64 / 1e9 <= passable);
}

/// UDP goes on beyond the limit of its SA, and the client's kernel drops it.
#[test]
fn what_passes_the_limit_is_not_delivered() {
    let Some((lab, analysis)) = lab("x_udp_slowike") else {
        return;
    };
    let expired = lab.truth["hard_expires"].as_array().unwrap();
    assert_eq!(analysis.outages.len(), expired.len());
    for (outage, expired) in analysis.outages.iter().zip(expired) {
        let spi = format!("0x{}", expired["spi"].as_str().unwrap());
        let old = analysis
            .security_associations
            .iter()
            .find(|sa| sa.spi.to_string() == spi);
        let end = old.unwrap().last_time.unwrap();
        assert_outage(&spi, outage, seconds(&expired["t"]), Some(end.0 as f64 / 1e9));
        assert_eq!(outage.ended_by, OutageEnd::NewSa);
    }
}

/// The sending kernel's own account (`tcp_info`, ten times a second): nothing more is acknowledged in an outage.
#[test]
fn the_senders_kernel_sees_nothing_acknowledged_in_an_outage() {
    for name in [
        "fail_refused_ikev2_down",
        "fail_unanswered_down",
        "fail_blackhole_down",
    ] {
        let Some((lab, analysis)) = lab(name) else {
            continue;
        };
        let log = std::fs::read_to_string(lab.capture.with_file_name("tcpinfo.srv.log")).unwrap();
        let of_transfer = transfer(&log);
        let outage = &analysis.outages[0];
        let (from, to) = (start(outage) + 2.0 * WITHIN_S, start(outage) + outage.seconds);
        let within: Vec<u64> = of_transfer
            .iter()
            .filter(|(time, _)| (from..to).contains(time))
            .map(|(_, acked)| *acked)
            .collect();
        assert!(within.len() >= 10, "{name}: {} polls", within.len());
        assert!(within.iter().all(|acked| *acked == within[0]), "{name}");
        let before = of_transfer
            .iter()
            .rev()
            .find(|(time, _)| *time < from - 4.0 * WITHIN_S);
        assert!(
            before.unwrap().1 < within[0],
            "{name}: it had been moving until then"
        );
    }
}

/// Times and acknowledged bytes of the connection that carried most.
fn transfer(log: &str) -> Vec<(f64, u64)> {
    let rows: Vec<(String, f64, u64)> = log
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let acked = words.iter().find_map(|w| w.strip_prefix("acked="))?;
            let ends = format!("{} {}", words.get(2)?, words.get(3)?);
            Some((ends, words[0].parse().ok()?, acked.parse().ok()?))
        })
        .collect();
    let busiest = rows.iter().max_by_key(|(_, _, acked)| *acked).unwrap().0.clone();
    let own = rows.into_iter().filter(|(ends, ..)| *ends == busiest);
    own.map(|(_, time, acked)| (time, acked)).collect()
}

/// Without any key, the lengths and times of the messages tell the same.
#[test]
fn attempts_are_the_same_without_keys() {
    for name in [
        "fail_refused_ikev2_down",
        "fail_unanswered_down",
        "l2tp_qm3drop_down",
    ] {
        let Some((_, with)) = lab(name) else { continue };
        let (_, without) = keyless().iter().find(|(lab, _)| lab.name == name).unwrap();
        let outcomes = |a: &Analysis| -> Vec<_> {
            a.attempts
                .iter()
                .map(|a| (a.exchange, a.outcome, a.transmissions))
                .collect()
        };
        assert_eq!(outcomes(without), outcomes(with), "{name}");
    }
}

/// In the captures whose rekeys all succeed, every attempt did.
#[test]
fn rekeys_that_succeed_are_completed_attempts() {
    for (lab, analysis) in analyses()
        .iter()
        .filter(|(lab, _)| !lab.name.starts_with("fail_"))
    {
        let done = [AttemptOutcome::Completed, AttemptOutcome::CompletedUnused];
        let outcomes: Vec<_> = analysis.attempts.iter().map(|a| a.outcome).collect();
        assert!(
            outcomes.iter().all(|o| done.contains(o)),
            "{}: {outcomes:?}",
            lab.name
        );
        let of_rekeys = analysis.attempts.iter().filter(|a| a.rekey.is_some()).count();
        assert_eq!(of_rekeys, analysis.rekeys.len(), "{}", lab.name);
        assert!(
            analysis.impact.iter().all(|i| i.verdict != Verdict::Failed),
            "{}",
            lab.name
        );
    }
}

/// A document of version 1 has neither attempts nor outages, and says what it said. (Made by version 1 of a lab capture.)
#[test]
fn documents_of_version_1_still_render() {
    let path = repository().join("tests/documents/version1.json");
    let saved: Analysis = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(saved.schema_version, 1);
    assert!(saved.attempts.is_empty() && saved.outages.is_empty());
    let report = |args: &[&str], path: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
        let output = command.arg("report").arg(path).args(args).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = squeezed(&report(&["-v"], &path));
    assert!(text.contains(&squeezed(&saved.impact[0].sentence)), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    report(&["--html", page.to_str().unwrap()], &path);
    assert!(std::fs::read_to_string(page).unwrap().contains("rekey"));
}
