//! The document as text, HTML, Markdown, CSV and plots. Nothing in here computes a result: what is shown is in the document.
//!
//! - [`words`]: values and causes in words, in the language of a catalogue; what is spoken of first.
//! - `tables`: rows and columns, whatever lays them out.
//! - [`plot`]: SVG by plotters, PNG with the feature `png`.
//! - [`formats`]: one file for each format.
//! - `columns`: Parquet tables for fleets, with the feature `parquet`.

/// A message of a catalogue with its arguments by name: `fill!(t, "heading-tunnel", tunnel, what = ends)`.
macro_rules! fill {
    (@value $name:ident) => { &$name };
    (@value $name:ident = $value:expr) => { &$value };
    ($t:expr, $id:expr, $($name:ident $(= $value:expr)?),+ $(,)?) => {
        $t.fill($id, &[$((stringify!($name), fill!(@value $name $(= $value)?))),+])
    };
}

#[cfg(feature = "parquet")]
pub mod columns;
pub mod formats;
pub mod plot;
mod tables;
pub mod words;
