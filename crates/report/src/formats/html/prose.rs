//! Sentences of a page in which something is code.

use crate::words::clean;

/// Pieces of a sentence, and whether each is code.
pub(super) type Prose = Vec<(bool, String)>;

/// Our own sentences, in which backticks set off what is typed: pieces, and whether each is code.
pub(super) fn prose(text: &str) -> Prose {
    text.split('`')
        .enumerate()
        .map(|(i, piece)| (i % 2 == 1, clean::sentence(piece)))
        .collect()
}
