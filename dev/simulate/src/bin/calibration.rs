//! Calibrates the method on synthetic traffic and writes the tables of `docs/evidence/calibration.md`:
//!
//! ```text
//! cargo run --release -p rekeyscope-simulate --bin calibration -- 2 > docs/evidence/calibration.md
//! ```
//!
//! `-- 2` runs half of it. Ends with status 1 when a demand is broken.

use rekeyscope_simulate::calibration::{Effort, calibrate, cells};
use std::process::ExitCode;

/// Runs per cell of the full calibration: 4,800 without an effect, 3,840 planted, 2,400 at the detectable stall, 480
/// per variation; in bursts, 1,960 without an effect and 960 planted. About ten minutes of processor time.
const FULL: Effort = Effort {
    no_effect: 200,
    planted: 40,
    power: 100,
    variation: 20,
    bursts: 20,
    window_limited: 10,
    planted_bursts: 10,
    draws: 1_999,
};

#[expect(clippy::print_stdout, reason = "a program: prints")]
fn main() -> ExitCode {
    let fraction = std::env::args()
        .nth(1)
        .and_then(|a| a.parse::<usize>().ok())
        .unwrap_or(1)
        .max(1);
    let effort = Effort {
        no_effect: FULL.no_effect.div_ceil(fraction),
        planted: FULL.planted.div_ceil(fraction),
        power: FULL.power.div_ceil(fraction),
        variation: FULL.variation.div_ceil(fraction),
        bursts: FULL.bursts.div_ceil(fraction),
        window_limited: FULL.window_limited,
        planted_bursts: FULL.planted_bursts.div_ceil(fraction),
        draws: FULL.draws,
    };
    let calibration = calibrate(effort);
    let held = calibration.checks().iter().all(|c| c.held && c.decided);
    let part = if fraction > 1 {
        format!("-- {fraction} ")
    } else {
        String::new()
    };
    println!("# Calibration of the method\n");
    println!(
        "Synthetic traffic (`dev/simulate`), made by `cargo run --release -p rekeyscope-simulate --bin calibration {part}> docs/evidence/calibration.md`: {} cells, each {} runs \
         without an effect, {} with each of four planted stalls, {} with the cell's own minimum detectable stall, {} per variation; \
         in bursts, {} runs per cell of the harmless window-limited flow, {} per other cell without an effect and {} with each of three planted \
         stalls; {} placebo draws per run. A limit counts as broken when runs at the limit would do as badly less than once in a thousand \
         times. Rekeys drawn into real captures: `pseudo_rekeys.md`.\n",
        cells().len(),
        effort.no_effect,
        effort.planted,
        effort.power,
        effort.variation,
        effort.window_limited,
        effort.bursts,
        effort.planted_bursts,
        effort.draws,
    );
    print!("{}", calibration.markdown());
    if held {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
