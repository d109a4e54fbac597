//! One wait of a sender that has been made up.

mod episodes;

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
    data: AccountPacket,
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
    (sender.snd_una, sender.snd_nxt, sender.proven) = (90_000, 100_000, 60_000);
    sender.waits_at = at(NOW);
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
    fn run<T>(mut self, look: impl FnOnce(&mut Sweep<'_>, &AccountPacket, i64) -> T) -> T {
        if self.all_acked {
            self.sender.snd_una = self.sender.snd_nxt;
        }
        let mut track = Track::default();
        let mut sweep = Sweep {
            half: &self.half,
            rates: &[self.rate],
            times: self.half.times(),
            sender: &mut self.sender,
            track: &mut track,
        };
        look(&mut sweep, &self.data, at(self.wait))
    }

    /// The label of the wait, and what is asked of the sweep behind it.
    fn judged<T>(self, ask: impl FnOnce(&Sweep<'_>) -> T) -> (Option<AccountLabel>, T) {
        self.run(|sweep, data, wait| {
            let flight = sweep.sender.flight_with(data);
            let label = sweep.label(0, data, flight, data.time.0 - wait);
            (label, ask(sweep))
        })
    }

    /// `None`: what the episode turns out to be.
    fn found(self) -> Option<AccountLabel> {
        self.judged(|_| ()).0
    }

    fn label(self) -> AccountLabel {
        self.found().expect("no episode")
    }

    /// The acknowledgement that released it came so long ago.
    fn told(mut self, ms: i64) -> Made {
        self.sender.told = Some(at(NOW - ms));
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
            m.sender.rounds.flew(1);
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
    let after = |ms: i64| with(|m| lost(m, NOW - ms, 10_000)).told(500);
    assert_eq!(
        (after(1_001).label(), after(1_000).label()),
        (Application, Growth)
    );
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

/// Packets that overtake each other come as their ways let them through, so that their distances are not the sender's.
#[test]
fn among_overtaken_packets_only_a_sender_with_nothing_under_way_is_idle() {
    let slow = |ms: i64, all_acked: bool| {
        with(|m| {
            m.sender.late_seen = Some(at(NOW - ms));
            m.all_acked = all_acked;
            m.sender.all_acked_since = Some(at(NOW - 30));
        })
        .told(500)
        .judged(|sweep| sweep.sender.waits_unclocked > 0.0)
    };
    assert_eq!(slow(81, false), (Some(Application), true), "two round trips");
    assert_eq!(slow(80, false), (Some(Growth), false));
    assert_eq!(slow(80, true), (Some(Application), false));
}

#[test]
fn a_sender_with_nothing_under_way_is_idle() {
    let idle = |ms: i64, all_acked: bool| {
        with(|m| {
            m.rate = 0.8;
            m.all_acked = all_acked;
            m.sender.all_acked_since = Some(at(NOW - ms));
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
        with(|m| (m.sender.application_until, m.wait) = (Some(at(NOW + until)), wait))
            .told(2)
            .label()
    };
    assert_eq!(
        (follows(0, 3), follows(-1, 3), follows(0, 4)),
        (Application, Growth, Growth)
    );
    let (_, until) = made().told(500).judged(|sweep| sweep.sender.application_until);
    assert_eq!(until, Some(at(NOW + 40)), "for a round trip");
}

/// The flight of a sender was `flight` when a segment was lost at `ms`.
fn lost(of: &mut Made, ms: i64, flight: u64) {
    let sender = &mut of.sender;
    (sender.loss_seen, sender.at_loss, sender.before_loss) = (Some(at(ms)), flight, flight);
}

#[test]
fn a_burst_after_a_rest_is_growth_from_its_eleventh_segment_on() {
    let burst = |sent: u64, lost_just_now: bool, rounds: usize| {
        with(|m| {
            m.sender.began_anew = Some((0, 100_000 - sent));
            (m.sender.application_until, m.wait) = (Some(at(NOW + 10)), 1);
            m.sender.rounds.completed = rounds;
            if lost_just_now {
                lost(m, NOW, 50_000);
            }
        })
        .told(2)
        .found()
    };
    assert_eq!(burst(10_000, false, 4), Some(Growth));
    assert_eq!(burst(9_000, false, 4), Some(Application), "the first flight");
    assert_eq!(burst(10_000, false, 5), Some(Application), "five rounds ago");
    assert_eq!(burst(10_000, true, 4), None, "loss keeps it down");
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
        (inferred.half.scale_known, inferred.sender.touched_at) = (false, Some(at(NOW - ms)));
        assert_eq!(inferred.label(), expected, "full {ms} ms ago");
    }
}

#[test]
fn what_a_capture_in_the_middle_hides_is_noted() {
    let hides = |mut of: Made| {
        of.half.begun = false;
        let (label, hides) = of.judged(|sweep| (sweep.track.hides_queues, sweep.track.hides_growth));
        (label, hides.0, hides.1)
    };
    assert_eq!(hides(plateau(30_000)), (Some(Unexplained), true, true));
    assert_eq!(
        hides(plateau(30_000).rounds(&[30_000, 30_000, 10_000, 30_000, 30_000, 30_000, 30_000, 30_000])),
        (Some(SendBuffer), false, false),
        "it was smaller once"
    );
    assert_eq!(
        hides(made().told(2)),
        (Some(Unexplained), false, true),
        "it may have grown"
    );
}
