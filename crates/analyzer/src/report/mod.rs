//! Renders an [`Analysis`](crate::analysis::Analysis). Nothing in here computes a result: what is shown is in the document.
//!
//! [`focus`] chooses what is spoken of first, [`words`] and [`format`] put values into words, [`tables`] lays out rows;
//! [`text`], [`html`], [`plot`], [`csv`] and [`markdown`] are the formats.

mod advice;
mod clean;
pub mod comparison;
pub mod csv;
#[cfg(test)]
pub(crate) mod example;
pub(crate) mod focus;
mod format;
pub mod html;
pub mod index;
pub mod keys;
#[cfg(test)]
mod languages;
pub mod markdown;
pub mod plot;
pub mod raster;
mod reduce;
mod sparkline;
mod tables;
mod terminal;
pub mod text;
pub mod underivable;
mod words;
