//! Made-up packets without keys whose cost is known. Times in milliseconds.

use crate::ledger::made_up::{MadeUpTransfer, at};
use crate::ledger::{FailedSpan, LedgerBook, LedgerInput, Owner, RekeySpan, ledger, sealed_ledger, was_over};
use proptest::prelude::*;
use rekeyscope_model::analysis::{Direction, LedgerBasis};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{SealedLine, SealedPacket, SealedTraffic};

/// Bytes of ESP with a full segment inside, and with an acknowledgement.
const DATA: u32 = 1_348;
const ANSWER: u32 = 116;
/// Milliseconds from a packet of data to its answer.
const ANSWERED_AFTER: i64 = 20;

/// Data from A to B, and the answers to it.
#[derive(Debug, Clone, Default)]
struct SealedPackets {
    packets: Vec<(Direction, SealedPacket)>,
    rekeys: Vec<RekeySpan>,
    failed: Vec<FailedSpan>,
    /// End of the capture, where it goes on up to then and the tunnel may have died.
    end: Option<i64>,
}

impl SealedPackets {
    fn packet(&mut self, ms: i64, direction: Direction, bytes: u32) {
        let packet = SealedPacket {
            time: at(ms),
            frame: ms.unsigned_abs() + 1,
            spi: 7,
            bytes,
            missing: 0,
        };
        self.packets.push((direction, packet));
    }

    /// A packet of data every `step`, which nothing answers.
    fn sent(&mut self, from: i64, to: i64, step: usize) {
        (from..to)
            .step_by(step)
            .for_each(|ms| self.packet(ms, Direction::AToB, DATA));
    }

    /// A packet of data each millisecond, and an answer to every second one.
    fn answered(&mut self, from: i64, to: i64) {
        self.sent(from, to, 1);
        (from..to)
            .step_by(2)
            .for_each(|ms| self.packet(ms + ANSWERED_AFTER, Direction::BToA, ANSWER));
    }

    fn rekey(&mut self, asked: i64, switched: i64) {
        let mut made_up = MadeUpTransfer::new();
        made_up.rekey(asked, switched);
        let rekey = self.rekeys.len();
        self.rekeys.push(RekeySpan {
            rekey,
            ..made_up.rekeys[0]
        });
    }

    fn line(&self) -> SealedLine {
        let mut packets = self.packets.clone();
        packets.sort_by_key(|(_, packet)| packet.time);
        let mut traffic = SealedTraffic::default();
        for (direction, packet) in packets {
            traffic.take(3, direction, packet);
        }
        traffic.line(3, Direction::AToB).unwrap()
    }

    fn ledger(&self) -> (LedgerBook, LedgerBasis) {
        let line = self.line();
        let last = line.data.last().unwrap().to;
        let died = self.end.filter(|_| !was_over(&line.data, &line.answers));
        let input = LedgerInput {
            arrived: &line.data,
            in_vain: &[],
            transfer: (line.data[0].from, died.map_or(last, at)),
            died: died.is_some(),
            round_trip: 0,
            capacity: None,
            rekeys: &self.rekeys,
            failed: &self.failed,
            outages: &[],
            moves: &[],
            rests: &[],
            holes: &[],
            idle: &[],
        };
        let found = sealed_ledger(&input, (&line.small, &line.answers), line.reverse_bytes);
        (found.book, found.basis)
    }
}

fn ms(nanos: i64) -> f64 {
    nanos as f64 / 1e6
}

/// Answered data up to 10 s, and a rekey that takes so long.
fn stalled(silence: i64) -> SealedPackets {
    let mut packets = SealedPackets::default();
    packets.answered(0, 10_000);
    packets.rekey(10_000 - 20, 10_000 + silence);
    packets
}

/// The old SA swallows all data for half a second; its sender notices nothing.
#[test]
fn data_that_nobody_answers_did_not_arrive() {
    let mut packets = stalled(500);
    packets.sent(10_000, 10_500, 1);
    packets.answered(10_500, 20_000);
    let (book, basis) = packets.ledger();
    assert_eq!(basis, LedgerBasis::Answers);
    let [own] = &book.rekeys[..] else {
        panic!("{book:?}")
    };
    assert!((ms(own.nanos) - 500.0).abs() <= 3.0, "{own:?}");
    assert!((495..=505).contains(&own.in_vain), "{own:?}");
    assert!(!own.at_least);
    let arrived = u64::from(DATA) * (20_000 - u64::from(own.in_vain));
    assert_eq!(book.bytes, arrived, "what was sent in vain carries no bytes");
}

