//! Stretches of time that do not overlap, in order.

use super::input::TimeSpan;
use rekeyscope_model::time::Timestamp;

/// Joins stretches that overlap or touch.
pub(crate) fn joined(mut list: Vec<TimeSpan>) -> Vec<TimeSpan> {
    list.retain(|span| span.0 < span.1);
    list.sort_unstable();
    let mut all: Vec<TimeSpan> = Vec::with_capacity(list.len());
    for span in list {
        match all.last_mut() {
            Some(last) if span.0 <= last.1 => last.1 = last.1.max(span.1),
            _ => all.push(span),
        }
    }
    all
}

/// Parts of a stretch that lie outside of others, which are joined.
pub(crate) fn without(whole: TimeSpan, others: &[TimeSpan]) -> Vec<TimeSpan> {
    let mut left = Vec::new();
    let mut from = whole.0;
    let first = others.partition_point(|other| other.1 <= whole.0);
    for other in others.iter().skip(first).take_while(|other| other.0 < whole.1) {
        if other.0 > from {
            left.push((from, other.0));
        }
        from = from.max(other.1);
    }
    if from < whole.1 {
        left.push((from, whole.1));
    }
    left
}

/// Whether a stretch meets one of those that are joined.
pub(crate) fn meets(spans: &[TimeSpan], (from, to): TimeSpan) -> bool {
    let first = spans.partition_point(|span| span.1 <= from);
    spans.get(first).is_some_and(|span| span.0 < to)
}

/// Whether a stretch lies within one of those that are joined.
pub(super) fn holds(spans: &[TimeSpan], (from, to): TimeSpan) -> bool {
    let first = spans.partition_point(|span| span.1 <= from);
    spans
        .get(first)
        .is_some_and(|span| span.0 <= from && to <= span.1)
}

/// Length of all stretches together, nanoseconds.
pub(super) fn nanos(spans: &[TimeSpan]) -> i64 {
    spans.iter().map(|span| span.1.nanos_since(span.0)).sum()
}

/// Stretches right before a moment, nearest first, no farther than `reach` and no longer than `most` together.
pub(super) fn before(spans: &[TimeSpan], at: Timestamp, reach: i64, most: i64) -> Vec<TimeSpan> {
    let end = spans.partition_point(|span| span.0 < at);
    let limit = at.plus_nanos(-reach);
    let (mut found, mut left) = (Vec::new(), most);
    for span in spans.iter().take(end).rev() {
        let to = span.1.min(at);
        let from = span.0.max(limit).max(to.plus_nanos(-left));
        if to <= limit || left <= 0 {
            break;
        }
        if from < to {
            found.push((from, to));
            left -= to.nanos_since(from);
        }
    }
    found
}

/// Stretches right behind a moment, with `reach` and `most` as in [`before`].
pub(super) fn behind(spans: &[TimeSpan], at: Timestamp, reach: i64, most: i64) -> Vec<TimeSpan> {
    let begin = spans.partition_point(|span| span.1 <= at);
    let limit = at.plus_nanos(reach);
    let (mut found, mut left) = (Vec::new(), most);
    for span in spans.iter().skip(begin) {
        let from = span.0.max(at);
        let to = span.1.min(limit).min(from.plus_nanos(left));
        if from >= limit || left <= 0 {
            break;
        }
        if from < to {
            found.push((from, to));
            left -= to.nanos_since(from);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(list: &[(i64, i64)]) -> Vec<TimeSpan> {
        list.iter().map(|s| (Timestamp(s.0), Timestamp(s.1))).collect()
    }

    #[test]
    fn what_is_left_of_a_stretch() {
        let others = joined(spans(&[(30, 40), (5, 10), (8, 20), (40, 41), (7, 7)]));
        assert_eq!(others, spans(&[(5, 20), (30, 41)]));
        let left = |from, to| without((Timestamp(from), Timestamp(to)), &others);
        assert_eq!(left(0, 50), spans(&[(0, 5), (20, 30), (41, 50)]));
        assert_eq!(left(6, 35), spans(&[(20, 30)]));
        assert_eq!(left(31, 39), []);
        let at = |from, to| (Timestamp(from), Timestamp(to));
        assert!(meets(&others, at(19, 25)) && !meets(&others, at(20, 30)));
        assert!(holds(&others, at(30, 41)) && !holds(&others, at(29, 41)));
        assert_eq!(nanos(&others), 26);
    }

    #[test]
    fn the_nearest_time_of_both_sides() {
        let all = spans(&[(0, 10), (20, 30), (50, 60)]);
        assert_eq!(before(&all, Timestamp(40), 100, 15), spans(&[(20, 30), (5, 10)]));
        assert_eq!(before(&all, Timestamp(25), 7, 15), spans(&[(20, 25)]));
        assert_eq!(before(&all, Timestamp(40), 32, 50), spans(&[(20, 30), (8, 10)]));
        assert_eq!(behind(&all, Timestamp(5), 100, 12), spans(&[(5, 10), (20, 27)]));
        assert_eq!(behind(&all, Timestamp(30), 25, 12), spans(&[(50, 55)]));
        assert_eq!(behind(&all, Timestamp(60), 25, 12), []);
    }
}
