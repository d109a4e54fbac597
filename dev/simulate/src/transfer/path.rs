//! Limits of a transfer.

use super::random::{between, normal};
use rand_chacha::ChaCha8Rng;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};

/// Payload of a segment, bytes.
pub const SEGMENT: u64 = 1_200;
/// Interval at which a rate that wanders changes.
const STEP: i64 = 100 * NANOS_PER_MILLI;
/// Share of its place that a rate that wanders forgets with each step, whose memory is two seconds.
const FORGETS: f64 = 0.05;
/// Scatter of the logarithm of a rate that wanders.
const SCATTER: f64 = 0.25;

/// Behaviour of the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Application {
    /// The application always has something to send.
    Always,
    /// The application writes nothing for 0.1 to 1.5 s after each 2 to 5 MB.
    Pauses,
    /// 128 kB are written every half second, by the clock: what a stall delays is made up for.
    Chunks,
}

/// A path and its application.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedPath {
    /// Name in the tables.
    pub name: &'static str,
    /// Kind of its limit.
    pub kind: PathKind,
    /// Round trip without the queue, milliseconds.
    pub round_trip_ms: i64,
    /// Rate of the bottleneck, bytes a second.
    pub rate: f64,
    /// Receive window, segments.
    pub window: usize,
    /// Length of the queue before the bottleneck, segments.
    pub queue: usize,
    /// Share of the segments that are lost behind the capture.
    pub loss: f64,
    /// True where the rate of the bottleneck wanders.
    pub wanders: bool,
    /// Behaviour of the application.
    pub application: Application,
}

/// Kinds of paths, by what limits a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathKind {
    /// Rate of the bottleneck, always.
    Even,
    /// The receive window: a burst each round trip.
    Window,
    /// Queue before the bottleneck, which overflows now and then.
    Queue,
    /// Random losses.
    Loss,
    /// The application.
    Application,
    /// A bottleneck whose rate wanders.
    Wandering,
}

const fn megabits(rate: u32) -> f64 {
    rate as f64 * 1e6 / 8.0
}

/// A window that nothing reaches.
const WIDE: usize = 4_096;

const fn path(name: &'static str, kind: PathKind, round_trip_ms: i64, mbits: u32) -> SimulatedPath {
    SimulatedPath {
        name,
        kind,
        round_trip_ms,
        rate: megabits(mbits),
        window: WIDE,
        queue: WIDE,
        loss: 0.0,
        wanders: false,
        application: Application::Always,
    }
}

/// A path whose window fills it and a part of the queue, so that the bottleneck never rests and nothing is lost.
const fn even(name: &'static str, round_trip_ms: i64, window: usize) -> SimulatedPath {
    SimulatedPath {
        window,
        ..path(name, PathKind::Even, round_trip_ms, 8)
    }
}

/// A path with a window of 64 kB.
const fn window(name: &'static str, round_trip_ms: i64) -> SimulatedPath {
    SimulatedPath {
        window: 54,
        ..path(name, PathKind::Window, round_trip_ms, 100)
    }
}

const fn queue(name: &'static str, round_trip_ms: i64) -> SimulatedPath {
    SimulatedPath {
        queue: 50,
        ..path(name, PathKind::Queue, round_trip_ms, 8)
    }
}

const fn losing(name: &'static str, loss: f64, round_trip_ms: i64) -> SimulatedPath {
    SimulatedPath {
        loss,
        queue: 200,
        ..path(name, PathKind::Loss, round_trip_ms, 40)
    }
}

const fn writing(name: &'static str, application: Application) -> SimulatedPath {
    SimulatedPath {
        application,
        window: 54,
        ..path(name, PathKind::Application, 40, 8)
    }
}

/// The paths of the calibration.
pub const PATHS: [SimulatedPath; 21] = [
    even("even, 20 ms", 20, 40),
    even("even, 60 ms", 60, 80),
    even("even, 150 ms", 150, 150),
    window("window, 20 ms", 20),
    window("window, 60 ms", 60),
    window("window, 150 ms", 150),
    window("window, 300 ms", 300),
    queue("queue, 20 ms", 20),
    queue("queue, 60 ms", 60),
    losing("loss 0.05 %, 20 ms", 0.0005, 20),
    losing("loss 0.05 %, 60 ms", 0.0005, 60),
    losing("loss 0.05 %, 150 ms", 0.0005, 150),
    losing("loss 0.2 %, 20 ms", 0.002, 20),
    losing("loss 0.2 %, 60 ms", 0.002, 60),
    losing("loss 0.2 %, 150 ms", 0.002, 150),
    losing("loss 1 %, 20 ms", 0.01, 20),
    losing("loss 1 %, 60 ms", 0.01, 60),
    losing("loss 1 %, 150 ms", 0.01, 150),
    writing("application pauses", Application::Pauses),
    writing("application writes chunks", Application::Chunks),
    SimulatedPath {
        queue: 60,
        window: 120,
        wanders: true,
        ..path("rate wanders", PathKind::Wandering, 40, 8)
    },
];

