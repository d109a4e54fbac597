//! Files that get their names when they are complete. A signal that ends the program removes those that are not; what SIGKILL
//! leaves is a file called `.rekeyscope-` and six letters beside the place of the output.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;

/// Temporary files that may be there now, for the signals.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The watch for signals, which begins when the first file is made.
#[cfg(any(target_os = "linux", windows))]
static WATCHING: std::sync::Once = std::sync::Once::new();

/// Beginning of the names of temporary files.
const PREFIX: &str = ".rekeyscope-";

/// A file in the folder of its place; removed on drop.
pub(crate) struct Temporary {
    file: NamedTempFile,
    place: PathBuf,
}

impl Temporary {
    /// A temporary file for `path`, or for what it points at where it is a symbolic link. `mode`: permissions before the umask takes its part.
    pub(crate) fn for_place(path: &Path, mode: u32) -> io::Result<Self> {
        let place = behind_links(path)?;
        let folder = place.parent().ok_or(io::ErrorKind::InvalidInput)?;
        #[cfg(any(target_os = "linux", windows))]
        WATCHING.call_once(signals::watch);
        // The signals wait meanwhile: they know of every file that is there.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let file = tempfile::Builder::new()
            .prefix(PREFIX)
            .make_in(folder, |path| create(path, mode))?;
        // Some have got their names, or are gone.
        unfinished.retain(|path| path.exists());
        unfinished.push(file.path().into());
        Ok(Temporary { file, place })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Gives it its name, at once and whole.
    pub(crate) fn persist(self) -> io::Result<()> {
        self.file.persist(&self.place)?;
        Ok(())
    }
}

/// A link may point at a file that is not there yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    loop {
        match place.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(&place) {
                Ok(target) => place = place.parent().unwrap_or(Path::new("")).join(target),
                Err(_) => return Ok(place),
            },
            found => return found,
        }
    }
}

/// Never a file that is there already: a link under that name could lead elsewhere.
#[cfg_attr(
    not(unix),
    expect(unused_variables, reason = "elsewhere a file has the rights of its folder")
)]
pub(crate) fn create(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    options.open(path)
}

/// A signal is the end of a watch, which writes its report then.
static ENDS_BY_ITSELF: AtomicBool = AtomicBool::new(false);

/// From here on somebody else ends the program at a signal that asks for it.
pub(crate) fn leave_signals_to_others() {
    ENDS_BY_ITSELF.store(true, Ordering::SeqCst);
}

/// Removes the files without a name of their own, and lets none be made while the guard is held.
#[cfg(any(target_os = "linux", windows))]
fn remove_unfinished() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in unfinished.iter() {
        let _ = fs::remove_file(path);
    }
    unfinished
}

/// The interrupt of a console ends us, as it does without this. What shall end otherwise (a watch) says so later.
#[cfg(windows)]
mod signals {
    use super::remove_unfinished;
    use crate::command::windows::{ENDED_BY_CTRL_C, at_interrupt};

    pub(super) fn watch() {
        // A failure means that there is no console, so no interrupt can come.
        let _ = at_interrupt(|| {
            let _held = remove_unfinished();
            std::process::exit(ENDED_BY_CTRL_C);
        });
    }
}

/// Signals that end us by default, as they do without this. Elsewhere they leave the file: only Linux tells which signals are
/// ignored.
#[cfg(target_os = "linux")]
mod signals {
    use super::{ENDS_BY_ITSELF, Ordering, fs, remove_unfinished};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;

    pub(super) fn watch() {
        // A signal that is ignored (nohup) stays ignored.
        let heeded = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
            .into_iter()
            .filter(|s| !is_ignored(*s));
        let Ok(mut signals) = Signals::new(heeded) else {
            return;
        };
        std::thread::spawn(move || {
            for signal in signals.forever() {
                if ENDS_BY_ITSELF.load(Ordering::SeqCst) && signal != SIGQUIT {
                    continue;
                }
                let _held = remove_unfinished();
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        });
    }

    /// The kernel tells what `nohup` ignores by a mask of hexadecimal digits.
    fn is_ignored(signal: i32) -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    }
}
