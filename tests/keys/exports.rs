//! The tables for other programs: what is in them, who can read them, and that tshark decrypts every packet with them.

use super::*;
use crate::support::{Lab, labs, one_of_each_kind, opened, repository};
use rekeyscope::write::export::{tcpdump, wireshark};
use std::process::{Command, Output};
use tempfile::TempDir;

fn rekeyscope(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rekeyscope"))
        .env("LC_ALL", "C")
        .args(arguments)
        .output()
        .unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A capture with the arguments that name its key files.
fn with_keys(lab: &Lab) -> Vec<&str> {
    let files = lab.keys.iter().flat_map(|file| ["--keys", text(file)]);
    [text(&lab.capture)].into_iter().chain(files).collect()
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The first line is the answer, and every SA stands in the table.
#[test]
fn the_report_of_keys() {
    for lab in labs() {
        let out = rekeyscope(&[&["keys"], &with_keys(&lab)[..]].concat());
        let report = String::from_utf8(out.stdout).unwrap();
        let sas = sas_with_packets(&lab.name);
        let first = report.lines().next().unwrap();
        assert_eq!(
            first,
            format!("{sas} of {sas} SAs decrypted: {sas} explicit."),
            "{}",
            lab.name
        );
        let rows = report
            .lines()
            .filter(|line| line.contains("explicit") && line.contains(" 0x"));
        assert!(rows.count() >= sas, "{report}");
        assert!(report.contains("verified") && report.contains("IKE SAs") && report.contains("Key files"));
        assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
    }
}

#[test]
fn without_keys_the_report_says_how_to_get_them() {
    let capture = repository().join("samples/l2tp_pfs4096_down.pcap");
    let out = rekeyscope(&["keys", text(&capture), "--no-keys"]);
    assert!(out.status.success());
    let report = String::from_utf8(out.stdout).unwrap();
    assert!(
        report.starts_with("0 of 12 SAs decrypted; 12 without a key that fits.\n"),
        "{report}"
    );
    for needed in [
        "ipsec ike log",
        "syslog debug on",
        "--keys",
        "missing",
        "None was given",
    ] {
        assert!(report.contains(needed), "{needed} in {report}");
    }
}

#[test]
fn tshark_decrypts_every_packet_with_the_exported_tables() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    for lab in one_of_each_kind() {
        let folder = TempDir::new().unwrap();
        let tables = folder.path().join("tables");
        let export = ["--export", "wireshark", text(&tables), "--quiet"];
        let out = rekeyscope(&[&["keys"], &with_keys(lab)[..], &export].concat());
        assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");
        #[cfg(unix)]
        for table in ["esp_sa", "ikev1_decryption_table", "ikev2_decryption_table"] {
            assert_eq!(mode(&tables.join(table)), 0o600, "{table}");
        }
        #[cfg(unix)]
        assert_eq!(mode(&tables), 0o700);
        let seen = Seen::by_tshark(&lab.capture, &tables);
        let (analysis, _) = open_with(&lab.capture, &std::fs::read(tables.join("esp_sa")).unwrap());
        assert_eq!(seen.esp as u64, analysis.capture.esp_packets, "{}", lab.name);
        assert_eq!((seen.opened, seen.bad_icvs), (seen.esp, 0), "{}", lab.name);
        assert!(
            seen.ike_opened > 0,
            "{}: IKE messages are decrypted too",
            lab.name
        );
    }
}

/// What tshark makes of a capture.
#[derive(Default)]
struct Seen {
    esp: usize,
    /// ESP packets with a next header, so decrypted, and a good ICV.
    opened: usize,
    bad_icvs: usize,
    ike_opened: usize,
}

impl Seen {
    fn by_tshark(capture: &Path, tables: &Path) -> Seen {
        let mut seen = Seen::default();
        let mut tshark = Command::new("tshark");
        tshark
            .env("WIRESHARK_CONFIG_DIR", tables)
            .args(["-r", text(capture)]);
        tshark.args([
            "-o",
            "esp.enable_encryption_decode:TRUE",
            "-o",
            "esp.enable_authentication_check:TRUE",
        ]);
        tshark.args(["-Y", "esp or isakmp", "-T", "fields", "-E", "separator=/t"]);
        for field in [
            "esp.spi",
            "esp.protocol",
            "esp.icv_good",
            "esp.icv_bad",
            "isakmp.exchangetype",
            "isakmp.nonce",
        ] {
            tshark.args(["-e", field]);
        }
        let out = tshark.output().unwrap();
        let complaints = String::from_utf8_lossy(&out.stderr).replace("Running as user \"root\"", "");
        assert!(
            out.status.success() && !complaints.contains("esp_sa"),
            "{complaints}"
        );
        let is_set = |value: &str| value == "1" || value == "True";
        for line in String::from_utf8(out.stdout).unwrap().lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [spi, protocol, good, bad, exchange, nonce] = fields[..] else {
                panic!("six fields: {line}");
            };
            seen.esp += usize::from(!spi.is_empty());
            seen.opened += usize::from(!protocol.is_empty() && is_set(good));
            seen.bad_icvs += usize::from(is_set(bad));
            // Quick Mode and CREATE_CHILD_SA: their nonces are always encrypted.
            seen.ike_opened += usize::from(matches!(exchange, "32" | "36") && !nonce.is_empty());
        }
        seen
    }
}

