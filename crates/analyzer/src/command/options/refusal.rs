//! Errors for command lines that make no sense, where clap alone would advise what does not help.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use rekeyscope_report::words::clean::harmless;
use std::io::Write;
use std::path::Path;

/// The error of a command line that makes no sense.
pub(super) fn refused(reason: String) -> Error {
    Error::raw(ErrorKind::ValueValidation, reason)
}

/// A path in the text of an error.
pub(super) fn shown(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

/// Refuses a command line that is wrong.
pub(super) fn refuse_if(wrong: bool, reason: &str) -> Result<(), Error> {
    match wrong {
        true => Err(refused(reason.to_owned())),
        false => Ok(()),
    }
}

/// The job whose name has the same letters as a word, one more or one less.
pub(super) fn meant(word: &str) -> Option<&'static str> {
    let beyond = |a: &str, b: &str| {
        let mut left: Vec<char> = b.chars().collect();
        let found = |c: &char| {
            left.iter()
                .position(|l| l == c)
                .map(|at| left.remove(at))
                .is_some()
        };
        a.len().saturating_sub(a.chars().filter(found).count())
    };
    let near = |job: &&str| beyond(word, job).max(beyond(job, word)) <= 1;
    ["keys", "report", "compare", "watch", "overhead"]
        .into_iter()
        .find(near)
}

/// Why this program has no such option or command, where an earlier version had it or another build has it.
pub(super) fn why_not_here(word: &str) -> Option<String> {
    let reason = match word {
        "--seed" => "is gone: what is drawn at random is drawn alike in every run; leave it out",
        "--interest" => {
            "is gone: every verdict rests on the same shares of the transfer, which docs/method.md names; leave it out"
        }
        "--verify" => "is gone: every ICV is checked; leave it out",
        "--png" if !cfg!(feature = "png") => {
            "is not in this program, which was built without PNG: 'cargo build --release' has it, and --svg writes the same plots"
        }
        "--parquet" | "--gateway" | "compact" if !cfg!(feature = "parquet") => {
            "is not in this program, which was built without Parquet: the Debian package and the Python wheel have it, and so \
             has 'cargo build --release --features parquet'"
        }
        _ => return None,
    };
    Some(format!("{word} {reason}"))
}

/// The argument that a job cannot do without in words, and words that can be typed behind its name.
fn asked_of(job: &str) -> (&'static str, &'static str) {
    match job {
        "report" => (
            "an analysis that --json wrote",
            "analysis.json --html report.html",
        ),
        "overhead" => (
            "the suite of the SAs",
            "--suite aes128-sha1 --encap natt --mtu 1454",
        ),
        "compare" => ("two captures or more", "short.pcapng long.pcapng"),
        "watch" => (
            "a capture that goes on, or the folder of a ring buffer",
            "ring/ --keys router.log",
        ),
        "compact" => ("the folder of --parquet and another one", "tables/ months/"),
        "completions" => ("the shell", "bash"),
        _ => ("a capture", "trace.pcapng --keys router.log"),
    }
}

/// `keys --claims` reads a log alone, and cannot do without this.
const ASKED_OF_CLAIMS: (&str, &str) = (
    "a place for the tables",
    "--claims router.log --export wireshark DIR",
);

/// The job's missing argument, with an example; an option that another one asks for is clap's to name.
fn asked(error: &Error, job: Option<&str>) -> Option<Error> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_named = |name: &str| missing.iter().any(|argument| argument.starts_with(name));
    let (what, words) = match is_named("--export") {
        true => ASKED_OF_CLAIMS,
        false => asked_of(job.unwrap_or_default()),
    };
    let command = job.map_or("rekeyscope".to_owned(), |job| format!("rekeyscope {job}"));
    let text = format!("give {what}, for example: {command} {words}\n\nOptions: {command} -h\n");
    let is_own = ["<", "--suite", "--export"].into_iter().any(is_named);
    is_own.then(|| Error::raw(ErrorKind::MissingRequiredArgument, text))
}

/// The error with advice that helps. Clap's tip for an option that does not exist is to put `--` before it, which would make a file name
/// of it, and its usage would name the option that is alike as if it were asked for.
pub(super) fn advised(mut error: Error, job: Option<&str>) -> Error {
    if error.kind() == ErrorKind::MissingRequiredArgument {
        return asked(&error, job).unwrap_or(error);
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let reason = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => why_not_here(word),
        _ => None,
    };
    if let Some(reason) = reason {
        return Error::raw(ErrorKind::UnknownArgument, reason + "\n");
    }
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::Usage);
    error
}

/// Prints what clap says and ends the program. A value is repeated there as it was given: what would steer the terminal is
/// shown instead.
pub(super) fn refuse(error: &Error) -> ! {
    let plain = error.render().to_string();
    let shown: Vec<String> = plain.lines().map(harmless).collect();
    if plain.lines().eq(shown.iter().map(String::as_str)) {
        error.exit();
    }
    let _ = writeln!(std::io::stderr(), "{}", shown.join("\n"));
    std::process::exit(error.exit_code())
}
