//! Renders an [`Analysis`](rekeyscope_model::analysis::Analysis). Nothing in here computes a result: what is shown is in the document.
//!
//! [`focus`] chooses what is spoken of first, [`words`] and [`format`] put values into words, [`tables`] lays out rows;
//! [`text`], [`html`], [`plot`], [`csv`] and [`markdown`] are the formats.

#[cfg(test)]
pub(crate) mod example;
pub mod formats;
pub mod plot;
pub mod tables;
pub mod words;
