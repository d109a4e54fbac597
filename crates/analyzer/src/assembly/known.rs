//! What the accounts need of the rest of the document.

use crate::assembly::children::ChildLineage;
use crate::assembly::rests::Rests;
use rekeyscope_ipsec::rekey::Succession;
use rekeyscope_ipsec::rekey::pair::ChildSa;
use rekeyscope_model::analysis::{Attempt, Outage, Rekey};

/// What the accounts are made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) children: &'a [ChildSa],
    pub(crate) successions: &'a [Succession],
    pub(crate) attempts: &'a [Attempt],
    pub(crate) rekeys: &'a [Rekey],
    pub(crate) outages: &'a [Outage],
    pub(crate) rests: &'a Rests,
    /// The child SAs that are judged, where not all of a tunnel are.
    pub(crate) lineage: Option<&'a ChildLineage>,
}