/// `-` stands for standard output: rows alone, with a capture those it proves, without one what the files name.
#[test]
fn rows_on_standard_output() {
    let sample = repository().join("samples/l2tp_kb_modp1024_down");
    let (capture, log) = (sample.with_extension("pcap"), sample.with_extension("keylog"));
    let rows = |arguments: &[&str]| {
        let out = rekeyscope(&[&["keys", "--export", "wireshark", "-"], arguments].concat());
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    let proved = rows(&[text(&capture), "--keys", text(&log)]);
    let esp = proved.lines().filter(|row| row.starts_with("\"IPv4\",\"10."));
    assert_eq!(esp.count(), sas_with_packets("l2tp_kb_modp1024_down"));
    let claimed = rows(&["--claims", text(&log)]);
    let spi = |row: &str| row.split('"').nth(7).map(str::to_owned);
    for row in claimed.lines().filter(|row| row.starts_with("\"IPv4\"")) {
        assert!(
            proved.lines().any(|other| spi(other) == spi(row)),
            "{:?}",
            spi(row)
        );
    }
    assert!(
        claimed.contains("\"IPv4\",\"*\",\"*\""),
        "the router names no addresses"
    );
    // The report that says what a file is is not shown.
    let folder = tempfile::tempdir().unwrap();
    let zip = folder.path().join("router.zip");
    std::fs::write(&zip, b"PK\x03\x04").unwrap();
    let rows = [
        "keys",
        text(&capture),
        "--keys",
        text(&zip),
        "--export",
        "wireshark",
        "-",
    ];
    let said = String::from_utf8(rekeyscope(&rows).stderr).unwrap();
    assert!(said.contains("this is a zip file: unpack it"), "{said}");
    let refused = rekeyscope(&["keys", "--claims", text(&log), "--export", "tcpdump", "f"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// What is exported reads back as the same keys, with the addresses of the capture, busiest SA first.
#[test]
fn exports_read_back() {
    for (_, _, ring) in opened() {
        let tables = wireshark::tables(ring);
        let mut material = KeyMaterial::default();
        // An empty table is a table; as a key file it would be a mistake.
        for table in tables.texts().into_iter().filter(|t| !t.is_empty()) {
            material.read_bytes(Path::new("table"), table.expose());
        }
        assert_eq!(
            (material.problems.len(), tables.notes.len()),
            (0, 0),
            "{:?}",
            tables.notes
        );
        let rows: Vec<_> = material
            .esp
            .iter()
            .map(|key| (key.dst.unwrap(), key.spi.unwrap()))
            .collect();
        let busiest: Vec<_> = ring.esp.iter().map(|key| (key.dst, key.spi)).collect();
        assert_eq!(rows, busiest);
        assert!(ring.esp.is_sorted_by_key(|key| std::cmp::Reverse(key.packets)));
        for (row, key) in material.esp.iter().zip(&ring.esp) {
            assert_eq!((row.src, row.dst), (Some(key.src), Some(key.dst)));
            assert_eq!(
                (&row.encryption_key, &row.integrity_key),
                (&key.encryption_key, &key.integrity_key)
            );
            assert_eq!(row.encryption, Some(key.transform.encryption));
        }
        assert_eq!(material.ike.len(), ring.ike.len());
        assert!(
            tables.esp_sa.expose().ends_with(b"\"\n"),
            "Wireshark drops a last row without newline"
        );
    }
}

#[test]
fn tcpdump_gets_what_it_knows() {
    for lab in labs() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("secrets");
        let export = ["--export", "tcpdump", text(&file)];
        let out = rekeyscope(&[&["keys"], &with_keys(&lab)[..], &export].concat());
        assert!(out.status.success());
        #[cfg(unix)]
        assert_eq!(mode(&file), 0o600);
        let rows = std::fs::read_to_string(&file).unwrap();
        let told = String::from_utf8(out.stderr).unwrap();
        let unknown = match lab.name.as_str() {
            "ikev2_gcm_kb_down" => Some("12 SAs with AES-GCM-16-128 are left out"),
            "fail_refused_ikev2_down" => Some("2 SAs with AES-CBC-128 and HMAC-SHA2-256-128 are left out"),
            _ => None,
        };
        if let Some(unknown) = unknown {
            assert!(rows.is_empty() && told.contains(unknown), "{told}");
            continue;
        }
        let mut material = KeyMaterial::default();
        material.read_bytes(&file, rows.as_bytes());
        assert_eq!(
            (material.esp.len(), material.problems.len()),
            (sas_with_packets(&lab.name), 0)
        );
        assert!(
            rows.starts_with("# As root: tcpdump -Z root ")
                && rows
                    .lines()
                    .skip(1)
                    .all(|row| row.starts_with("0x") && row.contains(" aes128-cbc-hmac96:0x"))
        );
    }
}

#[test]
fn nothing_is_exported_that_the_packets_contradict() {
    let sample = repository().join("samples/l2tp_pfs4096_down");
    let table = std::fs::read_to_string(sample.with_extension("esp_sa")).unwrap();
    let other = repository().join("samples/l2tp_time_down.pcap");
    let spi = |row: &str| row.split('"').nth(7).unwrap().to_owned();
    let (_, right) = open_with(&sample.with_extension("pcap"), table.as_bytes());
    // The keys of one capture under the SPIs of another.
    let (analysis, _) = open_with(&other, b"");
    let wrong: String = table
        .lines()
        .filter(|row| row.starts_with('"'))
        .zip(&analysis.security_associations)
        .map(|(row, sa)| {
            let row = row.replace(&spi(row), &sa.spi.to_string());
            let columns: Vec<&str> = row.split(',').skip(3).collect();
            format!("\"IPv4\",\"{}\",\"{}\",{}\n", sa.src, sa.dst, columns.join(","))
        })
        .collect();
    let (_, ring) = open_with(&other, wrong.as_bytes());
    assert!(!ring.esp.is_empty());
    let (tables, file) = (wireshark::tables(&ring), tcpdump::secrets_file(&ring));
    assert_eq!((tables.esp_rows, file.rows), (0, 0));
    assert!(
        tables.esp_sa.is_empty() && tables.notes[0].contains("do not fit"),
        "{:?}",
        tables.notes
    );
    assert_eq!(wireshark::tables(&right).esp_rows, 12);
}

/// Keys whose encryption half is wrong stay out, and a sentence says so.
#[test]
fn half_a_key_is_not_exported() {
    let sample = repository().join("samples/l2tp_pfs4096_down");
    let table = std::fs::read_to_string(sample.with_extension("esp_sa")).unwrap();
    let half: String = table
        .lines()
        .filter(|row| row.starts_with('"'))
        .map(|row| {
            let mut columns: Vec<String> = row.split(',').map(str::to_owned).collect();
            columns[5] = format!("\"0x{}\"", "5a".repeat(16));
            columns.join(",") + "\n"
        })
        .collect();
    let folder = TempDir::new().unwrap();
    let (keys, tables) = (folder.path().join("half.esp_sa"), folder.path().join("tables"));
    std::fs::write(&keys, half).unwrap();
    let capture = sample.with_extension("pcap");
    let arguments = ["keys", text(&capture), "-k", text(&keys)];
    let out = rekeyscope(&[&arguments[..], &["--export", "wireshark", text(&tables)]].concat());
    assert!(out.status.success());
    assert_eq!(std::fs::read_to_string(tables.join("esp_sa")).unwrap(), "");
    let told = String::from_utf8(out.stderr).unwrap();
    assert!(
        told.contains("keys of 12 SAs are left out: the integrity key fits, but no packet decrypts"),
        "{told}"
    );
}

#[test]
fn former_tables_are_kept_and_bad_formats_are_usage_errors() {
    let folder = TempDir::new().unwrap();
    let capture = repository().join("samples/l2tp_pfs4096_down.pcap");
    let mine = "# rows of my own\n";
    std::fs::write(folder.path().join("esp_sa"), mine).unwrap();
    let export = [
        "keys",
        text(&capture),
        "--export",
        "wireshark",
        text(folder.path()),
    ];
    for _ in 0..2 {
        assert!(rekeyscope(&export).status.success());
        let kept = std::fs::read_to_string(folder.path().join("esp_sa.before")).unwrap();
        assert_eq!(
            kept, mine,
            "the second run finds its own rows and keeps the first ones"
        );
    }
    let out = rekeyscope(&["keys", text(&capture), "--export", "snort", text(folder.path())]);
    assert_eq!(out.status.code(), Some(2));
    let nowhere = folder.path().join("esp_sa/below/a/file");
    let out = rekeyscope(&["keys", text(&capture), "--export", "wireshark", text(&nowhere)]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8_lossy(&out.stderr).contains("cannot write"));
}
