//! Findings, each planted beside something that looks like it.

use super::failure::refused_and_open;
use super::limits::BUFFER_FULL;
use super::played_by_name;
use super::steps::{AFTER, begin, exchange, rekey_in_silence, resend_lost, switch};
use rekeyscope_model::time::NANOS_PER_SECOND;
use rekeyscope_testkit::containers::{Packet, read_pcap, write_pcap};
use rekeyscope_testkit::scenario::{Reno, SEGMENT, Sa, World};
use std::path::Path;

/// A second host behind the server.
const ANOTHER_HOST: [u8; 4] = [10, 66, 0, 9];

/// ESP packets of 1,352 bytes.
pub(crate) fn steady(w: &mut World) {
    w.steady(3_000);
}

/// Each comes in two fragments.
pub(crate) fn packets_too_long(w: &mut World) {
    w.mtu = Some(1_300);
    w.steady(3_000);
}

/// The second fragment carries a few bytes.
pub(crate) fn packets_a_little_too_long(w: &mut World) {
    w.mtu = Some(1_340);
    w.steady(3_000);
}

/// Datagrams that are too long for the tunnel come in two packets of it.
pub(crate) fn datagrams_too_long_for_the_tunnel(w: &mut World) {
    w.long_datagrams(3_000);
}

/// A segment and one byte, `wait` milliseconds apart.
fn segment_and_byte(w: &mut World, times: usize, wait: u64) {
    for _ in 0..times {
        w.segment();
        w.wait(wait);
        w.tiny_segment();
        w.step(w.tick);
    }
}

/// Every write is a byte longer than a segment.
pub(crate) fn writes_a_byte_too_long(w: &mut World) {
    segment_and_byte(w, 500, 2);
}

/// Every write fits into a segment, and a sign of life of one byte is written when the connection has been quiet for 0.7 s.
pub(crate) fn signs_of_life(w: &mut World) {
    segment_and_byte(w, 60, 700);
}

/// Two pairs of SAs are in use by turns for the same packets.
pub(crate) fn two_pairs_by_turns(w: &mut World) {
    w.steady(6_000);
    let qm = w.begin(true);
    let mut other = Sa::new(qm.down);
    for _ in 0..300 {
        w.steady(30);
        std::mem::swap(&mut w.down, &mut other);
    }
}

/// The packets of another host, on the pair that was made for them, come between those of the first one.
pub(crate) fn a_pair_for_each_host(w: &mut World) {
    w.steady(6_000);
    let qm = w.begin(true);
    let mut other = (Sa::new(qm.down), Sa::new(qm.up));
    for _ in 0..300 {
        w.steady(30);
        for turn in 0..2 {
            std::mem::swap(&mut w.down, &mut other.0);
            std::mem::swap(&mut w.up, &mut other.1);
            if turn == 0 {
                w.talk(ANOTHER_HOST);
            }
        }
    }
}

/// Five pairs are negotiated, and none of them is used.
fn negotiates(w: &mut World, meanwhile: fn(&mut World, u64)) {
    for _ in 0..5 {
        let mut unused = w.begin(true);
        for _ in 0..3 {
            w.message(&mut unused);
            meanwhile(w, 10);
        }
        meanwhile(w, 500);
    }
}

pub(crate) fn pairs_that_nobody_uses(w: &mut World) {
    negotiates(w, World::steady);
}

/// Nobody sends anything while the pair is renewed again and again; the last one is used when somebody does.
pub(crate) fn pairs_of_an_idle_tunnel(w: &mut World) {
    w.steady(1_000);
    w.acknowledge_all();
    negotiates(w, World::wait);
    rekey_in_silence(w);
    w.steady(1_000);
}

/// 25 datagrams, each of which so many others overtake.
fn late_datagrams(w: &mut World, others: u64) {
    w.datagrams(100);
    for _ in 0..25 {
        let late = w.down.sequence;
        w.down.sequence += 1;
        w.datagrams(2 * others);
        let newest = std::mem::replace(&mut w.down.sequence, late);
        w.datagrams(2);
        w.down.sequence = newest;
    }
    w.datagrams(100);
}

pub(crate) fn datagrams_far_overtaken(w: &mut World) {
    late_datagrams(w, 150);
}