/// The new SA carries both directions for 80 ms, and then the application pauses for longer than any retransmission timer of a sender that
/// waits for an acknowledgement.
#[test]
fn a_pause_behind_a_renewal_is_the_applications() {
    let mut packets = SealedPackets::default();
    packets.answered(0, 10_080);
    packets.rekey(9_950, 9_999);
    packets.answered(14_000, 20_000);
    let (book, basis) = packets.ledger();
    assert_eq!(basis, LedgerBasis::Answers);
    assert!(book.rekeys.is_empty(), "{book:?}");
}

/// The sender's window is full after 20 ms: its silence and that of the answers are one.
#[test]
fn silences_of_both_directions_are_not_added() {
    let mut packets = stalled(500);
    packets.sent(10_000, 10_020, 1);
    packets.answered(10_500, 20_000);
    let (book, _) = packets.ledger();
    assert_eq!(book.intervals.len(), 1);
    let cost = ms(book.rekeys_nanos());
    assert!((499.0..=503.0).contains(&cost), "{cost}");
}

/// A transfer that pauses for 100 ms now and then, at one of four rekeys among other moments. Longer pauses at the rekeys are theirs.
#[test]
fn pauses_that_come_elsewhere_too_are_no_rekeys() {
    let hurt = |pauses: [i64; 4]| {
        let mut packets = SealedPackets::default();
        let mut from = 0;
        for (k, pause) in pauses.into_iter().enumerate() {
            let step = 10_000 * (k as i64 + 1);
            packets.answered(from, step - 5_000);
            packets.answered(step - 4_900, step);
            packets.rekey(step - 20, step + pause);
            from = step + pause;
        }
        packets.answered(from, 50_000);
        packets.ledger().0
    };
    let by_chance = hurt([1, 1, 100, 1]);
    assert_eq!(by_chance.rekeys, []);
    assert!(by_chance.bound() >= Some(100_000_000), "{:?}", by_chance.bound());
    let shown: Vec<usize> = hurt([500, 1, 500, 1])
        .rekeys
        .iter()
        .map(|own| own.rekey)
        .collect();
    assert_eq!(shown, [0, 2]);
}

/// The path loses all answers of 250 ms, which their numbers tell. The sender goes on, because the next one acknowledges everything.
#[test]
fn answers_that_were_lost_had_been_sent() {
    for (missing, hurt) in [(125, 0), (0, 1)] {
        let mut packets = SealedPackets::default();
        packets.answered(0, 20_000);
        packets.rekey(9_990, 10_040);
        let lost = |time: Timestamp| at(9_900) <= time && time < at(10_150);
        packets
            .packets
            .retain(|(direction, packet)| *direction == Direction::AToB || !lost(packet.time));
        let behind = |(direction, packet): &&mut (Direction, SealedPacket)| {
            *direction == Direction::BToA && packet.time >= at(10_150)
        };
        packets.packets.iter_mut().find(behind).unwrap().1.missing = missing;
        assert_eq!(packets.ledger().0.rekeys.len(), hurt, "{missing} missing");
    }
}

#[test]
fn without_answers_a_silence_of_the_data_is_a_cost_at_least() {
    let mut packets = SealedPackets::default();
    packets.sent(0, 10_000, 1);
    packets.rekey(9_980, 10_500);
    packets.sent(10_500, 20_000, 1);
    let (book, basis) = packets.ledger();
    assert_eq!(basis, LedgerBasis::Packets);
    assert!((ms(book.rekeys_nanos()) - 500.0).abs() <= 1.0);
    assert!(book.rekeys[0].at_least);
    assert_eq!(book.bound(), None);
}

/// Data goes both ways: that the other side sends on says nothing of what it got.
#[test]
fn two_way_traffic_answers_nothing() {
    let mut packets = stalled(100);
    packets.answered(10_000, 20_000);
    for ms in (0..20_000).step_by(3) {
        packets.packet(ms, Direction::BToA, DATA);
    }
    let (book, basis) = packets.ledger();
    assert_eq!((basis, book.bound()), (LedgerBasis::Packets, None));
    assert_eq!(book.rekeys, []);
}

