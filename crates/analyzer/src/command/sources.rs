//! The captures that the words of the command line stand for: files, folders and patterns, and which files are pieces of one capture.

use rekeyscope_capture::file::CaptureReader;
use rekeyscope_capture::join::{PieceSequence, sequences};
use rekeyscope_keylog::utf8_text;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files of one run. Each stands in the document of its capture.
const MOST_FILES: usize = 10_000;
/// Bytes in which a document begins.
const HEAD: u64 = 64;

/// One capture to be analysed, in however many files.
#[derive(Debug, Clone)]
pub(crate) struct NamedCapture {
    /// Name in reports.
    pub(crate) name: PathBuf,
    /// Files of the capture, where they are several.
    pub(crate) pieces: Vec<PieceSequence>,
}

/// Ways in which files become captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// Pieces of a ring buffer are one capture.
    ByName,
    /// Each file is one.
    Each,
    /// All together are one.
    Joined,
}

impl Grouping {
    /// By the options `--join` and `--each`.
    pub(crate) fn of(join: bool, each: bool) -> Grouping {
        match (join, each) {
            (true, _) => Grouping::Joined,
            (_, true) => Grouping::Each,
            _ => Grouping::ByName,
        }
    }
}

/// The captures that the words name; what is not there or no capture stays, so that it is told when it is opened.
pub(crate) fn find(words: &[PathBuf], grouping: Grouping) -> Result<Vec<NamedCapture>, String> {
    let files: Vec<PathBuf> = words.iter().flat_map(|word| files_of(word)).collect();
    if files.len() > MOST_FILES {
        return Err(format!(
            "{} files are more than one run takes ({MOST_FILES}): give them in parts",
            files.len()
        ));
    }
    let alone = |file: &PathBuf| NamedCapture {
        name: file.clone(),
        pieces: Vec::new(),
    };
    Ok(match (grouping, files.as_slice()) {
        (Grouping::Each, files) => files.iter().map(alone).collect(),
        (Grouping::Joined, [first, rest @ ..]) if !rest.is_empty() => {
            vec![joined(first, rest.len(), sequences(&files))]
        }
        _ => sequences(&files).into_iter().map(NamedCapture::of).collect(),
    })
}

impl NamedCapture {
    fn of(sequence: PieceSequence) -> NamedCapture {
        let several = sequence.files.len() > 1;
        NamedCapture {
            name: sequence.name.clone(),
            pieces: if several { vec![sequence] } else { Vec::new() },
        }
    }

    /// The file of the capture, or its files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let alone = self.pieces.is_empty().then_some(&self.name);
        alone.into_iter().chain(self.pieces.iter().flat_map(|s| &s.files))
    }
}

fn joined(first: &Path, more: usize, pieces: Vec<PieceSequence>) -> NamedCapture {
    let name = match pieces.as_slice() {
        [one] => one.name.clone(),
        _ => format!("{} and {more} more", first.display()).into(),
    };
    NamedCapture { name, pieces }
}

/// A folder stands for the captures in it (not for those in folders below), a pattern for the files it matches.
fn files_of(word: &Path) -> Vec<PathBuf> {
    if !word.is_dir() {
        return matching(word);
    }
    let entries = std::fs::read_dir(word).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|file| file.is_file());
    let (mut captures, others): (Vec<_>, Vec<_>) = files.partition(|file| is_capture(file));
    if !captures.is_empty() {
        captures.extend(others.into_iter().filter(|file| has_the_name_of_one(file)));
    }
    sorted_or(captures, word)
}

/// Sorts the files that a word names; the word itself stands where there is none.
fn sorted_or(mut found: Vec<PathBuf>, word: &Path) -> Vec<PathBuf> {
    found.sort();
    if found.is_empty() {
        found.push(word.into());
    }
    found
}

