//! Key bytes stay where they belong: in no argument, no report, no note, no `Debug`; and open key files are told.

use super::*;
use crate::support::repository;
use memchr::memmem;
use std::process::{Command, Output};
use tempfile::TempDir;

pub(super) const PSK: &str = "rekeyscope-lab-psk";
/// A pre-shared key whose beginning no folder is called by: the sample's path is in what `Debug` shows, and a clone lies in `rekeyscope`.
const UNSHOWN: &str = "Tr0ub4dor, never a folder's name";

pub(super) fn sample(extension: &str) -> PathBuf {
    repository().join(format!("samples/l2tp_kb_modp1024_down.{extension}"))
}

pub(super) fn rekeyscope(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rekeyscope"))
        .env("LC_ALL", "C")
        .args(words)
        .output()
        .unwrap()
}

/// Every way in which bytes could be shown, each byte a character.
fn forms(bytes: &[u8]) -> Vec<String> {
    let characters = |bytes: &[u8]| bytes.iter().map(|b| char::from(*b)).collect::<String>();
    let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let decimal: Vec<String> = bytes.iter().map(u8::to_string).collect();
    let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
    let backwards: Vec<&str> = hex.iter().rev().map(String::as_str).collect();
    vec![
        hex.concat(),
        hex.join(" "),
        hex.join(":"),
        backwards.concat(),
        decimal.join(", "),
        decimal.join(",\n"),
        base64(bytes).to_lowercase(),
        base64(&reversed).to_lowercase(),
        characters(bytes).to_lowercase(),
        characters(&reversed).to_lowercase(),
    ]
}

/// RFC 4648 §4, of whole groups of three bytes.
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |g: &[u8]| {
        let bits = u32::from_be_bytes([0, g[0], g[1], g[2]]);
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[(bits >> shift & 63) as usize]))
    };
    bytes.chunks_exact(3).flat_map(group).collect()
}

fn assert_hides(what: &str, text: &str, secrets: &[Vec<u8>]) {
    let lower = text.to_lowercase();
    let squeezed: String = lower.split_whitespace().collect::<Vec<_>>().join(" ");
    for secret in secrets {
        // The first nine bytes would be enough to worry.
        for form in forms(&secret[..9]) {
            let is_in = |text: &str| memmem::find(text.as_bytes(), form.as_bytes()).is_some();
            assert!(!is_in(&lower) && !is_in(&squeezed), "{what} shows a key");
        }
    }
}

/// The keys of the sample by its ground truth.
pub(super) fn secrets() -> Vec<Vec<u8>> {
    let truth: serde_json::Value =
        serde_json::from_slice(&std::fs::read(sample("truth.json")).unwrap()).unwrap();
    let sas = truth["sas"].as_array().unwrap();
    let keys = sas
        .iter()
        .flat_map(|sa| [&sa["enc_key"], &sa["auth_key"]])
        .chain([&truth["ike"][0]["Ka"]]);
    keys.map(|key| {
        let digits = key.as_str().unwrap().trim_start_matches("0x");
        (0..digits.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap())
            .collect()
    })
    .collect()
}

#[test]
fn debug_shows_no_key() {
    let secrets = secrets();
    assert_eq!(secrets.len(), 33);
    let mut material = KeyMaterial::default();
    material.read(&sample("keylog")).unwrap();
    assert_hides("KeyMaterial", &format!("{material:?} {material:#?}"), &secrets);
    let mut analyzer = Analyzer::with_pre_shared_keys(
        Options::default(),
        material,
        vec![SecretBytes::from(UNSHOWN.as_bytes())],
    );
    let mut reader = CaptureReader::open(&sample("pcap")).unwrap();
    let mut container = Diagnostics::default();
    for _ in 0..400 {
        let Some(frame) = reader.next_frame(&mut container).unwrap() else {
            break;
        };
        analyzer.push(&frame);
    }
    let shown = format!("{analyzer:?}");
    assert_hides("Analyzer", &shown, &secrets);
    assert_hides("Analyzer", &shown, &[UNSHOWN.into()]);
    let ring = KeyRing::new(&analyzer.finish());
    assert!(!ring.esp.is_empty() && ring.ike.len() == 1);
    assert_hides("KeyRing", &format!("{ring:?} {ring:#?}"), &secrets);
    let tables = rekeyscope::write::export::wireshark::tables(&ring);
    assert_hides("Tables", &format!("{tables:?}"), &secrets);
}

