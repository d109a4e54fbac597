//! What a capture may do to its packets without changing the answer: IKE left out, the beginning cut off, clocks that step,
//! files joined out of order. Made from the lab's real captures by leaving out or moving frames; the whole capture is what they are
//! compared with.
mod clock;
mod holes;

use crate::support::{Lab, analyze, lab_of_sample, labs};
use rekeyscope_model::analysis::*;
use rekeyscope_testkit::containers::{Packet, read_pcap, write_pcap};

/// Rates agree to this share: a step is known to what the peers' clocks tell (1 ms ticks measured over seconds, 0.1 s of 30 s at
/// most), and a gap that is cut differently moves the ends of the transfer by a bin or two.
const RATE_TOLERANCE: f64 = 0.01;

fn lab(name: &str) -> Option<Lab> {
    labs().into_iter().find(|lab| lab.name == name)
}

/// Analyses changed packets with the keys of the capture they come from.
fn changed(lab: &Lab, keys: bool, change: impl FnOnce(Vec<Packet>) -> Vec<Packet>) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.pcap");
    write_pcap(&path, &change(read_pcap(&lab.capture)));
    analyze(&path, if keys { &lab.keys } else { &[] })
}

fn whole(lab: &Lab) -> Analysis {
    analyze(&lab.capture, &lab.keys)
}

fn rate(analysis: &Analysis) -> f64 {
    analysis.impact[0].observed_bps.unwrap()
}

fn assert_same_rate(changed: &Analysis, whole: &Analysis, what: &str) {
    let (c, w) = (rate(changed), rate(whole));
    assert!(
        (c - w).abs() <= RATE_TOLERANCE * w,
        "{what}: {c} instead of {w} bit/s"
    );
}

fn has_finding(analysis: &Analysis, id: &str) -> bool {
    analysis.findings.iter().any(|f| f.id == id)
}

/// Captures whose stalls are shown, as far as they are there.
fn with_stalls() -> Vec<Lab> {
    let found: Vec<Lab> = ["l2tp_pfs4096_down", "l2tp_qm3drop_down"]
        .into_iter()
        .filter_map(lab)
        .collect();
    assert!(!found.is_empty());
    found
}

/// The whole capture's cost of rekeys and failures.
fn cost_s(analysis: &Analysis) -> f64 {
    let ledger = &analysis.ledger[0];
    let down: f64 = ledger.down.iter().map(|down| down.cost_seconds).sum();
    ledger.cost_seconds + down
}

/// A dead SA swallows packets visibly, without a single message of IKE.
#[test]
fn without_ike_the_cost_is_the_same() {
    for lab in with_stalls() {
        let stripped = changed(&lab, true, |packets| {
            packets.into_iter().filter(|p| !p.is_ike()).collect()
        });
        assert_eq!(stripped.capture.ike_packets, 0, "{}", lab.name);
        let (found, expected) = (cost_s(&stripped), cost_s(&whole(&lab)));
        assert!(
            (found - expected).abs() <= 0.05 * expected,
            "{}: {found}, {expected}",
            lab.name
        );
    }
}

/// Packets count as ESP where a key opens a part only: the cost is exactly that without keys, and no outage is told beside it.
fn assert_as_without_keys(analysis: &Analysis, lab: &Lab, what: &str) {
    let impact = &analysis.impact[0];
    let what = format!("{}, {what}: {}", lab.name, impact.sentence);
    assert_eq!(impact.verdict, Verdict::Shown, "{what}");
    let sealed = analyze(&lab.capture, &[]);
    assert_eq!(cost_s(analysis), cost_s(&sealed), "{what}");
    let open = analysis.outages.iter().find(|outage| outage.end.is_none());
    assert!(open.is_none(), "{what}: {open:?}");
}

/// At 128 and 600 bytes acknowledgements can be read, and data cannot.
#[test]
fn a_snap_length_leaves_the_cost() {
    for lab in with_stalls() {
        let cut = |length: usize, keys: bool| {
            changed(&lab, keys, |mut packets| {
                packets.iter_mut().for_each(|p| p.data.truncate(length));
                packets
            })
        };
        for length in [128, 600] {
            assert_as_without_keys(&cut(length, true), &lab, &format!("{length} bytes"));
        }
        let headers = cut(60, false);
        assert_eq!(headers.impact[0].verdict, Verdict::Shown, "{}", lab.name);
        let (found, expected) = (cost_s(&headers), cost_s(&whole(&lab)));
        assert!(
            found <= 1.1 * expected && found >= 0.5 * expected,
            "{}: {found}, {expected}",
            lab.name
        );
    }
}

