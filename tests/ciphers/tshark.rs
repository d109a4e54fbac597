//! The same captures through tshark.

use super::*;
use rekeyscope_testkit::containers::pcap_of;

/// What tshark decrypts of a capture: per SPI how many packets, and their inner TCP bytes.
fn by_tshark(keys: &str, frames: &[Vec<u8>]) -> BTreeMap<u32, (u64, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("wireshark");
    std::fs::create_dir_all(&profile).unwrap();
    std::fs::write(profile.join("esp_sa"), keys).unwrap();
    let capture_file = folder.path().join("trace.pcap");
    std::fs::write(&capture_file, pcap_of(LINKTYPE_RAW, frames)).unwrap();
    let output = Command::new("tshark")
        .env("XDG_CONFIG_HOME", folder.path())
        .env("HOME", folder.path())
        .arg("-r")
        .arg(&capture_file)
        .args([
            "-o",
            "esp.enable_encryption_decode:TRUE",
            "-o",
            "esp.enable_authentication_check:TRUE",
        ])
        .args(["-Y", "tcp", "-T", "fields", "-e", "esp.spi", "-e", "tcp.len"])
        .output()
        .unwrap();
    let mut seen = BTreeMap::<u32, (u64, u64)>::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let (spi, len) = line.split_once('\t').unwrap();
        let spi = u32::from_str_radix(spi.trim_start_matches("0x"), 16).unwrap();
        let sum = seen.entry(spi).or_default();
        *sum = (sum.0 + 1, sum.1 + len.parse::<u64>().unwrap());
    }
    seen
}

/// Suites that version 4.0 of tshark has names for, in its table.
fn tshark_knows(s: &Suite) -> bool {
    let integrity = !matches!(
        s.integrity,
        Integrity::AesXcbc96 | Integrity::AesCmac96 | Integrity::HmacMd5_128 | Integrity::HmacSha1_160
    );
    integrity
        && match s.encryption {
            Encryption::Null
            | Encryption::AesCbc
            | Encryption::AesCtr
            | Encryption::TripleDesCbc
            | Encryption::DesCbc => s.integrity != Integrity::None,
            Encryption::AesGcm { .. } => true,
            _ => false,
        }
}

/// The packets and bytes that we decrypt are those that tshark decrypts, suite by suite.
#[test]
fn tshark_decrypts_the_same() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    let known: Vec<Suite> = suites().into_iter().filter(tshark_knows).collect();
    assert!(known.len() >= 60, "{}", known.len());
    let spi = |index: usize| SPI + index as u32;
    let keys: String = known
        .iter()
        .enumerate()
        .map(|(i, s)| s.esp_sa_row(spi(i)))
        .collect();
    let frames: Vec<Vec<u8>> = known
        .iter()
        .enumerate()
        .flat_map(|(i, s)| capture_of(spi(i), s, 1, false))
        .collect();
    let theirs = by_tshark(&keys, &frames);
    for (index, suite) in known.iter().enumerate() {
        let own = analyze_frames(LINKTYPE_RAW, &capture_of(spi(index), suite, 1, false), &keys);
        let ours = (own.flows[0].packets, own.flows[0].bytes);
        assert_eq!(theirs.get(&spi(index)), Some(&ours), "{}", name(suite));
        assert_eq!(
            ours,
            (u64::from(PACKETS), u64::from(PACKETS) * SEGMENT as u64),
            "{}",
            name(suite)
        );
    }
}