/// No rekey stopped the transfer for longer than what counts as a silence.
#[test]
fn harmless_rekeys_have_a_bound() {
    let mut packets = stalled(100);
    packets.answered(10_000, 20_000);
    let (book, basis) = packets.ledger();
    assert_eq!((basis, book.rekeys.len()), (LedgerBasis::Answers, 0));
    assert_eq!(book.bound(), Some(at(50).0));
}

/// Datagrams of which an SA swallows the last third: the packets show a sender that sends.
#[test]
fn datagrams_that_nobody_answers_are_never_cleared() {
    let mut packets = SealedPackets::default();
    packets.sent(0, 20_000, 2);
    (0..6).for_each(|k| packets.rekey(3_000 * k + 2_900, 3_000 * k + 3_000));
    // Control packets of the application, now and then.
    (0..20).for_each(|k| packets.packet(1_000 * k, Direction::BToA, ANSWER));
    let (book, basis) = packets.ledger();
    assert_eq!((basis, book.bound()), (LedgerBasis::Packets, None));
}

/// A receiver that waits 40 ms for more data before it acknowledges.
#[test]
fn delayed_acknowledgements_are_no_silence() {
    let mut packets = SealedPackets::default();
    packets.sent(0, 20_000, 2);
    for ms in (40..20_040).step_by(40) {
        packets.packet(ms, Direction::BToA, ANSWER);
    }
    packets.rekey(9_980, 10_100);
    let (book, basis) = packets.ledger();
    assert_eq!((basis, book.rekeys.len()), (LedgerBasis::Answers, 0));
    assert_eq!(book.bound(), Some(at(80).0), "twice of what is usual");
}

/// One answer for 40 packets: nobody acknowledges so seldom.
#[test]
fn single_packets_that_come_back_are_no_answers() {
    let mut packets = SealedPackets::default();
    packets.sent(0, 20_000, 1);
    for ms in (40..20_040).step_by(40) {
        packets.packet(ms, Direction::BToA, ANSWER);
    }
    assert_eq!(packets.ledger().1, LedgerBasis::Packets);
}

/// Answers for half of the time only: they are of something else.
#[test]
fn what_comes_back_now_and_then_answers_nothing() {
    let mut packets = SealedPackets::default();
    for k in 0..100 {
        packets.answered(200 * k, 200 * k + 80);
        packets.sent(200 * k + 80, 200 * k + 200, 1);
    }
    assert_eq!(packets.ledger().1, LedgerBasis::Packets);
}

/// An application that pauses at a rekey looks the same as a rekey that stops it, where the pause ends no later than a timeout after it.
#[test]
fn a_pause_that_ends_with_the_rekey_is_the_rekeys() {
    for volume in [None, Some(0.5)] {
        let mut packets = SealedPackets::default();
        packets.answered(0, 9_900);
        packets.rekey(10_000, 10_200);
        packets.rekeys[0].volume = volume;
        packets.answered(10_300, 20_000);
        let (book, _) = packets.ledger();
        assert_eq!(book.rekeys.len(), 1);
        assert!((ms(book.rekeys_nanos()) - 400.0).abs() <= 3.0, "{book:?}");
    }
}

/// The sender asks in vain up to the end of the capture.
#[test]
fn a_tunnel_that_died_costs_at_least_the_rest() {
    let mut packets = stalled(0);
    packets.rekeys.clear();
    packets.failed.push(FailedSpan {
        attempt: 0,
        from: at(9_990),
        to: None,
    });
    packets.sent(10_000, 10_005, 1);
    packets.sent(10_220, 14_000, 400);
    // The capture ends with the last packet, or long after it.
    for end in [13_820, 30_000] {
        packets.end = Some(end);
        let (book, _) = packets.ledger();
        let [own] = &book.intervals[..] else {
            panic!("{book:?}")
        };
        assert_eq!((own.owner, own.arrived), (Owner::Attempt(0), None));
        assert!((ms(book.down) - (end - 10_000) as f64).abs() <= 5.0, "{book:?}");
        assert!(book.intervals.iter().any(|i| i.at_least));
    }
}

/// A second of answered data is what a basis takes.
#[test]
fn a_moment_shows_no_answers() {
    let basis = |ms: i64| {
        let mut packets = SealedPackets::default();
        packets.answered(0, ms);
        packets.ledger().1
    };
    assert_eq!(
        [basis(800), basis(1_100)],
        [LedgerBasis::Packets, LedgerBasis::Answers]
    );
}

