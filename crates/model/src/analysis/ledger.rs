//! Cost of rekeys and failures: the one book that every figure of a cost is read from.

use crate::analysis::events::Explanation;
use crate::analysis::names::{Direction, LedgerBasis, LedgerWhy};
use crate::analysis::plain_data::plain_data;
use crate::time::Timestamp;
use std::net::IpAddr;

plain_data! {
    /// Ledger of one tunnel and direction. An interval that a rekey or a failure owns costs its length, less the time that the bytes which
    /// arrived in it take at the rate without it.
    pub struct Ledger {
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Direction of the data.
        pub direction: Direction,
        /// Inner addresses, sender and receiver, of the child SA that lost more on its own than all of the tunnel together; `null` where
        /// the ledger is that of all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub inner: Option<(IpAddr, IpAddr)>,
        /// Basis that shows which bytes arrived.
        pub basis: LedgerBasis,
        /// Length of the transfer without rests, seconds.
        pub seconds: f64,
        /// Bytes that arrived, each counted once.
        pub bytes: u64,
        /// Cost of rekeys, seconds: the sum over `rekeys`.
        pub cost_seconds: f64,
        /// Share of `seconds` that `cost_seconds` is.
        pub share: f64,
        /// Rate without the rekeys, Mbit/s.
        pub without_mbps: f64,
        /// True where the cost is a lower bound: the capture ends first, or too little undisturbed time says what the rate was.
        pub at_least: bool,
        /// Rekeys that own an interval, in their order; all others cost nothing.
        pub rekeys: Vec<LedgerRekey>,
        /// Time that failures took, in order of time.
        pub down: Vec<LedgerDown>,
        /// Test whether rekeys without a silence slowed the transfer; `null` where nothing could be compared.
        pub slow: Option<LedgerSlow>,
        /// Upper limit of the cost of each rekey that owns nothing, milliseconds; `null` where these packets set no bound.
        pub bound_ms: Option<f64>,
        /// Rekeys at which the capture lacks packets, as indices in `rekeys` of the document: they own nothing.
        pub not_observed: Vec<usize>,
    }
    /// Cost of one rekey.
    pub struct LedgerRekey {
        /// Index in `rekeys` of the document.
        pub rekey: usize,
        /// Cost, seconds.
        pub cost_seconds: f64,
        /// Lower one of the costs by the rate of the time before alone and behind alone, seconds.
        pub low: f64,
        /// Higher one of the costs by the rate of the time before alone and behind alone, seconds.
        pub high: f64,
        /// Longest silence of the rekey, milliseconds.
        pub silence_ms: f64,
        /// Transmissions that did not arrive, or brought nothing new.
        pub swallowed: u32,
        /// Rate without the rekey, Mbit/s.
        pub r0_mbps: f64,
        /// Reason why the rekey owns its longest silence.
        pub why: LedgerWhy,
        /// True where the cost is a lower bound.
        pub at_least: bool,
        /// Explanation of the longest silence; `null` where these packets do not show it.
        #[serde(default)]
        pub explanation: Option<Explanation>,
        /// Intervals of the rekey, in order of time.
        pub intervals: Vec<LedgerInterval>,
    }
    /// Time that one failure took.
    pub struct LedgerDown {
        /// Index in `attempts` of the document of the failed attempt; `null` where no attempt led to the failure.
        pub attempt: Option<usize>,
        /// Index in `outages` of the document, where the failure has nothing to do with a rekey.
        pub outage: Option<usize>,
        /// Index in `rekeys` of the document of the rekey that ended the failure, where that is known.
        pub rekey: Option<usize>,
        /// Cost, seconds.
        pub cost_seconds: f64,
        /// Rate without the failure, Mbit/s.
        pub r0_mbps: f64,
        /// True where the cost is a lower bound.
        pub at_least: bool,
        /// Transmissions that did not arrive, or brought nothing new.
        pub swallowed: u32,
        /// Interval of the failure.
        pub interval: LedgerInterval,
    }
    /// A stretch of the transfer that a rekey or a failure owns.
    pub struct LedgerInterval {
        /// Time of the last arrival before the interval.
        pub from: Timestamp,
        /// Time of the first arrival in the interval; `null` where none came.
        pub arrived: Option<Timestamp>,
        /// Time at which the transfer is back at its rate.
        pub to: Timestamp,
        /// Frame at `from`; `null` where the interval is slow without a silence.
        pub from_frame: Option<u64>,
        /// Frame at `arrived`; `null` where there is none.
        pub to_frame: Option<u64>,
    }
    /// Rekeys that own no silence, compared with other moments.
    pub struct LedgerSlow {
        /// Cost over all of these rekeys as measured, seconds.
        pub cost_seconds: f64,
        /// Share of draws from undisturbed time that are as slow.
        pub p: f64,
        /// Indices in `rekeys` of the document of the rekeys that are slow: their costs stand in `rekeys` of the ledger.
        pub rekeys: Vec<usize>,
        /// Bound of the cost that could have been missed at each rekey, milliseconds.
        pub bound_ms: f64,
    }
}
