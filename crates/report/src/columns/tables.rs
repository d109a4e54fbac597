//! The tables. One row each.

use rekeyscope_model::analysis::Analysis;

/// A table: a list of the document, or a list inside the entries of one.
#[derive(Debug)]
pub struct FleetTable {
    /// The name of its folder.
    pub name: &'static str,
    /// Path to its rows: `["rekeys", "impact"]` are the effects of all rekeys. An empty path is the capture itself, one row.
    pub(super) path: &'static [&'static str],
    /// Fields that a row gets of the entries above it: how many lists down that entry is, its field, and the column's name.
    pub(super) lent: &'static [(usize, &'static str, &'static str)],
    /// The schema of its rows, in `$defs` of the document's.
    pub(super) row: &'static str,
    /// Fields whose names an engine reserves, or that say the same under another name elsewhere, and their columns.
    pub(super) renamed: &'static [(&'static str, &'static str)],
}

impl FleetTable {
    /// Tells whether the document has such rows, or could: most captures have no other point.
    pub fn is_of(&self, analysis: &Analysis) -> bool {
        self.path.first() != Some(&TWO_POINTS) || analysis.two_points.is_some()
    }
}

pub(super) const TWO_POINTS: &str = "two_points";

/// In the order of `docs/fleet.md`.
pub const TABLES: &[FleetTable] = &[
    table("captures", &[], "Capture"),
    table("tunnels", &["tunnels"], "Tunnel").renaming(&[("id", "tunnel")]),
    table(
        "security_associations",
        &["security_associations"],
        "SecurityAssociation",
    ),
    table("rekeys", &["rekeys"], "Rekey").renaming(&[("index", "rekey")]),
    table("rekey_impact", &["rekeys", "impact"], "RekeyImpact")
        .lent(&[(0, "tunnel", "tunnel"), (0, "index", "rekey")]),
    table("attempts", &["attempts"], "Attempt").renaming(&[("index", "attempt")]),
    table("impact", &["impact"], "Impact"),
    table("ledger", &["ledger"], "Ledger"),
    table("account", &["account"], "Account").renaming(&[("start", "started"), ("end", "ended")]),
    table("account_labels", &["account", "labels"], "AccountLine")
        .lent(&[(0, "tunnel", "tunnel"), (0, "direction", "direction")])
        .renaming(&[("s_per_gb", "seconds_per_gb")]),
    table("findings", &["findings"], "Finding"),
    table("two_points", &[TWO_POINTS], "TwoPoints").renaming(&[("from", "since"), ("to", "until")]),
    table(
        "two_points_directions",
        &[TWO_POINTS, "directions"],
        "PointDirection",
    )
    .renaming(&[("both", "at_both"), ("order", "packet_order")]),
    table("two_points_rekeys", &[TWO_POINTS, "rekeys"], "PointRekey"),
    // The rows are the bins of all series; see `rows.rs`.
    table("series", &["series"], "Bin"),
];

const fn table(name: &'static str, path: &'static [&'static str], row: &'static str) -> FleetTable {
    FleetTable {
        name,
        path,
        lent: &[],
        row,
        renamed: &[],
    }
}

impl FleetTable {
    const fn lent(self, lent: &'static [(usize, &'static str, &'static str)]) -> FleetTable {
        FleetTable { lent, ..self }
    }

    const fn renaming(self, renamed: &'static [(&'static str, &'static str)]) -> FleetTable {
        FleetTable { renamed, ..self }
    }
}
