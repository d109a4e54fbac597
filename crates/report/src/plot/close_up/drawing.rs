//! Sizes, axes and contents that every part of the drawing shares.

use super::arrow::{Arrow, arrows};
use crate::plot::style::{self, at, px};
use crate::words::focus::Focus;
use rekeyscope_model::analysis::{CloseUp, CloseUpNumbers, CloseUpSeries, Rekey};
use rekeyscope_model::text::Language;

pub(super) const WIDTH: u32 = 1100;
pub(super) const LEFT: u32 = 80;
pub(super) const RIGHT: u32 = 16;
/// Height of the headline, and of the plotting area.
pub(super) const TITLE: u32 = 24;
pub(super) const PLOTTED: u32 = 280;
/// The time axis and the legend.
pub(super) const BELOW: u32 = 64;
/// Packets drawn of one series; a document has fewer.
pub(super) const MOST_DRAWN: usize = 2_000;
/// The window's edge is drawn where it leaves the data this share of the height.
const LEAST_OF_HEIGHT: f64 = 0.5;

/// Rows of labels above the lines of the IKE messages, and the height of one.
pub(super) const ROWS: usize = 3;
pub(super) const ROW: u32 = 15;
/// Between the gateway's line and the client's.
pub(super) const APART: u32 = 30;
/// CSS pixels of the messages in all.
const MESSAGES: u32 = ROW * ROWS as u32 + APART + 24;

pub(super) struct CloseUpDrawing<'a> {
    pub(super) focus: &'a Focus<'a>,
    pub(super) rekey: &'a Rekey,
    pub(super) shown: &'a CloseUp,
    pub(super) arrows: Vec<Arrow>,
    /// Ends of the vertical axis.
    pub(super) low: f64,
    pub(super) high: f64,
    /// The window's edge lies between them.
    pub(super) edge_fits: bool,
}

impl<'a> CloseUpDrawing<'a> {
    /// `None` where there is nothing to draw, or over no time.
    pub(super) fn new(focus: &'a Focus, rekey: &'a Rekey) -> Option<Self> {
        let shown = rekey.close_up.as_ref()?;
        let all = shown.series.iter().flat_map(|s| s.values.iter().take(MOST_DRAWN));
        let (low, high) = all.fold((f64::MAX, f64::MIN), |(low, high), v| {
            (low.min(*v as f64), high.max(*v as f64))
        });
        if high < low || shown.to_ms <= shown.from_ms || !(shown.to_ms - shown.from_ms).is_finite() {
            return None;
        }
        let edges = shown
            .series
            .iter()
            .flat_map(|s| s.window_edges.iter().take(MOST_DRAWN));
        let edge = edges.copied().max().map(|edge| edge as f64);
        let edge_fits = edge.is_some_and(|edge| (high - low) >= (edge - low) * LEAST_OF_HEIGHT);
        let high = edge.filter(|_| edge_fits).map_or(high, |edge| edge.max(high));
        let margin = ((high - low) * 0.04).max(1.0);
        Some(CloseUpDrawing {
            focus,
            rekey,
            shown,
            arrows: arrows(focus, shown),
            low: low - margin,
            high: high + margin,
            edge_fits,
        })
    }

    /// First row of the plotting area, CSS pixels.
    pub(super) fn top(&self) -> u32 {
        TITLE + if self.arrows.is_empty() { 0 } else { MESSAGES }
    }

    pub(super) fn height(&self) -> u32 {
        self.top() + PLOTTED + BELOW
    }

    /// Units from the left.
    pub(super) fn x(&self, ms: f64) -> i32 {
        let share = (ms - self.shown.from_ms) / (self.shown.to_ms - self.shown.from_ms);
        let width = f64::from(px(WIDTH - LEFT - RIGHT));
        at(LEFT) + (share.clamp(0.0, 1.0) * width).round() as i32
    }

    /// Units from above.
    pub(super) fn y(&self, value: i64) -> i32 {
        let share = (value as f64 - self.low) / (self.high - self.low);
        let bottom = f64::from(px(self.top() + PLOTTED));
        (bottom - share.clamp(0.0, 1.0) * f64::from(px(PLOTTED))).round() as i32
    }

    pub(super) fn is_tcp(&self) -> bool {
        self.shown.numbers == CloseUpNumbers::TcpBytes
    }

    /// The packets of the data, or those of the other direction.
    pub(super) fn series(&self, data: bool) -> impl Iterator<Item = &'a CloseUpSeries> {
        let shown = self.shown;
        let is_asked_for = move |s: &&CloseUpSeries| (s.direction == shown.direction) == data;
        shown.series.iter().filter(is_asked_for)
    }
}

/// Width of a text, units. Japanese is measured up to 13 % too narrow.
pub(super) fn width_of(language: Language, pixels: u32, text: &str) -> i32 {
    style::width(language, pixels, text) * 115 / 100
}
