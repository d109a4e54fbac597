//! Residue of a terminal: a pager's words, and lines that it broke at its edge.

use crate::lines::dump::whole_row;
use crate::lines::hex;
use crate::lines::text::Text;

/// Prompts of pagers.
const PAGERS: [&[u8]; 12] = [
    b"--More--",
    b"-- More --",
    b"<--- More --->",
    b"--- more ---",
    b"---(more)---",
    b"--more--",
    b"-- more --",
    b"---\xe3\x81\xa4\xe3\x81\xa5\xe3\x81\x8f---",
    b"---\x82\xc2\x82\xc3\x82\xad---",
    b"<- More ->",
    b"(END)",
    b"Press any key to continue",
];

/// The lines without a pager's words at their start.
pub(super) fn pager(text: &Text) -> Option<Text> {
    let behind = |text: &[u8], ends: &[u8]| text.iter().position(|b| ends.contains(b)).map_or(0, |at| at + 1);
    text.map(|line| {
        let trimmed = line.trim_ascii_start();
        let asked = PAGERS
            .into_iter()
            .find(|words| trimmed.starts_with(words))
            .map(<[u8]>::len)
            .or_else(|| {
                // `---(more 25%)---` of Junos, `-- [Q quit|D dump|down]` of RouterOS, `--More--(50%)`.
                let junos = trimmed.starts_with(b"---(more");
                let router_os = trimmed.starts_with(b"-- [");
                (junos || router_os).then(|| behind(trimmed, b")]"))
            })?;
        let rest = trimmed.get(asked..).unwrap_or_default();
        let percent = if rest.starts_with(b"(") {
            behind(rest, b")")
        } else {
            0
        };
        let rest = rest.get(percent..).unwrap_or_default();
        Some(rest.strip_prefix(b"---").unwrap_or(rest).to_vec())
    })
}

/// Narrowest and widest terminal.
const WIDTHS: std::ops::RangeInclusive<usize> = 20..=1_000;
/// Bytes at the start of a line by which lines are compared.
const HEAD: usize = 6;

/// Lines of the greatest width that tell a terminal where no value in hex is broken: one line is always the longest.
const FEWEST_FULL: usize = 2;

/// Lines that were broken at one width are whole again: none is longer, those that reach it end inside a word, and what follows them begins as no
/// other line does.
pub(super) fn wrapped(text: &Text) -> Option<Text> {
    let width = text
        .lines()
        .map(|line| columns(line.bytes))
        .max()
        .filter(|width| WIDTHS.contains(width))?;
    let lines: Vec<&[u8]> = text.lines().map(|line| line.bytes).collect();
    let reaches = |at: Option<usize>| {
        at.and_then(|at| lines.get(at))
            .is_some_and(|line| columns(line) == width)
    };
    // Most texts were broken by no terminal, and that is seen at once.
    let may_go_on = |pair: &[&[u8]]| matches!(pair, [line, after] if columns(line) == width && matches!(joint(line, after), Joint::Inside | Joint::InWord | Joint::AtBlank));
    if !lines.windows(2).any(may_go_on) {
        return None;
    }
    let fresh = (0..lines.len()).filter(|at| !reaches(at.checked_sub(1)));
    let mut heads: Vec<[u8; HEAD]> = fresh.filter_map(|at| head(lines.get(at)?)).collect();
    heads.sort_unstable();
    heads.dedup();
    let begins = |line: &[u8]| head(line).is_none_or(|head| heads.binary_search(&head).is_ok());
    let (mut inside, mut in_words, mut at_blank, mut between) = (0, 0, 0, 0);
    for pair in lines.windows(2) {
        let [line, after] = pair else { continue };
        if columns(line) == width {
            match joint(line, after) {
                _ if begins(after) => between += 1,
                Joint::Inside => inside += 1,
                Joint::InWord => in_words += 1,
                Joint::AtBlank => at_blank += 1,
                Joint::Between => between += 1,
                Joint::Either => {}
            }
        }
    }
    // Lines of a collector's records were broken by no terminal.
    let recorded = text.lines().any(|line| line.about.time.is_some());
    let full = lines.iter().filter(|line| columns(line) == width).count();
    let told = at_blank + in_words;
    let broken = match inside {
        0 => full >= FEWEST_FULL && told > between,
        _ => inside + in_words >= between,
    };
    if recorded || !broken {
        return None;
    }
    let mut next = text.next();
    let mut before: &[u8] = b"";
    for line in text.lines() {
        if columns(before) == width && !begins(line.bytes) && !is_row_of_rows(before, line.bytes) {
            next.extend_last(&[line.bytes]);
        } else {
            next.push(line);
        }
        before = line.bytes;
    }
    Some(next)
}

