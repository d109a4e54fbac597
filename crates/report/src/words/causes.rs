//! Explanations of the costs of rekeys and of the outages, cause by cause.

use crate::words::explanations::Explained;
use crate::words::focus::Focus;
use crate::words::format;
use rekeyscope_impact::tell;
use rekeyscope_model::analysis::{Analysis, ExplanationCause, Outage, Rekey};
use rekeyscope_model::text::Catalogue;

/// Names a cause in a few words.
pub(crate) fn cause(t: &Catalogue, cause: ExplanationCause) -> String {
    t.say(&tell::words::cause(cause))
}

/// A rekey with its explanation.
struct ExplainedRekey<'a> {
    rekey: &'a Rekey,
    explained: Explained<'a>,
    cost_seconds: f64,
}

/// An outage with its explanation.
struct ExplainedOutage<'a> {
    outage: &'a Outage,
    explained: Explained<'a>,
}

/// A cause with the rekeys and the outages that it explains, each in order of time.
pub(crate) struct FoundCause<'a> {
    pub(crate) cause: ExplanationCause,
    rekeys: Vec<ExplainedRekey<'a>>,
    outages: Vec<ExplainedOutage<'a>>,
}

/// A place where a cause was found.
pub(crate) struct CausePlace<'a> {
    /// `rekey 3`, or `at 13.7 s`.
    pub(crate) name: String,
    /// The rekey; `None` for an outage.
    pub(crate) rekey: Option<&'a Rekey>,
    /// The evidence in plain words.
    pub(crate) why: String,
    /// Selects its frames in Wireshark; may be empty.
    pub(crate) filter: String,
}

/// Lists the causes of a document, those first that cost most.
pub(crate) fn causes<'a>(focus: &'a Focus<'a>) -> Vec<FoundCause<'a>> {
    let analysis: &'a Analysis = focus.analysis;
    let mut found: Vec<FoundCause<'a>> = Vec::new();
    for ledger in &analysis.ledger {
        for own in &ledger.rekeys {
            let explained = Explained::of_rekey(focus, ledger, own);
            if let Some((explained, rekey)) = explained.zip(analysis.rekeys.get(own.rekey)) {
                let of_it = of(&mut found, explained.explanation.cause);
                of_it.rekeys.push(ExplainedRekey {
                    rekey,
                    explained,
                    cost_seconds: own.cost_seconds,
                });
            }
        }
    }
    for outage in &analysis.outages {
        if let Some(explained) = Explained::new(focus, outage) {
            let of_it = of(&mut found, explained.explanation.cause);
            of_it.outages.push(ExplainedOutage { outage, explained });
        }
    }
    found.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    found
}

fn of<'f, 'a>(found: &'f mut Vec<FoundCause<'a>>, cause: ExplanationCause) -> &'f mut FoundCause<'a> {
    let at = found.iter().position(|own| own.cause == cause);
    let at = at.unwrap_or_else(|| {
        found.push(FoundCause {
            cause,
            rekeys: Vec::new(),
            outages: Vec::new(),
        });
        found.len() - 1
    });
    &mut found[at]
}

impl<'a> FoundCause<'a> {
    /// Seconds that it cost, for the order of a list: the costs of rekeys, or the outages where these are longer.
    fn seconds(&self) -> f64 {
        let of_rekeys: f64 = self.rekeys.iter().map(|own| own.cost_seconds).sum();
        let of_outages: f64 = self.outages.iter().map(|own| own.outage.seconds).sum();
        of_rekeys.max(of_outages)
    }

    /// Names the cause in a few words.
    pub(crate) fn title(&self, t: &Catalogue) -> String {
        cause(t, self.cause)
    }

    /// Lists the places where it was found, rekeys first.
    pub(crate) fn places(&self, focus: &Focus<'a>) -> Vec<CausePlace<'a>> {
        let t = focus.t;
        let rekeys = self.rekeys.iter().map(|own| CausePlace {
            name: focus.name(own.rekey),
            rekey: Some(own.rekey),
            why: own.explained.why(),
            filter: filter(&own.explained),
        });
        let outages = self.outages.iter().map(|own| {
            let when = format::or_unknown(focus.seconds(own.outage.start), format::clock);
            CausePlace {
                name: fill!(t, "attempt-at", when),
                rekey: None,
                why: own.explained.why(),
                filter: filter(&own.explained),
            }
        });
        rekeys.chain(outages).collect()
    }

    /// `limit_reached: an SA reached its limit. Rekeys 1, 2. Data stopped on ….`, with the evidence of the first place.
    pub(crate) fn sentence(&self, focus: &Focus<'a>, most: usize) -> String {
        let t = focus.t;
        let places = self.places(focus);
        let names: Vec<String> = places.iter().take(most).map(|place| place.name.clone()).collect();
        let more = match places.len() > names.len() {
            true => t.word("and-more"),
            false => String::new(),
        };
        let id = match self.rekeys.len() {
            0 => "causes-of-attempts",
            1 => "causes-of-one",
            _ => "causes-of-several",
        };
        let line = fill!(
            t,
            id,
            id = self.cause,
            title = self.title(t),
            rekeys = t.joined(&names),
            more
        );
        let why = places.first().map(|place| format::capitalised(&place.why));
        t.sentences(&std::iter::once(line).chain(why).collect::<Vec<_>>())
    }

    /// The filter of the first place that has one, and the message that says where that is: `rekey 3: …`.
    pub(crate) fn first_filter(&self, focus: &Focus<'a>) -> Option<(&'static str, String, String)> {
        let place = self
            .places(focus)
            .into_iter()
            .find(|place| !place.filter.is_empty())?;
        let message = match place.rekey {
            Some(_) => "rekey-filter",
            None => "attempt-filter",
        };
        Some((message, place.name, place.filter))
    }

    /// Says what can cure it.
    pub(crate) fn cure(&self) -> Option<String> {
        let of_rekeys = self
            .rekeys
            .iter()
            .max_by(|a, b| a.cost_seconds.total_cmp(&b.cost_seconds));
        let of_outages = self
            .outages
            .iter()
            .max_by(|a, b| a.outage.seconds.total_cmp(&b.outage.seconds));
        let explained = of_rekeys.map(|own| &own.explained);
        let explained = explained.or(of_outages.map(|own| &own.explained))?;
        (self.cause != ExplanationCause::Unexplained).then(|| explained.cure())
    }
}

fn filter(explained: &Explained<'_>) -> String {
    let frames: Vec<String> = explained.explanation.frames.iter().map(u64::to_string).collect();
    match frames.is_empty() {
        true => String::new(),
        false => format!("frame.number in {{{}}}", frames.join(", ")),
    }
}
