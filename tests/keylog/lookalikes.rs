//! Lines that look like rows of a table and are none are left alone; rows that lack something are not.

use rekeyscope_keylog::KeyMaterial;
use std::path::Path;

fn read(log: &str) -> KeyMaterial {
    let mut material = KeyMaterial::default();
    material.read_bytes(Path::new("synthetic.log"), log.as_bytes());
    material
}

#[test]
fn what_only_begins_like_a_row_is_none() {
    for line in [
        // Eight columns, of which none but the first is quoted.
        "\"x\",1,2,3,4,5,6,7",
        // Two columns with too few digits for a cookie.
        "0x1234567,hello",
        "12345678,90abcdef",
        // A cookie, and words.
        "0123456789abcdef,notes,and more",
    ] {
        let material = read(&format!("{line}\n"));
        // Of the file, not of the line.
        let [problem] = &material.problems[..] else {
            panic!("{line}: {:?}", material.problems)
        };
        assert!(
            problem.sentence.starts_with("no keys were found in this file"),
            "{line}: {problem:?}"
        );
    }
}

#[test]
fn a_row_with_another_number_of_columns_is_told_how_many() {
    let row = "\"IPv4\",\"*\",\"*\",\"*\",\"NULL\",\"\",\"NULL\",\"\",\"32-bit\"";
    let material = read(&format!("{row}\n"));
    let sentence = &material.problems[0].sentence;
    assert!(
        sentence.contains("has 8 columns") && sentence.contains("this one has 9"),
        "{sentence}"
    );
}
