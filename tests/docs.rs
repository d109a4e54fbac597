//! Every command in the documentation, run as it stands there. A shell block (```sh) is run line by line in a folder in which
//! the files exist that the commands name.

use crate::support::repository;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Commands that are not run here, by how they begin, and why.
const NOT_RUN: [(&str, &str); 7] = [
    ("cargo install", "builds the program, and so does this test"),
    ("cargo deb", "needs cargo-deb"),
    ("packaging/", "builds the program, for other systems too"),
    ("tests/run", "runs this test"),
    ("tests/bench/run", "takes minutes"),
    ("tcpdump", "captures from an interface"),
    ("rekeyscope wireshark", "opens a window"),
];
/// Other programs that a command needs; without them it is not run.
const NEEDED: [&str; 2] = ["jq", "tshark"];
/// Programs that commands may begin with.
const RUN: [&str; 4] = ["rekeyscope ", "cargo run ", "mkdir ", "man "];

/// The pages in `docs` and the README, whose commands are run.
fn documents() -> Vec<PathBuf> {
    let mut all = pages(&repository().join("docs"));
    all.push(repository().join("README.md"));
    all
}

/// Every Markdown page in a folder and in those below it, without what is built or installed there.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|e| e.path());
    let mut entries: Vec<PathBuf> = entries.collect();
    entries.sort();
    let mut all = Vec::new();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() && !name.starts_with('.') && !["target", "node_modules"].contains(&&*name) {
            all.extend(pages(&path));
        } else if name.ends_with(".md") {
            all.push(path);
        }
    }
    all
}

/// Commands of the shell blocks of a text, without their comments.
fn commands(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut kind = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("```") {
            kind = kind.is_none().then_some(name);
            continue;
        }
        let line = match kind {
            Some("sh") => line,
            // The lines without a prompt are what was printed.
            Some("console") => line.strip_prefix("$ ").unwrap_or_default(),
            _ => "",
        };
        let line = line.split(" #").next().unwrap().trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let known = RUN.iter().chain(&NEEDED).chain(NOT_RUN.iter().map(|n| &n.0));
        assert!(
            known.into_iter().any(|k| line.starts_with(k)),
            "{line}: neither run nor left out for a reason"
        );
        out.push(line.to_string());
    }
    out
}

/// A folder in which the commands find what they name.
fn workshop() -> TempDir {
    let folder = TempDir::new().unwrap();
    let place = |name: &str| folder.path().join(name);
    let sample = |name: &str| repository().join("samples").join(name);
    fs::create_dir(place("samples")).unwrap();
    for entry in fs::read_dir(repository().join("samples")).unwrap().flatten() {
        fs::copy(entry.path(), place("samples").join(entry.file_name())).unwrap();
    }
    for (name, from) in [
        ("trace.pcapng", "l2tp_kb_modp1024_down.pcap"),
        ("router.log", "l2tp_kb_modp1024_down.keylog"),
        ("monday.pcapng", "l2tp_pfs4096_down.pcap"),
        ("monday.esp_sa", "l2tp_pfs4096_down.esp_sa"),
        ("tuesday.pcapng", "l2tp_time_down.pcap"),
        ("tuesday.esp_sa", "l2tp_time_down.esp_sa"),
        ("other-side.pcapng", "l2tp_kb_modp1024_down.pcap"),
        ("wednesday.pcapng", "l2tp_kb_modp1024_down.pcap"),
        ("ring_00001_20261120145149.pcap", "l2tp_pfs4096_down.pcap"),
        ("ring_00002_20261120145249.pcap", "l2tp_time_down.pcap"),
        ("wednesday.keylog", "l2tp_kb_modp1024_down.keylog"),
    ] {
        fs::copy(sample(from), place(name)).unwrap();
    }
    fs::write(place("psk.txt"), "synthetic\n").unwrap();
    fs::write(place("cpu.csv"), "time,cpu\n2,20\n8,90\n14,25\n").unwrap();
    fs::write(place("run.json"), iperf3()).unwrap();
    folder
}

