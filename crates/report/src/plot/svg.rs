//! The plots of a document, tunnel by tunnel.

use crate::plot::canvas::Plot;
use crate::plot::{close_up, panel, timeline};
use crate::words::focus::Focus;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::text::Language;

/// Tunnels that are drawn.
pub(crate) const MOST_TUNNELS: usize = 6;
/// Panels for the first tunnel, one per rekey.
const MOST_PANELS: usize = 24;
/// Panels for each further tunnel.
const MOST_PANELS_FURTHER: usize = 6;
/// One of so many panels may have its packets drawn, each some 40 kB.
const PANELS_PER_CLOSE_UP: usize = 2;

/// The plots of one tunnel.
#[derive(Debug, Clone, Default)]
pub struct TunnelPlots {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// Throughput with every rekey.
    pub timeline: Option<Plot>,
    /// The same as `timeline` for a telephone: a page alone has it, of its first tunnel.
    pub(crate) narrow: Option<Plot>,
    /// Round trips, data in flight, where the time went, and the lanes of the SAs.
    pub detail: Option<Plot>,
    /// One panel per rekey, same scale.
    pub panels: Vec<Plot>,
    /// Rekeys without a panel.
    pub panels_left_out: usize,
    /// The packets around a rekey, for those that have them.
    pub close_ups: Vec<Plot>,
    /// Rekeys without them.
    pub close_ups_left_out: usize,
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
        let close_ups = close_up::draw(focus, tunnel, most / PANELS_PER_CLOSE_UP);
        let [timeline, narrow, detail] = timeline::draw(focus, tunnel).unwrap_or_default();
        out.push(TunnelPlots {
            tunnel,
            timeline,
            narrow,
            detail,
            panels_left_out: focus.analysis.rekeys_of(tunnel).count() - panels.len(),
            panels,
            close_ups_left_out: focus.analysis.rekeys_of(tunnel).count() - close_ups.len(),
            close_ups,
        });
    }
    out
}

impl TunnelPlots {
    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = &Plot> {
        let run = self.timeline.iter().chain(&self.detail);
        run.chain(&self.panels).chain(&self.close_ups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_testkit::example;

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
    fn seven_rekeys_give_every_kind() {
        let document = example::seven_rekeys();
        let plots = render(&document, Language::English);
        assert_eq!(plots.len(), 1);
        assert!(plots[0].timeline.is_some());
        assert_eq!((plots[0].panels.len(), plots[0].close_ups.len()), (7, 7));
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
        let svg = render(&document, Language::English)[0].panels[0].standalone();
        assert!(svg.contains("@font-face") && svg.contains("font/otf;base64,"));
        assert!(svg.len() < 100_000, "{}", svg.len());
    }
}
