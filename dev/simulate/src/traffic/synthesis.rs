//! Makes the synthetic traffic.
//!
//! The rate is R·exp(x(t)) with x an Ornstein–Uhlenbeck process of standard deviation σ; packets of one size are sent as
//! the bytes accrue. Optional natural pauses begin at random and last 20 ms·Pareto(1.5), a heavy tail. A rekey begins
//! when an SA has carried its volume (so it falls preferentially in fast moments, as real ones do) or when it has
//! reached its age, and ends after an exchange of 0.1 to 0.4 s.

use crate::traffic::random::{normal, unit};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rekeyscope_impact::{Gap, ProvenEffect, RekeyMoment, Start, Traffic};
use rekeyscope_model::time::Timestamp;

/// Base bin of the synthetic series, seconds.
pub(super) const BASE_BIN_S: f64 = 0.005;
/// Payload of every packet, bytes.
const PACKET: f64 = 1250.0;
/// Mean rate of the synthetic traffic, bytes per second (10 Mbit/s: a packet per millisecond).
const RATE: f64 = 1_250_000.0;
/// Shortest natural pause, seconds, and the index of its Pareto tail.
const PAUSE: (f64, f64) = (0.02, 1.5);
/// Exchanges last between these, uniformly, seconds.
pub(super) const EXCHANGE_S: (f64, f64) = (0.1, 0.4);
/// Planted stalls differ by this share of their mean either way, uniformly.
pub(super) const STALL_SPREAD: f64 = 0.2;
/// Slow start, which the method leaves out, and what follows the last rekey as a share of the interval.
pub(super) const LEAD_S: f64 = 1.0;
pub(super) const TAIL_SHARE: f64 = 0.8;

/// What to simulate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scenario {
    /// Standard deviation of the logarithm of the rate.
    pub sigma: f64,
    /// Correlation time of the rate, seconds.
    pub correlation_s: f64,
    /// Mean distance of rekeys, seconds.
    pub interval_s: f64,
    /// Rekeys; one more or less where traffic runs fast or slow.
    pub rekeys: usize,
    /// Natural pauses per second (0: none).
    pub pauses_per_s: f64,
    /// Mean planted stall per rekey, seconds (0: no effect).
    pub stall_s: f64,
    /// Every how many-th rekey stalls (1: all of them).
    pub every: usize,
    /// Rekeys come by age instead of volume.
    pub by_time: bool,
}

/// Synthetic traffic with its rekeys.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// The series.
    pub traffic: Traffic,
    /// The rekeys.
    pub rekeys: Vec<RekeyMoment>,
    /// Planted stall of each rekey, seconds.
    pub stalls_s: Vec<f64>,
}

/// Simulates one run; the same seed gives the same run.
pub fn simulate(scenario: &Scenario, seed: u64) -> Simulated {
    SyntheticSource::new(*scenario, seed).run()
}

struct SyntheticSource {
    scenario: Scenario,
    rng: ChaCha8Rng,
    /// x(t).
    log_rate: f64,
    /// Bytes accrued and not yet sent.
    credit: f64,
    packets: Vec<f64>,
    /// Carried by the current SA, bytes.
    carried: f64,
    /// Start of the current SA.
    since_s: f64,
    /// No packet before this.
    silent_until_s: f64,
    next_pause_s: f64,
    /// The rekey under way.
    current: Option<SimulatedExchange>,
    rekeys: Vec<RekeyMoment>,
    stalls_s: Vec<f64>,
}

/// A rekey under way: when it began, when it is to switch, when its planted silence begins, and how long that is.
struct SimulatedExchange {
    started_s: f64,
    ready_s: f64,
    silence_s: Option<f64>,
    stall_s: f64,
}

impl SyntheticSource {
    fn new(scenario: Scenario, seed: u64) -> SyntheticSource {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let log_rate = scenario.sigma * normal(&mut rng);
        let mut generator = SyntheticSource {
            scenario,
            rng,
            log_rate,
            credit: 0.0,
            packets: Vec::new(),
            carried: 0.0,
            since_s: LEAD_S,
            silent_until_s: 0.0,
            next_pause_s: 0.0,
            current: None,
            rekeys: Vec::new(),
            stalls_s: Vec::new(),
        };
        generator.next_pause_s = generator.wait_for_pause();
        generator
    }

