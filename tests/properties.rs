//! What holds whatever comes in. Other properties stand beside the code that has them; docs/evidence/trust.md lists all.

mod containers;
mod documents;
mod pipeline;
mod suites;

use crate::support::repository;
use std::path::Path;

/// File and name of every property: functions in `proptest!` blocks.
fn properties(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            properties(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(repository()).unwrap().display().to_string();
            let text = std::fs::read_to_string(&path).unwrap();
            found.extend(
                in_text(&text)
                    .into_iter()
                    .map(|property| (name.clone(), property)),
            );
        }
    }
}

fn in_text(text: &str) -> Vec<String> {
    let (mut found, mut end) = (Vec::new(), None);
    for line in text.lines() {
        let begins = line.trim_start().trim_start_matches("proptest::");
        if begins == "proptest! {" {
            end = Some(line.replace(line.trim_start(), "}"));
        } else if end.as_deref() == Some(line) {
            end = None;
        } else if end.is_some() && begins.starts_with("fn ") {
            found.extend(begins[3..].split('(').next().map(str::to_owned));
        }
    }
    found
}

/// `BLESS=1` writes the list.
#[test]
fn docs_list_them() {
    let mut found = Vec::new();
    for folder in ["crates", "dev", "tests"] {
        properties(&repository().join(folder), &mut found);
    }
    found.sort();
    assert!(found.len() >= 50, "{}", found.len());
    let mut list = format!("{} properties:\n\n", found.len());
    for (file, name) in &found {
        list.push_str(&format!("- `{name}` in [`{file}`](../../{file})\n"));
    }
    let path = repository().join("docs/evidence/trust.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("<!-- properties -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of properties -->").unwrap();
    let expected = format!("{before}<!-- properties -->\n{list}<!-- end of properties -->{after}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert!(
            text == expected,
            "BLESS=1 cargo test --test tests properties::docs_list_them"
        );
    }
}
