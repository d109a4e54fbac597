//! Stretches with labels, few enough to be drawn.

use super::join::LabelledPiece;
use super::sums::seconds;
use rekeyscope_model::analysis::AccountRun;

/// Most stretches for drawing.
const MOST_RUNS: usize = 2_000;

/// The stretches for drawing: neighbours of one label in one piece, the shortest counted to the one before where there are too many.
pub(crate) fn drawn(pieces: &[LabelledPiece], start: i64) -> Vec<AccountRun> {
    let joined = join_equal(pieces.iter().filter(|p| p.leads).copied());
    let mut lengths: Vec<i64> = joined.iter().map(|p| p.to - p.from).collect();
    let least = if lengths.len() > MOST_RUNS {
        let place = lengths.len() - MOST_RUNS;
        *lengths.select_nth_unstable(place).1
    } else {
        0
    };
    let mut kept: Vec<LabelledPiece> = Vec::new();
    for piece in joined {
        match kept.last_mut() {
            Some(last) if piece.to - piece.from <= least && least > 0 && piece.from == last.to => {
                (last.to, last.frames.1) = (piece.to, piece.frames.1);
            }
            _ => kept.push(piece),
        }
    }
    kept.truncate(MOST_RUNS);
    let run = |p: LabelledPiece| AccountRun {
        label: p.label,
        from_s: seconds(p.from - start),
        to_s: seconds(p.to - start),
        from_frame: p.frames.0,
        to_frame: p.frames.1,
    };
    join_equal(kept.into_iter()).into_iter().map(run).collect()
}

fn join_equal(pieces: impl Iterator<Item = LabelledPiece>) -> Vec<LabelledPiece> {
    let mut joined: Vec<LabelledPiece> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(last) if last.label == piece.label && last.to == piece.from => {
                (last.to, last.frames.1) = (piece.to, piece.frames.1);
            }
            _ => joined.push(piece),
        }
    }
    joined
}
