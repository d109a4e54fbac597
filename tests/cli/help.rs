//! `-h` and `--help`, what is offered, and what is said of options that this program does not have.

use super::*;

fn explained(arguments: &[&str]) -> String {
    let out = rekeyscope()
        .args(arguments)
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    assert!(out.status.success(), "{arguments:?}");
    String::from_utf8(out.stdout).unwrap()
}

/// The long names of the options that a help explains.
fn options(help: &str) -> Vec<String> {
    let explains = |line: &&str| line.trim_start().starts_with('-');
    let name = |line: &str| {
        let from = line.find("--")?;
        let name = line[from..].split([' ', '[', '=']).next()?;
        Some(name.to_owned())
    };
    help.lines().filter(explains).filter_map(name).collect()
}

#[test]
fn the_short_help_fits_one_screen() {
    let screen = explained(&["-h"]);
    for option in [
        "--keys",
        "--html",
        "--json",
        "--format",
        "--verbose",
        "--lang",
        "--quiet",
    ] {
        assert!(
            options(&screen).iter().any(|o| o == option),
            "{option} in {screen}"
        );
    }
    assert!(
        screen.contains("rekeyscope --help") && screen.contains("compare, "),
        "{screen}"
    );
    for job in ["", "keys", "compare", "report", "watch", "wireshark"] {
        let words: Vec<&str> = [job, "-h"].into_iter().filter(|word| !word.is_empty()).collect();
        let screen = explained(&words);
        assert!(screen.lines().count() <= 24, "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
        assert!(screen.contains("--help"), "{screen}");
    }
}

#[test]
fn the_long_help_is_grouped() {
    let all = explained(&["--help"]);
    let places = ["Input:", "Keys:", "Output:", "Report:", "Method:"].map(|group| {
        let at = all.lines().position(|line| line == group);
        at.unwrap_or_else(|| panic!("{group} in {all}"))
    });
    assert!(places.is_sorted(), "{places:?}");
    for part in ["--reference-mbps", "Examples:", "Exit status:"] {
        assert!(all.contains(part), "{part} in {all}");
    }
    // Wrapping would cut commands that people copy.
    let command = all
        .lines()
        .filter(|line| line.starts_with("  rekeyscope ") || line.starts_with("  tcpdump "));
    assert!(
        command.count() >= 18 && all.contains("4500 | rekeyscope watch -\n"),
        "{all}"
    );
    for job in ["keys", "compare", "report", "watch"] {
        let help = explained(&[job, "--help"]);
        assert!(help.contains("\nOutput:\n"), "{help}");
        let shown = options(&explained(&[job, "-h"])).len();
        assert!(options(&help).len() > shown, "{help}");
    }
}

/// Images and tables for many captures are features of a build.
#[test]
fn what_is_not_built_in_is_not_offered() {
    let capture = sample();
    let offered = ["--help", "man"].map(|word| explained(&[word]));
    let shells =
        ["bash", "zsh", "fish", "powershell", "elvish"].map(|shell| explained(&["completions", shell]));
    let watch = explained(&["help", "watch"]);
    for (words, built_in, build) in [
        (&["png"][..], cfg!(feature = "png"), "cargo build --release"),
        (
            &["parquet", "gateway", "compact"],
            cfg!(feature = "parquet"),
            "cargo build --release --features parquet",
        ),
    ] {
        for word in words {
            for text in offered.iter().chain(&shells) {
                let text = text.replace("\\-", "-");
                let name = if *word == "compact" {
                    "compact"
                } else {
                    &format!("--{word}")
                };
                let fish = format!("-l {word}");
                let is_offered = text.contains(name) || text.contains(&fish);
                assert_eq!(is_offered, built_in, "{word} in {text}");
            }
            let option = format!("--{word}");
            let given = match *word {
                "compact" => vec!["compact", "from", "into"],
                _ => vec![text(&capture), &option, "tables"],
            };
            if !built_in {
                assert_fails(&given, 2, build);
            }
        }
    }
    assert!(
        !watch.contains("--parquet"),
        "a watch writes no such tables: {watch}"
    );
}

#[test]
fn options_of_earlier_versions_are_answered() {
    let capture = sample();
    for (option, became) in [
        ("--seed", "drawn alike in every run"),
        ("--interest", "docs/method.md"),
    ] {
        for given in [&[option, "3"][..], &[&format!("{option}=3")]] {
            let out = run(&[&[text(&capture)], given].concat());
            assert_eq!((out.status, out.stdout.as_str()), (2, ""));
            assert!(
                out.stderr.contains(&format!("{option} is gone: ")) && out.stderr.contains(became),
                "{}",
                out.stderr
            );
            assert_eq!(out.stderr.lines().count(), 1, "one sentence: {}", out.stderr);
        }
    }
    let unknown = run(&[text(&capture), "--htlm", "page.html"]).stderr;
    assert!(
        unknown.contains("'--html'") && !unknown.contains("-- --"),
        "{unknown}"
    );
    let unlike = run(&[text(&capture), "--nothing-like-it"]).stderr;
    assert!(
        unlike.contains("--nothing-like-it") && !unlike.contains("as a value"),
        "{unlike}"
    );
}
