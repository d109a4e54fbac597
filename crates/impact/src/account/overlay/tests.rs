use super::*;
use crate::account::made_up::{at, half, span, step};
use crate::account::surroundings::{DownSpan, RekeyWindow};
use crate::account::sweep::episode::Episode;
use AccountLabel::{
    Application, Capacity, CaptureHole, PathLoss, QueueLoss, ReceiveWindow, Rekey, SendBuffer, TunnelDown,
    Unexplained, ZeroWindow,
};

/// Round trips of 40 ms: a pause has 60 ms, a timeout 200 ms.
fn track(steps: Vec<Step>) -> Track {
    let seen = crate::account::read::half::Half {
        rtt: at(40),
        ..half()
    };
    let mut track = Track::new(&seen);
    track.steps = steps;
    track
}

fn renewed(asked: i64, switched: i64) -> Surroundings {
    let (asked, switched) = span(asked, switched);
    Surroundings {
        rekeys: vec![RekeyWindow {
            asked,
            switched,
            new_sa: 0,
        }],
        ..Surroundings::default()
    }
}

fn down(from: i64, to: i64, rekey: bool) -> Surroundings {
    let (from, to) = span(from, to);
    Surroundings {
        down: vec![DownSpan { from, to, rekey }],
        ..Surroundings::default()
    }
}

fn labelled(steps: Vec<Step>, around: &Surroundings) -> Vec<AccountLabel> {
    labels(&mut track(steps), around)
        .into_iter()
        .map(|l| l.0)
        .collect()
}

#[test]
fn a_pause_at_a_rekey_is_the_rekeys() {
    let around = renewed(1_000, 1_100);
    let one = |from, to| labelled(vec![step(from, to, Unexplained)], &around)[0];
    assert_eq!(one(1_010, 1_071), Rekey);
    assert_eq!(one(1_010, 1_070), Unexplained, "no pause");
    assert_eq!(one(1_351, 1_500), Unexplained, "long behind the switch");
    // Half a second before the request nobody had asked.
    assert_eq!((one(500, 1_050), one(499, 1_050)), (Rekey, TunnelDown));
    let closed = labelled(vec![step(1_010, 1_071, ZeroWindow)], &around);
    assert_eq!(closed, [ZeroWindow], "the receiver had closed its window");
}

/// Before the first loss of a capture: what it is if that is no loss of its own, but a rekey's.
#[test]
fn the_way_back_from_an_unseen_loss_is_the_next_losss() {
    let label = |around: &Surroundings, overtaken: bool| {
        let mut climbs = step(500, 520, SendBuffer);
        (climbs.kind.found, climbs.kind.episode) = (StepLabel::WayBack(SendBuffer), 0);
        let mut track = track(vec![climbs]);
        let copy = crate::account::made_up::data(1_050, 0);
        let waited = at(201);
        track.episodes = vec![Episode::begun(&copy, waited, 0.0, &half())];
        track.episodes[0].overtaken = overtaken;
        labels(&mut track, around)[0].0
    };
    assert_eq!(label(&Surroundings::default(), false), PathLoss);
    assert_eq!(label(&Surroundings::default(), true), AccountLabel::Reordering);
    assert_eq!(label(&renewed(1_000, 1_100), false), SendBuffer);
}

/// Of 1,000 packets some were lost, one of them as the first of a renewal's SA: that is its doing only while it is no path on which the
/// first of twenty SAs is lost by itself.
#[test]
fn the_first_of_an_sa_is_lost_by_chance_on_a_path_that_loses_much() {
    let label = |losses: u64| {
        let mut comes_back = step(1_050, 1_070, PathLoss);
        (comes_back.kind.found, comes_back.kind.episode) = (StepLabel::Episode, 0);
        comes_back.packets = 1_000;
        let mut track = track(vec![comes_back]);
        track.episodes = vec![Episode::of_first_on(7, at(1_060))];
        track.losses = losses;
        let mut around = renewed(1_000, 1_050);
        around.rekeys[0].new_sa = 7;
        labels(&mut track, &around)[0].0
    };
    assert_eq!((label(1), label(51), label(52)), (Rekey, Rekey, PathLoss));
}

