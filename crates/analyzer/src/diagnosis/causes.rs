//! All causes, a row each. From its identifier follow the messages that name it: `rto_stall` is `cause-rto-stall`, and what
//! to change is `advice-rto-stall` where there is advice.

use crate::diagnosis::failure::{self, AttemptScene};
use crate::diagnosis::scene::RekeyScene;
use crate::diagnosis::symptom::Symptom;
use crate::diagnosis::{absent, exchange, path, switch, transport};
use Nature::{Explanation, Fact, FactIfProven};
use Needs::{Deletes, Esp, Ike, Keys, Limit, NegotiatedLimit, ReadableIke, Tcp};
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::text::Message;

/// At which rekeys a cause is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// At every rekey.
    Fact,
    /// It explains a loss, so it is named at rekeys that hurt only: an application's pause without a loss explains nothing.
    Explanation,
    /// An explanation that counts as a fact where its detector calls the symptom proven.
    FactIfProven,
}

/// What a detector must be able to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// ESP headers.
    Esp,
    /// The exchange of the rekey.
    Ike,
    /// Decrypted packets.
    Keys,
    /// Inner TCP connections.
    Tcp,
    /// The limit of an SA and what it had carried, or a receiver that goes deaf while IKE between the two works.
    Limit,
    /// The limit of an SA, negotiated and read.
    NegotiatedLimit,
    /// IKE messages that can be read.
    ReadableIke,
    /// Deletes, and inner TCP that shows what was lost behind them.
    Deletes,
}

