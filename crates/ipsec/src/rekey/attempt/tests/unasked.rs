//! Limits that pass, Deletes, and peers that are dead: what became of an SA that nobody asked to renew, or too late.

use super::*;

fn with_volume(passed: i64, last: i64) -> Story {
    let mut story = Story::new(1, last, 60_000);
    let inbound = &mut story.associations[1];
    inbound.volume_limit = Some(1_000_000);
    inbound.counters = Counters {
        inner_bytes: 1_010_000,
        ..Counters::default()
    };
    inbound.limit_passed = Some((at(passed), 1));
    story
}

#[test]
fn a_limit_is_passed_and_nobody_asks() {
    let mut story = with_volume(10_000, 10_200);
    assert_eq!(story.unasked(), [(LimitWithoutAttempt, at(10_000))]);
    story.tell(QuickMode, CLIENT, "11000 > 188, 11020 < 188, 11040 > 60");
    assert_eq!(story.unasked(), [], "somebody asked a second later");
    let mut seconds = Story::new(1, 29_900, 60_000);
    let lifetime = Lifetime {
        seconds: Some(30),
        kilobytes: None,
    };
    seconds.exchanges[0].lifetime = Some(lifetime);
    assert_eq!(seconds.unasked(), [(LimitWithoutAttempt, at(30_040))]);
    seconds.associations[1].last = Some((at(50_000), 9));
    assert_eq!(seconds.unasked(), [], "nobody enforces it");
    let mut cut = with_volume(10_000, 10_200);
    cut.ends = 13_000;
    assert_eq!(cut.unasked().len(), 1);
    cut.ends = 12_999;
    assert_eq!(cut.unasked(), [], "somebody may ask within three seconds");
}

#[test]
fn seconds_run_out_where_the_sa_was_in_use_until_then() {
    let unasked = |seconds: u64, last: i64| {
        let mut story = Story::new(1, last, 60_000);
        story.exchanges[0].lifetime = Some(Lifetime {
            seconds: Some(seconds),
            kilobytes: None,
        });
        story.unasked().len()
    };
    // They count from the last message, at 40 ms.
    assert_eq!(
        (unasked(30, 25_039), unasked(30, 25_040)),
        (0, 1),
        "five seconds before"
    );
    assert_eq!(
        (unasked(30, 33_040), unasked(30, 33_041)),
        (1, 0),
        "three seconds behind"
    );
    assert_eq!(unasked(0, 100), 0, "no limit");
    assert_eq!((unasked(u64::MAX, 100), unasked(10_000_000_000, 100)), (0, 0));
}

#[test]
fn deleted_first_and_negotiated_afterwards() {
    for version in [1, 2] {
        let mut story = Story::new(version, 10_000, 60_000);
        let delete = story.tell(Informational, CLIENT, "10010 > 76");
        story.delete_first_pair(delete);
        assert_eq!(
            story.unasked(),
            [],
            "and nothing afterwards: the end of the connection"
        );
        let kind = if version == 1 { QuickMode } else { CreateChildSa };
        let next = story.tell(kind, CLIENT, "10500 > 188, 10520 < 188, 10540 > 60");
        story.pair(next, 0x200, Some((10_600, 20_000)));
        assert_eq!(story.unasked(), [(BreakBeforeMake, at(10_010))], "{version}");
    }
}

/// SPIs may be used again: what is deleted as this pair is born is another one.
#[test]
fn a_delete_at_its_birth_is_of_an_older_pair() {
    for (ms, expected) in [(0, 0), (1, 1)] {
        let mut story = Story::new(1, 1_000, 60_000);
        let delete = story.tell(Informational, CLIENT, &format!("{ms} > 76"));
        story.delete_first_pair(delete);
        story.tell(QuickMode, CLIENT, "500 > 188");
        assert_eq!(story.unasked().len(), expected, "deleted at {ms}");
    }
}

#[test]
fn a_delete_breaks_what_was_in_use_and_is_asked_for_soon() {
    for (last, expected) in [(5_010, 1), (5_009, 0)] {
        let mut story = Story::new(1, last, 60_000);
        let delete = story.tell(Informational, CLIENT, "10010 > 76");
        story.delete_first_pair(delete);
        let next = story.tell(QuickMode, CLIENT, "10500 > 188, 10520 < 188, 10540 > 60");
        story.pair(next, 0x200, Some((10_600, 20_000)));
        assert_eq!(story.unasked().len(), expected, "last packet at {last}");
    }
    for (next, expected) in [(20_010, 1), (20_011, 0)] {
        let mut story = Story::new(1, 10_000, 60_000);
        let delete = story.tell(Informational, CLIENT, "10010 > 76");
        story.delete_first_pair(delete);
        story.tell(QuickMode, CLIENT, &format!("{next} > 188"));
        assert_eq!(story.unasked().len(), expected, "asked again at {next}");
    }
}

