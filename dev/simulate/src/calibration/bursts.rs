//! The cells whose traffic comes in bursts.

use crate::calibration::tally::SINGLE_S;
use crate::traffic::{BurstScenario, PathChange, WINDOW_PACKETS};

/// Round trips of the harmless window-limited flow, seconds.
const ROUND_TRIPS_S: [f64; 4] = [0.02, 0.04, 0.08, 0.15];
/// Longer ones are beyond it, seconds.
const LONG_ROUND_TRIP_S: f64 = 0.25;
/// Jitter of the round trip, seconds.
const JITTERS_S: [f64; 3] = [0.001, 0.005, 0.02];
/// How often an application writes, seconds.
const WRITES_S: [f64; 3] = [0.3, 0.6, SLOWEST_WRITES_S];
/// Of these a baseline holds one or two: the interval does not cover.
pub(super) const SLOWEST_WRITES_S: f64 = 1.0;
/// Packets that an application writes per second: 10 Mbit/s.
const WRITTEN_PER_S: f64 = 860.0;
/// Rekeys of a run, as in a capture of half a minute; and in a long one.
const REKEYS: usize = 8;
const MANY_REKEYS: usize = 20;
/// Planted stalls, seconds.
pub(super) const PLANTED_BURSTS_S: [f64; 3] = [0.1, 0.2, 0.4];

/// A window of 64 kB per round trip, steady, rekeyed by volume within sight.
const WINDOW: BurstScenario = BurstScenario {
    period_s: 0.08,
    jitter_s: 0.005,
    packets: WINDOW_PACKETS,
    flows: 1,
    change: PathChange::Steady,
    locked: true,
    ike: true,
    rekeys: REKEYS,
    stall_s: 0.0,
    every: 1,
};

/// A window per round trip of 20 to 250 ms, with jitter of 1 to 20 ms.
fn windows() -> Vec<BurstScenario> {
    let periods = ROUND_TRIPS_S.into_iter().chain([LONG_ROUND_TRIP_S]);
    let cell = |period_s| {
        JITTERS_S.map(|jitter_s| BurstScenario {
            period_s,
            jitter_s,
            ..WINDOW
        })
    };
    periods.flat_map(cell).collect()
}

/// An application that writes every so often.
fn written(period_s: f64) -> BurstScenario {
    BurstScenario {
        period_s,
        jitter_s: 0.02,
        packets: (WRITTEN_PER_S * period_s) as u32,
        ..WINDOW
    }
}

fn with_and_without_ike(cells: impl Iterator<Item = BurstScenario>) -> Vec<BurstScenario> {
    cells
        .flat_map(|of| [true, false].map(|ike| BurstScenario { ike, ..of }))
        .collect()
}

/// The harmless window-limited flow: round trips of 20 to 150 ms, with and without IKE.
pub(super) fn window_limited() -> Vec<BurstScenario> {
    with_and_without_ike(windows().into_iter().filter(|c| c.period_s < LONG_ROUND_TRIP_S))
}

/// What else comes in bursts and has no effect.
pub(super) fn harmless() -> Vec<BurstScenario> {
    let long = windows().into_iter().filter(|c| c.period_s == LONG_ROUND_TRIP_S);
    let unlocked = |c| BurstScenario { locked: false, ..c };
    let of = |period_s| BurstScenario { period_s, ..WINDOW };
    let changing = [PathChange::Step, PathChange::Drift]
        .into_iter()
        .flat_map(|change| {
            ROUND_TRIPS_S.map(|period_s| BurstScenario {
                change,
                ..of(period_s)
            })
        });
    let several = [2, 4].into_iter().flat_map(|flows| {
        ROUND_TRIPS_S.map(|period_s| BurstScenario {
            flows,
            ..of(period_s)
        })
    });
    let many = ROUND_TRIPS_S.map(|period_s| BurstScenario {
        rekeys: MANY_REKEYS,
        ..of(period_s)
    });
    let cells = long.chain(windows().into_iter().map(unlocked));
    with_and_without_ike(
        cells
            .chain(changing)
            .chain(several)
            .chain(many)
            .chain(WRITES_S.map(written)),
    )
}

/// Bursts that stand still at every rekey.
pub(super) fn planted() -> Vec<BurstScenario> {
    let phases = |c| [true, false].map(|locked| BurstScenario { locked, ..c });
    let cells = windows()
        .into_iter()
        .chain([written(WRITES_S[0])])
        .flat_map(phases);
    cells
        .flat_map(|c| PLANTED_BURSTS_S.map(|stall_s| BurstScenario { stall_s, ..c }))
        .collect()
}

/// One outage in a run.
pub(super) fn single() -> Vec<BurstScenario> {
    let single = |c| BurstScenario {
        stall_s: SINGLE_S,
        every: REKEYS + 1,
        ..c
    };
    windows().into_iter().map(single).collect()
}