/// A synthetic run of iperf3; its rates are nobody's.
fn iperf3() -> String {
    let row = |k: u32| {
        format!(
            "{{\"sum\":{{\"start\":{k},\"end\":{},\"bytes\":{}}}}}",
            k + 1,
            900_000 + k % 3 * 9_000
        )
    };
    let rows: Vec<String> = (0..12).map(row).collect();
    let start = "{\"timestamp\":{\"timesecs\":1795205509}}";
    format!("{{\"start\":{start},\"intervals\":[{}]}}", rows.join(","))
}

fn is_there(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|o| o.status.success())
}

/// The command as it can be run here: the program by its name in PATH, a synthetic capture in small.
fn adapted(command: &str, synthesize: &Path) -> String {
    let synthesize = format!("'{}'", synthesize.display());
    command
        .replace("cargo run --release --example synthesize --", &synthesize)
        .replace("cargo run --release --", "rekeyscope")
        .replace("1600 250 300", "24 4 300")
}

#[test]
fn every_command_in_the_documentation_runs() {
    let folder = workshop();
    let program = Path::new(env!("CARGO_BIN_EXE_rekeyscope"));
    let synthesize = program.with_file_name("examples").join("synthesize");
    let path = std::env::join_paths(
        [program.parent().unwrap().to_path_buf()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let (mut ran, mut left) = (0, Vec::new());
    for document in documents() {
        for command in commands(&fs::read_to_string(&document).unwrap()) {
            let excused = NOT_RUN.iter().find(|n| command.starts_with(n.0)).map(|n| n.1);
            let missing = NEEDED.iter().find(|n| command.contains(*n) && !is_there(n));
            // Without the example, which `cargo test --test tests` does not build, there is no synthetic capture either.
            let synthetic = ["--example", "synthetic."].iter().any(|s| command.contains(s));
            let unbuilt = synthetic && !synthesize.exists();
            let images = command.contains("--png") && !cfg!(feature = "png");
            if let Some(reason) = excused
                .or(missing.copied())
                .or(unbuilt.then_some("no example built"))
                .or(images.then_some("no PNG in this build"))
            {
                left.push(format!("{command}: {reason}"));
                continue;
            }
            let command = adapted(&command, &synthesize);
            let out = Command::new("bash")
                .args(["-o", "pipefail", "-c", &command])
                .current_dir(folder.path())
                .env("PATH", &path)
                .output()
                .unwrap();
            let stderr = String::from_utf8_lossy(&out.stderr);
            assert!(
                out.status.success(),
                "{}: {command}\n{stderr}",
                document.display()
            );
            ran += 1;
        }
    }
    assert!(ran >= 20, "{ran} commands ran, left out: {left:#?}");
}

/// What the Debian package takes from the tree is there; the rest is made by `packaging/assets`.
#[test]
fn the_package_finds_its_files() {
    let root = repository().join("crates/analyzer");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let script = fs::read_to_string(repository().join("packaging/assets")).unwrap();
    let assets = manifest
        .split("assets = [")
        .nth(1)
        .unwrap()
        .split("\n]")
        .next()
        .unwrap();
    let sources: Vec<&str> = assets
        .lines()
        .filter_map(|l| l.trim().strip_prefix("[\"")?.split('"').next())
        .collect();
    assert!(sources.len() >= 10, "{sources:?}");
    for source in sources {
        let name = source.rsplit('/').next().unwrap();
        match source.split_once("target/packaging/") {
            Some(_) => assert!(script.contains(&format!("/{name}\"")), "{name} is not made"),
            None if source.starts_with("target/") => assert_eq!(name, "rekeyscope"),
            None => {
                let folder = root.join(source.trim_end_matches(name));
                let ending = name.trim_start_matches('*');
                let found = fs::read_dir(&folder).unwrap().flatten().any(|e| {
                    let file = e.file_name().to_string_lossy().into_owned();
                    file == name || (name.starts_with('*') && file.ends_with(ending))
                });
                assert!(found, "{source}");
            }
        }
    }
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let all = pages(&repository());
    assert!(all.len() >= 20, "{all:#?}");
    for document in all {
        let text = fs::read_to_string(&document).unwrap();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..]
                .split(')')
                .next()
                .unwrap()
                .split('#')
                .next()
                .unwrap();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let place = document.parent().unwrap().join(target);
            assert!(place.exists(), "{}: {target}", document.display());
        }
    }
}

