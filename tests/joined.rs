//! Many files, one timeline: a capture in pieces gives the analysis of the whole, byte for byte.

use crate::support::{Lab, lab_of_sample, labs};
use assert_cmd::Command;
use rekeyscope_model::analysis::Analysis;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Pieces of every capture that is cut.
const PIECES: u64 = 17;

struct Outcome {
    status: i32,
    stdout: Vec<u8>,
    stderr: String,
}

fn run(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
    let output = command
        .current_dir(folder)
        .env("LC_ALL", "C")
        .args(arguments)
        .output()
        .unwrap();
    Outcome {
        status: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The document of a capture, with what names the files left out.
fn document(folder: &Path, captures: &[&str], lab: &Lab) -> Vec<u8> {
    let keys: Vec<&str> = lab.keys.iter().map(|k| k.to_str().unwrap()).collect();
    let keys = keys.iter().flat_map(|key| ["--keys", key]);
    let arguments: Vec<&str> = captures
        .iter()
        .copied()
        .chain(keys)
        .chain(["--json", "-", "-q"])
        .collect();
    let out = run(folder, &arguments);
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    let mut analysis: Analysis = serde_json::from_slice(&out.stdout).unwrap();
    analysis.capture.path = String::new();
    analysis.capture.files.clear();
    serde_json::to_vec(&analysis).unwrap()
}

/// Cuts a capture with editcap, or says that it is not here.
fn cut(lab: &Lab, folder: &Path, how: &[&str]) -> bool {
    let done = std::process::Command::new("editcap")
        .args(how)
        .arg(&lab.capture)
        .arg(folder.join("ring.pcap"))
        .output();
    match done {
        Ok(output) => {
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            true
        }
        Err(_) => {
            println!("skipped: editcap is not installed");
            false
        }
    }
}

fn pieces(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn seventeen_pieces_give_the_analysis_of_the_whole() {
    let lab = labs()
        .into_iter()
        .find(|lab| lab.name == "l2tp_kb_modp1024_down")
        .unwrap();
    let whole: Analysis =
        serde_json::from_slice(&document(Path::new("."), &[lab.capture.to_str().unwrap()], &lab)).unwrap();
    let seconds = whole.capture.duration_s.unwrap();
    let whole = serde_json::to_vec(&whole).unwrap();
    let count = |text: &[u8]| serde_json::from_slice::<Analysis>(text).unwrap().capture.packets;
    let by_size = count(&whole).div_ceil(PIECES).to_string();
    let by_time = format!("{:.6}", seconds / PIECES as f64 + 0.001);
    for how in [
        ["-F", "nsecpcap", "-c", &by_size],
        ["-F", "nsecpcap", "-i", &by_time],
    ] {
        let folder = TempDir::new().unwrap();
        if !cut(&lab, folder.path(), &how) {
            return;
        }
        assert_eq!(pieces(folder.path()).len() as u64, PIECES, "{how:?}");
        // By folder, by pattern, by name and in any order.
        let mut names: Vec<String> = pieces(folder.path())
            .iter()
            .map(|p| p.to_str().unwrap().to_owned())
            .collect();
        names.reverse();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for captures in [&["."][..], &["ring_*.pcap"], &names] {
            assert!(
                document(folder.path(), captures, &lab) == whole,
                "{how:?} {captures:?}"
            );
        }
    }
}

/// Under names that say nothing, in other containers, compressed, and of two interfaces that were captured at a time.
#[test]
fn what_is_joined_by_hand_is_merged_by_time() {
    let lab = lab_of_sample("l2tp_time_down");
    let whole = document(Path::new("."), &[lab.capture.to_str().unwrap()], &lab);
    let all = rekeyscope_testkit::containers::read_pcap(&lab.capture);
    let folder = TempDir::new().unwrap();
    let (early, late) = all.split_at(all.len() / 3);
    let (one, other): (Vec<_>, Vec<_>) = late
        .iter()
        .cloned()
        .partition(|packet| packet.data.len() % 2 == 0);
    rekeyscope_testkit::containers::write_pcap(&folder.path().join("z.pcap"), early);
    use rekeyscope_testkit::containers::{Order, PcapKind, gzip, pcap, pcapng};
    fs::write(
        folder.path().join("a.cap"),
        gzip(&pcapng(Order::Big, 1, 9, 0, &one)),
    )
    .unwrap();
    fs::write(
        folder.path().join("b"),
        pcap(PcapKind::Nanos, Order::Big, 1, &other).0,
    )
    .unwrap();
    let joined = document(folder.path(), &["a.cap", "b", "z.pcap", "--join"], &lab);
    assert!(joined == whole);
}

#[test]
fn a_bad_piece_is_told_by_name_and_the_rest_is_analysed() {
    let lab = lab_of_sample("l2tp_time_down");
    let all = rekeyscope_testkit::containers::read_pcap(&lab.capture);
    let folder = TempDir::new().unwrap();
    for (number, packets) in all.chunks(all.len() / 4).enumerate() {
        let name = format!("gw_{number:05}_2026112312000{number}.pcap");
        rekeyscope_testkit::containers::write_pcap(&folder.path().join(name), packets);
    }
    let bad = "gw_00002_20261123120002.pcap";
    fs::write(folder.path().join(bad), "gone").unwrap();
    for quiet in [&[][..], &["-q"]] {
        let out = run(folder.path(), &[&["gw_*", "--json", "-"], quiet].concat());
        assert_eq!(out.status, 1);
        assert_eq!(
            out.stderr.matches(bad).count(),
            1 + out.stderr.matches("--keys gw_").count(),
            "{}",
            out.stderr
        );
        let document: Analysis = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(document.capture.path, "gw_*.pcap");
        let files = &document.capture.files;
        assert!(
            files
                .iter()
                .filter(|file| file.problem.is_some())
                .all(|file| file.path == bad)
        );
        assert_eq!(
            files.iter().map(|file| file.packets).sum::<u64>(),
            document.capture.packets
        );
        assert!(document.capture.packets > all.len() as u64 / 2);
        assert!(
            document
                .diagnostics
                .iter()
                .any(|oddity| oddity.kind == "files_not_read")
        );
    }
    // An empty folder, and one without captures, name what is not there.
    let empty = TempDir::new().unwrap();
    let out = run(empty.path(), &[".", "no_*.pcap"]);
    assert_eq!(out.status, 1);
    assert!(
        out.stderr.contains("no_*.pcap") && out.stderr.contains("directory"),
        "{}",
        out.stderr
    );
    let copied = run(folder.path(), &["gw_*", "--annotate", "notes.pcapng"]);
    assert_eq!(copied.status, 2);
    assert!(copied.stderr.contains("mergecap"), "{}", copied.stderr);
}

/// As many at a time as there are cores, and as if one by one.
#[test]
fn each_is_a_capture_of_its_own() {
    let lab = lab_of_sample("l2tp_time_down");
    let all = rekeyscope_testkit::containers::read_pcap(&lab.capture);
    let folder = TempDir::new().unwrap();
    for (number, packets) in all.chunks(all.len().div_ceil(6)).enumerate() {
        let name = format!("gw_{number:05}_2026112312000{number}.pcap");
        rekeyscope_testkit::containers::write_pcap(&folder.path().join(name), packets);
    }
    fs::write(folder.path().join("gw_00009_20261123120009.pcap"), "bad").unwrap();
    let words = ["gw_*.pcap", "--each", "--html", "reports/", "--json", "json/"];
    let out = run(folder.path(), &words);
    assert_eq!(out.status, 1);
    let index = fs::read_to_string(folder.path().join("reports/index.html")).unwrap();
    assert_eq!(index.matches("<a href=\"gw_0").count(), 6);
    assert!(index.contains("gw_00009"));
    let order: Vec<usize> = (0..6)
        .map(|n| index.find(&format!("href=\"gw_0000{n}")).unwrap())
        .collect();
    assert!(order.is_sorted());
    let mut expected = String::new();
    for number in 0..6 {
        let name = format!("gw_{number:05}_2026112312000{number}");
        let alone = run(folder.path(), &[&format!("{name}.pcap"), "--json", "-"]);
        expected += &alone.stderr;
        let beside = fs::read(folder.path().join(format!("json/{name}.json"))).unwrap();
        let path = |json: &[u8]| {
            let mut analysis: Analysis = serde_json::from_slice(json).unwrap();
            analysis.capture.path = String::new();
            serde_json::to_vec(&analysis).unwrap()
        };
        assert!(path(&beside) == path(&alone.stdout), "{name}");
    }
    // The notes of each, in the captures' order.
    let (complaint, notes) = out.stderr.split_once('\n').unwrap();
    assert!(
        complaint.contains("gw_00009_20261123120009.pcap is not a capture"),
        "{complaint}"
    );
    assert_eq!(notes, expected);
}

/// A capture in five pieces of a ring buffer, its keys beside them; and the same in one file.
fn ring_and_whole(lab: &Lab) -> TempDir {
    let folder = TempDir::new().unwrap();
    let all = rekeyscope_testkit::containers::read_pcap(&lab.capture);
    fs::create_dir(folder.path().join("ring")).unwrap();
    for (number, packets) in all.chunks(all.len().div_ceil(5)).enumerate() {
        let name = format!("ring/gw_{number:05}_2026112312000{number}.pcap");
        rekeyscope_testkit::containers::write_pcap(&folder.path().join(name), packets);
    }
    rekeyscope_testkit::containers::write_pcap(&folder.path().join("gw.pcap"), &all);
    for key in &lab.keys {
        let end = key.extension().unwrap().to_str().unwrap();
        fs::copy(key, folder.path().join(format!("gw.{end}"))).unwrap();
        fs::copy(key, folder.path().join(format!("ring/gw.{end}"))).unwrap();
    }
    folder
}

/// The job that looks for keys joins as the main one does.
#[test]
fn keys_are_looked_up_for_all_pieces() {
    let lab = lab_of_sample("l2tp_time_down");
    let folder = ring_and_whole(&lab);
    let keys = |words: &[&str]| {
        let out = run(folder.path(), &[&["keys", "-q"], words].concat());
        assert_eq!((out.status, out.stderr.as_str()), (0, ""), "{words:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    let rows = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| line.contains("0x"));
        rows.map(|row| row.replace("ring/gw.", "gw.")).collect()
    };
    let whole = rows(&keys(&["gw.pcap"]));
    assert!(whole.len() > 3, "{whole:?}");
    let mut names = pieces(&folder.path().join("ring"));
    names.retain(|name| name.extension().is_some_and(|end| end == "pcap"));
    let names: Vec<&str> = names.iter().rev().map(|name| name.to_str().unwrap()).collect();
    for words in [&["ring"][..], &["ring/gw_*.pcap"]] {
        assert_eq!(rows(&keys(words)), whole, "{words:?}");
    }
    assert_eq!(rows(&keys(&names)).len(), whole.len());
    let table = |name: &str| fs::read_to_string(folder.path().join(name).join("esp_sa")).unwrap();
    keys(&["gw.pcap", "--export", "wireshark", "one"]);
    keys(&["ring", "--export", "wireshark", "five"]);
    assert_eq!(table("five"), table("one"));
    let several = run(folder.path(), &["keys", "ring", "gw.pcap"]);
    assert!(
        several.status == 2 && several.stderr.contains("these are 2 captures"),
        "{}",
        several.stderr
    );
    fs::write(folder.path().join("ring/gw_00002_20261123120002.pcap"), "gone").unwrap();
    let out = run(folder.path(), &["keys", "ring", "-q"]);
    assert!(
        out.status == 1 && out.stderr.contains("gw_00002") && !out.stdout.is_empty(),
        "{}",
        out.stderr
    );
}

/// So does the comparison, also beside saved analyses; `--each` takes the files alone.
#[test]
fn pieces_are_one_capture_of_a_comparison() {
    let folder = ring_and_whole(&lab_of_sample("l2tp_time_down"));
    let made = run(folder.path(), &["gw.pcap", "-q", "--json", "saved.json"]);
    assert_eq!(made.status, 0, "{}", made.stderr);
    let table = |words: &[&str]| {
        let out = run(folder.path(), &[&["compare", "-q", "--csv", "-"], words].concat());
        assert_eq!((out.status, out.stderr.as_str()), (0, ""), "{words:?}");
        let text = String::from_utf8(out.stdout).unwrap();
        let rows: Vec<Vec<String>> = text
            .lines()
            .map(|line| line.split(',').map(str::to_owned).collect())
            .collect();
        rows
    };
    let rows = table(&["ring", "saved.json", "gw.pcap"]);
    let place = rows[0].iter().position(|name| name == "path").unwrap();
    let names: Vec<&str> = rows[1..].iter().map(|row| row[place].as_str()).collect();
    assert_eq!(names, ["ring/gw_*.pcap", "saved.json", "gw.pcap"]);
    let without_name = |row: &[String]| -> Vec<String> {
        let cells = row.iter().enumerate().filter(|(at, _)| *at != place);
        cells.map(|(_, cell)| cell.clone()).collect()
    };
    assert_eq!(without_name(&rows[1]), without_name(&rows[3]));
    assert_eq!(table(&["ring", "--each"]).len(), 6);
    let one = run(folder.path(), &["compare", "ring"]);
    assert!(
        one.status == 2
            && one
                .stderr
                .contains("these 5 files are pieces of one: add another capture, or give --each"),
        "{}",
        one.stderr
    );
}
