//! The second part of the table: rows for time that is no outage. The sweep of the account decides which of them a stretch has; what the
//! program knows of a label beside its sentences stands here, in its row.

use rekeyscope_model::analysis::AccountLabel;

/// A row for a label of the account.
#[derive(Debug)]
pub struct CostRow {
    /// The label: its name in the document, in the catalogues (`account-…`, `advice-…`) and in the documentation.
    pub label: AccountLabel,
    /// Needs of the row, for the documentation.
    pub needs: &'static str,
    /// The exclusions of the row, for the documentation.
    pub unless: &'static str,
    /// True where somebody can change it. Rekeys and outages have causes of their own.
    pub has_cure: bool,
    /// The place beside rekeys that hurt.
    pub beside_rekeys: BesideRekeys,
    /// True where the packets show what would be won without it. No packet shows what a path carries without a full window or buffer or with other
    /// machines, nor what a sender had not to send.
    pub shows_gain: bool,
    /// True where packets that a replay check drops look like it.
    pub may_be_replay: bool,
}

/// The place of a cost beside rekeys that hurt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BesideRekeys {
    /// No rekey makes it, so it leads where it cost more.
    Leads,
    /// Rekeys may make it, so it leads only where these cost little.
    Follows,
    /// Every connection has it: it is no fault.
    Usual,
}

/// A row of a fault that has a cure, and that may follow from rekeys.
const fn row(label: AccountLabel, needs: &'static str) -> CostRow {
    CostRow {
        label,
        needs,
        unless: "",
        has_cure: true,
        beside_rekeys: BesideRekeys::Follows,
        shows_gain: true,
        may_be_replay: false,
    }
}

/// A row that another part of the table explains, or that nobody can change.
const fn without_cure(label: AccountLabel, needs: &'static str) -> CostRow {
    CostRow {
        has_cure: false,
        ..row(label, needs)
    }
}

/// A row of a bound: a window, or a buffer.
const fn bound(label: AccountLabel, needs: &'static str) -> CostRow {
    CostRow {
        beside_rekeys: BesideRekeys::Leads,
        shows_gain: false,
        ..row(label, needs)
    }
}

/// All rows, in the order in which the first that fits has a stretch.
pub static COSTS: [CostRow; 13] = [
    without_cure(
        AccountLabel::CaptureHole,
        "an acknowledgement covers data that was never captured, and ESP numbers are missing; or the clock was set",
    ),
    without_cure(
        AccountLabel::TunnelDown,
        "the ledger has a silence that a failed renewal owns, an outage that no renewal cost, or one that began before anybody asked, up to where the transfer is back",
    ),
    without_cure(
        AccountLabel::Rekey,
        "the ledger has a silence, or a slow stretch, of a renewal that succeeded",
    ),
    bound(
        AccountLabel::ZeroWindow,
        "the receiver's window is smaller than a segment for more than half of the wait",
    ),
    CostRow {
        unless: "a loss explains the wait; the path is at its own rate anyhow, so that a larger window would win nothing",
        ..bound(
            AccountLabel::ReceiveWindow,
            "data goes up to the right edge of the receiver's window, and the next packet follows at once on the acknowledgement that opens it",
        )
    },
    CostRow {
        unless: "the path is at its own rate anyhow",
        ..bound(
            AccountLabel::SendBuffer,
            "the data in flight stays at the same height for eight round trips without loss, below the window, and each packet follows on an acknowledgement",
        )
    },
    CostRow {
        unless: "another connection of the direction does something at the time",
        beside_rekeys: BesideRekeys::Usual,
        shows_gain: false,
        ..row(
            AccountLabel::Application,
            "the window and the proven congestion window allowed a packet, and none came; it then came on no acknowledgement",
        )
    },
    CostRow {
        may_be_replay: true,
        ..row(
            AccountLabel::PathLoss,
            "a segment was sent again, and the data in flight is not back where it was, for at most as long as Reno or CUBIC take",
        )
    },
    CostRow {
        may_be_replay: true,
        ..row(
            AccountLabel::QueueLoss,
            "a segment was sent again while packets queued (the round trip had grown) or the rate was at the path's own, and the data in flight is not back where it was",
        )
    },
    CostRow {
        may_be_replay: true,
        ..row(
            AccountLabel::Reordering,
            "an acknowledgement comes sooner after a copy than any round trip allows, or a smaller ESP number came late",
        )
    },
    CostRow {
        unless: "it comes behind a loss",
        beside_rekeys: BesideRekeys::Usual,
        ..row(
            AccountLabel::Growth,
            "the data in flight grows from round trip to round trip; likewise five round trips after a rest, from the eleventh segment on",
        )
    },
    CostRow {
        shows_gain: false,
        may_be_replay: true,
        ..row(
            AccountLabel::Capacity,
            "the rate is at the path's own, with no wait longer than a round trip",
        )
    },
    without_cure(AccountLabel::Unexplained, "nothing of these holds"),
];

/// The row of a label; every one has its own.
pub fn cost_row(label: AccountLabel) -> &'static CostRow {
    let row = COSTS.iter().find(|row| row.label == label);
    row.unwrap_or(&COSTS[COSTS.len() - 1])
}
