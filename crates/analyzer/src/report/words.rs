//! Values of the document as words, the same in every format.

use super::clean;
use super::focus::number;
use super::format::{self, UNKNOWN, or_unknown};
use crate::analysis::{
    Analysis, Capture, Cause, Counted, DiagnosticEntry, Direction, Encapsulation, Impact, KeyFile, KeyStatus,
    Outcome, Overlay, OverlayKind, Rekey, RuledOut, SecurityAssociation, Trigger, TriggerKind, Tunnel,
    Verdict,
};
use std::collections::BTreeMap;

/// Where key files are found without being named, for the sentence that says what is missing.
const FOUND_BESIDE: &str = "<capture>.keylog, <capture>.keys, <capture>.esp_sa, keys.esp_sa, keys.ikev1, keys.ikev2, \
                            esp_sa, ikev1_decryption_table, ikev2_decryption_table";

/// `10.9.0.1 → 10.9.0.2`.
pub(crate) fn direction(analysis: &Analysis, tunnel: usize, direction: Direction) -> String {
    match (analysis.tunnels.get(tunnel), direction) {
        (Some(t), Direction::AToB) => format!("{} → {}", t.a, t.b),
        (Some(t), Direction::BToA) => format!("{} → {}", t.b, t.a),
        (None, d) => format!("tunnel {tunnel}, {d}"),
    }
}

/// `10.9.0.2 – 10.9.0.1, IKEv1, ESP in UDP, NAT`.
pub(crate) fn tunnel(t: &Tunnel) -> String {
    let mut parts = vec![format!("{} – {}", t.a, t.b)];
    parts.push(
        t.ike_version
            .map_or_else(|| "no IKE seen".to_string(), |v| format!("IKEv{v}")),
    );
    parts.push(match t.encapsulation {
        Encapsulation::Esp => "ESP".to_string(),
        Encapsulation::Udp => "ESP in UDP".to_string(),
        Encapsulation::Tcp => "ESP in TCP".to_string(),
    });
    if t.nat {
        parts.push("NAT between them".to_string());
    }
    parts.join(", ")
}

/// The verdict as a label.
pub(crate) fn verdict(v: Verdict) -> &'static str {
    match v {
        Verdict::Shown => "cost shown",
        Verdict::Some => "some rekeys hurt",
        Verdict::Bounded => "no cost that matters",
        Verdict::Inconclusive => "inconclusive",
        Verdict::NoRekeys => "no rekeys",
        Verdict::NoTraffic => "no traffic",
    }
}

/// `volume 85 %`, `time 3.0 s`, `unknown`.
pub(crate) fn trigger(t: &Trigger) -> String {
    let detail = match (t.kind, t.fraction, t.age_s) {
        (TriggerKind::Time, None, Some(age)) => Some(format::seconds(age)),
        (_, Some(fraction), _) => Some(format::percent(fraction)),
        _ => None,
    };
    detail.map_or_else(|| t.kind.to_string(), |d| format!("{} {d}", t.kind))
}

/// The rule of a trigger in full, for a tool tip or a wide table.
pub(crate) fn trigger_in_full(t: &Trigger) -> String {
    let mut parts = Vec::new();
    let least = if t.at_least { "at least " } else { "" };
    let of = |limit: Option<u64>, unit: &str| {
        limit.map_or_else(
            || ", no limit on the wire".into(),
            |l| format!(" of {} {unit}", format::count(l)),
        )
    };
    if let Some(bytes) = t.bytes {
        parts.push(format!(
            "{least}{}{}",
            format::bytes(bytes),
            of(t.limit_kilobytes, "kB")
        ));
    }
    if let Some(counting) = &t.counting {
        parts.push(format!("counting {}", clean::line(counting)));
    }
    if let Some(age) = t.age_s {
        parts.push(format!(
            "age {least}{}{}",
            format::seconds(age),
            of(t.limit_seconds, "s")
        ));
    }
    parts.join("; ")
}

