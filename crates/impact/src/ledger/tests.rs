//! Made-up transfers whose cost is known.

use super::made_up::{MadeUpTransfer, at};
use super::{Owner, RekeySpan, label_sums};
use proptest::prelude::*;
use rekeyscope_model::analysis::LedgerWhy;
use rekeyscope_traffic::Interval;

/// Milliseconds by which the end of an interval is uncertain where the rate goes over into the usual one: a tenth of a window of 160 ms is
/// within what counts as back, and two packets.
const ENDS_WITHIN: f64 = 18.5;

/// Milliseconds, to the tenth.
fn ms(nanos: i64) -> f64 {
    (nanos as f64 / 1e5).round() / 10.0
}

/// An even transfer of a packet of 1,000 bytes every millisecond, for 20 s, with one silence, and a rekey that it belongs to.
fn stalled(silence: i64) -> MadeUpTransfer {
    let mut transfer = MadeUpTransfer::new();
    transfer.even(0, 10_000, 1);
    transfer.rekey(10_000 - 20, 10_000 + silence);
    transfer.swallow(10_000, 10_000 + silence.min(20), 1);
    transfer
}

#[test]
fn what_is_swallowed_and_sent_again_costs_its_silence() {
    let mut transfer = stalled(500);
    transfer.even(10_500, 20_000, 1);
    let book = transfer.ledger();
    let [own] = &book.intervals[..] else {
        panic!("{book:?}")
    };
    assert_eq!((own.owner, own.why), (Owner::Rekey(0), LedgerWhy::LostOnOld));
    assert_eq!(
        (own.from, own.arrived, own.to),
        (at(9_999), Some(at(10_500)), at(10_500))
    );
    assert_eq!(ms(own.nanos), 500.0, "501 ms with one packet in them");
    assert_eq!((own.bytes, own.in_vain, own.silence), (1_000, 20, at(501).0));
    assert_eq!(ms(book.rekeys_nanos()), 500.0);
    assert_eq!((ms(own.range.0), ms(own.range.1)), (500.0, 500.0));
    assert!(!book.intervals.iter().any(|i| i.at_least) && book.slow.is_none());
    assert_eq!((book.nanos, book.bytes), (at(19_999).0, 19_500_000));
}

/// The application wrote on, and the path takes twice its rate: everything is there as soon as it would have been.
#[test]
fn an_application_that_catches_up_lost_nothing() {
    for (rate, owns) in [(2, 1), (3, 0)] {
        let mut transfer = stalled(500);
        transfer.even(10_500, 11_000, rate);
        transfer.even(11_000, 20_000, 1);
        let book = transfer.ledger();
        assert!(ms(book.rekeys_nanos()) < ENDS_WITHIN, "{book:?}");
        assert_eq!(
            (book.intervals.len(), book.rekeys.len()),
            (owns, owns),
            "{book:?}"
        );
        assert_eq!(
            ms(book
                .threshold
                .max(book.rekeys.first().map_or(0, |own| own.silence))),
            501.0
        );
    }
}

/// Segments in a queue behind the capture went on being sent meanwhile.
#[test]
fn a_queue_that_is_filled_again_is_no_loss() {
    let mut transfer = stalled(500);
    transfer.even(10_500, 10_505, 21);
    transfer.even(10_505, 20_000, 1);
    let cost = ms(transfer.ledger().rekeys_nanos());
    assert!(
        (400.0..400.0 + ENDS_WITHIN).contains(&cost),
        "100 packets at once: {cost}"
    );
}

