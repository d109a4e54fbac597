//! Losses, pauses and what comes back after them.

use super::*;

#[test]
fn an_episode_lasts_until_the_flight_is_back() {
    let recovering = with(|m| m.sender.recovery_point = Some(1));
    assert_eq!(recovering.told(2).found(), None);
    let filled = with(|m| (m.sender.recovery_point, m.rate) = (Some(1), 0.901));
    assert_eq!(
        filled.told(2).label(),
        Capacity,
        "the path is at its limit all the same"
    );
    let ramp = |before_loss: u64| {
        with(|m| {
            (m.sender.ramping, m.sender.before_loss) = (true, before_loss);
        })
        .told(2)
        .found()
    };
    // 11,000 are under way: less than a segment of 1,000 lacks.
    assert_eq!((ramp(12_000), ramp(11_999)), (None, Some(Growth)));
    let after = |ms: i64, flight: u64| with(|m| lost(m, NOW - ms, flight)).told(2).found();
    // 6 % above what it was.
    assert_eq!((after(100, 10_378), after(100, 10_377)), (None, Some(Growth)));
    // CUBIC has 50 segments back after the cube root of 37.5 s.
    assert_eq!((after(3_340, 50_000), after(3_350, 50_000)), (None, Some(Growth)));
    // Ten of them were left at the last loss: these after 2 s, and 40 more after 4.6 s.
    let twice = |ms: i64| {
        with(|m| {
            lost(m, NOW - ms, 50_000);
            m.sender.at_loss = 10_000;
        })
        .told(2)
        .found()
    };
    assert_eq!((twice(6_590), twice(6_610)), (None, Some(Growth)));
    // Packets go on overtaking each other, which held the flight down.
    let goes_on = |cause: AccountLabel| {
        let long_ago = with(|m| {
            lost(m, NOW - 3_350, 50_000);
            m.sender.late_seen = Some(at(NOW - 80));
        });
        long_ago.told(2).run(|sweep, data, wait| {
            sweep.track.begins(cause);
            sweep.label(0, data, 11_000, data.time.0 - wait)
        })
    };
    assert_eq!(goes_on(AccountLabel::Reordering), None);
    assert_eq!(goes_on(AccountLabel::PathLoss), Some(Growth));
}

/// Next to the receiver hardly anything is under way when an acknowledgement passes.
#[test]
fn without_the_senders_half_only_loss_is_told() {
    let blind = |ramping: bool, d1: i64| {
        with(|m| {
            (m.half.d2, m.half.d1) = (None, Some(at(d1)));
            (m.sender.ramping, m.sender.before_loss) = (ramping, 20_000);
        })
        .told(2)
        .found()
    };
    assert_eq!(blind(false, 30), Some(Unexplained));
    assert_eq!(blind(true, 30), None);
    assert_eq!(blind(true, 1), Some(Unexplained));
}

#[test]
fn sums_of_waits_fade_in_two_seconds() {
    let sums = |wait: i64, told: i64, proven: u64| {
        with(|m| {
            (m.wait, m.sender.proven) = (wait, proven);
            (m.sender.waits_clocked, m.sender.waits_unclocked) = (1e9, 1e9);
            m.sender.waits_at = at(NOW - 40);
        })
        .told(told)
        .judged(|sweep| {
            let ms = |nanos: f64| (nanos / 1e6).round();
            (ms(sweep.sender.waits_clocked), ms(sweep.sender.waits_unclocked))
        })
        .1
    };
    let faded = (1_000.0 * (-0.02f64).exp()).round();
    assert_eq!(sums(40, 2, 99_000), (faded + 40.0, faded));
    assert_eq!(sums(40, 500, 99_000), (faded, faded + 40.0));
    assert_eq!(
        sums(40, 500, 1_000),
        (faded, faded),
        "it could not have been sent"
    );
    assert_eq!(sums(3, 2, 99_000), (1_000.0, 1_000.0), "no wait");
}

