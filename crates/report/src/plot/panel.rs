//! Small multiples: one panel per rekey, all of a tunnel to the same scale.

use crate::plot::axes::Axes;
use crate::plot::canvas::{Canvas, Drawn, Plot};
use crate::plot::label::{effect_of, plain};
use crate::plot::reduce::{PlotColumn, ceiling, columns};
use crate::plot::stalls::{Shaded, stalls_around};
use crate::plot::style::{self, at, px};
use crate::words::focus::{Focus, at_most, began, is_hurt, number};
use crate::words::{self, cost_of, format};
use plotters::element::{DashedPathElement, PathElement, Rectangle, Text};
use plotters::series::LineSeries;
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use rekeyscope_model::analysis::{Direction, Rekey};
use rekeyscope_model::time::Timestamp;

const WIDTH: u32 = 350;
const HEIGHT: u32 = 170;
const LEFT: u32 = 40;
const RIGHT: u32 = 12;
/// Seconds shown before the exchange.
const BEFORE: f64 = 1.0;
/// Seconds shown after the longest switch, and the bounds of the whole.
const AFTER: f64 = 1.5;
const SHORTEST: f64 = 2.0;
const LONGEST: f64 = 10.0;

/// One panel. Times are seconds from the first message of the exchange.
struct Panel<'a> {
    rekey: &'a Rekey,
    direction: Direction,
    columns: Vec<PlotColumn>,
    switched: f64,
    stalls: Vec<Shaded>,
    /// The rate without the rekey.
    baseline_bps: Option<f64>,
}

/// The scale of all panels of a tunnel.
struct PanelScale {
    after: f64,
    top: f64,
    factor: f64,
    prefix: &'static str,
}

pub(crate) fn draw(focus: &Focus, tunnel: usize, most: usize) -> Vec<Plot> {
    let rekeys = at_most(focus.analysis.rekeys_of(tunnel).collect(), most);
    let lengths = rekeys.iter().map(|r| length(focus, r)).fold(0.0, f64::max);
    let after = (lengths + AFTER).clamp(SHORTEST, LONGEST);
    let panels: Vec<Panel> = rekeys
        .into_iter()
        .filter_map(|r| panel(focus, r, after))
        .collect();
    let highest = ceiling(panels.iter().flat_map(|p| &p.columns));
    let (factor, prefix) = format::prefix_of(highest);
    let scale = PanelScale {
        after,
        top: (highest / factor * 1.05).max(f64::MIN_POSITIVE),
        factor,
        prefix,
    };
    panels.iter().filter_map(|p| draw_one(focus, p, &scale)).collect()
}

/// Seconds from the first message to the switch of the direction that is shown.
fn length(focus: &Focus, rekey: &Rekey) -> f64 {
    let direction = focus.shown_direction(rekey);
    let ends = began(rekey).zip(rekey.switched.get(direction));
    ends.map_or(0.0, |(from, to)| to.seconds_since(from).max(0.0))
}

fn panel<'a>(focus: &Focus<'a>, rekey: &'a Rekey, after: f64) -> Option<Panel<'a>> {
    let direction = focus.shown_direction(rekey);
    let (start, bin_s, bytes) = bins(focus, rekey, direction)?;
    let zero = began(rekey)?;
    let offset = start.seconds_since(zero);
    // Only the bins within the panel, on whatever grid they lie.
    let skip = ((-BEFORE - offset) / bin_s).floor().max(0.0) as usize;
    let take = (((BEFORE + after) / bin_s).ceil().max(0.0) as usize).saturating_add(1);
    let bytes = bytes.get(skip..).unwrap_or_default();
    let bytes = bytes.get(..take).unwrap_or(bytes);
    let offset = offset + skip as f64 * bin_s;
    let mut columns = columns(bytes, bin_s, (WIDTH - LEFT - RIGHT) as usize);
    columns.iter_mut().for_each(|c| c.time += offset);
    columns.retain(|c| c.time >= -BEFORE && c.time <= after);
    let ledger = focus.analysis.ledger_of(rekey.tunnel, direction);
    let own = ledger.and_then(|l| l.rekeys.iter().find(|own| own.rekey == rekey.index));
    let baseline_bps = own.map(|own| own.r0_mbps * 1e6).filter(|b| b.is_finite());
    (!columns.is_empty()).then(|| Panel {
        rekey,
        direction,
        columns,
        switched: length(focus, rekey),
        stalls: stalls_around(focus, rekey, direction, (-BEFORE, after)),
        baseline_bps,
    })
}

