//! Plots as SVG, by plotters.
