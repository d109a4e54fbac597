//! Lifetimes of texts without keys, where IKE is encrypted: captures of the lab beside **constructed** texts in the shapes of what the programs print.

use super::*;
use crate::support::analyze_with;
use rekeyscope_model::analysis::{Lifetime, TriggerKind};
use rekeyscope_model::text::Language;
use rekeyscope_report::formats::text::{TextOptions, render_in_full};

/// A listing of Windows' SAs, each with its lifetime behind the SPIs.
fn quick_mode_sas(analysis: &Analysis, seconds: u64, kilobytes: u64) -> String {
    let rekeys = analysis.rekeys.iter().flat_map(|rekey| [&rekey.old, &rekey.new]);
    let record = |pair: &rekeyscope_model::analysis::SpiPair| {
        let (inbound, outbound) = (pair.b_to_a.unwrap().0, pair.a_to_b.unwrap().0);
        format!(
            "TransportLayerFilterName : L2TP\nInboundSPI : {inbound}\nOutboundSPI : {outbound}\nLifetimeSeconds : {seconds}\nLifetimeKilobytes : {kilobytes}\n\n"
        )
    };
    rekeys.map(record).collect()
}

fn limits(analysis: &Analysis) -> Vec<(Option<u64>, Option<u64>)> {
    let rules = analysis.trigger_rules.iter();
    rules
        .map(|rule| (rule.limit_kilobytes, rule.limit_seconds))
        .collect()
}

/// The full report on one line.
fn text_of(analysis: &Analysis) -> String {
    let options = TextOptions {
        width: 100,
        color: false,
        language: Language::English,
    };
    let report = render_in_full(analysis, options);
    report.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_stated_lifetime_names_the_trigger_where_ike_is_encrypted() {
    for (name, kind, seconds, kilobytes) in [
        ("l2tp_time_down", TriggerKind::Time, 6, 250_000),
        ("l2tp_kb_modp1024_down", TriggerKind::Volume, 3_600, 2_600),
    ] {
        let Some(capture) = captures().into_iter().find(|capture| capture.name == name) else {
            continue;
        };
        let (closed, _) = open_with(&capture.pcap(), b"");
        assert!(
            limits(&closed).iter().all(|limits| *limits == (None, None)),
            "{name}"
        );
        let listing = quick_mode_sas(&closed, seconds, kilobytes);
        let (stated, _) = open_with(&capture.pcap(), listing.as_bytes());
        assert!(
            limits(&stated)
                .iter()
                .all(|limits| *limits == (Some(kilobytes), Some(seconds))),
            "{name}"
        );
        let of_kind = stated
            .rekeys
            .iter()
            .filter(|rekey| rekey.trigger.kind == kind)
            .count();
        assert_eq!(of_kind, stated.rekeys.len(), "{name}");
        let first = stated.security_associations[0].stated_lifetime.as_ref().unwrap();
        let lifetime = Lifetime {
            seconds: Some(seconds),
            kilobytes: Some(kilobytes),
        };
        assert_eq!(first.lifetime, lifetime, "{name}");
        assert!(first.source.starts_with("log:"), "{name}: {}", first.source);
        let text = text_of(&stated);
        assert!(text.contains("the lifetime is what log:"), "{name}: {text}");
    }
}

#[test]
fn what_ike_negotiated_goes_before_what_a_text_states() {
    let Some(capture) = captures()
        .into_iter()
        .find(|capture| capture.name == "l2tp_kb_modp1024_down")
    else {
        return;
    };
    let keys = capture.log("keys.ikev1");
    let (opened, _) = open_with(&capture.pcap(), &keys);
    let listing = quick_mode_sas(&opened, 7, 7);
    let mut material = KeyMaterial::default();
    material.read_bytes(Path::new("keys.ikev1"), &keys);
    material.read_bytes(Path::new("listing"), listing.as_bytes());
    assert!(!material.lifetimes.is_empty());
    let both = analyze_with(&capture.pcap(), material);
    assert_eq!(limits(&both), limits(&opened));
    assert!(
        both.security_associations
            .iter()
            .all(|sa| sa.stated_lifetime.is_none())
    );
    assert!(!text_of(&both).contains("the lifetime is what"));
}