/// A window of 50 segments over 20 ms, and slow start after the silence: 1, 2, 4 … of them a round trip.
#[test]
fn the_way_back_through_slow_start_is_part_of_the_cost() {
    let mut transfer = MadeUpTransfer::new();
    let rounds = |transfer: &mut MadeUpTransfer, from: i64, count: i64, segments: i64| {
        for round in 0..count {
            for k in 0..segments {
                transfer.packet_at_micros((from + 20 * round) * 1_000 + 20_000 * k / segments, 1_000);
            }
        }
    };
    rounds(&mut transfer, 0, 500, 50);
    transfer.rekey(9_980, 10_600);
    transfer.swallow(10_000, 10_020, 1);
    for (round, segments) in [1, 2, 4, 8, 16, 32].into_iter().enumerate() {
        rounds(&mut transfer, 10_600 + 20 * round as i64, 1, segments);
    }
    rounds(&mut transfer, 10_720, 460, 50);
    // Slow start used 63 segments of 300 in six round trips: 94.8 ms are lost on top of the silence.
    let cost = ms(transfer.ledger().rekeys_nanos());
    assert!((694.8 - ENDS_WITHIN..696.0).contains(&cost), "{cost}");
}

/// The rate comes back over four seconds: half of them are lost.
#[test]
fn a_way_back_of_four_seconds() {
    let mut transfer = stalled(500);
    let mut micros = 10_500_000.0;
    while micros < 14_500_000.0 {
        transfer.packet_at_micros(micros as i64, 1_000);
        let share: f64 = ((micros - 10_500_000.0) / 4_000_000.0_f64).max(0.02);
        micros += 1_000.0 / share;
    }
    transfer.even(14_500, 30_000, 1);
    let cost = transfer.ledger().rekeys_nanos() as f64 / 1e9;
    assert!((cost - 2.5).abs() < 0.04, "{cost}");
}

#[test]
fn silences_one_after_the_other_are_not_counted_twice() {
    let mut transfer = MadeUpTransfer::new();
    transfer.even(0, 5_000, 1);
    for k in 0..8 {
        let from = 5_000 + 1_000 * k;
        transfer.rekey(from, from + 500);
        transfer.swallow(from, from + 20, 1);
        transfer.even(from + 500, from + 1_000, 1);
    }
    transfer.even(13_000, 20_000, 1);
    let book = transfer.ledger();
    assert_eq!(ms(book.rekeys_nanos()), 4_000.0);
    assert!(book.rekeys.iter().all(|own| ms(own.nanos) == 500.0));
    assert!(book.intervals.windows(2).all(|two| two[0].to <= two[1].from));
}

/// Half a second of silence out of every 0.6: nothing is good in between, so that the intervals run into each other.
#[test]
fn intervals_that_run_into_each_other_are_cut() {
    let mut transfer = MadeUpTransfer::new();
    transfer.even(0, 5_000, 1);
    for k in 0..5 {
        let from = 5_000 + 600 * k;
        transfer.rekey(from, from + 500);
        transfer.swallow(from, from + 20, 1);
        transfer.even(from + 500, from + 600, 1);
    }
    transfer.even(8_000, 15_000, 1);
    let book = transfer.ledger();
    assert_eq!(ms(book.rekeys_nanos()), 2_500.0);
    let rates: Vec<f64> = book.intervals.iter().map(|own| own.rate).collect();
    assert!(rates.iter().all(|rate| *rate == rates[0]), "{rates:?}");
}

#[test]
fn what_never_heals_costs_at_least_the_rest() {
    let mut transfer = stalled(0);
    transfer.swallow(10_020, 25_000, 1_000);
    transfer.died(25_000);
    let book = transfer.ledger();
    assert_eq!(ms(book.rekeys_nanos()), 15_001.0);
    assert!(book.intervals.iter().any(|i| i.at_least));
    assert_eq!(book.intervals[0].arrived, None);
}

#[test]
fn a_failed_attempt_owns_what_it_touches() {
    let mut transfer = MadeUpTransfer::new();
    transfer.even(0, 10_000, 1);
    transfer.swallow(10_000, 12_000, 50);
    transfer.fail(9_000, Some(12_000));
    transfer.rekey(11_950, 12_000);
    transfer.even(12_000, 20_000, 1);
    let book = transfer.ledger();
    assert_eq!((ms(book.down), book.rekeys.len()), (2_000.0, 0));
    assert_eq!(book.intervals[0].owner, Owner::Attempt(0));
}

