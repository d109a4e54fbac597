//! One wait of a sender that has been made up.

use super::*;
use crate::account::made_up::{ack, at, data, half, step};
use crate::account::sweep::rounds::Rounds;
use AccountLabel::{Application, Capacity, Growth, ReceiveWindow, SendBuffer, Unexplained, ZeroWindow};

/// A sender in the middle of a transfer, and its next segment. Round trips of 40 ms, of which the sender's half takes 10: an
/// acknowledgement releases data within 3 ms, a pause has 60 ms.
struct Made {
    half: Half,
    sender: TcpSender,
    rate: f32,
    data: Data,
    /// Since the packet before it, milliseconds.
    wait: i64,
    all_acked: bool,
}

const NOW: i64 = 10_000;

fn made() -> Made {
    let half = Half {
        d1: Some(at(30)),
        d2: Some(at(10)),
        rtt: at(40),
        ..half()
    };
    let mut sender = TcpSender::new(0, 1_000);
    (sender.una, sender.nxt, sender.proven) = (90_000, 100_000, 60_000);
    // It heard of this long ago, and may send much more.
    sender.receiver.opens(&half, &ack(0, 90_000, 60_000), at(0), None);
    Made {
        half,
        sender,
        rate: 0.0,
        data: data(NOW, 100_000),
        wait: 10,
        all_acked: false,
    }
}

