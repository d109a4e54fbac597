//! Where the time went, as a page wants it.

use crate::plot::account::{bar, part, swatch};
use crate::tables::{self, Table};
use crate::words;
use crate::words::focus::Focus;
use rekeyscope_model::analysis::{Account, AccountGap};
use rekeyscope_model::text::Catalogue;

/// Accounts shown; the others are in the document.
const MOST_ACCOUNTS: usize = 12;

/// One account.
pub(super) struct AccountView {
    pub(super) direction: String,
    /// Empty where the verdict's card has said it.
    pub(super) sentence: String,
    pub(super) bar: String,
    pub(super) bar_label: String,
    /// A square of the colour, and what it stands for, in the order of the parts.
    pub(super) legend: Vec<(String, String)>,
    pub(super) table: Table,
    pub(super) stretches: Vec<StretchView>,
}

/// One of the longest stretches.
pub(super) struct StretchView {
    pub(super) label: String,
    pub(super) seconds: String,
    pub(super) filter: String,
}

/// A comparison with another capture.
pub(super) struct GapView {
    pub(super) title: String,
    pub(super) sentence: String,
    pub(super) table: Table,
}

pub(super) fn accounts(focus: &Focus) -> Vec<AccountView> {
    let all = words::accounts(focus.analysis).into_iter().take(MOST_ACCOUNTS);
    all.map(|account| AccountView::new(focus, account)).collect()
}

impl AccountView {
    fn new(focus: &Focus, account: &Account) -> AccountView {
        let t = focus.t;
        let direction = words::direction(t, focus.analysis, account.tunnel, account.direction);
        let bar_label = t.fill("page-account-bar", &[("direction", &direction)]);
        let sentence = match words::is_headline(focus, account) {
            true => String::new(),
            false => words::account(t, account),
        };
        let legend = account.labels.iter();
        let stretches = tables::stretches(account).into_iter();
        AccountView {
            direction,
            sentence,
            bar: bar(t, account, &bar_label),
            bar_label,
            legend: legend
                .map(|line| (swatch(line.label), part(t, account, line)))
                .collect(),
            table: tables::account(focus, account).without_empty(),
            stretches: stretches
                .map(|(label, stretch)| StretchView {
                    label: words::account_label(t, label),
                    seconds: words::seconds_of(stretch.seconds, stretch.seconds),
                    filter: words::stretch_filter(stretch),
                })
                .collect(),
        }
    }
}

impl GapView {
    pub(super) fn new(t: &Catalogue, title: String, gap: &AccountGap) -> GapView {
        GapView {
            title,
            sentence: words::gap(t, gap),
            table: tables::gap(t, gap),
        }
    }
}
