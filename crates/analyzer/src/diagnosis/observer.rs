//! Takes every ESP packet: the packets around rekeys for their close-ups, the holes of the capture, and counters.

use crate::diagnosis::clear::ClearTraffic;
use crate::diagnosis::close_up::{CloseUpRecord, CloseUps};
use crate::diagnosis::holes::Holes;
use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::recorder::{Recorder, Subject};
use crate::diagnosis::scene::RekeyScene;
use crate::diagnosis::whole_run::WholeRun;
use rekeyscope_ipsec::rekey::{Evidence, Succession};
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::Event;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::Segment;

/// The recorder, the counters, and what came out of the windows that closed.
#[derive(Debug, Default)]
pub(crate) struct Diagnosis {
    pub(crate) recorder: Recorder,
    pub(crate) whole_run: WholeRun,
    holes: Holes,
    pub(crate) clear: ClearTraffic,
    close_ups: CloseUps,
}

impl Diagnosis {
    /// Takes an ESP packet, which is `segment` to its connection. `begins`: it is the first of its SA. True when windows have to be closed.
    pub(crate) fn packet(&mut self, record: PacketRecord, begins: bool, segment: &Segment) -> bool {
        self.whole_run.take(&record);
        let whole_run = &self.whole_run;
        self.holes.take(usize::from(record.tunnel), segment, |from, to| {
            whole_run.longest_silence(from, to)
        });
        if begins {
            let tunnel = usize::from(record.tunnel);
            self.recorder
                .sa_begins(record.sa(), tunnel, record.slot(), record.time);
        }
        self.recorder.push(record)
    }

    /// Looks at the windows that are due at `now`; with `None` at all that are left.
    pub(crate) fn close<'a>(
        &mut self,
        now: Option<Timestamp>,
        evidence: Evidence<'_>,
        sas_of: impl Fn(TunnelIndex) -> &'a [SaIndex],
    ) {
        if now.is_none() {
            self.holes.finish();
        }
        while let Some(window) = self.recorder.take_due(now) {
            let packets = || self.recorder.packets(&window);
            let scene = RekeyScene::new(evidence, sas_of(window.tunnel), &window, packets);
            scene
                .into_iter()
                .for_each(|scene| self.close_ups.take(window.subject, &scene));
        }
        if now.is_none() {
            self.recorder.forget_packets();
        }
    }

    /// The proven holes of the capture.
    pub(crate) fn holes(&self) -> &[Event] {
        self.holes.found()
    }

    /// The proven holes of the capture in a tunnel.
    pub(crate) fn holes_of(&self, tunnel: TunnelIndex) -> Vec<(Timestamp, Timestamp)> {
        let own = self.holes().iter().filter(|hole| hole.tunnel == Some(tunnel));
        own.filter_map(|hole| Some((hole.time, hole.until?))).collect()
    }

    /// The packets right around a rekey, where they were kept.
    pub(crate) fn close_up(&self, succession: &Succession) -> Option<&CloseUpRecord> {
        let by_sa = succession.new.into_iter().flatten().map(Subject::Sa);
        let by_exchange = succession.exchange.map(Subject::Exchange);
        let mut subjects = by_exchange.into_iter().chain(by_sa);
        subjects.find_map(|subject| self.close_ups.of(subject))
    }
}
