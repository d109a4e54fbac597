//! Places of results. A file appears under its name only when it is complete; a place that cannot be written fails
//! before the work starts.

use crate::command::replace::{Replacement, goes_through};
use crate::command::temporary::Temporary;
use rekeyscope::write::copies::{buffered, output_error};
use rekeyscope_model::error::Error;
use rekeyscope_report::words::clean::harmless;
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

thread_local! {
    /// Sentences for a person besides the answer, until it is out. Captures that are analysed at the same time do not mix theirs.
    static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A sentence that comes after the answer: the answer is what was asked for.
pub(crate) fn note(sentence: String) {
    NOTES.with_borrow_mut(|notes| notes.push(sentence));
}

/// The notes of this thread so far, to be handed to another one.
pub(crate) fn take_notes() -> Vec<String> {
    NOTES.take()
}

/// Says the notes so far, when the answer is out or the run is over.
pub(crate) fn say_notes() {
    take_notes().iter().for_each(|sentence| complain(sentence));
}

/// A sentence for the person, on standard error.
pub(crate) fn complain(sentence: &str) {
    let _ = writeln!(io::stderr(), "rekeyscope: {}", harmless(sentence));
}

/// The exit status of a run that made its answer: a failure where not all could be read.
pub(crate) fn status(read_whole: bool) -> ExitCode {
    ExitCode::from(u8::from(!read_whole))
}

/// Writes to standard output.
pub(crate) fn to_stdout(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.map_err(|source| match source.kind() {
        io::ErrorKind::BrokenPipe => source.into(),
        _ => output_error(Path::new("standard output"))(source).into(),
    })
}

/// The reader of our output went away: nothing to complain about.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// Makes a folder that only the user can look into, unless it is there already. Not the folders above it: a slip in a
/// path must not leave keys in a new place.
pub(crate) fn private_folder(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    #[cfg_attr(
        not(unix),
        expect(unused_mut, reason = "elsewhere a folder has the rights of the one around it")
    )]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(output_error(path))
}

/// Makes a folder, unless it is there.
pub(crate) fn folder(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(output_error(path))
}

/// Permissions of a file, of which the umask takes its part.
const READABLE: u32 = 0o666;
/// Permissions of a file that only the user can read.
pub(crate) const SECRET: u32 = 0o600;

/// A file to be written at the end.
pub(crate) struct Reserved {
    path: PathBuf,
    place: Destination,
    replacement: Replacement,
}

enum Destination {
    /// A device, a pipe, or what a process has open.
    Through(File),
    /// Written first and renamed at the end.
    Beside(Temporary),
}

impl Reserved {
    /// Makes sure that `path` can be written, and that nothing is lost there.
    pub(crate) fn new(path: &Path, replacement: &Replacement) -> Result<Self, Error> {
        Self::reserve(path, replacement, READABLE)
    }

    /// Reserves a file that only the user can read.
    pub(crate) fn secret(path: &Path, replacement: &Replacement) -> Result<Self, Error> {
        if is_pipe_of_another(path) {
            let source = io::Error::other("it is a pipe or a device of another user, who would get the keys");
            return Err(output_error(path)(source));
        }
        Self::reserve(path, replacement, SECRET)
    }

    fn reserve(path: &Path, replacement: &Replacement, mode: u32) -> Result<Self, Error> {
        replacement.permits(path)?;
        let place = if goes_through(path) {
            File::options().append(true).open(path).map(Destination::Through)
        } else {
            Temporary::for_place(path, mode).map(Destination::Beside)
        };
        Ok(Reserved {
            path: path.to_path_buf(),
            place: place.map_err(output_error(path))?,
            replacement: replacement.clone(),
        })
    }

    /// Writes everything and gives the file its name.
    pub(crate) fn write(self, bytes: &[u8]) -> Result<(), Error> {
        self.stream(|file| file.write_all(bytes))
    }

    /// Lets `content` write through a buffer, for what is too long to be held as a whole beside what it is made from.
    pub(crate) fn stream(
        self,
        content: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
    ) -> Result<(), Error> {
        let path = self.path.clone();
        self.fill(|file| {
            let mut buffered = buffered(file);
            let written = content(&mut buffered).and_then(|()| buffered.flush());
            written.map_err(output_error(&path))
        })
    }

    /// Lets `content` write piece by piece, then gives the file its name.
    pub(crate) fn fill<T>(mut self, content: impl FnOnce(&mut File) -> Result<T, Error>) -> Result<T, Error> {
        let made = content(match &mut self.place {
            Destination::Through(file) => file,
            Destination::Beside(temporary) => temporary.file(),
        })?;
        if let Destination::Beside(temporary) = self.place {
            // Somebody may have put something there meanwhile.
            self.replacement.permits(&self.path)?;
            temporary.persist().map_err(output_error(&self.path))?;
        }
        Ok(made)
    }
}

/// Somebody may have put a pipe where keys are to go. Devices of the system are the administrator's.
#[cfg(unix)]
fn is_pipe_of_another(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let ours = [rustix::process::geteuid().as_raw(), 0];
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir() && !ours.contains(&m.uid()))
}

#[cfg(not(unix))]
fn is_pipe_of_another(_: &Path) -> bool {
    false
}
