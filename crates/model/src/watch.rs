//! Lines of `rekeyscope watch` while a capture goes on, one for each thing that happens, and counters of them.

use crate::analysis::{
    AttemptOutcome, Direction, Encapsulation, KeyStatus, LedgerWhy, OutageEnd, SpiPair, TriggerKind, Verdict,
    plain_names,
};
use crate::spi::Spi;
use crate::text::Message;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Something that happened, as a line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchEvent {
    /// Time by the capture's clock.
    pub time: Timestamp,
    /// The tunnel; `null` for what is not about one.
    pub ends: Option<TunnelEnds>,
    /// The occurrence.
    #[serde(flatten)]
    pub what: Occurrence,
}

impl WatchEvent {
    /// What happened to a tunnel.
    pub fn of(ends: TunnelEnds, time: Timestamp, what: Occurrence) -> Self {
        let ends = Some(ends);
        WatchEvent { time, ends, what }
    }
}

/// The ends of a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TunnelEnds {
    /// The IKE initiator, as far as it is known.
    pub client: IpAddr,
    /// The peer of the client.
    pub gateway: IpAddr,
}

plain_names! {
    /// One of the two ends.
    pub enum TunnelEnd {
        /// The IKE initiator.
        Client = "client",
        /// The peer of the client.
        Gateway = "gateway",
        /// The capture does not tell.
        Unknown = "unknown",
    }

    /// Meaning of a kernel counter for an SA.
    pub enum KernelMeaning {
        /// There is no such SA: the peer uses one that is not ready here, or gone.
        NotReady = "not_ready",
        /// A sequence number that was there before, or is too old.
        Replay = "replay",
        /// The SA had reached its hard limit.
        HardLimit = "hard_limit",
        /// ICV or format: another key or algorithm.
        WrongKey = "wrong_key",
        /// Another error.
        Other = "other",
    }
}

/// Kinds of occurrence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Occurrence {
    /// An SA was renewed. `time` is the first message of its exchange, else the first packet on the new SA.
    Rekey {
        /// Why, as far as is known by now.
        trigger: TriggerKind,
        /// Side that began the exchange.
        initiator: TunnelEnd,
        /// The SAs that end.
        old: SpiPair,
        /// The SAs that begin.
        new: SpiPair,
        /// First to last exchange message.
        #[serde(serialize_with = "micros_of_some_millis")]
        exchange_ms: Option<f64>,
        /// Last packet on the old SA to the first on the new one, the longer direction.
        #[serde(serialize_with = "micros_of_some_millis")]
        gap_ms: Option<f64>,
        /// Longest silence that the rekey owns so far, milliseconds.
        #[serde(default, serialize_with = "micros_of_some_millis")]
        silence_ms: Option<f64>,
        /// Cost by the traffic that has passed so far, seconds: `rekey_cost` says what it is in the end.
        #[serde(default, serialize_with = "micros_of_some_seconds")]
        cost_so_far_seconds: Option<f64>,
    },
    /// The trigger of a rekey that was told as `unknown`: rekeys behind it show which limit SAs reach. `time` is that of its `rekey`.
    RekeyTrigger {
        /// Why.
        trigger: TriggerKind,
        /// The SAs that began.
        new: SpiPair,
    },
    /// A rekey came to nothing, or has not been answered so far: a `rekey` may follow.
    RekeyFailed {
        /// Outcome of the attempt.
        outcome: AttemptOutcome,
        /// The notification, or who is silent.
        reason: Option<String>,
        /// Side that asked.
        initiator: TunnelEnd,
        /// Copies of the request.
        transmissions: u64,
    },
    /// Final cost of a rekey in a direction. `time` is the first packet on the new SA.
    RekeyCost {
        /// Direction of the data.
        direction: Direction,
        /// The SA that began.
        new: Option<Spi>,
        /// Cost, seconds.
        #[serde(serialize_with = "micros_of_seconds")]
        cost_seconds: f64,
        /// Longest silence of the rekey, milliseconds.
        #[serde(serialize_with = "micros_of_millis")]
        silence_ms: f64,
        /// True where the cost is a lower bound.
        at_least: bool,
        /// Reason why the rekey stopped, or slowed, the transfer.
        why: LedgerWhy,
    },
    /// Nothing passes although there is something to deliver. `time` is the last data that arrived.
    OutageBegan {
        /// Direction of the data.
        direction: Direction,
    },
    /// Data passes again.
    OutageEnded {
        /// Direction of the data.
        direction: Direction,
        /// An `outage_began` was said of it.
        #[serde(default)]
        announced: bool,
        /// Length of the outage.
        #[serde(serialize_with = "micros_of_seconds")]
        seconds: f64,
        /// End of the outage.
        ended_by: OutageEnd,
    },
    /// An outage that was told is another one by what came behind it, or by keys that came late. At most once for an outage.
    OutageCorrected {
        /// Direction of the outage.
        direction: Direction,
        /// Time at which the outage began.
        began: Timestamp,
        /// Length of the outage; 0 where there was none.
        #[serde(serialize_with = "micros_of_seconds")]
        seconds: f64,
        /// Length of the outage by what was told before.
        #[serde(serialize_with = "micros_of_seconds")]
        told_seconds: f64,
    },
    /// An SA carries packets that no key opens, although keys were given.
    KeyMissing {
        /// SPI of the SA.
        spi: Spi,
        /// Destination of the SA.
        dst: IpAddr,
        /// Knowledge of its key.
        status: KeyStatus,
    },
    /// The verdict on a direction is another one now.
    VerdictChanged {
        /// Direction of the data.
        direction: Direction,
        /// Now.
        verdict: Verdict,
        /// Before; `null` for the first.
        before: Option<Verdict>,
        /// The cost of rekeys in words; of a tunnel that failed line 1 of the answer.
        sentence: String,
        /// The sentence as message identifiers and arguments.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        messages: Vec<Message>,
    },
    /// This machine's kernel counted packets that it dropped (`/proc/net/xfrm_stat`).
    Kernel {
        /// The counter's name there.
        counter: String,
        /// By how much it grew.
        packets: u64,
        /// Meaning of the counter.
        meaning: KernelMeaning,
    },
}

