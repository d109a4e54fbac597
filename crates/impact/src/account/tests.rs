//! Synthetic connections: window-limited ones, bursts, and anything whatever.

mod fast;
mod senders;

use super::*;
use crate::ledger::{LedgerInput, RekeySpan, ledger};
use proptest::prelude::*;
use rekeyscope_model::analysis::{Account, AccountLabel, Direction, FlowTcp, OwnRate};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::{Handshake, Segment, TcpHeader, TransmissionRun};
use senders::{MSS, bursts, connection, handshake, rounds, slower_link, window_limited, writes};

/// A handshake of which the sender's half takes so long, of both halves; nanoseconds.
fn handshaken(half: i64, whole: i64, scale: u8) -> Handshake {
    connection(handshake(half, whole, scale)).handshake
}

fn settings(reference_bps: Option<f64>) -> AccountSettings {
    AccountSettings { reference_bps }
}

fn of(
    connections: &[AccountConnection],
    around: &Surroundings,
    reference_bps: Option<f64>,
) -> Option<Account> {
    accounted((connections, connections), around, &[], reference_bps)
}

/// Measurements of the flows.
fn flows(connections: &[AccountConnection]) -> Vec<(u32, FlowTcp)> {
    let all: Vec<&AccountConnection> = connections.iter().collect();
    let labelled = label(&all, 0, &Surroundings::default(), &settings(None)).unwrap();
    labelled.flows().to_vec()
}

/// Every new byte arrives as it is sent.
fn arrived(connections: &[AccountConnection]) -> Vec<TransmissionRun> {
    let packets = connections.iter().flat_map(|of| &of.packets);
    let sent = packets.filter(|p| !p.reverse && p.new > 0);
    let mut runs: Vec<TransmissionRun> = sent
        .map(|p| TransmissionRun {
            from: p.time,
            to: p.time,
            frames: (p.frame, p.frame),
            spi: None,
            packets: 1,
            superfluous: 0,
            bytes: u64::from(p.new),
            acknowledged: None,
            lacking_since: p.time,
            beyond_gap: false,
        })
        .collect();
    runs.sort_by_key(|run| run.from);
    runs
}

/// `whole`: with all of their packets, which pieces that were gone over have no more.
fn accounted(
    (connections, whole): (&[AccountConnection], &[AccountConnection]),
    around: &Surroundings,
    rekeys: &[RekeySpan],
    reference_bps: Option<f64>,
) -> Option<Account> {
    let all: Vec<&AccountConnection> = connections.iter().collect();
    let labelled = label(&all, 0, around, &settings(reference_bps))?;
    let transfer = labelled.span()?;
    let mut arrived = arrived(whole);
    arrived.retain(|run| run.from >= transfer.0 && run.to <= transfer.1);
    let input = LedgerInput {
        arrived: &arrived,
        in_vain: &[],
        transfer,
        died: around.died.is_some(),
        round_trip: 0,
        capacity: labelled.proven_rate(),
        rekeys,
        failed: &[],
        outages: &[],
        moves: &[],
        rests: &around.rests,
        holes: &around.holes,
        idle: &[],
    };
    let book = ledger(&input);
    Some(labelled.account(
        (&input, &book),
        around,
        &settings(reference_bps),
        (0, Direction::AToB),
    ))
}

fn share(account: &Account, label: AccountLabel) -> f64 {
    account
        .labels
        .iter()
        .filter(|l| l.label == label)
        .map(|l| l.share)
        .sum()
}

/// The same packets, gone over in so many pieces.
fn in_pieces(all: &[AccountConnection], pieces: usize) -> Vec<AccountConnection> {
    let begun = |c: &AccountConnection| AccountConnection {
        handshake: c.handshake,
        ..AccountConnection::new(c.tcp)
    };
    let mut list: Vec<AccountConnection> = all.iter().map(begun).collect();
    for piece in 0..pieces {
        if piece > 0 {
            fold(&mut list.iter_mut().collect::<Vec<_>>(), &settings(None));
        }
        for (own, whole) in list.iter_mut().zip(all) {
            let at = |piece: usize| whole.packets.len() * piece / pieces;
            for &p in &whole.packets[at(piece)..at(piece + 1)] {
                own.push(p);
            }
        }
    }
    list
}

