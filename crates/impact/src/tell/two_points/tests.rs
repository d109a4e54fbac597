use super::*;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

fn clock() -> PointClock {
    PointClock {
        at: Timestamp(0),
        offset_ms: Some(12.5),
        offset_error_ms: Some(0.25),
        round_trip_ms: Some(0.5),
        drift_ppm: Some(3.12),
        drift_low_ppm: None,
        drift_high_ppm: None,
        straight: true,
    }
}

fn to_the_server() -> PointDirection {
    PointDirection {
        tunnel: 0,
        direction: Direction::AToB,
        src: IpAddr::from([192, 0, 2, 1]),
        dst: IpAddr::from([192, 0, 2, 2]),
        order: PointOrder::HereFirst,
        order_by: Some(OrderSource::Times),
        both: 9_000,
        only_here: 1_000,
        only_there: 0,
        outside: 0,
        lost_between: Some(1_000),
        not_recorded: Some(3),
        missing_at_both: 7,
        duplicates_here: 0,
        duplicates_there: 0,
        reordered: 0,
        delay_ms: None,
        variation_ms: None,
        ike_both: 4,
        ike_only_here: 2,
        ike_only_there: 1,
    }
}

fn points() -> TwoPoints {
    TwoPoints {
        path: "there.pcap".to_owned(),
        files: Vec::new(),
        packets: 9_000,
        dropped_reported: Some(0),
        truncated_file: false,
        from: Some(Timestamp(1_000_000_000)),
        to: Some(Timestamp(61_500_000_000)),
        sas: 2,
        sas_behind_nat: 0,
        sas_only_here: 0,
        sas_only_there: 0,
        kept_until: None,
        clock: Some(clock()),
        directions: vec![to_the_server()],
        rekeys: Vec::new(),
        sentence: String::new(),
        messages: Vec::new(),
    }
}

fn said(change: impl FnOnce(&mut TwoPoints)) -> String {
    let mut points = points();
    change(&mut points);
    whole(&points, Some(0), &[]).sentence
}

#[track_caller]
fn says(change: impl FnOnce(&mut TwoPoints), part: &str) {
    let said = said(change);
    assert!(said.contains(part), "{part:?} is not in {said:?}");
}

#[test]
fn clock_losses_and_drops_are_told() {
    assert_eq!(
        said(|_| ()),
        "The clock of there.pcap is 12.50 ms ahead of this capture's at the beginning, ± 0.250 ms (half of the shortest \
         round trip between the two points: how it divides into the two ways cannot be told). It gains 3.1 ppm. \
         192.0.2.1 → 192.0.2.2 passes this point first: 1,000 of 10,000 packets got lost on the way to the other point, \
         7 were seen at neither, 3 only at the other. 2 IKE messages were lost between the points. \
         Neither capture reports packets that it dropped itself."
    );
}

#[test]
fn where_nothing_could_be_compared_it_says_why() {
    says(|p| (p.clock, p.sas) = (None, 0), "no SA in common");
    says(
        |p| (p.clock, p.sas) = (None, 2),
        "has 2 SAs in common with this capture and not one packet",
    );
    for to in [None, Some(Timestamp(1_000_000_000))] {
        says(|p| p.to = to, "overlap for less time than packets take");
    }
}

#[test]
fn a_clock_is_ahead_or_behind_and_gains_or_loses() {
    let of = |change: &dyn Fn(&mut PointClock)| said(|p| change(p.clock.as_mut().unwrap()));
    assert!(of(&|c| c.offset_ms = Some(-12.5)).contains("is 12.50 ms behind this capture's"));
    assert!(of(&|c| c.offset_ms = Some(0.0)).contains("is 0.000 ms ahead"));
    assert!(of(&|c| c.drift_ppm = Some(-0.05)).contains("It loses 0.1 ppm."));
    assert!(of(&|c| c.drift_ppm = Some(-0.049)).contains("It gains 0.0 ppm."));
    assert!(of(&|c| c.drift_ppm = None).contains("too short a time to tell whether it drifts"));
    assert!(of(&|c| c.offset_ms = None).contains("packets of one direction only"));
    assert!(of(&|c| c.straight = false).contains("was set meanwhile"));
}

#[test]
fn directions_are_told_by_which_point_they_pass_first() {
    let of = |change: &dyn Fn(&mut PointDirection)| said(|p| change(&mut p.directions[0]));
    let there = of(&|d| d.order = PointOrder::ThereFirst);
    assert!(there.contains("passes the other point first: 1,000 of 10,000") && there.contains("3 only here"));
    assert!(there.contains("One IKE message was lost"), "{there}");
    let unknown = "9,000 packets were seen at both points, 1,000 here alone, 0 there alone";
    let untold = of(&|d| d.order = PointOrder::Unknown);
    assert!(
        untold.contains(unknown) && !untold.contains("IKE message"),
        "{untold}"
    );
    assert!(of(&|d| d.lost_between = None).contains(unknown));
    assert!(of(&|d| d.not_recorded = None).contains(unknown));
    assert!(of(&|d| d.order_by = Some(OrderSource::HopLimit)).contains("told by the hop limits"));
    assert!(!said(|_| ()).contains("hop limits"));
    // Four of them have a sentence; the messages of all are counted.
    let five = said(|p| p.directions = vec![to_the_server(); 5]);
    assert_eq!(five.matches("passes this point first").count(), 4);
    assert!(five.contains("10 IKE messages"), "{five}");
}