impl Made {
    fn run<T>(mut self, look: impl FnOnce(&mut Sweep<'_>, &Data, i64, bool) -> T) -> T {
        let mut track = Track::new(&self.half);
        let rates = [self.rate];
        let mut sweep = Sweep {
            half: &self.half,
            rates: &rates,
            times: track.facts.times,
            sender: &mut self.sender,
            track: &mut track,
            copies: Vec::new(),
        };
        look(&mut sweep, &self.data, at(self.wait), self.all_acked)
    }

    /// The label of the wait, its step, and what is asked of the sweep behind it.
    fn judged<T>(self, ask: impl FnOnce(&Sweep<'_>) -> T) -> (StepLabel, Step, T) {
        self.run(|sweep, data, wait, all_acked| {
            let mut step = Step {
                all_acked,
                ..step(0, 0, Unexplained)
            };
            (step.from, step.to, step.longest) = (data.time - wait, data.time, wait);
            let flight = sweep.sender.nxt.max(data.end).saturating_sub(sweep.sender.una);
            let label = sweep.label(0, data, flight, &mut step);
            (label, step, ask(sweep))
        })
    }

    fn labelled(self) -> (StepLabel, Step) {
        let (label, step, ()) = self.judged(|_| ());
        (label, step)
    }

    fn label(self) -> AccountLabel {
        match self.labelled().0 {
            StepLabel::Label(label) => label,
            StepLabel::Episode => panic!("an episode"),
        }
    }

    /// The acknowledgement that released it came so long ago.
    fn told(mut self, ms: i64) -> Made {
        self.sender.told = at(NOW - ms);
        self
    }

    /// So many rounds with these largest flights are over.
    fn rounds(mut self, flights: &[u64]) -> Made {
        self.sender.rounds = Rounds::new(0);
        for (k, &flight) in (0u64..).zip(flights) {
            self.sender.rounds.flew(flight);
            self.sender.rounds.acknowledged(k, k + 1, true);
        }
        self
    }
}

fn with(change: impl FnOnce(&mut Made)) -> Made {
    let mut of = made();
    change(&mut of);
    of
}

#[test]
fn a_sender_that_begins_grows() {
    assert_eq!(made().told(2).label(), Growth);
    let in_the_middle = with(|m| m.half.begun = false);
    assert_eq!(
        in_the_middle.told(2).label(),
        Unexplained,
        "it may have begun long ago"
    );
    let rising = with(|m| m.half.begun = false)
        .rounds(&[1_000, 2_000, 4_000])
        .told(2);
    assert_eq!(rising.label(), Growth);
}

#[test]
fn a_window_smaller_than_a_segment_is_closed() {
    let closed = |since: i64| {
        with(|m| {
            let shut = ack(since, 90_000, 500);
            m.sender
                .receiver
                .opens(&m.half, &shut, at(NOW - since), Some(at(0)));
        })
        .told(2)
        .label()
    };
    assert_eq!(
        (closed(6), closed(5)),
        (ZeroWindow, Growth),
        "more than half of the wait"
    );
}

#[test]
fn a_path_at_its_limit_is_at_capacity() {
    let at_rate = |rate: f32, wait: i64, touched: bool| {
        with(|m| {
            (m.rate, m.wait, m.sender.touched) = (rate, wait, touched);
        })
        .told(2)
        .label()
    };
    assert_eq!(
        (at_rate(0.901, 59, false), at_rate(0.899, 59, false)),
        (Capacity, Growth)
    );
    assert_eq!(at_rate(0.901, 60, false), Growth, "a pause");
    assert_eq!(at_rate(0.901, 10, true), ReceiveWindow);
    // With a queue three quarters are enough.
    let queued = |rate: f32| {
        with(|m| {
            m.rate = rate;
            m.sender.rounds.delayed(at(50));
            m.sender.rounds.acknowledged(0, 1, true);
        })
        .told(2)
        .label()
    };
    assert_eq!((queued(0.75), queued(0.74)), (Capacity, Growth));
}

#[test]
fn a_full_window_is_waited_for_until_an_acknowledgement_comes() {
    let touched = |ms: i64| {
        let full = with(|m| (m.sender.touched, m.rate) = (true, 0.8));
        full.told(ms).label()
    };
    assert_eq!((touched(2), touched(3)), (ReceiveWindow, Growth));
}

/// Nothing released it, and it could have been sent before.
#[test]
fn a_slow_sender_is_slowed_by_its_application() {
    let slow = |change: &dyn Fn(&mut Made)| with(|m| change(m)).told(500).label();
    assert_eq!(slow(&|_| ()), Application);
    assert_eq!(slow(&|m| m.rate = 0.59), Application);
    assert_eq!(slow(&|m| m.rate = 0.6), Growth, "not that slow");
    assert_eq!(
        slow(&|m| m.sender.waits_clocked = at(20) as f64),
        Growth,
        "others waited longer"
    );
    assert_eq!(slow(&|m| m.sender.proven = 11_000), Application);
    assert_eq!(
        slow(&|m| m.sender.proven = 10_999),
        Growth,
        "more was never under way"
    );
    assert_eq!(slow(&|m| m.wait = 3), Growth, "no wait");
    let lost = |ms: i64| slow(&|m| m.sender.loss_seen = Some(at(NOW - ms)));
    assert_eq!(lost(1_001), Application);
    let after_loss = with(|m| m.sender.loss_seen = Some(at(NOW - 1_000))).told(500);
    assert_eq!(after_loss.label(), Growth);
    let beyond = |ms: i64| {
        with(|m| {
            m.sender.receiver = Default::default();
            let heard = ack(NOW - ms, 90_000, 11_000);
            m.sender.receiver.opens(&m.half, &heard, at(NOW - ms), None);
        })
        .told(500)
        .label()
    };
    assert_eq!(
        (beyond(3), beyond(2)),
        (Application, Growth),
        "it was not allowed before"
    );
}

#[test]
fn a_sender_with_nothing_under_way_is_idle() {
    let idle = |ms: i64, all_acked: bool| {
        with(|m| {
            m.rate = 0.8;
            m.all_acked = all_acked;
            (m.sender.una, m.sender.all_acked_since) = (100_000, Some(at(NOW - ms)));
        })
        .told(500)
        .label()
    };
    // Half a round trip.
    assert_eq!(
        (idle(21, true), idle(20, true), idle(21, false)),
        (Application, Growth, Growth)
    );
}

#[test]
fn what_follows_at_once_on_the_applications_words_is_the_applications() {
    let follows = |until: i64, wait: i64| {
        with(|m| (m.sender.application_until, m.wait) = (at(NOW + until), wait))
            .told(2)
            .label()
    };
    assert_eq!(
        (follows(0, 3), follows(-1, 3), follows(0, 4)),
        (Application, Growth, Growth)
    );
    let (_, _, until) = made().told(500).judged(|sweep| sweep.sender.application_until);
    assert_eq!(until, at(NOW + 40), "for a round trip");
}

#[test]
fn a_burst_after_a_rest_is_growth_from_its_eleventh_segment_on() {
    let burst = |sent: u64, lost: bool, rounds: u64| {
        with(|m| {
            m.sender.began_anew = Some((0, 100_000 - sent));
            (m.sender.application_until, m.wait) = (at(NOW + 10), 1);
            m.sender.rounds.completed = rounds;
            (m.sender.loss_seen, m.sender.before_loss) = (lost.then_some(0), 50_000);
        })
        .told(2)
        .labelled()
        .0
    };
    let label = StepLabel::Label;
    assert_eq!(burst(10_000, false, 4), label(Growth));
    assert_eq!(burst(9_000, false, 4), label(Application), "the first flight");
    assert_eq!(burst(10_000, false, 5), label(Application), "five rounds ago");
    assert_eq!(burst(10_000, true, 4), StepLabel::Episode, "loss keeps it down");
}

/// Eight rounds with the same flight.
fn plateau(flight: u64) -> Made {
    with(|m| {
        m.sender.receiver = Default::default();
        let heard = ack(0, 90_000, 60_000);
        m.sender.receiver.opens(&m.half, &heard, at(0), None);
        m.half.begun = true;
    })
    .rounds(&[flight; 8])
    .told(2)
}

#[test]
fn a_flight_that_does_not_grow_waits_for_window_or_buffer() {
    assert_eq!(plateau(45_000).label(), ReceiveWindow, "three quarters of it");
    assert_eq!(plateau(44_999).label(), SendBuffer);
    let mut at_receiver = plateau(20_000);
    (at_receiver.half.d1, at_receiver.half.echoed) = (Some(at(1)), None);
    assert_eq!(at_receiver.label(), Unexplained, "a queue would look the same");
    let mut unclocked = plateau(20_000);
    unclocked.sender.waits_unclocked = at(11) as f64;
    assert_eq!(unclocked.label(), Application);
    let mut clocked = plateau(20_000);
    (clocked.sender.waits_unclocked, clocked.sender.waits_clocked) = (at(10) as f64, at(1) as f64);
    assert_eq!(clocked.label(), SendBuffer);
    // A window of an inferred scale counts while it is full now and then: eight round trips.
    for (ms, expected) in [(320, ReceiveWindow), (321, SendBuffer)] {
        let mut inferred = plateau(45_000);
        (inferred.half.scale_known, inferred.sender.touched_at) = (false, at(NOW - ms));
        assert_eq!(inferred.label(), expected, "full {ms} ms ago");
    }
}

#[test]
fn what_a_capture_in_the_middle_hides_is_noted() {
    let hides = |mut of: Made| {
        of.half.begun = false;
        let (label, _, hides) = of.judged(|sweep| (sweep.track.hides_queues, sweep.track.hides_growth));
        (label, hides.0, hides.1)
    };
    let label = StepLabel::Label;
    assert_eq!(hides(plateau(30_000)), (label(Unexplained), true, true));
    assert_eq!(
        hides(plateau(30_000).rounds(&[30_000, 30_000, 10_000, 30_000, 30_000, 30_000, 30_000, 30_000])),
        (label(SendBuffer), false, false),
        "it was smaller once"
    );
    assert_eq!(
        hides(made().told(2)),
        (label(Unexplained), false, true),
        "it may have grown"
    );
}

#[test]
fn an_episode_lasts_until_the_flight_is_back() {
    let recovering = with(|m| m.sender.recovering = Some(1));
    assert_eq!(recovering.told(2).labelled().0, StepLabel::Episode);
    let filled = with(|m| (m.sender.recovering, m.rate) = (Some(1), 0.901));
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
        .labelled()
        .0
    };
    // 11,000 are under way: less than a segment of 1,000 lacks.
    assert_eq!(
        (ramp(12_000), ramp(11_999)),
        (StepLabel::Episode, StepLabel::Label(Growth))
    );
    let lost = |before_loss: u64| {
        with(|m| {
            (m.sender.loss_seen, m.sender.before_loss) = (Some(0), before_loss);
        })
        .told(2)
        .labelled()
        .0
    };
    // 5 % above what it was.
    assert_eq!(
        (lost(10_477), lost(10_476)),
        (StepLabel::Episode, StepLabel::Label(Growth))
    );
}

#[test]
fn the_way_back_after_a_pause_belongs_to_it() {
    let ramp = |before: u64| {
        let (_, step) = with(|m| m.sender.paused = Some((4, before))).told(2).labelled();
        step.kind.ramp
    };
    assert_eq!((ramp(11_579), ramp(11_578)), (4, NONE));
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
        .labelled()
        .0
    };
    assert_eq!(blind(false, 30), StepLabel::Label(Unexplained));
    assert_eq!(blind(true, 30), StepLabel::Episode);
    assert_eq!(blind(true, 1), StepLabel::Label(Unexplained));
}

