//! An upload fills the client's uplink: whatever else the client sends waits in the same queue, acknowledgements of a download and IKE alike.
//!
//! Here alone both senders decide by what they hear: windows, acknowledgements and timers go over a path with one queue.

use crate::support::analyze_world;
use rekeyscope_impact::explain::names_renewal;
use rekeyscope_model::analysis::{Analysis, Direction};
use rekeyscope_report::words::answer_lines;
use rekeyscope_testkit::scenario::{ChildRekey, MILLI, SEGMENT, Sa, World};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// One way of the path without a queue.
const WAY: u64 = 10 * MILLI;
/// Bits a second, to the server and to the client.
const RATES: [u64; 2] = [2_000_000, 20_000_000];
/// Segments that each sender has in flight: 200 of them fill the uplink for 1.1 s.
const WINDOW: u32 = 200;
/// Segments before the first acknowledgement (RFC 6928).
const INITIAL_WINDOW: u32 = 10;
const DELAYED_ACK: u64 = 40 * MILLI;
/// Bytes of the headers around a segment, and of a CREATE_CHILD_SA.
const HEADERS: u64 = 110;
const IKE: u64 = 250;
const UPLOAD_BEGINS: u64 = 4_000 * MILLI;
const END: u64 = 20_400 * MILLI;

/// What is played, beside a download that begins at once.
#[derive(Clone, Copy)]
struct Shared {
    /// The capture stands at the client, before the queue; else at the server.
    at_client: bool,
    /// The upload goes past the tunnel.
    outside: bool,
    /// When the client asks for new SAs, milliseconds.
    rekeys: &'static [u64],
    /// How long the client does not take what comes on a new SA, milliseconds.
    unready: u64,
}

