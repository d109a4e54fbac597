//! Values of the document as words, the same in every format: what is asked for comes first, in the language of a catalogue.

use crate::words::clean;
use crate::words::ends::up_or_down;
use crate::words::format::{self, UNKNOWN, or_unknown};
use rekeyscope_impact::explain::finding_row;
use rekeyscope_model::analysis::{
    Analysis, Direction, Encapsulation, ExchangeKind, Finding, Flow, Generator, Overlay, OverlayKind,
    SecurityAssociation, Severity, StatedLifetime, Trigger, TriggerKind, TriggerRule, Tunnel, TwoPoints,
};
use rekeyscope_model::text::Catalogue;
use std::net::{IpAddr, SocketAddr};

/// `10.9.0.1 → 10.9.0.2`.
pub(crate) fn direction(t: &Catalogue, analysis: &Analysis, tunnel: usize, direction: Direction) -> String {
    match (analysis.tunnels.get(tunnel), direction) {
        (Some(t), Direction::AToB) => format!("{} → {}", t.a, t.b),
        (Some(t), Direction::BToA) => format!("{} → {}", t.b, t.a),
        (None, d) => fill!(t, "tunnel-direction", tunnel, direction = up_or_down(t, d)),
    }
}

/// `10.66.0.1:5201 → 10.66.0.2:37092`.
pub(crate) fn flow(flow: &Flow) -> String {
    let end = |address: IpAddr, port: Option<u16>| match port {
        Some(port) => SocketAddr::new(address, port).to_string(),
        None => address.to_string(),
    };
    let (src, dst) = (end(flow.src, flow.src_port), end(flow.dst, flow.dst_port));
    format!("{src} → {dst}")
}

/// `10.9.0.2 – 10.9.0.1, IKEv1, ESP in UDP, NAT`.
pub(crate) fn tunnel(t: &Catalogue, tunnel: &Tunnel) -> String {
    let mut parts = vec![format!("{} – {}", tunnel.a, tunnel.b)];
    parts.push(
        tunnel
            .ike_version
            .map_or_else(|| t.word("tunnel-no-ike"), |v| format!("IKEv{v}")),
    );
    parts.push(match tunnel.encapsulation {
        Encapsulation::Esp => "ESP".to_string(),
        Encapsulation::Ah => "AH".to_string(),
        Encapsulation::Udp => t.word("tunnel-udp"),
        Encapsulation::Tcp => t.word("tunnel-tcp"),
    });
    if tunnel.nat {
        parts.push(t.word("tunnel-nat"));
    }
    t.joined(&parts)
}

/// `tcp`, `ipv6-icmp`; the number where IANA has no keyword.
pub(crate) fn protocol(name: &str) -> String {
    let keyword = name
        .parse()
        .ok()
        .and_then(|n| etherparse::IpNumber(n).keyword_str());
    keyword.map_or_else(|| clean::line(name), str::to_lowercase)
}

/// `volume 85 %`, `time 3.0 s`, `unknown`.
pub(crate) fn trigger(t: &Catalogue, trigger: &Trigger) -> String {
    let detail = match (trigger.kind, trigger.fraction, trigger.age_s) {
        (TriggerKind::Time, None, Some(age)) => Some(format::seconds(age)),
        (_, Some(fraction), _) => Some(format::percent(fraction)),
        _ => None,
    };
    let kind = trigger_kind(t, trigger.kind);
    detail.map_or_else(|| kind.clone(), |d| format!("{kind} {d}"))
}

pub(crate) fn trigger_kind(t: &Catalogue, kind: TriggerKind) -> String {
    t.name("trigger", kind.as_str())
}

/// The rule of a trigger in full, for a tool tip or a wide table.
pub(crate) fn trigger_in_full(t: &Catalogue, trigger: &Trigger) -> String {
    let mut parts = Vec::new();
    let least = |value: String| match (trigger.at_least, trigger.at_most) {
        (true, _) => fill!(t, "at-least", value),
        (false, true) => fill!(t, "at-most", value),
        _ => value,
    };
    if let Some(bytes) = trigger.bytes {
        let kilobytes = least(format::count((bytes + 500) / 1_000));
        parts.push(match trigger.limit_kilobytes.map(format::count) {
            Some(limit) => fill!(t, "trigger-bytes-of", kilobytes, limit),
            None => fill!(t, "trigger-bytes-no-limit", bytes = least(format::bytes(bytes))),
        });
    }
    if let Some(counting) = &trigger.counting {
        let what = clean::said(t, counting, &trigger.messages);
        parts.push(fill!(t, "trigger-counting", what));
    }
    if let Some(age) = trigger.age_s {
        let age = least(format::seconds(age));
        parts.push(match trigger.limit_seconds.map(format::count) {
            Some(limit) => fill!(t, "trigger-age-of", age, limit),
            None => fill!(t, "trigger-age-no-limit", age),
        });
    }
    parts.join(&t.word("semicolon"))
}