/// A clock of captures tells microseconds, and no line of JSON says more.
fn rounded(value: f64, per_unit: f64) -> f64 {
    (value * per_unit).round() / per_unit
}

fn micros_of_seconds<S: Serializer>(seconds: &f64, into: S) -> Result<S::Ok, S::Error> {
    into.serialize_f64(rounded(*seconds, 1e6))
}

fn micros_of_millis<S: Serializer>(millis: &f64, into: S) -> Result<S::Ok, S::Error> {
    into.serialize_f64(rounded(*millis, 1e3))
}

fn micros_of_some_seconds<S: Serializer>(seconds: &Option<f64>, into: S) -> Result<S::Ok, S::Error> {
    seconds.map(|seconds| rounded(seconds, 1e6)).serialize(into)
}

fn micros_of_some_millis<S: Serializer>(millis: &Option<f64>, into: S) -> Result<S::Ok, S::Error> {
    millis.map(|millis| rounded(millis, 1e3)).serialize(into)
}

/// Seconds that a histogram's buckets end at.
pub const BUCKETS: [f64; 12] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// Counts of a quantity's values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    /// Values up to each of [`BUCKETS`], not those of the bucket before; behind them the larger ones.
    pub counts: [u64; BUCKETS.len() + 1],
    /// Sum of all, seconds.
    pub sum: f64,
}

/// Counters of all tunnels, or of one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WatchCounters {
    /// Rekeys.
    pub rekeys: u64,
    /// Rekeys that came to nothing.
    pub failures: u64,
    /// Outages.
    pub outages: u64,
    /// Seconds of outages that are over.
    pub outage_seconds: f64,
    /// Seconds by which outages were told too long: the next ones count less, as a counter never falls.
    pub outage_credit: f64,
    /// Seconds that rekeys cost, in their final events.
    pub lost_seconds: f64,
}

/// Counters since the watch began. Without SPIs: a label by SPI would be a new series for every rekey.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WatchTotals {
    /// Rekeys by trigger and initiator, as they were told.
    pub rekeys: BTreeMap<(TriggerKind, TunnelEnd), u64>,
    /// By outcome.
    pub failures: BTreeMap<AttemptOutcome, u64>,
    /// Longest silence that each rekey owns.
    pub silence: Histogram,
    /// Cost of each rekey.
    pub cost: Histogram,
    /// Between the last packet on the old SA and the first on the new one.
    pub gap: Histogram,
    /// First to last exchange message.
    pub exchange: Histogram,
    /// Counters of all tunnels.
    pub all: WatchCounters,
    /// The newest rekey.
    pub last_rekey: Option<Timestamp>,
    /// The newest packet.
    pub last_packet: Option<Timestamp>,
    /// SAs in use whose packets no key opens.
    pub keys_missing: u64,
    /// The tunnels with packets lately (bounded).
    pub tunnels: BTreeMap<TunnelEnds, (Encapsulation, Option<u8>)>,
    /// Counters of the first tunnels (bounded).
    pub by_tunnel: BTreeMap<TunnelEnds, WatchCounters>,
    /// Packets of the capture.
    pub packets: u64,
    /// Packets beyond the bounds of tunnels and SAs.
    pub not_analysed: u64,
    /// Packets that the kernel dropped, by counter.
    pub kernel: BTreeMap<String, u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_microseconds() {
        let event = WatchEvent {
            time: Timestamp(0),
            ends: None,
            what: Occurrence::OutageEnded {
                direction: Direction::AToB,
                announced: true,
                seconds: 0.583_496_448_123,
                ended_by: OutageEnd::NewSa,
            },
        };
        let line = serde_json::to_string(&event).unwrap();
        assert!(line.contains("\"seconds\":0.583496,"), "{line}");
    }
}
