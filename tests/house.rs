//! The house keeps its shape: the arrows between the crates are those of CONTRIBUTING.md, no circle of files forms inside a crate,
//! every file has a room, and a name means one thing.
//!
//! The files are read as text: `use` and `mod` lines, and paths in the middle of code (`crate::a::b()`, `super::NAME`). What that cannot see: what macros make, trait methods that are called without an import, and code in `mod tests { … }` blocks,
//! which is left out on purpose. The arrows between crates need none of this: there the compiler refuses.

use crate::support::repository;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The members of the workspace in `crates/`, by the names of their folders.
const CRATES: [&str; 10] = [
    "lanes", "model", "capture", "keylog", "ipsec", "traffic", "impact", "report", "analyzer", "testkit",
];
/// Those in `dev/`: they may stand on any of the above, and none of the above stands on them.
const DEV: [&str; 2] = ["lab", "simulate"];
/// Crates whose root holds one file per word, besides folders.
const WORDS: [&str; 2] = ["model", "testkit"];

fn members() -> impl Iterator<Item = &'static str> {
    CRATES.into_iter().chain(DEV)
}

/// Where a member lies, from the top of the repository.
fn folder(name: &str) -> String {
    format!("{}/{name}", if DEV.contains(&name) { "dev" } else { "crates" })
}

fn short(package: &str) -> &str {
    match package {
        "rekeyscope" => "analyzer",
        other => other.trim_start_matches("rekeyscope-"),
    }
}

/// The workspace as cargo has it.
fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = std::process::Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(repository())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// `crate → what it stands on`.
fn arrows(kind: Option<&str>) -> BTreeMap<String, BTreeSet<String>> {
    let metadata = metadata();
    let of = |package: &Value| {
        let ours = package["dependencies"].as_array().unwrap().iter();
        let ours = ours.filter(|d| d["path"].is_string() && d["kind"].as_str() == kind);
        let names = ours.map(|d| short(d["name"].as_str().unwrap()).to_owned());
        (
            short(package["name"].as_str().unwrap()).to_owned(),
            names.collect(),
        )
    };
    metadata["packages"].as_array().unwrap().iter().map(of).collect()
}

/// The picture in CONTRIBUTING.md: lines such as `report → model, impact`.
fn picture() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(" → "));
    let lines = lines.filter(|(name, _)| members().any(|member| member == name.trim()));
    let row = |(name, below): (&str, &str)| {
        let below = below.split("  ").next().unwrap_or_default();
        let below = below.split(',').map(|b| b.trim().to_owned());
        (name.trim().to_owned(), below.filter(|b| b != "nothing").collect())
    };
    lines.map(row).collect()
}

#[test]
fn the_arrows_are_those_of_the_picture() {
    assert_eq!(arrows(None), picture());
    assert_eq!(
        arrows(None).keys().map(String::as_str).collect::<BTreeSet<_>>(),
        members().collect()
    );
    for (name, below) in arrows(Some("dev")) {
        let testkit = BTreeSet::from(["testkit".to_owned()]);
        assert!(
            below.is_subset(&testkit) || DEV.contains(&&*name),
            "{name} is tested with {below:?}"
        );
    }
}

/// The picture may gain arrows, but none of them leads to `dev/`. Nor does cargo compile what lies there where nobody asks for it.
#[test]
fn the_product_does_without_dev() {
    for kind in [None, Some("dev"), Some("build")] {
        for (name, below) in arrows(kind) {
            let stands_on_dev = below.iter().any(|below| DEV.contains(&&**below));
            assert!(
                !stands_on_dev || DEV.contains(&&*name),
                "{name} stands on {below:?}"
            );
        }
    }
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let program = packages.filter(|p| p["name"] == "rekeyscope").map(|p| &p["id"]);
    let built: Vec<&Value> = metadata["workspace_default_members"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert_eq!(built, program.collect::<Vec<_>>());
}

/// All Rust files below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn every_file_has_a_room() {
    for name in members().filter(|name| !WORDS.contains(name)) {
        let folder = folder(name);
        let root = repository().join(&folder).join("src");
        for entry in std::fs::read_dir(&root).unwrap().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let allowed = entry.path().is_dir() || ["lib.rs", "main.rs"].contains(&file.as_str());
            assert!(allowed, "{folder}/src/{file} lies in the root: give it a folder");
        }
    }
}

