//! The analysis document: plain data, the contract of `--json`. Everything a report shows is in here; a saved document
//! renders again later. Units are in the names, unknown is `null`, times are RFC 3339 in UTC with nanoseconds, frame
//! numbers are 1-based as Wireshark shows them. Key bytes never get in here.
//!
//! More fields may be added; a published `schema_version` never changes meaning.

mod account;
mod capture;
pub mod comparison;
mod events;
mod ike;
mod key;
mod ledger;
mod names;
mod overlays;
mod plain_data;
mod rekeys;
mod results;
mod sas;
mod two_points;

pub use account::*;
pub use capture::{Capture, CaptureFile, DiagnosticEntry, Generator};
pub use events::*;
pub use ike::{Exchange, IkeSa, Lifetime};
pub use key::{Key, KeyFile, KeysFit};
pub use ledger::{Ledger, LedgerDown, LedgerInterval, LedgerRekey, LedgerSlow};
pub use names::*;
pub use overlays::*;
pub use rekeys::*;
pub use results::*;
pub use sas::{Flow, FlowCourse, FlowTcp, IcvCounts, SecurityAssociation, Sequence, StatedLifetime, Tunnel};
pub use two_points::{PointClock, PointDelay, PointDirection, PointRekey, TwoPoints};

use plain_data::plain_data;

/// Version of the meaning of the fields.
pub const SCHEMA_VERSION: u32 = 3;

/// The oldest version that is still read: what later ones added has a default.
pub const OLDEST_READ: u32 = 1;

plain_data! {
    /// The whole document.
    pub struct Analysis {
        /// [`SCHEMA_VERSION`].
        pub schema_version: u32,
        /// Program that made the document.
        pub generator: Generator,
        /// The capture that was read.
        pub capture: Capture,
        /// The three lines that every report begins with, in English (documents of versions before this field have none).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub answer: Option<AnswerLines>,
        /// Pairs of addresses with IPsec between them.
        pub tunnels: Vec<Tunnel>,
        /// IKE SAs (phase 1 in IKEv1).
        pub ike_sas: Vec<IkeSa>,
        /// IKE exchanges in order of their first message.
        pub exchanges: Vec<Exchange>,
        /// One entry per direction: an SA is one-way (RFC 4301 §4.1).
        pub security_associations: Vec<SecurityAssociation>,
        /// One entry per renewal of an SA pair.
        pub rekeys: Vec<Rekey>,
        /// One entry per exchange that would make or renew an SA pair, whatever became of it (version 1 has none).
        #[serde(default)]
        pub attempts: Vec<Attempt>,
        /// Times during which nothing passed (version 1 has none).
        #[serde(default)]
        pub outages: Vec<Outage>,
        /// Events of the control plane and the path, in order of time (bounded; documents of versions before this field have none).
        #[serde(default)]
        pub events: Vec<Event>,
        /// Rules by which each side renews, inferred over the trace, per tunnel and initiator (documents of versions before this
        /// field have none).
        #[serde(default)]
        pub trigger_rules: Vec<TriggerRule>,
        /// Inner transport flows, most bytes first (bounded).
        pub flows: Vec<Flow>,
        /// One verdict per tunnel and direction. The first one is the headline's: the direction with most new bytes.
        pub impact: Vec<Impact>,
        /// Ledgers: the cost of rekeys and failures per tunnel and direction of a transfer, in the order of `impact` (versions before 3
        /// have none).
        #[serde(default)]
        pub ledger: Vec<Ledger>,
        /// The account of every second, per tunnel and direction, in the order of `impact` (documents of versions before this field
        /// have none).
        #[serde(default)]
        pub account: Vec<Account>,
        /// Rates that other lifetimes would give, per tunnel and direction.
        pub projection: Vec<Projection>,
        /// Findings that no rekey caused.
        pub findings: Vec<Finding>,
        /// Wire bytes against inner bytes, per cipher suite in use.
        pub overhead: Vec<Overhead>,
        /// Throughput over time.
        pub series: Series,
        /// Oddities, counted.
        pub diagnostics: Vec<DiagnosticEntry>,
        /// Key files that were read, in order.
        pub key_files: Vec<KeyFile>,
        /// Series from elsewhere on the capture's time axis.
        #[serde(default)]
        pub overlays: Vec<Overlay>,
        /// The first of `account` against the capture of `--reference`; `null` without one.
        #[serde(default)]
        pub gap: Option<AccountGap>,
        /// Against another capture point of the same tunnels (`--also-from`); absent without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub two_points: Option<TwoPoints>,
        /// Requests of the run beside the files; `null` in documents that do not say.
        #[serde(default)]
        pub settings: Option<Settings>,
    }
}

