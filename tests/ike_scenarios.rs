//! Which exchanges are rekeys and which are not, through the whole pipeline, on **synthetic** captures.

use rekeyscope::assembly::{Asked, assemble};
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::{Analysis, ExchangeKind, TriggerKind};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_testkit::scenario::{self, QuickMode, Sa, World};

const GENEROUS: u32 = 250_000;

/// The analysis of what happened, of which the cost of the rekeys is not asked.
pub(crate) fn analyzed(world: World) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let keys = world.write(folder.path(), true);
    let mut material = KeyMaterial::default();
    for file in keys {
        material.read(&file).unwrap();
    }
    let options = Options::default();
    let mut analyzer = Analyzer::new(options, material);
    let mut reader = CaptureReader::open(&folder.path().join("trace.pcap")).unwrap();
    let mut notes = Diagnostics::default();
    while let Some(frame) = reader.next_frame(&mut notes).unwrap() {
        analyzer.push(&frame);
    }
    assemble(&analyzer.finish(), reader.info(), &Asked::of("trace.pcap"))
}

fn exchange(w: &mut World, qm: &mut QuickMode) {
    for _ in 0..3 {
        w.message(qm);
        w.steady(20);
    }
}

fn rekey(w: &mut World) {
    let mut qm = w.begin(true);
    exchange(w, &mut qm);
    w.switch_up(&qm);
    w.switch_down(&qm);
}

/// Two Quick Modes whose messages interleave and whose SAs both go on carrying data: nothing was replaced.
#[test]
fn interleaved_parallel_quick_modes_are_no_rekeys() {
    let mut w = World::new();
    let (mut one, mut two) = (w.begin(true), w.begin(true));
    for _ in 0..3 {
        w.message(&mut one);
        w.wait(5);
        w.message(&mut two);
        w.wait(5);
    }
    let sa = |spi| Sa { spi, sequence: 0 };
    let mut pairs = [(sa(one.down), sa(one.up)), (sa(two.down), sa(two.up))];
    for _ in 0..200 {
        for pair in &mut pairs {
            (w.down, w.up) = *pair;
            w.steady(20);
            *pair = (w.down, w.up);
        }
    }
    let analysis = analyzed(w);
    assert_eq!(analysis.exchanges.len(), 2);
    assert!(analysis.rekeys.is_empty(), "{:?}", analysis.rekeys);
}

/// A new phase 1 and a new pair of SAs: a reauthentication, in which the pair is replaced, not a rekey of its child.
#[test]
fn reauthentication_is_called_so() {
    let mut w = World::new();
    w.establish(GENEROUS);
    w.steady(6_000);
    rekey(&mut w);
    w.steady(6_000);
    w.main_mode();
    rekey(&mut w);
    w.steady(6_000);
    let analysis = analyzed(w);
    let kinds: Vec<TriggerKind> = analysis.rekeys.iter().map(|r| r.trigger.kind).collect();
    assert_eq!(kinds.len(), 2);
    assert_ne!(kinds[0], TriggerKind::Reauthentication);
    assert_eq!(kinds[1], TriggerKind::Reauthentication);
    let main_modes = analysis
        .exchanges
        .iter()
        .filter(|e| e.kind == ExchangeKind::MainMode)
        .count();
    assert_eq!((main_modes, analysis.ike_sas.len()), (1, 2));
}

/// 70 IKE SAs, one every 16 minutes, each with a pair of SAs; the clock is set back by two seconds on the way.
#[test]
fn seventy_ike_sas_over_nineteen_hours_with_a_clock_that_steps_back() {
    const IKE_SAS: u8 = 70;
    let mut w = World::new();
    w.establish(GENEROUS);
    for n in 1..IKE_SAS {
        w.steady(300);
        w.wait(16 * 60 * 1_000);
        if n == 35 {
            w.now -= 2_000 * scenario::MILLI;
        }
        w.begin_ike_sa(n);
        rekey(&mut w);
    }
    w.steady(300);
    let analysis = analyzed(w);
    assert!(analysis.capture.duration_s.unwrap() > 18.0 * 3_600.0);
    assert_eq!(analysis.ike_sas.len(), usize::from(IKE_SAS));
    assert_eq!(analysis.rekeys.len(), usize::from(IKE_SAS) - 1);
    assert_eq!(analysis.tunnels.len(), 1);
    let used = analysis.security_associations.iter().filter(|sa| sa.packets > 0);
    for sa in used {
        assert_eq!((sa.icv.failed, sa.sequence.duplicates), (0, 0));
    }
}
