//! `docs/formats.md` names for each row the test that proves it: those tests have to exist.

use crate::support::repository;
use std::path::Path;

fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path
                .strip_prefix(repository())
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/");
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// `path/to/file.rs::test` in the last column of each row of a table.
fn named(document: &str) -> Vec<(&str, &str)> {
    let rows = document
        .lines()
        .filter(|l| l.starts_with("| ") && !l.starts_with("| What"));
    rows.flat_map(|row| {
        let proof = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap();
        let tests: Vec<_> = proof
            .split('`')
            .filter_map(|word| word.split_once(".rs::"))
            .collect();
        assert!(!tests.is_empty(), "no test is named in: {row}");
        tests
    })
    .collect()
}

#[test]
fn every_test_that_the_table_names_exists() {
    let document = std::fs::read_to_string(repository().join("docs/formats.md")).unwrap();
    let mut files = Vec::new();
    for folder in ["tests", "crates"] {
        sources(&repository().join(folder), &mut files);
    }
    let tests = named(&document);
    assert!(tests.len() > 50, "{}", tests.len());
    for (file, test) in tests {
        let wanted = format!("/{file}.rs");
        let mut named = files
            .iter()
            .filter(|(name, _)| format!("/{name}").ends_with(&wanted));
        let (before, _) = named
            .find_map(|(_, text)| text.split_once(&format!("fn {test}(")))
            .unwrap_or_else(|| panic!("docs/formats.md names {file}.rs::{test}, which does not exist"));
        let lines: Vec<&str> = before.lines().rev().take(4).collect();
        let is_test = lines.iter().any(|l| l.contains("#[test]")) || before.contains("proptest!");
        assert!(is_test, "{file}.rs::{test} is no test");
    }
}