/// Nothing was under way, so nothing was lost: the application had nothing to say already.
#[test]
fn a_silence_that_began_before_the_request_is_not_the_rekeys() {
    let label = |from, vanished| {
        let mut silence = step(from, 1_200, Application);
        (silence.all_acked, silence.vanished) = (true, vanished);
        labelled(vec![silence], &renewed(1_000, 1_100))[0]
    };
    assert_eq!((label(950, false), label(949, false)), (Rekey, Application));
    assert_eq!(label(949, true), Rekey, "packets are missing");
}

#[test]
fn failures_and_outages_explain_timeouts() {
    let failed = Surroundings {
        failed: vec![span(1_000, 1_500)],
        ..Surroundings::default()
    };
    let one = |to, around: &Surroundings| labelled(vec![step(1_100, to, PathLoss)], around)[0];
    assert_eq!((one(1_301, &failed), one(1_300, &failed)), (TunnelDown, PathLoss));
    assert_eq!(one(1_301, &down(1_000, 1_500, false)), TunnelDown);
    assert_eq!(one(1_301, &down(1_000, 1_500, true)), Rekey);
    assert_eq!(one(1_300, &down(1_000, 1_500, true)), PathLoss);
    let hole = Surroundings {
        holes: vec![span(1_000, 1_500)],
        ..Surroundings::default()
    };
    assert_eq!(one(1_110, &hole), CaptureHole);
}

/// Five pauses of 100 ms elsewhere.
#[test]
fn a_pause_as_everywhere_is_nothing_special_at_a_rekey() {
    let steps = |at_rekey: i64, elsewhere: usize| {
        let mut all: Vec<Step> = (0..elsewhere as i64)
            .map(|k| step(5_000 + 200 * k, 5_100 + 200 * k, Unexplained))
            .collect();
        all.insert(0, step(1_010, 1_010 + at_rekey, Unexplained));
        all
    };
    let around = renewed(1_000, 1_100);
    let first = |steps: Vec<Step>| labelled(steps, &around)[0];
    assert_eq!(first(steps(100, 5)), Unexplained);
    assert_eq!(first(steps(101, 5)), Rekey);
    assert_eq!(first(steps(100, 4)), Rekey, "four tell nothing");
    let mut copy = steps(100, 5);
    copy[0].again = true;
    assert_eq!(first(copy), Rekey, "something was sent again");
    let mut lost = steps(100, 5);
    lost[0].kind.episode = 0;
    (lost[0].kind.found, lost[1].longest) = (StepLabel::Episode, at(100));
    assert_eq!(first(lost), Rekey, "something was lost");
}

/// The way back to the flight before belongs to the pause.
#[test]
fn a_ramp_has_the_label_of_its_pause() {
    let mut pause = step(1_010, 1_300, Unexplained);
    pause.pause = 4;
    let mut ramp = step(1_300, 1_320, Capacity);
    ramp.kind.ramp = 4;
    let mut other = step(1_320, 1_340, Capacity);
    other.kind.ramp = 5;
    let found = labelled(vec![pause, ramp, other], &renewed(1_000, 1_100));
    assert_eq!(found, [Rekey, Rekey, Capacity]);
}

/// The other side is silent while these are sent again.
#[test]
fn a_silence_swallows_what_was_sent_again() {
    let silent = |label, silence| {
        let mut step = step(5_000, 5_010, label);
        step.kind.silence = silence;
        step
    };
    let found = |steps: Vec<Step>| {
        let mut track = track(steps);
        track.silences = 2;
        let labels = labels(&mut track, &Surroundings::default());
        labels.into_iter().map(|l| l.0).collect::<Vec<_>>()
    };
    let lost = vec![
        silent(PathLoss, 0),
        silent(QueueLoss, 0),
        silent(Application, 0),
        silent(PathLoss, NONE),
    ];
    assert_eq!(found(lost), [TunnelDown, TunnelDown, Application, PathLoss]);
    let of_a_rekey = vec![silent(Rekey, 0), silent(PathLoss, 0), silent(PathLoss, 1)];
    assert_eq!(found(of_a_rekey), [Rekey, Rekey, TunnelDown]);
    let ended_by_a_rekey = vec![silent(PathLoss, 0), silent(Rekey, NONE), silent(PathLoss, 1)];
    assert_eq!(found(ended_by_a_rekey), [Rekey, Rekey, TunnelDown]);
}

