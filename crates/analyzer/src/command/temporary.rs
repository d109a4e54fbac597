//! Files that get their names when they are complete. However the program ends, no half one stays: a signal that ends us removes
//! them, and what SIGKILL left is removed by a run that writes the same name a day later.

use crate::command::left_behind;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Those that are there now, for the signals.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Behind the process that writes it.
const ENDING: &str = ".tmp";
/// No analysis takes a day.
const LONGEST_RUN: Duration = Duration::from_secs(24 * 3600);

/// A file beside its place; removed on drop.
pub(crate) struct Temporary(PathBuf);

/// `.NAME.PROCESS.tmp` beside `path`, made by `create`.
pub(crate) fn beside(
    path: &Path,
    create: impl Fn(&Path) -> io::Result<File>,
) -> io::Result<(Temporary, File)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".");
    let mut name = hidden.clone();
    name.push(format!("{}{ENDING}", std::process::id()));
    let temporary = path.with_file_name(name);
    #[cfg(target_os = "linux")]
    signals::watch();
    // The signals wait meanwhile: they know of every file that is there.
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    if !unfinished.contains(&temporary) {
        // Left by a process of the same number that was killed.
        let _ = fs::remove_file(&temporary);
    }
    let file = create(&temporary)?;
    unfinished.push(temporary.clone());
    remove_left_behind(&temporary, &hidden, &file);
    Ok((Temporary(temporary), file))
}

impl Temporary {
    /// Gives it its name.
    pub(crate) fn rename(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.0, path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|path| *path != self.0);
        // It is gone where it was renamed.
        let _ = fs::remove_file(&self.0);
    }
}

/// What processes that are no more have left of a file. In a folder that several machines share theirs look the same: only what
/// is older than any analysis goes, by the folder's own clock.
fn remove_left_behind(temporary: &Path, hidden: &OsStr, new: &File) {
    let folder = temporary.parent().filter(|p| !p.as_os_str().is_empty());
    let now = new.metadata().and_then(|m| m.modified());
    left_behind::remove(folder.unwrap_or(Path::new(".")), |entry, name| {
        let process = name.strip_prefix(hidden.to_str()?)?.strip_suffix(ENDING)?;
        let made = entry.metadata().and_then(|m| m.modified()).ok()?;
        let age = now.as_ref().ok()?.duration_since(made).ok()?;
        (age > LONGEST_RUN).then_some(())?;
        process.parse().ok()
    });
}

/// A signal is the end of a watch, which writes its report then.
static ENDS_BY_ITSELF: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// From here on somebody else ends the program at a signal that asks for it.
pub(crate) fn leave_signals_to_others() {
    ENDS_BY_ITSELF.store(true, std::sync::atomic::Ordering::SeqCst);
}

/// Signals that end us by default, as they do without this. Elsewhere they leave the file to the next run: only Linux tells which
/// signals are ignored.
#[cfg(target_os = "linux")]
mod signals {
    use super::{PoisonError, UNFINISHED, fs};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use std::sync::Once;

    /// From the first file on.
    pub(super) fn watch() {
        static STARTED: Once = Once::new();
        STARTED.call_once(|| {
            // One that is ignored (nohup) stays so.
            let heeded = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
                .into_iter()
                .filter(|s| !is_ignored(*s));
            let Ok(mut signals) = Signals::new(heeded) else {
                return;
            };
            std::thread::spawn(move || {
                for signal in signals.forever() {
                    if super::ENDS_BY_ITSELF.load(std::sync::atomic::Ordering::SeqCst) && signal != SIGQUIT {
                        continue;
                    }
                    // Held to the end: nothing gets its name, and nothing new is begun.
                    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
                    for path in unfinished.iter() {
                        let _ = fs::remove_file(path);
                    }
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            });
        });
    }

    /// As `nohup` has it; the kernel tells by a mask of hexadecimal digits.
    fn is_ignored(signal: i32) -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    }
}
