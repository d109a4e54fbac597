//! Errors for command lines that make no sense, where clap alone would advise what does not help.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::io::Write;

/// The error of a command line that makes no sense.
pub(super) fn refused(reason: String) -> Error {
    Error::raw(ErrorKind::ValueValidation, reason)
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

/// The name of a job, the argument that it cannot do without in words, and a command line that can be typed.
const ASKED: [(&str, &str, &str); 9] = [
    (
        "report",
        "an analysis that --json wrote",
        "rekeyscope report analysis.json --html report.html",
    ),
    (
        "keys",
        "a capture",
        "rekeyscope keys trace.pcapng --keys router.log",
    ),
    (
        "overhead",
        "the suite of the SAs",
        "rekeyscope overhead --suite aes128-sha1 --encap natt --mtu 1454",
    ),
    (
        "compare",
        "two captures or more",
        "rekeyscope compare short.pcapng long.pcapng",
    ),
    (
        "watch",
        "a capture that goes on, or the folder of a ring buffer",
        "rekeyscope watch ring/ --keys router.log",
    ),
    (
        "compact",
        "the folder of --parquet and another one",
        "rekeyscope compact tables/ months/",
    ),
    ("completions", "the shell", "rekeyscope completions bash"),
    (
        "wireshark",
        "a capture",
        "rekeyscope wireshark trace.pcapng --keys router.log",
    ),
    (
        "tshark",
        "a capture",
        "rekeyscope tshark trace.pcapng --keys router.log",
    ),
];
/// `keys --claims` reads a log alone, and cannot do without this.
const ASKED_OF_CLAIMS: (&str, &str) = (
    "a place for the tables",
    "rekeyscope keys --claims router.log --export wireshark DIR",
);
/// The main job cannot do without this.
const ASKED_OF_MAIN: (&str, &str) = ("a capture", "rekeyscope trace.pcapng --keys router.log");

/// The job's missing argument, with an example; an option that another one asks for is clap's to name.
fn asked(error: &Error, job: Option<&str>) -> Option<Error> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_named = |name: &str| missing.iter().any(|argument| argument.starts_with(name));
    let of_job = ASKED.iter().find(|(name, ..)| Some(*name) == job);
    let (what, example) = match is_named("--export") {
        true => ASKED_OF_CLAIMS,
        false => of_job.map_or(ASKED_OF_MAIN, |(_, what, example)| (*what, *example)),
    };
    let name = of_job.map_or_else(String::new, |(name, ..)| format!(" {name}"));
    let text = format!("give {what}, for example: {example}\n\nOptions: rekeyscope{name} -h\n");
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
    let shown: Vec<String> = plain
        .lines()
        .map(rekeyscope_report::words::clean::harmless)
        .collect();
    if plain.lines().eq(shown.iter().map(String::as_str)) {
        error.exit();
    }
    let _ = writeln!(std::io::stderr(), "{}", shown.join("\n"));
    std::process::exit(error.exit_code())
}
