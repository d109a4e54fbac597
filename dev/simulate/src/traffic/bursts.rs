//! Makes synthetic traffic that comes in bursts: a window per round trip, or what an application writes at a time.
//!
//! Every flow sends its bytes at the line's rate, then waits. A rekey switches with the first packet after its exchange, so always
//! behind a silence; by volume it also begins within a burst, with an exchange of one and a half round trips.

use crate::traffic::random::{between, normal, unit};
use crate::traffic::synthesis::{BASE_BIN_S, EXCHANGE_S, LEAD_S, STALL_SPREAD, Simulated, TAIL_SHARE};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rekeyscope_impact::{Gap, ProvenEffect, RekeyMoment, Start, Traffic};
use rekeyscope_model::time::Timestamp;

/// Payload of every packet, bytes.
const PACKET: f64 = 1448.0;
/// Packets of a window of 64 kB.
pub(crate) const WINDOW_PACKETS: u32 = 45;
/// A packet takes this long on the line, seconds: 100 Mbit/s.
const PACKET_S: f64 = PACKET / 12_500_000.0;
/// Rekeys by volume come this often, seconds: each run draws its own.
const INTERVAL_S: (f64, f64) = (3.3, 4.3);
/// An exchange that is bound to the round trip takes so many of them, and this long, seconds, for the answers.
const ROUND_TRIPS: f64 = 1.5;
/// What an application writes is further apart than its round trip, seconds.
const MOST_ROUND_TRIP_S: f64 = 0.25;
const ANSWERS_S: (f64, f64) = (0.002, 0.005);
/// Jitter is cut at this share of the period.
const MOST_JITTER: f64 = 0.5;

/// How the period changes over the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathChange {
    /// Not at all.
    Steady,
    /// It doubles in the middle.
    Step,
    /// It grows by a half.
    Drift,
}

/// What to simulate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurstScenario {
    /// From burst to burst, seconds: the round trip, or how often the application writes.
    pub period_s: f64,
    /// Standard deviation of that, seconds.
    pub jitter_s: f64,
    /// Packets of a burst.
    pub packets: u32,
    /// Flows.
    pub flows: usize,
    /// How the period changes.
    pub change: PathChange,
    /// Rekeys begin within a burst, by volume, and take so many round trips; else they begin at any time, by age.
    pub locked: bool,
    /// The exchanges are seen.
    pub ike: bool,
    /// Rekeys, about.
    pub rekeys: usize,
    /// Mean planted stall per rekey, seconds (0: no effect): the bursts stand still so long.
    pub stall_s: f64,
    /// Every how many-th rekey stalls (1: all of them).
    pub every: usize,
}

/// Simulates one run; the same seed gives the same run.
pub fn simulate_bursts(scenario: &BurstScenario, seed: u64) -> Simulated {
    BurstSource::new(*scenario, seed).run()
}

/// A rekey under way: when it began, when it may switch, when its planted silence begins, and how long that is.
struct BurstExchange {
    started_s: f64,
    ready_s: f64,
    silence_s: Option<f64>,
    stall_s: f64,
}

struct BurstSource {
    scenario: BurstScenario,
    rng: ChaCha8Rng,
    interval_s: f64,
    end_s: f64,
    /// Next burst of every flow.
    next_s: Vec<f64>,
    packets: Vec<f64>,
    /// Carried by the current SA, bytes.
    carried: f64,
    /// Start of the current SA.
    since_s: f64,
    current: Option<BurstExchange>,
    rekeys: Vec<RekeyMoment>,
    stalls_s: Vec<f64>,
}

impl BurstSource {
    fn new(scenario: BurstScenario, seed: u64) -> BurstSource {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let interval_s = between(&mut rng, INTERVAL_S);
        let next_s = (0..scenario.flows)
            .map(|_| scenario.period_s * unit(&mut rng))
            .collect();
        BurstSource {
            scenario,
            rng,
            interval_s,
            end_s: LEAD_S + (scenario.rekeys as f64 + TAIL_SHARE) * interval_s,
            next_s,
            packets: Vec::new(),
            carried: 0.0,
            since_s: LEAD_S,
            current: None,
            rekeys: Vec::new(),
            stalls_s: Vec::new(),
        }
    }