#[test]
fn sums_of_waits_fade_in_two_seconds() {
    let sums = |wait: i64, told: i64, proven: u64| {
        with(|m| {
            (m.wait, m.sender.proven) = (wait, proven);
            (m.sender.waits_clocked, m.sender.waits_unclocked) = (1e9, 1e9);
        })
        .told(told)
        .judged(|sweep| {
            let ms = |nanos: f64| (nanos / 1e6).round();
            (ms(sweep.sender.waits_clocked), ms(sweep.sender.waits_unclocked))
        })
        .2
    };
    let faded = (1_000.0 * (-0.02f64).exp()).round();
    assert_eq!(sums(40, 2, 99_000), (faded + 40.0, faded));
    assert_eq!(sums(40, 500, 99_000), (faded, faded + 40.0));
    assert_eq!(
        sums(40, 500, 1_000),
        (faded, faded),
        "it could not have been sent"
    );
    assert_eq!(sums(3, 2, 99_000), (999.0, 999.0), "no wait");
}

fn sent<T>(of: Made, last: i64, look: impl FnOnce(&mut Sweep<'_>) -> T) -> T {
    let mut of = of;
    of.sender.last = Some((at(NOW - last), 7, 20));
    of.run(|sweep, data, _, _| {
        sweep.send(0, data);
        look(sweep)
    })
}

#[test]
fn a_step_tells_of_the_packets_at_its_ends() {
    let numbered = |ip_id| {
        with(|m| {
            (m.data.numbered, m.data.ip_id, m.data.new) = (true, ip_id, 900);
            (m.rate, m.sender.touched) = (0.901, true);
        })
    };
    let step = sent(numbered(22), 30, |sweep| sweep.track.steps[0]);
    assert_eq!(
        (step.from, step.to, step.longest),
        (at(NOW - 30), at(NOW), at(30))
    );
    assert_eq!((step.frames, step.bytes, step.packets), ((7, NOW as u64), 900, 1));
    assert!(step.vanished && step.touched && step.kind.at_capacity && !step.again && !step.all_acked);
    assert_eq!((step.window, step.pause), (60_000, NONE));
    assert!(!sent(numbered(21), 30, |sweep| sweep.track.steps[0].vanished));
    let first = made().run(|sweep, data, _, _| {
        sweep.send(0, data);
        sweep.track.steps[0]
    });
    assert_eq!(
        (first.from, first.frames.0, first.longest),
        (at(NOW), NOW as u64, 0)
    );
}

#[test]
fn a_timeout_is_a_pause() {
    let paused = |ms| {
        sent(made().rounds(&[50_000]), ms, |sweep| {
            (
                sweep.track.steps[0].pause,
                sweep.sender.pauses,
                sweep.sender.paused,
            )
        })
    };
    assert_eq!(paused(201), (0, 1, Some((0, 50_000))));
    assert_eq!(paused(200), (NONE, 0, None));
}

#[test]
fn a_sender_begins_anew_after_a_rest() {
    let rest = |ms, under_way: u64| {
        let of = with(|m| {
            (m.sender.proven, m.sender.una) = (99_000, 100_000 - under_way);
        });
        sent(of, ms, |sweep| (sweep.sender.proven, sweep.sender.began_anew))
    };
    assert_eq!(rest(301, 0), (10_000, Some((0, 100_000))));
    assert_eq!(rest(300, 0), (99_000, None));
    assert_eq!(rest(301, 1), (99_000, None), "something was under way");
}

fn copy(change: impl FnOnce(&mut Made)) -> Made {
    with(|m| {
        m.data = Data {
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
            (s.before_loss, s.proven, s.recovering, sweep.copies.len())
        })
    };
    assert_eq!(
        state(copy(|_| ()), 30),
        (10_000, 5_000, Some(100_000), 1),
        "half of the flight"
    );
    assert_eq!(
        state(copy(|m| m.sender.una = 70_000), 30),
        (30_000, 15_000, Some(100_000), 1)
    );
    assert_eq!(
        state(copy(|m| m.sender.una = 70_000), 201),
        (30_000, 2_000, Some(100_000), 1)
    );
    // Loss after loss.
    let held_down = copy(|m| (m.sender.ramping, m.sender.before_loss) = (true, 50_000));
    assert_eq!(state(held_down, 30).0, 50_000);
    let over = copy(|m| m.sender.before_loss = 50_000);
    assert_eq!(state(over, 30).0, 10_000);
    // In an episode that goes on.
    let second = copy(|m| (m.sender.recovering, m.sender.proven) = (Some(100_000), 33_000));
    assert_eq!(state(second, 30), (0, 33_000, Some(100_000), 0));
    let second = copy(|m| (m.sender.recovering, m.sender.proven) = (Some(100_000), 33_000));
    assert_eq!(state(second, 201).1, 2_000);
}

#[test]
fn an_episode_at_the_paths_limit_is_of_a_queue() {
    let queue = |rate| sent(copy(|m| m.rate = rate), 30, |sweep| sweep.track.episodes[0].queue);
    assert_eq!((queue(0.85), queue(0.84)), (true, false));
    let overtaken = |ms| {
        let late = copy(|m| m.sender.late_seen = Some(at(NOW - ms)));
        sent(late, 30, |sweep| {
            (sweep.track.episodes[0].overtaken, sweep.track.episodes[0].copies)
        })
    };
    assert_eq!((overtaken(80), overtaken(81)), ((true, 1), (false, 1)));
}
