//! Durations in Japanese sentences.

use std::ops::RangeInclusive;

/// Units of durations beside their Japanese. Milliseconds stay `ms`, as Japanese engineers write them.
const UNITS: [(&str, &str); 3] = [("s", "秒"), ("min", "分"), ("h", "時間")];

/// Hiragana, katakana and kanji.
const JAPANESE: RangeInclusive<char> = '\u{3041}'..='\u{9fff}';

/// `2 min 5 s` as `2 分 5 秒`; `None` where the text is no duration in these units.
pub(super) fn duration(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(' ').collect();
    let pairs = words.chunks(2).map(|pair| match pair {
        [figure, unit] if is_figure(figure) => {
            let (_, japanese) = UNITS.iter().find(|(symbol, _)| symbol == unit)?;
            Some(format!("{figure} {japanese}"))
        }
        _ => None,
    });
    Some(pairs.collect::<Option<Vec<_>>>()?.join(" "))
}

/// `0.19–0.33 秒` as `0.19～0.33 秒`: each sign between two figures.
pub(super) fn range(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut after_digit = false;
    while let Some(c) = rest.next() {
        let between = after_digit && rest.peek().is_some_and(char::is_ascii_digit);
        out.push(if c == '–' && between { '～' } else { c });
        after_digit = c.is_ascii_digit();
    }
    out
}

/// A number or a range of numbers, perhaps with a sign.
fn is_figure(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || ".,–−+".contains(c))
}

/// Removes the spaces between a spelt unit and the Japanese behind it: an argument in Latin letters needs
/// that space, a duration does not.
pub(super) fn tightened(said: &str) -> String {
    let mut closed = String::with_capacity(said.len());
    let mut rest = said.chars().peekable();
    while let Some(c) = rest.next() {
        let is_japanese = |c: &char| JAPANESE.contains(c);
        let behind_unit = || UNITS.iter().any(|(_, unit)| closed.ends_with(unit));
        if c != ' ' || !rest.peek().is_some_and(is_japanese) || !behind_unit() {
            closed.push(c);
        }
    }
    closed
}
