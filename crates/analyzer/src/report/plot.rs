//! Plots as SVG, by plotters.
//!
//! They are drawn at twice their size, because the backend places everything on whole units, and scaled by `viewBox`.
//! Colours are the light theme's; a page recolours them by attribute selectors (see [`style`]). Reducing 20,000 bins to
//! the width of the plot is drawing, not analysis: the document keeps every bin.

pub(crate) mod comparison;
mod mean;
mod panel;
pub(crate) mod style;
mod timeline;

use super::clean;
use super::focus::Focus;
use crate::analysis::Analysis;
use crate::text::Language;
use askama::filters::{Html, escape};
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use std::fmt::Write as _;

/// Tunnels that are drawn.
pub(crate) const MOST_TUNNELS: usize = 6;
/// Panels for the first tunnel, one per rekey.
const MOST_PANELS: usize = 24;
/// Panels for each further tunnel.
const MOST_PANELS_FURTHER: usize = 6;

/// Drawing units per CSS pixel.
const UNITS: u32 = 2;

/// One plot.
#[derive(Debug, Clone)]
pub struct Plot {
    /// File stem, for example `timeline-0`, `panel-3`, `panel-1-3` where several tunnels have rekeys.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The same for people who do not see it.
    pub description: String,
    /// CSS pixels.
    pub width: u32,
    /// CSS pixels.
    pub height: u32,
    /// What its labels are written in.
    pub language: Language,
    body: String,
    links: String,
}

/// The plots of one tunnel.
#[derive(Debug, Clone, Default)]
pub struct TunnelPlots {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// Throughput per direction with every rekey, over the lanes of the SAs.
    pub timeline: Option<Plot>,
    /// The mean rekey over its placebo band, per direction.
    pub mean: Vec<Plot>,
    /// One panel per rekey, same scale.
    pub panels: Vec<Plot>,
    /// Rekeys without a panel.
    pub panels_left_out: usize,
}

/// The plots of the first [`MOST_TUNNELS`] tunnels, the headline's first.
pub fn render(analysis: &Analysis, language: Language) -> Vec<TunnelPlots> {
    let focus = Focus::new(analysis, language);
    of_focus(&focus)
}

pub(crate) fn of_focus(focus: &Focus) -> Vec<TunnelPlots> {
    let mut out = Vec::new();
    for (n, &tunnel) in focus.tunnels.iter().take(MOST_TUNNELS).enumerate() {
        let most = if n == 0 { MOST_PANELS } else { MOST_PANELS_FURTHER };
        let panels = panel::draw(focus, tunnel, most);
        out.push(TunnelPlots {
            tunnel,
            timeline: timeline::draw(focus, tunnel),
            mean: mean::draw(focus, tunnel),
            panels_left_out: focus.rekeys(tunnel).count() - panels.len(),
            panels,
        });
    }
    out
}

impl TunnelPlots {
    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = &Plot> {
        self.timeline.iter().chain(&self.mean).chain(&self.panels)
    }
}

impl Plot {
    /// For a page that brings [`style::css`]: takes the page's width and colours, and its rekeys link to their rows.
    pub fn inline(&self) -> String {
        let role = if self.links.is_empty() { "img" } else { "group" };
        self.svg(&format!("class=\"plot\" role=\"{role}\""), "", &self.links)
    }

    /// A file of its own, with its font.
    pub fn standalone(&self) -> String {
        let size = format!("width=\"{}\" height=\"{}\" role=\"img\"", self.width, self.height);
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

/// What the drawing functions draw on.
type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// Drawing into memory fails only when a label cannot be measured.
type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// What a plot is before it is drawn.
struct Blank {
    language: Language,
    name: String,
    title: String,
    description: String,
    width: u32,
    height: u32,
}

impl Blank {
    /// A plot of one layer.
    fn draw(self, draw: impl FnOnce(&Canvas) -> Drawn<()>) -> Option<Plot> {
        let body = self.layer(draw)?;
        Some(self.compose(body, String::new()))
    }

    /// One layer: elements without the enclosing `<svg>`.
    fn layer(&self, draw: impl FnOnce(&Canvas) -> Drawn<()>) -> Option<String> {
        style::register_font_once();
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
    fn compose(self, body: String, links: String) -> Plot {
        let Blank {
            language,
            name,
            title,
            description,
            width,
            height,
        } = self;
        Plot {
            language,
            name,
            title,
            description,
            width,
            height,
            body,
            links,
        }
    }
}

/// A link over a part of a plot, with a tool tip. Units, not pixels.
fn link(out: &mut String, href: &str, label: &str, (x0, x1): (i32, i32), (y0, y1): (i32, i32)) {
    let label = escaped(label);
    let _ = writeln!(
        out,
        "<a href=\"#{href}\"><title>{label}</title><rect class=\"hit\" x=\"{x0}\" y=\"{y0}\" \
         width=\"{}\" height=\"{}\" fill=\"#000000\" fill-opacity=\"0\"/></a>",
        x1 - x0,
        y1 - y0
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn every_plot_of_every_document_is_well_formed() {
        for document in example::all() {
            for plots in render(&document, Language::English) {
                for plot in plots.iter() {
                    for svg in [plot.inline(), plot.standalone()] {
                        assert_eq!(svg.matches("<svg").count(), 1);
                        assert!(svg.ends_with("</svg>\n"));
                        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", plot.name);
                        assert!(!svg.contains("<script"));
                    }
                }
            }
        }
    }

    #[test]
    fn seven_rekeys_give_all_four_kinds() {
        let document = example::seven_rekeys();
        let plots = render(&document, Language::English);
        assert_eq!(plots.len(), 1);
        assert!(plots[0].timeline.is_some());
        assert_eq!(plots[0].mean.len(), 1);
        assert_eq!(plots[0].panels.len(), 7);
        let timeline = plots[0].timeline.as_ref().unwrap().inline();
        assert_eq!(timeline.matches("<a href=\"#rekey-").count(), 7);
        assert!(timeline.contains("#D55E00"), "a hurt rekey is highlighted");
    }

    #[test]
    fn twenty_thousand_bins_stay_small() {
        let shape = example::Shape {
            rekeys: 500,
            seconds: 20_000.0,
            bin_ms: 1000.0,
            ..Default::default()
        };
        let document = example::build(&shape);
        assert_eq!(document.series.tunnels[0].inner_new_bytes.len(), 20_000);
        let plots = render(&document, Language::English);
        for plot in plots[0].iter() {
            let size = plot.inline().len();
            assert!(size < 400_000, "{}: {size}", plot.name);
        }
        assert_eq!(plots[0].panels.len() + plots[0].panels_left_out, 500);
    }

    #[test]
    fn a_file_brings_its_font() {
        let document = example::seven_rekeys();
        let svg = render(&document, Language::English)[0].mean[0].standalone();
        assert!(svg.contains("@font-face") && svg.contains("font/otf;base64,"));
        assert!(svg.len() < 100_000, "{}", svg.len());
    }
}
