//! The packets around a rekey, as the document has them: what is marked is what was planted.

use super::steps::{AFTER, begin, exchange};
use crate::support::analyze;
use rekeyscope_model::analysis::{
    Analysis, CloseUp, CloseUpNumbers, CloseUpPacket, CloseUpSeries, Direction, SaAge,
};
use rekeyscope_testkit::scenario::World;

/// Frames of what was planted.
struct Planted {
    /// The first and the third message.
    messages: (u64, u64),
    last_on_old: u64,
    first_on_new: u64,
    repetition: u64,
}

/// The server's last segment on the old SA is lost; it is sent again on the new one after a timeout.
fn last_segment_lost(w: &mut World) -> Planted {
    let mut qm = begin(w);
    let first = w.captured() + 1;
    exchange(w, &mut qm);
    let third = w.captured();
    w.steady(20);
    w.switch_up(&qm);
    w.steady(4);
    w.acknowledge_all();
    let lost = w.seq;
    w.lost_segment();
    let last_on_old = w.captured();
    w.switch_down(&qm);
    w.lost_segment();
    let first_on_new = w.captured();
    for _ in 0..5 {
        w.step(w.tick);
        w.lost_segment();
    }
    w.wait(300);
    w.resend(lost);
    let repetition = w.captured();
    w.deliver();
    w.steady(AFTER);
    Planted {
        messages: (first, third),
        last_on_old,
        first_on_new,
        repetition,
    }
}

fn close_up(analysis: &Analysis) -> &CloseUp {
    assert_eq!(analysis.rekeys.len(), 1);
    analysis.rekeys[0].close_up.as_ref().unwrap()
}

fn of(shown: &CloseUp, direction: Direction, sa: SaAge) -> &CloseUpSeries {
    let mut all = shown.series.iter();
    let found = all.find(|s| (s.direction, s.sa) == (direction, sa)).unwrap();
    let columns = [found.frames.len(), found.values.len()];
    assert_eq!(columns, [found.ms.len(); 2]);
    assert!(found.ms.is_sorted() && found.ms[0] >= shown.from_ms && *found.ms.last().unwrap() <= shown.to_ms);
    found
}

fn frame(packet: Option<&CloseUpPacket>) -> Option<u64> {
    packet.map(|p| p.frame)
}

/// The same capture with its keys, and without.
fn both_ways() -> (Planted, Analysis, Analysis) {
    let mut world = World::new();
    let planted = last_segment_lost(&mut world);
    let folder = tempfile::tempdir().unwrap();
    let keys = world.write(folder.path(), true);
    let capture = folder.path().join("trace.pcap");
    (planted, analyze(&capture, &keys), analyze(&capture, &[]))
}

#[test]
fn what_is_marked_around_a_rekey_is_what_was_planted() {
    let (planted, with_keys, without) = both_ways();
    let shown = close_up(&with_keys);
    assert_eq!(
        (shown.direction, shown.numbers),
        (Direction::BToA, CloseUpNumbers::TcpBytes)
    );
    assert_eq!(
        (&shown.lost_frames, &shown.repeated_frames),
        (&vec![planted.last_on_old], &vec![planted.repetition])
    );
    let down = shown.direction;
    let (old, new) = (of(shown, down, SaAge::Old), of(shown, down, SaAge::New));
    assert_eq!(old.frames.last(), Some(&planted.last_on_old));
    assert_eq!(new.frames.first(), Some(&planted.first_on_new));
    let again = new.frames.iter().position(|f| *f == planted.repetition).unwrap();
    assert_eq!(new.values[again], *old.values.last().unwrap(), "the same bytes");
    // The client acknowledges what it has, and no more, until the lost segment comes again.
    let answers = of(shown, down.reverse(), SaAge::New);
    let meanwhile = answers
        .ms
        .iter()
        .zip(&answers.values)
        .filter(|(ms, _)| **ms < new.ms[again]);
    assert!(meanwhile.clone().count() > 0);
    assert!(
        meanwhile
            .clone()
            .all(|(_, acknowledged)| *acknowledged < new.values[again])
    );
    assert!(answers.values.last() > new.values.get(again));
    let connection = shown.connection.as_ref().unwrap();
    assert_eq!((connection.src_port, connection.dst_port), (5201, 40_000));

    // Nothing of that needs a key but TCP.
    for (shown, analysis) in [(shown, &with_keys), (close_up(&without), &without)] {
        assert_eq!(frame(shown.last_on_old.as_ref()), Some(planted.last_on_old));
        assert_eq!(frame(shown.first_on_new.as_ref()), Some(planted.first_on_new));
        assert_eq!(shown.from_ms, -1_500.0);
        let switched = shown.first_on_new.as_ref().unwrap().ms;
        assert!((shown.to_ms - switched - 1_500.0).abs() < 1e-3, "{}", shown.to_ms);
        let messages: Vec<(usize, Direction)> = shown.ike.iter().map(|m| (m.message, m.direction)).collect();
        let (up, down) = (Direction::AToB, Direction::BToA);
        assert_eq!(messages, [(1, up), (2, down), (3, up)]);
        assert_eq!((shown.ike[0].frame, shown.ike[2].frame), planted.messages);
        assert_eq!(shown.ike[0].ms, 0.0);
        assert_eq!(analysis.rekeys[0].exchange, Some(shown.ike[0].exchange));
    }
}

/// Numbers of the old SA end with 0, those of the new one begin with 1, in both directions.
#[test]
fn without_keys_esp_sequence_numbers_are_shown() {
    let (planted, _, without) = both_ways();
    let shown = close_up(&without);
    assert_eq!(
        (shown.numbers, &shown.connection),
        (CloseUpNumbers::EspPackets, &None)
    );
    assert!(shown.lost_frames.is_empty() && shown.repeated_frames.is_empty());
    for direction in Direction::BOTH {
        let (old, new) = (of(shown, direction, SaAge::Old), of(shown, direction, SaAge::New));
        assert_eq!(
            (old.values.last(), new.values.first()),
            (Some(&0), Some(&1)),
            "{direction}"
        );
        assert!(old.values.is_sorted() && new.values.is_sorted());
    }
    assert_eq!(
        of(shown, shown.direction, SaAge::Old).frames.last(),
        Some(&planted.last_on_old)
    );
    assert_eq!(
        of(shown, shown.direction, SaAge::New).frames.first(),
        Some(&planted.first_on_new)
    );
}

/// What is left out is counted: 500 segments a second flow here, of which some 400 fit.
#[test]
fn a_close_up_is_bounded_and_says_what_it_leaves_out() {
    let (_, with_keys, without) = both_ways();
    for analysis in [&with_keys, &without] {
        let shown = close_up(analysis);
        let packets = |data: bool| -> usize {
            let own = shown
                .series
                .iter()
                .filter(|s| (s.direction == shown.direction) == data);
            own.map(|s| s.frames.len()).sum()
        };
        assert!((300..=406).contains(&packets(true)), "{}", packets(true));
        assert!((150..=206).contains(&packets(false)), "{}", packets(false));
        assert!((900..2_000).contains(&shown.left_out), "{}", shown.left_out);
        let text = serde_json::to_string_pretty(shown).unwrap();
        assert!(text.len() < 80_000, "{}", text.len());
    }
}