/// The road that makes most of secrets: a pre-shared key and a Diffie–Hellman secret.
#[test]
fn reports_and_notes_show_no_key() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let psk = path("psk");
    std::fs::write(&psk, format!("{PSK}\n")).unwrap();
    // A file in which keys stand where none may be, so that every problem with it is told.
    let table = std::fs::read_to_string(sample("keylog")).unwrap();
    let broken: String = table
        .lines()
        .map(|line| format!("\"IPv4\",{line},\"0xzz\"\n{line}zz\n"))
        .collect();
    std::fs::write(path("broken"), &broken).unwrap();
    let (capture, keylog) = (sample("pcap"), sample("keylog"));
    let words = |job: &[&'static str], rest: &[&str]| {
        let files = [
            "--keys",
            keylog.to_str().unwrap(),
            "--keys",
            folder.path().join("broken").to_str().unwrap(),
        ]
        .map(str::to_owned);
        let mut words: Vec<String> = job.iter().map(|w| (*w).to_owned()).collect();
        words.push(capture.to_str().unwrap().to_owned());
        words.extend(files);
        words.extend(["--psk-file".to_owned(), psk.to_str().unwrap().to_owned()]);
        words.extend(rest.iter().map(|w| (*w).to_owned()));
        words
    };
    for (job, rest) in [
        (&[][..], &["--json", "-"][..]),
        (&[], &["--html", "-"]),
        (&[], &[]),
        (&["keys"], &[]),
    ] {
        let words = words(job, rest);
        let out = rekeyscope(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(out.status.success(), "{out:?}");
        for stream in [out.stdout, out.stderr] {
            let text = String::from_utf8(stream).unwrap();
            assert_hides(&format!("{job:?} {rest:?}"), &text, &secrets());
            assert!(!text.contains(PSK));
        }
    }
}

#[cfg(unix)]
#[test]
fn key_files_of_others_are_told() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let (keys, psk) = (folder.path().join("router.log"), folder.path().join("psk"));
    std::fs::copy(sample("keylog"), &keys).unwrap();
    std::fs::write(&psk, PSK).unwrap();
    let capture = sample("pcap");
    let words = [
        "keys",
        capture.to_str().unwrap(),
        "--keys",
        keys.to_str().unwrap(),
        "--psk-file",
        psk.to_str().unwrap(),
    ];
    for (modes, told) in [
        ([0o600, 0o600], &[][..]),
        ([0o640, 0o600], &["router.log"]),
        ([0o600, 0o604], &["psk"]),
        ([0o644, 0o644], &["router.log", "psk"]),
    ] {
        for (file, mode) in [&keys, &psk].into_iter().zip(modes) {
            std::fs::set_permissions(file, PermissionsExt::from_mode(mode)).unwrap();
        }
        let stderr = String::from_utf8(rekeyscope(&words).stderr).unwrap();
        assert_eq!(stderr.lines().count(), usize::from(!told.is_empty()), "{stderr}");
        assert!(told.iter().all(|name| stderr.contains(name)), "{stderr}");
        assert_eq!(stderr.contains("chmod 600"), !told.is_empty());
    }
    let quiet = rekeyscope(&[&words[..], &["--quiet"]].concat());
    assert!(quiet.stderr.is_empty());
}

/// A pre-shared key file gives the keys by the command line too, as text and as hex.
#[test]
fn a_pre_shared_key_file_opens_everything() {
    for lab in captures().iter().filter(|c| c.name == "l2tp_kb_modp1024_down") {
        let folder = TempDir::new().unwrap();
        let log = folder.path().join("log");
        let dh = dumps(&lab.log("charon.cli.log"), |l| {
            l == "shared Diffie Hellman secret"
        });
        std::fs::write(&log, dh).unwrap();
        let hex: String = PSK.bytes().map(|b| format!("{b:02x}")).collect();
        // Notepad and PowerShell write UTF-16, `echo` of cmd.exe a blank.
        let wide = |text: &str| {
            text.encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<u8>>()
        };
        for content in [
            format!("{PSK}\n").into_bytes(),
            format!("0x{hex}\n").into_bytes(),
            wide(&format!("\u{feff}{PSK}\r\n")),
            format!("\u{feff}{PSK} \r\n").into_bytes(),
        ] {
            let psk = folder.path().join("psk");
            std::fs::write(&psk, content).unwrap();
            let pcap = lab.pcap();
            let words = [
                "keys",
                pcap.to_str().unwrap(),
                "--keys",
                log.to_str().unwrap(),
                "--psk-file",
                psk.to_str().unwrap(),
            ];
            let stdout = String::from_utf8(rekeyscope(&words).stdout).unwrap();
            assert!(
                stdout.starts_with("16 of 16 SAs decrypted: 16 derived.\n"),
                "{stdout}"
            );
        }
    }
    let out = rekeyscope(&[
        "keys",
        sample("pcap").to_str().unwrap(),
        "--psk-file",
        "/nowhere/psk",
    ]);
    assert_eq!(out.status.code(), Some(1));
}
