//! What to change, on the systems that people have. Choosing among sentences, by what the document says; nothing is
//! computed.

mod account;
mod piece;

pub(crate) use account::of_label;
use piece::Advice;

use crate::words::causes::message_of;
use rekeyscope_model::analysis::{Analysis, Cause, Mode, TriggerKind, Verdict};
use rekeyscope_model::text::{Catalogue, Message};

/// Kilobyte lifetime that Windows' L2TP client proposes.
pub(crate) const WINDOWS_KILOBYTES: u64 = 250_000;

/// The causes that something can be done about, in the order in which it is advised.
pub(crate) const ADVISED: [&str; 10] = [
    "rekey_refused",
    "rekey_unanswered",
    "limit_without_rekey",
    "break_before_make",
    "dpd_unanswered",
    "rekey_storm",
    "slow_key_exchange",
    "hard_limit_reached",
    "exchange_retransmitted",
    "responder_not_ready",
];

/// What to change: where rekeys cost something, the systems that the capture names first; then what else the time went to.
pub(crate) fn advice(t: &Catalogue, analysis: &Analysis) -> Vec<Advice> {
    let mut out = of_rekeys(t, analysis);
    out.extend(account::advice(t, analysis));
    out
}

fn of_rekeys(t: &Catalogue, analysis: &Analysis) -> Vec<Advice> {
    let costs = |v: Verdict| matches!(v, Verdict::Failed | Verdict::Shown | Verdict::Some);
    if !analysis.impact.iter().any(|i| costs(i.verdict)) {
        return Vec::new();
    }
    let mut out = of_causes(t, analysis);
    if analysis
        .rekeys
        .iter()
        .any(|r| r.trigger.kind == TriggerKind::Volume)
    {
        let mut systems = of_systems(analysis);
        systems.sort_by_key(|a| a.because.is_none());
        out.extend(systems);
    }
    out
}

/// What follows from the causes that were found.
fn of_causes(t: &Catalogue, analysis: &Analysis) -> Vec<Advice> {
    let of_rekeys = analysis.rekeys.iter().map(|r| &r.causes);
    let of_attempts = analysis.attempts.iter().map(|a| &a.causes);
    let of_outages = analysis.outages.iter().map(|o| &o.causes);
    let all: Vec<&Cause> = of_rekeys.chain(of_attempts).chain(of_outages).flatten().collect();
    let found = |id: &str| all.iter().any(|c| c.id == id);
    let causes = ADVISED.iter().filter(|id| found(id));
    let mut out = of_refusals(t, analysis);
    out.extend(causes.filter_map(|id| of_cause(t, id)));
    out
}

/// What follows from one cause, where something does.
pub(crate) fn of_cause(t: &Catalogue, id: &str) -> Option<Advice> {
    ADVISED.contains(&id).then(|| Advice {
        system: t.word("advice-both-sides"),
        because: Some(Message::new(&(message_of("advice", id) + "-why"))),
        text: Message::new(&message_of("advice", id)),
    })
}

/// What follows from the reasons that refusals gave.
pub(crate) fn of_refusals(t: &Catalogue, analysis: &Analysis) -> Vec<Advice> {
    let refusals = REFUSALS.iter().filter(|(names, _)| refused(analysis, names));
    refusals.map(|(_, text)| of_refusal(t, text)).collect()
}

/// Advice that follows from a refusal with a notification of this name, where something does.
pub(crate) fn of_notification(t: &Catalogue, name: &str) -> Option<Advice> {
    let (_, text) = REFUSALS.iter().find(|(names, _)| names.contains(&name))?;
    Some(of_refusal(t, text))
}

fn of_refusal(t: &Catalogue, text: &str) -> Advice {
    Advice {
        system: t.word("advice-both-sides"),
        because: Some(Message::new("advice-rekey-refused-why")),
        text: Message::new(text),
    }
}

/// Whose log gave the keys: the system that can be told what to change.
pub(crate) fn system_of_keys(analysis: &Analysis) -> Option<&'static str> {
    let is_log = |name: &&str| {
        let mut formats = analysis.key_files.iter().flat_map(|f| &f.formats);
        formats.any(|f| f.starts_with(name))
    };
    ["yamaha", "charon"].into_iter().find(is_log)
}

fn refused(analysis: &Analysis, names: &[&str]) -> bool {
    let reasons = analysis.attempts.iter().filter_map(|a| a.reason.as_deref());
    reasons.into_iter().any(|reason| names.contains(&reason))
}

