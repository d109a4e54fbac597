//! Where the time went, as a table for spreadsheets.

use super::{cell, number, table};
use crate::words;
use rekeyscope_model::analysis::{Account, AccountGapLine, AccountLine, Analysis};

/// One row per tunnel, direction and label.
pub(super) fn account(analysis: &Analysis) -> Vec<u8> {
    let header = [
        "tunnel",
        "direction",
        "label",
        "seconds",
        "bytes",
        "lost_seconds",
        "share",
        "lost_share",
        "s_per_gb",
        "without_mbps",
        "reference_mbps",
        "own_mbps",
        "own_from",
        "also",
        "reference_s_per_gb",
        "gap_s_per_gb",
        "display_filter",
    ];
    let row = |(of, line): (&Account, &AccountLine)| {
        let also: Vec<&str> = line.also.iter().map(|a| a.label.as_str()).collect();
        let gap = gap(analysis, of, line);
        [
            of.tunnel.to_string(),
            of.direction.to_string(),
            line.label.to_string(),
            number(Some(line.seconds)),
            line.bytes.to_string(),
            number(Some(line.lost_seconds)),
            number(Some(line.share)),
            number(line.lost_share),
            number(line.s_per_gb),
            number(line.without_mbps),
            number(Some(of.reference_mbps)),
            number(Some(of.own_mbps)),
            cell(Some(of.own_from)),
            also.join(" "),
            number(gap.map(|g| g.reference_s_per_gb)),
            number(gap.map(|g| g.gap_s_per_gb)),
            words::stretches_filter(line),
        ]
    };
    let lines = analysis.account.iter();
    let lines = lines.flat_map(|of| of.labels.iter().map(move |line| (of, line)));
    table(header, lines.map(row))
}

/// Against the reference, which the headline's direction alone is compared with.
fn gap<'a>(analysis: &'a Analysis, of: &Account, line: &AccountLine) -> Option<&'a AccountGapLine> {
    let headline = analysis.impact.first()?;
    let own = (headline.tunnel, headline.direction) == (of.tunnel, of.direction);
    let mut all = analysis.gap.as_ref().filter(|_| own)?.labels.iter();
    all.find(|g| g.label == line.label)
}

#[cfg(test)]
mod tests {
    use crate::formats::csv::render;
    use rekeyscope_testkit::example;

    #[test]
    fn a_row_per_label() {
        let mut document = example::seven_rekeys();
        let files = render(&document);
        let account = files.iter().find(|(name, _)| *name == "account.csv").unwrap();
        let text = String::from_utf8(account.1.clone()).unwrap();
        assert_eq!(text.lines().count(), 1 + document.account[0].labels.len());
        let window = text.lines().find(|l| l.contains(",receive_window,")).unwrap();
        assert!(
            window.starts_with("0,b_to_a,receive_window,7,5963999,"),
            "{window}"
        );
        assert!(
            window.ends_with(
                "(frame.number >= 151 && frame.number <= 301) || (frame.number >= 901 && frame.number <= 1051) || \
                 (frame.number >= 1651 && frame.number <= 1801)"
            ),
            "{window}"
        );
        document.account.clear();
        assert!(render(&document).iter().all(|(name, _)| *name != "account.csv"));
    }
}
