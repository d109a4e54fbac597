//! Causes in words: those that were found, and those that were ruled out.

use crate::words::focus::name;
use crate::words::{clean, format};
use rekeyscope_model::analysis::{Analysis, Cause, Confidence, Outcome, Rekey, RuledOut};
use rekeyscope_model::text::Catalogue;
use std::collections::BTreeMap;

/// A cause in plain words; an identifier that this version does not know stays as it is.
pub(crate) fn cause(t: &Catalogue, id: &str) -> String {
    t.known_word(&message_of("cause", id))
        .unwrap_or_else(|| clean::line(id))
}

/// The message about a cause: `rto_stall` is `cause-rto-stall`.
pub(crate) fn message_of(kind: &str, cause: &str) -> String {
    format!("{kind}-{}", cause.replace('_', "-"))
}

/// How sure a cause is.
pub(crate) fn confidence(t: &Catalogue, confidence: Confidence) -> String {
    t.word(match confidence {
        Confidence::High => "confidence-high",
        Confidence::Medium => "confidence-medium",
        Confidence::Low => "confidence-low",
    })
}

/// A cause that was not found, in one sentence.
pub(crate) fn ruled_out(t: &Catalogue, r: &RuledOut) -> String {
    let evidence = clean::said(t, &r.evidence, &r.messages);
    match r.outcome {
        Outcome::Absent => {
            let rekeys = format::counted(t, "counted-rekeys", r.rekeys_tested as u64);
            t.fill(
                "ruled-out-absent",
                &[("rekeys", &rekeys), ("evidence", &evidence)],
            )
        }
        Outcome::NotTestable => t.fill("ruled-out-not-testable", &[("evidence", &evidence)]),
        Outcome::NoOccasion => t.fill("ruled-out-no-occasion", &[("evidence", &evidence)]),
    }
}

/// A cause with the rekeys that have it.
pub(crate) struct FoundCause<'a> {
    pub(crate) id: &'a str,
    analysis: &'a Analysis,
    /// In order of time.
    pub(crate) rekeys: Vec<(&'a Rekey, &'a Cause)>,
}

/// All causes of a document, by identifier.
pub(crate) fn causes(analysis: &Analysis) -> Vec<FoundCause<'_>> {
    let mut by_id: BTreeMap<&str, Vec<(&Rekey, &Cause)>> = BTreeMap::new();
    for rekey in &analysis.rekeys {
        for cause in &rekey.causes {
            by_id.entry(&cause.id).or_default().push((rekey, cause));
        }
    }
    by_id
        .into_iter()
        .map(|(id, rekeys)| FoundCause { id, analysis, rekeys })
        .collect()
}

impl FoundCause<'_> {
    /// What it means.
    pub(crate) fn title(&self, t: &Catalogue) -> String {
        self.rekeys
            .first()
            .map_or_else(String::new, |(_, c)| cause(t, &c.id))
    }

    /// `rto_stall: the inner TCP …. Rekeys 2 (high), 5 (medium).`
    pub(crate) fn sentence(&self, t: &Catalogue, most: usize) -> String {
        let shown = self.rekeys.iter().take(most);
        let numbers: Vec<String> = shown
            .map(|(r, c)| {
                let name = name(t, self.analysis, r);
                format!("{name} ({})", confidence(t, c.confidence))
            })
            .collect();
        let more = match self.rekeys.len() > numbers.len() {
            true => t.word("and-more"),
            false => String::new(),
        };
        let (id, title, rekeys) = (clean::line(self.id), self.title(t), t.joined(&numbers));
        let args = [
            ("id", id.as_str()),
            ("title", title.as_str()),
            ("rekeys", rekeys.as_str()),
            ("more", more.as_str()),
        ];
        match self.rekeys.len() {
            1 => t.fill("causes-of-one", &args),
            _ => t.fill("causes-of-several", &args),
        }
    }

    /// The first rekey that has it, and the filter that shows it there.
    pub(crate) fn first_filter(&self, t: &Catalogue) -> Option<(String, &str)> {
        let (rekey, cause) = self.rekeys.first()?;
        (!cause.display_filter.is_empty())
            .then(|| (name(t, self.analysis, rekey), cause.display_filter.as_str()))
    }
}
