//! Tables for spreadsheets: one CSV file each for SAs, rekeys and series.

use crate::analysis::Analysis;

/// File names with their contents.
pub fn render(_analysis: &Analysis) -> Vec<(&'static str, Vec<u8>)> {
    unimplemented!()
}