/// What goes on in SAs whose keys are not known is not lost.
#[test]
fn keys_of_the_first_sas_leave_the_cost() {
    for lab in with_stalls() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("part.esp_sa");
        for rows in [2, 4] {
            let whole = lab
                .keys
                .iter()
                .find(|file| file.extension().is_some_and(|of| of == "esp_sa"))
                .unwrap();
            let keys = std::fs::read_to_string(whole).unwrap();
            let part: String = keys.lines().take(rows).flat_map(|row| [row, "\n"]).collect();
            std::fs::write(&table, part).unwrap();
            let analysis = analyze(&lab.capture, std::slice::from_ref(&table));
            assert_as_without_keys(&analysis, &lab, &format!("{rows} keys"));
        }
    }
}

#[test]
fn one_side_of_ike_is_enough_for_the_rekeys() {
    for lab in with_stalls() {
        let full = whole(&lab);
        let initiator = full.rekeys[0].initiator.unwrap();
        for keys in [true, false] {
            let what = format!("{}, keys: {keys}", lab.name);
            let responder_only = changed(&lab, keys, |packets| {
                let keep = |p: &Packet| !p.is_ike() || !p.is_from(initiator);
                packets.into_iter().filter(keep).collect()
            });
            assert_eq!(responder_only.rekeys.len(), full.rekeys.len(), "{what}");
            for rekey in &responder_only.rekeys {
                assert!(rekey.exchange.is_some(), "{what}: rekey {}", rekey.index);
                assert!(
                    rekey.started.is_none(),
                    "{what}: its first message is not in the capture"
                );
                assert_ne!(rekey.initiator, Some(full.tunnels[0].b), "{what}: the responder");
            }
            let impact = &responder_only.impact[0];
            assert_eq!(impact.verdict, Verdict::Shown, "{what}: {}", impact.sentence);
            let (found, expected) = (cost_s(&responder_only), cost_s(&full));
            assert!(
                found <= 1.1 * expected && found >= 0.5 * expected,
                "{what}: {found}, {expected}"
            );
        }
    }
}

/// The capture begins right after the first message of a rekey's exchange.
#[test]
fn an_exchange_that_the_beginning_cuts_is_one_rekey_without_a_beginning() {
    for lab in labs().into_iter().filter(|l| !l.name.contains("natt")) {
        let full = whole(&lab);
        if full.rekeys.is_empty() {
            continue; // all were refused
        }
        // A rekey whose old SAs are still in use behind that message: else nothing shows what was renewed.
        let (at, cut, from) = (full.rekeys.iter().enumerate().skip(1))
            .find_map(|(at, rekey)| {
                let exchange = &full.exchanges[rekey.exchange?];
                let from = exchange.frames[0]; // 1-based: the next frame's index
                let is_old = |spi| [rekey.old.a_to_b, rekey.old.b_to_a].contains(&Some(spi));
                let in_use = |sa: &&SecurityAssociation| is_old(sa.spi) && sa.last_frame > Some(from);
                let found = full.security_associations.iter().find(in_use);
                found.map(|_| (at, exchange, from as usize))
            })
            .unwrap();
        // A first message that is sent again is there after all: nothing shows that there was one before.
        let mut again = false;
        let rest = changed(&lab, true, |packets| {
            again = packets[cut.frames[1] as usize - 1].is_from(cut.initiator.unwrap());
            packets[from..].to_vec()
        });
        let what = &lab.name;
        assert_eq!(rest.rekeys.len(), full.rekeys.len() - at, "{what}: rekeys");
        let rekey = &rest.rekeys[0];
        let exchange = &rest.exchanges[rekey.exchange.unwrap()];
        assert_eq!(exchange.message_id, cut.message_id, "{what}");
        assert_eq!(
            (exchange.began_earlier, rekey.started, rekey.exchange_ms.is_none()),
            (!again, again.then_some(exchange.first_time), !again),
            "{what}"
        );
        assert_eq!(rekey.initiator, full.rekeys[at].initiator, "{what}");
        assert_eq!(
            rest.tunnels[0].a, full.tunnels[0].a,
            "{what}: the initiator's side"
        );
        assert!(
            rekey.trigger.at_least && rekey.trigger.fraction.is_none(),
            "{what}: {:?}",
            rekey.trigger
        );
        for (ours, theirs) in rest.rekeys[1..].iter().zip(&full.rekeys[at + 1..]) {
            assert_eq!(ours.new, theirs.new, "{what}");
            assert_eq!(ours.initiator, theirs.initiator, "{what}");
        }
    }
}

