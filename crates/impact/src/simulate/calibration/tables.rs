//! The tables of `docs/calibration.md`.

use crate::simulate::calibration::tally::{Calibration, Cell, PAUSES_PER_S, PLANTED_S, Tally, sum};

impl Calibration {
    /// The tables of the documentation.
    pub fn markdown(&self) -> String {
        let mut text = String::from("| demand | measured | held |\n|---|---|---|\n");
        for c in self.checks() {
            let held = match (c.held, c.decided) {
                (true, true) => "yes",
                (true, false) => "too few runs to break it",
                (false, _) => "**no**",
            };
            text += &format!("| {} | {} | {held} |\n", c.demand, c.measured);
        }
        text += "\n## Cells without an effect\n\n";
        text += "| σ | interval | rekeys | pauses | runs | *shown* | *some* | *bounded* | p ≤ 0.025 | covered | mean error \
                 | MDE | power at the MDE |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
        for (cell, power) in self.no_effect.iter().zip(&self.power) {
            text += &row(cell, &[share(power.tally.shown, power.tally.runs)]);
        }
        text += "\n## Planted stalls\n\n";
        text += "Found: rekeys with a planted stall that are named one by one.\n\n";
        text += JOINED_HEAD;
        for stall_s in PLANTED_S {
            for pauses in [0.0, PAUSES_PER_S] {
                let of = |c: &&Cell| c.scenario.stall_s == stall_s && c.scenario.pauses_per_s == pauses;
                let name = format!("{:.0} ms, pauses: {}", stall_s * 1000.0, pauses_in_words(pauses));
                text += &joined_row(&name, &sum(self.planted.iter().filter(of)));
            }
        }
        text += "\n## Beyond the cells\n\nNo demand is made on these.\n\n";
        text += JOINED_HEAD;
        self.variations
            .iter()
            .for_each(|(name, tally)| text += &joined_row(name, tally));
        text
    }
}

fn share(part: usize, of: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64)
}

fn pauses_in_words(pauses_per_s: f64) -> &'static str {
    if pauses_per_s > 0.0 { "natural" } else { "none" }
}

fn row(cell: &Cell, more: &[String]) -> String {
    let (s, t) = (&cell.scenario, &cell.tally);
    format!(
        "| {} | {} s | {} | {} | {} | {} | {} | {} | {} | {} | {:+.0} ms | {:.0} ms | {} |\n",
        s.sigma,
        s.interval_s,
        s.rekeys,
        pauses_in_words(s.pauses_per_s),
        t.runs,
        share(t.shown, t.runs),
        share(t.some, t.runs),
        share(t.bounded, t.runs),
        share(t.small_p, t.runs),
        share(t.covered, t.intervals),
        t.error_s() * 1000.0,
        t.detectable_s() * 1000.0,
        more.join(" | "),
    )
}

const JOINED_HEAD: &str = "| all cells joined | runs | *shown* | *some* | *bounded* | p ≤ 0.025 | covered | mean error | \
                           found |\n|---|---|---|---|---|---|---|---|---|\n";

fn joined_row(name: &str, t: &Tally) -> String {
    format!(
        "| {name} | {} | {} | {} | {} | {} | {} | {:+.0} ms | {} |\n",
        t.runs,
        share(t.shown, t.runs),
        share(t.some, t.runs),
        share(t.bounded, t.runs),
        share(t.small_p, t.runs),
        share(t.covered, t.intervals),
        t.error_s() * 1000.0,
        if t.planted > 0 {
            share(t.found, t.planted)
        } else {
            "–".to_owned()
        },
    )
}
