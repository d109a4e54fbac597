//! The terminal report: the verdict sentence first.

use crate::analysis::Analysis;

/// How to write to the terminal.
#[derive(Debug, Clone, Copy)]
pub struct TextOptions {
    /// Columns available.
    pub width: usize,
    /// ANSI colours.
    pub color: bool,
}

/// The whole terminal report, ending in a newline.
pub fn render(_analysis: &Analysis, _options: TextOptions) -> String {
    unimplemented!()
}