/// The compiler refuses `unsafe` where the workspace's lints hold; `lanes` alone may say otherwise.
#[test]
fn unsafe_code_is_in_lanes_only() {
    let workspace = std::fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    assert!(workspace.contains("\nunsafe_code = \"deny\"\n"));
    for name in CRATES {
        let folder = repository().join("crates").join(name);
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert!(
            manifest.contains("[lints]\nworkspace = true\n"),
            "crates/{name}/Cargo.toml"
        );
        let files = rust_files(&folder).into_iter();
        let exceptions: Vec<PathBuf> = files
            .filter(|file| std::fs::read_to_string(file).unwrap().contains("(unsafe_code)"))
            .collect();
        let allowed = [folder.join("src/lib.rs")];
        assert_eq!(exceptions, &allowed[..usize::from(name == "lanes")]);
    }
}

/// Each rounds the last digits as its platform's C library has it; addition, multiplication, division and the square root are exact everywhere (IEEE 754).
const OF_THE_PLATFORM: [&str; 22] = [
    "ln", "ln_1p", "log", "log2", "log10", "exp", "exp2", "exp_m1", "powf", "cbrt", "hypot", "sin", "cos",
    "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "sin_cos",
];

/// The calls of such functions in a line of code.
fn of_the_platform(line: &str) -> Option<&'static str> {
    let called = |name: &str| {
        [format!(".{name}("), format!("f64::{name}")].iter().any(|call| {
            let ends =
                |at: usize| !line[at + call.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
            line.match_indices(call.as_str())
                .any(|(at, _)| call.ends_with('(') || ends(at))
        })
    };
    OF_THE_PLATFORM.into_iter().find(|name| called(name))
}

/// A document is the same on every system: what computes its figures takes such functions from the crate `libm`.
#[test]
fn figures_are_the_same_on_every_platform() {
    assert_eq!(of_the_platform("let x = y.exp();"), Some("exp"));
    assert_eq!(of_the_platform("values.map(f64::ln)"), Some("ln"));
    assert_eq!(
        of_the_platform("libm::exp(y) + 2_f64.sqrt() + f64::log_of(y)"),
        None
    );
    for name in CRATES.into_iter().filter(|name| *name != "testkit") {
        for file in crate_files(name).iter().filter(|file| !file.test_only) {
            let found = file.code.lines().find(|line| of_the_platform(line).is_some());
            assert_eq!(found, None, "{name}::{}: libm has it", file.module.join("::"));
        }
    }
}

/// Git on Windows writes CRLF by default: a program built from such a checkout would hold other texts.
#[test]
fn a_checkout_is_what_was_committed() {
    let folder = tempfile::TempDir::new().unwrap();
    let files = [
        "crates/report/templates/report.css",
        "crates/model/messages/ja/page.ftl",
        "tests/keylog/nvr_console_crlf.log",
    ];
    let written = std::process::Command::new("git")
        .current_dir(repository())
        .args(["-c", "core.autocrlf=true", "checkout-index", "--prefix"])
        .arg(format!("{}/", folder.path().display()))
        .args(files)
        .output();
    if !written.is_ok_and(|output| output.status.success()) {
        println!("skipped: this is no clone of git's");
        return;
    }
    for file in files {
        let [here, there] = [repository(), folder.path().to_path_buf()]
            .map(|folder| std::fs::read(folder.join(file)).unwrap());
        assert!(here == there, "{file}");
    }
}

/// A file of a crate as the test sees it.
struct SourceFile {
    /// Its place among the modules: `["rekey", "detect"]`.
    module: Vec<String>,
    /// Without comments and without `mod … { … }` blocks.
    code: String,
    /// Only compiled for tests.
    test_only: bool,
}