#[test]
fn between_full_windows_everything_waits_for_the_receiver() {
    let one = |label, length, at_capacity| {
        let mut wait = step(0, length, label);
        (wait.kind.between_full, wait.kind.at_capacity) = (true, at_capacity);
        labels(&mut track(vec![wait]), &Surroundings::default())[0]
    };
    assert_eq!(one(Application, 10, false), (ReceiveWindow, None));
    assert_eq!(one(PathLoss, 60, false), (ReceiveWindow, None));
    assert_eq!(one(PathLoss, 61, false), (PathLoss, None), "a stall");
    assert_eq!(one(Application, 61, false), (ReceiveWindow, None));
    // A larger window would win nothing.
    assert_eq!(one(Application, 10, true), (Capacity, Some(ReceiveWindow)));
    let mut buffer = step(0, 10, SendBuffer);
    buffer.kind.at_capacity = true;
    let found = labels(&mut track(vec![buffer]), &Surroundings::default());
    assert_eq!(found, [(Capacity, Some(SendBuffer))]);
}

fn several(from: i64, to: i64) -> Step {
    Step {
        longest: at(1),
        ..step(from, to, Unexplained)
    }
}

fn cut_at(steps: Vec<Step>, around: &Surroundings, tcp: bool) -> Vec<(i64, i64, u64)> {
    let mut track = track(steps);
    track.facts.tcp = tcp;
    cut(&mut track, around);
    let ms = |nanos: i64| nanos / at(1);
    track
        .steps
        .iter()
        .map(|s| (ms(s.from), ms(s.to), s.bytes))
        .collect()
}

#[test]
fn steps_of_several_waits_are_cut_where_a_hole_begins_and_ends() {
    let hole = |from, to| Surroundings {
        holes: vec![span(from, to)],
        ..Surroundings::default()
    };
    let steps = || vec![several(0, 20), several(20, 40)];
    assert_eq!(
        cut_at(steps(), &hole(5, 30), true),
        [(0, 5, 250), (5, 20, 750), (20, 30, 500), (30, 40, 500)]
    );
    assert_eq!(
        cut_at(steps(), &hole(20, 40), true),
        [(0, 20, 1_000), (20, 40, 1_000)]
    );
    let one = vec![step(0, 20, Unexplained)];
    assert_eq!(cut_at(one, &hole(5, 30), true), [(0, 20, 1_000)], "one wait");
}

/// Nobody waits for acknowledgements: what was sent in an outage did not arrive.
#[test]
fn without_acknowledgements_an_outage_takes_what_was_sent_in_it() {
    let outage = down(10, 30, false);
    let steps = || {
        vec![
            several(0, 20),
            step(25, 29, Unexplained),
            step(29, 35, Unexplained),
        ]
    };
    assert_eq!(
        cut_at(steps(), &outage, false),
        [(0, 10, 500), (10, 20, 0), (25, 29, 0), (29, 35, 1_000)]
    );
    let with = [(0, 20, 1_000), (25, 29, 1_000), (29, 35, 1_000)];
    assert_eq!(cut_at(steps(), &outage, true), with);
    let mut track = track(steps());
    track.facts.tcp = false;
    let found: Vec<AccountLabel> = labels(&mut track, &outage).into_iter().map(|l| l.0).collect();
    assert_eq!(found, [Unexplained, TunnelDown, TunnelDown, TunnelDown]);
}
