//! `rekeyscope watch`: what is told while a capture goes on is what the report says afterwards, and in time.

mod metrics;
mod program;

use crate::support::{Lab, analyze, lab_of_sample, labs};
use rekeyscope::pipeline::Options;
use rekeyscope::watch::{LiveWatch, Retention};
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::{Analysis, Direction, Rekey};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_model::watch::{Occurrence, WatchEvent, WatchTotals};
use rekeyscope_testkit::containers::{LINKTYPE_RAW, pcap_of};
use rekeyscope_testkit::headers::ipv4;
use std::collections::BTreeMap;

/// As the program looks, by the capture's clock.
const LOOK: i64 = NANOS_PER_SECOND / 2;
/// Within this an event is told after its last packet.
const IN_TIME_S: f64 = 2.0;

/// What is told, and when by the capture's clock.
fn watched(lab: &Lab, retention: Retention) -> Vec<(Timestamp, WatchEvent)> {
    watched_every(LOOK, lab, retention)
}

/// The same with another time between two looks, nanoseconds.
fn watched_every(every: i64, lab: &Lab, retention: Retention) -> Vec<(Timestamp, WatchEvent)> {
    let mut keys = KeyMaterial::default();
    lab.keys.iter().for_each(|file| keys.read(file).unwrap());
    let options = Options::default();
    let mut watch = LiveWatch::new(options, retention, keys, Vec::new());
    let mut reader = CaptureReader::open(&lab.capture).unwrap();
    let info = reader.info().clone();
    let mut container = Diagnostics::default();
    let (mut told, mut next) = (Vec::new(), None);
    while let Some(frame) = reader.next_frame(&mut container).unwrap() {
        let now = frame.time;
        // Twice a second also where nothing comes.
        let mut due = *next.get_or_insert(now.plus_nanos(every));
        while due < now {
            told.extend(watch.look(due, &info).into_iter().map(|event| (due, event)));
            due = due.plus_nanos(every);
            next = Some(due);
        }
        watch.push(&frame);
    }
    let last = watch.newest().unwrap_or_default();
    let (events, _, _) = watch.finish(reader.info(), &rekeyscope::assembly::Asked::of(""));
    told.extend(events.into_iter().map(|event| (last, event)));
    told
}

fn analyze_lab(lab: &Lab) -> Analysis {
    analyze(&lab.capture, &lab.keys)
}

fn new_spis(rekey: &Rekey) -> Vec<(Direction, Spi)> {
    let both = [Direction::AToB, Direction::BToA];
    both.into_iter()
        .filter_map(|d| Some((d, rekey.new.get(d)?)))
        .collect()
}

fn told_rekeys(told: &[(Timestamp, WatchEvent)]) -> Vec<(Timestamp, Vec<(Direction, Spi)>)> {
    let rekeys = told.iter().filter_map(|(when, event)| match &event.what {
        Occurrence::Rekey { new, .. } => {
            let both = [Direction::AToB, Direction::BToA];
            let spis = both.into_iter().filter_map(|d| Some((d, new.get(d)?)));
            Some((*when, spis.collect()))
        }
        _ => None,
    });
    rekeys.collect()
}

/// Every rekey of the report was told once, nothing else was, and each in time.
fn is_told(name: &str, analysis: &Analysis, told: &[(Timestamp, WatchEvent)]) {
    let told = told_rekeys(told);
    let of_spi: BTreeMap<(Direction, Spi), usize> = analysis
        .rekeys
        .iter()
        .flat_map(|rekey| new_spis(rekey).into_iter().map(|spi| (spi, rekey.index)))
        .collect();
    let mut times = BTreeMap::new();
    for (when, spis) in &told {
        let index = spis.iter().find_map(|spi| of_spi.get(spi));
        let index = *index.unwrap_or_else(|| panic!("{name}: {spis:?} is no rekey of the report"));
        assert_eq!(
            times.insert(index, *when),
            None,
            "{name}: rekey {index} was told twice"
        );
    }
    for rekey in &analysis.rekeys {
        let when = *times
            .get(&rekey.index)
            .unwrap_or_else(|| panic!("{name}: rekey {} was not told", rekey.index));
        let begun = rekey
            .started
            .or(rekey.switched.a_to_b)
            .or(rekey.switched.b_to_a)
            .unwrap();
        let done = begun.plus_seconds(rekey.exchange_ms.unwrap_or_default() / 1_000.0);
        let switched = [rekey.switched.a_to_b, rekey.switched.b_to_a]
            .into_iter()
            .flatten();
        let decided = switched.filter(|time| *time <= when).chain([done]).max().unwrap();
        let late = when.seconds_since(decided);
        assert!(
            late <= IN_TIME_S,
            "{name}: rekey {} was told {late} s late",
            rekey.index
        );
    }
}

