//! The packets around one rekey: sequence numbers over time (a Stevens graph), the IKE messages above them.

mod arrow;
mod drawing;
mod hover;
mod marks;
mod messages;

use crate::plot::axes::{Axes, title};
use crate::plot::canvas::{Canvas, Drawn, Plot};
use crate::plot::stalls::stalls_around;
use crate::plot::style::{self, at, px};
use crate::words::focus::{Focus, at_most};
use crate::words::{self, format};
use drawing::{BELOW, CloseUpDrawing, LEFT, PLOTTED, RIGHT, WIDTH, width_of};
use plotters::element::{PathElement, Rectangle, Text};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use rekeyscope_model::analysis::{CloseUpPacket, Rekey};

pub(crate) fn draw(focus: &Focus, tunnel: usize, most: usize) -> Vec<Plot> {
    let with_one = focus.analysis.rekeys_of(tunnel).filter(|r| r.close_up.is_some());
    let rekeys = at_most(with_one.collect(), most);
    rekeys.into_iter().filter_map(|r| draw_one(focus, r)).collect()
}

fn draw_one(focus: &Focus, rekey: &Rekey) -> Option<Plot> {
    let drawing = CloseUpDrawing::new(focus, rekey)?;
    let t = focus.t;
    let number = focus.name(rekey);
    let title = fill!(t, "plot-close-title", number);
    let description = words::close_up(t, drawing.shown);
    let name = format!("close-up-{}", focus.key(rekey));
    let blank = Plot::blank(
        t.language(),
        name,
        (WIDTH, drawing.height()),
        [title, description],
    );
    let mut body = blank.layer(|root| drawing.draw_frame(root))?;
    body += &drawing.marks();
    let mut glyphs = String::new();
    body += &blank.layer(|root| {
        drawing.draw_messages(root)?;
        drawing.draw_switch(root)?;
        drawing.draw_legend(root, &mut glyphs)
    })?;
    let links = drawing.hover();
    Some(blank.compose(body + &glyphs, links))
}

impl CloseUpDrawing<'_> {
    /// Headline, axes, stalls.
    fn draw_frame(&self, root: &Canvas) -> Drawn<()> {
        let language = self.focus.t.language();
        let (factor, prefix) = match self.is_tcp() {
            true => format::prefix_of(self.high - self.low),
            false => (1.0, ""),
        };
        title(root, language, self.headline(prefix), (LEFT, 3))?;
        let (from, to) = (self.shown.from_ms / 1e3, self.shown.to_ms / 1e3);
        let (low, high) = (self.low / factor, self.high / factor);
        let area = root
            .clone()
            .shrink((0, 0), (px(WIDTH), px(self.height() - BELOW + 42)));
        let axes = Axes {
            below: Some(self.below()),
            labels: (14, 7),
            ..Axes::new(language, [self.top(), RIGHT, 42, LEFT])
        };
        let mut chart = axes.draw(&area, from..to, low..high)?;
        let stalls = stalls_around(self.focus, self.rekey, self.shown.direction, (from, to));
        // The outage of one pair of several is not drawn over the packets of another.
        let own = self.shown.connection.as_ref().map(|c| (c.src, c.dst));
        for shaded in stalls.iter().filter(|s| s.of.is_none() || s.of == own) {
            let shape = Rectangle::new([(shaded.from, low), (shaded.to, high)], shaded.fill());
            chart.draw_series(std::iter::once(shape))?;
        }
        Ok(())
    }

    fn headline(&self, prefix: &str) -> String {
        let t = self.focus.t;
        let direction = words::direction(t, self.focus.analysis, self.rekey.tunnel, self.shown.direction);
        let number = self.focus.name(self.rekey);
        match &self.shown.connection {
            Some(c) if self.is_tcp() => {
                let (src, dst) = (
                    format!("{}:{}", c.src, c.src_port),
                    format!("{}:{}", c.dst, c.dst_port),
                );
                let unit = format!("{prefix}B");
                fill!(t, "plot-close-tcp", number, src, dst, unit)
            }
            _ => fill!(t, "plot-close-esp", number, direction),
        }
    }

    fn below(&self) -> String {
        let t = self.focus.t;
        match self.rekey.started {
            Some(_) => t.word("plot-close-axis"),
            None => t.word("plot-close-axis-switch"),
        }
    }

    /// Lines at the last packet on the old SA and the first one on the new SA.
    fn draw_switch(&self, root: &Canvas) -> Drawn<()> {
        let t = self.focus.t;
        let bottom = at(self.top() + PLOTTED);
        let line = |packet: &CloseUpPacket, words: String, row: i32, beside: HPos| -> Drawn<()> {
            let x = self.x(packet.ms);
            let stroke = style::INK.mix(0.7).stroke_width(px(1));
            root.draw(&PathElement::new(vec![(x, at(self.top())), (x, bottom)], stroke))?;
            let font = style::label(t.language(), 12, style::INK);
            let width = width_of(t.language(), 12, &words) + at(6);
            // Beside the line, on the side where nothing is drawn; else on the other one.
            let is_left = match beside {
                HPos::Right => x - width > at(LEFT),
                _ => x + width > at(WIDTH),
            };
            let (x, pos) = match is_left {
                true => (x - at(6), HPos::Right),
                false => (x + at(6), HPos::Left),
            };
            root.draw(&Text::new(words, (x, row), font.pos(Pos::new(pos, VPos::Top))))?;
            Ok(())
        };
        if let Some(last) = &self.shown.last_on_old {
            let words = fill!(t, "plot-close-last", frame = last.frame);
            line(last, words, at(self.top() + 4), HPos::Right)?;
        }
        if let Some(first) = &self.shown.first_on_new {
            let words = fill!(t, "plot-close-first", frame = first.frame);
            line(first, words, bottom - at(20), HPos::Left)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
