//! What a process that got SIGKILL could not remove.

use std::fs::DirEntry;
use std::path::Path;

/// Removes files and folders from `place` that no process makes any more, by the process number that `process` finds in their
/// names. A link is not followed: it would not be ours. What another user made cannot be removed, and stays.
#[cfg(unix)]
pub(crate) fn remove(place: &Path, process: impl Fn(&DirEntry, &str) -> Option<i32>) {
    use rustix::process::{Pid, test_kill_process};
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| process(&entry, name));
        let ended = number.and_then(Pid::from_raw).map(test_kill_process);
        if ended != Some(Err(rustix::io::Errno::SRCH)) {
            continue;
        }
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(entry.path()),
            _ => std::fs::remove_file(entry.path()),
        };
    }
}

#[cfg(not(unix))]
pub(crate) fn remove(_: &Path, _: impl Fn(&DirEntry, &str) -> Option<i32>) {}