/// The tunnel was dead for two seconds before anybody asked.
#[test]
fn what_began_before_the_request_is_no_cost_of_the_rekey() {
    let mut transfer = MadeUpTransfer::new();
    transfer.even(0, 10_000, 1);
    transfer.swallow(10_000, 12_000, 50);
    transfer.rekey(12_000, 12_100);
    transfer.even(12_100, 20_000, 1);
    let book = transfer.ledger();
    assert_eq!((ms(book.down), book.rekeys_nanos()), (2_100.0, 0));
    assert_eq!(book.intervals[0].owner, Owner::DownBefore(0));
}

/// Everything had been acknowledged, and nothing was sent: the application paused. With the SA at its limit it may have been the SA.
#[test]
fn a_pause_of_the_sender_is_nobodys() {
    let pause = |volume: f64| {
        let mut transfer = MadeUpTransfer::new();
        transfer.even(0, 9_900, 1);
        transfer.rekey(10_000, 10_200);
        transfer.rekeys[0].volume = Some(volume);
        transfer.even(10_300, 20_000, 1);
        let book = transfer.ledger();
        (book.rekeys.len(), ms(book.rekeys_nanos()))
    };
    assert_eq!(pause(0.85), (0, 0.0));
    assert_eq!(pause(1.0), (1, 400.0));
}

/// A segment was lost before the silence, and its timer ran out beside a rekey. Not so if the sender could not hear of it.
#[test]
fn a_timeout_after_a_loss_of_the_path_is_nobodys() {
    let timeout = |reverse: i64| {
        let mut transfer = MadeUpTransfer::new();
        transfer.even(0, 10_000, 1);
        transfer.rekey(10_050, 10_200);
        transfer.rekeys[0].first_on_new[1] = Some(at(reverse));
        transfer.even(10_300, 20_000, 1);
        let ending = transfer
            .arrived
            .iter()
            .position(|run| run.from == at(10_300))
            .unwrap();
        transfer.arrived[ending].lacking_since = at(9_990);
        let book = transfer.ledger();
        (book.rekeys.len(), book.rekeys.first().map(|own| own.why))
    };
    assert_eq!(timeout(10_200), (0, None));
    assert_eq!(
        timeout(10_100),
        (1, Some(LedgerWhy::Reverse)),
        "the exchange was not over"
    );
}

#[test]
fn usual_silences_are_nobodys() {
    let mut transfer = MadeUpTransfer::new();
    for k in 0..200 {
        transfer.even(100 * k, 100 * k + 30, 1);
    }
    transfer.rekey(10_000, 10_080);
    assert_eq!(transfer.ledger().rekeys, []);
}

#[test]
fn a_rekey_in_a_hole_is_not_observed() {
    let mut transfer = stalled(500);
    transfer.even(10_500, 20_000, 1);
    transfer.holes.push((at(10_100), at(10_200)));
    let book = transfer.ledger();
    assert_eq!((book.intervals.len(), book.unobserved), (0, vec![0]));
}

/// A silence before the rate was ever reached is priced by the rate that comes after.
#[test]
fn a_rekey_while_the_transfer_grows_has_the_rate_of_later() {
    let mut transfer = MadeUpTransfer::new();
    for k in 0..50 {
        transfer.packet_at_micros(20_000 * k, 1_000);
    }
    transfer.rekey(1_000, 1_500);
    transfer.swallow(1_000, 1_020, 1);
    transfer.even(1_500, 20_000, 1);
    let book = transfer.ledger();
    assert_eq!(book.rekeys[0].rate, 1e6);
}

