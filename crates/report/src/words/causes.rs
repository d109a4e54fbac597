//! Causes in words: those that were found, and those that were ruled out.

use crate::words::focus::name;
use crate::words::{clean, format};
use rekeyscope_model::analysis::{Analysis, Cause, Confidence, Outcome, Rekey, RuledOut};
use rekeyscope_model::text::Catalogue;
use rekeyscope_model::time::Timestamp;
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

/// A cause with the rekeys that have it, or the attempts and outages.
pub(crate) struct FoundCause<'a> {
    pub(crate) id: &'a str,
    analysis: &'a Analysis,
    /// In order of time.
    pub(crate) rekeys: Vec<(&'a Rekey, &'a Cause)>,
    /// When they began.
    pub(crate) attempts: Vec<(Timestamp, &'a Cause)>,
}

/// All causes of a document, by identifier.
pub(crate) fn causes(analysis: &Analysis) -> Vec<FoundCause<'_>> {
    let mut by_id: BTreeMap<&str, FoundCause<'_>> = BTreeMap::new();
    for rekey in &analysis.rekeys {
        for cause in &rekey.causes {
            let found = by_id
                .entry(&cause.id)
                .or_insert_with(|| FoundCause::new(analysis, cause));
            found.rekeys.push((rekey, cause));
        }
    }
    let of_attempts = analysis.attempts.iter().map(|a| (a.first_time, &a.causes));
    let of_outages = analysis.outages.iter().map(|o| (o.start, &o.causes));
    for (time, causes) in of_attempts.chain(of_outages) {
        for cause in causes {
            let found = by_id
                .entry(&cause.id)
                .or_insert_with(|| FoundCause::new(analysis, cause));
            found.attempts.push((time, cause));
        }
    }
    by_id.into_values().collect()
}

impl<'a> FoundCause<'a> {
    fn new(analysis: &'a Analysis, cause: &'a Cause) -> Self {
        FoundCause {
            id: &cause.id,
            analysis,
            rekeys: Vec::new(),
            attempts: Vec::new(),
        }
    }

    /// What it means.
    pub(crate) fn title(&self, t: &Catalogue) -> String {
        cause(t, self.id)
    }

    /// Where it was found: `3`, or `at 13.7 s`, with the cause as it is there.
    pub(crate) fn places(&self, t: &Catalogue) -> Vec<(String, &'a Cause)> {
        let rekeys = self.rekeys.iter().map(|(r, c)| (name(t, self.analysis, r), *c));
        let origin = self.analysis.capture.first_time.unwrap_or_default();
        let attempts = self.attempts.iter().map(|(time, c)| {
            let when = format::clock(time.seconds_since(origin));
            (t.fill("attempt-at", &[("when", &when)]), *c)
        });
        rekeys.chain(attempts).collect()
    }

    /// `rto_stall: the inner TCP …. Rekeys 2 (high), 5 (medium).`
    pub(crate) fn sentence(&self, t: &Catalogue, most: usize) -> String {
        let places = self.places(t);
        let numbers: Vec<String> = places
            .iter()
            .take(most)
            .map(|(name, c)| {
                let sure = confidence(t, c.confidence);
                t.fill("place-sure", &[("name", name), ("confidence", &sure)])
            })
            .collect();
        let more = match places.len() > numbers.len() {
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
            0 => t.fill("causes-of-attempts", &args),
            1 => t.fill("causes-of-one", &args),
            _ => t.fill("causes-of-several", &args),
        }
    }

    /// The filter that shows it where it was found first, and the message that says where that is: `rekey 3: …`.
    pub(crate) fn first_filter(&self, t: &Catalogue) -> Option<(&'static str, String, &'a str)> {
        let (name, cause) = self.places(t).into_iter().next()?;
        let message = match self.rekeys.is_empty() {
            true => "attempt-filter",
            false => "rekey-filter",
        };
        (!cause.display_filter.is_empty()).then_some((message, name, cause.display_filter.as_str()))
    }
}