#[test]
fn what_is_told_is_what_the_report_says() {
    for lab in labs() {
        let analysis = analyze_lab(&lab);
        is_told(&lab.name, &analysis, &watched(&lab, Retention::default()));
    }
}

/// Every outage of the report is told in time, once, with its length, and nothing else is; a verdict stands for a minute.
#[test]
fn outages_are_told_once_and_verdicts_stand() {
    let mut seen = 0;
    for lab in labs() {
        // A look may come between an answer and the next one, which moves the end of an outage.
        let every = if lab.name == "fail_blackhole_down" {
            LOOK / 10
        } else {
            LOOK
        };
        let (analysis, told) = (
            analyze_lab(&lab),
            watched_every(every, &lab, Retention::default()),
        );
        let mut ended = Vec::new();
        let mut verdicts: BTreeMap<Direction, Vec<Timestamp>> = BTreeMap::new();
        for (when, event) in &told {
            match &event.what {
                Occurrence::OutageEnded { seconds, .. } => {
                    assert!(
                        when.seconds_since(event.time) <= IN_TIME_S,
                        "{}: {event:?}",
                        lab.name
                    );
                    ended.push((event.time, *seconds));
                }
                Occurrence::VerdictChanged { direction, .. } => {
                    verdicts.entry(*direction).or_default().push(*when)
                }
                Occurrence::OutageCorrected { .. } => panic!("{}: {event:?}", lab.name),
                _ => {}
            }
        }
        let mut once = ended.clone();
        once.dedup_by_key(|(end, _)| *end);
        assert_eq!(once, ended, "{}", lab.name);
        for outage in analysis.outages.iter().filter(|outage| outage.end.is_some()) {
            let is_told = ended.iter().any(|(end, seconds)| {
                let length = (seconds - outage.seconds).abs();
                Some(*end) == outage.end && length < 0.001
            });
            assert!(is_told, "{}: {} is not in {ended:?}", lab.name, outage.start);
            seen += 1;
        }
        for times in verdicts.values() {
            // The last one is the last word.
            let told = times.split_last().map_or(&[][..], |(_, told)| told);
            let stands = told.windows(2).all(|pair| pair[1].seconds_since(pair[0]) >= 60.0);
            assert!(stands, "{}: {times:?}", lab.name);
        }
    }
    assert!(seen >= 7, "{seen}");
}

/// The first rekeys of a capture show no limit yet; what triggered them is told when the next ones do.
#[test]
fn the_trigger_of_the_first_rekeys_is_told_when_it_is_known() {
    // The keys of IKE show the limits from the beginning.
    let mut lab = lab_of_sample("l2tp_kb_modp1024_down");
    lab.keys
        .retain(|file| file.extension().is_some_and(|end| end == "esp_sa"));
    let mut triggers = BTreeMap::new();
    for (_, event) in watched(&lab, Retention::default()) {
        match event.what {
            Occurrence::Rekey { trigger, new, .. } | Occurrence::RekeyTrigger { trigger, new } => {
                triggers.insert(new.a_to_b, trigger);
            }
            _ => {}
        }
    }
    let report: Vec<_> = analyze_lab(&lab)
        .rekeys
        .iter()
        .map(|rekey| (rekey.new.a_to_b, rekey.trigger.kind))
        .collect();
    let differ = report
        .iter()
        .filter(|(new, trigger)| triggers.get(new) != Some(trigger));
    assert_eq!(differ.count(), 0, "{triggers:?} {report:?}");
    let told = watched(&lab, Retention::default());
    let later = told
        .iter()
        .filter(|(_, event)| matches!(event.what, Occurrence::RekeyTrigger { .. }));
    assert_eq!(later.count(), 2);
}