/// What to change where the refusal says why: names of notifications in IKEv1 and IKEv2, and the message.
const REFUSALS: [(&[&str], &str); 4] = [
    (
        &[
            "NO_PROPOSAL_CHOSEN",
            "NO-PROPOSAL-CHOSEN",
            "INVALID_KE_PAYLOAD",
            "INVALID-KEY-INFORMATION",
        ],
        "advice-refused-proposal",
    ),
    (
        &[
            "TS_UNACCEPTABLE",
            "SINGLE_PAIR_REQUIRED",
            "INVALID-ID-INFORMATION",
        ],
        "advice-refused-selectors",
    ),
    (
        &["TEMPORARY_FAILURE", "CHILD_SA_NOT_FOUND"],
        "advice-refused-moment",
    ),
    (&["NO_ADDITIONAL_SAS"], "advice-refused-more"),
];

/// What volume rekeys can be changed with, system by system.
fn of_systems(analysis: &Analysis) -> Vec<Advice> {
    let proposed = analysis
        .rekeys
        .iter()
        .any(|r| r.trigger.limit_kilobytes == Some(WINDOWS_KILOBYTES));
    // The L2TP client speaks IKEv1 and uses transport mode (RFC 3193); without keys nothing tells the mode.
    let versions = || analysis.tunnels.iter().map(|t| t.ike_version);
    let ikev1 = versions().any(|v| v == Some(1)) || versions().all(|v| v.is_none());
    let mut modes = analysis
        .security_associations
        .iter()
        .filter_map(|sa| sa.mode)
        .peekable();
    let unknown = modes.peek().is_none();
    let transport = modes.any(|mode| mode == Mode::Transport);
    let system = system_of_keys(analysis);
    let of = |system: &str, because: Option<&'static str>, text: &'static str| Advice {
        system: system.to_owned(),
        because: because.map(Message::new),
        text: Message::new(text),
    };
    let from_log = |name: &str| (system == Some(name)).then_some("advice-log-why");
    let windows = match (proposed, transport) {
        (true, _) => Some("advice-windows-proposes"),
        (false, true) => Some("advice-windows-maybe"),
        (false, false) => None,
    };
    let may_be_windows = ikev1 && (proposed || transport || unknown);
    let yamaha = if ikev1 {
        "advice-yamaha-ikev1"
    } else {
        "advice-yamaha"
    };
    let advice = [
        may_be_windows.then(|| of("Windows", windows, "advice-windows")),
        Some(of("Yamaha NVR5x0", from_log("yamaha"), yamaha)),
        Some(of("strongSwan", from_log("charon"), "advice-strongswan")),
    ];
    advice.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    fn t() -> &'static Catalogue {
        Catalogue::of(Language::English)
    }

    fn systems(analysis: &Analysis) -> Vec<String> {
        advice(t(), analysis).iter().map(|a| a.system.clone()).collect()
    }

    #[test]
    fn advice_follows_what_was_found() {
        let mut document = example::seven_rekeys();
        assert_eq!(
            systems(&document),
            [
                "Both sides",
                "Windows",
                "Yamaha NVR5x0",
                "strongSwan",
                "Receiver's window"
            ]
        );
        document.account.clear();
        document.key_files[0].formats = vec!["charon_log".into()];
        document
            .security_associations
            .iter_mut()
            .for_each(|sa| sa.mode = None);
        assert_eq!(
            systems(&document)[1],
            "strongSwan",
            "the system of the log comes first"
        );
        document.rekeys[0].trigger.limit_kilobytes = Some(WINDOWS_KILOBYTES);
        assert!(
            advice(t(), &document)[1]
                .sentence(t())
                .starts_with("Windows (250,000 kB")
        );
        for r in &mut document.rekeys {
            (r.trigger.kind, r.causes) = (TriggerKind::Time, Vec::new());
        }
        assert!(advice(t(), &document).is_empty());
    }

    #[test]
    fn advice_that_cannot_apply_is_not_given() {
        let mut document = example::seven_rekeys();
        let said = |document: &Analysis| {
            let all: Vec<String> = advice(t(), document).iter().map(|a| a.sentence(t())).collect();
            all.join("\n")
        };
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

    /// A message that is named after a cause belongs to one of the list.
    #[test]
    fn every_advice_on_a_cause_is_in_the_list() {
        let messages = include_str!("../../../model/messages/en/report.ftl").lines();
        let identifiers = messages.filter_map(|line| line.strip_prefix("advice-")?.split_once(" ="));
        let mut about_causes: Vec<&str> = identifiers
            .map(|(id, _)| id)
            .filter(|id| {
                t().known_word(&format!("cause-{}", id.trim_end_matches("-why")))
                    .is_some()
            })
            .collect();
        about_causes.sort_unstable();
        let mut expected: Vec<String> = ADVISED
            .iter()
            .map(|id| id.replace('_', "-"))
            .flat_map(|id| [format!("{id}-why"), id])
            .collect();
        expected.sort_unstable();
        assert_eq!(about_causes, expected);
    }

    #[test]
    fn nothing_is_to_be_changed_where_nothing_is_lost() {
        let mut document = example::build(&example::Shape {
            hurt_every: 0,
            ..Default::default()
        });
        document.account.clear();
        assert!(advice(t(), &document).is_empty());
    }
}
