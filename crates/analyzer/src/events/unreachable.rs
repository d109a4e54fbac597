//! ICMP errors about packets of IPsec.

use crate::events::sources::EventSources;
use crate::notices::IcmpRun;
use rekeyscope_model::analysis::{Certainty, Event, EventKind};

/// Events of all of them.
pub(super) fn of(sources: &EventSources<'_>) -> Vec<Event> {
    let runs = sources.record.icmp.runs();
    let event = |run: &IcmpRun| Event {
        tunnel: Some(run.tunnel),
        by: Some(run.by),
        spis: run.error.spi.into_iter().collect(),
        notify: Some(run.error.name.into()),
        count: run.error.mtu.map(u64::from),
        ..run.run.event(EventKind::Unreachable, Certainty::Read)
    };
    runs.map(event).collect()
}
