//! Explanations of the costs of rekeys and of the outages, cause by cause.

use crate::words::explanations::Explained;
use crate::words::focus::Focus;
use crate::words::format;
use rekeyscope_impact::explain::ExplainedTime;
use rekeyscope_model::analysis::{Analysis, ExplanationCause, Rekey};
use rekeyscope_model::text::Catalogue;

/// Names a cause in a few words.
pub(crate) fn cause(t: &Catalogue, cause: ExplanationCause) -> String {
    t.name("cause", cause.as_str())
}

/// A place where a cause was found: the costs of a rekey in a direction, or an outage.
pub(crate) struct CausePlace<'a> {
    /// `rekey 3`, or `at 13.7 s`.
    pub(crate) name: String,
    /// The rekey; `None` for an outage.
    pub(crate) rekey: Option<&'a Rekey>,
    explained: Explained<'a>,
    seconds: f64,
}

impl CausePlace<'_> {
    /// The evidence in plain words.
    pub(crate) fn why(&self) -> String {
        self.explained.why()
    }

    /// Selects the frames of the evidence in Wireshark; may be empty.
    pub(crate) fn filter(&self) -> String {
        let frames = self.explained.explanation().frames.iter();
        match frames.map(u64::to_string).collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => none,
            frames => format!("frame.number in {{{frames}}}"),
        }
    }
}

/// A cause with the places where it was found: rekeys first, then outages, each in order of time.
pub(crate) struct FoundCause<'a> {
    pub(crate) cause: ExplanationCause,
    pub(crate) places: Vec<CausePlace<'a>>,
}

/// Lists the causes of a document, those first that cost most.
pub(crate) fn causes<'a>(focus: &'a Focus<'a>) -> Vec<FoundCause<'a>> {
    let analysis: &'a Analysis = focus.analysis;
    let ledgers = analysis.ledger.iter();
    let rekeys = ledgers.flat_map(|ledger| ledger.rekeys.iter().map(move |own| (ledger, own)));
    let rekeys = rekeys.filter_map(|(ledger, own)| {
        let rekey = analysis.rekeys.get(own.rekey)?;
        Some(CausePlace {
            name: focus.name(rekey),
            rekey: Some(rekey),
            explained: Explained::new(focus, ExplainedTime::of_rekey(ledger, own)?),
            seconds: own.cost_seconds,
        })
    });
    let outages = analysis.outages.iter().filter_map(|outage| {
        let when = format::or_unknown(focus.seconds(outage.start), format::clock);
        Some(CausePlace {
            name: fill!(focus.t, "attempt-at", when),
            rekey: None,
            explained: Explained::new(focus, ExplainedTime::of_outage(outage)?),
            seconds: outage.seconds,
        })
    });
    let mut found: Vec<FoundCause<'a>> = Vec::new();
    for place in rekeys.chain(outages) {
        let cause = place.explained.explanation().cause;
        match found.iter_mut().find(|own| own.cause == cause) {
            Some(own) => own.places.push(place),
            None => found.push(FoundCause {
                cause,
                places: vec![place],
            }),
        }
    }
    found.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    found
}

impl<'a> FoundCause<'a> {
    fn of(&self, rekeys: bool) -> impl Iterator<Item = &CausePlace<'a>> {
        let places = self.places.iter();
        places.filter(move |place| place.rekey.is_some() == rekeys)
    }

    /// Seconds that the cause took, for the order of a list: the costs of rekeys, or the outages where these are longer.
    fn seconds(&self) -> f64 {
        let sum = |rekeys: bool| self.of(rekeys).map(|place| place.seconds).sum::<f64>();
        sum(true).max(sum(false))
    }

    /// Names the cause in a few words.
    pub(crate) fn title(&self, t: &Catalogue) -> String {
        cause(t, self.cause)
    }

    /// `limit_reached: an SA reached its limit. Rekeys 1, 2. Data stopped on ….`, with the evidence of the costliest place.
    pub(crate) fn sentence(&self, focus: &Focus, most: usize) -> String {
        let t = focus.t;
        let places = self.places.iter();
        let names: Vec<String> = places.take(most).map(|place| place.name.clone()).collect();
        let more = (self.places.len() > names.len()).then(|| t.word("and-more"));
        let more = more.unwrap_or_default();
        let id = match self.of(true).count() {
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
        let costliest = self.places.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let all = || self.places.iter().map(|place| place.explained.explanation());
        let why = costliest.map(|place| format::capitalised(&place.explained.of_all(all()).why()));
        t.sentences(&std::iter::once(line).chain(why).collect::<Vec<_>>())
    }

    /// The filter of the first place that has one, and the message that says where that is: `rekey 3: …`.
    pub(crate) fn first_filter(&self) -> Option<(&'static str, &str, String)> {
        let place = self.places.iter().find(|place| !place.filter().is_empty())?;
        let message = match place.rekey {
            Some(_) => "rekey-filter",
            None => "attempt-filter",
        };
        Some((message, &place.name, place.filter()))
    }

    /// Says what can cure the cause where it cost most.
    pub(crate) fn cure(&self) -> Option<String> {
        let costliest = |rekeys: bool| self.of(rekeys).max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let place = costliest(true).or_else(|| costliest(false))?;
        (self.cause != ExplanationCause::Unexplained).then(|| place.explained.cure())
    }
}
