//! Every output and every word of a run, searched for every part of every key: eight bytes of one, raw or in hex of either case, and twelve
//! in base64 at any of its three alignments, forwards and backwards. What holds keys on purpose shows that the search finds them.

use super::secrets::{PSK, base64, rekeyscope, sample, secrets};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// Bytes that are a key's, in a row.
const PART: usize = 8;
/// The same in hex; in base64 these are twelve bytes.
const DIGITS: usize = 16;

/// What must not be found.
struct Parts {
    raw: HashSet<[u8; PART]>,
    text: HashSet<[u8; DIGITS]>,
    /// Whether a part begins with these three bytes: few do, and only there a set is asked.
    begins: Vec<bool>,
}

/// The place of three bytes among all.
fn place(bytes: &[u8]) -> usize {
    bytes[..3]
        .iter()
        .fold(0, |place, byte| place << 8 | usize::from(*byte))
}

impl Parts {
    fn of(secrets: &[Vec<u8>]) -> Self {
        let mut parts = Parts {
            raw: HashSet::new(),
            text: HashSet::new(),
            begins: vec![false; 1 << 24],
        };
        for secret in secrets {
            parts.add(secret);
            parts.add(&secret.iter().rev().copied().collect::<Vec<u8>>());
        }
        for part in &parts.raw {
            parts.begins[place(part)] = true;
        }
        for part in &parts.text {
            parts.begins[place(part)] = true;
        }
        parts
    }

    fn add(&mut self, secret: &[u8]) {
        self.raw
            .extend(secret.windows(PART).map(|w| <[u8; PART]>::try_from(w).unwrap()));
        for part in secret.windows(PART) {
            let hex: String = part.iter().map(|b| format!("{b:02x}")).collect();
            // Backwards by digits, not only by bytes.
            let reversed: String = hex.chars().rev().collect();
            for digits in [hex, reversed] {
                for digits in [digits.to_uppercase(), digits] {
                    self.text.insert(digits.as_bytes().try_into().unwrap());
                }
            }
        }
        // One of three neighbours stands at the beginning of a group.
        for part in secret.windows(12) {
            self.text.insert(base64(part).as_bytes().try_into().unwrap());
        }
    }

    fn are_in(&self, bytes: &[u8]) -> bool {
        (0..bytes.len().saturating_sub(PART - 1)).any(|at| {
            let rest = &bytes[at..];
            self.begins[place(rest)]
                && (rest.first_chunk().is_some_and(|part| self.raw.contains(part))
                    || rest.first_chunk().is_some_and(|part| self.text.contains(part)))
        })
    }
}

/// The keys of the sample, and of its pre-shared key what no name of ours begins with.
fn parts() -> Parts {
    let mut all = secrets();
    all.push(PSK.as_bytes()[7..].to_vec());
    Parts::of(&all)
}

fn files(folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            files(&entry.path(), found);
        } else {
            found.insert(
                entry.path().display().to_string(),
                std::fs::read(entry.path()).unwrap(),
            );
        }
    }
}

#[test]
fn the_search_finds_every_form() {
    let parts = parts();
    for secret in secrets() {
        let reversed: Vec<u8> = secret.iter().rev().copied().collect();
        for bytes in [&secret, &reversed] {
            let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
            let mut shown = vec![
                bytes.clone(),
                hex.to_uppercase().into(),
                hex.chars().rev().collect::<String>().into(),
                hex.into(),
            ];
            for before in 0..3 {
                let padded = [&vec![0; before], &bytes[..], &[0; 3]].concat();
                shown.push(base64(&padded).into());
            }
            for form in shown {
                assert!(parts.are_in(&[b"text before ", &form[..], b" and after"].concat()));
            }
        }
    }
    assert!(!parts.are_in(b"0123456789abcdef no key at all 0xfedcba9876543210"));
}

