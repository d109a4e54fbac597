//! Keys that are missing, wrong, of another run or malformed.

use super::*;

#[test]
fn without_keys_it_says_so_and_measures_esp_bytes() {
    let folder = TempDir::new().unwrap();
    let path = alone(&folder, usize::MAX);
    let out = run(&[text(&path), "--json", "-"]);
    assert_eq!(out.status, 0);
    assert!(out.stderr.contains("no key for 16 of 16 SAs"), "{}", out.stderr);
    let d = document(&out.stdout);
    assert_eq!(d["impact"][0]["counted"], "outer_bytes");
    assert!(
        run(&[text(&path)])
            .stdout
            .contains("so their ESP bytes are counted"),
        "the report says where its rates come from"
    );
}

/// Under every report the sentence would be read by nobody.
#[cfg(unix)]
#[test]
fn keys_that_others_can_read_are_named_by_the_job_about_keys_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let (capture, keys) = (alone(&folder, usize::MAX), folder.path().join("alone.esp_sa"));
    std::fs::copy(lab_of_sample(MAIN_SAMPLE).keys.first().unwrap(), &keys).unwrap();
    let said = |mode, job: &[&str]| {
        std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(mode)).unwrap();
        let arguments = [job, &[text(&capture), "--keys", text(&keys)]].concat();
        run(&arguments).stderr.contains("chmod 600")
    };
    assert!(said(0o644, &["keys"]));
    assert!(!said(0o600, &["keys"]));
    assert!(!said(0o644, &[]));
}

#[test]
fn wrong_keys_are_told_and_not_used() {
    let folder = TempDir::new().unwrap();
    let keys = folder.path().join("wrong.esp_sa");
    let right = std::fs::read_to_string(repository().join("samples/l2tp_pfs4096_down.esp_sa")).unwrap();
    let wrong = right
        .replace("\"0x", "\"0x0")
        .lines()
        .map(swap_digits)
        .collect::<Vec<_>>()
        .join("\n");
    std::fs::write(&keys, wrong + "\n").unwrap();
    let capture = lab_of_sample("l2tp_pfs4096_down").capture;
    let out = run(&[text(&capture), "--keys", text(&keys), "--json", "-"]);
    assert_eq!(out.status, 0);
    assert!(out.stderr.contains("do not fit"), "{}", out.stderr);
    let d = document(&out.stdout);
    for sa in d["security_associations"].as_array().unwrap() {
        assert_eq!(sa["icv"]["verified"], 0);
        assert_ne!(sa["key"]["status"], "verified");
        assert!(sa["inner_bytes"].is_null());
    }
}

/// A report without keys is a report, so that it costs no exit status that a named log has none; the document says which SAs stayed
/// closed.
#[test]
fn a_log_without_keys_is_told_and_the_capture_is_analysed() {
    let folder = TempDir::new().unwrap();
    let capture = alone(&folder, usize::MAX);
    let (empty, other) = (folder.path().join("empty.log"), folder.path().join("notes.txt"));
    std::fs::write(&empty, "").unwrap();
    std::fs::write(&other, "These are notes, not keys.\n").unwrap();
    for (keys, says) in [
        (&empty, "the file is empty"),
        (&other, "no keys were found in this file"),
    ] {
        let out = run(&[text(&capture), "--keys", text(keys), "--json", "-"]);
        assert_eq!(out.status, 0, "{}", out.stderr);
        assert!(
            out.stderr.contains(&format!("{}: {says}", text(keys))),
            "{}",
            out.stderr
        );
        let document = document(&out.stdout);
        let sas = document["security_associations"].as_array().unwrap();
        assert!(sas.iter().all(|sa| sa["inner_bytes"].is_null()));
    }
}

#[test]
fn a_folder_without_a_key_log_is_named() {
    let folder = TempDir::new().unwrap();
    let capture = alone(&folder, usize::MAX);
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    let told = || run(&[text(&capture), "--keys", text(&logs), "--json", "-"]);
    let sentence = format!("no key log is among the files of the folder {}", text(&logs));
    let out = told();
    assert!(
        out.status == 0 && out.stderr.contains(&sentence),
        "{}",
        out.stderr
    );
    std::fs::write(logs.join("notes.txt"), "These are notes, not keys.\n").unwrap();
    assert!(told().stderr.contains(&sentence));
    let quiet = run(&["keys", text(&capture), "--keys", text(&logs), "-q"]);
    assert_eq!(quiet.stderr, "");
    std::fs::copy(sample().with_extension("keylog"), logs.join("router.log")).unwrap();
    assert!(!told().stderr.contains("no key log"), "{}", told().stderr);
}

