//! Makes text that came from outside (file names, key logs, packets) harmless on a terminal, in HTML and in Markdown:
//! what would move the cursor, colour the screen, reverse the reading order or hide is shown as an escape.

use rekeyscope_model::text::{Catalogue, Message};

/// Most characters of one value (a name, a path, what a key file says) that a report shows.
const LONGEST_VALUE: usize = 600;
/// Most characters of a sentence or a display filter, which this program makes itself and which says something else when it
/// is cut: the verdict with all its reservations has some 1,000, a ruled-out cause around it some 100 more; four times that,
/// because a saved document may hold anything.
const LONGEST_SENTENCE: usize = 4_400;

/// A value on one line, at most [`LONGEST_VALUE`] characters, with every invisible or steering character as `\u{…}`.
pub(crate) fn line(text: &str) -> String {
    at_most(text, LONGEST_VALUE)
}

/// A sentence or a display filter on one line, at most [`LONGEST_SENTENCE`] characters, otherwise like [`line`].
pub(crate) fn sentence(text: &str) -> String {
    at_most(text, LONGEST_SENTENCE)
}

fn at_most(text: &str, longest: usize) -> String {
    let cut = text.char_indices().nth(longest).map(|(at, _)| at);
    match cut.and_then(|at| text.get(..at)) {
        Some(shown) => harmless(shown) + "…",
        None => harmless(text),
    }
}

/// A text of any length with every invisible or steering character as `\u{…}`.
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
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
    sentence(&t.sentence(english, messages))
}

/// The first of the sentences that `english` and `messages` are.
pub(crate) fn first_said(t: &Catalogue, english: &str, messages: &[Message]) -> String {
    let first = english.split_inclusive(". ").next().unwrap_or_default();
    said(t, first.trim_end(), messages.get(..1).unwrap_or_default())
}

/// Several of them; each has a message, or none has.
pub(crate) fn all_said(t: &Catalogue, english: &[String], messages: &[Message]) -> Vec<String> {
    let one = |(n, sentence): (usize, &String)| {
        let message = messages.get(n..=n).filter(|_| messages.len() == english.len());
        said(t, sentence, message.unwrap_or_default())
    };
    english.iter().enumerate().map(one).collect()
}

/// Controls (C0, DEL, C1), line separators, bidirectional controls (Unicode UAX #9 §2), zero-width and filler
/// characters, interlinear annotation, and tags.
pub(crate) fn is_steering(c: char) -> bool {
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
        for (clean, longest) in [
            (line as fn(&str) -> String, LONGEST_VALUE),
            (sentence, LONGEST_SENTENCE),
        ] {
            let whole = "x".repeat(longest);
            assert_eq!(clean(&whole), whole);
            assert_eq!(clean(&(whole.clone() + "xx")), whole + "…");
        }
    }

    /// The longest verdicts have many reservations; a cut one says something else.
    #[test]
    fn a_long_verdict_is_whole_in_every_format() {
        let mut document = rekeyscope_testkit::example::seven_rekeys();
        let verdict = "What was lost before the first one is not counted. ".repeat(40) + "The end.";
        assert!(verdict.chars().count() > 3 * LONGEST_VALUE);
        document.impact[0].sentence = verdict.clone();
        document.impact[0].messages.clear();
        let squeezed = |text: String| text.split_whitespace().collect::<String>();
        for language in rekeyscope_model::text::Language::ALL {
            let options = crate::formats::text::TextOptions {
                width: 80,
                color: false,
                language,
            };
            for page in [
                crate::formats::text::render_in_full(&document, options),
                crate::formats::markdown::render(&document, language),
                crate::formats::html::render(&document, language),
            ] {
                assert!(squeezed(page).contains(&squeezed(verdict.clone())));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_steering_comes_out(text in "\\PC*|.*") {
            proptest::prop_assert!(!line(&text).chars().any(is_steering));
        }
    }
}
