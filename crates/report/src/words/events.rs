//! Events of the control plane and the path in words.

use crate::words::ends::side;
use crate::words::focus::Focus;
use crate::words::lengths::moment;
use crate::words::{clean, format};
use rekeyscope_model::analysis::{Certainty, Event, EventKind};
use rekeyscope_model::text::{Catalogue, Message};

/// Every event as one item of a list: `4.25 s, frame 356: the client moved from 10.9.0.2:4500 to 10.9.0.22:4500`.
pub(crate) fn events(focus: &Focus) -> Vec<String> {
    let events = focus.analysis.events.iter();
    events.map(|event| item(focus, event)).collect()
}

/// The first change of an address or port while the headline's transfer ran, and how many more came; `None` where line 2 tells of it.
pub(crate) fn change_of_address(focus: &Focus) -> Option<String> {
    let headline = focus.analysis.impact.first()?;
    let transfer = focus.analysis.account_of(headline.tunnel, headline.direction)?;
    let told = focus.outages().and_then(|told| told.explanation.event);
    let mut changes = focus.analysis.events_of(transfer.tunnel).filter(|event| {
        matches!(event.kind, EventKind::AddressChanged | EventKind::PortChanged)
            && (transfer.start..=transfer.end).contains(&event.time)
            && Some(event.index) != told
    });
    let first = changes.next()?;
    let said = Message::new("event-change")
        .with("said", about(focus, first))
        .with("at", moment(focus, first.time))
        .with("more", changes.count() as u64);
    Some(format::capitalised(&focus.t.say(&said)))
}

fn item(focus: &Focus, event: &Event) -> String {
    let t = focus.t;
    let notification = event.notify.iter().map(|name| clean::line(name));
    let names: Vec<String> = notification
        .chain(event.spis.iter().map(ToString::to_string))
        .collect();
    let from = moment(focus, event.time);
    let when = match event.until.filter(|until| *until > event.time) {
        Some(until) => fill!(t, "event-span", from, to = moment(focus, until)),
        None => from,
    };
    let said = t.say(&about(focus, event));
    let said = match names.is_empty() {
        true => said,
        false => fill!(t, "event-with", said, names = t.joined(&names)),
    };
    fill!(t, "event-item", when, frame = event.frame, said)
}

/// The sentence of an event, with everything that those of all kinds ask for.
fn about(focus: &Focus, event: &Event) -> Message {
    let t = focus.t;
    let tunnel = event.tunnel.and_then(|tunnel| focus.analysis.tunnels.get(tunnel));
    let [from, to] = places(event);
    Message::of("event", event.kind.as_str())
        .with("who", side(t, tunnel, event.by))
        .with("probably", probably(t, event.known))
        .with("count", event.count.unwrap_or(0))
        .with("from", from)
        .with("to", to)
        .with("sas", if event.spis.is_empty() { "all" } else { "one" })
        .with(
            "follows",
            if event.successor == Some(false) {
                "nothing"
            } else {
                "another"
            },
        )
}

/// The addresses before and after a change, or of what else an event names as such; empty where it has none.
pub(crate) fn places(event: &Event) -> [String; 2] {
    [&event.from, &event.to].map(|place| place.as_deref().map(clean::line).unwrap_or_default())
}

pub(crate) fn probably(t: &Catalogue, known: Certainty) -> String {
    match known {
        Certainty::Inferred => t.word("outage-probably"),
        Certainty::Read | Certainty::Proven => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::analysis::{Analysis, Direction};
    use rekeyscope_model::text::{Language, take_missing};
    use rekeyscope_testkit::example;

    /// An address of the client that changes so many seconds after the begin of the transfer.
    fn moved(after_s: f64) -> (Analysis, Event) {
        let mut document = example::seven_rekeys();
        let transfer = document.account[0].clone();
        assert_eq!(transfer.direction, Direction::BToA);
        let time = transfer.start.plus_seconds(after_s);
        let mut event = Event::at(EventKind::AddressChanged, Certainty::Read, time, 356);
        (event.tunnel, event.by) = (Some(0), Some(document.tunnels[0].a));
        (event.from, event.to) = (Some("10.9.0.2:4500".into()), Some("10.9.0.22:4500".into()));
        document.events = vec![event.clone()];
        (document, event)
    }

    fn said(document: &Analysis) -> Option<String> {
        change_of_address(&Focus::new(document, Language::English))
    }

    #[test]
    fn a_change_inside_the_transfer_is_one_line() {
        let (mut document, mut event) = moved(1.0);
        let one = said(&document).unwrap();
        assert!(
            one.starts_with("The client moved from 10.9.0.2:4500 to 10.9.0.22:4500 at "),
            "{one}"
        );
        assert!(one.ends_with(" s."), "{one}");
        event.index = 1;
        document.events.push(event);
        let two = said(&document).unwrap();
        assert!(two.ends_with(" s, and 1 more change (-v)."), "{two}");
        assert_eq!(said(&moved(-1.0).0), None, "before the transfer");
    }

    #[test]
    fn every_kind_has_its_sentence() {
        let mut document = example::seven_rekeys();
        let time = document.account[0].start;
        let event = |kind| Event {
            tunnel: Some(0),
            by: Some(document.tunnels[0].b),
            count: Some(3),
            notify: Some("NO_PROPOSAL_CHOSEN".into()),
            until: Some(time.plus_seconds(2.0)),
            ..Event::at(kind, Certainty::Inferred, time, 7)
        };
        document.events = EventKind::ALL.iter().map(|kind| event(*kind)).collect();
        for language in Language::ALL {
            let listed = events(&Focus::new(&document, language));
            let different: std::collections::BTreeSet<&String> = listed.iter().collect();
            assert_eq!(different.len(), EventKind::ALL.len(), "{listed:#?}");
            assert!(listed.iter().all(|item| item.contains("NO_PROPOSAL_CHOSEN")));
        }
        assert_eq!(take_missing(), Vec::<String>::new());
    }
}
