//! The whole run: throughput of both directions with every rekey marked, over the lanes of the SAs, on one time axis.

use super::reduce::{Column, columns};
use super::style::{self, px};
use super::{Blank, Canvas, Drawn, Plot, link};
use crate::analysis::{Direction, KeyStatus, Rekey, SecurityAssociation};
use crate::report::focus::{Focus, at_most, began, is_hurt};
use crate::report::{format, words};
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{PathElement, Polygon, Rectangle, Text};
use plotters::prelude::SVGBackend;
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor};

const WIDTH: u32 = 1100;
const LEFT: u32 = 64;
const RIGHT: u32 = 20;
/// Height of the plot of the direction with the data, and of the other one.
const HEIGHTS: [u32; 2] = [210, 84];
const TITLE: u32 = 32;
/// Room for the numbers of the rekeys.
const NUMBERS: u32 = 18;
/// Two rows for each direction, so that overlapping SAs are seen.
const LANE: u32 = 16;
const AXIS: u32 = 42;
/// Rekeys drawn; the hurt ones first.
const MOST_MARKS: usize = 600;
/// SAs drawn per direction.
const MOST_BARS: usize = 600;
/// Longest time axis, seconds (three years): beyond it a time is an error.
const LONGEST: f64 = 1e8;

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// One direction, ready to draw.
struct Lane {
    direction: Direction,
    columns: Vec<Column>,
    top: f64,
}

/// The plot; `None` where the document has no time to draw over.
pub(super) fn draw(focus: &Focus, tunnel: usize) -> Option<Plot> {
    let end = end_of_time(focus, tunnel)?;
    let lanes: Vec<Lane> = focus
        .directions(tunnel)
        .iter()
        .filter_map(|&d| lane(focus, tunnel, d))
        .collect();
    let rekeys = at_most(focus.rekeys(tunnel).collect(), MOST_MARKS);
    let charts: u32 = lanes.iter().zip(HEIGHTS).map(|(_, h)| h + TITLE).sum();
    let blank = Blank {
        name: format!("timeline-{tunnel}"),
        title: format!("Throughput and rekeys of tunnel {tunnel}"),
        description: description(focus, tunnel, end),
        width: WIDTH,
        height: NUMBERS + charts + TITLE + 4 * LANE + AXIS,
    };
    blank.draw(|root| {
        let mut rest = root.clone();
        let mut links = String::new();
        for (n, lane) in lanes.iter().enumerate() {
            let numbers = if n == 0 { NUMBERS } else { 0 };
            let (upper, lower) = rest.split_vertically(px(HEIGHTS[n.min(1)] + TITLE + numbers));
            draw_lane(&upper, focus, tunnel, lane, numbers, end, &rekeys)?;
            rest = lower;
        }
        let area = draw_sas(&rest, focus, tunnel, end)?;
        draw_links(&mut links, focus, &rekeys, end, area);
        Ok(links)
    })
}

/// Seconds from the origin to the end of the axis.
fn end_of_time(focus: &Focus, tunnel: usize) -> Option<f64> {
    let origin = focus.origin?;
    let bin_s = focus.analysis.series.bin_ms / 1000.0;
    let series = focus
        .analysis
        .series
        .tunnels
        .iter()
        .filter(|s| s.tunnel == tunnel);
    let ends = series.map(|s| s.start.seconds_since(origin) + s.inner_new_bytes.len() as f64 * bin_s);
    let end = ends
        .chain(focus.analysis.capture.duration_s)
        .filter(|e| e.is_finite())
        .fold(0.0, f64::max);
    (end > 0.0).then_some(end.min(LONGEST))
}

fn lane(focus: &Focus, tunnel: usize, direction: Direction) -> Option<Lane> {
    let all = &focus.analysis.series.tunnels;
    let series = all
        .iter()
        .find(|s| s.tunnel == tunnel && s.direction == direction)?;
    let offset = focus.seconds(series.start)?;
    let mut columns = columns(
        &series.inner_new_bytes,
        focus.analysis.series.bin_ms / 1000.0,
        (WIDTH - LEFT - RIGHT) as usize,
    );
    columns.iter_mut().for_each(|c| c.time += offset);
    let highest = columns.iter().map(|c| c.mean).fold(0.0, f64::max);
    (!columns.is_empty()).then_some(Lane {
        direction,
        columns,
        top: if highest > 0.0 { highest * 1.12 } else { 1.0 },
    })
}