#[test]
fn what_looks_like_a_loss_and_may_be_none() {
    let of = |here, there| {
        let mut points = points();
        points.dropped_reported = there;
        whole(&points, here, &[]).sentence
    };
    assert!(of(None, None).contains("neither capture tells how many it dropped"));
    assert!(of(Some(1_200), None).contains("reports 1,200 dropped, the other an unknown number"));
    assert!(of(Some(0), Some(4)).contains("reports 0 dropped, the other 4"));
    let nothing_lost = said(|p| (p.directions[0].only_here, p.directions[0].only_there) = (0, 0));
    assert!(!nothing_lost.contains("dropped"), "{nothing_lost}");
    says(
        |p| (p.directions[0].only_here, p.directions[0].only_there) = (0, 1),
        "dropped",
    );
    says(
        |p| p.kept_until = Some(Timestamp(9)),
        "The first 60.5 s were compared",
    );
    says(|p| p.sas_behind_nat = 1, "One SA has another destination there");
    assert!(!said(|_| ()).contains("another destination"));
    says(|p| p.sas_only_here = 3, "left out: 3 of this one, 0 of the other");
    says(
        |p| p.sas_only_there = 2,
        "left out: 0 of this one, 2 of the other",
    );
    assert!(!said(|_| ()).contains("left out"));
}

#[test]
fn files_that_could_not_be_read_are_counted_at_both_points() {
    let file = |problem: Option<&str>| CaptureFile {
        path: "a.pcap".to_owned(),
        first_frame: None,
        packets: 0,
        first_time: None,
        last_time: None,
        truncated_file: false,
        problem: problem.map(str::to_owned),
    };
    let of = |here: &[CaptureFile], there: Vec<CaptureFile>| {
        let mut points = points();
        points.files = there;
        whole(&points, Some(0), here).sentence
    };
    assert!(!of(&[file(None)], vec![file(None)]).contains("read whole"));
    assert!(of(&[file(Some("damaged"))], vec![file(None)]).contains("A file of one of the points"));
    let both = of(&[file(Some("damaged"))], vec![file(Some("damaged"))]);
    assert!(
        both.contains("2 files of the points could not be read whole"),
        "{both}"
    );
}

fn lost_at_a_rekey() -> PointRekey {
    PointRekey {
        rekey: 4,
        number: 5,
        tunnel: 0,
        direction: Direction::AToB,
        old_spi: Some(Spi(0x10)),
        old_lost: 2,
        new_spi: Some(Spi(0x20)),
        new_lost: 1,
        sent: 3_000,
        usual_lost: Some(0.44),
        ike_lost: 1,
        first_ms: -20.0,
        last_ms: 5.0,
        sentence: String::new(),
        messages: Vec::new(),
    }
}

#[test]
fn what_a_rekey_lost_is_told_with_its_time() {
    let of = |change: &dyn Fn(&mut PointRekey)| {
        let mut lost = lost_at_a_rekey();
        change(&mut lost);
        rekey(&lost).sentence
    };
    assert_eq!(
        of(&|_| ()),
        "Rekey 5: 2 packets of the old SA 0x00000010, one packet of the new SA 0x00000020 and one IKE message lost \
         between the capture points, from 20.00 ms before to 5.00 ms after the switch. Of the 3,000 packets of these SAs \
         around it, 0.4 would be lost as often as packets are elsewhere."
    );
    assert!(of(&|r| r.last_ms = -1.0).contains("from 20.00 ms to 1.00 ms before the switch"));
    assert!(of(&|r| (r.first_ms, r.last_ms) = (-1.0, 0.0)).contains("from 1.00 ms before to 0.000 ms after"));
    assert!(of(&|r| r.first_ms = 0.0).contains("from 0.000 ms to 5.00 ms after the switch"));
    let message = of(&|r| (r.old_lost, r.new_lost) = (0, 0));
    assert!(message.starts_with("Rekey 5: one IKE message lost") && !message.contains("elsewhere"));
    assert!(!of(&|r| r.ike_lost = 0).contains("IKE"));
    assert!(!of(&|r| r.old_spi = None).contains("old SA"));
    assert!(of(&|r| (r.old_lost, r.new_lost) = (0, 1)).contains("elsewhere"));
    assert!(!of(&|r| r.usual_lost = None).contains("elsewhere"));
}

#[test]
fn milliseconds_have_three_or_four_figures() {
    for (ms, expected) in [
        (0.9994, "0.999 ms"),
        (1.0, "1.00 ms"),
        (-37.021, "−37.02 ms"),
        (100.0, "100.0 ms"),
        (999.94, "999.9 ms"),
        (1_000.0, "1,000 ms"),
        (-1_240.4, "−1,240 ms"),
    ] {
        assert_eq!(millis(ms), expected);
    }
}