/// What makes each side of a tunnel renew.
pub(crate) fn trigger_rules(analysis: &Analysis, tunnel: usize) -> Vec<String> {
    let rules = analysis.trigger_rules.iter().filter(|r| r.tunnel == tunnel);
    rules.map(|r| clean::line(&r.sentence)).collect()
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

/// A cause in plain words; an identifier that this version does not know stays as it is.
pub(crate) fn cause(id: &str) -> String {
    let known = match id {
        "responder_not_ready" => "data on the new SA before the responder had it installed",
        "old_sa_deleted_early" => "the old SA was deleted while packets were still on their way",
        "asymmetric_switch" => "the two directions switched at different times",
        "hard_limit_reached" => "the old SA passed its hard limit before the new one took over",
        "exchange_retransmitted" => "a message of the exchange was sent again",
        "collision" => "both sides began a rekey at once",
        "replay_drops" => "packets outside the replay window",
        "slow_key_exchange" => "the key computation took long",
        "slow_path" => "a slower path after the new SA was installed",
        "rto_stall" => "the inner TCP waited for its retransmission timer",
        "window_cut" => "the inner TCP cut its window",
        "receiver_limited" => "the receiver's window was closed: not the rekey",
        "application_limited" => "the sender had nothing to send: not the rekey",
        "fragmentation_change" => "packet sizes or fragmentation changed with the new SA",
        "nat_mapping_change" => "the NAT mapping changed",
        "phase1_renewal" => "phase 1 was renewed close by",
        "ppp_trouble" => "L2TP or PPP had trouble of its own",
        "capture_artefact" => "the capture itself has a hole here",
        "desync" => "one side did not know the other's SA",
        other => return clean::line(other),
    };
    known.to_string()
}

/// A cause that was not found, in one sentence.
pub(crate) fn ruled_out(r: &RuledOut) -> String {
    let tested = match r.outcome {
        Outcome::Absent => format!(
            "not found around {}",
            format::counted(r.rekeys_tested as u64, "rekey", "rekeys")
        ),
        Outcome::NotTestable => "cannot be told".to_string(),
        Outcome::NoOccasion => "no occasion".to_string(),
    };
    format!("{tested}: {}.", clean::line(&r.evidence))
}

/// `iperf3 (run.json)`.
pub(crate) fn overlay(o: &Overlay) -> String {
    let unit = match o.unit.as_str() {
        "" => String::new(),
        unit => format!(", {}", clean::line(unit)),
    };
    format!("{}{unit} ({})", clean::line(&o.name), clean::line(&o.path))
}

/// How the run is started again: a word of the shell is what can stand there without quotes, all else is quoted.
pub(crate) fn command(analysis: &Analysis) -> String {
    let mut words = vec!["rekeyscope".to_string(), quoted(&analysis.capture.path)];
    let with_keys = analysis.key_files.iter().filter(|f| f.esp_keys + f.ike_keys > 0);
    for file in with_keys.take(MOST_FILES) {
        words.extend(["--keys".into(), quoted(&file.path)]);
    }
    if let Some(s) = &analysis.settings {
        words.extend(["--seed".into(), s.seed.to_string()]);
        words.extend(["--interest".into(), s.interest_percent.to_string()]);
        words.extend(["--verify".into(), quoted(&s.verify)]);
        let reference = s.reference_bps.map(|r| (r / 1e6).to_string());
        words.extend(reference.into_iter().flat_map(|r| ["--reference-mbps".into(), r]));
    }
    for overlay in analysis.overlays.iter().take(MOST_FILES) {
        let option = match overlay.kind {
            OverlayKind::Iperf3 => "--iperf3",
            OverlayKind::Samples => "--overlay",
        };
        words.extend([option.into(), quoted(&overlay.path)]);
    }
    words.extend(["--html".into(), "report.html".into()]);
    words.join(" ")
}

/// Files named in a command.
const MOST_FILES: usize = 12;

fn quoted(word: &str) -> String {
    let word = clean::line(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:,+@%=".contains(c);
    match word.starts_with('-') {
        false if !word.is_empty() && word.chars().all(plain) => word,
        _ => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A cause with the rekeys that have it.
pub(crate) struct Found<'a> {
    pub(crate) id: &'a str,
    /// In order of time.
    pub(crate) rekeys: Vec<(&'a Rekey, &'a Cause)>,
}

/// All causes of a document, by identifier.
pub(crate) fn causes(analysis: &Analysis) -> Vec<Found<'_>> {
    let mut by_id: BTreeMap<&str, Vec<(&Rekey, &Cause)>> = BTreeMap::new();
    for rekey in &analysis.rekeys {
        for cause in &rekey.causes {
            by_id.entry(&cause.id).or_default().push((rekey, cause));
        }
    }
    by_id
        .into_iter()
        .map(|(id, rekeys)| Found { id, rekeys })
        .collect()
}

impl Found<'_> {
    /// What it means.
    pub(crate) fn title(&self) -> String {
        self.rekeys
            .first()
            .map_or_else(String::new, |(_, c)| cause(&c.id))
    }

    /// `rto_stall: the inner TCP …. Rekeys 2 (high), 5 (medium).`
    pub(crate) fn sentence(&self, most: usize) -> String {
        let shown = self.rekeys.iter().take(most);
        let numbers: Vec<String> = shown
            .map(|(r, c)| format!("{} ({})", number(r), c.confidence))
            .collect();
        let noun = if self.rekeys.len() == 1 { "Rekey" } else { "Rekeys" };
        let more = if self.rekeys.len() > numbers.len() {
            ", …"
        } else {
            ""
        };
        format!(
            "{}: {}. {noun} {}{more}.",
            clean::line(self.id),
            self.title(),
            numbers.join(", ")
        )
    }

    /// The number of the first rekey that has it, and the filter that shows it there.
    pub(crate) fn first_filter(&self) -> Option<(usize, &str)> {
        let (rekey, cause) = self.rekeys.first()?;
        (!cause.display_filter.is_empty()).then(|| (number(rekey), cause.display_filter.as_str()))
    }
}

/// What the rates count.
pub(crate) fn counted(c: Counted) -> &'static str {
    match c {
        Counted::InnerNewBytes => "new inner bytes (retransmissions left out)",
        Counted::OuterBytes => "outer bytes (ESP header to ICV), because keys are missing",
    }
}

