//! One file for each format: terminal text, HTML, Markdown, CSV; and the reports of the subcommands.

pub mod comparison;
pub mod csv;
pub mod html;
pub mod index;
pub mod keys;
pub mod markdown;
pub mod metrics;
mod sections;
mod sparkline;
mod terminal;
#[cfg(test)]
mod tests;
pub mod text;
pub mod watch;
