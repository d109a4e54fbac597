//! `rekeyscope wireshark` and `rekeyscope tshark`: the program in a configuration folder of its own, with the keys in it. The
//! folder is removed whatever happens: the program ends, is killed, or we are asked to end.

use crate::command::options::ProgramArguments;
use crate::command::{output, read, temporary};
use anyhow::{Context, Result};
use rekeyscope::pipeline::Options;
use rekeyscope::write::export::wireshark;
use rekeyscope_model::error::Error;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_report::words::underivable::why_not_derived;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use tempfile::TempDir;

/// Preferences that make Wireshark use the tables: both are off by default.
const PREFERENCES: &[u8] = b"esp.enable_encryption_decode: TRUE\nesp.enable_authentication_check: TRUE\n";
/// Exit status of a program that a signal ended, as shells have it: 128 and the signal's number.
#[cfg(unix)]
const ENDED_BY_SIGNAL: i32 = 128;

/// Analyses the capture for its keys, starts the program, waits for it. Gives its exit status.
pub(crate) fn run(name: &str, arguments: &ProgramArguments) -> Result<ExitCode> {
    let program = find(name)?;
    let (analysis, ring) = read::analyze(&arguments.input, Options::default())?;
    let tables = wireshark::tables(&ring);
    if !arguments.input.quiet {
        let used = analysis
            .security_associations
            .iter()
            .filter(|sa| sa.packets > 0)
            .count();
        if tables.esp_rows < used {
            output::note(format!(
                "keys for {} of {used} SAs; 'rekeyscope keys' says what is missing",
                tables.esp_rows
            ));
            why_not_derived(&analysis).into_iter().for_each(output::note);
        }
        tables.notes.iter().cloned().for_each(output::note);
    }
    // The program is the answer, and may stay for hours.
    output::say_notes();
    drop(ring);
    let mut words = vec![
        OsString::from("-r"),
        arguments.input.capture.clone().into_os_string(),
    ];
    words.extend(arguments.rest.iter().cloned());
    let status = start(&program, &words, &tables)?;
    Ok(passed_on(status))
}

/// The program's folder lives from here to the end of this function.
fn start(program: &PathBuf, words: &[OsString], tables: &wireshark::Tables) -> Result<ExitStatus> {
    // Before the folder is there, so that no signal can come between.
    let guard = signals::Guard::new().context("cannot catch signals")?;
    let folder = private_folder()?;
    let texts = tables.texts().map(SecretBytes::expose);
    let tables = wireshark::NAMES.into_iter().zip(texts);
    for (name, bytes) in tables.chain([("preferences", PREFERENCES)]) {
        let path = folder.path().join(name);
        let written = temporary::create(&path, output::SECRET).and_then(|mut file| file.write_all(bytes));
        written.map_err(|source| Error::Output { path, source })?;
    }
    let mut command = Command::new(program);
    command.args(words).env("WIRESHARK_CONFIG_DIR", folder.path());
    let status = guard
        .wait_for(command)
        .with_context(|| format!("cannot start {}", program.display()));
    let path = folder.path().to_path_buf();
    let removed = folder.close();
    let status = status?;
    removed.map_err(|source| Error::Output { path, source })?;
    Ok(status)
}

/// In the user's run-time folder where there is one (it is in memory), else where temporary files go.
fn private_folder() -> Result<TempDir, Error> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("rekeyscope-keys-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let run_time = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let run_time = run_time.filter(|folder| folder.is_dir());
    // After `su` it may be another user's.
    let in_memory = run_time.and_then(|folder| builder.tempdir_in(folder).ok());
    let path = std::env::temp_dir();
    let made = in_memory.map_or_else(|| builder.tempdir_in(&path), Ok);
    made.map_err(|source| Error::Output { path, source })
}

/// Looks for the program as a shell would, then where its installer puts it.
fn find(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    #[cfg(windows)]
    let installed = crate::command::windows::wireshark_folders();
    #[cfg(not(windows))]
    let installed = Vec::<PathBuf>::new();
    let found = std::env::split_paths(&path)
        .chain(installed)
        .map(|folder| folder.join(&file))
        .find(|candidate| is_program(candidate));
    found.with_context(|| {
        format!(
            "{name} is not installed, or not in PATH: get it from your system's packages (Debian, Ubuntu: apt install {name}; \
             Fedora: dnf install wireshark-cli wireshark; macOS: brew install wireshark; Windows: winget install WiresharkFoundation.Wireshark) or from https://www.wireshark.org"
        )
    })
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(unix)]
fn passed_on(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let signal = status.signal().map(|number| ENDED_BY_SIGNAL + number);
    code(status.code().or(signal))
}

#[cfg(not(unix))]
fn passed_on(status: ExitStatus) -> ExitCode {
    code(status.code())
}

fn code(code: Option<i32>) -> ExitCode {
    code.and_then(|c| u8::try_from(c).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Signals that ask us to end go on to the program; we end after it, when its folder is gone.
#[cfg(unix)]
mod signals {
    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use std::io;
    use std::process::{Command, ExitStatus};

    /// The signals that came and that the program has not got yet.
    pub(super) struct Guard(Signals);

    impl Guard {
        /// From here on those signals no longer end this process.
        pub(super) fn new() -> io::Result<Self> {
            Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]).map(Guard)
        }

        /// Starts the program and waits for its end.
        pub(super) fn wait_for(mut self, mut command: Command) -> io::Result<ExitStatus> {
            let mut child = command.spawn()?;
            let program = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let handle = self.0.handle();
            let listener = std::thread::spawn(move || {
                for signal in self.0.forever() {
                    if let Some((program, signal)) = program.zip(Signal::from_named_raw(signal)) {
                        // The program may have ended already.
                        let _ = kill_process(program, signal);
                    }
                }
            });
            let status = child.wait();
            handle.close();
            let _ = listener.join();
            status
        }
    }
}

/// The interrupt of a console reaches the program without us: we stay until it has ended, and remove the folder.
#[cfg(not(unix))]
mod signals {
    use std::io;
    use std::process::{Command, ExitStatus};

    pub(super) struct Guard;

    impl Guard {
        pub(super) fn new() -> io::Result<Self> {
            #[cfg(windows)]
            crate::command::windows::at_interrupt(|| {})?;
            Ok(Guard)
        }

        pub(super) fn wait_for(self, mut command: Command) -> io::Result<ExitStatus> {
            command.spawn()?.wait()
        }
    }
}
