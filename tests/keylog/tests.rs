//! The corpus `tests/keylog/`: every log gives exactly what its `.expect` says. `tests/keylog/README.md` describes the
//! format, which the Lua tests read too.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

use rekeyscope_keylog::{EspKey, IkeKey, KeyDefect, KeyMaterial, SeedOf};
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::secret::SecretBytes;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

mod hostile;
mod keyless;
mod lab;
mod lookalikes;
mod matrix;
mod mining;
mod properties;
mod rotated;
mod shapes;

/// The bytes of every log of the corpus.
static LOGS: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| corpus().iter().map(|log| std::fs::read(log).unwrap()).collect());

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/keylog");
    let mut logs: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "log"))
        .collect();
    logs.sort();
    logs
}

fn hex(secret: &SecretBytes) -> String {
    match secret.expose() {
        [] => "-".into(),
        bytes => bytes.iter().map(|b| format!("{b:02x}")).collect(),
    }
}

fn or_dash<T: Display>(value: Option<T>) -> String {
    value.map_or("-".into(), |v| v.to_string())
}

fn esp_line(key: &EspKey) -> String {
    let (src, dst, spi) = (or_dash(key.src), or_dash(key.dst), or_dash(key.spi));
    match key.defect {
        None => format!(
            "esp {src} {dst} {spi} {} {} {} {}",
            or_dash(key.encryption),
            hex(&key.encryption_key),
            or_dash(key.integrity),
            hex(&key.integrity_key)
        ),
        Some(KeyDefect::Masked) => format!("defect masked {src} {dst} {spi}"),
        Some(KeyDefect::Prefix8) => format!("defect prefix8 {src} {dst} {spi}"),
        Some(KeyDefect::Truncated) => format!("defect truncated {src} {dst} {spi}"),
    }
}

fn ike_lines(key: &IkeKey) -> Vec<String> {
    let s = &key.secrets;
    [
        ("ka", &s.ka),
        ("ka_prefix", &s.ka_prefix),
        ("skeyid", &s.skeyid),
        ("skeyid_d", &s.skeyid_d),
        ("skeyid_a", &s.skeyid_a),
        ("skeyid_e", &s.skeyid_e),
        ("skeyseed", &s.skeyseed),
        ("sk_d", &s.sk_d),
        ("sk_ei", &s.sk_ei),
        ("sk_er", &s.sk_er),
        ("sk_ai", &s.sk_ai),
        ("sk_ar", &s.sk_ar),
        ("dh_secret", &s.dh_secret),
    ]
    .into_iter()
    .filter_map(|(name, secret)| {
        let secret = secret.as_ref()?;
        Some(format!(
            "ike{} {} {name} {}",
            key.version,
            or_dash(key.initiator_spi),
            hex(secret)
        ))
    })
    .collect()
}

/// What a log gives, as lines of an `.expect` file, sorted.
fn outcome(material: &KeyMaterial) -> Vec<String> {
    let mut lines: Vec<String> = material.esp.iter().map(esp_line).collect();
    lines.extend(material.ike.iter().flat_map(ike_lines));
    lines.extend(material.seeds.iter().map(|seed| {
        let of = match seed.of {
            SeedOf::InitiatorSa => "initiator",
            SeedOf::ResponderSa => "responder",
            SeedOf::ChildSa => "child",
            SeedOf::SharedSecret => "secret",
        };
        let (inbound, outbound) = seed.spis.unzip();
        format!(
            "seed {of} {} {} {}",
            or_dash(inbound),
            or_dash(outbound),
            hex(&seed.bytes)
        )
    }));
    lines.extend(material.problems.iter().map(|p| format!("problem {}", p.line)));
    lines.sort();
    lines
}

fn read(bytes: &[u8]) -> KeyMaterial {
    let mut material = KeyMaterial::default();
    material.read_bytes(Path::new("log"), bytes);
    material
}

#[test]
fn every_log_gives_what_it_says() {
    let mut wrong = Vec::new();
    let logs = corpus();
    assert!(logs.len() >= 60, "only {} logs", logs.len());
    for log in logs {
        let material = read(&std::fs::read(&log).unwrap());
        let expect = std::fs::read_to_string(log.with_extension("expect")).unwrap();
        let mut expect: Vec<String> = expect
            .lines()
            .filter(|l| !l.starts_with("unsupported-in-lua"))
            .map(String::from)
            .collect();
        expect.sort();
        let got = outcome(&material);
        if got != expect {
            let only =
                |a: &[String], b: &[String]| a.iter().filter(|l| !b.contains(l)).cloned().collect::<Vec<_>>();
            wrong.push(format!(
                "{}: missing {:#?}, too many {:#?}, problems {:?}",
                log.file_name().unwrap().display(),
                only(&expect, &got),
                only(&got, &expect),
                material.problems
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} logs differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_log_cut_at_every_byte() {
    for log in corpus() {
        let bytes = std::fs::read(&log).unwrap();
        // Every byte of the first two kilobytes and of the end; a prime step between them.
        let near = (0..bytes.len().min(2048)).chain(bytes.len().saturating_sub(512)..=bytes.len());
        for end in near.chain((0..bytes.len()).step_by(97)) {
            read(&bytes[..end]);
        }
    }
}

#[test]
fn no_problem_repeats_a_key() {
    for log in corpus() {
        let bytes = std::fs::read(&log).unwrap();
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        for problem in read(&bytes).problems {
            let words = problem.sentence.to_lowercase();
            let leaked = words
                .split(|c: char| !c.is_ascii_hexdigit())
                .find(|w| w.len() >= 8 && text.contains(w));
            assert_eq!(leaked, None, "{}: {}", log.display(), problem.sentence);
        }
    }
}

#[test]
fn unnamed_transforms_are_guessed_from_the_lengths() {
    let material =
        read(&std::fs::read(corpus().iter().find(|p| p.ends_with("nvr_console.log")).unwrap()).unwrap());
    assert!(
        material
            .esp
            .iter()
            .all(|k| k.encryption.is_none() && k.integrity.is_none())
    );
    assert!(
        material
            .esp
            .iter()
            .all(|k| k.transforms().first() == Some(&(Encryption::AesCbc, Integrity::HmacSha1_96)))
    );
}
