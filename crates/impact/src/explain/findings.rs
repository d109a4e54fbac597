//! The third part of the table: rows for what the packets show beside outages and costs. The analyzer finds them.

use rekeyscope_model::analysis::{Analysis, Direction, Finding, FindingKind, Severity};
use rekeyscope_model::text::Arg;

/// A row for a finding.
#[derive(Debug)]
pub struct FindingRow {
    /// The kind: the finding's `id` in the document.
    pub kind: FindingKind,
    /// Severity of such a finding.
    pub severity: Severity,
    /// True where it says how far the figures of an answer hold: no answer must be read without it.
    pub limits_figures: bool,
    /// Needs of the row, for the documentation.
    pub needs: &'static str,
    /// The exclusions of the row, for the documentation.
    pub unless: &'static str,
}

const fn warning(kind: FindingKind, needs: &'static str) -> FindingRow {
    FindingRow {
        kind,
        severity: Severity::Warning,
        limits_figures: false,
        needs,
        unless: "",
    }
}

/// All rows.
pub static FINDINGS: [FindingRow; 19] = [
    warning(
        FindingKind::FragmentationCliff,
        "one of ten packets of a direction (100 or more) is split so that a few bytes are left, by IP or by TCP (which sends them within half a second: later ones are another write)",
    ),
    warning(
        FindingKind::PathMtu,
        "one of ten packets of a direction (100 or more) comes in outer fragments",
    ),
    FindingRow {
        severity: Severity::Info,
        unless: "the SAs carry different inner addresses",
        ..warning(
            FindingKind::DuplicateSas,
            "twenty times a packet comes on an older SA after its renewal was over",
        )
    },
    FindingRow {
        severity: Severity::Info,
        unless: "the packets of one direction went past the capture",
        ..warning(
            FindingKind::RedundantSas,
            "three pairs of SAs or more were negotiated and never used, while older ones still were",
        )
    },
    FindingRow {
        unless: "TCP shows that as many arrived as were lost",
        ..warning(
            FindingKind::BehindWindow,
            "twenty packets, and one of a thousand, come 32, 64 or 128 numbers late",
        )
    },
    FindingRow {
        unless: "they are more than those with a right one: the key is another's",
        ..warning(
            FindingKind::Damaged,
            "twenty packets, and one of a thousand, come with a wrong ICV under a key that others prove",
        )
    },
    FindingRow {
        limits_figures: true,
        ..warning(
            FindingKind::CaptureDrops,
            "acknowledged bytes that were never captured account for half of twenty or more missing packets, or the capture program says that it dropped some",
        )
    },
    FindingRow {
        unless: "the capture lost them; smaller packets are lost too, or first fragments",
        ..warning(
            FindingKind::LostFragments,
            "twenty ESP packets, and one of a thousand, are missing, and of three of four of them the first fragment came",
        )
    },
    FindingRow {
        unless: "some SA of the direction has packets that no key opens",
        ..warning(
            FindingKind::LostBeforeEncryption,
            "twenty segments, and one of a thousand, come for the first time when TCP sends them again, and fewer than half as many ESP numbers are missing",
        )
    },
    warning(
        FindingKind::OneDirectionLoss,
        "twenty ESP numbers, and one of a thousand, are missing, and of the other direction less than one of a thousand, though three would be missing at the same share",
    ),
    warning(
        FindingKind::BothDirectionsLoss,
        "twenty ESP numbers, and one of a thousand, are missing, and of the other direction one of a thousand, too",
    ),
    warning(
        FindingKind::PacketLoss,
        "twenty ESP numbers, and one of a thousand, are missing, and the other direction has so few packets that fewer than three would be missing at the same share",
    ),
    warning(
        FindingKind::PacketsMissing,
        "twenty ESP numbers, and one of a thousand, are missing, and no keys tell packets that the path lost from those that the capture lacks",
    ),
    FindingRow {
        limits_figures: true,
        ..warning(
            FindingKind::ClockTrouble,
            "packets have earlier times than the one before them, by as much as the shortest silence that is measured",
        )
    },
    warning(
        FindingKind::ClockStep,
        "the times of the frames jump against clocks inside the packets, or against packets that were on their way",
    ),
    FindingRow {
        limits_figures: true,
        ..warning(
            FindingKind::OutOfOrder,
            "a block of frames stands elsewhere in the file than its times say",
        )
    },
    FindingRow {
        limits_figures: true,
        ..warning(
            FindingKind::SilenceOrClockStep,
            "nothing was captured for long, and nothing tells a silence from a step of the clock",
        )
    },
    warning(
        FindingKind::CleartextLeak,
        "packets between addresses that had been inside the tunnel, and not in clear beside it, go in clear, behind an outage or a Delete without a successor",
    ),
    warning(
        FindingKind::L2tpInClear,
        "L2TP goes between the ends of a tunnel outside of its SAs",
    ),
];

/// The row of a finding of a document; `None` where an older version made it.
pub fn finding_row(id: &str) -> Option<&'static FindingRow> {
    FINDINGS.iter().find(|row| row.kind.as_str() == id)
}

/// The finding of a kind about a direction.
pub fn finding_of(
    analysis: &Analysis,
    kind: FindingKind,
    (tunnel, direction): (usize, Direction),
) -> Option<&Finding> {
    let tunnel = analysis.tunnels.get(tunnel)?;
    let (from, to) = direction.pick((tunnel.a, tunnel.b), (tunnel.b, tunnel.a));
    let wanted = Arg::Text(format!("{from} → {to}"));
    let is_own = |f: &&Finding| {
        let first = f.messages.first();
        f.id == kind.as_str() && first.is_some_and(|m| m.args.get("direction") == Some(&wanted))
    };
    analysis.findings.iter().find(is_own)
}
