//! Seconds and bytes of all labels: their sums are those of the transfer, to the nanosecond and to the byte.

use super::arrivals::ArrivedBytes;
use super::book::LedgerBook;
use super::input::{LedgerInput, TimeSpan};
use super::price::RATE_SIDE;
use super::spans::{before, behind, joined, without};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::Interval;
use std::collections::BTreeMap;

/// The seconds and bytes of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LabelSum {
    /// Time of the label, nanoseconds.
    pub nanos: i64,
    /// Bytes that arrived.
    pub bytes: u64,
}

/// Shares `whole` by weights, which are not negative; the parts sum up to it exactly. Without any weight the first part is all.
fn shared(whole: i128, weights: &[i128]) -> Vec<i128> {
    let sum: i128 = weights.iter().sum();
    let mut given = 0;
    let mut weighed = 0;
    let mut part = |weight: &i128| {
        weighed += weight;
        let upto = if sum > 0 { whole * weighed / sum } else { whole };
        let part = upto - given;
        given = upto;
        part
    };
    weights.iter().map(&mut part).collect()
}

/// The sums of all labels. `labels` follow each other; where there is none, the transfer rests. An owner has the cost of its intervals and
/// no bytes. What an interval carried goes to the labels of the time beside it.
pub fn label_sums<L: Copy + Ord>(
    input: &LedgerInput<'_>,
    labels: &[Interval<L>],
    book: &LedgerBook,
    owner: impl Fn(&super::ownership::Owner) -> L,
) -> BTreeMap<L, LabelSum> {
    let arrivals = ArrivedBytes::new(input.arrived);
    let mut sums: BTreeMap<L, LabelSum> = BTreeMap::new();
    let intervals: Vec<TimeSpan> = joined(book.intervals.iter().map(|own| (own.from, own.to)).collect());
    let first = labels.first().map(|label| label.from);
    let bytes_of = |(from, to): TimeSpan| {
        // The first packet of the transfer begins it.
        let earlier = if Some(from) == first {
            0
        } else {
            arrivals.whole(from)
        };
        arrivals.whole(to) - earlier
    };
    let mut pieces: Vec<(TimeSpan, L)> = Vec::new();
    for label in labels {
        for piece in without(label.span(), &intervals) {
            let sum = sums.entry(label.facts).or_default();
            sum.nanos += piece.1.nanos_since(piece.0);
            sum.bytes += bytes_of(piece);
            pieces.push((piece, label.facts));
        }
    }
    let outside: Vec<TimeSpan> = pieces.iter().map(|piece| piece.0).collect();
    for own in &book.intervals {
        sums.entry(owner(&own.owner)).or_default().nanos += own.nanos;
        let mut beside = before(&outside, own.from, i64::MAX, RATE_SIDE);
        beside.extend(behind(&outside, own.to, i64::MAX, RATE_SIDE));
        let within = [(own.from, own.to)];
        let inside = labels
            .iter()
            .filter(|label| label.from < own.to && own.from < label.to);
        let inside: Vec<TimeSpan> = inside.map(Interval::span).collect();
        // An interval without undisturbed time beside it goes by its own labels.
        let spans: &[TimeSpan] = match (beside.is_empty(), inside.is_empty()) {
            (false, _) => &beside,
            (true, false) => &inside,
            (true, true) => &within,
        };
        let of = if beside.is_empty() { &inside } else { &beside };
        let of = of.iter().filter_map(|span| label_at(labels, span.0));
        let nanos: Vec<i128> = spans
            .iter()
            .map(|span| i128::from(span.1.nanos_since(span.0)))
            .collect();
        let mut bytes: Vec<i128> = spans.iter().map(|span| i128::from(bytes_of(*span))).collect();
        if bytes.iter().all(|bytes| *bytes == 0) {
            bytes.clone_from(&nanos);
        }
        let length = own.to.nanos_since(own.from);
        let nanos = shared(i128::from(length - own.nanos), &nanos);
        // An interval that the transfer begins with has its first packet, which no label carries.
        let begins = first.is_some_and(|first| own.from <= first && first < own.to);
        let first_packet = if begins {
            first.map_or(0, |first| arrivals.whole(first))
        } else {
            0
        };
        let bytes = shared(i128::from(own.bytes + first_packet), &bytes);
        for ((label, nanos), bytes) in of.zip(nanos).zip(bytes) {
            let sum = sums.entry(label).or_default();
            sum.nanos += nanos as i64;
            sum.bytes += bytes as u64;
        }
    }
    sums
}

/// The label of the stretch that holds a moment.
fn label_at<L: Copy>(labels: &[Interval<L>], at: Timestamp) -> Option<L> {
    let k = labels.partition_point(|label| label.to <= at);
    labels.get(k).map(|label| label.facts)
}