/// The rules by which each side of a tunnel renews.
pub(crate) fn trigger_rules(t: &Catalogue, analysis: &Analysis, tunnel: usize) -> Vec<String> {
    let rules = analysis.trigger_rules.iter().filter(|r| r.tunnel == tunnel);
    let has_limit = |r: &TriggerRule| r.limit_kilobytes.or(r.limit_seconds).is_some();
    let limited = rules.clone().any(has_limit);
    let stated = stated_lifetime(analysis, tunnel).filter(|_| limited);
    let source = stated.map(|stated| fill!(t, "rule-limit-stated", source = clean::line(&stated.source)));
    rules
        .map(|r| clean::said(t, &r.sentence, &r.messages))
        .chain(source)
        .collect()
}

/// The first lifetime of a tunnel that a text states, because IKE does not tell it.
pub(crate) fn stated_lifetime(analysis: &Analysis, tunnel: usize) -> Option<&StatedLifetime> {
    let mut sas = analysis.sas_of(tunnel);
    sas.find_map(|sa| sa.stated_lifetime.as_ref())
}

/// The losses of each rekey between two capture points.
pub(crate) fn lost_between(t: &Catalogue, points: &TwoPoints, most: usize) -> Vec<String> {
    let rekeys = points.rekeys.iter().take(most);
    rekeys.map(|r| clean::said(t, &r.sentence, &r.messages)).collect()
}

/// Cipher suite of an SA.
pub(crate) fn suite(sa: &SecurityAssociation) -> String {
    match (&sa.encryption, &sa.integrity) {
        (Some(e), Some(i)) if i == "none" => clean::line(e),
        (Some(e), Some(i)) => format!("{}/{}", clean::line(e), clean::line(i)),
        (Some(one), None) | (None, Some(one)) => clean::line(one),
        (None, None) => UNKNOWN.to_string(),
    }
}

/// `iperf3 (run.json)`.
pub(crate) fn overlay(o: &Overlay) -> String {
    let unit = match o.unit.as_str() {
        "" => String::new(),
        unit => format!(", {}", clean::line(unit)),
    };
    format!("{}{unit} ({})", clean::line(&o.name), clean::line(&o.path))
}

/// Values with which an overlay can show what one rekey did: one before it, one at it, one after it.
const LEAST_VALUES: usize = 3;

/// Counts the values of an overlay where they are too few to show anything.
pub(crate) fn few_values(o: &Overlay) -> Option<u64> {
    let values = o.points.len();
    (values < LEAST_VALUES).then_some(values as u64)
}

/// Words the sentences about an overlay; the first says that it has too few values, where it has.
pub(crate) fn overlay_sentences(t: &Catalogue, o: &Overlay) -> Vec<String> {
    let few = few_values(o).map(|values| format::counted(t, "overlay-few", values));
    few.into_iter()
        .chain(clean::all_said(t, &o.sentences, &o.messages))
        .collect()
}

/// This program, as the pages name it that it makes.
pub(crate) const PROGRAM: &str = concat!("rekeyscope ", env!("CARGO_PKG_VERSION"));

/// The program that made a document.
pub(crate) fn program(generator: &Generator) -> String {
    format!(
        "{} {}",
        clean::line(&generator.name),
        clean::line(&generator.version)
    )
}

/// A finding in one sentence, with a word of warning where it is one.
pub(crate) fn finding(t: &Catalogue, f: &Finding) -> String {
    let sentence = clean::said(t, &f.sentence, &f.messages);
    match f.severity {
        Severity::Warning => fill!(t, "warning", sentence),
        Severity::Info => sentence,
    }
}

/// Warnings that a screen has in a few words.
const BRIEF: [&str; 10] = [
    "brief-finding-lost-fragments",
    "brief-finding-one-direction-loss",
    "brief-finding-both-directions-loss",
    "brief-finding-packet-loss",
    "brief-finding-damaged",
    "brief-finding-packets-missing",
    "brief-finding-tiny-fragments",
    "brief-finding-tiny-segments",
    "brief-finding-path-mtu",
    "brief-finding-leak",
];

