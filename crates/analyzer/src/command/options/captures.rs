//! Words where captures are expected that are none: another job's name, or a key log.

use crate::command::options::{Arguments, CommandLine, refusal};
use crate::command::sources::is_capture;
use clap::CommandFactory;
use std::ffi::{OsStr, OsString};

impl Arguments {
    /// The first word is a file, and so is the second; where none of the further ones is a capture, they are no captures to be
    /// listed beside it.
    pub(super) fn must_name_captures(&self) -> Result<(), clap::Error> {
        let refuse = |reason: String| Err(refusal::refused(reason));
        let capture = &self.input.capture;
        if let Some(reason) = capture
            .to_str()
            .and_then(refusal::why_not_here)
            .filter(|_| !capture.exists())
        {
            return refuse(reason);
        }
        let Some(second) = self.more.first() else {
            return Ok(());
        };
        if !capture.exists() && capture.extension().is_none() && !self.input.reads_stdin() {
            let (word, file) = (capture.display(), second.display());
            return refuse(format!(
                "there is no command '{word}', and no such file: to analyse a capture, 'rekeyscope {file}' is enough"
            ));
        }
        if self.more.iter().all(|file| file.is_file() && !is_capture(file)) {
            let file = rekeyscope_report::words::clean::harmless(&second.to_string_lossy());
            return refuse(format!("{file} is not a capture: is it a key log? --keys {file}"));
        }
        Ok(())
    }
}

/// The words of the command line, `--quiet` behind the name of a job: people write it in front too.
pub(super) fn words(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = given.collect();
    let is_quiet = |word: &OsString| [OsStr::new("-q"), OsStr::new("--quiet")].contains(&word.as_os_str());
    let in_front = words.iter().skip(1).take_while(|word| is_quiet(word)).count();
    let job = words.get(1 + in_front).and_then(|word| word.to_str());
    let of_a_job = job.is_some_and(|name| CommandLine::command().find_subcommand(name).is_some());
    if of_a_job && let Some(front) = words.get_mut(1..=1 + in_front) {
        front.rotate_right(1);
    }
    words
}
