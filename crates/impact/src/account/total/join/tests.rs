use super::*;
use crate::account::made_up::{at, span, step};
use crate::account::surroundings::{Death, DownSpan};
use AccountLabel::{Application, Capacity, Growth, Rekey, TunnelDown};
use rekeyscope_model::time::Timestamp;

/// A connection that waits for these, one behind the other, from the first moment on.
fn connection(from: i64, waits: &[(i64, AccountLabel, u64)]) -> LabelledSteps {
    let mut steps = vec![step(from, from, waits[0].1)];
    let mut labels = vec![(waits[0].1, None)];
    steps[0].bytes = 0;
    let mut time = from;
    for &(length, label, bytes) in waits {
        let mut wait = step(time, time + length, label);
        wait.bytes = bytes;
        steps.push(wait);
        labels.push((label, None));
        time += length;
    }
    LabelledSteps {
        steps,
        labels,
        ended: false,
    }
}

/// From, to, and the time of a label: milliseconds.
fn told(pieces: &[LabelledPiece]) -> Vec<(i64, i64, i64, AccountLabel)> {
    let ms = |nanos: i64| (nanos as f64 / 1e6).round() as i64;
    pieces
        .iter()
        .map(|p| (ms(p.from), ms(p.to), ms(p.nanos), p.label))
        .collect()
}

#[test]
fn waits_of_one_label_are_one_piece() {
    let one = connection(
        100,
        &[
            (50, Capacity, 1),
            (30, Capacity, 1),
            (20, Rekey, 1),
            (10, Capacity, 1),
        ],
    );
    let found = pieces(&[one], &Surroundings::default());
    assert_eq!(
        told(&found),
        [
            (100, 180, 80, Capacity),
            (180, 200, 20, Rekey),
            (200, 210, 10, Capacity)
        ]
    );
    assert_eq!(found[0].frames, (100, 180));
    assert!(pieces(&[], &Surroundings::default()).is_empty());
}

/// Weights fall to a third in a second; each connection has that of a segment at least.
#[test]
fn connections_share_the_time_by_what_they_sent_lately() {
    let a = connection(0, &[(100, Capacity, 4_500), (100, Capacity, 0)]);
    let b = connection(0, &[(100, Growth, 0), (100, Growth, 0)]);
    let found = pieces(&[a, b], &Surroundings::default());
    assert_eq!(
        told(&found),
        [
            (0, 100, 50, Capacity),
            (0, 100, 50, Growth),
            // 6,000 to 1,500 bytes.
            (100, 200, 80, Capacity),
            (100, 200, 20, Growth)
        ]
    );
    assert_eq!(
        found.iter().map(|p| p.leads).collect::<Vec<_>>(),
        [true, false, true, false]
    );
    let faded = connection(
        0,
        &[(100, Capacity, 4_500), (100, Capacity, 0), (900, Capacity, 0)],
    );
    let b = connection(0, &[(1_100, Growth, 0)]);
    let found = pieces(&[faded, b], &Surroundings::default());
    let last = &told(&found)[20..];
    let weight = 4_500.0 * (-0.9f64).exp() + 1_500.0;
    let expected = (100.0 * weight / (weight + 1_500.0)).round() as i64;
    assert_eq!(
        last,
        [
            (1_000, 1_100, expected, Capacity),
            (1_000, 1_100, 100 - expected, Growth)
        ]
    );
}

#[test]
fn what_waits_for_its_application_has_no_say() {
    let a = connection(0, &[(100, Application, 9_000), (50, Application, 0)]);
    let b = connection(0, &[(100, Rekey, 0)]);
    let found = pieces(&[a, b], &Surroundings::default());
    assert_eq!(told(&found), [(0, 100, 100, Rekey), (100, 150, 50, Application)]);
}

/// Between the end of one connection and the begin of the next.
#[test]
fn time_without_a_connection_is_the_applications_unless_the_tunnel_was_down() {
    let between = |around: &Surroundings| {
        let two = [
            connection(0, &[(50, Capacity, 1)]),
            connection(120, &[(30, Growth, 1)]),
        ];
        let found = pieces(&two, around);
        assert_eq!(found[1].frames, (50, 50), "behind its last frame");
        told(&found)[1]
    };
    assert_eq!(between(&Surroundings::default()), (50, 120, 70, Application));
    let failed = Surroundings {
        failed: vec![span(60, 70)],
        ..Surroundings::default()
    };
    assert_eq!(between(&failed).3, TunnelDown);
    let (from, to) = span(60, 70);
    let down = Surroundings {
        down: vec![DownSpan {
            from,
            to,
            rekey: true,
        }],
        ..Surroundings::default()
    };
    assert_eq!(between(&down).3, Rekey);
}

#[test]
fn rests_are_cut_out() {
    let rest = |rests: &[(i64, i64)]| {
        let around = Surroundings {
            rests: rests.iter().map(|&(from, to)| span(from, to)).collect(),
            ..Surroundings::default()
        };
        told(&pieces(&[connection(100, &[(100, Capacity, 1)])], &around))
    };
    let whole = [(100, 200, 100, Capacity)];
    assert_eq!(rest(&[(0, 100), (200, 300)]), whole);
    assert_eq!(
        rest(&[(130, 150)]),
        [(100, 130, 30, Capacity), (150, 200, 50, Capacity)]
    );
    assert_eq!(rest(&[(0, 110), (190, 300)]), [(110, 190, 80, Capacity)]);
    assert_eq!(rest(&[(100, 200)]), []);
    let shared = LabelledPiece {
        from: at(100),
        to: at(200),
        nanos: at(50),
        label: Capacity,
        also: None,
        frames: (0, 0),
        leads: true,
    };
    let around = Surroundings {
        rests: vec![span(120, 160)],
        ..Surroundings::default()
    };
    let left = without_rests(shared, &around);
    assert_eq!(told(&left), [(100, 120, 10, Capacity), (160, 200, 20, Capacity)]);
}

#[test]
fn a_tunnel_that_died_takes_the_time_up_to_the_end_of_the_capture() {
    let (from, last_asked) = span(150, 500);
    let around = Surroundings {
        died: Some(Death {
            from,
            last_asked,
            ends: Timestamp(at(900)),
        }),
        ..Surroundings::default()
    };
    let mut one = connection(0, &[(100, Capacity, 1)]);
    let open = pieces(std::slice::from_ref(&one), &around);
    assert_eq!(told(&open)[1], (100, 900, 800, TunnelDown));
    assert_eq!(open[1].frames, (100, 100));
    one.ended = true;
    assert_eq!(pieces(&[one], &around).len(), 1, "it was closed before");
}
