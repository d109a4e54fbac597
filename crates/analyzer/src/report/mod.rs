//! Renders an [`Analysis`](crate::analysis::Analysis). Nothing in here computes a result: what is shown is in the document.

pub mod csv;
pub mod html;
pub mod plot;
pub mod text;
