//! Stretches with labels, few enough to be drawn.

use super::join::{LabelledPiece, joined};
use rekeyscope_model::analysis::AccountRun;
use rekeyscope_model::time::Timestamp;

/// Most stretches for drawing.
const MOST_RUNS: usize = 2_000;

/// The stretches for drawing: neighbours of one label in one piece, the shortest counted to the one before where there are too many.
pub(crate) fn drawn(pieces: &[LabelledPiece], start: Timestamp) -> Vec<AccountRun> {
    let alike =
        |pieces: Vec<LabelledPiece>| joined(pieces.into_iter().map(|p| LabelledPiece { also: None, ..p }));
    let all = alike(pieces.to_vec());
    let mut lengths: Vec<i64> = all.iter().map(LabelledPiece::nanos).collect();
    let least = match lengths.len().checked_sub(MOST_RUNS) {
        Some(place) if place > 0 => *lengths.select_nth_unstable(place).1,
        _ => 0,
    };
    let mut kept: Vec<LabelledPiece> = Vec::new();
    for piece in all {
        match kept.last_mut() {
            Some(last) if piece.nanos() <= least && piece.from == last.to => {
                (last.to, last.frames.1) = (piece.to, piece.frames.1);
            }
            _ => kept.push(piece),
        }
    }
    kept.truncate(MOST_RUNS);
    let run = |p: LabelledPiece| AccountRun {
        label: p.label,
        from_s: p.from.seconds_since(start),
        to_s: p.to.seconds_since(start),
        from_frame: p.frames.0,
        to_frame: p.frames.1,
    };
    alike(kept).into_iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::at;
    use rekeyscope_model::analysis::AccountLabel::{self, Capacity, Growth};

    fn piece(from: i64, to: i64, label: AccountLabel) -> LabelledPiece {
        LabelledPiece {
            from: Timestamp(at(from)),
            to: Timestamp(at(to)),
            label,
            also: None,
            frames: (from as u64, to as u64),
        }
    }

    #[test]
    fn neighbours_of_one_label_are_drawn_as_one() {
        let pieces = vec![
            piece(1_000, 1_500, Capacity),
            piece(1_500, 2_000, Capacity),
            piece(2_500, 3_000, Capacity),
        ];
        let runs = drawn(&pieces, Timestamp(at(1_000)));
        let seen: Vec<_> = runs
            .iter()
            .map(|r| (r.from_s, r.to_s, r.from_frame, r.to_frame, r.label))
            .collect();
        let expected = [
            (0.0, 1.0, 1_000, 2_000, Capacity),
            (1.5, 2.0, 2_500, 3_000, Capacity),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn of_too_many_the_shortest_belong_to_the_one_before() {
        let label = |k: i64| if k % 2 == 0 { Capacity } else { Growth };
        let many = |count: i64| {
            let pieces: Vec<_> = (0..count).map(|k| piece(10 * k, 10 * k + 10, label(k))).collect();
            drawn(&pieces, Timestamp(0)).len()
        };
        assert_eq!(many(2_000), 2_000);
        assert_eq!(many(2_001), 1, "all are as short as the shortest");
        // Two of them are shorter, and what stands on both sides of each has one label.
        let mut pieces: Vec<_> = (0..2_001).map(|k| piece(10 * k, 10 * k + 10, label(k))).collect();
        for (place, border) in [(7, 77), (100, 1_008)] {
            (pieces[place].to, pieces[place + 1].from) = (Timestamp(at(border)), Timestamp(at(border)));
        }
        let runs = drawn(&pieces, Timestamp(0));
        assert_eq!(runs.len(), 2_001 - 4);
        assert_eq!((runs[6].from_s, runs[6].to_s), (0.06, 0.09));
        assert_eq!((runs[6].from_frame, runs[6].to_frame), (60, 90));
    }
}