    fn run(mut self) -> Simulated {
        let mut line_s = 0.0_f64;
        while let Some(flow) = self.first_flow() {
            let begin_s = self.next_s[flow];
            if begin_s >= self.end_s {
                break;
            }
            if self.is_halted(begin_s) {
                continue;
            }
            for _ in 0..self.scenario.packets {
                line_s = line_s.max(begin_s) + PACKET_S;
                self.packet(line_s);
            }
            let jitter = (self.scenario.jitter_s * normal(&mut self.rng)).clamp(-1.0, 1.0);
            let period_s = self.period_s(begin_s);
            self.next_s[flow] =
                begin_s + period_s + jitter.clamp(-MOST_JITTER * period_s, MOST_JITTER * period_s);
        }
        self.simulated()
    }

    fn first_flow(&self) -> Option<usize> {
        (0..self.next_s.len()).min_by(|&a, &b| self.next_s[a].total_cmp(&self.next_s[b]))
    }

    fn period_s(&self, at: f64) -> f64 {
        let share = at / self.end_s;
        self.scenario.period_s
            * match self.scenario.change {
                PathChange::Steady => 1.0,
                PathChange::Step => {
                    if share < 0.5 {
                        1.0
                    } else {
                        2.0
                    }
                }
                PathChange::Drift => 1.0 + share / 2.0,
            }
    }

    /// Whether a planted silence comes before the burst at `begin_s`: it then moves all of them.
    fn is_halted(&mut self, begin_s: f64) -> bool {
        self.begin_by_age(begin_s);
        let due = self
            .current
            .as_mut()
            .filter(|e| e.silence_s.is_some_and(|s| s <= begin_s));
        let stall_s = due.map_or(0.0, |exchange| {
            exchange.silence_s = None;
            exchange.stall_s
        });
        self.next_s.iter_mut().for_each(|next_s| *next_s += stall_s);
        stall_s > 0.0
    }

    fn packet(&mut self, at: f64) {
        self.packets.push(at);
        self.begin_by_age(at);
        if let Some(exchange) = self.current.take_if(|e| at >= e.ready_s && e.silence_s.is_none()) {
            self.rekeys.push(RekeyMoment {
                index: self.rekeys.len(),
                start: if self.scenario.ike {
                    Start::Message(exchange.started_s)
                } else {
                    Start::Unseen { first_switch_s: at }
                },
                switched_s: at,
                proven: ProvenEffect::Nothing,
            });
            self.stalls_s.push(exchange.stall_s);
            (self.carried, self.since_s) = (0.0, at);
        }
        if at >= LEAD_S {
            self.carried += PACKET;
        }
        let burst = f64::from(self.scenario.packets) * PACKET * self.scenario.flows as f64;
        let volume = burst * self.interval_s / self.scenario.period_s;
        if self.scenario.locked && self.current.is_none() && self.carried >= volume {
            let answers_s = between(&mut self.rng, ANSWERS_S);
            self.begin(
                at,
                ROUND_TRIPS * self.period_s(at).min(MOST_ROUND_TRIP_S) + answers_s,
            );
        }
    }

    fn begin_by_age(&mut self, at: f64) {
        let due_s = self.since_s + self.interval_s - f64::midpoint(EXCHANGE_S.0, EXCHANGE_S.1);
        if !self.scenario.locked && self.current.is_none() && at >= due_s {
            let length_s = between(&mut self.rng, EXCHANGE_S);
            self.begin(due_s, length_s);
        }
    }

    fn begin(&mut self, at: f64, length_s: f64) {
        let stalls =
            self.scenario.stall_s > 0.0 && self.rekeys.len().is_multiple_of(self.scenario.every.max(1));
        let spread = 1.0 + STALL_SPREAD * (2.0 * unit(&mut self.rng) - 1.0);
        let silence_s = at + length_s * unit(&mut self.rng);
        self.current = Some(BurstExchange {
            started_s: at,
            ready_s: at + length_s,
            silence_s: stalls.then_some(silence_s),
            stall_s: if stalls {
                self.scenario.stall_s * spread
            } else {
                0.0
            },
        });
    }

    fn simulated(self) -> Simulated {
        let mut bytes = vec![0_u32; (self.end_s / BASE_BIN_S) as usize];
        for at in &self.packets {
            if let Some(bin) = bytes.get_mut((at / BASE_BIN_S) as usize) {
                *bin += PACKET as u32;
            }
        }
        let gap = |p: &[f64]| Gap {
            start_s: p[0],
            end_s: p[1],
        };
        let gaps: Vec<Gap> = self.packets.windows(2).map(gap).collect();
        Simulated {
            traffic: Traffic {
                start: Timestamp(0),
                base_bin_s: BASE_BIN_S,
                bytes,
                gaps_total: gaps.len() as u64,
                holes: Vec::new(),
                gaps,
            },
            rekeys: self.rekeys,
            stalls_s: self.stalls_s,
        }
    }
}
