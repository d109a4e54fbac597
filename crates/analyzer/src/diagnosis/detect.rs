//! Remembers the packets, and looks for every cause when the window of a rekey closes.

use crate::diagnosis::causes::{APPLICATION_LIMITED, CAUSES, Detector, KnownCause, Nature};
use crate::diagnosis::clear::ClearTraffic;
use crate::diagnosis::close_up::{CloseUpRecord, CloseUps};
use crate::diagnosis::holes::{Hole, Holes};
use crate::diagnosis::proof;
use crate::diagnosis::proven::ProofRule;
use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::recorder::{OpenWindow, Recorder, Subject};
use crate::diagnosis::scene::RekeyScene;
use crate::diagnosis::silence;
use crate::diagnosis::symptom::Symptom;
use crate::diagnosis::tcp;
use crate::diagnosis::whole_run::WholeRun;
use rekeyscope_ipsec::ike::opening::Opening;
use rekeyscope_ipsec::rekey::{Evidence, Succession};
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Cause, Confidence, RekeyImpact};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::text::Message;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use std::collections::HashMap;

/// Most rekeys whose causes are kept, some 200 bytes each; later ones go without (counted).
const MOST_DIAGNOSED: usize = 1 << 16;

/// Where the first message of an exchange is not in the capture, it began up to this long before the first captured one (lab:
/// 0.15 to 0.47 s in all), so that a hole right before it is its own.
const UNSEEN_EXCHANGE: i64 = 300 * NANOS_PER_MILLI;

/// A cause that the packets around a rekey show.
#[derive(Debug)]
struct Detected {
    cause: &'static KnownCause,
    symptom: Symptom,
}

impl Detected {
    /// Reported whether or not the rekey hurt.
    fn is_fact(&self) -> bool {
        match self.cause.nature {
            Nature::Fact => true,
            Nature::FactIfProven => self.symptom.proven,
            Nature::Explanation => false,
        }
    }

    fn report(&self) -> Cause {
        self.symptom.report(self.cause.id)
    }
}

/// What came out of one window.
#[derive(Debug, Default)]
struct Examined {
    causes: Vec<Detected>,
    /// SA that begins in each direction, and the moment at which the volume of the one before had run out while payload that nobody
    /// acknowledges went on.
    beyond_limit: [Option<(SaIndex, Timestamp)>; 2],
}

impl Examined {
    fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.beyond_limit.iter().all(Option::is_none)
    }
}

/// The recorder, the counters, and what came out of the windows that closed.
#[derive(Debug, Default)]
pub(crate) struct Diagnosis {
    recorder: Recorder,
    pub(crate) whole_run: WholeRun,
    holes: Holes,
    pub(crate) clear: ClearTraffic,
    found: HashMap<Subject, Examined>,
    close_ups: CloseUps,
    /// Rekeys beyond [`MOST_DIAGNOSED`].
    undiagnosed: u64,
}

impl Diagnosis {
    /// Takes an ESP packet. `begins`: it is the first of its SA; `skipped`: numbers right before its own that no packet had.
    /// True when windows have to be closed.
    pub(crate) fn packet(&mut self, record: PacketRecord, begins: bool, skipped: u64) -> bool {
        self.whole_run.take(&record);
        self.clear
            .esp(usize::from(record.tunnel), record.slot(), record.time);
        let whole_run = &self.whole_run;
        self.holes
            .take(&record, skipped, |from, to| whole_run.longest_silence(from, to));
        if begins {
            let tunnel = usize::from(record.tunnel);
            self.recorder
                .sa_begins(record.sa(), tunnel, record.slot(), record.time);
        }
        self.recorder.push(record)
    }

    /// An exchange that makes child SAs begins `now`; its initiator sends in direction `slot`, and the last ESP packet of the tunnel passed
    /// at `busy`.
    pub(crate) fn exchange_begins(
        &mut self,
        exchange: usize,
        tunnel: TunnelIndex,
        slot: usize,
        (now, busy): (Timestamp, Option<Timestamp>),
    ) {
        let newest = self.recorder.newest(tunnel, now.plus_nanos(-silence::REACH));
        let deaf = (!self.recorder.is_full())
            .then(|| silence::before(newest, slot, now))
            .flatten();
        let began = deaf.unwrap_or(now);
        self.recorder
            .open(Subject::Exchange(exchange), tunnel, (began, busy), now);
    }

