use super::*;
use crate::account::made_up::{at, span, step};
use AccountLabel::{Application, Capacity, CaptureHole, PathLoss, ReceiveWindow, SendBuffer, Unexplained};

/// A pause has 60 ms.
fn labels(steps: Vec<Step>, around: &Surroundings) -> Vec<Labelled> {
    super::labels(&mut track(steps), around, at(60))
}

fn track(steps: Vec<Step>) -> Track {
    Track {
        steps,
        ..Track::default()
    }
}

#[test]
fn what_the_capture_lacks_is_nobodys() {
    let around = Surroundings {
        holes: vec![span(5, 30)],
        ..Surroundings::default()
    };
    let steps = vec![step(0, 20, Application), step(30, 40, Application)];
    let found = labels(steps, &around);
    assert_eq!(found, [(CaptureHole, None), (Application, None)]);
}

#[test]
fn between_full_windows_everything_waits_for_the_receiver() {
    let one = |label, length, at_capacity| {
        let mut wait = step(0, length, label);
        (wait.kind.between_full, wait.kind.at_capacity) = (true, at_capacity);
        labels(vec![wait], &Surroundings::default())[0]
    };
    assert_eq!(one(Application, 10, false), (ReceiveWindow, None));
    assert_eq!(one(PathLoss, 60, false), (ReceiveWindow, None));
    assert_eq!(one(PathLoss, 61, false), (PathLoss, None), "a stall");
    assert_eq!(one(Application, 61, false), (ReceiveWindow, None));
    // A larger window would win nothing.
    assert_eq!(one(Application, 10, true), (Capacity, Some(ReceiveWindow)));
    let mut buffer = step(0, 10, SendBuffer);
    buffer.kind.at_capacity = true;
    let found = labels(vec![buffer], &Surroundings::default());
    assert_eq!(found, [(Capacity, Some(SendBuffer))]);
}

fn several(from: i64, to: i64) -> Step {
    Step {
        longest: at(1),
        ..step(from, to, Unexplained)
    }
}

fn cut_at(mut steps: Vec<Step>, from: i64, to: i64) -> Vec<(i64, i64, u64)> {
    cut(&mut steps, &[span(from, to)]);
    let ms = |nanos: i64| nanos / at(1);
    steps.iter().map(|s| (ms(s.from), ms(s.to), s.bytes)).collect()
}

#[test]
fn steps_of_several_waits_are_cut_where_a_hole_begins_and_ends() {
    let steps = || vec![several(0, 20), several(20, 40)];
    assert_eq!(
        cut_at(steps(), 5, 30),
        [(0, 5, 250), (5, 20, 750), (20, 30, 500), (30, 40, 500)]
    );
    assert_eq!(cut_at(steps(), 20, 40), [(0, 20, 1_000), (20, 40, 1_000)]);
    let one = vec![step(0, 20, Unexplained)];
    assert_eq!(cut_at(one, 5, 30), [(0, 20, 1_000)], "one wait");
}
