//! Prints the tables of `docs/evidence/calibration.md`: `calibration [PARTS]`, of which `PARTS` divides the number of transfers.
use rekeyscope_simulate::calibration::{Effort, FULL, calibrate};

#[expect(clippy::print_stdout, reason = "a program: prints")]
fn main() {
    let parts = std::env::args()
        .nth(1)
        .and_then(|parts| parts.parse().ok())
        .unwrap_or(1_u64)
        .max(1);
    print!(
        "{}",
        calibrate(Effort {
            harmless: FULL.harmless.div_ceil(parts),
            slowed: FULL.slowed.div_ceil(parts),
            stalled: FULL.stalled.div_ceil(parts),
        })
    );
}
