//! A temporary folder for keys: nobody else may look in, and it goes away.

use crate::command::left_behind;
use rekeyscope_model::error::Error;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Its name begins so; the process that made it comes next.
const PREFIX: &str = "rekeyscope-keys-";

/// A folder with mode 0700 that is removed with all that is in it.
pub(crate) struct PrivateFolder {
    folder: tempfile::TempDir,
}

impl PrivateFolder {
    /// In the user's run-time folder where there is one (it is in memory), else where temporary files go. Removes what
    /// processes that were killed at once have left.
    pub(crate) fn new() -> Result<Self, Error> {
        let run_time = std::env::var_os("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            .filter(|folder| folder.is_dir());
        // After `su` the run-time folder may be another user's.
        let in_memory = run_time.and_then(|place| Self::inside(&place).ok());
        match in_memory {
            Some(folder) => Ok(folder),
            None => Self::inside(&std::env::temp_dir()),
        }
    }

    fn inside(place: &Path) -> Result<Self, Error> {
        left_behind::remove(place, |_, name| {
            name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()
        });
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        match builder.tempdir_in(place) {
            Ok(folder) => Ok(PrivateFolder { folder }),
            Err(source) => Err(Error::Output {
                path: place.into(),
                source,
            }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file that only the user can read.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path().join(name);
        let written = create_secret(&path).and_then(|mut file| file.write_all(bytes));
        written.map_err(|source| Error::Output { path, source })
    }

    /// Removes it; says so when that fails.
    pub(crate) fn remove(self) -> Result<(), Error> {
        let path = self.path().to_path_buf();
        self.folder
            .close()
            .map_err(|source| Error::Output { path, source })
    }
}

/// A new file with mode 0600. Never one that is there already: a link under that name could lead elsewhere.
pub(crate) fn create_secret(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