#[test]
fn no_output_holds_a_key_but_those_for_keys() {
    let inputs = TempDir::new().unwrap();
    let outputs = TempDir::new().unwrap();
    let (psk, broken) = (inputs.path().join("psk"), inputs.path().join("broken"));
    std::fs::write(&psk, PSK).unwrap();
    // A file in which keys stand where none may be, so that every problem with it is told.
    let log = std::fs::read_to_string(sample("keylog")).unwrap();
    let rows = log
        .lines()
        .map(|line| format!("\"IPv4\",{line},\"0xzz\"\n{line}zz\n"));
    std::fs::write(&broken, rows.collect::<String>()).unwrap();
    let word = |path: &Path| path.to_str().unwrap().to_owned();
    let out = |name: &str| word(&outputs.path().join(name));
    let (capture, log) = (word(&sample("pcap")), word(&sample("keylog")));
    let keys = [
        "--keys".into(),
        log,
        "--keys".into(),
        word(&broken),
        "--psk-file".into(),
        word(&psk),
    ];
    let said: RefCell<BTreeMap<String, Vec<u8>>> = RefCell::default();
    let run = |job: &[&str], rest: Vec<String>| {
        let mut words: Vec<String> = job.iter().map(|w| (*w).to_owned()).collect();
        words.push(capture.clone());
        if job == ["compare"] {
            words.push(capture.clone());
        }
        words.extend(keys.iter().cloned().chain(rest));
        let Output {
            status,
            stdout,
            stderr,
        } = rekeyscope(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(
            status.success(),
            "{words:?}: {}",
            String::from_utf8_lossy(&stderr)
        );
        let mut said = said.borrow_mut();
        said.insert(format!("standard output of {words:?}"), stdout);
        said.insert(format!("standard error of {words:?}"), stderr);
    };
    let options = |pairs: &[(&str, &str)]| -> Vec<String> {
        pairs
            .iter()
            .flat_map(|(option, name)| [(*option).to_owned(), out(name)])
            .collect()
    };
    let mut everything = options(&[
        ("--json", "r.json"),
        ("--html", "r.html"),
        ("--csv", "csv"),
        ("--svg", "svg"),
        ("--annotate", "notes.pcapng"),
        ("--write-inner", "inner.pcapng"),
    ]);
    if cfg!(feature = "png") {
        everything.extend(options(&[("--png", "png")]));
    }
    if cfg!(feature = "parquet") {
        everything.extend(options(&[("--parquet", "tables")]));
    }
    everything.push("-v".into());
    run(&[], everything);
    for format in ["markdown", "csv"] {
        run(
            &[],
            vec!["--format".into(), format.into(), "--lang".into(), "ja".into()],
        );
    }
    run(&[], options(&[("--html", "pages/")]));
    run(
        &["compare"],
        options(&[("--json", "c.json"), ("--html", "c.html"), ("--csv", "c.csv")]),
    );
    run(&["keys"], Vec::new());
    let mut made = BTreeMap::new();
    files(outputs.path(), &mut made);
    let ends = ["json", "html", "csv", "svg", "pcapng"];
    assert!(ends.iter().all(|end| made.keys().any(|name| name.ends_with(end))));
    assert!(!cfg!(feature = "png") || made.keys().any(|name| name.ends_with(".png")));
    assert!(!cfg!(feature = "parquet") || made.keys().any(|name| name.ends_with(".parquet")));
    let parts = parts();
    for (name, bytes) in &made {
        assert!(!parts.are_in(bytes), "{name} shows a key");
    }
    // Those that are for keys.
    run(
        &[],
        [
            options(&[("--annotate", "with_keys.pcapng")]),
            vec!["--embed-keys".into()],
        ]
        .concat(),
    );
    let export = |format: &str, name: &str| vec!["--export".to_owned(), format.into(), out(name)];
    run(
        &["keys"],
        [export("wireshark", "exported"), export("tcpdump", "secrets")].concat(),
    );
    for name in [
        "with_keys.pcapng",
        "exported/esp_sa",
        "exported/ikev1_decryption_table",
        "secrets",
    ] {
        assert!(
            parts.are_in(&std::fs::read(out(name)).unwrap()),
            "{name} holds the keys"
        );
    }
    for (name, bytes) in &*said.borrow() {
        assert!(!parts.are_in(bytes), "{name} shows a key");
    }
}
