//! Hex on a line, in every grouping: `LABEL[:= (]…hex`, and rows that go on with it.

use crate::formats::yamaha::labels::{Kind, kind};
use crate::lines::hex::{self, digit};
use crate::lines::outer::{LogLine, Tag};

/// Fewest hex digits that count as a value: an SPI. Fewer are numbers in the text.
const FEWEST_DIGITS: usize = 8;

/// A stretch of hex.
#[derive(Debug, Default)]
pub(crate) struct HexRun<'a> {
    /// The text before it, from the end of the stretch before.
    pub(crate) label: &'a [u8],
    /// Values of its digits.
    pub(crate) nibbles: Vec<u8>,
    /// Digits in its first group; of rows that go on with a value, in the value's.
    pub(crate) group: usize,
    /// `0x` stands before them.
    pub(crate) prefixed: bool,
    /// Place at which the text goes on behind it.
    pub(crate) end: usize,
}

/// The next stretch of hex at or after `from`.
pub(crate) fn next_run(text: &[u8], from: usize) -> Option<HexRun<'_>> {
    let mut at = from;
    while let Some(token) = next_token(text, at) {
        at = token.end;
        if !token.is_hex() {
            continue;
        }
        let run = read_run(text, &token, token.digits.len());
        let label = text.get(from..token.start).unwrap_or_default();
        // At the end of a line that was cut there may be less of a value.
        let cut = || run.end == text.len() && !label.ends_with(b"[") && kind(label) != Kind::Unknown;
        if run.nibbles.len() >= FEWEST_DIGITS || token.prefixed || cut() {
            return Some(HexRun { label, ..run });
        }
    }
    None
}

/// Facts about a value that a line may go on with.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SoFar {
    /// Digits in its first group; 0: it has none yet.
    pub(crate) group: usize,
    /// Digits that it has.
    pub(crate) digits: usize,
    /// The rows begin with `0x`.
    pub(crate) prefixed: bool,
}

/// Hex at the very start of a line that goes on with a value. `None` when the line does not begin with hex, or begins with a word
/// that only looks like it ("be", "add"), or with `0x` where the value's other rows do not.
pub(crate) fn continuation(text: &[u8], so_far: SoFar) -> Option<HexRun<'_>> {
    let token = next_token(text, 0)?;
    let begun = so_far.group > 0;
    if token.start > 0 || !token.is_hex() || (token.prefixed && !so_far.prefixed && begun) {
        return None;
    }
    let odd = !so_far.digits.is_multiple_of(2);
    let first_group = token.digits.len();
    // A value without groups may be broken anywhere, into rows of an odd number of digits each; a letter or two at the start of a line are a label.
    if !odd && !first_group.is_multiple_of(2) && so_far.group.min(first_group) <= FEWEST_DIGITS {
        return None;
    }
    // The next group tells the length of a first one that was cut.
    let joined = so_far.group + first_group;
    let after = next_token(text, token.end).map_or(0, |next| next.digits.len());
    let group = match so_far.group {
        0 => first_group,
        _ if so_far.digits == so_far.group && after == joined => joined,
        group => group,
    };
    let run = read_run(text, &token, group);
    let rest = text.get(run.end..)?;
    let whole_line = rest.trim_ascii().is_empty();
    let labelled = || whole_line || kind(rest) != Kind::Unknown;
    let rest_of_group = so_far
        .digits
        .checked_rem(group)
        .is_some_and(|of| of > 0 && first_group == group - of);
    let fits = first_group == group || first_group >= FEWEST_DIGITS || odd || whole_line || rest_of_group;
    // The rest of a value without groups.
    let solid_rest = || group > FEWEST_DIGITS && labelled();
    let numeric = run.nibbles.iter().any(|nibble| *nibble < 10) || run.nibbles.len() >= FEWEST_DIGITS;
    let plausible = (fits || solid_rest()) && (numeric || labelled());
    plausible.then_some(run)
}

/// Reads groups from `first` on. All have `group` digits; the first may have fewer or more (a cut line), and a shorter
/// one ends the stretch when no hex follows it.
fn read_run<'a>(text: &'a [u8], first: &Token<'a>, group: usize) -> HexRun<'a> {
    let mut nibbles: Vec<u8> = Vec::with_capacity(64);
    nibbles.extend(first.digits.iter().filter_map(|b| digit(*b)));
    let mut end = first.end;
    while let Some(token) = next_token(text, end) {
        let gap = text.get(end..token.start).unwrap_or_default();
        let blank = !gap.is_empty() && gap.iter().all(u8::is_ascii_whitespace);
        let joined = group == 2 && matches!(gap, b":" | b"-");
        // Bytes that each have their `0x`; of longer groups each is a value of its own.
        let bytes = group == 2 && first.prefixed;
        if !(blank || joined) || !token.is_hex() || (token.prefixed && !bytes) {
            break;
        }
        let last = next_token(text, token.end).is_none_or(|next| !next.is_hex());
        if token.digits.len() != group && !(token.digits.len() < group && last) {
            break;
        }
        nibbles.extend(token.digits.iter().filter_map(|b| digit(*b)));
        end = token.end;
    }
    HexRun {
        label: b"",
        nibbles,
        group,
        prefixed: first.prefixed,
        end,
    }
}

/// A word of the text, without the `0x` before it.
struct Token<'a> {
    start: usize,
    end: usize,
    digits: &'a [u8],
    prefixed: bool,
}

impl Token<'_> {
    fn is_hex(&self) -> bool {
        hex::all_digits(self.digits)
    }
}

