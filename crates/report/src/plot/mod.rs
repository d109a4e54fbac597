//! Plots as SVG, by plotters.
//!
//! They are drawn at twice their size, because the backend places everything on whole units, and scaled by `viewBox`.
//! Colours are the light theme's; a page recolours them by attribute selectors (see [`style`]). Reducing 20,000 bins to
//! the width of the plot is drawing, not analysis: the document keeps every bin.

pub(crate) mod account;
mod axes;
mod canvas;
mod close_up;
pub(crate) mod comparison;
pub(crate) mod label;
mod panel;
#[cfg(feature = "png")]
pub mod raster;
pub(crate) mod reduce;
pub(crate) mod stalls;
pub(crate) mod style;
mod svg;
mod timeline;

pub use canvas::Plot;
pub(crate) use svg::of_focus;
pub use svg::{TunnelPlots, render};
pub(crate) use timeline::{drawn, drawn_bin_ms};
