//! The command line program; see `rekeyscope --help`.

mod command;

#[cfg(feature = "parquet")]
use command::fleet;
use command::options::{Command, CommandLine, Request};
use command::{analyze, compare, keys, output, overhead, program, report, shell, watch};
use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    without_memory_image();
    let done = match CommandLine::read() {
        Request::Analyze(arguments) => analyze::run(&arguments),
        Request::Beside(Command::Keys(arguments)) => keys::run(&arguments),
        Request::Beside(Command::Overhead(arguments)) => {
            overhead::run(&arguments).map(|()| ExitCode::SUCCESS)
        }
        Request::Beside(Command::Compare(arguments)) => compare::run(&arguments),
        Request::Beside(Command::Watch(arguments)) => watch::run(*arguments),
        #[cfg(feature = "parquet")]
        Request::Beside(Command::Compact(arguments)) => fleet::compact(&arguments),
        Request::Beside(Command::Report(arguments)) => report::run(&arguments),
        Request::Beside(Command::Completions { shell }) => {
            shell::completions(shell).map(|()| ExitCode::SUCCESS)
        }
        Request::Beside(Command::Man) => shell::manual().map(|()| ExitCode::SUCCESS),
        Request::Beside(Command::Wireshark(arguments)) => program::run("wireshark", &arguments),
        Request::Beside(Command::Tshark(arguments)) => program::run("tshark", &arguments),
    };
    output::say_notes();
    match done {
        Ok(status) => status,
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// A memory image would hold the keys.
#[cfg(target_os = "linux")]
fn without_memory_image() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // Nothing can be done if the kernel refuses it.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