    /// A further message of it.
    pub(crate) fn exchange_goes_on(&mut self, exchange: usize, now: Timestamp) {
        self.recorder.extend(Subject::Exchange(exchange), now);
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
            let Some((examined, close_up)) = self.examine(&window, evidence, sas_of(window.tunnel)) else {
                continue;
            };
            if let Some(close_up) = close_up {
                self.close_ups.keep(window.subject, close_up);
            }
            if examined.is_empty() {
                continue;
            }
            if self.found.len() < MOST_DIAGNOSED {
                self.found.insert(window.subject, examined);
            } else {
                self.undiagnosed += 1;
            }
        }
        if now.is_none() {
            self.recorder.forget_packets();
        }
    }

    fn examine<'a>(
        &'a self,
        window: &OpenWindow,
        evidence: Evidence<'a>,
        sas: &'a [SaIndex],
    ) -> Option<(Examined, Option<(i64, CloseUpRecord)>)> {
        let exchange = match window.subject {
            Subject::Exchange(exchange) => Some(exchange),
            Subject::Sa(_) => None,
        };
        let packets = || self.recorder.packets(window);
        let mut scene = RekeyScene::new(evidence, sas, exchange, window, packets)?;
        let own = self.holes.of(window.tunnel);
        let whole = scene.exchange().is_some_and(|e| e.opening() == Opening::Whole);
        let began = scene.started.plus_nanos(if whole { 0 } else { -UNSEEN_EXCHANGE });
        let touches = |h: &&Hole| h.to >= began && h.from <= scene.zone_end;
        scene.holes = own.filter(touches).copied().collect();
        scene.leaks = self
            .whole_run
            .leaks_within(window.tunnel, scene.started, scene.zone_end);
        // Each goes over all packets of the window. What is lost here may be sent again in the next rekey.
        let (tcp, segments) = rayon::join(
            || tcp::events(&scene.packets, &scene.beyond),
            || proof::segments_of(&scene),
        );
        scene.note_tcp(tcp);
        scene.proofs = proof::at_switches(&scene, &segments);
        let detected = |cause: &'static KnownCause| {
            let Detector::Around(detect) = cause.detect else {
                return None;
            };
            let symptom = detect(&scene)?;
            Some(Detected { cause, symptom })
        };
        let causes = CAUSES.iter().filter_map(detected).collect();
        let close_up = self.close_ups.picked(&scene);
        let examined = Examined {
            causes,
            beyond_limit: [0, 1].map(|d| {
                let beyond = scene.proof(d, ProofRule::NoFeedback)?;
                Some((scene.lanes[d].new?, beyond.from))
            }),
        };
        Some((examined, close_up))
    }

    /// The proven holes of the capture in a tunnel.
    pub(crate) fn holes(&self, tunnel: TunnelIndex) -> impl Iterator<Item = &Hole> {
        self.holes.of(tunnel)
    }

    fn examined(&self, succession: &Succession) -> impl Iterator<Item = &Examined> {
        subjects(succession).filter_map(|subject| self.found.get(&subject))
    }

    /// The packets right around a rekey, where they were kept.
    pub(crate) fn close_up(&self, succession: &Succession) -> Option<&CloseUpRecord> {
        subjects(succession).find_map(|subject| self.close_ups.of(subject))
    }

    /// The causes of a rekey that did this. `pause`: frames of a pause at it that was the sender's own.
    pub(crate) fn causes(
        &self,
        succession: &Succession,
        impact: &[RekeyImpact],
        pause: Option<(u64, u64)>,
    ) -> Vec<Cause> {
        let hurt = impact.iter().any(|i| i.hurt);
        let found = self.examined(succession).next();
        let all = found.into_iter().flat_map(|e| &e.causes);
        let told = all.filter(|d| d.is_fact() || hurt).map(Detected::report);
        let pause = pause.map(|(from, to)| Symptom::new(Confidence::High, [from, to]));
        told.chain(pause.map(|pause| pause.report(APPLICATION_LIMITED)))
            .collect()
    }

    /// Time at which the old SA of direction `slot` had run out of its volume, while payload that nobody acknowledges went on.
    pub(crate) fn beyond_limit(&self, succession: &Succession, slot: usize) -> Option<Timestamp> {
        let mut all = self.examined(succession).filter_map(|e| e.beyond_limit[slot]);
        all.find(|(new, _)| Some(*new) == succession.new[slot])
            .map(|(_, since)| since)
    }

    /// Says which bounds were reached.
    pub(crate) fn report_bounds(&self, diagnostics: &mut Diagnostics) {
        let shortened = self.recorder.shortened;
        if shortened > 0 {
            diagnostics.count("diagnosis_shortened", "analysis", None, || {
                Message::new("oddity-diagnosis-shortened").with("rekeys", shortened)
            });
        }
        let without = self.recorder.unopened.saturating_add(self.undiagnosed);
        if without > 0 {
            diagnostics.count("diagnosis_left_out", "analysis", None, || {
                Message::new("oddity-diagnosis-left-out").with("rekeys", without)
            });
        }
    }
}

/// What the window of a rekey may be about.
fn subjects(succession: &Succession) -> impl Iterator<Item = Subject> {
    let by_sa = succession.new.into_iter().flatten().map(Subject::Sa);
    let by_exchange = succession.exchange.map(Subject::Exchange);
    by_exchange.into_iter().chain(by_sa)
}

#[cfg(test)]
mod rate {
    use super::*;
    use crate::diagnosis::recorder::MOST_RECORDS;
    use rekeyscope_testkit::thread_time::thread_nanos;

    /// What a packet costs, with a window open and the ring full. `cargo test --release -- --ignored --nocapture
    /// cost_per_packet` prints it.
    #[test]
    #[ignore = "a measurement"]
    #[allow(clippy::print_stdout)]
    fn cost_per_packet() {
        let mut diagnosis = Diagnosis::default();
        let packets: u32 = 20 * MOST_RECORDS as u32;
        let record = |k: u32| {
            let time = Timestamp(i64::from(k) * 1_000);
            let seq = (k.wrapping_mul(1_200), 1_200, 0);
            PacketRecord::for_test(k.is_multiple_of(3), time, u64::from(k), seq)
        };
        let begin = thread_nanos();
        for k in 0..packets {
            let record = record(k);
            if k % 250_000 == 0 {
                diagnosis.exchange_begins(k as usize, 0, 1, (record.time, None));
            }
            if diagnosis.packet(record, false, 0) {
                while diagnosis.recorder.take_due(Some(record.time)).is_some() {}
            }
        }
        let nanos = (thread_nanos() - begin) as f64 / f64::from(packets);
        println!(
            "{nanos:.1} ns per packet, {} windows shortened",
            diagnosis.recorder.shortened
        );
    }
}