/// Drafts for package managers must not look like packages, and name the version that is built.
#[test]
fn drafts_of_a_release_say_what_they_are() {
    for entry in fs::read_dir(repository().join("packaging/release"))
        .unwrap()
        .flatten()
    {
        let text = fs::read_to_string(entry.path()).unwrap();
        let head: String = text.lines().take(2).collect::<String>().to_lowercase();
        assert!(head.contains("not yet published"), "{:?}", entry.path());
        let names_none = ["README.md", "workflow.yml"].contains(&&*entry.file_name().to_string_lossy());
        assert!(
            names_none || text.contains(env!("CARGO_PKG_VERSION")),
            "{:?}",
            entry.path()
        );
    }
}

/// The Japanese README shows no command that the English one, whose commands are run, does not have.
#[test]
fn the_japanese_readme_has_the_same_commands() {
    let read = |name: &str| commands(&fs::read_to_string(repository().join(name)).unwrap());
    let (english, japanese) = (read("README.md"), read("README.ja.md"));
    assert!(japanese.len() >= 15, "{japanese:?}");
    let unknown: Vec<&String> = japanese.iter().filter(|c| !english.contains(c)).collect();
    assert_eq!(unknown, Vec::<&String>::new());
}

/// Documents say how their figures were made: that program is there.
#[test]
fn every_program_that_a_document_names_is_there() {
    let crates = fs::read_dir(repository().join("crates")).unwrap().flatten();
    let crates: Vec<PathBuf> = crates.map(|e| e.path()).collect();
    let is_example = |name: &str| {
        let named = format!("name = \"{name}\"");
        crates.iter().any(|of| {
            let manifest = fs::read_to_string(of.join("Cargo.toml")).unwrap();
            let listed = manifest.split("[[example]]").skip(1).any(|e| e.contains(&named));
            listed || of.join("examples").join(name).with_extension("rs").exists()
        })
    };
    let dev = fs::read_dir(repository().join("dev")).unwrap().flatten();
    let dev: Vec<PathBuf> = dev.map(|e| e.path().join("src/bin")).collect();
    let is_program = |name: &str| {
        let file = format!("{name}.rs");
        dev.iter().any(|of| of.join(&file).exists())
    };
    let name = |text: &str| {
        let end = text.find(|c: char| !(c.is_alphanumeric() || "_-./".contains(c)));
        text[..end.unwrap_or(text.len())].trim_end_matches('.').to_owned()
    };
    let mut named = 0;
    for document in documents()
        .into_iter()
        .chain([repository().join("CONTRIBUTING.md")])
    {
        let text = fs::read_to_string(&document).unwrap();
        for (at, word) in text.match_indices("--example ") {
            let example = name(&text[at + word.len()..]);
            assert!(is_example(&example), "{}: {example}", document.display());
            named += 1;
        }
        for (at, word) in text.match_indices("--bin ") {
            let program = name(&text[at + word.len()..]);
            assert!(is_program(&program), "{}: {program}", document.display());
            named += 1;
        }
        for (at, _) in text.match_indices("`tests/") {
            let path = name(&text[at + 1..]);
            // One of many.
            if path.contains("NAME") {
                continue;
            }
            assert!(
                repository().join(&path).exists(),
                "{}: {path}",
                document.display()
            );
            named += 1;
        }
    }
    assert!(named > 10, "{named}");
}
