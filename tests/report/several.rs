//! Several captures, or several saved documents.

use super::*;

#[test]
fn several_captures_give_an_index() {
    let folder = TempDir::new().unwrap();
    let captures: Vec<String> = sample_names().iter().map(|n| sample(n)).collect();
    let mut arguments: Vec<&str> = captures.iter().map(String::as_str).collect();
    arguments.extend(["-q", "--html", "reports/", "--json", "json"]);
    let text = run_well(folder.path(), &arguments);
    let index = fs::read_to_string(folder.path().join("reports/index.html")).unwrap();
    assert!(index.contains("Content-Security-Policy") && !index.contains("<script"));
    for name in sample_names() {
        assert!(index.contains(&format!("<a href=\"{name}.html\">")), "{name}");
        assert!(folder.path().join(format!("reports/{name}.html")).exists());
        let answer = run_well(folder.path(), &["report", &format!("json/{name}.json")]);
        let sentence = answer.lines().next().unwrap();
        let escaped = sentence.replace('<', "&#60;").replace('>', "&#62;");
        assert!(index.contains(&escaped), "{sentence}");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(sentence), "{sentence} in {text}");
    }
    assert!(text.lines().all(|l| l.chars().count() <= 80));
    // The same from the documents.
    let saved: Vec<String> = sample_names().iter().map(|n| format!("json/{n}.json")).collect();
    let mut arguments = vec!["report"];
    arguments.extend(saved.iter().map(String::as_str));
    arguments.extend(["--html", "again/"]);
    assert_eq!(run_well(folder.path(), &arguments), text);
    assert!(files(&folder.path().join("reports")) == files(&folder.path().join("again")));
}

#[test]
fn several_documents_are_one_json_array_and_never_one_file() {
    let folder = TempDir::new().unwrap();
    let captures: Vec<String> = sample_names().iter().take(2).map(|n| sample(n)).collect();
    let [a, b] = [&captures[0], &captures[1]];
    for wanted in [["--format", "json"], ["--json", "-"]] {
        let out = run_in(folder.path(), &[a, "nowhere.pcap", b, "-q", wanted[0], wanted[1]]);
        assert_eq!(out.status, 1, "{}", out.stderr);
        let all: Vec<serde_json::Value> = serde_json::from_str(&out.stdout).unwrap();
        let paths: Vec<&str> = all.iter().filter_map(|d| d["capture"]["path"].as_str()).collect();
        assert_eq!(paths, [a, b]);
    }
    assert_eq!(
        run_in(folder.path(), &["no.pcap", "none.pcap", "--format", "json"]).stdout,
        "[]\n"
    );
    for option in ["--html", "--json"] {
        let out = run_in(folder.path(), &[a, b, option, "all.json"]);
        assert_eq!(out.status, 2, "{option}");
        assert!(
            out.stderr
                .contains(&format!("give a folder, for example {option} all/")),
            "{}",
            out.stderr
        );
        assert!(!folder.path().join("all.json").exists());
    }
    let csv = run_well(folder.path(), &[a, b, "-q", "--format", "csv", "--json", "v1.0/"]);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(folder.path().join("v1.0").is_dir());
}

#[test]
fn one_capture_that_cannot_be_read_does_not_keep_the_others_from_it() {
    let folder = TempDir::new().unwrap();
    let out = run_in(
        folder.path(),
        &["nowhere.pcap", &sample(SAMPLE), "-q", "--html", "reports/"],
    );
    assert_eq!(out.status, 1);
    assert!(
        out.stderr.contains("cannot read the capture nowhere.pcap"),
        "{}",
        out.stderr
    );
    let index = fs::read_to_string(folder.path().join("reports/index.html")).unwrap();
    assert!(index.contains("not read") && index.contains(&format!("href=\"{SAMPLE}.html\"")));
    assert!(!folder.path().join("reports/nowhere.html").exists());
}