macro_rules! of_tunnel {
    ($($of:ident: $field:ident, $item:ty;)*) => {
        impl Analysis {$(
            #[doc = concat!("Returns those of `", stringify!($field), "` that belong to a tunnel.")]
            pub fn $of(&self, tunnel: usize) -> impl DoubleEndedIterator<Item = &$item> + Clone {
                self.$field.iter().filter(move |item| item.tunnel == tunnel)
            }
        )*}
    };
}

of_tunnel! {
    sas_of: security_associations, SecurityAssociation;
    exchanges_of: exchanges, Exchange;
    rekeys_of: rekeys, Rekey;
    attempts_of: attempts, Attempt;
    outages_of: outages, Outage;
    flows_of: flows, Flow;
    ledgers_of: ledger, Ledger;
    accounts_of: account, Account;
    verdicts_of: impact, Impact;
}

impl Analysis {
    /// The flow of a direction of a tunnel that carried most.
    pub fn busiest_flow(&self, tunnel: usize, direction: Direction) -> Option<&Flow> {
        let own = self.flows_of(tunnel).filter(|flow| flow.direction == direction);
        own.max_by_key(|flow| flow.new_bytes)
    }

    /// Returns the events of a tunnel.
    pub fn events_of(&self, tunnel: usize) -> impl DoubleEndedIterator<Item = &Event> + Clone {
        self.events
            .iter()
            .filter(move |event| event.tunnel == Some(tunnel))
    }

    /// The event that an explanation names.
    pub fn event_of(&self, explanation: &Explanation) -> Option<&Event> {
        self.events.get(explanation.event?)
    }

    /// The exchange that an explanation names.
    pub fn exchange_of(&self, explanation: &Explanation) -> Option<&Exchange> {
        self.exchanges.get(explanation.exchange?)
    }

    /// Tells whether a tunnel speaks IKEv2.
    pub fn is_ikev2(&self, tunnel: usize) -> bool {
        let tunnel = self.tunnels.get(tunnel);
        tunnel.is_some_and(|tunnel| tunnel.ike_version == Some(2))
    }

    /// The SAs of one direction of a tunnel. Behind a NAT only one end need be the tunnel's; an SA with neither counts as a → b, so that each
    /// SA is of one direction.
    pub fn sas_towards(
        &self,
        tunnel: usize,
        direction: Direction,
    ) -> impl Iterator<Item = &SecurityAssociation> {
        let ends = self.tunnels.get(tunnel);
        self.sas_of(tunnel).filter(move |sa| {
            let backwards = ends.is_some_and(|t| sa.dst == t.a || sa.src == t.b);
            backwards == (direction == Direction::BToA)
        })
    }

    /// The keys that were read, by what they open.
    pub fn keys_fit(&self) -> KeysFit {
        if self.security_associations.iter().any(|sa| sa.is_decrypted()) {
            KeysFit::Some
        } else if self.capture.is_cut() {
            KeysFit::Cut
        } else if self.key_files.iter().any(KeyFile::holds_keys) {
            KeysFit::Nothing
        } else {
            KeysFit::Absent
        }
    }

    /// The account of one direction of a tunnel, where it has a transfer.
    pub fn account_of(&self, tunnel: usize, direction: Direction) -> Option<&Account> {
        self.accounts_of(tunnel)
            .find(|account| account.direction == direction)
    }

    /// The ledger of one direction of a tunnel, where it has a transfer.
    pub fn ledger_of(&self, tunnel: usize, direction: Direction) -> Option<&Ledger> {
        self.ledgers_of(tunnel)
            .find(|ledger| ledger.direction == direction)
    }
}
