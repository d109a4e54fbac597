//! Why did a rekey hurt, and what was wrong that no rekey caused?
//!
//! [`Diagnosis`] remembers the last packets ([`recorder`]) and some counters ([`whole_run`]). When the window of a rekey
//! closes, it becomes a [`scene::Scene`], and every detector looks at it: a pure function that gives at most one
//! [`Finding`](Candidate) with its frames. One file per group: [`exchange`] (what IKE messages show), [`switch`] (the
//! change of SAs), [`transport`] (inner TCP), [`path`] (sizes, NAT, PPP, the capture itself).
//!
//! *Facts* are reported for every rekey: a hard limit that was reached, a retransmitted exchange, a collision, a new
//! phase 1, a change of sizes or of NAT ports, cleartext or unknown SPIs. The others explain a loss, so they are reported
//! for rekeys that hurt only: reordering or an application's pause without a loss explains nothing.

mod exchange;
pub(crate) mod findings;
mod holes;
mod path;
mod record;
mod recorder;
mod scene;
mod silence;
mod switch;
mod tcp;
mod transport;
mod whole_run;

use crate::analysis::{Cause, Confidence};
use crate::diagnostic::Diagnostics;
use crate::ike::opening::Opening;
use crate::rekey::{Evidence, Succession};
use crate::sa::database::SaIndex;
use crate::sa::tunnel::TunnelIndex;
use crate::text::Message;
use crate::time::{NANOS_PER_MILLI, Timestamp};
use holes::Holes;
use recorder::{OpenWindow, Recorder, Subject};
use scene::Scene;
use std::collections::HashMap;
use whole_run::WholeRun;

pub(crate) use holes::Hole;
pub(crate) use record::PacketRecord;
pub(crate) use silence::{Silence, SilenceKind};
pub(crate) use switch::ASYMMETRY_MARGIN;

/// Most frames given as evidence of one cause.
pub(crate) const MOST_FRAMES: usize = 20;
/// Most rekeys whose causes are kept, some 200 bytes each; later ones go without (counted).
const MOST_DIAGNOSED: usize = 1 << 16;

/// Where the first message of an exchange is not in the capture, it began up to this long before the first captured one (lab:
/// 0.15 to 0.47 s in all), so that a hole right before it is its own.
const UNSEEN_EXCHANGE: i64 = 300 * NANOS_PER_MILLI;

/// Smallest retransmission timeout of TCP in use (Linux; RFC 6298 §2.4 asks for 1 s).
const LEAST_RTO: i64 = 200 * NANOS_PER_MILLI;

/// What a detector found.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    id: &'static str,
    confidence: Confidence,
    frames: Vec<u64>,
    /// Reported whether or not the rekey hurt.
    fact: bool,
}

impl Candidate {
    /// A cause that explains a loss.
    fn explains(id: &'static str, confidence: Confidence, frames: impl IntoIterator<Item = u64>) -> Self {
        Candidate {
            id,
            confidence,
            frames: bounded(frames),
            fact: false,
        }
    }

    /// A cause that is a fact.
    fn fact(id: &'static str, confidence: Confidence, frames: impl IntoIterator<Item = u64>) -> Self {
        Candidate {
            fact: true,
            ..Candidate::explains(id, confidence, frames)
        }
    }

    fn cause(&self) -> Cause {
        Cause {
            id: self.id.into(),
            confidence: self.confidence,
            evidence_frames: self.frames.clone(),
            display_filter: display_filter(&self.frames),
        }
    }
}

/// The first [`MOST_FRAMES`] different frames in order.
fn bounded(frames: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut frames: Vec<u64> = frames.into_iter().collect();
    frames.sort_unstable();
    frames.dedup();
    frames.truncate(MOST_FRAMES);
    frames
}

/// Selects frames in Wireshark (set syntax of 3.6 and later).
pub(crate) fn display_filter(frames: &[u64]) -> String {
    if frames.is_empty() {
        return String::new();
    }
    let list: Vec<String> = frames.iter().map(u64::to_string).collect();
    format!("frame.number in {{{}}}", list.join(", "))
}