/// The same in a few words, by the arguments of its first message.
pub(crate) fn brief_finding(t: &Catalogue, f: &Finding) -> Option<String> {
    let first = f.messages.first().filter(|_| f.severity == Severity::Warning)?;
    let is_brief = |id: &&str| id.strip_prefix("brief-") == Some(&first.id);
    let mut brief = first.clone();
    brief.id = BRIEF.into_iter().find(is_brief)?.to_owned();
    Some(fill!(
        t,
        "answer-warning",
        sentence = clean::sentence(&t.say(&brief))
    ))
}

/// An answer must not be read without such a finding.
pub(crate) fn limits_figures(finding: &Finding) -> bool {
    finding_row(&finding.id).is_some_and(|row| row.limits_figures)
}

/// A value of an overlay in its unit.
pub(crate) fn overlay_value(overlay: &Overlay, value: Option<f64>) -> String {
    match overlay.kind {
        OverlayKind::Iperf3 => or_unknown(value, format::rate),
        OverlayKind::Samples => or_unknown(value, format::value),
    }
}

/// An exchange as the RFCs call it.
pub(crate) fn exchange_name(kind: ExchangeKind) -> &'static str {
    match kind {
        ExchangeKind::MainMode => "Main Mode",
        ExchangeKind::AggressiveMode => "Aggressive Mode",
        ExchangeKind::QuickMode => "Quick Mode",
        ExchangeKind::Transaction => "Transaction",
        ExchangeKind::IkeSaInit => "IKE_SA_INIT",
        ExchangeKind::IkeAuth => "IKE_AUTH",
        ExchangeKind::CreateChildSa => "CREATE_CHILD_SA",
        ExchangeKind::Informational => "Informational",
        ExchangeKind::Other => "IKE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{missing_keys, quality};
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    fn t() -> &'static Catalogue {
        Catalogue::of(Language::English)
    }

    #[test]
    fn an_overlay_of_two_values_says_so_first() {
        let mut overlay = example::with_overlays(example::seven_rekeys()).overlays.remove(0);
        assert!(!overlay_sentences(t(), &overlay)[0].starts_with("It has "));
        overlay.points.truncate(2);
        let said = overlay_sentences(t(), &overlay);
        assert!(said[0].starts_with("It has 2 values: "), "{said:?}");
    }

    #[test]
    fn missing_keys_name_the_commands_and_the_files() {
        assert!(missing_keys(t(), &example::seven_rekeys()).is_empty());
        let document = example::build(&example::Shape {
            keys: false,
            ..Default::default()
        });
        let text = missing_keys(t(), &document).join("\n");
        for needed in [
            "16 SAs have",
            "key-info",
            "syslog debug on",
            "--keys",
            "keys.esp_sa",
            "esp_sa",
        ] {
            assert!(text.contains(needed), "{needed} in {text}");
        }
    }

    #[test]
    fn half_a_key_is_not_called_a_missing_one() {
        let mut document = example::build(&example::Shape {
            keys: false,
            ..Default::default()
        });
        for sa in &mut document.security_associations {
            sa.key.status = rekeyscope_model::analysis::KeyStatus::Unverified;
            sa.icv.verified = sa.packets;
        }
        let text = missing_keys(t(), &document).join("\n");
        assert!(
            text.contains("Of the keys of 16 SAs the integrity key fits")
                && !text.contains("no key that the ICV confirms"),
            "{text}"
        );
    }

    #[test]
    fn quality_says_what_limits() {
        let mut document = example::seven_rekeys();
        document.capture.duplicates = 0;
        assert_eq!(
            quality(t(), &document.capture),
            ["No drops, no cuts, no steps of the clock."]
        );
        document.capture.dropped_reported = None;
        document.capture.truncated_file = true;
        document.capture.cut_packets = 1;
        document.capture.time_regressions = 2;
        document.capture.offload_suspected = true;
        assert_eq!(quality(t(), &document.capture).len(), 5);
    }

    #[test]
    fn triggers_say_what_is_known() {
        let mut one = example::seven_rekeys().rekeys.remove(0).trigger;
        assert_eq!(trigger(t(), &one), "volume 85 %");
        assert!(trigger_in_full(t(), &one).starts_with("2,035 of 2,400 kB; counting inner bytes"));
        (one.kind, one.fraction) = (TriggerKind::Time, None);
        assert_eq!(trigger(t(), &one), "time 3.70 s");
        (one.kind, one.age_s) = (TriggerKind::Unknown, None);
        assert_eq!(trigger(t(), &one), "unknown");
    }
}
