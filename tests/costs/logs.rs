//! The silences that rekeys own in the real captures against the logs of the daemons and kernels that `truth.json` was made of.

use super::download;
use crate::support::{Lab, analyses, one};
use rekeyscope_model::analysis::{AccountLabel, Analysis, Direction, LedgerInterval, Rekey};
use serde_json::Value;

/// Time at which something happened to an SA, by the log of one side.
fn logged(lab: &Lab, spi: &str, side: &str, is_it: fn(&Value) -> bool) -> Option<f64> {
    let sas = lab.truth["sas"].as_array()?;
    let sa = sas.iter().find(|sa| sa["spi"].as_str() == Some(spi))?;
    let events = sa["events"].as_array()?;
    let own = events.iter().filter(|e| e["side"].as_str() == Some(side));
    own.filter(|e| is_it(e)).find_map(|e| e["t"].as_f64())
}

/// Seconds for which the download of a rekey was cut off by the logs: its data (its receiver's old SA had expired or was removed, or the
/// new one was not there yet), and what the receiver answers (its peer lacked the new SA).
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

/// Whether a failure owns the time of the rekey's switch: the rekey ended it.
fn is_down(analysis: &Analysis, rekey: &Rekey) -> bool {
    let ledger = analysis.ledger_of(rekey.tunnel, Direction::BToA).unwrap();
    let down = |interval: &LedgerInterval| {
        let switched = rekey.switched.b_to_a.unwrap();
        interval.from <= switched && interval.arrived.is_none_or(|at| at >= switched)
    };
    ledger.down.iter().any(|own| down(&own.interval))
}

/// Every silence that a rekey owns has its outage in the logs, and every outage of the data that they show is owned. Printed: what came of
/// each rekey.
#[test]
fn owned_silences_are_those_of_the_logs() {
    /// Shortest outage that must be owned: a shorter one may be scheduling, two ticks of 20 ms.
    const LEAST_LOGGED_S: f64 = 0.04;
    /// Shortest outage that TCP's own queue cannot hide.
    const SURE_S: f64 = 0.08;
    let (mut owned, mut wrong, mut harmed, mut missed) = (0, Vec::new(), 0, Vec::new());
    for (lab, analysis) in analyses() {
        for rekey in &analysis.rekeys {
            let Some((data, answers)) = logged_outage(lab, rekey) else {
                continue;
            };
            let impact = download(rekey);
            let silence = impact.silence_ms.unwrap_or(0.0) / 1_000.0;
            let label = format!(
                "{} rekey {}: logs {data:.3} s of data, {answers:.3} s of answers; {:?} s for {:?}",
                lab.name, rekey.index, impact.silence_ms, impact.why
            );
            println!("{label}");
            let logged = data.max(answers);
            owned += usize::from(silence >= LEAST_LOGGED_S);
            harmed += usize::from(data >= SURE_S);
            if silence >= 2.0 * LEAST_LOGGED_S && logged < LEAST_LOGGED_S {
                wrong.push(label);
            } else if !impact.hurt && data >= SURE_S && !is_down(analysis, rekey) {
                missed.push(label);
            }
        }
    }
    println!("{owned} owned, wrong: {wrong:#?}\n{harmed} harmed, missed: {missed:#?}");
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(missed, Vec::<String>::new());
    assert!(owned >= 5, "the samples have as many");
}

/// Nothing is owned where rekeys did no harm.
#[test]
fn the_negative_control_owns_nothing() {
    let analysis = one("l2tp_time_down").expect("a sample");
    let all = analysis.rekeys.iter().flat_map(|r| &r.impact);
    assert_eq!(all.filter(|i| i.hurt).count(), 0);
    assert!(analysis.ledger.iter().all(|ledger| ledger.cost_seconds == 0.0));
}

/// The seconds of all labels are those of the transfer, those of rekeys and failures are the ledger's, and the costs of the rekeys are the
/// headline's.
#[test]
fn headline_table_and_account_are_one_book() {
    for (lab, analysis) in analyses() {
        for ledger in &analysis.ledger {
            let what = format!("{} {}", lab.name, ledger.direction);
            let near = |a: f64, b: f64| (a - b).abs() <= 2e-9 * a.abs().max(1.0);
            let of = |(tunnel, direction)| (tunnel, direction) == (ledger.tunnel, ledger.direction);
            let table = analysis.rekeys.iter().flat_map(|r| {
                let own = r.impact.iter().filter(|i| of((r.tunnel, i.direction)));
                own.filter_map(|i| i.cost_seconds)
            });
            assert!(near(table.sum(), ledger.cost_seconds), "{what}");
            assert!(near(ledger.share * ledger.seconds, ledger.cost_seconds), "{what}");
            let account = analysis
                .account
                .iter()
                .find(|a| of((a.tunnel, a.direction)))
                .unwrap();
            let row = |label: AccountLabel| -> f64 {
                let own = account.labels.iter().filter(|line| line.label == label);
                own.map(|line| line.seconds).sum()
            };
            assert!(near(row(AccountLabel::Rekey), ledger.cost_seconds), "{what}");
            let down: f64 = ledger.down.iter().map(|down| down.cost_seconds).sum();
            assert!(near(row(AccountLabel::TunnelDown), down), "{what}");
            assert!(near(account.seconds, ledger.seconds), "{what}");
            assert_eq!(account.bytes, ledger.bytes, "{what}");
            let all: f64 = account.labels.iter().map(|line| line.seconds).sum();
            assert!(near(all, account.seconds), "{what}");
        }
    }
}
