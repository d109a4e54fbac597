//! One run of the method on one transfer, from the series to the decision; the sensitivity runs are the same with one
//! choice changed.

use crate::decide::course::{BASE_BINS, Course};
use crate::decide::evaluation::Evaluation;
use crate::decide::hurt::{self, Hurt, is_hurt, longest_own};
use crate::decide::verdict::{self, VerdictEvidence};
use crate::estimate::aggregate::{LEAST_REKEYS, MeanStall, minimum_detectable};
use crate::estimate::baseline::{Ruler, Window, fitting_windows};
use crate::estimate::gap::{FreeGaps, test_window_s};
use crate::estimate::late;
use crate::estimate::placebo::{DrawPlan, DrawSums, Pool, corrected_p, largest_z, real_z};
use crate::estimate::stall::{dip, stall};
use crate::input::moment::{ProvenEffect, RekeyMoment};
use crate::input::settings::MethodSettings;
use crate::input::traffic::Gap;
use crate::input::{transfer, unobserved};
use std::sync::Arc;

/// A W has a null of its own where at least this share of the run is free at that W.
pub(crate) const FREE_SHARE: f64 = 0.6;

/// What a sensitivity run changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choices {
    /// Base bins per bin.
    pub(crate) group: usize,
    /// Base bins left out at the beginning: shifts the bin origin.
    pub(crate) shift: usize,
    /// The window begins and is anchored at t_Q.
    pub(crate) anchor_at_start: bool,
    /// Only the baseline before the rekey.
    pub(crate) before_only: bool,
}

impl Default for Choices {
    fn default() -> Self {
        Choices {
            group: BASE_BINS,
            shift: 0,
            anchor_at_start: false,
            before_only: false,
        }
    }
}

/// Runs the method once.
pub(crate) fn evaluate(
    course: &Course<'_>,
    rekeys: &[RekeyMoment],
    settings: &MethodSettings,
    choices: &Choices,
) -> Evaluation {
    let mut e = Evaluation::without_traffic(rekeys);
    let Some(found) = course.transfer else { return e };
    (e.burst_s, e.bytes) = (course.burst_s, course.bytes);
    e.grid = Arc::new(course.grid(choices.group, choices.shift));
    e.run = transfer::span(&e.grid, found);
    let busy_median = transfer::busy_median(&e.grid, e.run);
    e.placed = transfer::place(&e.grid, e.run, rekeys, choices.anchor_at_start);
    let by_time = settings.time_triggered;
    transfer::leave_out_idle(&e.grid, e.run, busy_median, &mut e.placed, by_time);
    for placed in &mut e.placed {
        let proven = rekeys[placed.moment].proven;
        // An outage is no idleness.
        placed.used |= placed.idle && proven.outage().is_some();
        placed.idle &= !placed.used;
        placed.used &= proven != ProvenEffect::Collided;
    }
    unobserved::leave_out(&course.traffic.holes, &mut e.placed);
    e.unobserved = unobserved_within(&course.traffic.holes, &e);
    e.used = e.placed.iter().filter(|p| p.used).copied().collect();
    e.windows = fitting_windows(&e.grid, e.run, &e.placed, &e.used);
    let grid = Arc::clone(&e.grid);
    let ruler = Ruler {
        grid: &grid,
        run: e.run,
        busy_median,
        before_only: choices.before_only,
    };
    e.measure(&ruler, (course, rekeys), settings);
    e
}

/// The mean stall of some transfers' rekeys at one window, with what its upper end has to allow for.
pub(crate) fn mean_stall(
    transfers: &[&Evaluation],
    window: usize,
    stalls: &[f64],
    bias_s: Option<f64>,
    settings: &MethodSettings,
) -> Option<MeanStall> {
    let mean = late::widen(transfers, window, MeanStall::of(stalls, bias_s)?);
    Some(if settings.time_triggered {
        mean
    } else {
        mean.allowing_for_bias(stalls)
    })
}

/// Holes within the transfer.
fn unobserved_within(holes: &[Gap], e: &Evaluation) -> (usize, f64) {
    let (from, to) = (e.grid.start_of(e.run.from), e.grid.start_of(e.run.to));
    let parts = holes.iter().map(|h| h.end_s.min(to) - h.start_s.max(from));
    parts
        .filter(|s| *s > 0.0)
        .fold((0, 0.0), |(n, sum), s| (n + 1, sum + s))
}

/// p per window from the draws; none where placebos have no null or there are too few rekeys.
pub(crate) fn p_values(
    drawn: &[DrawSums],
    stalls: &[Vec<f64>],
    bias_s: &[Option<f64>],
    eligible: &[usize],
) -> Vec<Option<f64>> {
    let mut p = vec![None; stalls.len()];
    let rekeys = stalls.first().map_or(0, Vec::len);
    if drawn.is_empty() || eligible.is_empty() || rekeys < LEAST_REKEYS {
        return p;
    }
    let largest = largest_z(drawn, rekeys, eligible);
    for &w in eligible {
        p[w] = Some(corrected_p(&largest, real_z(&stalls[w], bias_s[w])));
    }
    p
}