fn description(focus: &Focus, tunnel: usize, end: f64) -> String {
    let hurt: Vec<String> = focus
        .rekeys(tunnel)
        .filter(|r| is_hurt(r))
        .take(20)
        .map(|r| (r.index + 1).to_string())
        .collect();
    let rekeys = format::counted(focus.rekeys(tunnel).count() as u64, "rekey", "rekeys");
    let which = if hurt.is_empty() {
        "none hurt".to_string()
    } else {
        format!("hurt: {}", hurt.join(", "))
    };
    format!(
        "Throughput of both directions over {}, {rekeys}, {which}; below, which SA carried packets when.",
        format::seconds(end)
    )
}

#[allow(clippy::too_many_arguments)]
fn draw_lane(
    area: &Canvas,
    focus: &Focus,
    tunnel: usize,
    lane: &Lane,
    numbers: u32,
    end: f64,
    rekeys: &[&Rekey],
) -> Drawn<()> {
    let (factor, prefix) = format::prefix_of(lane.top);
    let top = lane.top / factor;
    let mut chart = ChartBuilder::on(area)
        .margin_top(px(TITLE + numbers))
        .margin_right(px(RIGHT))
        .y_label_area_size(px(LEFT))
        .build_cartesian_2d(0.0..end, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .y_labels(if numbers > 0 { 6 } else { 3 })
        .y_max_light_lines(0)
        .bold_line_style(style::GRID.stroke_width(px(1)))
        .axis_style(style::GRID.stroke_width(px(1)))
        .y_label_style(style::label(12, style::MUTED))
        .y_label_formatter(&|y| plain(*y))
        .draw()?;
    let title = format!(
        "{}, {prefix}bit/s",
        words::direction(focus.analysis, tunnel, lane.direction)
    );
    area.draw(&Text::new(
        title,
        (px(LEFT) as i32, px(9) as i32),
        style::label(13, style::INK),
    ))?;
    for rekey in rekeys {
        draw_span(&mut chart, focus, rekey, lane.direction, end, top)?;
    }
    draw_rates(&mut chart, lane, factor, end, top)?;
    if numbers > 0 {
        draw_numbers(area, &chart, focus, rekeys, end)?;
    }
    Ok(())
}

fn draw_rates(chart: &mut Chart, lane: &Lane, factor: f64, end: f64, top: f64) -> Drawn<()> {
    let color = style::of(lane.direction);
    let at = |time: f64, rate: f64| (time.clamp(0.0, end), (rate / factor).clamp(0.0, top));
    let mut band: Vec<(f64, f64)> = lane.columns.iter().map(|c| at(c.time, c.high)).collect();
    band.extend(lane.columns.iter().rev().map(|c| at(c.time, c.low)));
    chart.draw_series(std::iter::once(Polygon::new(band, color.mix(0.25).filled())))?;
    let line = lane.columns.iter().map(|c| at(c.time, c.mean));
    chart.draw_series(LineSeries::new(line, color.stroke_width(px(1))))?;
    Ok(())
}

/// From the first message to the switch of this direction, seconds.
fn span(focus: &Focus, rekey: &Rekey, direction: Direction, end: f64) -> Option<(f64, f64)> {
    let from = focus.seconds(began(rekey)?)?;
    let to = rekey
        .switched
        .get(direction)
        .and_then(|t| focus.seconds(t))
        .unwrap_or(from);
    (from.is_finite() && to.is_finite()).then(|| (from.clamp(0.0, end), to.max(from).clamp(0.0, end)))
}

fn color_of(rekey: &Rekey) -> RGBColor {
    if is_hurt(rekey) { style::HURT } else { style::REKEY }
}

fn draw_span(chart: &mut Chart, focus: &Focus, rekey: &Rekey, d: Direction, end: f64, top: f64) -> Drawn<()> {
    let Some((from, to)) = span(focus, rekey, d, end) else {
        return Ok(());
    };
    let color = color_of(rekey);
    let pixel = end / f64::from(WIDTH - LEFT - RIGHT);
    if to - from >= pixel {
        let alpha = if is_hurt(rekey) { 0.35 } else { 0.25 };
        chart.draw_series(std::iter::once(Rectangle::new(
            [(from, 0.0), (to, top)],
            color.mix(alpha).filled(),
        )))?;
    }
    let stroke = color
        .mix(if is_hurt(rekey) { 1.0 } else { 0.6 })
        .stroke_width(px(1));
    chart.draw_series(std::iter::once(PathElement::new(
        vec![(from, 0.0), (from, top)],
        stroke,
    )))?;
    Ok(())
}

/// Numbers above the marks, the hurt ones first, as far as there is room.
fn draw_numbers(area: &Canvas, chart: &Chart, focus: &Focus, rekeys: &[&Rekey], end: f64) -> Drawn<()> {
    let mut taken: Vec<(i32, i32)> = Vec::new();
    let mut ordered: Vec<&&Rekey> = rekeys.iter().collect();
    ordered.sort_by_key(|r| !is_hurt(r));
    let (area_x, _) = area.get_pixel_range();
    for rekey in ordered {
        let Some((from, _)) = span(focus, rekey, Direction::AToB, end) else {
            continue;
        };
        let x = chart.plotting_area().map_coordinate(&(from, 0.0)).0 - area_x.start;
        let number = (rekey.index + 1).to_string();
        let stall = focus
            .shown(rekey)
            .and_then(|s| s.window)
            .map(|w| w.stall_ms)
            .filter(|_| is_hurt(rekey));
        let long = stall.map(|ms| format!("{number}: {}", format::duration_ms(ms)));
        for text in long.into_iter().chain([number]) {
            let color = if is_hurt(rekey) { style::HURT } else { style::MUTED };
            let font = style::label(12, color).pos(Pos::new(HPos::Center, VPos::Top));
            let half = area.estimate_text_size(&text, &font)?.0 as i32 / 2 + px(4) as i32;
            let (from, to) = (x - half, x + half);
            let (left, right) = (px(LEFT) as i32 - px(20) as i32, px(WIDTH) as i32);
            if from < left || to > right || taken.iter().any(|t| from < t.1 && to > t.0) {
                continue;
            }
            taken.push((from, to));
            area.draw(&Text::new(text, (x, px(TITLE - 2) as i32), font))?;
            break;
        }
    }
    Ok(())
}

/// The lanes; returns the x range of the plot and the bottom of the lanes, in units.
fn draw_sas(area: &Canvas, focus: &Focus, tunnel: usize, end: f64) -> Drawn<Extent> {
    let mut chart = ChartBuilder::on(area)
        .margin_top(px(TITLE))
        .margin_right(px(RIGHT))
        .y_label_area_size(px(LEFT))
        .x_label_area_size(px(AXIS))
        .build_cartesian_2d(0.0..end, 0.0..4.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_x_mesh()
        .y_labels(0)
        .x_labels(12)
        .axis_style(style::GRID.stroke_width(px(1)))
        .x_label_style(style::label(12, style::MUTED))
        .x_label_formatter(&|x| seconds(*x))
        .x_desc("seconds since the start of the capture")
        .axis_desc_style(style::label(12, style::MUTED))
        .draw()?;
    let title = "Security associations: one bar each, from its first to its last packet (pale: no key)";
    area.draw(&Text::new(
        title,
        (px(LEFT) as i32, px(9) as i32),
        style::label(13, style::INK),
    ))?;
    for (lane, direction) in focus.directions(tunnel).into_iter().enumerate() {
        let bars = sas(focus, tunnel, direction);
        for sa in bars.into_iter().take(MOST_BARS) {
            draw_bar(&mut chart, focus, sa, lane, direction, end)?;
        }
        let color = style::of(direction);
        let text = if direction == Direction::AToB {
            "a → b"
        } else {
            "b → a"
        };
        let y = px(TITLE + LANE * (2 * lane as u32 + 1)) as i32;
        let font = style::label(12, color).pos(Pos::new(HPos::Right, VPos::Center));
        area.draw(&Text::new(text, (px(LEFT) as i32 - px(8) as i32, y), font))?;
    }
    let (x, y) = chart.plotting_area().get_pixel_range();
    Ok(Extent {
        x: (x.start, x.end),
        bottom: y.end,
    })
}

/// Where the time axis lies, in units.
struct Extent {
    x: (i32, i32),
    bottom: i32,
}

fn sas<'a>(focus: &Focus<'a>, tunnel: usize, direction: Direction) -> Vec<&'a SecurityAssociation> {
    let Some(t) = focus.analysis.tunnels.get(tunnel) else {
        return Vec::new();
    };
    let src = if direction == Direction::AToB { t.a } else { t.b };
    let all = focus.analysis.security_associations.iter();
    all.filter(|sa| sa.tunnel == tunnel && sa.src == src && sa.packets > 0)
        .collect()
}

