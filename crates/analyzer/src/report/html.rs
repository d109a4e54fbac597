//! One offline HTML file with inline SVG.

use crate::analysis::Analysis;

/// The whole document.
pub fn render(_analysis: &Analysis) -> String {
    unimplemented!()
}