/// Issue figure: at least 95 % waits for the window, at the rate of window over round trip within 3 %.
#[test]
fn a_full_window_is_seen_at_every_round_trip_and_place() {
    for rtt in [20, 40, 80, 150] {
        for jitter in [0, 1, 5] {
            for place in [0.0, 0.5, 1.0] {
                let one = window_limited(rtt, jitter, place, 12);
                let account = of(std::slice::from_ref(&one), &Surroundings::default(), None).unwrap();
                let waits = share(&account, AccountLabel::ReceiveWindow);
                assert!(
                    waits >= 0.95,
                    "rtt {rtt} ms, jitter {jitter} ms, place {place}: {waits} {:#?}",
                    account.labels
                );
                if jitter == 0 {
                    let (bytes, window) = (account.bytes as f64, account.window_bytes.unwrap() as f64);
                    let (rate, expected) = (bytes / account.seconds, window / account.rtt_ms.unwrap() * 1e3);
                    assert!((rate / expected - 1.0).abs() <= 0.03, "{rate} {expected}");
                }
            }
        }
    }
}

/// Nine tenths of the window are no full window while the congestion window grows, at the beginning and after a loss.
#[test]
fn a_flight_that_grows_to_the_window_does_not_wait_for_it() {
    let full = |count: usize| std::iter::repeat_n(54, count);
    let begun: Vec<usize> = [13, 26, 52].into_iter().chain(full(20)).collect();
    let back = (0..3).flat_map(|_| full(30).chain(27..54));
    let lossy: Vec<usize> = [13, 26, 52].into_iter().chain(back).chain(full(30)).collect();
    for (flights, losses) in [(&begun, 0), (&lossy, 3)] {
        let one = rounds(flights);
        let account = of(&[one], &Surroundings::default(), None).unwrap();
        // The last round has nothing behind it.
        let full = 0.04 * (flights.iter().filter(|&&flight| flight == 54).count() - 1) as f64;
        let seconds = |label: AccountLabel| share(&account, label) * account.seconds;
        let (window, growth) = (
            seconds(AccountLabel::ReceiveWindow),
            seconds(AccountLabel::Growth),
        );
        assert!(
            (window - full).abs() <= 0.04 * f64::from(losses + 1) && (growth - 0.12).abs() <= 0.02,
            "{losses} losses: {full} s, {:#?}",
            account.labels
        );
    }
}

/// Acknowledgements that come a little before what an application writes, or release part of a segment, limit nothing.
#[test]
fn an_application_that_writes_behind_acknowledgements_is_no_full_buffer() {
    let account = of(&[writes(900)], &Surroundings::default(), None).unwrap();
    let rest = share(&account, AccountLabel::Application);
    assert!(rest >= 0.95, "{rest} {:#?}", account.labels);
}

/// Without a rate to compare with it is the path's own.
#[test]
fn a_rate_that_is_given_is_the_reference() {
    let one = [window_limited(40, 0, 0.5, 12)];
    let reference = |bps| {
        let account = of(&one, &Surroundings::default(), bps).unwrap();
        let lost = account.seconds - account.bytes as f64 * 8.0 / (account.reference_mbps * 1e6);
        assert!((account.lost_seconds - lost).abs() < 1e-6, "{account:?}");
        (account.reference_given, account.reference_mbps, account.own_mbps)
    };
    assert_eq!((reference(Some(50e6)).0, reference(Some(50e6)).1), (true, 50.0));
    let (given, rate, own) = reference(None);
    assert!(!given && rate == own && own > 0.0);
}

/// A burst is no rate of the path, and what it takes is not the application's: the sender begins anew after each rest.
/// Behind the queue packets come one by one, however they were sent, and their echoes are as old as the queue is long.
#[test]
fn a_link_that_becomes_slower_is_the_paths_at_both_ends() {
    for at_receiver in [false, true] {
        let account = of(&[slower_link(at_receiver)], &Surroundings::default(), None).unwrap();
        let lost = |label| {
            let line = account.labels.iter().find(|line| line.label == label);
            line.map_or(0.0, |line| line.lost_seconds)
        };
        let path = lost(AccountLabel::Capacity);
        assert!(
            path > 0.9 * account.lost_seconds && account.lost_seconds > 2.5,
            "at the receiver {at_receiver}: {:?}",
            account.labels
        );
    }
}