/// Leaves out comments and inline modules (rustfmt closes them at their own indentation).
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut inside: Option<String> = None;
    for line in text.lines() {
        if let Some(end) = &inside {
            if line == end {
                inside = None;
            }
            continue;
        }
        let trimmed = line.trim_start();
        let declared = trimmed
            .trim_start_matches("pub")
            .trim_start_matches("(crate)")
            .trim_start();
        if declared.starts_with("mod ") && declared.ends_with('{') {
            inside = Some(format!("{}}}", &line[..line.len() - trimmed.len()]));
            continue;
        }
        if !trimmed.starts_with("//") {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

/// Modules that `#[cfg(test)]` stands before.
fn test_modules(code: &str) -> Vec<String> {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let pairs = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]");
    let names = pairs.filter_map(|pair| pair[1].split("mod ").nth(1)?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}

fn crate_files(name: &str) -> Vec<SourceFile> {
    let root = repository().join(folder(name)).join("src");
    let mut files: Vec<SourceFile> = rust_files(&root)
        .iter()
        .filter(|path| !path.ends_with("main.rs"))
        .map(|path| {
            let relative = path.strip_prefix(&root).unwrap().with_extension("");
            let mut module: Vec<String> = relative
                .iter()
                .map(|p| p.to_string_lossy().into_owned())
                .collect();
            if module.last().is_some_and(|last| last == "mod" || last == "lib") {
                module.pop();
            }
            SourceFile {
                module,
                code: code_of(&std::fs::read_to_string(path).unwrap()),
                test_only: false,
            }
        })
        .collect();
    let mut tests: Vec<Vec<String>> = Vec::new();
    for file in &files {
        let below = |child: String| file.module.iter().cloned().chain([child]).collect();
        tests.extend(test_modules(&file.code).into_iter().map(below));
    }
    for file in &mut files {
        file.test_only = tests.iter().any(|test| file.module.starts_with(test));
    }
    files
}

/// The paths that a `use` names, its braces multiplied out.
fn paths_of(tree: &str, prefix: &str, out: &mut Vec<String>) {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[start..]);
    for part in parts.iter().map(|p| p.trim()).filter(|p| !p.is_empty()) {
        match part.split_once('{') {
            Some((head, rest)) => paths_of(rest.trim_end_matches('}'), &format!("{prefix}{head}"), out),
            None => out.push(format!(
                "{prefix}{}",
                part.split(" as ").next().unwrap_or_default()
            )),
        }
    }
}

/// Paths in the middle of code, `crate::a::b()` and `super::NAME`: what stands in `use` lines is left to [`paths_of`].
fn written_out(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for statement in code.split(';') {
        let code = match statement.rfind("use ") {
            Some(at)
                if statement[..at]
                    .lines()
                    .last()
                    .is_none_or(|line| line.trim().is_empty() || line.trim().starts_with("pub")) =>
            {
                &statement[..at]
            }
            _ => statement,
        };
        for start in ["crate::", "super::"] {
            for (at, _) in code.match_indices(start) {
                let of_a_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                if code[..at].ends_with(|c| of_a_path(c) || c == '$' || c == '"') {
                    continue;
                }
                let path = code[at..].split(|c| !of_a_path(c)).next().unwrap_or_default();
                found.push(path.trim_end_matches(':').to_owned());
            }
        }
    }
    found
}

/// The files that a file names, in its `use` lines and in the middle of its code.
fn used(file: &SourceFile, modules: &BTreeSet<Vec<String>>) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let statements = file.code.split(';').filter_map(|s| {
        let at = s.rfind("use ")?;
        let before = s[..at].lines().last().unwrap_or_default().trim();
        (before.is_empty() || before.starts_with("pub")).then(|| s[at + 4..].trim())
    });
    let mut named = vec![written_out(&file.code)];
    for statement in statements {
        let mut paths = Vec::new();
        paths_of(statement, "", &mut paths);
        named.push(paths);
    }
    for paths in named {
        for path in paths {
            let mut segments: Vec<&str> = path.split("::").map(str::trim).collect();
            let mut at: Vec<String> = match segments[0] {
                "crate" => Vec::new(),
                "super" => file.module.clone(),
                _ => {
                    let child: Vec<String> = file
                        .module
                        .iter()
                        .cloned()
                        .chain([segments[0].to_owned()])
                        .collect();
                    if !modules.contains(&child) {
                        continue;
                    }
                    file.module.clone()
                }
            };
            while segments.first() == Some(&"super") {
                at.pop();
                segments.remove(0);
            }
            if segments.first() == Some(&"crate") {
                segments.remove(0);
            }
            for segment in segments {
                let deeper: Vec<String> = at.iter().cloned().chain([segment.to_owned()]).collect();
                if !modules.contains(&deeper) {
                    break;
                }
                at = deeper;
            }
            if at != file.module {
                found.insert(at);
            }
        }
    }
    found
}