/// The files that a pattern matches, where no shell did it. Any other word stays as it is: it is a file's name, or told when it is opened.
pub(crate) fn matching(word: &Path) -> Vec<PathBuf> {
    let pattern = word.to_str().filter(|_| !word.exists());
    let options = glob::MatchOptions {
        // Windows does not tell names apart by case.
        case_sensitive: cfg!(not(windows)),
        ..glob::MatchOptions::new()
    };
    let matches = pattern.and_then(|pattern| glob::glob_with(pattern, options).ok());
    let files = matches.into_iter().flatten().flatten();
    sorted_or(files.filter(|file| file.is_file()).collect(), word)
}

/// A capture has packets to be read. (A pipe can be read only once.)
pub(crate) fn is_capture(path: &Path) -> bool {
    path.is_file() && CaptureReader::open(path).is_ok()
}

/// A document looks like what --json writes, by its first byte that is not blank. (A pipe can be read once only.)
pub(crate) fn is_document(path: &Path) -> bool {
    let mut head = Vec::new();
    let opened = std::fs::File::open(path).ok().filter(|_| path.is_file());
    let read = opened.and_then(|file| file.take(HEAD).read_to_end(&mut head).ok());
    read.is_some() && utf8_text(&head).trim_ascii_start().starts_with(b"{")
}

/// A file may be named like a capture: one that cannot be read, among others that can, is told and not passed over.
pub(crate) fn has_the_name_of_one(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let packed = [".gz", ".zst", ".lz4"]
        .iter()
        .find_map(|end| name.strip_suffix(end));
    // tcpdump -C counts behind it.
    let plain = packed
        .unwrap_or(&name)
        .trim_end_matches(|c: char| c.is_ascii_digit());
    [".pcap", ".pcapng", ".cap"]
        .iter()
        .any(|end| plain.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_testkit::containers::{packets, write_pcap};

    #[test]
    fn a_piece_in_a_folder_that_cannot_be_read_is_a_piece() {
        let folder = tempfile::tempdir().unwrap();
        let path = |n: u8| folder.path().join(format!("b_{n:05}_2026112312000{n}.pcap"));
        write_pcap(&path(1), &packets(3));
        write_pcap(&path(3), &packets(3));
        std::fs::write(path(2), "damaged").unwrap();
        let found = find(&[folder.path().to_path_buf()], Grouping::ByName).unwrap();
        let files: Vec<usize> = found
            .iter()
            .flat_map(|c| &c.pieces)
            .map(|p| p.files.len())
            .collect();
        assert_eq!((found.len(), files), (1, vec![3]));
        for name in ["a.pcap12", "a.PCAPNG.gz", "a.cap"] {
            assert!(has_the_name_of_one(Path::new(name)), "{name}");
        }
        assert!(!has_the_name_of_one(Path::new("a.keylog")) && !has_the_name_of_one(Path::new("pcap")));
    }

    #[test]
    fn folders_patterns_and_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in [
            "b_00001_20261123120000.pcap",
            "b_00002_20261123120001.pcap",
            "a.pcap",
        ] {
            write_pcap(&path(name), &packets(3));
        }
        std::fs::write(path("a.keylog"), "no capture").unwrap();
        let names = |words: &[PathBuf], grouping| -> Vec<PathBuf> {
            find(words, grouping)
                .unwrap()
                .into_iter()
                .map(|s| s.name)
                .collect()
        };
        let all = [folder.path().to_path_buf()];
        assert_eq!(names(&all, Grouping::ByName), [path("a.pcap"), path("b_*.pcap")]);
        assert_eq!(names(&all, Grouping::Each).len(), 3);
        let and_more = format!("{} and 2 more", path("a.pcap").display());
        assert_eq!(names(&all, Grouping::Joined), [PathBuf::from(and_more)]);
        assert_eq!(names(&[path("b_*.pcap")], Grouping::ByName), [path("b_*.pcap")]);
        assert_eq!(
            names(&[path("b_00002*")], Grouping::Joined),
            [path("b_00002_20261123120001.pcap")]
        );
        // A file that is not there is told when it is opened.
        assert_eq!(
            names(&[path("no*.pcap"), "-".into()], Grouping::ByName),
            [path("no*.pcap"), "-".into()]
        );
    }
}
