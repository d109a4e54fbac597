//! The command line program; see `rekeyscope --help`.

mod cli;
mod compare_job;
mod copies_job;
mod keys_job;
mod output;
mod outputs;
mod overhead_job;
mod private_folder;
mod program_job;
mod progress;
mod read;
mod reference_job;
mod report_job;
mod run;
mod several;
mod shell_job;

use cli::{Command, CommandLine, Request};
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match CommandLine::read() {
        Request::Analyze(arguments) => run::run(&arguments),
        Request::Beside(Command::Keys(arguments)) => keys_job::run(&arguments).map(|()| ExitCode::SUCCESS),
        Request::Beside(Command::Overhead(arguments)) => {
            overhead_job::run(&arguments).map(|()| ExitCode::SUCCESS)
        }
        Request::Beside(Command::Compare(arguments)) => compare_job::run(&arguments),
        Request::Beside(Command::Report(arguments)) => report_job::run(&arguments),
        Request::Beside(Command::Completions { shell }) => {
            shell_job::completions(shell).map(|()| ExitCode::SUCCESS)
        }
        Request::Beside(Command::Man) => shell_job::manual().map(|()| ExitCode::SUCCESS),
        Request::Beside(Command::Wireshark(arguments)) => program_job::run("wireshark", &arguments),
        Request::Beside(Command::Tshark(arguments)) => program_job::run("tshark", &arguments),
    };
    match done {
        Ok(status) => status,
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}
