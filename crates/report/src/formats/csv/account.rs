//! The account of the time, as a table for spreadsheets.

use super::{columns, number};
use crate::words;
use rekeyscope_model::analysis::{Account, AccountGapLine, AccountLine, Analysis};

/// One row per tunnel, direction and label.
pub(super) fn account(analysis: &Analysis) -> Vec<u8> {
    let own = |of| move |line| (of, line, gap(analysis, of, line));
    let accounts = analysis.account.iter();
    let rows: Vec<_> = accounts.flat_map(|of| of.labels.iter().map(own(of))).collect();
    columns::<(&Account, &AccountLine, Option<&AccountGapLine>), _>(
        &rows,
        [
            ("tunnel", |(of, ..)| of.tunnel.to_string()),
            ("direction", |(of, ..)| of.direction.to_string()),
            ("label", |(_, line, _)| line.label.to_string()),
            ("seconds", |(_, line, _)| number(Some(line.seconds))),
            ("bytes", |(_, line, _)| line.bytes.to_string()),
            ("lost_seconds", |(_, line, _)| number(Some(line.lost_seconds))),
            ("share", |(_, line, _)| number(Some(line.share))),
            ("lost_share", |(_, line, _)| number(line.lost_share)),
            ("s_per_gb", |(_, line, _)| number(line.s_per_gb)),
            ("without_mbps", |(_, line, _)| number(line.without_mbps)),
            ("reference_mbps", |(of, ..)| number(Some(of.reference_mbps))),
            ("own_mbps", |(of, ..)| number(Some(of.own_mbps))),
            ("own_from", |(of, ..)| of.own_from.to_string()),
            ("also", |(_, line, _)| {
                let also = line.also.iter().map(|a| a.label.as_str());
                also.collect::<Vec<_>>().join(" ")
            }),
            ("reference_s_per_gb", |(.., gap)| {
                number(gap.map(|g| g.reference_s_per_gb))
            }),
            ("gap_s_per_gb", |(.., gap)| number(gap.map(|g| g.gap_s_per_gb))),
            ("display_filter", |(_, line, _)| words::stretches_filter(line)),
        ],
    )
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