/// What the run could have detected.
pub(crate) fn detectable(i: &Impact) -> Option<String> {
    let mde = i.mde_ms?;
    let used = format::counted(i.rekeys_used as u64, "rekey", "rekeys");
    Some(format!(
        "A mean stall of {} or more would have been found (80 % power, {used}).",
        format::duration_ms(mde)
    ))
}

/// How much of the gap to the reference rate the stalls explain.
pub(crate) fn explained(i: &Impact) -> Option<String> {
    let share = i.explained_share.as_ref()?;
    let reference = or_unknown(i.reference_bps, format::rate);
    let shown = i.verdict == Verdict::Shown;
    let message = crate::impact::sentence::words::explained(share, shown, &reference);
    Some(crate::text::Catalogue::of(crate::text::Language::English).say(&message))
}

/// A document without a verdict still begins with a sentence.
pub(crate) fn no_verdict(analysis: &Analysis) -> &'static str {
    match analysis.capture.packets {
        0 => "The capture holds no packets: there is nothing to say about rekeys.",
        _ if analysis.capture.ike_packets > 0 && !analysis.tunnels.is_empty() => {
            "The capture holds IKE but no ESP packets: when keys were renewed is listed, what that cost is not in it."
        }
        _ => "No IPsec tunnel was found in this capture: there is nothing to say about rekeys.",
    }
}