    fn run(mut self) -> Simulated {
        let interval = self.scenario.interval_s;
        let end_s = LEAD_S + (self.scenario.rekeys as f64 + TAIL_SHARE) * interval;
        let bins = (end_s / BASE_BIN_S) as usize;
        let mut bytes = vec![0_u32; bins];
        for (bin, carried) in bytes.iter_mut().enumerate() {
            *carried = self.step(bin as f64 * BASE_BIN_S);
        }
        let gaps: Vec<Gap> = self
            .packets
            .windows(2)
            .map(|p| Gap {
                start_s: p[0],
                end_s: p[1],
            })
            .collect();
        let traffic = Traffic {
            start: Timestamp(0),
            base_bin_s: BASE_BIN_S,
            bytes,
            gaps_total: gaps.len() as u64,
            holes: Vec::new(),
            gaps,
        };
        Simulated {
            traffic,
            rekeys: self.rekeys,
            stalls_s: self.stalls_s,
        }
    }

    /// One base bin from `at` on; returns its bytes.
    fn step(&mut self, at: f64) -> u32 {
        let kept = (-BASE_BIN_S / self.scenario.correlation_s).exp();
        let shock = self.scenario.sigma * (1.0 - kept * kept).sqrt();
        self.log_rate = kept * self.log_rate + shock * normal(&mut self.rng);
        self.pause(at);
        self.rekey(at);
        // Divided by E[exp(x)]: the mean rate is RATE whatever σ is.
        let rate = RATE * (self.log_rate - self.scenario.sigma.powi(2) / 2.0).exp();
        let open_from = self.silent_until_s.max(at);
        let open_s = (at + BASE_BIN_S - open_from).max(0.0);
        let before = self.credit;
        self.credit += rate * open_s;
        let sent = (self.credit / PACKET).floor();
        for k in 1..=sent as u32 {
            let moment = open_from + (f64::from(k) * PACKET - before) / rate;
            // Rounding must not push the last packet into the next bin.
            self.packets
                .push(moment.clamp(open_from, at + BASE_BIN_S * 0.999_999));
        }
        self.credit -= sent * PACKET;
        if at >= LEAD_S {
            self.carried += sent * PACKET;
        }
        (sent * PACKET) as u32
    }

    fn pause(&mut self, at: f64) {
        while at >= self.next_pause_s {
            let length = PAUSE.0 * (1.0 - unit(&mut self.rng)).powf(-1.0 / PAUSE.1);
            self.silent_until_s = self.silent_until_s.max(at + length);
            self.next_pause_s += self.wait_for_pause();
        }
    }

    fn wait_for_pause(&mut self) -> f64 {
        let waited = -(1.0 - unit(&mut self.rng)).ln();
        if self.scenario.pauses_per_s > 0.0 {
            waited / self.scenario.pauses_per_s
        } else {
            f64::INFINITY
        }
    }

    fn rekey(&mut self, at: f64) {
        if self.current.is_none() && self.is_due(at) {
            self.current = Some(self.begin(at));
        }
        let Some(exchange) = &mut self.current else { return };
        if exchange.silence_s.is_some_and(|from| at >= from) {
            self.silent_until_s = self.silent_until_s.max(at + exchange.stall_s);
            exchange.silence_s = None;
        }
        if at >= exchange.ready_s.max(self.silent_until_s) && exchange.silence_s.is_none() {
            let index = self.rekeys.len();
            self.rekeys.push(RekeyMoment {
                index,
                start: Start::Message(exchange.started_s),
                switched_s: at,
                proven: ProvenEffect::Nothing,
            });
            self.stalls_s.push(exchange.stall_s);
            self.current = None;
            self.carried = 0.0;
            self.since_s = at;
        }
    }

    fn is_due(&self, at: f64) -> bool {
        // The exchange itself takes 0.25 s on average.
        let until_s = self.scenario.interval_s - f64::midpoint(EXCHANGE_S.0, EXCHANGE_S.1);
        if self.scenario.by_time {
            at - self.since_s >= until_s
        } else {
            self.carried >= RATE * until_s
        }
    }

