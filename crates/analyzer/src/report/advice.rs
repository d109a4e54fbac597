//! What to change, on the systems that people have. Choosing among sentences, by what the document says; nothing is
//! computed.

use crate::analysis::{Analysis, Mode, Rekey, TriggerKind, Verdict};

/// Kilobyte lifetime that Windows' L2TP client proposes.
const WINDOWS_KILOBYTES: u64 = 250_000;

/// A piece of advice.
pub(crate) struct Advice {
    /// Whom it concerns.
    pub(crate) system: &'static str,
    /// Why it is given here; empty where nothing in the capture names the system.
    pub(crate) because: &'static str,
    /// What to do; backticks set off what is typed.
    pub(crate) text: &'static str,
}

impl Advice {
    /// As one paragraph.
    pub(crate) fn sentence(&self) -> String {
        let because = match self.because {
            "" => String::new(),
            reason => format!(" ({reason})"),
        };
        format!("{}{because}: {}", self.system, self.text)
    }
}

/// What to change, where rekeys cost something; the systems that the capture names first.
pub(crate) fn advice(analysis: &Analysis) -> Vec<Advice> {
    let costs = |v: Verdict| matches!(v, Verdict::Shown | Verdict::Some);
    if !analysis.impact.iter().any(|i| costs(i.verdict)) {
        return Vec::new();
    }
    let mut out = of_causes(analysis);
    if analysis
        .rekeys
        .iter()
        .any(|r| r.trigger.kind == TriggerKind::Volume)
    {
        let mut systems = of_systems(analysis);
        systems.sort_by_key(|a| a.because.is_empty());
        out.extend(systems);
    }
    out
}

/// What follows from the causes that were found.
fn of_causes(analysis: &Analysis) -> Vec<Advice> {
    let found = |id: &str| {
        let has = |r: &Rekey| r.causes.iter().any(|c| c.id == id);
        analysis.rekeys.iter().any(has)
    };
    let known = [
        (
            "slow_key_exchange",
            "the key computation took long",
            "a smaller or an elliptic-curve group, or no PFS (NVR5x0: `ipsec ike group`, `ipsec ike pfs`; strongSwan: the group in \
             `esp_proposals`).",
        ),
        (
            "hard_limit_reached",
            "the old SA passed its hard limit",
            "rekey earlier: the new SA has to be up before the old one ends, so the distance between the two limits must hold what \
             the line carries during an exchange and its retransmissions.",
        ),
        (
            "exchange_retransmitted",
            "IKE messages were lost",
            "let UDP 500 and 4500 pass before the data (QoS), and look for the loss where the display filter points.",
        ),
        (
            "responder_not_ready",
            "the initiator sent on the new SA too early",
            "IKEv2 has no third message after which the initiator may send while the responder still waits.",
        ),
    ];
    let of = |(id, because, text): (&str, &'static str, &'static str)| {
        found(id).then_some(Advice {
            system: "Both sides",
            because,
            text,
        })
    };
    known.into_iter().filter_map(of).collect()
}

/// What volume rekeys can be changed with, system by system.
fn of_systems(analysis: &Analysis) -> Vec<Advice> {
    let proposed = analysis
        .rekeys
        .iter()
        .any(|r| r.trigger.limit_kilobytes == Some(WINDOWS_KILOBYTES));
    let transport = analysis
        .security_associations
        .iter()
        .any(|sa| sa.mode == Some(Mode::Transport));
    let log = |name: &str| {
        let formats = || analysis.key_files.iter().flat_map(|f| &f.formats);
        formats().any(|f| f.starts_with(name))
    };
    vec![
        Advice {
            system: "Windows",
            because: match (proposed, transport) {
                (true, _) => "250,000 kB is what its L2TP client proposes",
                (false, true) => "if the client of this transport-mode tunnel is one",
                (false, false) => "",
            },
            text: "the L2TP client proposes fixed limits (3,600 s and 250,000 kB): there the cipher suite, IKEv2 instead of L2TP, \
                   or the other side are what can be changed.",
        },
        Advice {
            system: "Yamaha NVR5x0",
            because: if log("yamaha") {
                "its log gave the keys"
            } else {
                ""
            },
            text: "a longer kilobyte lifetime by `ipsec ike duration ipsec-sa`, another suite by `ipsec sa policy`. As the IKEv1 \
                   responder the router takes over the initiator's lifetime.",
        },
        Advice {
            system: "strongSwan",
            because: if log("charon") {
                "its log gave the keys"
            } else {
                ""
            },
            text: "`life_bytes` and `rekey_bytes` of the child; leave room between the two, so that the new SA is up before the \
                   old one reaches its hard limit.",
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn systems(analysis: &Analysis) -> Vec<&'static str> {
        advice(analysis).iter().map(|a| a.system).collect()
    }

    #[test]
    fn advice_follows_what_was_found() {
        let mut document = example::seven_rekeys();
        assert_eq!(
            systems(&document),
            ["Both sides", "Windows", "Yamaha NVR5x0", "strongSwan"]
        );
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
        assert!(advice(&document)[1].sentence().starts_with("Windows (250,000 kB"));
        for r in &mut document.rekeys {
            (r.trigger.kind, r.causes) = (TriggerKind::Time, Vec::new());
        }
        assert!(advice(&document).is_empty());
    }

    #[test]
    fn nothing_is_to_be_changed_where_nothing_is_lost() {
        let document = example::build(&example::Shape {
            hurt_every: 0,
            ..Default::default()
        });
        assert!(advice(&document).is_empty());
    }
}