fn draw_bar(
    chart: &mut Chart,
    focus: &Focus,
    sa: &SecurityAssociation,
    lane: usize,
    direction: Direction,
    end: f64,
) -> Drawn<()> {
    let seconds =
        |t: Option<crate::time::Timestamp>| t.and_then(|t| focus.seconds(t)).map(|s| s.clamp(0.0, end));
    let (Some(from), Some(to)) = (seconds(sa.first_time), seconds(sa.last_time)) else {
        return Ok(());
    };
    let pixel = end / f64::from(WIDTH - LEFT - RIGHT);
    let to = to.max((from + pixel).min(end));
    let row = f64::from(3 - 2 * lane as u32) - f64::from(sa.generation % 2);
    let keyed = sa.key.status == KeyStatus::Verified;
    let fill = style::of(direction).mix(if keyed { 1.0 } else { 0.35 }).filled();
    chart.draw_series(std::iter::once(Rectangle::new(
        [(from, row + 0.1), (to, row + 0.9)],
        fill,
    )))?;
    if (to - from) / pixel >= 84.0 {
        let color = if keyed { style::ON_FILL } else { style::INK };
        let font = style::label(11, color).pos(Pos::new(HPos::Center, VPos::Center));
        chart.draw_series(std::iter::once(Text::new(
            sa.spi.to_string(),
            ((from + to) / 2.0, row + 0.5),
            font,
        )))?;
    }
    Ok(())
}