/// The finest bins that the document has around a rekey.
fn bins<'a>(focus: &Focus<'a>, rekey: &Rekey, direction: Direction) -> Option<(Timestamp, f64, &'a [u64])> {
    let series = &focus.analysis.series;
    let fine = series
        .around_rekeys
        .iter()
        .find(|s| s.rekey == rekey.index && s.direction == direction);
    let (start, bin_ms, bytes) = match (fine, focus.series(rekey.tunnel, direction)) {
        (Some(s), _) => (s.start, s.bin_ms, s.inner_new_bytes.as_slice()),
        (None, coarse) => coarse.map(|s| (s.start, series.bin_ms, s.inner_new_bytes.as_slice()))?,
    };
    (bin_ms.is_finite() && bin_ms > 0.0).then_some((start, bin_ms / 1000.0, bytes))
}

fn draw_one(focus: &Focus, panel: &Panel, scale: &PanelScale) -> Option<Plot> {
    let t = focus.t;
    let number = focus.name(panel.rekey);
    let direction = words::direction(t, focus.analysis, panel.rekey.tunnel, panel.direction);
    let name = format!("panel-{}", focus.key(panel.rekey));
    let title = fill!(t, "plot-panel-title", number);
    let effect = effect_of(focus, panel.rekey);
    let description = fill!(t, "plot-panel-text", direction, number, effect);
    Plot::blank(t.language(), name, (WIDTH, HEIGHT), [title, description]).draw(|root| {
        draw_titles(root, focus, panel, scale)?;
        draw_curve(root, focus, panel, scale)
    })
}

fn draw_titles(root: &Canvas, focus: &Focus, panel: &Panel, scale: &PanelScale) -> Drawn<()> {
    let t = focus.t;
    let when = began(panel.rekey)
        .and_then(|t| focus.seconds(t))
        .map_or_else(String::new, format::clock);
    let unit = format!("{}bit/s", scale.prefix);
    let title = fill!(t, "plot-panel-headline", number = number(panel.rekey), when, unit);
    let font = style::label(t.language(), 12, style::INK);
    root.draw(&Text::new(title, (at(LEFT), at(3)), font))?;
    let Some(text) = cost_of(focus, panel.rekey) else {
        return Ok(());
    };
    let font = style::label(focus.t.language(), 12, style::HURT_TEXT).pos(Pos::new(HPos::Right, VPos::Top));
    root.draw(&Text::new(text, (at(WIDTH - RIGHT), at(3)), font))?;
    Ok(())
}

fn draw_curve(root: &Canvas, focus: &Focus, panel: &Panel, scale: &PanelScale) -> Drawn<()> {
    let (from, to, top) = (-BEFORE, scale.after, scale.top);
    let axes = Axes {
        lines: (false, true),
        labels: (6, 4),
        size: 11,
        x_label: |x| if x == 0.0 { "0 s".to_owned() } else { plain(x) },
        ..Axes::new(focus.t.language(), [22, RIGHT, 22, LEFT])
    };
    let mut chart = axes.draw(root, from..to, 0.0..top)?;
    let color = if is_hurt(panel.rekey) {
        style::HURT
    } else {
        style::REKEY
    };
    for shaded in &panel.stalls {
        let shaded_to = top * shaded.share(panel.columns.iter());
        let shape = Rectangle::new([(shaded.from, 0.0), (shaded.to, shaded_to)], shaded.fill());
        chart.draw_series(std::iter::once(shape))?;
    }
    let switched = panel.switched.min(to).max((to - from) / f64::from(WIDTH));
    chart.draw_series(std::iter::once(Rectangle::new(
        [(0.0, top * 0.95), (switched, top)],
        color.mix(0.8).filled(),
    )))?;
    if let Some(baseline) = panel.baseline_bps {
        let y = (baseline / scale.factor).clamp(0.0, top);
        let dashes = DashedPathElement::new(
            [(from, y), (to, y)],
            px(4),
            px(3),
            style::INK.mix(0.6).stroke_width(px(1)),
        );
        chart.draw_series(std::iter::once(dashes))?;
    }
    let line = panel
        .columns
        .iter()
        .map(|c| (c.time, (c.mean / scale.factor).clamp(0.0, top)));
    chart.draw_series(LineSeries::new(
        line,
        style::of(panel.direction).stroke_width(px(1)),
    ))?;
    let start = PathElement::new(vec![(0.0, 0.0), (0.0, top)], color.stroke_width(px(1)));
    chart.draw_series(std::iter::once(start))?;
    Ok(())
}