    fn begin(&mut self, at: f64) -> SimulatedExchange {
        let length = EXCHANGE_S.0 + (EXCHANGE_S.1 - EXCHANGE_S.0) * unit(&mut self.rng);
        let spread = 1.0 + STALL_SPREAD * (2.0 * unit(&mut self.rng) - 1.0);
        let stalls =
            self.scenario.stall_s > 0.0 && self.rekeys.len().is_multiple_of(self.scenario.every.max(1));
        let stall_s = if stalls {
            self.scenario.stall_s * spread
        } else {
            0.0
        };
        let silence_s = at + length * unit(&mut self.rng);
        SimulatedExchange {
            started_s: at,
            ready_s: at + length,
            silence_s: stalls.then_some(silence_s),
            stall_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every synthetic exchange begins with a message.
    fn started(rekey: &RekeyMoment) -> f64 {
        match rekey.start {
            Start::Message(s) => s,
            _ => panic!("{rekey:?}"),
        }
    }

    fn length_s(gap: &Gap) -> f64 {
        gap.end_s - gap.start_s
    }

    const EVEN: Scenario = Scenario {
        sigma: 0.0,
        correlation_s: 1.0,
        interval_s: 4.0,
        rekeys: 10,
        pauses_per_s: 0.0,
        stall_s: 0.0,
        every: 1,
        by_time: false,
    };

    #[test]
    fn an_even_run_has_the_rate_and_the_rekeys_asked_for() {
        let run = simulate(&EVEN, 1);
        assert_eq!(run.rekeys.len(), 10);
        let total: u64 = run.traffic.bytes.iter().map(|&b| u64::from(b)).sum();
        let seconds = run.traffic.bytes.len() as f64 * BASE_BIN_S;
        assert!((total as f64 / seconds / RATE - 1.0).abs() < 0.001);
        assert!(run.traffic.gaps.iter().all(|g| length_s(g) < 0.0011));
    }

    #[test]
    fn planted_silences_lie_within_their_rekeys() {
        let run = simulate(&Scenario { stall_s: 0.3, ..EVEN }, 2);
        for (rekey, stall) in run.rekeys.iter().zip(&run.stalls_s) {
            assert!((0.24..=0.36).contains(stall));
            let touching = run
                .traffic
                .gaps
                .iter()
                .filter(|g| g.end_s >= started(rekey) && g.start_s <= rekey.switched_s);
            let longest = touching.map(length_s).fold(0.0, f64::max);
            assert!((longest - stall).abs() < 0.002, "{longest} {stall}");
        }
    }

    #[test]
    fn volume_triggers_fall_in_fast_moments() {
        let uneven = Scenario {
            sigma: 0.3,
            rekeys: 400,
            ..EVEN
        };
        let mean_at_start = |scenario: &Scenario| {
            let run = simulate(scenario, 3);
            let rate = |s: f64| {
                let bin = (s / BASE_BIN_S) as usize;
                run.traffic.bytes[bin - 10..bin]
                    .iter()
                    .map(|&b| f64::from(b))
                    .sum::<f64>()
                    / (10.0 * BASE_BIN_S)
            };
            run.rekeys.iter().map(|r| rate(started(r))).sum::<f64>() / run.rekeys.len() as f64 / RATE
        };
        // E[r²]/E[r]² = exp(σ²) = 1.094 on the byte clock; σ/√400 = 1.5 % is one standard error.
        let excess = mean_at_start(&uneven) - 1.0;
        assert!((excess - 0.094).abs() < 0.045, "{excess}");
        assert!(
            (mean_at_start(&Scenario {
                by_time: true,
                ..uneven
            }) - 1.0)
                .abs()
                < 0.045
        );
    }

    #[test]
    fn pauses_are_as_frequent_as_asked() {
        let run = simulate(
            &Scenario {
                pauses_per_s: 0.2,
                rekeys: 400,
                ..EVEN
            },
            4,
        );
        let pauses = run.traffic.gaps.iter().filter(|g| length_s(g) >= 0.02).count() as f64;
        // Poisson: 320 in 1600 s, three standard deviations either way.
        assert!((pauses - 320.0).abs() < 3.0 * 320.0_f64.sqrt(), "{pauses}");
    }
}