/// The reruns that disagree with the verdict.
pub(crate) fn disagreeing(i: &Impact) -> Option<String> {
    let differing = i.sensitivity.iter().filter(|s| s.disagrees);
    let list: Vec<String> = differing
        .map(|s| format!("{}: {}", clean::line(&s.change), verdict(s.verdict)))
        .collect();
    (!list.is_empty()).then(|| format!("With other choices the verdict differs ({}).", list.join("; ")))
}

/// What the capture is.
pub(crate) fn capture(c: &Capture) -> String {
    let mut links: Vec<String> = c.link_types.iter().take(4).map(|l| clean::line(l)).collect();
    if c.link_types.len() > links.len() {
        links.push(format!("and {} more", c.link_types.len() - links.len()));
    }
    let links = if links.is_empty() {
        String::new()
    } else {
        format!(", {}", links.join(", "))
    };
    let duration = c
        .duration_s
        .map(|s| format!(", {}", format::seconds(s)))
        .unwrap_or_default();
    format!(
        "{}: {}{links}, {}, {}{duration}; ESP {}, IKE {}.",
        clean::line(&c.path),
        c.format,
        format::counted(c.packets, "packet", "packets"),
        format::bytes(c.bytes),
        format::count(c.esp_packets),
        format::count(c.ike_packets)
    )
}

/// What limits the capture, as short sentences; one of them when nothing does.
pub(crate) fn quality(c: &Capture) -> Vec<String> {
    let mut out = Vec::new();
    let n = |n: u64| format::counted(n, "packet", "packets");
    match c.dropped_reported {
        Some(0) => {}
        Some(dropped) => out.push(format!("The capture program dropped {}.", n(dropped))),
        None => out.push("Whether packets were dropped is not recorded in this file.".to_string()),
    }
    if c.truncated_file {
        out.push("The file ends in the middle of a record: everything before that is analysed.".to_string());
    }
    if c.cut_packets > 0 {
        out.push(format!(
            "{} cut by the snap length: capture with -s 0.",
            n(c.cut_packets)
        ));
    }
    if c.duplicates > 0 {
        out.push(format!("{} seen twice, counted once.", n(c.duplicates)));
    }
    if c.time_regressions > 0 {
        out.push(format!("{} earlier than the one before.", n(c.time_regressions)));
    }
    if c.offload_suspected {
        out.push(
            "Packets larger than any link: offloading was on; bytes hold, gap counts do not.".to_string(),
        );
    }
    if out.is_empty() {
        out.push("No drops, no cuts, no steps of the clock.".to_string());
    }
    out
}

/// How many SAs are decrypted, and what the ICVs said.
pub(crate) fn decryption(analysis: &Analysis) -> String {
    let with_packets = || analysis.security_associations.iter().filter(|sa| sa.packets > 0);
    let verified = with_packets()
        .filter(|sa| sa.key.status == KeyStatus::Verified)
        .count() as u64;
    let total = with_packets().count() as u64;
    let sum = |f: fn(&SecurityAssociation) -> u64| with_packets().fold(0u64, |n, sa| n.saturating_add(f(sa)));
    if total == 0 {
        return "No SA carries a packet.".to_string();
    }
    format!(
        "{} of {} with packets decrypted; ICVs: {} fit, {} do not, {} unchecked.",
        format::count(verified),
        format::counted(total, "SA", "SAs"),
        format::count(sum(|sa| sa.icv.verified)),
        format::count(sum(|sa| sa.icv.failed)),
        format::count(sum(|sa| sa.icv.unchecked))
    )
}