/// Datagrams that others overtake by less than any replay window: each counts as missing until it comes, and the receiver takes it.
pub(crate) fn datagrams_overtaken(w: &mut World) {
    late_datagrams(w, 20);
}

/// The receiver's window is larger: it acknowledges what came late, and nothing is sent again.
pub(crate) fn segments_far_overtaken_and_taken(w: &mut World) {
    w.steady(1_000);
    for _ in 0..25 {
        w.drop_acks();
        let (late, seq) = (w.down.sequence, w.seq);
        w.down.sequence += 1;
        w.seq += SEGMENT as u32;
        for _ in 0..150 {
            w.lost_segment();
            w.step(w.tick);
        }
        let newest = std::mem::replace(&mut w.down.sequence, late);
        w.resend(seq);
        w.down.sequence = newest;
        w.deliver();
        w.acknowledge_all();
        w.steady(100);
    }
}

pub(crate) fn packets_damaged(w: &mut World) {
    for _ in 0..40 {
        w.steady(100);
        w.damaged = true;
        w.segment();
        w.damaged = false;
        w.step(w.tick);
    }
    w.steady(100);
}

/// The last SA towards the client has the key of another one.
pub(crate) fn last_key_is_wrong(folder: &Path) {
    let file = folder.join("keys.esp_sa");
    let rows = std::fs::read_to_string(&file).unwrap();
    let key = |row: &str| row.rsplit_once(',').unwrap().1.to_owned();
    let list: Vec<&str> = rows.lines().collect();
    let (last, other) = (list[list.len() - 2], list[0]);
    let wrong = last.replace(&key(last), &key(other));
    std::fs::write(&file, rows.replace(last, &wrong)).unwrap();
}

/// A transfer of which numbers of one side, or of both, never come to the capture.
fn numbers_missing(w: &mut World, meanwhile: fn(&mut World, u64), both: bool) {
    for _ in 0..40 {
        meanwhile(w, 100);
        w.down.sequence += 1;
        w.up.sequence += u32::from(both);
    }
    meanwhile(w, 100);
}

pub(crate) fn lost_in_one_direction(w: &mut World) {
    numbers_missing(w, World::steady, false);
}

pub(crate) fn lost_in_both_directions(w: &mut World) {
    numbers_missing(w, World::steady, true);
}

/// Hardly anything comes from the other side.
pub(crate) fn datagrams_lost(w: &mut World) {
    w.ack(1_000, 0xffff);
    numbers_missing(w, World::datagrams, false);
    w.ack(1_000, 0xffff);
}

/// A download, captured at its receiver.
pub(crate) fn download(w: &mut World) {
    let at_receiver = true;
    w.transfer(Reno {
        at_receiver,
        ..BUFFER_FULL
    });
}

/// Nobody knows of what stands so long; the datagrams go on.
pub(crate) fn datagrams_stop(w: &mut World) {
    w.datagrams(3_000);
    w.wait(100_000);
    w.datagrams(3_000);
}

/// All is acknowledged before the sender rests.
pub(crate) fn a_long_rest(w: &mut World) {
    w.steady(3_000);
    w.acknowledge_all();
    w.wait(100_000);
    w.steady(3_000);
}

/// The capture has nothing for 12.6 s. Data was under way, and its sender repeats it then, so that the path was silent and the clock is right.
pub(crate) fn a_long_standstill(w: &mut World) {
    w.steady(3_000);
    w.go_deaf(30);
    w.blind = true;
    w.repeat_oldest(&[200, 400, 800, 1_600, 3_200, 6_400]);
    w.blind = false;
    resend_lost(w, 30);
    w.steady(3_000);
}

/// The capture is on all interfaces of the gateway, and has the packets before they are encrypted. The tunnel dies, and the sender goes on.
pub(crate) fn captured_inside_too(w: &mut World) {
    for _ in 0..1_500 {
        w.send_in_clear(false);
        w.segment();
        w.step(w.tick);
    }
    refused_and_open(w);
}

/// Another client of the server uses no IPsec.
pub(crate) fn l2tp_of_another_client(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    let own = std::mem::replace(&mut w.client, [10, 9, 0, 7]);
    w.leak();
    w.client = own;
    switch(w, &qm);
    w.steady(AFTER);
}