/// The next word at or after `from`.
fn next_token(text: &[u8], from: usize) -> Option<Token<'_>> {
    let parts = |b: &u8| b" \t\r\n\x0c:=(),[]{}<>\"';|-".contains(b);
    let rest = text.get(from..)?;
    let start = from + rest.iter().position(|b| !parts(b))?;
    let len = text.get(start..)?.iter().position(parts);
    let end = len.map_or(text.len(), |len| start + len);
    let word = text.get(start..end)?;
    let behind_0x = hex::after_0x(word);
    Some(Token {
        start,
        end,
        digits: behind_0x.unwrap_or(word),
        prefixed: behind_0x.is_some(),
    })
}

// Framing of a line of hex: the rows of one value are framed alike.

/// Time and tag of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowFraming {
    moment: Option<u64>,
    /// A collector's time.
    collected: Option<u64>,
    tag: Tag,
}

impl RowFraming {
    pub(super) fn of(line: &LogLine<'_>) -> RowFraming {
        RowFraming {
            moment: line.moment,
            collected: line.collected(),
            tag: line.tag,
        }
    }

    /// Tells whether it has a tag.
    pub(super) fn is_tagged(&self) -> bool {
        self.tag != Tag::None
    }

    /// Tells whether a line has the same time (to the second, which is what routers print) or none, and the same tag.
    pub(super) fn is_of(&self, line: &LogLine<'_>) -> bool {
        self.has_time_of(line) && self.tag == line.tag
    }

    /// Tells whether a line has the same time or none, and no tag.
    pub(super) fn may_lack_its_tag(&self, line: &LogLine<'_>) -> bool {
        self.has_time_of(line) && line.tag == Tag::None
    }

    /// The router's time decides; a collector's clock may have gone on between two lines of one message.
    fn has_time_of(&self, line: &LogLine<'_>) -> bool {
        match line.moment {
            Some(moment) => self.moment == Some(moment),
            None => line.collected().is_none_or(|time| self.collected == Some(time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::key::SecretName;

    fn runs(text: &str) -> Vec<(Kind, Vec<u8>)> {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(run) = next_run(text.as_bytes(), at) {
            at = run.end;
            out.push((kind(run.label), hex::pack(&run.nibbles)));
        }
        out
    }

    #[test]
    fn every_grouping() {
        let want = vec![(
            Kind::Secret(SecretName::SkeyidE),
            vec![0xb0, 0x16, 0x81, 0x21, 0x5f, 0x16, 0x20, 0x23],
        )];
        for text in [
            "SKEYID_e: b0 16 81 21 5f 16 20 23",
            "skeyid_e = 0xB01681215F162023",
            "SKEYID_e(8)b0168121 5f162023",
            "SKEYID e (8 bytes): b0168121 5f162023 ok",
            "SKEYID_e b0:16:81:21:5f:16:20:23",
            "SKEYID-e b0-16-81-21-5f-16-20-23",
            "SKEYID_e 0xb0 0x16 0x81 0x21 0x5f 0x16 0x20 0x23",
            "12:01:34 SKEYID_e 64: b0 16 81 21 5f 16 20 23",
        ] {
            assert_eq!(runs(text), want, "{text}");
        }
        assert_eq!(runs("dead beef")[0].1, [0xde, 0xad, 0xbe, 0xef]);
        assert!(runs("respond IPsec phase to 200.1.1.1 (local address 100.1.1.1)").is_empty());
    }

    #[test]
    fn two_values_on_a_line() {
        let got = runs("SPI: c7df968a encryption key: 49765da9 2b65 auth key 0xc46a");
        assert_eq!(
            got,
            [
                (Kind::Spi, vec![0xc7, 0xdf, 0x96, 0x8a]),
                (Kind::EncryptionKey, vec![0x49, 0x76, 0x5d, 0xa9, 0x2b, 0x65]),
                (Kind::IntegrityKey, vec![0xc4, 0x6a]),
            ]
        );
    }

    #[test]
    fn what_goes_on_with_a_value() {
        let goes_on = |text: &'static [u8], digits, prefixed| {
            let group = 2;
            let so_far = SoFar {
                group,
                digits,
                prefixed,
            };
            continuation(text, so_far)
        };
        assert!(goes_on(b"fb 3a auth key: 11", 8, false).is_some());
        assert!(goes_on(b"fb auth key: 11", 8, false).is_some());
        let in_group = |group, digits| SoFar {
            group,
            digits,
            prefixed: false,
        };
        assert!(continuation(b"6515 auth key: 11", in_group(8, 12)).is_some());
        assert_eq!(continuation(b"0147fd 5052af34", in_group(2, 2)).unwrap().group, 8);
        assert!(continuation(b"6515 packets", in_group(8, 8)).is_none());
        assert!(continuation(b"35 auth key: 11", in_group(30, 30)).is_some());
        assert!(continuation(b"12 packets", in_group(32, 32)).is_none());
        assert!(goes_on(b"2b 65 53", 8, false).is_some());
        assert!(goes_on(b"5 2b 65 53", 7, false).is_some());
        assert!(goes_on(b"be sure to", 8, false).is_none());
        assert!(goes_on(b"add 12345678", 8, false).is_none());
        assert!(goes_on(b"SPI: 12345678", 8, false).is_none());
        assert!(goes_on(b"0x2b655300", 8, true).is_some());
        assert!(goes_on(b"0x2b655300", 8, false).is_none());
        assert_eq!(goes_on(b"2b 65 auth key: 11", 8, false).unwrap().end, 5);
    }
}