/// The usual order: the new pair first.
#[test]
fn the_delete_of_an_old_sa_breaks_nothing() {
    let mut story = Story::new(2, 10_000, 60_000);
    let next = story.tell(CreateChildSa, CLIENT, "9900 > 300, 9930 < 300");
    story.pair(next, 0x200, Some((9_950, 20_000)));
    let delete = story.tell(Informational, CLIENT, "10010 > 76, 10030 < 76");
    story.delete_first_pair(delete);
    let later = story.tell(CreateChildSa, CLIENT, "15000 > 300, 15030 < 300");
    story.pair(later, 0x300, Some((15_040, 20_000)));
    assert_eq!(story.unasked(), []);
}

/// IKEv2: the Delete of the IKE SA takes its children along (break-before-make reauthentication).
#[test]
fn reauthentication_that_breaks_first() {
    let mut story = Story::new(2, 10_000, 60_000);
    story.ike_deleted = Some(10_010);
    let next = story.tell(ExchangeKind::IkeAuth, CLIENT, "10500 > 288, 10520 < 240");
    story.pair(next, 0x200, Some((10_600, 20_000)));
    assert_eq!(story.unasked(), [(BreakBeforeMake, at(10_010))]);
}

#[test]
fn checks_of_a_dead_peer() {
    let checks = |story: &Story| story.with(|evidence, ike_sas| unanswered_checks(evidence, ike_sas).len());
    let mut v2 = Story::new(2, 10_000, 60_000);
    v2.tell(Informational, CLIENT, "20000 > 80, 20020 < 80");
    v2.tell(Informational, CLIENT, "30000 > 80, 34000 > 80");
    assert_eq!(checks(&v2), 0);
    v2.tell(Informational, CLIENT, "40000 > 80, 44000 > 80, 51000 > 80");
    assert_eq!(checks(&v2), 1);
    let mut v1 = Story::new(1, 10_000, 60_000);
    for ms in [20_000, 25_000, 30_000] {
        let asked = v1.tell(Informational, CLIENT, &format!("{ms} > 92"));
        v1.exchanges[asked].notifications.push("R-U-THERE");
    }
    assert_eq!(checks(&v1), 1);
    let answer = v1.tell(Informational, SERVER, "30020 > 92");
    v1.exchanges[answer].notifications.push("R-U-THERE-ACK");
    assert_eq!(checks(&v1), 1, "what went before stays true");
}

/// Two questions without an answer may both be lost.
#[test]
fn a_peer_is_dead_after_three_questions_in_vain() {
    let asked = |questions: usize, also: &dyn Fn(&mut Story)| {
        let mut story = Story::new(1, 10_000, 60_000);
        for ms in [20_000, 25_000, 30_000].into_iter().take(questions) {
            let asked = story.tell(Informational, CLIENT, &format!("{ms} > 92"));
            story.exchanges[asked].notifications.push("R-U-THERE");
        }
        also(&mut story);
        story.with(unanswered_checks)
    };
    assert_eq!(asked(2, &|_| ()).len(), 0);
    let dead = asked(3, &|_| ());
    assert_eq!(
        (dead[0].by, dead[0].first_time, dead[0].last_time),
        (CLIENT, at(20_000), at(30_000))
    );
    assert_eq!(dead[0].frames, [20_001, 25_001, 30_001]);
    // One side of everything: a missing answer means nothing.
    let one_sided = asked(3, &|story| {
        story
            .exchanges
            .iter_mut()
            .for_each(|e| e.records.retain(|r| r.src == CLIENT));
        story.associations.retain(|a| a.src == CLIENT);
    });
    assert_eq!(one_sided.len(), 0);
    // Other messages ask nothing.
    let other = asked(3, &|story| {
        for exchange in &mut story.exchanges {
            exchange.notifications.clear();
            exchange.decrypted = true;
        }
    });
    assert_eq!(other.len(), 0);
}

/// R-U-THERE has the same length each time, and comes again after a wait.
#[test]
fn checks_that_nobody_reads_are_told_by_how_they_come() {
    let asked = |messages: [(i64, u32); 3], answered: bool| {
        let mut story = Story::new(1, 10_000, 60_000);
        for (ms, len) in messages {
            story.tell(Informational, CLIENT, &format!("{ms} > {len}"));
            if answered {
                story.tell(Informational, SERVER, &format!("{} > {len}", ms + 30));
            }
        }
        story.with(unanswered_checks)
    };
    let in_vain = [(20_000, 92), (25_000, 92), (30_000, 92)];
    let dead = asked(in_vain, false);
    assert_eq!((dead.len(), dead[0].known, dead[0].asked), (1, false, 3));
    assert_eq!((dead[0].by, dead[0].peer), (CLIENT, SERVER));
    assert_eq!(asked(in_vain, true).len(), 0, "the peer lives");
    let others = [(20_000, 92), (25_000, 108), (30_000, 76)];
    assert_eq!(asked(others, false).len(), 0, "of several lengths");
    let deletes = [(20_000, 92), (20_010, 92), (20_020, 92)];
    assert_eq!(asked(deletes, false).len(), 0, "at once");
}