/// Changes the packets of the capture in a folder.
fn rewrite(folder: &Path, change: impl FnOnce(Vec<Packet>) -> Vec<Packet>) {
    let file = folder.join("trace.pcap");
    write_pcap(&file, &change(read_pcap(&file)));
}

/// A run of packets comes 100 ms late into the file, as when two interfaces are merged by hand.
pub(crate) fn merged_by_hand(folder: &Path) {
    // A segment every 2 ms and an acknowledgement every 4 ms: 75 packets are 100 ms.
    rewrite(folder, |mut packets| {
        packets[1_000..1_100].rotate_left(25);
        packets
    });
}

/// Two processors stamp the packets; one of them is a millisecond late to write them.
pub(crate) fn stamped_by_two(folder: &Path) {
    rewrite(folder, |mut packets| {
        packets.chunks_exact_mut(10).for_each(|ten| ten.swap(0, 1));
        packets
    });
}

/// From the middle on the clock is so much ahead.
fn set_clock(folder: &Path, seconds: i64) {
    rewrite(folder, |mut packets| {
        let middle = packets.len() / 2;
        for packet in &mut packets[middle..] {
            packet.time = packet.time.plus_nanos(seconds * NANOS_PER_SECOND);
        }
        packets
    });
}

pub(crate) fn clock_set_forward(folder: &Path) {
    set_clock(folder, 25);
}

pub(crate) fn clock_set_back(folder: &Path) {
    set_clock(folder, -5);
}

pub(crate) fn halves_swapped(folder: &Path) {
    rewrite(folder, |mut packets| {
        let middle = packets.len() / 2;
        packets.rotate_left(middle);
        packets
    });
}

/// One packet with data of 200 is not in the file.
pub(crate) fn data_not_captured(folder: &Path) {
    leave_out(folder, |number, packet| {
        number % 201 == 100 && packet.data.len() > 1_000
    });
}

/// One packet of 101 is not in the file, whatever it is.
pub(crate) fn any_not_captured(folder: &Path) {
    leave_out(folder, |number, _| number % 101 == 100);
}

/// The capture begins later.
pub(crate) fn begun_later(folder: &Path) {
    leave_out(folder, |number, _| number < 1_000);
}

fn leave_out(folder: &Path, lost: fn(usize, &Packet) -> bool) {
    rewrite(folder, |packets| {
        let kept = packets
            .into_iter()
            .enumerate()
            .filter(|(number, packet)| !lost(*number, packet));
        kept.map(|(_, packet)| packet).collect()
    });
}

/// Scenarios, and a figure that a sentence of their findings must hold.
const FIGURES: [(&str, &str); 11] = [
    // 1,300 − 20 (IP) − 8 − 16 (IV) − 12 (ICV) = 1,244: 77 blocks less 2 bytes are 1,230 of payload, 58 less than 1,288.
    (
        "packets too long",
        "1230 bytes, 58 less than the largest seen: a TCP MSS of 1170",
    ),
    // 1,352 bytes into 1,340: fragments of 1,340 and 32 bytes.
    (
        "packets a little too long",
        "one full and one tiny IP packet (1340 bytes",
    ),
    (
        "writes a byte too long",
        "a tiny rest right behind a full one of 1228 bytes",
    ),
    // 41 times 50 packets, and 40 numbers that never came: 40 of 2,090.
    ("lost in one direction", "40 ESP packets (1.91 %)"),
    ("lost in both directions", "40 ESP packets (1.91 %)"),
    ("datagrams lost", "40 ESP packets (1.91 %)"),
    (
        "lost, without keys",
        "lost before the capture point or not captured",
    ),
    // 25 of 25 times 151 and a hundred.
    (
        "datagrams far overtaken",
        "25 ESP packets (0.6 %) came 128 or more",
    ),
    (
        "packets damaged",
        "40 ESP packets (1.9 %) came damaged (wrong ICV)",
    ),
    ("two pairs by turns", "alive side by side"),
    // Five pairs, the last of them left out because it may be used later.
    ("pairs that nobody uses", "4 of 4 negotiated child SAs"),
];

#[test]
fn findings_say_how_much() {
    for (name, figure) in FIGURES {
        let found = &played_by_name(name).findings;
        assert!(
            found.iter().any(|f| f.sentence.contains(figure)),
            "{name}: {found:?}"
        );
    }
}
