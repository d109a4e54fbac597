//! Differences of Windows: the interrupt of a console, the language of the user, and programs that are not in PATH.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

type Action = Box<dyn FnMut() + Send>;

/// Action of an interrupt.
static ACTION: Mutex<Option<Action>> = Mutex::new(None);

/// Status of a program that Ctrl-C ended (`STATUS_CONTROL_C_EXIT`).
pub(crate) const ENDED_BY_CTRL_C: i32 = 0xc000_013a_u32.cast_signed();

/// Makes `action` the answer to Ctrl-C and Ctrl-Break, in place of an earlier one. Windows may end the program before the action is through where
/// the console is closed.
pub(crate) fn at_interrupt(action: impl FnMut() + Send + 'static) -> io::Result<()> {
    let mut held = ACTION.lock().unwrap_or_else(PoisonError::into_inner);
    if held.replace(Box::new(action)).is_none() {
        let handler = || {
            let mut held = ACTION.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(action) = held.as_mut() {
                action();
            }
        };
        ctrlc::set_handler(handler).map_err(io::Error::other)?;
    }
    Ok(())
}

/// The language of the user's windows, as in `ja-JP`.
pub(crate) fn user_language() -> Option<String> {
    sys_locale::get_locale()
}

/// Folders that may hold a program of Wireshark: its installer leaves PATH as it is and registers its folder.
pub(crate) fn wireshark_folders() -> Vec<PathBuf> {
    const APP_PATH: &str = r"SOFTWARE\Microsoft\Windows\CurrentVersion\App Paths\Wireshark.exe";
    let keys = [windows_registry::CURRENT_USER, windows_registry::LOCAL_MACHINE];
    let registered = keys.into_iter().filter_map(|key| {
        let program = key.open(APP_PATH).and_then(|key| key.get_string("")).ok()?;
        Some(PathBuf::from(program.trim_matches('"')).parent()?.to_path_buf())
    });
    let installed = ["ProgramFiles", "ProgramW6432", "ProgramFiles(x86)"];
    let installed = installed.into_iter().filter_map(std::env::var_os);
    registered
        .chain(installed.map(|folder| PathBuf::from(folder).join("Wireshark")))
        .collect()
}