#[test]
fn bursts_are_neither_the_paths_limit_nor_the_applications_time() {
    let (one, took) = bursts(12);
    let account = of(&[one], &Surroundings::default(), None).unwrap();
    let (rest, growth) = (
        share(&account, AccountLabel::Application),
        share(&account, AccountLabel::Growth),
    );
    assert_eq!(
        (account.own_from, share(&account, AccountLabel::Capacity)),
        (OwnRate::Best, 0.0)
    );
    // The last burst has no rest behind it. Of 24 bursts the ten segments that each begins with cost nothing: they leave at once.
    let expected = 24.0 * took / (23.0 * 0.5 + took);
    assert!(
        (growth - expected).abs() <= 1e-3 && (rest + growth - 1.0).abs() <= 1e-9,
        "{growth} of {expected}: {:#?}",
        account.labels
    );
}

/// Both halves of the round trip, the window and the flight that fills it, wherever the capture is; and their course.
#[test]
fn round_trips_window_and_flight_are_measured_at_every_place() {
    for rtt in [20, 80] {
        for (place, pieces) in [(0.1, 1), (0.5, 1), (0.5, 5), (1.0, 3)] {
            let one = in_pieces(&[window_limited(rtt, 0, place, 12)], pieces);
            let flows = flows(&one);
            let [(0, flow)] = &flows[..] else {
                panic!("{flows:?}")
            };
            let (whole, half) = (rtt as f64, (1.0 - place) * rtt as f64);
            let near =
                |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() <= 0.02 * expected;
            assert!(
                near(flow.handshake_rtt_ms, whole),
                "{place} {:?}",
                flow.handshake_rtt_ms
            );
            assert!(near(flow.rtt_ms, whole), "{place} {:?}", flow.rtt_ms);
            assert!(near(flow.ack_rtt_ms, half), "{place} {:?}", flow.ack_rtt_ms);
            assert_eq!(flow.largest_window_bytes, Some(65_535));
            assert_eq!(flow.largest_in_flight_bytes, 54 * u64::from(MSS));
            let course = flow.course.as_ref().unwrap();
            assert!(course.rtt_whole && course.bin_ms == 20.0 && course.rtt_ms.len() <= 1024);
            let seen = course.rtt_ms.iter().flatten();
            assert!(seen.clone().count() > 100 && seen.clone().all(|v| near(Some(v[1]), whole)));
            let flights = course.in_flight_bytes.iter().flatten().map(|v| v[2]);
            assert_eq!(flights.max(), Some(flow.largest_in_flight_bytes));
        }
    }
}

/// Without a handshake the window's scale is not known; without timestamps too, nor the sender's half.
#[test]
fn what_the_handshake_tells_is_left_out_without_it() {
    let mut one = window_limited(40, 0, 0.5, 12);
    one.packets.retain(|p| !p.has(TcpHeader::SYN));
    one.handshake = Handshake::default();
    // A pattern of acknowledgements and data tells the half, too: here there is none.
    let few = |p: &AccountPacket| (p.seq - Segment::ORIGIN) % 65_536 < 3 * u64::from(MSS);
    one.packets.retain(|p| p.reverse || few(p));
    let flow = flows(&[one]).remove(0).1;
    assert_eq!((flow.handshake_rtt_ms, flow.largest_window_bytes), (None, None));
    assert!((flow.ack_rtt_ms.unwrap() - 20.0).abs() <= 0.4);
}

/// Packets queue before the capture, and did not when the handshake passed: timestamps show what is in the queue.
#[test]
fn timestamps_show_a_queue_before_the_capture() {
    let mean_of_last = |stamped: bool| {
        let mut one = window_limited(100, 0, 0.6, 12);
        one.handshake = handshaken(5 * NANOS_PER_MILLI, 100 * NANOS_PER_MILLI, 0);
        let heard: Vec<i64> = one
            .packets
            .iter()
            .filter(|p| p.reverse)
            .map(|p| p.time.0)
            .collect();
        for p in one.packets.iter_mut().filter(|_| stamped) {
            let tick = |nanos: i64| nanos - nanos % NANOS_PER_MILLI;
            p.stamp = u32::try_from(p.time.0 / NANOS_PER_MILLI).unwrap() + 1;
            let echoed = tick(p.time.0 - 60 * NANOS_PER_MILLI);
            let first = heard.iter().find(|time| tick(**time) == echoed);
            p.echo_after = first.map(|time| u32::try_from((p.time.0 - time) / 1_000).unwrap());
        }
        let flow = flows(&[one]).remove(0).1;
        let [.., last] = flow.course.unwrap().in_flight_bytes[..] else {
            panic!()
        };
        last.unwrap()[1] / u64::from(MSS)
    };
    // 54 segments fill the window; a tick of the timestamps holds ten.
    assert!((43..=54).contains(&mean_of_last(true)), "{}", mean_of_last(true));
    assert!(mean_of_last(false) <= 35, "{}", mean_of_last(false));
}

