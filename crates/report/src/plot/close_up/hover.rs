//! Tool tips of a plot: the frames that passed at the pointer, and for a script their numbers.

use super::drawing::{CloseUpDrawing, LEFT, MOST_DRAWN, PLOTTED, RIGHT, WIDTH};
use crate::plot::canvas::escaped;
use crate::plot::label::plain;
use crate::plot::style::at;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Width of what is pointed at, CSS pixels.
const COLUMN: u32 = 10;
/// Frames named one by one.
const MOST_NAMED: usize = 8;

/// Packets in one column of the plot.
#[derive(Default, Clone)]
struct HoverColumn {
    first: Option<(f64, u64)>,
    last: Option<(f64, u64)>,
    lost: Vec<u64>,
    repeated: Vec<u64>,
}

impl HoverColumn {
    fn take(&mut self, ms: f64, frame: u64) {
        if self.first.is_none_or(|(_, first)| frame < first) {
            self.first = Some((ms, frame));
        }
        if self.last.is_none_or(|(_, last)| frame > last) {
            self.last = Some((ms, frame));
        }
    }
}

impl CloseUpDrawing<'_> {
    /// Invisible shapes over the plot, each with a tool tip and its frames: the columns, the lines, the arrows.
    pub(super) fn hover(&self) -> String {
        let t = self.focus.t;
        let mut out = String::new();
        let rows = (at(self.top()), at(self.top() + PLOTTED));
        for (n, column) in self.columns().into_iter().enumerate() {
            let (Some((ms, from)), Some((_, to))) = (column.first, column.last) else {
                continue;
            };
            let x = at(LEFT + COLUMN * n as u32);
            let place = (x, x + at(COLUMN));
            pick(
                &mut out,
                &self.column_label(&column, ms, (from, to)),
                (from, to),
                place,
                rows,
            );
        }
        let switch = [
            (&self.shown.last_on_old, "plot-close-last"),
            (&self.shown.first_on_new, "plot-close-first"),
        ];
        for (packet, id) in switch {
            let Some(packet) = packet else { continue };
            let label = fill!(t, id, frame = packet.frame);
            self.pick_at(&mut out, &label, (packet.ms, packet.frame), rows);
        }
        for arrow in &self.arrows {
            let label = fill!(
                t,
                "plot-close-message",
                label = arrow.label,
                frame = arrow.frame,
                time = seconds(arrow.ms)
            );
            self.pick_at(&mut out, &label, (arrow.ms, arrow.frame), self.arrow_rows());
        }
        out
    }

    fn columns(&self) -> Vec<HoverColumn> {
        let (left, width) = (at(LEFT), at(COLUMN));
        let number = ((WIDTH - LEFT - RIGHT) / COLUMN) as usize;
        let mut columns = vec![HoverColumn::default(); number];
        let set = |frames: &[u64]| frames.iter().copied().collect::<HashSet<u64>>();
        let (lost, repeated) = (set(&self.shown.lost_frames), set(&self.shown.repeated_frames));
        for series in &self.shown.series {
            let is_data = series.direction == self.shown.direction;
            for (&ms, &frame) in series.ms.iter().zip(&series.frames).take(MOST_DRAWN) {
                let at = usize::try_from((self.x(ms) - left) / width).unwrap_or(0);
                let Some(column) = columns.get_mut(at.min(number - 1)) else {
                    continue;
                };
                column.take(ms, frame);
                column
                    .lost
                    .extend((is_data && lost.contains(&frame)).then_some(frame));
                let again = is_data && repeated.contains(&frame);
                column.repeated.extend(again.then_some(frame));
            }
        }
        columns
    }

    fn column_label(&self, column: &HoverColumn, ms: f64, (from, to): (u64, u64)) -> String {
        let t = self.focus.t;
        let frames = match from == to {
            true => from.to_string(),
            false => format!("{from}–{to}"),
        };
        let mut parts = vec![fill!(t, "plot-close-column", time = seconds(ms), frames)];
        for (id, frames) in [
            ("plot-close-lost", &column.lost),
            ("plot-close-repeated", &column.repeated),
        ] {
            if !frames.is_empty() {
                let named: Vec<String> = frames.iter().take(MOST_NAMED).map(u64::to_string).collect();
                let more = if frames.len() > MOST_NAMED { " …" } else { "" };
                parts.push(format!("{}: {}{more}", t.word(id), t.joined(&named)));
            }
        }
        parts.join(&t.word("semicolon"))
    }

    /// Around one moment.
    fn pick_at(&self, out: &mut String, label: &str, (ms, frame): (f64, u64), rows: (i32, i32)) {
        let x = self.x(ms);
        pick(out, label, (frame, frame), (x - at(3), x + at(3)), rows);
    }
}

/// Seconds as on the axis.
fn seconds(ms: f64) -> String {
    plain(ms / 1e3)
}

/// A shape over a part of the plot with its tool tip; of its frames a script makes a filter. There are a hundred of them in a plot: every
/// letter counts.
fn pick(out: &mut String, label: &str, (from, to): (u64, u64), (x0, x1): (i32, i32), (y0, y1): (i32, i32)) {
    let _ = writeln!(
        out,
        "<g data-frames=\"{from} {to}\"><title>{}</title><path class=\"hit\" fill-opacity=\"0\" d=\"M{x0} {y0}H{x1}V{y1}H{x0}z\"/></g>",
        escaped(label)
    );
}
