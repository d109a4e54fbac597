use super::*;
use crate::account::made_up::{at, span, step};
use AccountLabel::{Application, Capacity, CaptureHole, PathLoss, QueueLoss, ReceiveWindow, SendBuffer};

/// A pause has 60 ms.
fn labels(steps: Vec<Step>, around: &Surroundings) -> Vec<Labelled> {
    super::labels(&mut track(steps), around, &[], at(60))
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

#[test]
fn a_full_queue_before_a_slower_path_is_that_path() {
    let steps = || {
        vec![
            step(0, 20, QueueLoss),
            step(30, 40, QueueLoss),
            step(40, 50, Application),
        ]
    };
    let around = Surroundings::default();
    let found = super::labels(&mut track(steps()), &around, &[span(30, 60)], at(60));
    let of_path = (Capacity, Some(QueueLoss));
    assert_eq!(found, [(QueueLoss, None), of_path, (Application, None)]);
}