/// Only the busiest connections have a course.
#[test]
fn three_connections_have_a_course() {
    let one = |number: u32| AccountConnection {
        number,
        ..window_limited(40, 0, 0.5, 2 + i64::from(number))
    };
    let all: Vec<AccountConnection> = (0..5).map(one).collect();
    let flows = flows(&all);
    let drawn: Vec<(u32, bool)> = flows
        .iter()
        .map(|(n, flow)| (*n, flow.course.is_some()))
        .collect();
    assert_eq!(drawn, [(4, true), (3, true), (2, true), (1, false), (0, false)]);
}

/// A damaged record is stamped nine years later: there are no more pieces of the account than anybody can hold, and they still add up.
#[test]
fn a_clock_that_jumps_years_does_not_fill_the_memory() {
    const JUMP: i64 = 0x1000_0000 * NANOS_PER_SECOND;
    let mut all = vec![window_limited(40, 0, 0.5, 2), window_limited(40, 0, 0.5, 2)];
    for connection in &mut all {
        for packet in connection.packets.iter_mut().rev().take(40) {
            packet.time = Timestamp(packet.time.0 + JUMP);
        }
    }
    let account = of(&all, &Surroundings::default(), None).unwrap();
    let seconds: f64 = account.labels.iter().map(|l| l.seconds).sum();
    assert!(
        (seconds - account.seconds).abs() < 1.0,
        "{seconds} of {}",
        account.seconds
    );
    assert!(account.seconds > 1e8, "{}", account.seconds);
}

/// What is carried from piece to piece is all that the sweep needs.
#[test]
fn pieces_give_the_account_of_the_whole() {
    for place in [0.0, 0.5, 1.0] {
        let one = [window_limited(40, 1, place, 12)];
        let whole = of(&one, &Surroundings::default(), None).unwrap();
        for pieces in [2, 7, 30] {
            let list = in_pieces(&one, pieces);
            let account = accounted((&list, &one), &Surroundings::default(), &[], None).unwrap();
            assert_eq!(
                (account.bytes, account.start, account.end),
                (whole.bytes, whole.start, whole.end)
            );
            assert_eq!(account.window_bytes, whole.window_bytes);
            let (own, expected) = (&account, share(&whole, AccountLabel::ReceiveWindow));
            let waits = share(own, AccountLabel::ReceiveWindow);
            assert!(
                (waits - expected).abs() <= 0.01,
                "{pieces} pieces, place {place}: {waits}, whole {expected} {:#?}",
                account.labels
            );
        }
    }
}