/// A link over each mark, to the row of the rekey.
fn draw_links(links: &mut String, focus: &Focus, rekeys: &[&Rekey], end: f64, area: Extent) {
    let width = f64::from(area.x.1 - area.x.0);
    let unit = |seconds: f64| area.x.0 + (seconds / end * width).round() as i32;
    for rekey in rekeys {
        let spans = Direction::BOTH.map(|d| span(focus, rekey, d, end));
        let Some((from, _)) = spans[0] else { continue };
        let to = spans.iter().flatten().map(|s| s.1).fold(from, f64::max);
        let label = format!(
            "Rekey {} at {} s{}",
            rekey.index + 1,
            format::clock(from),
            stall_of(focus, rekey)
        );
        let (x0, x1) = (unit(from) - px(4) as i32, unit(to) + px(4) as i32);
        link(
            links,
            &format!("rekey-{}", rekey.index + 1),
            &label,
            (x0, x1),
            (px(TITLE) as i32, area.bottom),
        );
    }
}

/// `: stall 201 ms, hurt`.
pub(super) fn stall_of(focus: &Focus, rekey: &Rekey) -> String {
    let stall = focus
        .shown(rekey)
        .and_then(|s| s.window)
        .map(|w| format::duration_ms(w.stall_ms));
    let hurt = if is_hurt(rekey) { ", hurt" } else { "" };
    stall.map_or_else(|| hurt.to_string(), |s| format!(": stall {s}{hurt}"))
}

/// A tick without needless digits.
pub(super) fn plain(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    // −0 is 0.
    (rounded + 0.0).to_string().replace('-', "−")
}

/// A tick of the time axis, in the form of the tables.
fn seconds(s: f64) -> String {
    let clock = format::clock(s);
    match clock.contains(':') {
        true => clock.trim_end_matches(".000").to_string(),
        false => plain(s),
    }
}