/// Some circle in a graph, as the way around it.
fn circle(graph: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>) -> Option<Vec<String>> {
    fn walk<'a>(
        at: &'a Vec<String>,
        graph: &'a BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
        way: &mut Vec<&'a Vec<String>>,
        done: &mut BTreeSet<&'a Vec<String>>,
    ) -> Option<Vec<String>> {
        if let Some(begin) = way.iter().position(|w| *w == at) {
            return Some(way[begin..].iter().map(|w| w.join("::")).collect());
        }
        if !done.insert(at) {
            return None;
        }
        way.push(at);
        let found = graph
            .get(at)
            .into_iter()
            .flatten()
            .find_map(|next| walk(next, graph, way, done));
        way.pop();
        found
    }
    let mut done = BTreeSet::new();
    graph
        .keys()
        .find_map(|start| walk(start, graph, &mut Vec::new(), &mut done))
}

#[test]
fn no_circle_of_files() {
    for name in members() {
        let files = crate_files(name);
        let modules: BTreeSet<Vec<String>> = files.iter().map(|f| f.module.clone()).collect();
        let real = files.iter().filter(|f| !f.test_only);
        let graph: BTreeMap<_, _> = real.map(|f| (f.module.clone(), used(f, &modules))).collect();
        assert_eq!(circle(&graph), None, "in {}", folder(name));
    }
}

#[test]
fn a_circle_would_be_found() {
    let file = |module: &str, code: &str| SourceFile {
        module: vec![module.into()],
        code: code_of(code),
        test_only: false,
    };
    let files = [
        file("a", "use crate::b::{Thing, c};\n"),
        file(
            "b",
            "// use crate::c\npub(crate) use super::c::Other as Another;\n",
        ),
        file("c", "mod tests {\n    use crate::a;\n}\n"),
    ];
    let modules: BTreeSet<Vec<String>> = files.iter().map(|f| f.module.clone()).collect();
    let graph = |files: &[SourceFile]| {
        files
            .iter()
            .map(|f| (f.module.clone(), used(f, &modules)))
            .collect()
    };
    assert_eq!(circle(&graph(&files)), None);
    let mut round = files;
    round[2].code = "use crate::a::Back;".into();
    assert_eq!(
        circle(&graph(&round)),
        Some(vec!["a".into(), "b".into(), "c".into()])
    );
}

/// Types that a file declares outside of tests.
fn declared_types(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in code.lines() {
        // The types of the document stand in a macro, indented.
        if line.starts_with(' ') && !line.starts_with("    pub ") {
            continue;
        }
        let line = line.trim_start();
        let line = line
            .strip_prefix("pub")
            .map_or(line, |rest| match rest.strip_prefix('(') {
                Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
                None => rest,
            });
        for kind in ["struct ", "enum ", "trait ", "type ", "union "] {
            if let Some(rest) = line.trim_start().strip_prefix(kind) {
                let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
                let name = name.filter(|n| n.starts_with(char::is_uppercase));
                names.extend(name.map(str::to_owned));
            }
        }
    }
    names
}

#[test]
fn a_name_means_one_thing() {
    let documented = std::fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // The testkit builds the same things anew, on purpose.
    for name in members().filter(|name| *name != "testkit") {
        for file in crate_files(name).iter().filter(|f| !f.test_only) {
            for declared in declared_types(&file.code) {
                let place = format!("{name}::{}", file.module.join("::"));
                places.entry(declared).or_default().push(place);
            }
        }
    }
    let twice = places.iter().filter(|(_, places)| places.len() > 1);
    let unsaid: Vec<_> = twice
        .filter(|(name, _)| !documented.contains(&format!("| `{name}` |")))
        .collect();
    assert!(
        unsaid.is_empty(),
        "types of one name: rename them, or say in CONTRIBUTING.md what they share: {unsaid:#?}"
    );
}