/// The last data was answered: the transfer was over when the attempt failed.
#[test]
fn a_transfer_that_was_over_did_not_die() {
    let mut packets = stalled(0);
    packets.rekeys.clear();
    packets.failed.push(FailedSpan {
        attempt: 0,
        from: at(10_500),
        to: None,
    });
    packets.end = Some(30_000);
    let (book, _) = packets.ledger();
    assert_eq!((book.down, book.nanos), (0, at(9_999).0));
}

/// The same packets with their keys.
fn readable(lost: (i64, i64), end: i64, silence: i64) -> MadeUpTransfer {
    let mut transfer = MadeUpTransfer::new();
    transfer.even(0, 10_000, 1);
    transfer.rekey(10_000 - 20, 10_000 + silence);
    transfer.swallow(lost.0, lost.1, 1);
    transfer.even(10_000 + silence, end, 1);
    transfer
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Packets without keys whose answers stop with the data cost what they cost with them: never a tenth more, nor less than two
    /// packets less.
    #[test]
    fn packets_without_keys_cost_what_they_cost_with_them(silence in 80_i64..2_000, window in prop_oneof![0_i64..30, 0_i64..400], zero in 0_i64..1_000) {
        let lost = (10_000, 10_000 + window.min(silence));
        let mut packets = stalled(silence);
        packets.sent(lost.0, lost.1, 1);
        packets.answered(10_000 + silence, 20_000);
        for (_, packet) in &mut packets.packets {
            packet.time = packet.time.plus_nanos(at(zero).0);
        }
        for own in &mut packets.rekeys {
            let mut later = MadeUpTransfer::new();
            later.rekeys = vec![*own];
            later.shift(zero);
            *own = later.rekeys[0];
        }
        let with = ledger(&readable(lost, 20_000, silence).input()).rekeys_nanos();
        let (book, basis) = packets.ledger();
        prop_assert_eq!(basis, LedgerBasis::Answers);
        let without = book.rekeys_nanos();
        prop_assert!(without as f64 <= 1.1 * with as f64, "{} of {}", ms(without), ms(with));
        prop_assert!(without >= with - at(3).0, "{} of {}", ms(without), ms(with));
    }

    /// Packets without answers never clear a rekey.
    #[test]
    fn nothing_is_cleared_without_answers(
        gaps in proptest::collection::vec((1_i64..400, 1_usize..9), 1..40),
        every in proptest::option::of(60_usize..400),
    ) {
        let mut packets = SealedPackets::default();
        let mut now = 0;
        for (gap, step) in gaps {
            packets.sent(now, now + 300, step);
            packets.rekey(now + 300, now + 300 + gap);
            now += 300 + gap;
        }
        packets.sent(now, now + 300, 1);
        for ms in (0..now).step_by(every.unwrap_or(usize::MAX)).skip(1) {
            packets.packet(ms, Direction::BToA, ANSWER);
        }
        let (book, basis) = packets.ledger();
        prop_assert_eq!((basis, book.bound()), (LedgerBasis::Packets, None));
        prop_assert!(book.intervals.iter().all(|own| own.at_least));
        prop_assert!(book.rekeys.iter().all(|own| own.at_least && own.nanos >= 0));
    }
}

/// A hole in the capture beside a rekey: the rekey is not observed, and data without an answer counts as sent.
#[test]
fn a_rekey_in_a_hole_owns_nothing() {
    let mut packets = stalled(500);
    packets.sent(10_000, 10_500, 1);
    packets.answered(10_500, 20_000);
    let line = packets.line();
    let holes: [(Timestamp, Timestamp); 1] = [(at(10_600), at(10_700))];
    let input = LedgerInput {
        arrived: &line.data,
        in_vain: &[],
        transfer: (line.data[0].from, line.data.last().unwrap().to),
        died: false,
        round_trip: 0,
        capacity: None,
        rekeys: &packets.rekeys,
        failed: &[],
        outages: &[],
        moves: &[],
        rests: &[],
        holes: &holes,
        idle: &[],
    };
    let book = sealed_ledger(&input, (&line.small, &line.answers), line.reverse_bytes).book;
    assert_eq!((book.intervals.len(), book.unobserved), (0, vec![0]));
    assert_eq!(book.bytes, u64::from(DATA) * 20_000);
}