fn sent<T>(of: Made, last: i64, look: impl FnOnce(&mut Sweep<'_>) -> T) -> T {
    let mut of = of;
    of.sender.last = Some((at(NOW - last), 7));
    of.run(|sweep, data, _| {
        sweep.send(0, data);
        look(sweep)
    })
}

#[test]
fn a_step_tells_of_the_packets_at_its_ends() {
    let of = with(|m| {
        m.data.new = 900;
        (m.rate, m.sender.touched) = (0.901, true);
    });
    let step = sent(of, 30, |sweep| sweep.track.steps[0]);
    assert_eq!(
        (step.from, step.to, step.longest),
        (at(NOW - 30), at(NOW), at(30))
    );
    assert_eq!((step.frames, step.bytes, step.packets), ((7, NOW as u64), 900, 1));
    assert!(step.touched && step.kind.at_capacity);
    assert_eq!(step.window, 60_000);
    let first = made().run(|sweep, data, _| {
        sweep.send(0, data);
        sweep.track.steps[0]
    });
    assert_eq!(
        (first.from, first.frames.0, first.longest),
        (at(NOW), NOW as u64, 0)
    );
}

#[test]
fn a_sender_begins_anew_after_a_rest() {
    let rest = |ms, under_way: u64| {
        let of = with(|m| {
            (m.sender.proven, m.sender.snd_una) = (99_000, 100_000 - under_way);
        });
        sent(of, ms, |sweep| (sweep.sender.proven, sweep.sender.began_anew))
    };
    assert_eq!(rest(201, 0), (10_000, Some((0, 100_000))));
    assert_eq!(rest(200, 0), (99_000, None));
    assert_eq!(rest(201, 1), (99_000, None), "something was under way");
}

fn copy(change: impl FnOnce(&mut Made)) -> Made {
    with(|m| {
        m.data = AccountPacket {
            again: true,
            ..data(NOW, 90_000)
        };
        change(m);
    })
}

#[test]
fn the_first_copy_begins_an_episode() {
    let state = |of: Made, last| {
        sent(of, last, |sweep| {
            let s = &sweep.sender;
            (
                s.before_loss,
                s.proven,
                s.recovery_point,
                sweep.track.episode.is_some(),
            )
        })
    };
    assert_eq!(
        state(copy(|_| ()), 30),
        (10_000, 5_000, Some(100_000), true),
        "half of the flight"
    );
    assert_eq!(
        state(copy(|m| m.sender.snd_una = 70_000), 30),
        (30_000, 15_000, Some(100_000), true)
    );
    assert_eq!(
        state(copy(|m| m.sender.snd_una = 70_000), 201),
        (30_000, 2_000, Some(100_000), true)
    );
    // Loss after loss.
    let held_down = copy(|m| (m.sender.ramping, m.sender.before_loss) = (true, 50_000));
    assert_eq!(state(held_down, 30).0, 50_000);
    let over = copy(|m| m.sender.before_loss = 50_000);
    assert_eq!(state(over, 30).0, 10_000);
    // In an episode that goes on.
    let second = copy(|m| (m.sender.recovery_point, m.sender.proven) = (Some(100_000), 33_000));
    assert_eq!(state(second, 30), (0, 33_000, Some(100_000), false));
    let second = copy(|m| (m.sender.recovery_point, m.sender.proven) = (Some(100_000), 33_000));
    assert_eq!(state(second, 201).1, 2_000);
}

#[test]
fn what_is_sent_again_was_overtaken_or_lost_at_a_queue_or_on_the_path() {
    use AccountLabel::{PathLoss, QueueLoss, Reordering};
    let cause = |change: fn(&mut Made)| sent(copy(change), 30, |sweep| sweep.track.episode);
    assert_eq!(cause(|m| m.rate = 0.85), Some(QueueLoss));
    assert_eq!(cause(|m| m.rate = 0.84), Some(PathLoss));
    assert_eq!(
        cause(|m| m.sender.late_seen = Some(at(NOW - 80))),
        Some(Reordering)
    );
    assert_eq!(cause(|m| m.sender.late_seen = Some(at(NOW - 81))), Some(PathLoss));
    assert_eq!(
        cause(|m| (m.rate, m.data.superfluous) = (0.85, true)),
        Some(Reordering)
    );
}

/// A capture that begins inside a connection, and its first loss, at 10 s. Flights of earlier rounds, and what is asked of the wait
/// before.
fn first_loss(flights: &[u64], began: i64, change: impl FnOnce(&mut Made)) -> Option<AccountLabel> {
    let made = copy(|m| {
        m.half.begun = false;
        // Long before the piece that is gone over now.
        m.half.data = vec![data(NOW - 1, 0), data(NOW, 0)];
        m.sender.first_sent = Some(at(began));
        change(m);
    });
    let waited = step(9_000, 9_010, SendBuffer);
    made.rounds(flights).run(|sweep, data, wait| {
        sweep.track.steps = vec![waited];
        sweep.repeats(1, data, wait);
        sweep.track.steps[0].kind.found
    })
}

#[test]
fn a_flight_that_climbs_to_the_first_loss_comes_back_from_an_unseen_one() {
    let climbs = [9_000, 10_000, 10_000, 11_000];
    assert_eq!(first_loss(&climbs, 9_500, |_| ()), None);
    let kept = Some(SendBuffer);
    assert_eq!(first_loss(&[11_000; 4], 9_500, |_| ()), kept, "it stays as it is");
    assert_eq!(first_loss(&climbs, 9_500, |m| m.half.begun = true), kept);
    assert_eq!(
        first_loss(&climbs, 9_500, |m| m.sender.lost_from_known_flight = true),
        kept,
        "the second loss"
    );
    // The capture began with one.
    let second = first_loss(&climbs, 9_500, |m| m.sender.loss_seen = Some(0));
    assert_eq!(second, None);
    // Of 11 segments CUBIC is back after the cube root of 8.25 s.
    assert_eq!(first_loss(&climbs, 7_980, |_| ()), None);
    assert_eq!(first_loss(&climbs, 7_970, |_| ()), kept);
    // Reno after five and a half round trips.
    let far = |began| first_loss(&climbs, began, |m| m.half.rtt = at(1_000));
    assert_eq!((far(4_500), far(4_499)), (None, kept));
}
