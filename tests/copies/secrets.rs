//! Keys inside a capture (pcapng Decryption Secrets Blocks): written when asked for, read wherever they stand.

use super::*;
use rekeyscope_testkit::containers::{Order, Packet, Pcapng, read_pcap, ticks};
use serde_json::Value;

const SECRETS_BLOCK: u32 = 10;
const ESP: u32 = 0x4553_5053;
const TLS: u32 = 0x544c_534b;

/// Standard output as a document, and what was told.
pub(super) fn analysis_of(capture: &Path, arguments: &[&str]) -> (Value, String) {
    let mut command = rekeyscope();
    command.arg(capture).args(["--json", "-"]).args(arguments);
    let done = command.assert().success();
    told(done.get_output())
}

pub(super) fn told(output: &std::process::Output) -> (Value, String) {
    (
        serde_json::from_slice(&output.stdout).unwrap(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// What keys change of the SAs with packets, by SPI (IKE that stays closed announces none), without where the keys came from.
pub(super) fn opened(document: &Value) -> BTreeMap<String, [Value; 4]> {
    let sas = document["security_associations"].as_array().unwrap();
    let of = |sa: &Value| {
        let status = sa["key"]["status"].clone();
        let rest = ["packets", "inner_bytes", "icv"].map(|field| sa[field].clone());
        let [packets, inner, icv] = rest;
        (sa["spi"].to_string(), [status, packets, inner, icv])
    };
    sas.iter().filter(|sa| sa["packets"] != 0).map(of).collect()
}

fn verified(document: &Value) -> usize {
    opened(document).values().filter(|sa| sa[0] == "verified").count()
}

fn kinds(document: &Value) -> Vec<&str> {
    let diagnostics = document["diagnostics"].as_array().unwrap();
    diagnostics.iter().filter_map(|d| d["kind"].as_str()).collect()
}

/// A synthetic pcapng of these packets, with blocks of secrets (type, bytes) before the packets of these indexes.
fn with_secrets(order: Order, packets: &[Packet], secrets: &[(usize, u32, &[u8])]) -> Vec<u8> {
    let mut file = Pcapng::new(order);
    file.interface_with_clock(1, 9, 0);
    let put = |file: &mut Pcapng, index| {
        for (_, kind, bytes) in secrets.iter().filter(|(at, ..)| *at == index) {
            let mut body = Vec::new();
            order.u32(&mut body, *kind);
            order.u32(&mut body, bytes.len() as u32);
            body.extend(*bytes);
            file.block(SECRETS_BLOCK, &body);
        }
    };
    for (index, packet) in packets.iter().enumerate() {
        put(&mut file, index);
        file.enhanced(0, ticks(packet.time, 9, 0), packet, &[]);
    }
    put(&mut file, packets.len());
    file.bytes
}

#[test]
fn embedded_keys_decrypt_as_the_keys_did() {
    for lab in one_of_each_kind() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("with keys.pcapng");
        let mut command = rekeyscope();
        command
            .arg(&lab.capture)
            .args(["--json", "-", "--embed-keys", "--annotate"])
            .arg(&out);
        let (before, sentences) = told(with_keys(&mut command, lab).assert().success().get_output());
        let verified = verified(&before);
        assert!(verified > 1, "{}", lab.name);
        assert!(
            sentences.contains(&format!(
                "holds the keys of {verified} SAs: whoever has this file can read"
            )),
            "{}: {sentences}",
            lab.name
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&out).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let (after, _) = analysis_of(&out, &[]);
        assert_eq!(opened(&before), opened(&after), "{}", lab.name);
        for sa in after["security_associations"].as_array().unwrap() {
            let source = sa["key"]["source"].as_str().unwrap_or_default();
            let place = format!("{}, Decryption Secrets Block 1, line ", out.display());
            assert!(
                sa["packets"] == 0 || source.starts_with(&place),
                "{}: {source}",
                lab.name
            );
        }
        assert_eq!(after["key_files"][0]["block"], 1);
        assert_eq!(after["key_files"][0]["problems"], Value::Array(Vec::new()));
        let (without, _) = analysis_of(&out, &["--no-keys"]);
        assert_eq!(self::verified(&without), 0, "{}", lab.name);
        // Released versions do not know the type of this first block: they go on with the packets behind it.
        if is_installed("tshark") {
            assert_eq!(tshark_begins(&lab.capture), tshark_begins(&out), "{}", lab.name);
        }
        if is_installed("capinfos") {
            output_of("capinfos", &[out.to_str().unwrap()]);
        }
    }
}

#[test]
fn keys_are_embedded_only_where_they_are_asked_for_and_verified() {
    let lab = lab_of_sample("l2tp_time_down");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("notes.pcapng");
    let has_secrets = || {
        let (mut reader, mut ignored) = (CaptureReader::open(&out).unwrap(), Diagnostics::default());
        while reader.next_frame(&mut ignored).unwrap().is_some() {}
        reader.has_secrets()
    };
    let mut command = rekeyscope();
    command.arg(&lab.capture).arg("--annotate").arg(&out);
    with_keys(&mut command, &lab).assert().success();
    assert!(!has_secrets());
    let mut command = rekeyscope();
    command
        .arg(&lab.capture)
        .args(["--force", "--no-keys", "--embed-keys", "--annotate"])
        .arg(&out);
    let done = command.assert().success();
    let sentences = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(sentences.contains("no key is verified: "), "{sentences}");
    assert!(!has_secrets());
    let mut command = rekeyscope();
    let refused = command.arg(&lab.capture).arg("--embed-keys").assert().code(2);
    let sentences = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(sentences.contains("give --annotate FILE as well"), "{sentences}");
}

/// In front, between, behind, in several blocks, in both byte orders: the same decryption. Secrets of others change nothing, and
/// stay in an annotated capture.
#[test]
fn keys_count_for_the_whole_capture_wherever_they_stand() {
    let lab = lab_of_sample("l2tp_time_down");
    let folder = tempfile::tempdir().unwrap();
    let packets = read_pcap(&lab.capture);
    let rows = std::fs::read_to_string(&lab.keys[0]).unwrap();
    let (first, rest) = rows.split_at(rows.find('\n').unwrap() + 1);
    let (first, rest, last) = (first.as_bytes(), rest.as_bytes(), packets.len());
    let (expected, _) = analysis_of(&lab.capture, &["-k", lab.keys[0].to_str().unwrap()]);
    assert!(verified(&expected) > 1);
    let capture = folder.path().join("t.pcapng");
    for (order, secrets) in [
        (Order::Little, &[(0, ESP, rows.as_bytes())][..]),
        (
            Order::Big,
            &[
                (0, TLS, b"CLIENT_RANDOM 00 00\n"),
                (0, ESP, first),
                (last / 2, ESP, rest),
            ],
        ),
        (Order::Little, &[(last, ESP, rows.as_bytes())]),
    ] {
        std::fs::write(&capture, with_secrets(order, &packets, secrets)).unwrap();
        let (document, _) = analysis_of(&capture, &[]);
        assert_eq!(opened(&expected), opened(&document));
        assert_eq!(kinds(&expected), kinds(&document));
    }
    // Of the second file, the last key stands in block 3.
    std::fs::write(
        &capture,
        with_secrets(
            Order::Big,
            &packets,
            &[(0, TLS, b"of TLS"), (5, ESP, rest), (7, ESP, first)],
        ),
    )
    .unwrap();
    let (document, _) = analysis_of(&capture, &[]);
    let blocks: Vec<_> = document["key_files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["block"].clone())
        .collect();
    assert_eq!(blocks, [2, 3]);
    let notes = folder.path().join("notes.pcapng");
    let mut command = rekeyscope();
    command
        .arg(&capture)
        .args(["--embed-keys", "--annotate"])
        .arg(&notes)
        .assert()
        .success();
    let written = std::fs::read(&notes).unwrap();
    assert!(written.windows(6).any(|window| window == b"of TLS"));
    assert_eq!(opened(&expected), opened(&analysis_of(&notes, &[]).0));
}

/// A pipe is read once: keys in front of the packets are used, later ones are not, and that is said.
#[test]
fn keys_between_the_packets_of_a_pipe_are_too_late() {
    let lab = lab_of_sample("l2tp_time_down");
    let packets = read_pcap(&lab.capture);
    let rows = std::fs::read(&lab.keys[0]).unwrap();
    for (at, late) in [(0, false), (packets.len() / 2, true)] {
        let mut command = rekeyscope();
        command.args(["-", "--json", "-"]);
        command.write_stdin(with_secrets(Order::Little, &packets, &[(at, ESP, &rows)]));
        let (document, sentences) = told(command.assert().success().get_output());
        let verified = verified(&document) > 0;
        assert_eq!(
            (verified, kinds(&document).contains(&"late_secrets")),
            (!late, late)
        );
        assert_eq!(
            sentences.contains("save the capture to a file first"),
            late,
            "{sentences}"
        );
    }
}

/// A block that lies about its length, and rows that are none.
#[test]
fn bad_blocks_are_counted_and_said() {
    let lab = lab_of_sample("l2tp_time_down");
    let folder = tempfile::tempdir().unwrap();
    let packets = read_pcap(&lab.capture);
    let capture = folder.path().join("t.pcapng");
    let mut bytes = with_secrets(
        Order::Little,
        &packets[..200],
        &[(0, ESP, b"rows"), (0, ESP, b"\"IPv4\",\"\n")],
    );
    let at = bytes.windows(4).position(|window| window == b"rows").unwrap();
    bytes[at - 4] = 0xff;
    std::fs::write(&capture, bytes).unwrap();
    let (document, sentences) = analysis_of(&capture, &[]);
    assert!(
        kinds(&document).contains(&"bad_secrets"),
        "{:?}",
        kinds(&document)
    );
    assert_eq!(document["capture"]["packets"], 200);
    assert!(
        sentences.contains("t.pcapng, Decryption Secrets Block 2, line 1: "),
        "{sentences}"
    );
}
