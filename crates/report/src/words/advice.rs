//! Advice for the systems that people have. Choosing among sentences, by what the document says; nothing is
//! computed.

mod account;
mod piece;
pub(crate) mod refusals;

pub(crate) use account::of_label;
use piece::Advice;
pub(crate) use refusals::of_refusals;

use crate::words::causes::causes;
use crate::words::focus::Focus;
use crate::words::format;
use rekeyscope_impact::explain::{WindowsClient, told_windows};
use rekeyscope_model::analysis::{Analysis, TriggerKind};
use rekeyscope_model::text::Message;

/// Says what to change, a sentence each: first line 3 of the answer; then other cures of the causes that were found, the costliest first; where rekeys by volume cost
/// something, the systems that the capture names first; then cures of what else the time went to.
pub(crate) fn advice(focus: &Focus, line: &str) -> Vec<String> {
    let (t, analysis) = (focus.t, focus.analysis);
    let said = |advice: Advice| advice.sentence(t);
    let found = causes(focus);
    let cures: Vec<String> = found.iter().filter_map(|found| found.cure()).collect();
    let others = cures.iter().filter(|cure| !line.contains(cure.as_str()));
    let mut out: Vec<String> = others.map(|cure| format::capitalised(cure)).collect();
    out.extend(of_volume(analysis).into_iter().map(said));
    out.extend(account::advice(t, analysis).into_iter().map(said));
    if !out.is_empty() || !cures.is_empty() {
        out.insert(0, line.to_owned());
    }
    out
}

fn of_volume(analysis: &Analysis) -> Vec<Advice> {
    let by_volume = || {
        let mut rekeys = analysis.rekeys.iter();
        rekeys.any(|r| r.trigger.kind == TriggerKind::Volume)
    };
    if !analysis.impact.iter().any(|i| i.verdict.is_harm()) || !by_volume() {
        return Vec::new();
    }
    let mut systems = of_systems(analysis);
    systems.sort_by_key(|a| a.because.is_none());
    systems
}

/// A system whose log can give keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogSystem {
    Yamaha,
    Strongswan,
}

/// The system whose log gave the keys: that one can be told what to change.
pub(crate) fn system_of_keys(analysis: &Analysis) -> Option<LogSystem> {
    let is_log = |name: &str| {
        let mut formats = analysis.key_files.iter().flat_map(|f| &f.formats);
        formats.any(|f| f.starts_with(name))
    };
    let systems = [("yamaha", LogSystem::Yamaha), ("charon", LogSystem::Strongswan)];
    systems
        .into_iter()
        .find_map(|(name, system)| is_log(name).then_some(system))
}

/// The message that says how a client is known to be Windows.
fn evidence(client: WindowsClient) -> &'static str {
    match client {
        WindowsClient::Proposes => "advice-windows-proposes",
        WindowsClient::Named => "advice-windows-named",
        WindowsClient::Possible => "advice-windows-maybe",
    }
}

/// Changes that make volume rekeys rarer, system by system.
fn of_systems(analysis: &Analysis) -> Vec<Advice> {
    // Without keys nothing tells the mode, and without IKE nothing its version.
    let versions = || analysis.tunnels.iter().map(|t| t.ike_version);
    let ikev1 = versions().any(|v| v == Some(1)) || versions().all(|v| v.is_none());
    let unknown = analysis.security_associations.iter().all(|sa| sa.mode.is_none());
    let mut clients = (0..analysis.tunnels.len()).filter_map(|tunnel| told_windows(analysis, tunnel));
    let client = clients.next();
    let system = system_of_keys(analysis);
    let of = |system: &str, because: Option<&'static str>, text: &'static str| Advice {
        system: system.to_owned(),
        because: because.map(Message::new),
        text: Message::new(text),
    };
    let from_log = |own: LogSystem| (system == Some(own)).then_some("advice-log-why");
    let of_windows =
        (client.is_some() || ikev1 && unknown).then(|| of("Windows", client.map(evidence), "advice-windows"));
    let yamaha = if ikev1 {
        "advice-yamaha-ikev1"
    } else {
        "advice-yamaha"
    };
    if client == Some(WindowsClient::Proposes) {
        // A responder takes over what Windows proposes, so that no setting of another system helps.
        return Vec::from_iter(of_windows);
    }
    let advice = [
        of_windows,
        Some(of("Yamaha NVR5x0", from_log(LogSystem::Yamaha), yamaha)),
        Some(of(
            "strongSwan",
            from_log(LogSystem::Strongswan),
            "advice-strongswan",
        )),
    ];
    advice.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::analysis::Mode;
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    fn said(analysis: &Analysis) -> Vec<String> {
        advice(&Focus::new(analysis, Language::English), "Do: this.")
    }

    #[test]
    fn advice_follows_what_was_found() {
        let mut document = example::seven_rekeys();
        let begin = |all: &[String]| -> Vec<String> {
            let words = |text: &String| text.split([' ', ':']).next().unwrap_or_default().to_owned();
            all.iter().map(words).collect()
        };
        assert_eq!(
            begin(&said(&document)),
            ["Do", "Give", "Windows", "Yamaha", "strongSwan", "Receiver's"]
        );
        document.account.clear();
        document.key_files[0].formats = vec!["charon_log".into()];
        document
            .security_associations
            .iter_mut()
            .for_each(|sa| sa.mode = None);
        assert_eq!(
            begin(&said(&document))[2],
            "strongSwan",
            "the system of the log comes first"
        );
        document.rekeys[0].trigger.limit_kilobytes = Some(250_000);
        assert!(said(&document)[2].starts_with("Windows (250,000 kB"));
        for r in &mut document.rekeys {
            r.trigger.kind = TriggerKind::Time;
        }
        document.ledger.clear();
        assert!(said(&document).is_empty());
    }

    #[test]
    fn advice_that_cannot_apply_is_not_given() {
        let mut document = example::seven_rekeys();
        let said = |document: &Analysis| said(document).join("\n");
        assert!(said(&document).contains("L2TP client") && said(&document).contains("IKEv1 responder"));
        document.tunnels.iter_mut().for_each(|t| t.ike_version = Some(2));
        let of_ikev2 = said(&document);
        assert!(
            !of_ikev2.contains("L2TP") && !of_ikev2.contains("IKEv1"),
            "{of_ikev2}"
        );
        assert!(of_ikev2.contains("Yamaha") && of_ikev2.contains("strongSwan"));
        document.tunnels.iter_mut().for_each(|t| t.ike_version = Some(1));
        for sa in &mut document.security_associations {
            sa.mode = Some(Mode::Tunnel);
        }
        assert!(!said(&document).contains("L2TP"), "tunnel mode");
    }

    #[test]
    fn nothing_is_to_be_changed_where_nothing_is_lost() {
        let mut document = example::build(&example::Shape {
            hurt_every: 0,
            ..Default::default()
        });
        document.account.clear();
        assert!(said(&document).is_empty());
    }
}