impl Evaluation {
    fn measure(
        &mut self,
        ruler: &Ruler<'_>,
        (course, rekeys): (&Course<'_>, &[RekeyMoment]),
        settings: &MethodSettings,
    ) {
        let plan = DrawPlan {
            time_clock: settings.time_triggered,
            draws: settings.draws,
            seed: settings.seed,
        };
        let pool = self.fit_pool(ruler, plan);
        let at = |w: &Window| {
            self.used
                .iter()
                .map(|k| stall(ruler, k.start, k.switch, w))
                .collect()
        };
        self.stalls = self.windows.iter().map(at).collect();
        let eligible = self.eligible();
        self.mostly_affected = !self.windows.is_empty() && eligible.is_empty();
        if let Some(pool) = &pool {
            self.bias_s.clone_from(&pool.bias_s);
            self.drawn = pool.draw(self.used.len(), plan);
        }
        let bias = |w: usize| self.bias_s.get(w).copied().flatten();
        self.means = (0..self.windows.len())
            .map(|w| mean_stall(&[self], w, &self.seconds(w), bias(w), settings))
            .collect();
        self.ranks = (0..self.windows.len())
            .map(|w| self.ranks_at(w, pool.as_ref(), &eligible))
            .collect();
        let chosen = self.chosen_window();
        self.minimum_detectable_s = chosen.and_then(|w| minimum_detectable(&self.seconds(w)));
        self.judge_each(pool.as_ref(), chosen, (course, rekeys));
        self.measure_dips(ruler, chosen);
        let p = self.test(&eligible);
        self.decision = verdict::decide(&VerdictEvidence {
            rekeys_known: settings.rekeys_total.max(self.indexes.len()),
            stalls: &(0..self.windows.len())
                .map(|w| self.seconds(w))
                .collect::<Vec<_>>(),
            means: &self.means,
            p: &p,
            eligible: &eligible,
            chosen,
            mostly_affected: self.mostly_affected,
            hurt: &self.hurt,
            least_effect_s: self.least_effect_s(),
            interest_s: self.interest_s(settings),
            late_starts: self.late_starts() > 0,
            no_feedback: rekeys.iter().any(RekeyMoment::is_without_feedback),
        });
    }

    /// Placebos; the largest windows are given up where none fits into the run.
    fn fit_pool(&mut self, ruler: &Ruler<'_>, plan: DrawPlan) -> Option<Pool> {
        while !self.windows.is_empty() && !self.used.is_empty() {
            if let Some(pool) = Pool::new(ruler, &self.windows, &self.used, plan) {
                return Some(pool);
            }
            self.windows.pop();
        }
        None
    }

    /// Windows with a free share of at least 60 %.
    fn eligible(&self) -> Vec<usize> {
        (0..self.windows.len())
            .filter(|&w| self.windows[w].free_share >= FREE_SHARE)
            .collect()
    }

    fn ranks_at(&self, window: usize, pool: Option<&Pool>, eligible: &[usize]) -> Option<Vec<f64>> {
        let pool = pool.filter(|_| eligible.contains(&window))?;
        Some(pool.ranks(window, &self.seconds(window)))
    }

    /// p per window.
    fn test(&self, eligible: &[usize]) -> Vec<Option<f64>> {
        let stalls: Vec<Vec<f64>> = (0..self.windows.len()).map(|w| self.seconds(w)).collect();
        p_values(&self.drawn, &stalls, &self.bias_s, eligible)
    }

    /// The gap test and the list of rekeys that hurt.
    fn judge_each(
        &mut self,
        pool: Option<&Pool>,
        chosen: Option<usize>,
        (course, rekeys): (&Course<'_>, &[RekeyMoment]),
    ) {
        let gaps = &course.gaps;
        let total = course.traffic.gaps_total;
        let free = FreeGaps::new(
            &self.grid,
            self.run,
            &self.placed,
            (gaps, total),
            self.burst_s.is_some(),
        );
        let ranked = pool
            .zip(chosen)
            .filter(|_| !self.mostly_affected)
            .map(|(pool, w)| {
                let stalls = self.seconds(w);
                let ranks = pool.ranks(w, &stalls);
                (stalls, ranks)
            });
        let burst_s = self.burst_s.unwrap_or(0.0);
        let mut p = Vec::with_capacity(self.used.len());
        self.hurt.clear();
        for (k, rekey) in self.used.iter().enumerate() {
            let gap_s = longest_own(gaps, &self.placed, rekey);
            let p_gap = gap_s.map_or(1.0, |g| free.p(g, test_window_s(rekey)));
            let p_stall = ranked
                .as_ref()
                .map(|(stalls, ranks)| hurt::p_stall(stalls[k], ranks[k], burst_s));
            p.push(hurt::combine(p_stall, p_gap));
            self.hurt.push(Hurt {
                gap_s,
                p_gap,
                q: 1.0,
                hurt: false,
                proven: rekeys[rekey.moment].proven.outage(),
            });
        }
        for ((own, q), placed) in self.hurt.iter_mut().zip(hurt::adjust(&p)).zip(&self.used) {
            own.q = q;
            own.hurt = is_hurt(q, rekeys[placed.moment].proven);
        }
    }

    fn measure_dips(&mut self, ruler: &Ruler<'_>, chosen: Option<usize>) {
        self.dips = vec![None; self.used.len()];
        let Some(w) = chosen else { return };
        for (k, rekey) in self.used.iter().enumerate() {
            // In order of their starts.
            let behind = self.placed.partition_point(|p| p.start <= rekey.switch);
            let next = self.placed.get(behind).map_or(i64::MAX, |p| p.start);
            let rate = self.stalls[w][k].baseline.rate;
            self.dips[k] = dip(ruler, rekey.start, rekey.switch, &self.windows[w], rate, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::made_up::of_ten_seconds;
    use crate::input::grid::tests::synthetic_series;
    use crate::input::start::Start;
    use crate::input::traffic::Traffic;
    use rekeyscope_model::analysis::{Direction, Verdict};

    #[test]
    fn holes_count_within_the_transfer_only() {
        let hole = |start_s, end_s| Gap { start_s, end_s };
        let within = |holes: &[Gap]| unobserved_within(holes, &of_ten_seconds(&[]));
        // It runs from 1 s to 11 s.
        let all = [
            hole(0.5, 1.5),
            hole(3.0, 4.0),
            hole(10.5, 20.0),
            hole(11.5, 12.0),
            hole(0.0, 1.0),
        ];
        assert_eq!(within(&all), (3, 2.0));
        assert_eq!(within(&[]), (0, 0.0));
    }

    #[test]
    fn without_placebos_or_rekeys_nothing_is_tested() {
        let stalls = [vec![0.1, 0.2, 0.3], vec![0.1, 0.2, 0.3]];
        let drawn = vec![DrawSums::default(); 3];
        let p = |drawn: &[DrawSums], stalls: &[Vec<f64>], eligible: &[usize]| {
            p_values(drawn, stalls, &[None, None], eligible)
        };
        assert_eq!(
            p(&drawn, &stalls, &[1]),
            [None, Some(0.25)],
            "above all of three draws"
        );
        assert_eq!(p(&[], &stalls, &[1]), [None, None]);
        assert_eq!(p(&drawn, &stalls, &[]), [None, None]);
        let two = [vec![0.1, 0.2], vec![0.1, 0.2]];
        assert_eq!(p(&drawn, &two, &[1]), [None, None]);
    }

    /// Bursts of 45 packets, 80 ms apart, as a window of 64 kB sends them; a rekey without IKE switches with every 48th. None costs anything.
    fn window_limited() -> (Traffic, Vec<RekeyMoment>) {
        let (bursts, packets, per_rekey) = (450, 45, 48);
        let burst_s = |k: usize| 0.08 * k as f64;
        let sent_s: Vec<f64> = (0..bursts)
            .flat_map(|k| (0..packets).map(move |n| burst_s(k) + 0.000_1 * f64::from(n)))
            .collect();
        let mut bytes = vec![0; bursts * 16];
        for at in &sent_s {
            bytes[(at / 0.005) as usize] += 1_448;
        }
        let gap = |p: &[f64]| Gap {
            start_s: p[0],
            end_s: p[1],
        };
        let gaps: Vec<Gap> = sent_s.windows(2).map(gap).collect();
        let traffic = Traffic {
            gaps_total: gaps.len() as u64,
            gaps,
            ..synthetic_series(bytes)
        };
        let rekey = |index: usize| {
            let switched_s = burst_s((index + 1) * per_rekey);
            RekeyMoment {
                index,
                start: Start::Unseen {
                    first_switch_s: switched_s,
                },
                switched_s,
                proven: ProvenEffect::Nothing,
            }
        };
        (traffic, (0..8).map(rekey).collect())
    }

    #[test]
    fn bursts_that_are_not_spread_seem_to_stall() {
        let (traffic, rekeys) = window_limited();
        let settings = MethodSettings {
            draws: 499,
            rekeys_total: rekeys.len(),
            ..MethodSettings::new(0, Direction::BToA)
        };
        let verdict = |course: &Course<'_>| {
            let e = evaluate(course, &rekeys, &settings, &Choices::default());
            e.decision.verdict
        };
        let spread = Course::new(&traffic, &rekeys);
        assert_eq!(verdict(&spread), Verdict::Bounded);
        let unspread = Course {
            burst_s: None,
            ..spread
        };
        assert_eq!(verdict(&unspread), Verdict::Shown);
    }
}
