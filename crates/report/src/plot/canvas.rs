//! A plot, and what it is drawn on.

use crate::plot::style::{self, UNITS};
use crate::words::clean;
use askama::filters::{Html, escape};
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use rekeyscope_model::text::Language;
use std::fmt::Write as _;

/// Says who made a file of its own.
const GENERATOR: &str = "data-generator=\"rekeyscope\"";

/// One plot.
#[derive(Debug, Clone)]
pub struct Plot {
    /// File stem, for example `timeline-0`, `panel-3`, `panel-1-3` where several tunnels have rekeys.
    pub name: String,
    /// Title for people who see the plot.
    pub title: String,
    /// The same for people who do not see it.
    pub description: String,
    /// CSS pixels.
    pub width: u32,
    /// CSS pixels.
    pub height: u32,
    /// Language of its labels.
    pub language: Language,
    body: String,
    links: String,
}

impl Plot {
    /// The plot for a page that brings [`style::css`]: it takes the page's width and colours, and its rekeys link to their rows.
    pub fn inline(&self) -> String {
        let role = if self.links.is_empty() { "img" } else { "group" };
        self.svg(&format!("class=\"plot\" role=\"{role}\""), "", &self.links)
    }

    /// A file of its own, with its font.
    pub fn standalone(&self) -> String {
        let size = format!(
            "width=\"{}\" height=\"{}\" role=\"img\" {GENERATOR}",
            self.width, self.height
        );
        let background = format!(
            "<style>{}</style><rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n",
            style::font_face(self.language)
        );
        self.svg(&size, &background, "")
    }

    fn svg(&self, attributes: &str, before: &str, after: &str) -> String {
        let (w, h, name) = (self.width * UNITS, self.height * UNITS, &self.name);
        let title = escaped(&self.title);
        let description = escaped(&self.description);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" {attributes} \
             aria-labelledby=\"{name}-title {name}-desc\">\n<title id=\"{name}-title\">{title}</title>\n\
             <desc id=\"{name}-desc\">{description}</desc>\n{before}{}{after}</svg>\n",
            self.body
        )
    }
}

/// Clean text, escaped for HTML and XML.
pub(crate) fn escaped(text: &str) -> String {
    escape(clean::line(text), Html).map_or_else(|_| String::new(), |safe| safe.to_string())
}

/// The area that drawing functions draw on.
pub(crate) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// Drawing into memory does not fail, which plotters cannot know.
pub(crate) type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

impl Plot {
    /// A plot on which nothing is drawn yet.
    pub(crate) fn blank(
        language: Language,
        name: String,
        size: (u32, u32),
        [title, description]: [String; 2],
    ) -> Plot {
        Plot {
            name,
            title,
            description,
            width: size.0,
            height: size.1,
            language,
            body: String::new(),
            links: String::new(),
        }
    }

    /// The plot with one layer.
    pub(crate) fn draw(self, draw: impl FnOnce(&Canvas) -> Drawn<()>) -> Option<Plot> {
        let body = self.layer(draw)?;
        Some(Plot { body, ..self })
    }

    /// One layer: elements without the enclosing `<svg>`.
    pub(crate) fn layer(&self, draw: impl FnOnce(&Canvas) -> Drawn<()>) -> Option<String> {
        let mut svg = String::new();
        {
            let size = (self.width * UNITS, self.height * UNITS);
            let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            draw(&root).ok()?;
            root.present().ok()?;
        }
        let (_, body) = svg.split_once('\n')?;
        body.trim_end().strip_suffix("</svg>").map(str::to_string)
    }

    /// The plot with its layers, and the links to lay over it.
    pub(crate) fn compose(self, body: String, links: String) -> Plot {
        Plot { body, links, ..self }
    }
}

/// A link over a part of a plot, with a tool tip. Units, not pixels.
pub(crate) fn link(out: &mut String, href: &str, label: &str, (x0, x1): (i32, i32), (y0, y1): (i32, i32)) {
    let label = escaped(label);
    let _ = writeln!(
        out,
        "<a href=\"#{href}\"><title>{label}</title><rect class=\"hit\" x=\"{x0}\" y=\"{y0}\" \
         width=\"{}\" height=\"{}\" fill=\"#000000\" fill-opacity=\"0\"/></a>",
        x1 - x0,
        y1 - y0
    );
}
