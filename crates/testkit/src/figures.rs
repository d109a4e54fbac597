//! Figures in texts.

use std::collections::BTreeSet;

/// The figures of a sentence, whatever stands around them.
pub fn figures(sentence: &str) -> BTreeSet<String> {
    let parts = sentence.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',' && c != '−');
    let parts = parts.map(|part| part.trim_end_matches(['.', ',']).trim_start_matches(','));
    parts
        .filter(|part| part.contains(|c: char| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}