/// What is missing and how to get it, paragraph by paragraph; empty when every SA with packets has its key.
pub(crate) fn missing_keys(analysis: &Analysis) -> Vec<String> {
    let mut by_status: BTreeMap<KeyStatus, u64> = BTreeMap::new();
    for sa in analysis.security_associations.iter().filter(|sa| sa.packets > 0) {
        if sa.key.status != KeyStatus::Verified {
            *by_status.entry(sa.key.status).or_default() += 1;
        }
    }
    if by_status.is_empty() {
        return Vec::new();
    }
    let list: Vec<String> = by_status
        .iter()
        .map(|(s, n)| format!("{} {s}", format::count(*n)))
        .collect();
    let total = format::counted(by_status.values().sum(), "SA has", "SAs have");
    let mut out = vec![format!(
        "{total} packets but no key that the ICV confirms ({}).",
        list.join(", ")
    )];
    out.extend(crate::underivable::why_not_derived(analysis));
    if by_status.contains_key(&KeyStatus::Masked) || by_status.contains_key(&KeyStatus::Prefix8) {
        out.push(
            "Masked keys: `show ipsec sa` gives keys on the serial console only, and IKE keys only in part; \
             the key-info log below gives them whole."
                .to_string(),
        );
    }
    out.push(
        "Yamaha NVR/RTX: `ipsec ike log <gateway> key-info message-info payload-info` and `syslog debug on` before \
         the tunnel comes up, then `show log`. strongSwan: charon's log at level 4, or `ip xfrm state` while the SA \
         lives. Or Wireshark's own esp_sa file."
            .to_string(),
    );
    out.push(format!("Give such a file with --keys FILE, or put it beside the capture under one of these names: {FOUND_BESIDE}."));
    out
}

/// A key file in one sentence.
pub(crate) fn key_file(f: &KeyFile) -> String {
    let formats: Vec<String> = f.formats.iter().map(|x| clean::line(x)).collect();
    let formats = if formats.is_empty() {
        "no format recognised".to_string()
    } else {
        formats.join(", ")
    };
    let problems = match f.problems.len() as u64 {
        0 => String::new(),
        n => format!("; {} could not be read", format::counted(n, "row", "rows")),
    };
    format!(
        "{}: {formats}; {}, {}{problems}.",
        clean::line(&f.path),
        format::counted(f.esp_keys, "ESP key", "ESP keys"),
        format::counted(f.ike_keys, "IKE key", "IKE keys")
    )
}

/// An oddity in one sentence.
pub(crate) fn diagnostic(d: &DiagnosticEntry) -> String {
    let first = d
        .first_frame
        .map_or_else(String::new, |f| format!(", first in frame {f}"));
    format!(
        "{} (×{}{first})",
        clean::line(&d.sentence),
        format::count(d.count)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn missing_keys_name_the_commands_and_the_files() {
        assert!(missing_keys(&example::seven_rekeys()).is_empty());
        let document = example::build(&example::Shape {
            keys: false,
            ..Default::default()
        });
        let text = missing_keys(&document).join("\n");
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
    fn quality_says_what_limits() {
        let mut document = example::seven_rekeys();
        document.capture.duplicates = 0;
        assert_eq!(
            quality(&document.capture),
            ["No drops, no cuts, no steps of the clock."]
        );
        document.capture.dropped_reported = None;
        document.capture.truncated_file = true;
        document.capture.cut_packets = 1;
        document.capture.time_regressions = 2;
        document.capture.offload_suspected = true;
        assert_eq!(quality(&document.capture).len(), 5);
    }

    #[test]
    fn triggers_say_what_is_known() {
        let mut t = example::seven_rekeys().rekeys.remove(0).trigger;
        assert_eq!(trigger(&t), "volume 85 %");
        assert!(trigger_in_full(&t).starts_with("2.04 MB of 2,400 kB; counting inner bytes"));
        (t.kind, t.fraction) = (TriggerKind::Time, None);
        assert_eq!(trigger(&t), "time 3.70 s");
        (t.kind, t.age_s) = (TriggerKind::Unknown, None);
        assert_eq!(trigger(&t), "unknown");
    }
}