fn packets() -> impl Strategy<Value = AccountConnection> {
    let packet = (
        0i64..400,
        0u32..40,
        0u32..40,
        0u16..3,
        any::<u16>(),
        any::<[bool; 7]>(),
        0u32..8,
        std::array::from_fn::<_, 4, _>(|_| proptest::option::of(0u32..500_000)),
    );
    let list = proptest::collection::vec(packet, 0..120);
    let opened = proptest::option::of((0i64..9, 9i64..90, 0u8..20));
    (list, opened, any::<bool>()).prop_map(|(list, opened, tcp)| {
        let mut time = 0;
        let packets: Vec<AccountPacket> = (1u64..)
            .zip(list)
            .map(
                |(frame, (wait, seq, ack, payload, window, facts, stamp, delays))| {
                    let [reverse, late, again, superfluous, acknowledges, ends, syn] = facts;
                    let [acked_after, answers_after, echo_after, unheard_after] = delays;
                    let place = |n: u32| Segment::ORIGIN + u64::from(n.wrapping_mul(0x0fff_ff00));
                    let flags = [
                        (acknowledges, TcpHeader::ACK),
                        (ends, TcpHeader::FIN),
                        (syn, TcpHeader::SYN),
                    ];
                    // Now and then back.
                    time += (wait - 20) * NANOS_PER_MILLI;
                    AccountPacket {
                        time: Timestamp(time),
                        frame,
                        seq: place(seq),
                        ack: place(ack),
                        stamp,
                        echo_after,
                        unheard_after,
                        payload: payload * MSS,
                        new: payload * MSS / 2,
                        window,
                        acked_after,
                        answers_after,
                        reverse,
                        late,
                        again,
                        superfluous,
                        flags: flags.iter().map(|&(set, flag)| u8::from(set) * flag).sum(),
                    }
                },
            )
            .collect();
        let handshake = opened.map(|(half, whole, scale)| handshaken(half, whole, scale));
        let bytes = [false, true].map(|way| {
            packets
                .iter()
                .filter(|p| p.reverse == way)
                .map(|p| u64::from(p.new))
                .sum()
        });
        AccountConnection {
            packets,
            handshake: handshake.unwrap_or_default(),
            bytes,
            ..AccountConnection::new(tcp)
        }
    })
}

fn spans() -> impl Strategy<Value = Vec<(Timestamp, Timestamp)>> {
    let span = (0i64..20_000, 0i64..5_000);
    proptest::collection::vec(span, 0..4).prop_map(|mut list| {
        list.sort_unstable();
        let at = |ms: i64| Timestamp(ms * NANOS_PER_MILLI);
        let mut end = i64::MIN;
        let mut apart = Vec::new();
        for (from, length) in list {
            if from > end {
                end = from + length;
                apart.push((at(from), at(end)));
            }
        }
        apart
    })
}

proptest! {
    /// Anything goes in: the labels' seconds are the account's to the nanosecond, their bytes to the byte, and what was lost adds up.
    #[test]
    fn the_sums_are_exact(
        connections in proptest::collection::vec(packets(), 1..4),
        (rests, failed, holes) in (spans(), spans(), spans()),
        switches in spans(),
        reference in proptest::option::of(1e3..1e10f64),
        pieces in 1usize..4,
    ) {
        let list = in_pieces(&connections, pieces);
        let around = Surroundings {
            died: failed.last().map(|s| Death { from: s.0, last_asked: s.1, ends: Timestamp(40 * NANOS_PER_SECOND) }),
            rests,
            holes,
            ..Surroundings::default()
        };
        let rekeys: Vec<RekeySpan> = (0..).zip(&switches).map(|(rekey, s)| RekeySpan {
            rekey,
            asked: s.0,
            last_message: s.1,
            first_on_new: [Some(s.1), Some(s.1)],
            last_on_old: None,
            deleted: None,
            volume: None,
        }).collect();
        let Some(account) = accounted((&list, &connections), &around, &rekeys, reference) else { return Ok(()) };
        let nanos = |s: f64| (s * 1e9).round() as i64;
        let sum: i64 = account.labels.iter().map(|l| nanos(l.seconds)).sum();
        prop_assert_eq!(sum, nanos(account.seconds));
        prop_assert_eq!(account.labels.iter().map(|l| l.bytes).sum::<u64>(), account.bytes);
        let lost: f64 = account.labels.iter().map(|l| l.lost_seconds).sum();
        let needed = if account.bytes == 0 { 0.0 } else { account.bytes as f64 * 8.0 / (account.reference_mbps * 1e6) };
        let (expected, size) = (account.seconds - needed, account.seconds + needed);
        prop_assert!((lost - expected).abs() <= 1e-9 * size.max(1.0), "{lost} {expected}");
        prop_assert!((account.lost_seconds - expected).abs() <= 1e-9 * size.max(1.0));
        prop_assert!(account.labels.iter().all(|l| l.seconds >= 0.0 && l.evidence.len() <= 3));
        prop_assert!(account.runs.len() <= 2_000);
        prop_assert!(account.runs.windows(2).all(|w| w[0].to_s <= w[1].from_s + 1e-9));
        // Without rests every nanosecond from the first data to the end has a label.
        if around.rests.is_empty() {
            prop_assert_eq!(nanos(account.seconds), account.end.nanos_since(account.start));
        }
    }
}
