//! Makes text that came from outside (file names, key logs, packets) harmless on a terminal, in HTML and in Markdown:
//! what would move the cursor, colour the screen, reverse the reading order or hide is shown as an escape.

use crate::text::{Catalogue, Message};

/// Most characters of one value that a report shows.
const LONGEST: usize = 600;

/// The text on one line, at most [`LONGEST`] characters, with every invisible or steering character as `\u{…}`.
pub(crate) fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(LONGEST));
    for (n, c) in text.chars().enumerate() {
        if n == LONGEST {
            out.push('…');
            break;
        }
        if is_steering(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// A sentence of the document in the language of the report, on one line.
pub(crate) fn said(t: &Catalogue, english: &str, messages: &[Message]) -> String {
    line(&t.sentence(english, messages))
}

/// Controls (C0, DEL, C1), line separators, bidirectional controls (Unicode UAX #9 §2), zero-width and filler
/// characters, interlinear annotation, and tags.
fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steering_characters_become_visible() {
        assert_eq!(line("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(line("\u{202e}gnp.exe\u{2066}"), "\\u{202e}gnp.exe\\u{2066}");
        assert_eq!(
            line("two\r\nlines\u{2028}\u{9b}"),
            "two\\u{d}\\u{a}lines\\u{2028}\\u{9b}"
        );
        assert_eq!(line("Zürich 東京 – 5 µs"), "Zürich 東京 – 5 µs");
    }

    #[test]
    fn long_text_is_cut_visibly() {
        let cut = line(&"x".repeat(10_000));
        assert_eq!(cut.chars().count(), LONGEST + 1);
        assert!(cut.ends_with('…'));
    }

    proptest::proptest! {
        #[test]
        fn nothing_steering_comes_out(text in "\\PC*|.*") {
            proptest::prop_assert!(!line(&text).chars().any(is_steering));
        }
    }
}
