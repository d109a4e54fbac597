//! The document as text, HTML, Markdown, CSV and plots. Nothing in here computes a result: what is shown is in the document.
//!
//! - [`words`]: values and causes in words, in the language of a catalogue; what is spoken of first.
//! - `tables`: rows and columns, whatever lays them out.
//! - [`plot`]: SVG by plotters, PNG with the feature `png`.
//! - [`formats`]: one file for each format.
//! - `columns`: Parquet tables for fleets, with the feature `parquet`.

#[cfg(feature = "parquet")]
pub mod columns;
pub mod formats;
pub mod plot;
mod tables;
pub mod words;