/// More rows of other SAs than are kept come before the right ones.
#[test]
fn keys_of_the_capture_are_kept_among_any_number_of_others() {
    let lab = lab_of_sample("l2tp_pfs4096_down");
    let folder = tempfile::tempdir().unwrap();
    let mut rows = String::new();
    for spi in 0..=rekeyscope_keylog::MOST_ESP_KEYS {
        let key = format!("{spi:040x}");
        rows += &format!(
            "\"IPv4\",\"*\",\"*\",\"0x{spi:08x}\",\"AES-CBC [RFC3602]\",\"0x{}\",\"HMAC-SHA-1-96 [RFC2404]\",\"0x{key}\"\n",
            &key[8..]
        );
    }
    let own = lab
        .keys
        .iter()
        .find(|k| k.to_string_lossy().ends_with("esp_sa"))
        .unwrap();
    rows += &std::fs::read_to_string(own).unwrap();
    let keys = folder.path().join("years.esp_sa");
    std::fs::write(&keys, rows).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_rekeyscope"))
        .arg(&lab.capture)
        .arg("--keys")
        .arg(&keys)
        .args(["--json", "-"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let analysis: Analysis = serde_json::from_slice(&output.stdout).unwrap();
    let open = analysis.security_associations.iter().filter(|sa| sa.packets > 0);
    assert!(open.clone().count() > 1);
    for sa in open {
        assert_eq!(sa.key.status, KeyStatus::Verified, "{}", sa.spi);
    }
}

/// Volumes that were read at a later message, or over the whole SA, are upper bounds, and so is the rule.
#[test]
fn without_its_first_message_a_volume_is_an_upper_bound() {
    let lab = lab("l2tp_kb_modp1024_down").unwrap();
    let full = whole(&lab);
    let b = full.tunnels[0].b;
    let changes: [(&str, Box<dyn Fn(&Packet) -> bool>); 2] = [
        ("no IKE", Box::new(|p| !p.is_ike())),
        ("one direction", Box::new(move |p| p.is_from(b))),
    ];
    for (what, keep) in changes {
        let part = changed(&lab, true, |packets| {
            packets.into_iter().filter(|p| keep(p)).collect()
        });
        assert_eq!(part.rekeys.len(), full.rekeys.len(), "{what}");
        for (ours, theirs) in part.rekeys.iter().zip(&full.rekeys) {
            let (ours, theirs) = (&ours.trigger, &theirs.trigger);
            assert!(
                ours.at_most && !ours.at_least && ours.fraction.is_none(),
                "{what}: {ours:?}"
            );
            assert!(
                ours.bytes >= theirs.bytes && ours.age_s >= theirs.age_s.map(|_| 0.0),
                "{what}: {ours:?}"
            );
        }
        let (rule, truth) = (&part.trigger_rules[0], &full.trigger_rules[0]);
        assert!(
            rule.at_most && rule.soft_limit >= truth.soft_limit,
            "{what}: {rule:?}"
        );
        assert!(rule.sentence.contains("or less"), "{what}: {}", rule.sentence);
        assert!(!has_finding(&part, "redundant_sas"), "{what}");
        for rekey in &part.rekeys {
            let exchange = rekey.exchange.map(|e| part.exchanges[e].initiator);
            assert!(
                exchange.is_none_or(|initiator| initiator == rekey.initiator),
                "{what}"
            );
        }
    }
}
