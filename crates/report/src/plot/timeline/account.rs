//! The account of the time, as a strip on the time axis of the run.

use crate::plot::account::fill;
use crate::plot::axes::title;
use crate::plot::canvas::{Canvas, Drawn, escaped};
use crate::plot::style::px;
use crate::plot::timeline::frame::{LEFT, RunDrawing, STRIP, TITLE};
use crate::words::focus::Focus;
use crate::words::{self, format};
use rekeyscope_model::analysis::{Account, AccountRun};
use rekeyscope_model::text::Message;
use std::fmt::Write as _;

/// The accounts of a tunnel that have stretches to draw, in the order of the lanes.
pub(super) fn strips<'a>(focus: &Focus<'a>, tunnel: usize) -> Vec<&'a Account> {
    let of = |direction| focus.analysis.account_of(tunnel, direction);
    let all = focus.directions(tunnel).into_iter().filter_map(of);
    all.filter(|account| !account.runs.is_empty()).collect()
}

impl RunDrawing<'_> {
    pub(super) fn draw_strip_titles(&self, root: &Canvas) -> Drawn<()> {
        let t = self.focus.t;
        for (n, account) in (0u32..).zip(&self.accounts) {
            let direction = words::direction(t, self.focus.analysis, self.tunnel, account.direction);
            let row = self.first_strip_row() + n * (TITLE + STRIP);
            let text = fill!(t, "plot-account", direction);
            title(root, t.language(), text, (LEFT, row + 9))?;
        }
        Ok(())
    }

    /// A rectangle per stretch, with what it is. Stretches narrower than a pixel are drawn as part of the one before.
    pub(super) fn strips(&self) -> String {
        let mut out = String::new();
        for (n, account) in (0u32..).zip(&self.accounts) {
            let Some(start) = self.focus.seconds(account.start).filter(|s| s.is_finite()) else {
                continue;
            };
            let row = self.first_strip_row() + n * (TITLE + STRIP) + TITLE;
            for (run, to_s) in drawn(&account.runs, self.pixel()) {
                let (x0, x1) = (self.x(start + run.from_s), self.x(start + to_s));
                let _ = writeln!(
                    out,
                    "<rect x=\"{x0}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>",
                    px(row),
                    (x1 - x0).max(0),
                    px(STRIP),
                    fill(run.label),
                    escaped(&self.stretch(run))
                );
            }
        }
        out
    }

    /// `rekeys: 0.84 s, frames 1201 to 1210`.
    fn stretch(&self, run: &AccountRun) -> String {
        let t = self.focus.t;
        // The last frame is a number and no text: 0 has words of its own.
        let message = Message::new("account-stretch")
            .with("label", words::account_label(t, run.label))
            .with("seconds", format::duration_ms((run.to_s - run.from_s) * 1000.0))
            .with("from", run.from_frame.to_string());
        t.say(&message.with("to", run.to_frame))
    }
}

/// Stretches of at least `pixel` seconds, each drawn until the next one that is as long; rests stay empty.
fn drawn(runs: &[AccountRun], pixel: f64) -> Vec<(&AccountRun, f64)> {
    let mut out: Vec<(&AccountRun, f64)> = Vec::new();
    for run in runs {
        match out.last_mut() {
            Some((_, to_s)) if run.to_s - run.from_s < pixel && run.from_s - *to_s < pixel => {
                *to_s = run.to_s
            }
            _ => out.push((run, run.to_s)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::analysis::AccountLabel;

    fn run(label: AccountLabel, from_s: f64, to_s: f64) -> AccountRun {
        AccountRun {
            label,
            from_s,
            to_s,
            from_frame: 1,
            to_frame: 2,
        }
    }

    #[test]
    fn short_stretches_are_drawn_with_the_one_before_and_rests_stay() {
        use AccountLabel::{Growth, PathLoss, Rekey};
        let runs = [
            run(Growth, 0.0, 1.0),
            run(PathLoss, 1.0, 1.01),
            run(Rekey, 1.01, 2.0),
            run(Growth, 5.0, 5.01),
        ];
        let drawn: Vec<(AccountLabel, f64)> =
            drawn(&runs, 0.1).iter().map(|(r, to)| (r.label, *to)).collect();
        assert_eq!(drawn, [(Growth, 1.01), (Rekey, 2.0), (Growth, 5.01)]);
    }
}