/// A detector.
type Detector = fn(&Scene<'_>) -> Option<Candidate>;

/// All of them, in the order in which causes are listed: what went wrong first, then how TCP took it.
const DETECTORS: [Detector; 19] = [
    switch::hard_limit_reached,
    switch::responder_not_ready,
    switch::old_sa_deleted_early,
    switch::asymmetric_switch,
    exchange::exchange_retransmitted,
    exchange::collision,
    exchange::slow_key_exchange,
    exchange::phase1_renewal,
    path::fragmentation_change,
    path::nat_mapping_change,
    path::ppp_trouble,
    path::desync,
    path::capture_artefact,
    transport::replay_drops,
    transport::slow_path,
    transport::rto_stall,
    transport::window_cut,
    transport::receiver_limited,
    transport::application_limited,
];

/// The recorder, the counters, and what came out of the windows that closed.
#[derive(Debug, Default)]
pub(crate) struct Diagnosis {
    recorder: Recorder,
    pub(crate) whole_run: WholeRun,
    holes: Holes,
    found: HashMap<Subject, Vec<Candidate>>,
    /// Silences of initiators, by exchange; at most [`MOST_DIAGNOSED`].
    silences: HashMap<usize, Silence>,
    /// Rekeys beyond [`MOST_DIAGNOSED`].
    undiagnosed: u64,
}

impl Diagnosis {
    /// Takes an ESP packet. `begins`: it is the first of its SA; `skipped`: numbers right before its own that no packet had.
    /// True when windows have to be closed.
    pub(crate) fn packet(&mut self, record: PacketRecord, begins: bool, skipped: u64) -> bool {
        self.whole_run.take(&record);
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

    /// An exchange that makes child SAs begins; its initiator sends in direction `slot`.
    pub(crate) fn exchange_begins(
        &mut self,
        exchange: usize,
        tunnel: TunnelIndex,
        slot: usize,
        now: Timestamp,
    ) {
        let newest = self.recorder.newest(tunnel, now.plus_nanos(-silence::REACH));
        let silence = (!self.recorder.is_full())
            .then(|| silence::before(newest, slot, now))
            .flatten();
        let deaf = silence.filter(|s| s.kind == SilenceKind::Deaf);
        let began = deaf.map_or(now, |s| s.since);
        self.recorder
            .open(Subject::Exchange(exchange), tunnel, began, now);
        if let Some(silence) = silence.filter(|_| self.silences.len() < MOST_DIAGNOSED) {
            self.silences.insert(exchange, silence);
        }
    }

    /// The silence of its initiator that an exchange's first captured message ended.
    pub(crate) fn silence_before(&self, exchange: usize) -> Option<Silence> {
        self.silences.get(&exchange).copied()
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
            let candidates = self.examine(&window, evidence, sas_of(window.tunnel));
            if candidates.is_empty() {
                continue;
            }
            if self.found.len() < MOST_DIAGNOSED {
                self.found.insert(window.subject, candidates);
            } else {
                self.undiagnosed += 1;
            }
        }
    }

    fn examine(&self, window: &OpenWindow, evidence: Evidence<'_>, sas: &[SaIndex]) -> Vec<Candidate> {
        let exchange = match window.subject {
            Subject::Exchange(exchange) => Some(exchange),
            Subject::Sa(_) => None,
        };
        let packets = self.recorder.packets(window);
        let Some(mut scene) = Scene::new(evidence, sas, exchange, window, packets) else {
            return Vec::new();
        };
        if scene.lanes.iter().all(|lane| lane.old.is_none()) {
            return Vec::new(); // the tunnel's first SAs: nothing was renewed
        }
        let own = self.holes.of(window.tunnel);
        let whole = scene.exchange().is_some_and(|e| e.opening() == Opening::Whole);
        let began = scene.started.plus_nanos(if whole { 0 } else { -UNSEEN_EXCHANGE });
        let touches = |h: &&Hole| h.to >= began && h.from <= scene.zone_end;
        scene.holes = own.filter(touches).copied().collect();
        scene.leaks = self
            .whole_run
            .leaks_within(window.tunnel, scene.started, scene.zone_end);
        DETECTORS.iter().filter_map(|detect| detect(&scene)).collect()
    }

    /// The proven holes of the capture in a tunnel.
    pub(crate) fn holes(&self, tunnel: TunnelIndex) -> impl Iterator<Item = &Hole> {
        self.holes.of(tunnel)
    }

    /// The causes of a rekey.
    pub(crate) fn causes(&self, succession: &Succession, hurt: bool) -> Vec<Cause> {
        let by_sa = || succession.new.iter().flatten().map(|&sa| Subject::Sa(sa));
        let mut subjects = succession
            .exchange
            .map(Subject::Exchange)
            .into_iter()
            .chain(by_sa());
        let found = subjects.find_map(|subject| self.found.get(&subject));
        let reported = found.into_iter().flatten().filter(|c| hurt || c.fact);
        reported.map(Candidate::cause).collect()
    }

    /// Says which bounds were reached.
    pub(crate) fn report_bounds(&self, diagnostics: &mut Diagnostics) {
        let shortened = self.recorder.shortened;
        if shortened > 0 {
            diagnostics.count("diagnosis_shortened", "analysis", None, || {
                Message::new("oddity-diagnosis-shortened")
                    .with("rekeys", shortened)
                    .with("packets", recorder::MOST_RECORDS)
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

#[cfg(test)]
mod rate {
    use super::*;
    use crate::thread_time::thread_nanos;

    /// What a packet costs, with a window open and the ring full. `cargo test --release -- --ignored --nocapture
    /// cost_per_packet` prints it.
    #[test]
    #[ignore = "a measurement"]
    #[allow(clippy::print_stdout)]
    fn cost_per_packet() {
        let mut diagnosis = Diagnosis::default();
        let packets: u32 = 20 * recorder::MOST_RECORDS as u32;
        let record = |k: u32| {
            let time = Timestamp(i64::from(k) * 1_000);
            let seq = (k.wrapping_mul(1_200), 1_200, 0);
            PacketRecord::for_test(k.is_multiple_of(3), time, u64::from(k), seq)
        };
        let begin = thread_nanos();
        for k in 0..packets {
            let record = record(k);
            if k % 250_000 == 0 {
                diagnosis.exchange_begins(k as usize, 0, 1, record.time);
            }
            if diagnosis.packet(record, false, 0) {
                diagnosis.recorder.take_due(Some(record.time));
            }
        }
        let nanos = (thread_nanos() - begin) as f64 / f64::from(packets);
        println!(
            "{nanos:.1} ns per packet, {} windows shortened",
            diagnosis.recorder.shortened
        );
    }
}
