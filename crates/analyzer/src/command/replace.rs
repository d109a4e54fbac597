//! The rule of what an output may replace: any file but one that this run reads, and a capture only with `--force`. Every file that is
//! written asks here before the work, and again before it gets its name.

use crate::command::sources::has_the_name_of_one;
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_model::error::Error;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders whose names stand for what a process has open: a write there goes through them.
const OPEN_FILES: [&str; 3] = ["/dev", "/dev/fd", "/proc/self/fd"];

/// The rule of one run.
#[derive(Debug, Clone)]
pub(crate) struct Replacement {
    inputs: Arc<HashSet<FileIdentity>>,
    force: bool,
}

impl Replacement {
    /// `inputs`: everything that this run reads. `force`: a capture is replaced too.
    pub(crate) fn new<'a>(inputs: impl IntoIterator<Item = &'a PathBuf>, force: bool) -> Self {
        let inputs = inputs.into_iter().map(|input| match input.to_str() {
            Some("-") => Path::new("/dev/stdin"),
            _ => input.as_path(),
        });
        Replacement {
            inputs: Arc::new(inputs.filter_map(identity).collect()),
            force,
        }
    }

    /// Checks that a file may appear at `path`.
    pub(crate) fn permits(&self, path: &Path) -> Result<(), Error> {
        let refused = |reason| {
            let path = path.into();
            Err(Error::Kept { path, reason })
        };
        if identity(path).is_some_and(|there| self.inputs.contains(&there)) {
            let what = "a capture, a key file, a document or a series";
            return refused(format!(
                "it is read in this run ({what}), and would be lost; choose another name"
            ));
        }
        if self.force || goes_through(path) || !path.is_file() {
            return Ok(());
        }
        let there = match CaptureReader::open(path) {
            Ok(_) => "it is a capture".to_owned(),
            Err(Error::NotACapture { .. }) if is_named_as_a_packed_capture(path) => {
                "it has the name of a packed capture".to_owned()
            }
            Err(Error::Capture { source, .. }) => {
                format!("it cannot be read, so it may be a capture ({source})")
            }
            Err(_) => return Ok(()),
        };
        refused(format!(
            "{there}, and stays as it is; choose another name, or give --force to replace it"
        ))
    }
}

/// A file that is packed in a way that is not read here may hold a capture.
fn is_named_as_a_packed_capture(path: &Path) -> bool {
    let packings = ["gz", "zst", "lz4"];
    let is_packed = |end: &OsStr| packings.iter().any(|packing| end.eq_ignore_ascii_case(packing));
    path.extension().is_some_and(is_packed) && has_the_name_of_one(path)
}

/// Devices, pipes and what a process has open: nothing is replaced there.
pub(crate) fn goes_through(path: &Path) -> bool {
    let open = path
        .parent()
        .is_some_and(|folder| OPEN_FILES.iter().any(|f| folder == Path::new(f)));
    fs::metadata(path).is_ok_and(|there| open || !there.is_file())
}

/// The mark that a file has under all its names.
#[derive(Debug, PartialEq, Eq, Hash)]
enum FileIdentity {
    /// Device, and the file's number there.
    #[cfg(unix)]
    Inode(u64, u64),
    /// The path without symbolic links: the standard library does not tell hard links elsewhere.
    #[cfg(not(unix))]
    Canonical(PathBuf),
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(FileIdentity::Inode(file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<FileIdentity> {
    let file = path.canonicalize().ok().filter(|file| file.is_file())?;
    Some(FileIdentity::Canonical(file))
}
