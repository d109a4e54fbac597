//! An SA that is slower than its neighbours: a gateway that hands most SAs to its hardware has left this one to its processor.

use crate::verdict::INTEREST;
use rekeyscope_model::analysis::{Analysis, FlowTcp, Impact, Rekey, TunnelSeries};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// A transfer on such an SA.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToldSlowSa<'a> {
    /// The rekey that made the SA.
    pub rekey: &'a Rekey,
    /// From the first packet on the SA to the first one on the next.
    pub span: (Timestamp, Timestamp),
    /// The rate then, and beside it, bit/s.
    pub rates_bps: [f64; 2],
    /// Mean round trip then, and beside it, milliseconds, where TCP shows them and the first is longer.
    pub delays_ms: Option<[f64; 2]>,
    /// TCP waits longer for what lies behind the capture, seen from the sender, than for what lies before; `None` where nothing tells.
    pub behind_capture: Option<bool>,
    /// Time beyond that which the bytes take at the rate beside it, seconds.
    pub lost_seconds: f64,
}

/// Bytes of a direction in stretches of a second or of a bin, whichever is longer.
struct Rates<'a> {
    series: &'a TunnelSeries,
    bin: i64,
    bins: usize,
}

impl Rates<'_> {
    /// The bytes of each whole stretch from a moment to another.
    fn between(&self, from: Timestamp, to: Timestamp) -> Vec<f64> {
        let place = |time: Timestamp| usize::try_from(time.nanos_since(self.series.start) / self.bin);
        let (Ok(from), Ok(to)) = (place(from), place(to)) else {
            return Vec::new();
        };
        let bins = self.series.inner_new_bytes.get(from..to).unwrap_or_default();
        let stretches = bins.chunks_exact(self.bins);
        stretches.map(|bins| bins.iter().sum::<u64>() as f64).collect()
    }

    /// Length of a stretch, nanoseconds.
    fn stretch(&self) -> i64 {
        self.bin * self.bins as i64
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The SA of the headline's direction on which most time was lost, where that is most of what was lost: each of its seconds, but for that of the
/// switch, carried less than each of those on the SAs before and behind. No host knows of an SA, and no line: a rate that falls with the first
/// packets on one and comes back with those on the next is the gateways'.
pub fn told_slow_sa<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<ToldSlowSa<'a>> {
    let own = (headline.tunnel, headline.direction);
    let mut all = analysis.series.tunnels.iter();
    let series = all.find(|s| (s.tunnel, s.direction) == own)?;
    let bin = (analysis.series.bin_ms * 1e6) as i64;
    let bins = usize::try_from(NANOS_PER_SECOND / bin.max(1)).ok()?.max(1);
    let rates = Rates { series, bin, bins };
    let (first, last) = (headline.transfers.first()?.start, headline.transfers.last()?.end);
    let switched = |rekey: &'a Rekey| Some((rekey, rekey.switched.get(headline.direction)?));
    let rekeys = analysis.rekeys_of(headline.tunnel);
    let mut switches: Vec<(&Rekey, Timestamp)> = rekeys.filter_map(switched).collect();
    switches.sort_by_key(|(_, at)| *at);
    let flow = analysis
        .busiest_flow(headline.tunnel, headline.direction)
        .and_then(|flow| flow.tcp.as_ref());
    let settled = |at: Timestamp| at.plus_nanos(rates.stretch());
    let slow = |k: usize| {
        let (rekey, from) = *switches.get(k)?;
        let to = switches.get(k + 1)?.1;
        let begun = k
            .checked_sub(1)
            .map_or(first, |before| settled(switches[before].1));
        let ends = switches.get(k + 2).map_or(last, |next| next.1);
        let here = rates.between(settled(from), to);
        let before = rates.between(begun, from);
        let behind = rates.between(settled(to), ends);
        // Farther away than the SA lasts the path may be another one.
        let before = &before[before.len().saturating_sub(here.len())..];
        let behind = &behind[..behind.len().min(here.len())];
        let enough = |side: &[f64]| side.len() as u64 >= LEAST_NOT_BY_CHANCE;
        let beside = [before, behind].concat();
        let fastest = here.iter().copied().fold(0.0, f64::max);
        // Another cipher, or more bytes in each packet, do not take half of the rate; a processor in the place of hardware takes more.
        let is_slow = beside.iter().all(|other| fastest < *other) && 2.0 * mean(&here) < mean(&beside);
        if !is_slow || ![before, &here, behind].into_iter().all(enough) {
            return None;
        }
        let seconds = rates.stretch() as f64 / NANOS_PER_SECOND as f64;
        let rates_bps = [&here, &beside].map(|bytes| mean(bytes) * 8.0 / seconds);
        Some(ToldSlowSa {
            rekey,
            span: (from, to),
            rates_bps,
            delays_ms: flow.and_then(|tcp| delays(tcp, (from, to))),
            behind_capture: flow.and_then(|tcp| Some(2.0 * tcp.ack_rtt_ms? >= tcp.rtt_ms?)),
            lost_seconds: to.seconds_since(from) * (1.0 - rates_bps[0] / rates_bps[1]),
        })
    };
    let found = (0..switches.len()).filter_map(slow);
    let slowest = found.max_by(|a, b| a.lost_seconds.total_cmp(&b.lost_seconds))?;
    let account = analysis.account_of(headline.tunnel, headline.direction);
    let lost = account.map_or(0.0, |account| account.lost_seconds);
    let least = (lost / 2.0).max(INTEREST * last.seconds_since(first));
    (slowest.lost_seconds >= least).then_some(slowest)
}

/// Mean delays of a flow in a time, and outside of it.
fn delays(flow: &FlowTcp, (from, to): (Timestamp, Timestamp)) -> Option<[f64; 2]> {
    let course = flow.course.as_ref()?;
    let mut found = [Vec::new(), Vec::new()];
    for (k, rtt) in course.rtt_ms.iter().enumerate() {
        let at = course.start.plus_seconds(k as f64 * course.bin_ms / 1e3);
        found[usize::from(at < from || at > to)].extend(rtt.map(|[_, mean, _]| mean));
    }
    let [own, other] = found.map(|values| mean(&values));
    (own > other && other > 0.0).then_some([own, other])
}