/// Where a cause is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Detector {
    /// Around each rekey.
    Around(fn(&RekeyScene<'_>) -> Option<Symptom>),
    /// A pause at the rekey that was the sender's own, by the ledger of the direction.
    InLedger,
    /// At each attempt, and at each outage.
    OfAttempt(fn(&AttemptScene<'_>) -> Option<Symptom>),
}

/// A cause that is looked for.
#[derive(Debug)]
pub(crate) struct KnownCause {
    /// Its identifier in documents.
    pub(crate) id: &'static str,
    pub(crate) nature: Nature,
    pub(crate) needs: Needs,
    /// Its traces around a rekey.
    pub(crate) detect: Detector,
    /// What was seen instead, where no rekey has it.
    pub(crate) absent: fn(&Analysis) -> Message,
}

const fn row(
    id: &'static str,
    nature: Nature,
    needs: Needs,
    detect: fn(&RekeyScene<'_>) -> Option<Symptom>,
    absent: fn(&Analysis) -> Message,
) -> KnownCause {
    KnownCause {
        id,
        nature,
        needs,
        detect: Detector::Around(detect),
        absent,
    }
}

/// Of attempts: what failed is a fact.
const fn failed(
    id: &'static str,
    needs: Needs,
    detect: fn(&AttemptScene<'_>) -> Option<Symptom>,
    absent: fn(&Analysis) -> Message,
) -> KnownCause {
    KnownCause {
        id,
        nature: Fact,
        needs,
        detect: Detector::OfAttempt(detect),
        absent,
    }
}

/// The sender had nothing to send.
pub(crate) const APPLICATION_LIMITED: &str = "application_limited";

/// All of them, in the order in which they are listed: what went wrong first, then how TCP took it.
#[rustfmt::skip]
pub(crate) static CAUSES: [KnownCause; 24] = [
    failed("rekey_refused",         Ike,    failure::rekey_refused,         absent::rekey_refused),
    failed("rekey_unanswered",      Ike,    failure::rekey_unanswered,      absent::rekey_unanswered),
    failed("limit_without_rekey",   NegotiatedLimit, failure::limit_without_rekey,   |_| Message::new("absent-limit-without-rekey")),
    failed("break_before_make",     ReadableIke,     failure::break_before_make,     |_| Message::new("absent-break-before-make")),
    failed("dpd_unanswered",        Ike,    failure::dpd_unanswered,        |_| Message::new("absent-dpd")),
    failed("rekey_storm",           Ike,    failure::rekey_storm,           absent::rekey_storm),
    row("hard_limit_reached",     Fact,          Limit,    switch::hard_limit_reached,        absent::hard_limit_reached),
    row("responder_not_ready",    Explanation,   Tcp,      switch::responder_not_ready,       |_| Message::new("absent-responder-not-ready")),
    row("initiator_not_ready",    Explanation,   Tcp,      switch::initiator_not_ready,       |_| Message::new("absent-initiator-not-ready")),
    row("old_sa_deleted_early",   Explanation,   Deletes,  switch::old_sa_deleted_early,      absent::old_sa_deleted_early),
    row("asymmetric_switch",      Explanation,   Esp,      switch::asymmetric_switch,         absent::asymmetric_switch),
    row("exchange_retransmitted", Fact,          Ike,      exchange::exchange_retransmitted,  absent::exchange_retransmitted),
    row("collision",              Fact,          Ike,      exchange::collision,               absent::collision),
    row("slow_key_exchange",      Explanation,   Ike,      exchange::slow_key_exchange,       absent::slow_key_exchange),
    row("phase1_renewal",         Fact,          Ike,      exchange::phase1_renewal,          absent::phase1_renewal),
    row("fragmentation_change",   Fact,          Esp,      path::fragmentation_change,        absent::fragmentation_change),
    row("nat_mapping_change",     Fact,          Esp,      path::nat_mapping_change,          absent::nat_mapping_change),
    row("ppp_trouble",            Fact,          Keys,     path::ppp_trouble,                 |_| Message::new("absent-ppp")),
    row("desync",                 Fact,          Esp,      path::desync,                      |_| Message::new("absent-desync")),
    row("capture_artefact",       FactIfProven,  Esp,      path::capture_artefact,            absent::capture_artefact),
    row("replay_drops",           Explanation,   Tcp,      transport::replay_drops,           absent::replay_drops),
    row("slow_path",            Fact,         Tcp,      transport::slow_path,              |_| Message::new("absent-slow-path")),
    row("rto_stall",              Explanation,   Tcp,      transport::rto_stall,              absent::rto_stall),
    KnownCause { id: APPLICATION_LIMITED, nature: Fact, needs: Tcp, detect: Detector::InLedger, absent: |_| Message::new("absent-application") },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const DIAGNOSIS: &str = include_str!("../../../../docs/diagnosis.md");
    const SCENARIOS: &str = include_str!("../../../../docs/evidence/causes.md");
    const CATALOGUES: [&str; 2] = [
        include_str!("../../../model/messages/en/labels.ftl"),
        include_str!("../../../model/messages/ja/labels.ftl"),
    ];

    /// What stands between backticks.
    fn quoted(text: &str) -> Vec<&str> {
        text.split('`').skip(1).step_by(2).collect()
    }

    #[test]
    fn every_cause_has_its_words_and_every_word_its_cause() {
        let expected: BTreeSet<String> = CAUSES.iter().map(|c| c.id.replace('_', "-")).collect();
        assert_eq!(expected.len(), CAUSES.len(), "an identifier stands twice");
        for catalogue in CATALOGUES {
            let identifiers = catalogue
                .lines()
                .filter_map(|l| l.strip_prefix("cause-")?.split_once(" ="));
            let known: BTreeSet<String> = identifiers.map(|(id, _)| id.to_owned()).collect();
            assert_eq!(known, expected);
        }
    }

    #[test]
    fn every_documented_cause_is_in_the_list() {
        let table = DIAGNOSIS.lines().filter_map(|line| line.strip_prefix("| `"));
        let documented: Vec<(&str, &str)> = table
            .map(|row| row.split_once("` | ").unwrap())
            .map(|(id, row)| (id, row.split(" | ").next().unwrap()))
            .collect();
        let named = |nature| match nature {
            Fact => "always",
            Explanation => "where it hurt",
            FactIfProven => "where it hurt; proven: always",
        };
        let expected: Vec<_> = CAUSES.iter().map(|c| (c.id, named(c.nature))).collect();
        assert_eq!(documented, expected);
    }

    #[test]
    fn the_documented_facts_are_those_of_the_list() {
        let (_, facts) = DIAGNOSIS.split_once("*Facts*").unwrap();
        let (facts, _) = facts.split_once('.').unwrap();
        let (always, if_proven) = facts.split_once(';').unwrap();
        for (documented, nature) in [(always, Fact), (if_proven, FactIfProven)] {
            let of_nature = CAUSES.iter().filter(|c| c.nature == nature);
            assert_eq!(quoted(documented), of_nature.map(|c| c.id).collect::<Vec<_>>());
        }
    }

    /// The table of scenarios has a column for each cause, and a scenario in which it holds and is named.
    #[test]
    fn every_cause_has_a_scenario() {
        let rows: Vec<Vec<&str>> = SCENARIOS
            .lines()
            .filter(|line| line.starts_with("| "))
            .map(|line| line.split('|').map(str::trim).collect())
            .collect();
        for cause in &CAUSES {
            let column = rows[0]
                .iter()
                .position(|title| *title == cause.id.replace('_', " "));
            let column = column.unwrap_or_else(|| panic!("{} is in no scenario", cause.id));
            assert!(
                rows.iter().any(|row| row[column] == "**x**"),
                "{} is never named",
                cause.id
            );
        }
    }
}
