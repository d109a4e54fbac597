//! The tables of `docs/evidence/calibration.md`.

use crate::calibration::bursts::PLANTED_BURSTS_S;
use crate::calibration::tally::{
    BurstCell, Calibration, Cell, PAUSES_PER_S, PLANTED_S, SINGLE_S, Tally, joined, sum,
};
use crate::traffic::PathChange;
use rekeyscope_impact::LEVEL;

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
        text += &format!(
            "| σ | interval | rekeys | pauses | runs | *shown* | *some* | *bounded* | p ≤ {LEVEL} | covered | mean error | MDE | power at \
             the MDE |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        );
        for (cell, power) in self.no_effect.iter().zip(&self.power) {
            text += &row(cell, &[share(power.tally.shown, power.tally.runs)]);
        }
        text += "\n## Planted stalls\n\n";
        text += "Found: rekeys with a planted stall that are named one by one. Of one outage in a run of otherwise harmless rekeys that is harder: \
                 the list allows for how many there are, and natural pauses hide it (`method.md`).\n\n";
        text += &joined_head();
        for stall_s in PLANTED_S {
            for pauses in [0.0, PAUSES_PER_S] {
                let of = |c: &&Cell| c.scenario.stall_s == stall_s && c.scenario.pauses_per_s == pauses;
                let name = format!("{:.0} ms, pauses: {}", stall_s * 1000.0, pauses_in_words(pauses));
                text += &joined_row(&name, &sum(self.planted.iter().filter(of)));
            }
        }
        for pauses in [0.0, PAUSES_PER_S] {
            let of = |c: &&Cell| c.scenario.pauses_per_s == pauses;
            let name = format!(
                "one rekey of {:.0} ms, pauses: {}",
                SINGLE_S * 1000.0,
                pauses_in_words(pauses)
            );
            text += &joined_row(&name, &sum(self.single.iter().filter(of)));
        }
        text += &self.bursts_markdown();
        text += "\n## Beyond the cells\n\nNo demand is made on these.\n\n";
        text += &joined_head();
        self.variations
            .iter()
            .for_each(|(name, tally)| text += &joined_row(name, tally));
        text
    }

    fn bursts_markdown(&self) -> String {
        let mut text = String::from("\n## Bursts without an effect\n\n");
        text += "A window of 64 kB per round trip, or what an application writes so often (10 Mbit/s). Phase: rekeys by volume begin \
                 within a burst (locked), those by age anywhere (free). The first 24 cells are the harmless window-limited flow. Where an \
                 application writes once a second, a baseline holds one burst or two and windows tell nothing: the intervals need not \
                 cover without IKE, and the demand on coverage leaves those cells out.\n\n";
        text += "| period | jitter | flows | path | phase | IKE | rekeys | runs | *shown* | *some* | *bounded* | covered | mean error \
                 |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
        text.extend(self.window_limited.iter().chain(&self.bursts).map(burst_row));
        text += "\n## Bursts that stand still\n\n";
        text += &joined_head();
        for stall_s in PLANTED_BURSTS_S {
            text += &Self::planted_rows("every rekey", &self.planted_bursts, stall_s);
        }
        text += &Self::planted_rows("one rekey", &self.single_bursts, SINGLE_S);
        text
    }

    /// A row for every burst period.
    fn planted_rows(which: &str, cells: &[BurstCell], stall_s: f64) -> String {
        let mut cells: Vec<&BurstCell> = cells.iter().filter(|c| c.scenario.stall_s == stall_s).collect();
        cells.sort_by(|a, b| a.scenario.period_s.total_cmp(&b.scenario.period_s));
        let of_period = cells.chunk_by(|a, b| a.scenario.period_s == b.scenario.period_s);
        let row = |cells: &[&BurstCell]| {
            let period_s = cells.first().map_or(0.0, |c| c.scenario.period_s);
            let name = format!(
                "{which} {:.0} ms, bursts {:.0} ms apart",
                stall_s * 1000.0,
                period_s * 1000.0
            );
            joined_row(&name, &joined(cells.iter().map(|c| c.tally)))
        };
        of_period.map(row).collect()
    }
}

fn burst_row(cell: &BurstCell) -> String {
    let (s, t) = (&cell.scenario, &cell.tally);
    format!(
        "| {:.0} ms | {:.0} ms | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:+.0} ms |\n",
        s.period_s * 1000.0,
        s.jitter_s * 1000.0,
        s.flows,
        match s.change {
            PathChange::Steady => "steady",
            PathChange::Step => "doubles",
            PathChange::Drift => "drifts",
        },
        if s.locked { "locked" } else { "free" },
        if s.ike { "seen" } else { "none" },
        s.rekeys,
        t.runs,
        share(t.shown, t.runs),
        share(t.some, t.runs),
        share(t.bounded, t.runs),
        share(t.covered, t.intervals),
        t.error_s() * 1000.0,
    )
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

fn joined_head() -> String {
    format!(
        "| all cells joined | runs | *shown* | *some* | *bounded* | p ≤ {LEVEL} | covered | mean error | found |\n|---|---|---|---|---|---|---|---|---|\n"
    )
}

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
