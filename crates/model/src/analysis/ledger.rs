//! What rekeys and failures cost: the one book that every figure of a cost is read from.

use crate::analysis::names::{Direction, LedgerBasis, LedgerWhy};
use crate::analysis::plain_data::plain_data;
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

plain_data! {
    /// One tunnel and direction. An interval that a rekey or a failure owns costs its length, less the time that the bytes which arrived in
    /// it take at the rate without it.
    pub struct Ledger {
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Which direction.
        pub direction: Direction,
        /// What shows which bytes arrived.
        pub basis: LedgerBasis,
        /// The transfer, without rests.
        pub seconds: f64,
        /// Bytes that arrived, each counted once.
        pub bytes: u64,
        /// What rekeys cost: the sum over `rekeys`.
        pub cost_seconds: f64,
        /// `cost_seconds` of `seconds`.
        pub share: f64,
        /// Rate without the rekeys, Mbit/s.
        pub without_mbps: f64,
        /// Rekeys may have cost more: the capture ends first, or too little undisturbed time says what the rate was.
        pub at_least: bool,
        /// Rekeys that own an interval, in their order; all others cost nothing.
        pub rekeys: Vec<LedgerRekey>,
        /// What failures took, in order of time.
        pub down: Vec<LedgerDown>,
        /// Rekeys without a silence: whether they slowed the transfer; `null` where nothing could be compared.
        pub slow: Option<LedgerSlow>,
        /// No rekey that owns nothing cost more than this, milliseconds; `null` where these packets set no bound.
        pub bound_ms: Option<f64>,
        /// Rekeys at which the capture lacks packets, as indices in `rekeys` of the document: they own nothing.
        pub not_observed: Vec<usize>,
    }
    /// What one rekey cost.
    pub struct LedgerRekey {
        /// Index in `rekeys` of the document.
        pub rekey: usize,
        /// Seconds; 0 where the sender made up for the silence.
        pub cost_seconds: f64,
        /// The same by the rate of the time before alone, or behind alone: the least.
        pub low: f64,
        /// The most.
        pub high: f64,
        /// The longest silence, milliseconds.
        pub silence_ms: f64,
        /// Transmissions that did not arrive, or brought nothing new.
        pub swallowed: u32,
        /// The rate without it, Mbit/s.
        pub r0_mbps: f64,
        /// Why it owns its longest silence.
        pub why: LedgerWhy,
        /// It may have cost more.
        pub at_least: bool,
        /// Its intervals, in order of time.
        pub intervals: Vec<LedgerInterval>,
    }
    /// What one failure took.
    pub struct LedgerDown {
        /// Index in `attempts` of the document: the failed one; `null` where no attempt led to it.
        pub attempt: Option<usize>,
        /// Index in `outages` of the document, where it has nothing to do with a rekey.
        pub outage: Option<usize>,
        /// Index in `rekeys` of the document: the one that ended it, where that is known.
        pub rekey: Option<usize>,
        /// Seconds.
        pub cost_seconds: f64,
        /// The rate without it, Mbit/s.
        pub r0_mbps: f64,
        /// It may have taken more.
        pub at_least: bool,
        /// Transmissions that did not arrive, or brought nothing new.
        pub swallowed: u32,
        /// The interval.
        pub interval: LedgerInterval,
    }
    /// A stretch of the transfer that a rekey or a failure owns.
    pub struct LedgerInterval {
        /// The last arrival before it.
        pub from: Timestamp,
        /// The first arrival in it; `null` where none came.
        pub arrived: Option<Timestamp>,
        /// The transfer is back at its rate.
        pub to: Timestamp,
        /// The frame at `from`; `null` where it is slow without a silence.
        pub from_frame: Option<u64>,
        /// The frame at `arrived`; `null` where there is none.
        pub to_frame: Option<u64>,
    }
    /// Rekeys that own no silence, compared with other moments.
    pub struct LedgerSlow {
        /// Seconds over all of them, as measured.
        pub cost_seconds: f64,
        /// Share of draws from undisturbed time that are as slow.
        pub p: f64,
        /// They are slow: their costs stand in `rekeys` of the ledger. Indices in `rekeys` of the document.
        pub rekeys: Vec<usize>,
        /// So much could have been missed at each rekey, milliseconds.
        pub bound_ms: f64,
    }
}