/// Undoes the lengthening and turns the last digit of both keys: right lengths, wrong keys.
fn swap_digits(row: &str) -> String {
    let turned: Vec<String> = row
        .replace("\"0x0", "\"0x")
        .split(',')
        .enumerate()
        .map(|(column, cell)| {
            let Some(body) = cell.strip_suffix('"').filter(|_| column == 5 || column == 7) else {
                return cell.to_string();
            };
            let (head, last) = body.split_at(body.len() - 1);
            format!("{head}{}\"", if last == "0" { "1" } else { "0" })
        })
        .collect();
    turned.join(",")
}

#[test]
fn a_malformed_row_is_named_and_the_other_rows_count() {
    let folder = TempDir::new().unwrap();
    let keys = folder.path().join("keys.esp_sa");
    let right = std::fs::read_to_string(repository().join("samples/l2tp_pfs4096_down.esp_sa")).unwrap();
    let mut rows: Vec<&str> = right.lines().collect();
    let broken = rows[2].replace("\"0x", "\"0xzz");
    rows[2] = &broken;
    std::fs::write(&keys, rows.join("\n") + "\n").unwrap();
    let capture = lab_of_sample("l2tp_pfs4096_down").capture;
    let out = run(&[text(&capture), "--keys", text(&keys), "--json", "-"]);
    assert_eq!(out.status, 0);
    assert!(out.stderr.contains("keys.esp_sa:3:"), "{}", out.stderr);
    let d = document(&out.stdout);
    let verified = d["security_associations"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|sa| sa["key"]["status"] == "verified");
    assert_eq!(verified.count(), 11);
}

#[test]
fn keys_of_another_run_are_told_apart_from_no_keys() {
    let folder = TempDir::new().unwrap();
    let capture = alone(&folder, usize::MAX);
    let keys = repository().join("samples/l2tp_time_down.esp_sa");
    let out = run(&[text(&capture), "--keys", text(&keys), "--json", "-"]);
    assert!(out.stderr.contains("of another run"), "{}", out.stderr);
    let told = |more: &[&str]| {
        let out = run(&[&[text(&capture)], more].concat());
        out.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let wrong = told(&["--keys", text(&keys)]);
    assert!(wrong.contains("The keys that were read fit none of"), "{wrong}");
    assert!(told(&[]).contains("Keys are missing for"));
}

/// The ICV does not depend on the encryption key: a wrong one has to show by what it decrypts to.
#[test]
fn a_wrong_encryption_key_behind_a_good_icv_is_not_used() {
    let folder = TempDir::new().unwrap();
    let keys = folder.path().join("wrong.esp_sa");
    let right = std::fs::read_to_string(repository().join("samples/l2tp_pfs4096_down.esp_sa")).unwrap();
    let turn = |row: &str| {
        let mut cells: Vec<String> = row.split(',').map(String::from).collect();
        let last = cells[5].len() - 2;
        let digit = if cells[5].as_bytes()[last] == b'0' {
            "1"
        } else {
            "0"
        };
        cells[5].replace_range(last..=last, digit);
        cells.join(",")
    };
    let wrong = right.lines().map(turn).collect::<Vec<_>>().join("\n") + "\n";
    let capture = lab_of_sample("l2tp_pfs4096_down").capture;
    std::fs::write(&keys, &wrong).unwrap();
    let d = document(&run(&[text(&capture), "--keys", text(&keys), "--json", "-"]).stdout);
    let sas = d["security_associations"].as_array().unwrap();
    assert!(
        sas.iter()
            .all(|sa| sa["key"]["status"] != "verified" && sa["inner_bytes"].is_null()),
        "{sas:?}"
    );
    std::fs::write(&keys, wrong + &right).unwrap();
    let d = document(&run(&[text(&capture), "--keys", text(&keys), "--json", "-"]).stdout);
    let sas = d["security_associations"].as_array().unwrap();
    assert!(
        sas.iter().all(|sa| sa["key"]["status"] == "verified"),
        "the right key is found behind the wrong one"
    );
}
