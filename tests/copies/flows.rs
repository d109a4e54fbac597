//! Round trips, windows and data in flight of the document against tshark's own analysis of the packets inside.

use super::{is_installed, output_of, write_inner};
use crate::support::analyses;
use rekeyscope_model::analysis::{Flow, FlowTcp};
use std::collections::HashSet;
use std::path::Path;

/// Captures with one download each: by a full window, by what the path carries, in another tunnel.
const CAPTURES: [&str; 3] = ["l2tp_kb_modp1024_down", "acct_rwnd_down", "ikev2_gcm_kb_down"];

const FIELDS: [&str; 10] = [
    "tcp.srcport",
    "tcp.len",
    "tcp.nxtseq",
    "tcp.ack",
    "tcp.window_size",
    "tcp.analysis.initial_rtt",
    "tcp.analysis.ack_rtt",
    "tcp.analysis.bytes_in_flight",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
];

/// What tshark says of a connection.
#[derive(Default)]
struct Seen {
    /// Milliseconds.
    initial_rtt: Option<f64>,
    ack_rtts: Vec<f64>,
    window: u64,
    in_flight: u64,
    /// Most data in flight by the acknowledgements whose timestamps (ms) are below that which the sender echoes, or as much as 2 above.
    by_timestamps: [u64; 2],
}

impl Seen {
    fn of(capture: &Path, flow: &Flow) -> Seen {
        let ends = (flow.src_port.unwrap(), flow.dst_port.unwrap());
        let filter = format!("tcp.port == {} && tcp.port == {}", ends.0, ends.1);
        let fields = FIELDS.iter().flat_map(|field| ["-e", *field]);
        let mut arguments = vec!["-r", capture.to_str().unwrap(), "-Y", &filter, "-T", "fields"];
        arguments.extend(fields);
        let (mut seen, mut highest, mut again) = (Seen::default(), 1, HashSet::new());
        let mut acknowledged: Vec<(u64, u64)> = Vec::new();
        for row in output_of("tshark", &arguments).lines() {
            let fields: Vec<&str> = row.split('\t').collect();
            let number = |n: usize| fields[n].parse::<u64>().ok();
            let millis = |n: usize| fields[n].parse::<f64>().ok().map(|s| s * 1e3);
            seen.initial_rtt = seen.initial_rtt.or(millis(5));
            if number(0) != Some(u64::from(ends.0)) {
                // tshark has a sample of what was sent twice; RFC 6298 §3 has none.
                let once = |_: &f64| number(3).is_none_or(|ack| !again.contains(&ack));
                seen.ack_rtts.extend(millis(6).filter(once));
                seen.window = seen.window.max(number(4).unwrap());
                acknowledged.extend(number(8).zip(number(3)));
                continue;
            }
            seen.in_flight = seen.in_flight.max(number(7).unwrap_or(0));
            let Some(next) = number(2).filter(|_| number(1) > Some(0)) else {
                continue;
            };
            again.extend((next <= highest).then_some(next));
            highest = highest.max(next);
            for (most, later) in seen.by_timestamps.iter_mut().zip([2, -1]) {
                let echo = number(9).unwrap().saturating_add_signed(later);
                let heard = acknowledged.partition_point(|ack| ack.0 <= echo);
                let heard = acknowledged[..heard].last().map_or(1, |ack| ack.1);
                *most = (*most).max(highest - heard);
            }
        }
        seen.ack_rtts.sort_by(f64::total_cmp);
        seen
    }
}

#[test]
fn round_trips_windows_and_flights_are_those_of_tshark() {
    if !is_installed("tshark") {
        return;
    }
    let wanted = |name: &str| CAPTURES.contains(&name);
    for (lab, analysis) in analyses().iter().filter(|(lab, _)| wanted(&lab.name)) {
        let folder = tempfile::tempdir().unwrap();
        let inner = write_inner(lab, false, folder.path());
        let flow = &analysis.flows[0];
        let tcp: &FlowTcp = flow.tcp.as_ref().unwrap();
        let theirs = Seen::of(&inner, flow);
        let median = theirs.ack_rtts[theirs.ack_rtts.len() / 2];
        let (handshake, ack_rtt) = (tcp.handshake_rtt_ms.unwrap(), tcp.ack_rtt_ms.unwrap());
        println!("{}: {handshake} ms, {ack_rtt} ms, tshark {median} ms", lab.name);
        assert!(
            (handshake - theirs.initial_rtt.unwrap()).abs() <= 0.002,
            "{}",
            lab.name
        );
        assert!((ack_rtt - median).abs() <= 0.02 * median, "{}", lab.name);
        assert_eq!(tcp.largest_window_bytes, Some(theirs.window), "{}", lab.name);
        let (flight, rtt) = (tcp.largest_in_flight_bytes, tcp.rtt_ms.unwrap());
        let [low, high] = theirs.by_timestamps;
        assert!(
            (low..=high).contains(&flight),
            "{}: {low} {flight} {high}",
            lab.name
        );
        assert!(
            flight <= theirs.window,
            "{}: {flight} {}",
            lab.name,
            theirs.window
        );
        // Packets may queue before the capture, where tshark does not count them; nor what SACK names.
        assert!(
            theirs.in_flight <= flight,
            "{}: {flight} {}",
            lab.name,
            theirs.in_flight
        );
        // At least twice the receiver's half; more where packets queue before the capture.
        assert!(rtt >= 1.95 * ack_rtt, "{}: {rtt}", lab.name);
    }
}
