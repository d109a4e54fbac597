//! Reads a capture with the tracker: says where tshark's `tcp.analysis` sees a packet otherwise, and when nothing was delivered. `run`
//! makes the tables.
//!
//! All that differs in the lab's twelve captures (200,425 packets) and the nine of the reports (18,163), with tshark 4.0.17:
//!
//! | here | tshark | lab | reports | who is right |
//! |---|---|---|---|---|
//! | retransmission | out of order | 242 | 101 | here: its ESP number is higher than that of the packet that left the gap, and identification, timestamp or a round trip between them agree; tshark takes what comes within 3 ms or a round trip of the last segment for reordered |
//! | retransmission | keep-alive | 2 | 2 | here: one byte of data (iperf3's control connection) with PSH |
//! | late | spurious retransmission | 0 | 35 | here: originals of `replay` with lower ESP numbers, behind their own retransmissions |
#![allow(clippy::print_stdout, reason = "it is a program")]

use rekeyscope_lab::tables::{LabCapture, Theirs, read};
use rekeyscope_model::analysis::{Certainty, Event, EventKind};
use rekeyscope_traffic::{Fate, Interval, Outages, Segment, SegmentKind, ShownBy, StandstillKind, Tracker};
use std::collections::BTreeMap;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [outer, inner, rest @ ..] = words.as_slice() else {
        return Err(std::io::Error::other("usage: tracker OUTER.tsv INNER.tsv [-v]"));
    };
    let verbose = rest.iter().any(|word| word == "-v");
    let capture = read(outer, inner)?;
    let (mut tracker, mut outages) = (Tracker::default(), Outages::default());
    let (mut fates, mut differ) = (BTreeMap::new(), BTreeMap::<_, Vec<Segment>>::new());
    for (packet, theirs) in &capture.packets {
        let segment = tracker.push(packet);
        outages.take(packet, &segment, &tracker);
        for settled in tracker.settled() {
            let fate = match settled.fate {
                Fate::Superfluous { .. } => "Superfluous".to_owned(),
                fate => format!("{fate:?}"),
            };
            *fates.entry(fate).or_insert(0) += 1;
        }
        let class = (format!("{:?}", segment.kind), format!("{theirs:?}"));
        if !agree(&segment, *theirs) {
            differ.entry(class).or_default().push(segment);
        }
    }
    println!("{inner}: {} packets, {fates:?}", capture.packets.len());
    for ((ours, theirs), list) in differ {
        let frames: Vec<u64> = list.iter().map(|segment| segment.frame).take(8).collect();
        println!("  {} {ours}, tshark {theirs}: frames {frames:?}", list.len());
        if verbose {
            list.iter()
                .take(8)
                .for_each(|segment| println!("    {segment:?}"));
        }
    }
    for interval in outages.intervals(&tracker, &events(&capture), capture.last) {
        print(&capture, &interval);
    }
    Ok(())
}

fn print(capture: &LabCapture, interval: &Interval) {
    let seconds = |time: rekeyscope_model::time::Timestamp| time.seconds_since(capture.first);
    let facts = interval.facts.undelivered;
    let name = match interval.facts.kind {
        StandstillKind::Outage => "outage",
        StandstillKind::ShortOutage => "short",
        StandstillKind::Loss => "loss",
        StandstillKind::Rest => "rest",
        StandstillKind::Unseen => "unseen",
    };
    let (pair, direction) = (interval.facts.pair.0, interval.facts.direction);
    print!(
        "  {name} pair {pair} {direction:?} {:.3}–{:.3} s",
        seconds(interval.from),
        seconds(interval.to)
    );
    if facts.shown_by != ShownBy::Nothing {
        let dead = facts
            .dead
            .map(|(from, to)| format!(" dead {:.3}–{:.3}", seconds(from), seconds(to)));
        print!(
            " {:?} {:?} swallowed {} unheard {} attempts {} echoes {}{}{}",
            facts.carried,
            facts.shown_by,
            facts.swallowed,
            facts.unheard,
            facts.attempts,
            facts.echoes,
            dead.unwrap_or_default(),
            if facts.open { " open" } else { "" }
        );
    }
    println!();
}

/// Events that IKE messages show in clear: INVALID-SPI, another IKE SA, and in IKEv2 the kind of the first payload inside (42: Delete) and
/// whether a later message carries the same cookies.
fn events(capture: &LabCapture) -> Vec<Event> {
    let (mut all, mut known) = (Vec::new(), std::collections::HashSet::new());
    for (k, (time, frame, fields)) in capture.messages.iter().enumerate() {
        let [cookie, exchange, payloads, notify, ..] = fields.as_slice() else {
            continue;
        };
        let ends = !capture.messages[k + 1..]
            .iter()
            .any(|(_, _, later)| later[0] == *cookie && later[1] != "37");
        let kind = if notify.split(',').any(|kind| kind == "11") {
            EventKind::InvalidSpi
        } else if known.insert(cookie.clone()) && known.len() > 1 {
            EventKind::NewIkeSa
        } else if exchange == "37" && payloads.split(',').any(|kind| kind == "42") && ends {
            EventKind::IkeSaDeleted
        } else {
            continue;
        };
        all.push(Event::at(kind, Certainty::Read, *time, *frame));
    }
    all
}

/// Both say the same.
fn agree(segment: &Segment, theirs: Theirs) -> bool {
    match segment.kind {
        SegmentKind::Retransmission => matches!(theirs, Theirs::Retransmission | Theirs::Spurious),
        SegmentKind::Late => theirs == Theirs::OutOfOrder,
        SegmentKind::KeepAlive => theirs == Theirs::KeepAlive,
        SegmentKind::WindowProbe => theirs == Theirs::WindowProbe,
        _ => matches!(theirs, Theirs::InOrder | Theirs::LostSegment),
    }
}