/// Counters are those of the ledger, however often the capture is looked at.
#[test]
fn counters_do_not_depend_on_how_often_is_looked() {
    let lab = lab_of_sample("l2tp_kb_modp1024_down");
    let often = counted(&lab, LOOK);
    let once = counted(&lab, i64::MAX / 4);
    let analysis = analyze_lab(&lab);
    let cost: f64 = analysis.ledger.iter().map(|ledger| ledger.cost_seconds).sum();
    let down: f64 = analysis.outages.iter().map(|outage| outage.seconds).sum();
    for totals in [&often, &once] {
        assert!(
            (totals.all.lost_seconds - cost).abs() < 0.001,
            "{} {cost}",
            totals.all.lost_seconds
        );
        assert!(
            (totals.all.outage_seconds - down).abs() < 0.001,
            "{} {down}",
            totals.all.outage_seconds
        );
        assert_eq!(totals.all.outages, analysis.outages.len() as u64);
        for histogram in [&totals.silence, &totals.cost] {
            assert_eq!(histogram.counts.iter().sum::<u64>(), analysis.rekeys.len() as u64);
        }
        assert!((totals.cost.sum - cost).abs() < 0.001);
        assert_eq!(totals.packets, analysis.capture.packets);
        assert_eq!(totals.last_packet, analysis.capture.last_time);
        let tunnel = totals.by_tunnel.values().next().unwrap();
        assert_eq!(
            (tunnel.rekeys, tunnel.outages),
            (analysis.rekeys.len() as u64, totals.all.outages)
        );
    }
    assert_eq!(often.silence.counts, once.silence.counts);
}

fn counted(lab: &Lab, every: i64) -> WatchTotals {
    let mut keys = KeyMaterial::default();
    lab.keys.iter().for_each(|file| keys.read(file).unwrap());
    let mut watch = LiveWatch::new(Options::default(), Retention::default(), keys, Vec::new());
    let mut reader = CaptureReader::open(&lab.capture).unwrap();
    let info = reader.info().clone();
    let mut container = Diagnostics::default();
    let mut due = None;
    while let Some(frame) = reader.next_frame(&mut container).unwrap() {
        let next = due.get_or_insert(frame.time.plus_nanos(every));
        while *next < frame.time {
            watch.look(*next, &info);
            *next = next.plus_nanos(every);
        }
        watch.push(&frame);
    }
    watch
        .finish(reader.info(), &rekeyscope::assembly::Asked::of(""))
        .2
}

/// What is left behind is not missed: the next rekey is told as if it were there, also its trigger.
#[test]
fn what_is_over_can_be_left_behind() {
    let lab = lab_of_sample("l2tp_kb_modp1024_down");
    let short = Retention {
        seconds: 3.0,
        sas: 6,
        exchanges: 4,
        lately_s: 1.0,
        ..Retention::default()
    };
    let (all, told) = (watched(&lab, Retention::default()), watched(&lab, short));
    is_told(&lab.name, &analyze_lab(&lab), &told);
    let triggers = |told: &[(Timestamp, WatchEvent)]| -> Vec<_> {
        let kinds = told.iter().filter_map(|(_, event)| match &event.what {
            Occurrence::Rekey {
                trigger, initiator, ..
            } => Some((event.time, *trigger, *initiator)),
            _ => None,
        });
        kinds.collect()
    };
    assert_eq!(triggers(&told), triggers(&all));
}