/// Columns that a line takes.
fn columns(line: &[u8]) -> usize {
    if line.is_ascii() {
        line.len()
    } else {
        line.iter().filter(|b| !(0x80..0xc0).contains(*b)).count()
    }
}

/// The kinds of the first characters.
fn head(line: &[u8]) -> Option<[u8; HEAD]> {
    let kind = |byte: &u8| match byte {
        b'0'..=b'9' => b'0',
        b'a'..=b'z' | b'A'..=b'Z' => b'a',
        b'\t' => b' ',
        other => *other,
    };
    let mut head = [b' '; HEAD];
    // Any digit may stand behind `0x`.
    let numbered = line.starts_with(b"0x");
    head.iter_mut().zip(line).for_each(|(head, byte)| {
        *head = match kind(byte) {
            b'a' if numbered => b'0',
            kind => kind,
        }
    });
    (!line.trim_ascii().is_empty()).then_some(head)
}

/// Rows of one dump are as wide as each other.
fn is_row_of_rows(line: &[u8], after: &[u8]) -> bool {
    whole_row(line).is_some() && whole_row(after).is_some()
}

/// Evidence of the end of a line and of the start of the next.
enum Joint {
    /// A value goes on.
    Inside,
    /// A word may go on.
    InWord,
    /// One blank between groups of hex, or a sign that can neither begin nor end a line.
    AtBlank,
    /// A line may end here as well.
    Either,
    /// A line ends here.
    Between,
}

/// A value in hex goes on with hex, ends behind a whole group, and may end where it is as long as a key.
fn joint(line: &[u8], after: &[u8]) -> Joint {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
    let mut words = line
        .rsplit(|b| !is_word(b))
        .map(|word| hex::after_0x(word).unwrap_or(word));
    let (last, before) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut firsts = after.split(|b| !is_word(b));
    let (first, second) = (
        firsts.next().unwrap_or_default(),
        firsts.next().unwrap_or_default(),
    );
    let is_group = |word: &[u8]| matches!(word.len(), 2 | 4 | 8 | 16) && hex::all_digits(word);
    let as_group = |a: &[u8], b: &[u8]| is_group(a) && is_group(b) && a.len() == b.len();
    let quoted = |line: &[u8]| line.iter().filter(|b| **b == b'"').count() % 2 == 1;
    if is_row_of_rows(line, after) {
        return Joint::Between;
    }
    if quoted(line) && quoted(after) || line.ends_with(b"0x") && hex::all_digits(first) {
        return Joint::Inside;
    }
    if last.is_empty() || first.is_empty() {
        let blank = line.ends_with(b" ") && as_group(before, first)
            || after.starts_with(b" ") && as_group(last, second);
        let sign = match after {
            [b':' | b'=' | b',', ..] => !last.is_empty(),
            [b'.', digit, ..] => !last.is_empty() && digit.is_ascii_digit(),
            _ => false,
        };
        // No line ends behind these.
        let open = matches!(line, [.., before, b'=' | b'/' | b'-' | b'_' | b'('] if is_word(before))
            && !first.is_empty();
        return if blank || sign || open {
            Joint::AtBlank
        } else {
            Joint::Either
        };
    }
    // The last of several groups is whole, or the next line has its rest.
    if hex::all_digits(last) && is_group(before) && last.len() <= before.len() {
        let rest = hex::all_digits(first) && last.len() + first.len() == before.len();
        return if rest { Joint::Inside } else { Joint::Between };
    }
    match hex::all_digits(last) {
        // A number of its own.
        true if last.len() < 8 && last.iter().all(u8::is_ascii_digit) => Joint::Either,
        false => Joint::InWord,
        true if last.len() < 8 && last.iter().all(u8::is_ascii_alphabetic) => Joint::InWord,
        true if last.len() < 8 => Joint::Inside,
        true if !hex::all_digits(first) => Joint::Between,
        // An SPI, a cookie or a key is whole.
        true if matches!(last.len(), 8 | 16 | 32 | 40 | 48 | 56 | 64 | 72 | 96 | 128) => Joint::Either,
        true => Joint::Inside,
    }
}
