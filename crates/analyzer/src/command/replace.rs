//! What an output may take the place of: nothing that is read, and of what is there only what rekeyscope wrote, unless `--force`
//! is given. Every file that is written asks here, before the work and again before it gets its name.

use rekeyscope_model::error::Error;
use rekeyscope_report::formats::csv;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name by which every output says who wrote it.
const NAME: &str = "rekeyscope";
/// Marks stand at the beginning of a file: bytes that are read of it.
const HEAD: usize = 4_096;
/// Longest description at the end of a Parquet file that is looked into, bytes: ours have some 10 kB.
const LONGEST_FOOTER: u64 = 1 << 20;
/// Where names stand for what a process has open: what is written there goes through them.
const OPEN_FILES: [&str; 3] = ["/dev", "/dev/fd", "/proc/self/fd"];

/// The rule of one run.
#[derive(Debug, Clone)]
pub(crate) struct Replacement {
    /// What is read, without links in its paths.
    inputs: Arc<[PathBuf]>,
    /// `--force`.
    any: bool,
}

impl Replacement {
    /// `inputs`: everything that this run reads. `any`: also what another program wrote is replaced.
    pub(crate) fn new<'a>(inputs: impl IntoIterator<Item = &'a Path>, any: bool) -> Self {
        let inputs = inputs.into_iter().filter_map(|input| input.canonicalize().ok());
        Replacement {
            inputs: inputs.filter(|input| input.is_file()).collect(),
            any,
        }
    }

    /// Whether a file may appear at `path`, whatever is there now.
    pub(crate) fn permits(&self, path: &Path) -> Result<(), Error> {
        let refused = |kind, reason: &str| {
            let source = io::Error::new(kind, reason);
            Err(Error::Output {
                path: path.into(),
                source,
            })
        };
        if let Ok(place) = path.canonicalize()
            && self.inputs.contains(&place)
        {
            return refused(
                ErrorKind::Other,
                "it is read in this run (a capture, a key file, a document or a series), and would be lost",
            );
        }
        let Ok(there) = fs::symlink_metadata(path) else {
            return Ok(());
        };
        if self.any || goes_through(path) {
            return Ok(());
        }
        if there.is_symlink() {
            return refused(ErrorKind::AlreadyExists, "it is a link, which stays as it is");
        }
        if there.is_file() && there.len() > 0 && !is_ours(path) {
            return refused(
                ErrorKind::AlreadyExists,
                "there is a file that rekeyscope did not write, which stays as it is",
            );
        }
        Ok(())
    }
}

/// Devices, pipes and what a process has open: nothing is replaced there.
pub(crate) fn goes_through(path: &Path) -> bool {
    let open = path
        .parent()
        .is_some_and(|folder| OPEN_FILES.iter().any(|f| folder == Path::new(f)));
    fs::metadata(path).is_ok_and(|there| open || !there.is_file())
}

/// Whether a file bears the mark of one of our outputs. What cannot be read is not ours.
fn is_ours(path: &Path) -> bool {
    File::open(path).is_ok_and(|mut file| has_mark(&mut file).unwrap_or(false))
}

fn has_mark(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let mut head = Vec::with_capacity(HEAD);
    file.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    Ok(match head.as_slice() {
        // The first block of a pcapng file names the program that made it.
        [0x0a, 0x0d, 0x0d, 0x0a, ..] => holds(first_block(&head), NAME),
        [0x89, b'P', b'N', b'G', ..] => holds(&head, "tEXtSoftware\0rekeyscope"),
        [b'P', b'A', b'R', b'1', ..] => holds(&footer(file)?, NAME),
        text => text_has_mark(&String::from_utf8_lossy(text)),
    })
}

fn text_has_mark(text: &str) -> bool {
    let squeezed = || text.split_ascii_whitespace().collect::<String>();
    if text.starts_with("<!DOCTYPE html>") {
        text.contains("<meta name=\"generator\" content=\"rekeyscope ")
    } else if text.starts_with("<svg ") {
        text.contains(" data-generator=\"rekeyscope\"")
    } else if text.starts_with('{') {
        squeezed().contains("\"generator\":{\"name\":\"rekeyscope\"")
    } else if text.starts_with("# HELP ") {
        text.starts_with("# HELP rekeyscope_")
    } else {
        csv::is_head_of_a_table(text)
    }
}

fn holds(bytes: &[u8], name: &str) -> bool {
    bytes.windows(name.len()).any(|window| window == name.as_bytes())
}

/// As far as it was read; its length is in either byte order (draft-ietf-opsawg-pcapng §4.1).
fn first_block(head: &[u8]) -> &[u8] {
    let length: [u8; 4] = head.get(4..8).and_then(|l| l.try_into().ok()).unwrap_or_default();
    let length = u32::from_le_bytes(length).min(u32::from_be_bytes(length));
    head.get(..length as usize).unwrap_or(head)
}

/// What stands before the last eight bytes: the length of the footer, and `PAR1`.
fn footer(file: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
    let mut end = [0; 8];
    let at = file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut end)?;
    let [a, b, c, d, mark @ ..] = end;
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let mut footer = Vec::new();
    if mark == *b"PAR1" && length <= LONGEST_FOOTER.min(at) {
        file.seek(SeekFrom::Start(at - length))?;
        file.by_ref().take(length).read_to_end(&mut footer)?;
    }
    Ok(footer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn ours(bytes: &[u8]) -> bool {
        has_mark(&mut Cursor::new(bytes)).unwrap_or(false)
    }

    #[test]
    fn a_mark_counts_in_its_own_place_only() {
        assert!(ours(
            b"<!DOCTYPE html>\n<head><meta name=\"generator\" content=\"rekeyscope 0.1.0\">"
        ));
        assert!(!ours(
            b"<!DOCTYPE html>\n<head><title>rekeyscope report, annotated by hand</title>"
        ));
        assert!(ours(
            b"{\"schema_version\": 2,\n \"generator\": {\n \"name\": \"rekeyscope\""
        ));
        assert!(!ours(b"{\"note\": \"from rekeyscope\"}"));
        assert!(!ours(b"rekeyscope"));
        assert!(!ours(b"notes of a person"));
    }

    #[test]
    fn a_capture_with_the_name_behind_its_first_block_is_not_ours() {
        let block = |text: &[u8; 12], length: [u8; 4]| {
            [&[0x0a, 0x0d, 0x0d, 0x0a][..], &length, text, b"rekeyscope"].concat()
        };
        for length in [20_u32.to_le_bytes(), 20_u32.to_be_bytes()] {
            assert!(ours(&block(b"  rekeyscope", length)));
            assert!(!ours(&block(b"  mergecap 4", length)));
        }
    }

    #[test]
    fn a_cut_or_lying_footer_is_not_ours() {
        let file = |length: u32| [b"PAR1rekeyscope", &length.to_le_bytes()[..], b"PAR1"].concat();
        assert!(ours(&file(10)));
        assert!(!ours(&file(u32::MAX)) && !ours(b"PAR1") && !ours(&file(3)));
    }
}
