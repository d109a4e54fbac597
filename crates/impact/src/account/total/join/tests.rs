use super::*;
use crate::account::made_up::{at, span, step};
use crate::account::surroundings::Death;
use AccountLabel::{Application, Capacity, Growth, Rekey, TunnelDown, Unexplained};
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

/// Begin and end of each piece, milliseconds, and its label.
fn told(pieces: &[LabelledPiece]) -> Vec<(i64, i64, AccountLabel)> {
    let ms = |nanos: i64| (nanos as f64 / 1e6).round() as i64;
    let told = |p: &LabelledPiece| (ms(p.from.0), ms(p.to.0), p.label);
    pieces.iter().map(told).collect()
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
        [(100, 180, Capacity), (180, 200, Rekey), (200, 210, Capacity)]
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
            (0, 50, Capacity),
            (50, 100, Growth),
            // 6,000 to 1,500 bytes.
            (100, 180, Capacity),
            (180, 200, Growth)
        ]
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
            (1_000, 1_000 + expected, Capacity),
            (1_000 + expected, 1_100, Growth)
        ]
    );
}

#[test]
fn what_waits_for_its_application_has_no_say() {
    let a = connection(0, &[(100, Application, 9_000), (50, Application, 0)]);
    let b = connection(0, &[(100, Rekey, 0)]);
    let found = pieces(&[a, b], &Surroundings::default());
    assert_eq!(told(&found), [(0, 100, Rekey), (100, 150, Application)]);
}

/// A call beside an upload that rests: of fewer bytes it says nothing, of more it has its share.
#[test]
fn datagrams_beside_an_idle_sender_say_nothing_while_tcp_carries_most() {
    let beside = |bytes: u64| {
        let upload = connection(0, &[(100, Capacity, 9_000), (900, Application, 0)]);
        let call = connection(0, &[(1_000, Unexplained, bytes)]);
        let found = pieces(&[upload, call], &Surroundings::default());
        let own = found
            .iter()
            .filter(|p| p.label == Unexplained && p.from >= Timestamp(at(100)));
        own.count()
    };
    assert_eq!((beside(8_000), beside(10_000) > 0), (0, true));
}

/// Between the end of one connection and the begin of the next.
#[test]
fn time_without_a_connection_is_the_applications() {
    let two = [
        connection(0, &[(50, Capacity, 1)]),
        connection(120, &[(30, Growth, 1)]),
    ];
    let found = pieces(&two, &Surroundings::default());
    assert_eq!(found[1].frames, (50, 50), "behind its last frame");
    assert_eq!(told(&found)[1], (50, 120, Application));
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
    let whole = [(100, 200, Capacity)];
    assert_eq!(rest(&[(0, 100), (200, 300)]), whole);
    assert_eq!(rest(&[(130, 150)]), [(100, 130, Capacity), (150, 200, Capacity)]);
    assert_eq!(rest(&[(0, 110), (190, 300)]), [(110, 190, Capacity)]);
    assert_eq!(rest(&[(100, 200)]), []);
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
    assert_eq!(told(&open)[1], (100, 900, TunnelDown));
    assert_eq!(open[1].frames, (100, 100));
    one.ended = true;
    assert_eq!(pieces(&[one], &around).len(), 1, "it was closed before");
}
