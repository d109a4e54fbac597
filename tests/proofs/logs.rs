//! The proofs of the real captures against the logs of the daemons and kernels that `truth.json` was made of.

use super::download;
use crate::support::{Lab, analyses, one};
use rekeyscope_model::analysis::Rekey;
use serde_json::Value;

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
