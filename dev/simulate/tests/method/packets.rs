//! The method's calibration once through the whole analyzer: **synthetic** traffic with and without planted stalls, written
//! as encrypted packets, decrypted, recognised and judged, against the same draw given to the estimators directly.
//! `docs/evidence/calibration.md` has the thousands of runs; here it is shown that packets change nothing.

use rekeyscope::assembly::{Asked, assemble};
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_impact::{MethodSettings, Start, judge};
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::{Analysis, Direction, Impact, Verdict};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_simulate::{BurstScenario, PathChange, Scenario, Simulated, simulate, simulate_bursts};
use rekeyscope_testkit::scenario::{QuickMode, SEGMENT, World};
use std::path::{Path, PathBuf};

/// Runs without and with an effect.
const RUNS: u64 = 20;
/// Mean planted stall, seconds.
const PLANTED_S: f64 = 0.2;
/// Kilobytes that no run reaches.
const GENEROUS: u32 = 250_000;
/// Bins of the estimators, milliseconds: packets and draw put the same byte at most one bin apart.
const BIN_MS: f64 = 10.0;
/// Second and third message, as shares of the exchange.
const MESSAGES: [f64; 2] = [0.4, 0.8];
/// The method's tolerance for the mean of planted stalls: 10 % or 45 ms.
const TOLERANCE_MS: f64 = 45.0;

fn draw(stall_s: f64, seed: u64) -> Simulated {
    let scenario = Scenario {
        sigma: 0.15,
        correlation_s: 1.0,
        interval_s: 2.5,
        rekeys: 6,
        pauses_per_s: 0.0,
        stall_s,
        every: 1,
        by_time: false,
    };
    simulate(&scenario, seed)
}

/// What the wire shows at a moment.
#[derive(Clone, Copy)]
enum Event {
    Message,
    Switch,
}

fn events(drawn: &Simulated) -> Vec<(f64, Event)> {
    let mut events = Vec::new();
    for rekey in &drawn.rekeys {
        let Start::Message(started) = rekey.start else {
            panic!("simulated rekeys have a first message")
        };
        let length = rekey.switched_s - started;
        events.push((started, Event::Message));
        events.extend(MESSAGES.map(|share| (started + share * length, Event::Message)));
        events.push((rekey.switched_s, Event::Switch));
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    events
}

fn happens(world: &mut World, exchange: &mut Option<QuickMode>, event: Event) {
    match event {
        Event::Message => {
            let mut under_way = exchange.take().unwrap_or_else(|| world.begin(true));
            world.message(&mut under_way);
            *exchange = Some(under_way);
        }
        Event::Switch => {
            let done = exchange.take().unwrap();
            world.switch_up(&done);
            world.switch_down(&done);
        }
    }
}

/// The draw as packets: full segments, evenly within each bin.
fn play(drawn: &Simulated) -> World {
    let mut world = World::new();
    world.establish(GENEROUS);
    let bin_nanos = (drawn.traffic.base_bin_s * 1e9) as u64;
    let mut events = events(drawn).into_iter().peekable();
    let (mut exchange, mut owed) = (None, 0);
    for (bin, &bytes) in drawn.traffic.bytes.iter().enumerate() {
        let end_s = (bin + 1) as f64 * drawn.traffic.base_bin_s;
        while let Some((_, event)) = events.next_if(|(at, _)| *at < end_s) {
            happens(&mut world, &mut exchange, event);
        }
        owed += bytes as usize;
        let segments = (owed / SEGMENT) as u64;
        owed %= SEGMENT;
        for _ in 0..segments {
            world.segment();
            world.step(bin_nanos / segments);
        }
        world.step(bin_nanos - bin_nanos / segments.max(1) * segments);
    }
    world
}

fn analyze(capture: &Path, keys: &[PathBuf]) -> Analysis {
    let mut material = KeyMaterial::default();
    for file in keys {
        material.read(file).unwrap();
    }
    let mut reader = CaptureReader::open(capture).unwrap();
    let mut analyzer = Analyzer::new(Options::default(), material);
    while let Some(frame) = reader.next_frame(&mut Diagnostics::default()).unwrap() {
        analyzer.push(&frame);
    }
    assemble(&analyzer.finish(), reader.info(), &Asked::of("trace.pcap"))
}

fn through_packets(drawn: &Simulated) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let keys = play(drawn).write(folder.path(), true);
    analyze(&folder.path().join("trace.pcap"), &keys)
}

fn directly(drawn: &Simulated) -> Impact {
    let settings = MethodSettings {
        rekeys_total: drawn.rekeys.len(),
        ..MethodSettings::new(0, Direction::BToA)
    };
    judge(&drawn.traffic, &drawn.rekeys, &settings)
}

fn mean_ms(impact: &Impact) -> f64 {
    impact.stall_ms.as_ref().unwrap().mean
}

/// The verdicts through packets, each checked against the direct one.
fn judged(stall_s: f64) -> Vec<(Impact, Simulated)> {
    (0..RUNS)
        .map(|seed| {
            let drawn = draw(stall_s, seed);
            let analysis = through_packets(&drawn);
            assert_eq!(analysis.rekeys.len(), drawn.rekeys.len(), "seed {seed}: rekeys");
            let packets = analysis.impact[0].clone();
            let series = directly(&drawn);
            assert_eq!(
                packets.verdict == Verdict::Shown,
                series.verdict == Verdict::Shown,
                "seed {seed}: {} against {}",
                packets.sentence,
                series.sentence
            );
            if packets.decision_window_s == series.decision_window_s {
                let apart = (mean_ms(&packets) - mean_ms(&series)).abs();
                assert!(apart <= BIN_MS, "seed {seed}: {apart} ms apart");
            }
            (packets, drawn)
        })
        .collect()
}

#[test]
fn nothing_planted_is_not_shown() {
    let shown = judged(0.0)
        .iter()
        .filter(|(i, _)| i.verdict == Verdict::Shown)
        .count();
    assert_eq!(shown, 0, "of {RUNS} runs without an effect");
}

#[test]
fn planted_stalls_are_shown_and_sized() {
    let runs = judged(PLANTED_S);
    let planted = |d: &Simulated| 1_000.0 * d.stalls_s.iter().sum::<f64>() / d.stalls_s.len() as f64;
    let errors = runs
        .iter()
        .map(|(impact, drawn)| mean_ms(impact) - planted(drawn));
    let error = errors.sum::<f64>() / RUNS as f64;
    assert!(error.abs() <= TOLERANCE_MS, "{error} ms off in the mean");
    let shown = runs.iter().filter(|(i, _)| i.verdict == Verdict::Shown).count();
    assert_eq!(shown as u64, RUNS, "planted stalls far above the detectable ones");
}

/// A harmless download that its window limits: one burst per round trip of 150 ms.
#[test]
fn bursts_of_packets_are_not_shown() {
    let scenario = BurstScenario {
        period_s: 0.15,
        jitter_s: 0.001,
        packets: 45,
        flows: 1,
        change: PathChange::Steady,
        locked: false,
        ike: true,
        rekeys: 8,
        stall_s: 0.0,
        every: 1,
    };
    for seed in 0..3 {
        let impact = through_packets(&simulate_bursts(&scenario, seed)).impact[0].clone();
        assert_ne!(impact.verdict, Verdict::Shown, "seed {seed}: {}", impact.sentence);
        let burst_ms = impact.burst_ms.unwrap();
        assert!((burst_ms - 150.0).abs() <= BIN_MS, "seed {seed}: {burst_ms} ms");
    }
}