/// A rate that rekeys halve for half a second each, without any silence.
#[test]
fn slowness_without_a_silence_is_found_over_all_rekeys() {
    let transfer = |every: i64| {
        let mut transfer = MadeUpTransfer::new();
        for k in 0..10 {
            let from = 5_000 * k;
            transfer.even(from, from + 2_500, 1);
            for ms in (from + 2_500..from + 3_000).step_by(every as usize) {
                transfer.packet_at_micros(1_000 * ms, 1_000);
            }
            transfer.even(from + 3_000, from + 5_000, 1);
            transfer.rekey(from + 2_520, from + 2_750);
        }
        transfer.ledger()
    };
    let slow = transfer(2);
    let found = slow.slow.clone().unwrap();
    assert_eq!(found.rekeys.len(), 10);
    assert!((2_450.0..2_550.0).contains(&ms(slow.rekeys_nanos())), "{found:?}");
    assert_eq!(slow.rekeys_nanos(), found.nanos);
    assert!(slow.rekeys.iter().all(|own| own.why == LedgerWhy::Slow));
    let even = transfer(1);
    assert_eq!((even.rekeys.len(), even.rekeys_nanos()), (0, 0));
    assert!(ms(even.slow.unwrap().bound) < 2.0);
}

/// The transfer begins with a failure: its first packet belongs to no stretch outside of it, and counts all the same.
#[test]
fn an_interval_that_begins_with_the_transfer_has_its_first_packet() {
    let mut transfer = MadeUpTransfer::new();
    transfer.even(0, 1, 1);
    transfer.fail(1, Some(201));
    transfer.swallow(1, 101, 7);
    transfer.even(201, 252, 1);
    let book = transfer.ledger();
    let (from, to) = transfer.span();
    let labels = [Interval {
        from,
        to,
        facts: MadeUpLabel::Even,
    }];
    let sums = label_sums(&transfer.input(), &labels, &book, |_| MadeUpLabel::Down);
    assert_eq!(sums.values().map(|sum| sum.bytes).sum::<u64>(), book.bytes);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MadeUpLabel {
    Rekey,
    Down,
    Odd,
    Even,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Property of every transfer: the seconds and bytes of all labels are those of the transfer, owners carry no bytes, what costs something is
    /// owned, and intervals do not overlap.
    #[test]
    fn sums_are_exact(
        parts in proptest::collection::vec((1_i64..600, 0_i64..900, 1_i64..4, any::<bool>(), any::<bool>()), 2..12),
        cuts in proptest::collection::vec(1_i64..400, 1..30),
        rtt in 0_i64..120,
        died in any::<bool>(),
    ) {
        let mut transfer = MadeUpTransfer::new();
        let mut now = 0;
        for (busy, quiet, rate, is_rekey, is_failure) in parts {
            transfer.even(now, now + busy, rate);
            now += busy;
            if is_rekey && !is_failure {
                transfer.rekey(now, now + quiet);
            } else if is_failure {
                transfer.fail(now, (!is_rekey).then_some(at(now + quiet)).map(|at| at.0 / 1_000_000));
            }
            transfer.swallow(now, now + quiet / 2, 7);
            now += quiet;
        }
        transfer.even(now, now + 50, 1);
        if died {
            transfer.died(now + 700);
        }
        transfer.round_trip = at(rtt).0;
        let book = transfer.ledger();
        let span = transfer.span();
        let mut labels = Vec::new();
        let mut from = span.0;
        for (k, cut) in cuts.iter().enumerate() {
            let to = from.plus_nanos(at(*cut).0 + 13).min(span.1);
            if from < to {
                labels.push(Interval { from, to, facts: if k % 2 == 0 { MadeUpLabel::Even } else { MadeUpLabel::Odd } });
            }
            from = to;
        }
        if from < span.1 {
            labels.push(Interval { from, to: span.1, facts: MadeUpLabel::Even });
        }
        let sums = label_sums(&transfer.input(), &labels, &book, |owner| match owner {
            Owner::Rekey(_) => MadeUpLabel::Rekey,
            _ => MadeUpLabel::Down,
        });
        prop_assert_eq!(sums.values().map(|sum| sum.nanos).sum::<i64>(), book.nanos);
        prop_assert_eq!(sums.values().map(|sum| sum.bytes).sum::<u64>(), book.bytes);
        let of = |label| sums.get(&label).copied().unwrap_or_default();
        prop_assert_eq!(of(MadeUpLabel::Rekey).nanos, book.rekeys_nanos());
        prop_assert_eq!(of(MadeUpLabel::Down).nanos, book.down);
        prop_assert_eq!(of(MadeUpLabel::Rekey).bytes + of(MadeUpLabel::Down).bytes, 0);
        prop_assert!(book.intervals.windows(2).all(|two| two[0].to <= two[1].from));
        for own in &book.rekeys {
            prop_assert!(own.nanos >= 0);
            let is_of_it = |interval: &&super::OwnedInterval| interval.owner == Owner::Rekey(own.rekey);
            let intervals = book.intervals.iter().filter(is_of_it);
            prop_assert_eq!(intervals.map(|interval| interval.nanos).sum::<i64>(), own.nanos);
        }
    }

    /// Costs are times: neither the bytes of a packet nor the rate of the path nor the clock's zero changes them.
    #[test]
    fn costs_do_not_depend_on_units(silence in 60_i64..2_000, larger in 2_u64..9, zero in 0_i64..1_000_000) {
        let make = |bytes: u64, zero: i64| {
            let mut transfer = stalled(silence);
            transfer.even(10_000 + silence, 20_000, 1);
            for run in &mut transfer.arrived {
                run.bytes *= bytes;
            }
            transfer.shift(zero);
            transfer
        };
        let mut plain = make(1, 0);
        let cost = plain.ledger().rekeys_nanos();
        prop_assert_eq!(make(larger, zero).ledger().rekeys_nanos(), cost);
        plain.capacity = Some(7e7);
        prop_assert_eq!(plain.ledger().rekeys_nanos(), cost);
    }

    /// Runs of 20 ms, as the packets of a long capture come in, cost what their packets cost; where the sender catches up, within what the
    /// end of an interval is uncertain by, and a run.
    #[test]
    fn runs_cost_what_their_packets_cost(silence in 60_i64..2_000, back in 1_i64..4) {
        let mut transfer = stalled(silence);
        transfer.even(10_000 + silence, 10_000 + 2 * silence, back);
        transfer.even(10_000 + 2 * silence, 20_000, 1);
        let fine = transfer.ledger().rekeys_nanos();
        transfer.in_runs();
        let coarse = transfer.ledger().rekeys_nanos();
        let within = if back == 1 { 1.0 } else { ENDS_WITHIN + 20.0 };
        prop_assert!(ms((fine - coarse).abs()) <= within, "{} {}", ms(fine), ms(coarse));
    }
}

#[test]
fn a_rekey_reaches_no_farther_than_its_window() {
    let mut transfer = stalled(500);
    transfer.even(10_500, 20_000, 1);
    let own = transfer.rekeys[0];
    transfer.rekeys[0] = RekeySpan {
        asked: own.asked.plus_nanos(at(2_000).0),
        last_message: own.last_message.plus_nanos(at(2_000).0),
        first_on_new: [None, None],
        ..own
    };
    assert_eq!(transfer.ledger().intervals, []);
}

/// A request was repeated for two seconds, and the old SA carried on: a pause between the copies is the sender's.
#[test]
fn a_pause_far_from_every_step_of_an_exchange_is_the_senders() {
    let costs = |pause: (i64, i64)| {
        let mut made = MadeUpTransfer::new();
        made.even(0, pause.0, 2);
        made.even(pause.1, 9_000, 2);
        made.rekey(3_000, 5_000);
        made.rekeys[0].last_on_old = Some(at(4_999));
        made.ledger().rekeys_nanos()
    };
    assert_eq!(costs((4_000, 4_115)), 0);
    assert!(costs((2_990, 3_105)) > 0, "it computes its request");
    assert!(costs((4_950, 5_065)) > 0, "it waits for the new SA");
}

/// A new SA stood within 20 ms: a sender with data, which has lost nothing, sends within a retransmission timeout.
#[test]
fn a_silence_that_outlasts_the_exchange_by_a_timeout_is_the_senders() {
    let cost = |end: i64| {
        let mut made = MadeUpTransfer::new();
        made.even(0, 6_300, 2);
        made.even(end, 12_000, 2);
        made.rekey(6_310, 6_330);
        for run in &mut made.arrived {
            run.acknowledged = Some(run.to.plus_nanos(at(20).0));
        }
        made.ledger().rekeys_nanos()
    };
    assert!(cost(6_530) > 0);
    assert_eq!(cost(6_580), 0);
}

/// Acknowledgements take 300 ms in the second before: a sender that waits for one waits as long.
#[test]
fn a_round_trip_of_a_path_that_became_longer_is_no_silence() {
    let cost = |round_trip: i64, lost_before: bool| {
        let mut made = MadeUpTransfer::new();
        made.even(0, 6_300, 2);
        made.even(6_500, 12_000, 2);
        made.rekey(6_310, 6_330);
        for run in made.arrived.iter_mut().filter(|run| run.to > at(5_000)) {
            run.acknowledged = Some(run.to.plus_nanos(at(round_trip).0));
            run.beyond_gap = lost_before && run.from == at(6_500);
        }
        made.ledger().rekeys_nanos()
    };
    assert_eq!(cost(300, false), 0);
    assert!(cost(20, false) > 0);
    assert!(cost(300, true) > 0, "it sent what never came to the capture");
}

/// A transfer over 240 ms: a sender without an SA for 100 ms throws away what it is given, and the next packet is beyond it. A silence as short
/// that the next byte in sequence ends is a part of the rhythm.
#[test]
fn a_sender_without_an_sa_is_silent_for_less_than_a_round_trip() {
    let cost = |vanished: bool, last_on_old: i64| {
        let mut made = MadeUpTransfer::new();
        made.round_trip = at(240).0;
        made.even(0, 6_400, 2);
        made.even(6_500, 12_000, 2);
        made.rekey(6_200, 6_500);
        made.rekeys[0].last_on_old = Some(at(last_on_old));
        for run in &mut made.arrived {
            run.beyond_gap = vanished && run.from == at(6_500);
        }
        ms(made.ledger().rekeys_nanos())
    };
    assert!(
        (95.0..105.0).contains(&cost(true, 6_400)),
        "{}",
        cost(true, 6_400)
    );
    assert_eq!(cost(false, 6_400), 0.0);
    assert_eq!(cost(true, 6_600), 0.0, "both SAs were in use");
    // A sender of a packet each 100 ms, of which one is lost at the switch.
    let mut seldom = MadeUpTransfer::new();
    seldom.round_trip = at(240).0;
    (0..200).for_each(|k| seldom.packet_at_micros(100_000 * k, 1_000));
    seldom.rekey(6_200, 6_500);
    seldom.rekeys[0].last_on_old = Some(at(6_400));
    seldom.arrived[65].beyond_gap = true;
    assert_eq!(seldom.ledger().rekeys_nanos(), 0);
}

/// Three times the rate from the rekey on: what the sender missed is made up for after 50 ms, and the rest is another rate.
#[test]
fn a_sender_makes_up_for_no_more_than_it_missed() {
    let mut made = MadeUpTransfer::new();
    made.even(0, 10_000, 1);
    made.even(10_100, 12_000, 3);
    made.even(12_100, 14_000, 3);
    made.even(14_000, 20_000, 1);
    for (k, switched) in [10_100, 12_100].into_iter().enumerate() {
        made.rekey(switched - 120, switched);
        made.rekeys[k].last_on_old = Some(at(switched - 100));
        let mut first = made.arrived.iter_mut().filter(|run| run.from == at(switched));
        first.next().unwrap().beyond_gap = true;
    }
    let costs: Vec<f64> = made.ledger().rekeys.iter().map(|own| ms(own.nanos)).collect();
    assert_eq!(costs.len(), 2, "{costs:?}");
    // Both silences, from the last packets before them: at 9,999 and at 11,999.7 ms.
    assert_eq!(costs, [101.0, 100.3]);
}
