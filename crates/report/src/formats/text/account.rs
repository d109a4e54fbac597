//! Where the time went, on a terminal.

use crate::formats::terminal::TerminalPage;
use crate::tables;
use crate::words;
use crate::words::focus::Focus;

/// Accounts shown; the others are in the document.
const MOST_ACCOUNTS: usize = 8;

/// The labels of the headline's direction, and what is said of the others; in the full report every table, and the filters.
pub(super) fn section(page: &mut TerminalPage, focus: &Focus, full: bool) {
    let t = focus.t;
    let accounts = words::accounts(focus.analysis);
    if accounts.is_empty() {
        return;
    }
    page.heading(&t.word("heading-account"));
    for account in accounts.into_iter().take(MOST_ACCOUNTS) {
        let headline = words::is_headline(focus, account);
        if !headline {
            let direction = words::direction(t, focus.analysis, account.tunnel, account.direction);
            let sentence = words::account(t, account);
            page.paragraph(&t.fill(
                "direction-sentence",
                &[("direction", &direction), ("sentence", &sentence)],
            ));
        }
        if headline || full {
            page.table(&tables::account(focus, account));
        }
        for (label, stretch) in tables::stretches(account).into_iter().filter(|_| full) {
            let label = words::account_label(t, label);
            let label = t.fill("account-filter", &[("label", &label), ("filter", "")]);
            page.filter(&label, &words::stretch_filter(stretch));
        }
    }
    if let Some(gap) = &focus.analysis.gap {
        page.blank();
        page.paragraph(&words::gap(t, gap));
        page.table(&tables::gap(t, gap));
    }
}
