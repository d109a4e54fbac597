//! ICMP errors about packets of IPsec, and about packets inside that are too big.

use crate::events::sources::EventSources;
use crate::notices::IcmpRun;
use rekeyscope_model::analysis::{Certainty, Event, EventKind};

/// Events of all of them.
pub(super) fn of(sources: &EventSources<'_>) -> Vec<Event> {
    let runs = sources.record.icmp.runs();
    let event = |IcmpRun { notice, run }: &IcmpRun| {
        let (kind, ends) = match notice.inside {
            true => (
                EventKind::TooBigInside,
                Some((notice.error.src, notice.error.dst)),
            ),
            false => (EventKind::Unreachable, None),
        };
        Event {
            tunnel: Some(notice.tunnel),
            by: Some(notice.by),
            spis: notice.spi.into_iter().collect(),
            notify: Some(notice.error.name.into()),
            count: notice.error.mtu.map(u64::from),
            from: ends.map(|ends| ends.0.to_string()),
            to: ends.map(|ends| ends.1.to_string()),
            ..run.event(kind, Certainty::Read)
        }
    };
    runs.map(event).collect()
}