/// Days are played in minutes: what is over is left behind all the same, and no rekey is missed.
#[test]
fn a_capture_played_fast_is_looked_at_by_its_own_time() {
    let lab = lab_of_sample("l2tp_kb_modp1024_down");
    let retention = Retention {
        seconds: 4.0,
        ..Retention::default()
    };
    let mut watch = LiveWatch::new(Options::default(), retention, KeyMaterial::default(), Vec::new());
    let mut reader = CaptureReader::open(&lab.capture).unwrap();
    let info = reader.info().clone();
    let mut container = Diagnostics::default();
    let mut events = Vec::new();
    let (mut looked, mut packets) = (None, 0);
    while let Some(frame) = reader.next_frame(&mut container).unwrap() {
        let time = frame.time;
        watch.push(&frame);
        packets += 1;
        let since = time.seconds_since(*looked.get_or_insert(time));
        // A quarter of what is remembered, and packets enough.
        assert_eq!(
            watch.is_due(),
            since >= 1.0 && packets >= 512,
            "{packets} in {since} s"
        );
        if watch.is_due() {
            (looked, packets) = (Some(time), 0);
            events.extend(watch.look(time, &info));
            assert!(!watch.is_due());
        }
    }
    let (last, analysis, _) = watch.finish(reader.info(), &rekeyscope::assembly::Asked::of(""));
    let whole = analyze_lab(&lab);
    let remembered = analysis.capture.duration_s.unwrap();
    assert!(remembered < 8.0, "{remembered} s");
    events.extend(last);
    let rekeys = events
        .iter()
        .filter(|event| matches!(event.what, Occurrence::Rekey { .. }));
    assert_eq!(rekeys.count(), whole.rekeys.len());
}

/// SAs that are in use cannot be left behind: where there are more of them than are remembered, the record goes on all the same, and
/// what needs seconds to be seen is told.
#[test]
fn more_sas_in_use_than_are_remembered_hide_nothing() {
    let lab = lab_of_sample("l2tp_kb_modp1024_down");
    // Half of the SAs of the capture, all of which are in use in the last minute.
    let narrow = Retention {
        sas: 7,
        ..Retention::default()
    };
    let outages = |told: &[(Timestamp, WatchEvent)]| -> Vec<Timestamp> {
        let ended = told
            .iter()
            .filter(|(_, event)| matches!(event.what, Occurrence::OutageEnded { .. }));
        ended.map(|(_, event)| event.time).collect()
    };
    let (all, told) = (watched(&lab, Retention::default()), watched(&lab, narrow));
    is_told(&lab.name, &analyze_lab(&lab), &told);
    assert_eq!(outages(&told), outages(&all));
    assert_eq!(outages(&all).len(), 2);
}

/// Packets beyond the bound of tunnels are counted on where the record begins anew, in a synthetic flood.
#[test]
fn packets_that_are_not_analysed_are_counted_on() {
    const MOST_TUNNELS: u32 = 4_096;
    const FURTHER: u32 = 300;
    let options = Options::default();
    let retention = Retention {
        seconds: 1.0,
        ..Retention::default()
    };
    let mut watch = LiveWatch::new(options, retention, KeyMaterial::default(), Vec::new());
    let frames: Vec<Vec<u8>> = (0..MOST_TUNNELS + 3 * FURTHER)
        .map(|n| {
            let esp = [&[0, 0, 0, 7, 0, 0, 0, 1][..], &[0xa5; 40]].concat();
            ipv4((0x0a00_0000 + n).to_be_bytes(), [192, 0, 2, 1], 50, &esp)
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flood.pcap");
    std::fs::write(&path, pcap_of(LINKTYPE_RAW, &frames)).unwrap();
    let mut reader = CaptureReader::open(&path).unwrap();
    let info = reader.info().clone();
    let mut container = Diagnostics::default();
    while let Some(frame) = reader.next_frame(&mut container).unwrap() {
        let (number, time) = (frame.number, frame.time);
        watch.push(&frame);
        if number > u64::from(MOST_TUNNELS) && (number - u64::from(MOST_TUNNELS)) % u64::from(FURTHER) == 0 {
            // No rekey is under way so late: what is over is left behind.
            watch.look(time.plus_nanos(20 * NANOS_PER_SECOND), &info);
        }
    }
    assert_eq!(watch.totals().not_analysed, u64::from(3 * FURTHER));
    let (_, _, totals) = watch.finish(reader.info(), &rekeyscope::assembly::Asked::of(""));
    assert_eq!(totals.not_analysed, u64::from(3 * FURTHER));
}
