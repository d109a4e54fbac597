//! The files that are pieces of one capture, and the order in which they were written.

use crate::file::CaptureReader;
use crate::join::names::{Naming, PieceName, take_apart};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Between two files of `tcpdump -G` may pass as long as it takes until a packet comes: this, or a tenth of what the longer one
/// holds. People name captures of their own like that, too.
const LONGEST_PAUSE: i64 = 60 * NANOS_PER_SECOND;
const SHARE_OF_PAUSE: i64 = 10;

/// Files to be read one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceSequence {
    /// The name that reports give it: the file, or the pieces' common name with a `*` in it.
    pub name: PathBuf,
    /// In the order in which they were written.
    pub files: Vec<PathBuf>,
}

/// The files, those of one ring buffer together where its first piece stood.
pub fn sequences(files: &[PathBuf]) -> Vec<PieceSequence> {
    let mut families: Vec<(PathBuf, Vec<(PieceName, PathBuf)>)> = Vec::new();
    let mut places: HashMap<PathBuf, usize> = HashMap::new();
    for file in files {
        let name = file.file_name().unwrap_or_default();
        let piece = take_apart(&name.to_string_lossy());
        let family = file.with_file_name(&piece.family);
        let place = *places.entry(family.clone()).or_insert(families.len());
        if place == families.len() {
            families.push((family, Vec::new()));
        }
        if let Some((_, pieces)) = families.get_mut(place) {
            pieces.push((piece, file.clone()));
        }
    }
    families
        .into_iter()
        .flat_map(|(name, pieces)| of_family(&name, pieces))
        .collect()
}

/// The sequences that one name stands for.
fn of_family(name: &Path, mut pieces: Vec<(PieceName, PathBuf)>) -> Vec<PieceSequence> {
    let naming = |wanted| move |(piece, _): &(PieceName, PathBuf)| piece.naming == wanted;
    let runs = if pieces.iter().any(naming(Naming::Counted)) {
        dedup(&mut pieces);
        counted(pieces)
    } else if pieces.iter().any(naming(Naming::Cycled)) {
        dedup(&mut pieces);
        vec![cycled(pieces)]
    } else if pieces.iter().any(naming(Naming::Dated)) {
        dedup(&mut pieces);
        dated(pieces)
    } else {
        pieces.into_iter().map(|piece| vec![piece]).collect()
    };
    runs.into_iter().map(|run| sequence(name, run)).collect()
}

fn sequence(name: &Path, run: Vec<(PieceName, PathBuf)>) -> PieceSequence {
    let files: Vec<PathBuf> = run.into_iter().map(|(_, file)| file).collect();
    let name = match files.as_slice() {
        [file] => file.clone(),
        _ => name.into(),
    };
    PieceSequence { name, files }
}

/// The same file, given by its name and by its folder.
fn dedup(pieces: &mut Vec<(PieceName, PathBuf)>) {
    pieces.sort_by(|a, b| a.1.cmp(&b.1));
    pieces.dedup_by(|a, b| a.1 == b.1);
}

/// Numbers that only grow: they hold also where the clock was set back. Where numbers come twice, or some lack and the times
/// contradict, it is several runs of the program.
fn counted(mut pieces: Vec<(PieceName, PathBuf)>) -> Vec<Vec<(PieceName, PathBuf)>> {
    pieces.sort_by(|(a, _), (b, _)| (a.number, &a.stamp).cmp(&(b.number, &b.stamp)));
    let pairs = || pieces.iter().zip(pieces.iter().skip(1));
    let distinct = pairs().all(|((a, _), (b, _))| a.number < b.number);
    let without_gap = pairs().all(|((a, _), (b, _))| a.number + 1 == b.number);
    let in_time = pairs().all(|((a, _), (b, _))| a.stamp <= b.stamp);
    if distinct && (without_gap || in_time) {
        return vec![pieces];
    }
    pieces.sort_by(|(a, _), (b, _)| (&a.stamp, a.number).cmp(&(&b.stamp, b.number)));
    split(pieces, |(a, _), (b, _)| a.number >= b.number)
}

/// Numbers that begin again: the oldest piece is the one behind the newest.
fn cycled(mut pieces: Vec<(PieceName, PathBuf)>) -> Vec<(PieceName, PathBuf)> {
    pieces.sort_by_key(|(piece, _)| piece.number);
    let times: Vec<(usize, Timestamp)> = pieces
        .iter()
        .enumerate()
        .filter_map(|(place, (_, file))| Some((place, span_of(file, true)?.0)))
        .collect();
    let pairs = times.iter().zip(times.iter().skip(1));
    let back: Vec<usize> = pairs.filter(|(a, b)| a.1 > b.1).map(|(_, b)| b.0).collect();
    let goes_round = times
        .first()
        .zip(times.last())
        .is_some_and(|(first, last)| last.1 <= first.1);
    if let ([oldest], true) = (back.as_slice(), goes_round) {
        pieces.rotate_left(*oldest);
    }
    pieces
}

/// Times alone: one piece follows another only where its packets do.
fn dated(mut pieces: Vec<(PieceName, PathBuf)>) -> Vec<Vec<(PieceName, PathBuf)>> {
    pieces.sort_by(|(a, _), (b, _)| (&a.stamp, a.number).cmp(&(&b.stamp, b.number)));
    if pieces.len() == 1 {
        return vec![pieces];
    }
    let spans: HashMap<PathBuf, (Timestamp, Timestamp)> = pieces
        .iter()
        .filter_map(|(_, file)| Some((file.clone(), span_of(file, false)?)))
        .collect();
    split(pieces, |(_, a), (_, b)| match (spans.get(a), spans.get(b)) {
        (Some(a), Some(b)) => !follows(*a, *b),
        // One that cannot be read keeps no others apart.
        _ => false,
    })
}

fn follows(before: (Timestamp, Timestamp), behind: (Timestamp, Timestamp)) -> bool {
    let held = |span: (Timestamp, Timestamp)| span.1.nanos_since(span.0);
    let allowed = LONGEST_PAUSE.max(held(before).max(held(behind)) / SHARE_OF_PAUSE);
    behind.0.nanos_since(before.1).abs() <= allowed
}

/// Cuts between two neighbours wherever `cut` says so.
fn split<T>(pieces: Vec<T>, cut: impl Fn(&T, &T) -> bool) -> Vec<Vec<T>> {
    let mut runs: Vec<Vec<T>> = Vec::new();
    for piece in pieces {
        match runs.last_mut() {
            Some(run) if !run.last().is_some_and(|last| cut(last, &piece)) => run.push(piece),
            _ => runs.push(vec![piece]),
        }
    }
    runs
}

/// The times of the first and the last packet; of the first alone, twice, where `first_only`.
pub(super) fn span_of(file: &Path, first_only: bool) -> Option<(Timestamp, Timestamp)> {
    let mut unheard = Diagnostics::default();
    let mut reader = CaptureReader::open(file).ok()?;
    let first = reader.next_frame(&mut unheard).ok()??.time;
    let mut last = first;
    while !first_only && let Ok(Some(frame)) = reader.next_frame(&mut unheard) {
        last = frame.time;
    }
    Some((first, last))
}