impl SimulatedPath {
    /// Round trip, nanoseconds.
    pub(super) fn round_trip(&self) -> i64 {
        self.round_trip_ms * NANOS_PER_MILLI
    }
}

/// The rate of the bottleneck over time.
#[derive(Debug)]
pub(super) struct Bottleneck {
    rate: f64,
    /// Factors of the rate, one a step; none where it never changes.
    factors: Vec<f64>,
}

impl Bottleneck {
    pub(super) fn new(path: &SimulatedPath, length: i64, random: &mut ChaCha8Rng) -> Self {
        let steps = if path.wanders { length / STEP + 1 } else { 0 };
        let mut logarithm = SCATTER * normal(random);
        let mut step = |_| {
            logarithm = logarithm * (1.0 - FORGETS) + SCATTER * (2.0 * FORGETS).sqrt() * normal(random);
            logarithm.exp()
        };
        Bottleneck {
            rate: path.rate,
            factors: (0..steps).map(&mut step).collect(),
        }
    }

    /// Transmission time of a segment, nanoseconds.
    pub(super) fn takes(&self, at: i64) -> i64 {
        let step = usize::try_from(at / STEP).unwrap_or(0);
        let factor = self.factors.get(step).or(self.factors.last()).unwrap_or(&1.0);
        (SEGMENT as f64 / (self.rate * factor) * NANOS_PER_SECOND as f64) as i64
    }
}

/// Times at which the application has something to send.
#[derive(Debug)]
pub(super) struct Writes {
    /// Moments, and the number of segments that have been written by each.
    by_clock: Vec<(i64, u64)>,
    /// Segments before which the application pauses, and the length of each pause.
    pauses: Vec<(u64, i64)>,
    /// Index of the pause that goes on, or of the next one, and the time at which it is over.
    pause: usize,
    over: Option<i64>,
}

impl Writes {
    pub(super) fn new(path: &SimulatedPath, length: i64, random: &mut ChaCha8Rng) -> Self {
        let (mut by_clock, mut pauses) = (Vec::new(), Vec::new());
        match path.application {
            Application::Always => {}
            Application::Pauses => {
                let most = (path.rate * length as f64 / NANOS_PER_SECOND as f64) as u64 / SEGMENT;
                let mut segment = 0;
                while segment < most {
                    segment += between(random, (2e6, 5e6)) as u64 / SEGMENT;
                    let seconds = between(random, (0.1, 1.5));
                    pauses.push((segment, (seconds * NANOS_PER_SECOND as f64) as i64));
                }
            }
            Application::Chunks => {
                let times = (0..).map(|k| k * NANOS_PER_SECOND / 2);
                let chunks = (1..).map(|k| k * (128_000 / SEGMENT));
                by_clock = times.take_while(|at| *at < length).zip(chunks).collect();
            }
        }
        Writes {
            by_clock,
            pauses,
            pause: 0,
            over: None,
        }
    }

    /// Whether the sender may send segment `next` for the first time.
    pub(super) fn has(&mut self, at: i64, next: u64) -> bool {
        if let Some((_, length)) = self.pauses.get(self.pause).filter(|pause| pause.0 == next) {
            let over = *self.over.get_or_insert(at + length);
            if at < over {
                return false;
            }
            (self.pause, self.over) = (self.pause + 1, None);
        }
        let k = self.by_clock.partition_point(|write| write.0 <= at);
        let written = k.checked_sub(1).and_then(|k| self.by_clock.get(k));
        self.by_clock.is_empty() || written.is_some_and(|write| next < write.1)
    }

    /// The next moment at which there may be more to send.
    pub(super) fn wakes(&self, at: i64) -> Option<i64> {
        let write = self
            .by_clock
            .get(self.by_clock.partition_point(|write| write.0 <= at));
        self.over.filter(|over| *over > at).or(write.map(|write| write.0))
    }
}
