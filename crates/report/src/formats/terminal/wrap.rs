//! Lines of text: comfy-table breaks at every space, also before a unit, and Japanese, which is written without spaces, anywhere.

use unicode_linebreak::{BreakOpportunity, linebreaks};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in lines of at most `width` columns, broken where Unicode allows it (UAX #14).
pub(super) fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::with_capacity(text.len() + text.len() / width.max(1));
    let (mut line, mut rest) = (String::new(), 0);
    for (end, opportunity) in linebreaks(text) {
        let mandatory = opportunity == BreakOpportunity::Mandatory;
        if !mandatory && !may_break(text, end) {
            continue;
        }
        let piece = text.get(rest..end).unwrap_or_default();
        rest = end;
        if line.width() + piece.trim_end().width() > width && !line.is_empty() {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line.clear();
        }
        line.push_str(piece.trim_end_matches('\n'));
        if mandatory {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line.clear();
        }
    }
    lines.truncate(lines.trim_end().len());
    lines
}

/// Not inside words and numbers in Latin letters (`0.38–1.34`, `L2TP/IPsec`), nor between a number and its unit.
fn may_break(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let next = after.chars().next();
    let last = before.chars().next_back();
    if last == Some(' ') {
        let number = before.trim_end().ends_with(|c: char| c.is_ascii_digit());
        return !number;
    }
    [last, next].into_iter().flatten().any(is_wide)
}

fn is_wide(c: char) -> bool {
    c.width() == Some(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_full_and_begin_with_no_full_stop() {
        let text = "一部のリキーがスループットを下げています。無通信は最長 0.40 s、95 % 信頼区間 −0.05 ～ 0.38 s です。";
        assert_eq!(
            wrapped(text, 30),
            "一部のリキーがスループットを下\nげています。無通信は最長\n0.40 s、95 % 信頼区間 −0.05 ～\n0.38 s です。"
        );
        let full_stop = wrapped("あいうえお。かきくけこ。", 10);
        assert_eq!(full_stop, "あいうえ\nお。かきく\nけこ。");
    }

    #[test]
    fn a_unit_stays_beside_its_number() {
        let text = "Rekeys cost throughput: each stalls the download for 0.86 s on average.";
        let lines = "Rekeys cost\nthroughput: each\nstalls the download\nfor 0.86 s on\naverage.";
        assert_eq!(wrapped(text, 20), lines);
        assert_eq!(wrapped("It took 28 % (2 %)", 16), "It took 28 %\n(2 %)");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_too_wide(
            pieces in proptest::collection::vec("[あ-ん]{1,6}[、。]?|[a-z]{1,8}|[0-9]{1,4} (ms|kB)|（[あ-ん]{1,4}）", 1..40),
            width in 20_usize..100,
        ) {
            let text = pieces.join(" ");
            let lines = wrapped(&text, width);
            let squeeze = |s: &str| s.split_whitespace().collect::<String>();
            prop_assert_eq!(squeeze(&lines), squeeze(&text));
            if text.chars().any(is_wide) {
                prop_assert!(lines.lines().all(|l| l.width() <= width), "{}", lines);
            }
        }
    }
}