/// The two connections.
const DOWNLOAD: usize = 0;
const UPLOAD: usize = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sent {
    /// A segment of a connection.
    Data(usize, u32),
    /// All segments before this one have arrived.
    Ack(usize, u32),
    /// A message of a rekey: request, answer, and a packet that tells the server to go over.
    Ike(usize, u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A packet passes the capture, to the server or not, on the SA of this number.
    Passes(Sent, bool, usize),
    Arrives(Sent, bool, usize),
    Timer(usize, u64),
    DelayedAck(usize, u32),
    Rekey,
}

#[derive(Default, Clone)]
struct Connection {
    next: u32,
    acknowledged: u32,
    window: u32,
    /// What the receiver has in order, and beyond.
    received: u32,
    beyond: BTreeSet<u32>,
    timer: u64,
    backoff: u32,
    /// A segment whose acknowledgement is waited for, and when it was sent; the smoothed round trip and its variation.
    sampled: Option<(u32, u64)>,
    round_trip: (u64, u64),
    /// Next segment and window before a timer that a late acknowledgement shows to have been too short (RFC 4015).
    undo: Option<(u32, u32)>,
}

struct Path {
    how: Shared,
    w: World,
    begin: u64,
    now: u64,
    steps: BinaryHeap<Reverse<(u64, usize, Step)>>,
    count: usize,
    /// When the link of each way is free.
    free: [u64; 2],
    connections: [Connection; 2],
    /// SAs of each way, the one in use, and since when the client has had the newest.
    sas: [Vec<Sa>; 2],
    in_use: [usize; 2],
    had_since: u64,
    rekeys: Vec<ChildRekey>,
}

impl Path {
    fn at(&mut self, time: u64, step: Step) {
        self.count += 1;
        self.steps.push(Reverse((time, self.count, step)));
    }

    fn send(&mut self, sent: Sent, to_server: bool) {
        let bytes = match sent {
            Sent::Data(..) => SEGMENT as u64 + HEADERS,
            Sent::Ack(..) => HEADERS,
            Sent::Ike(..) => IKE,
        };
        let way = usize::from(!to_server);
        self.free[way] = self.now.max(self.free[way]) + bytes * 8_000 * MILLI / RATES[way];
        let arrives = self.free[way] + WAY;
        let passes = if self.how.at_client == to_server {
            self.now
        } else {
            arrives
        };
        let sa = self.in_use[way];
        self.at(passes, Step::Passes(sent, to_server, sa));
        self.at(arrives, Step::Arrives(sent, to_server, sa));
    }

    fn passes(&mut self, sent: Sent, to_server: bool, sa: usize) {
        if self.how.outside && matches!(sent, Sent::Data(UPLOAD, _) | Sent::Ack(UPLOAD, _)) {
            return;
        }
        let (len, way) = (SEGMENT as u32, usize::from(!to_server));
        let w = &mut self.w;
        w.now = self.begin + self.now;
        let in_use = if to_server { &mut w.up } else { &mut w.down };
        *in_use = self.sas[way][sa];
        match sent {
            Sent::Data(DOWNLOAD, n) => w.resend(1_000 + n * len),
            Sent::Data(_, n) => w.upload_at(n * len),
            Sent::Ack(DOWNLOAD, n) => w.ack(1_000 + n * len, 0xffff),
            Sent::Ack(_, n) => w.acknowledge_upload(n * len),
            Sent::Ike(rekey, 0 | 1) => w.message_v2(&mut self.rekeys[rekey]),
            Sent::Ike(..) => {}
        }
        self.sas[way][sa] = if to_server { w.up } else { w.down };
    }

    /// Sends what the window allows.
    fn fill(&mut self, of: usize) {
        loop {
            let own = &mut self.connections[of];
            if own.next >= own.acknowledged + own.window {
                break;
            }
            let n = own.next;
            own.next += 1;
            own.sampled.get_or_insert((n, self.now));
            self.send(Sent::Data(of, n), of == UPLOAD);
        }
        let own = &mut self.connections[of];
        own.timer += 1;
        let (smoothed, varies) = own.round_trip;
        let timeout = (smoothed + (4 * varies).max(200 * MILLI)) << own.backoff;
        let timer = Step::Timer(of, own.timer);
        self.at(self.now + timeout, timer);
    }

    fn acknowledged(&mut self, of: usize, n: u32) {
        let own = &mut self.connections[of];
        let Some(new) = n.checked_sub(own.acknowledged).filter(|new| *new > 0) else {
            return;
        };
        if let Some((next, window)) = own.undo.take() {
            (own.next, own.window) = (next, window);
        }
        own.acknowledged = n;
        own.next = own.next.max(n);
        own.backoff = 0;
        own.window = WINDOW.min(own.window + new);
        if let Some((_, sent)) = own.sampled.take_if(|(sampled, _)| *sampled < n) {
            let (took, (smoothed, varies)) = (self.now - sent, own.round_trip);
            own.round_trip = match smoothed {
                0 => (took, took / 2),
                _ => (
                    (7 * smoothed + took) / 8,
                    (3 * varies + took.abs_diff(smoothed)) / 4,
                ),
            };
        }
        self.fill(of);
    }

    /// The timer ends: the oldest segment is sent again.
    fn repeat(&mut self, of: usize) {
        let own = &mut self.connections[of];
        if own.next == own.acknowledged {
            return;
        }
        // Timestamps tell an acknowledgement of the first copy from that of the second (RFC 7323), and so how long it took.
        match own.received > own.acknowledged {
            true => _ = own.undo.get_or_insert((own.next, own.window)),
            false => own.sampled = None,
        }
        (own.next, own.window) = (own.acknowledged, 1);
        own.backoff += 1;
        self.fill(of);
    }

    fn arrives(&mut self, sent: Sent, to_server: bool, sa: usize) {
        let is_new = sa + 1 == self.sas[1].len() && sa > 0;
        if !to_server && is_new && self.now < self.had_since + self.how.unready * MILLI {
            return;
        }
        match sent {
            Sent::Data(of, n) => {
                let own = &mut self.connections[of];
                let in_order = n == own.received && own.beyond.is_empty();
                if n >= own.received {
                    own.beyond.insert(n);
                }
                while own.beyond.remove(&own.received) {
                    own.received += 1;
                }
                let received = own.received;
                if in_order && !received.is_multiple_of(2) {
                    self.at(self.now + DELAYED_ACK, Step::DelayedAck(of, received));
                } else {
                    self.send(Sent::Ack(of, received), !to_server);
                }
            }
            Sent::Ack(of, n) => self.acknowledged(of, n),
            Sent::Ike(rekey, 0) => self.send(Sent::Ike(rekey, 1), false),
            Sent::Ike(rekey, 1) => {
                self.go_over(self.rekeys[rekey].up, true);
                self.send(Sent::Ike(rekey, 2), true);
            }
            Sent::Ike(rekey, _) => {
                self.go_over(self.rekeys[rekey].down, false);
                self.had_since = self.now;
            }
        }
    }

    fn go_over(&mut self, spi: u32, to_server: bool) {
        let way = usize::from(!to_server);
        self.in_use[way] = self.sas[way].len();
        self.sas[way].push(Sa::new(spi));
    }

    fn play(mut self) -> World {
        for at in self.how.rekeys {
            self.at(at * MILLI, Step::Rekey);
        }
        self.fill(DOWNLOAD);
        self.at(UPLOAD_BEGINS, Step::Timer(UPLOAD, 0));
        while let Some(Reverse((time, _, step))) = self.steps.pop()
            && time < END
        {
            self.now = time;
            match step {
                Step::Passes(sent, to_server, sa) => self.passes(sent, to_server, sa),
                Step::Arrives(sent, to_server, sa) => self.arrives(sent, to_server, sa),
                Step::Timer(of, 0) => self.fill(of),
                Step::Timer(of, timer) if timer == self.connections[of].timer => self.repeat(of),
                Step::DelayedAck(of, n) if n == self.connections[of].received => {
                    self.send(Sent::Ack(of, n), of == DOWNLOAD);
                }
                Step::Rekey => {
                    let rekey = self.w.begin_v2(true);
                    self.rekeys.push(rekey);
                    self.send(Sent::Ike(self.rekeys.len() - 1, 0), true);
                }
                Step::Timer(..) | Step::DelayedAck(..) => {}
            }
        }
        self.w
    }
}

fn shared_uplink(how: Shared) -> Analysis {
    let w = World::new();
    let connection = Connection {
        window: INITIAL_WINDOW,
        round_trip: (0, 250 * MILLI),
        ..Connection::default()
    };
    let path = Path {
        how,
        begin: w.now,
        now: 0,
        steps: BinaryHeap::new(),
        count: 0,
        free: [0; 2],
        connections: [connection.clone(), connection],
        sas: [vec![w.up], vec![w.down]],
        in_use: [0; 2],
        had_since: 0,
        rekeys: Vec::new(),
        w,
    };
    analyze_world(path.play(), true)
}

/// ```text
/// client ──▶ [queue of the uplink, 1.1 s] ──▶ server   an upload, acknowledgements of a download, a request for new SAs
/// client ◀══════════════════════════════════ server    a window of the download each 1.1 s
/// ```
///
/// The renewal takes as long as any acknowledgement then.
#[test]
fn a_rekey_whose_request_waits_in_a_full_uplink_holds_nothing_up() {
    let how = Shared {
        at_client: false,
        outside: false,
        rekeys: &[4_600, 9_000],
        unready: 0,
    };
    // Captured where the queue is, acknowledgements seem to leave at once; then only the same silences beside a rekey tell.
    let at_client = Shared {
        at_client: true,
        outside: true,
        rekeys: &[8_000, 12_000],
        ..how
    };
    let inside = |rekeys| Shared {
        outside: false,
        rekeys,
        ..at_client
    };
    for how in [
        how,
        at_client,
        inside(&[8_000, 12_000]),
        inside(&[4_600, 9_000]),
        inside(&[5_000, 9_000]),
    ] {
        let analysis = shared_uplink(how);
        let download = analysis.ledger_of(0, Direction::BToA).unwrap();
        assert_eq!(analysis.rekeys.len(), 2);
        assert_eq!(download.rekeys, [], "{:?}", answer_lines(&analysis));
        let mut explained = analysis.outages.iter().flat_map(|outage| &outage.explanation);
        let blamed = explained.find(|explanation| names_renewal(explanation.cause));
        assert_eq!(blamed, None, "{:?}", answer_lines(&analysis));
    }
}

/// The client takes what comes on its new SA half a second late.
#[test]
fn a_rekey_that_holds_data_up_beside_a_full_uplink_is_told() {
    let analysis = shared_uplink(Shared {
        at_client: false,
        outside: false,
        rekeys: &[9_000],
        unready: 500,
    });
    let download = analysis.ledger_of(0, Direction::BToA).unwrap();
    assert_eq!(download.rekeys.len(), 1, "{:?}", answer_lines(&analysis));
}
