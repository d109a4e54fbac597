//! The captures that are written: tshark and capinfos accept them, an inner capture holds what tshark decrypts, an annotated
//! one the same packets; and no input is ever overwritten.

mod encapsulated;
mod extended;
mod flows;
mod foreign;
mod refused;
mod secrets;

use crate::support::{Lab, lab_of_sample, one_of_each_kind, opened};
use assert_cmd::Command;
use rekeyscope::pipeline::Options;
use rekeyscope::write::Unsealer;
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_ipsec::overhead::{Plan, Suite};
use rekeyscope_model::analysis::Encapsulation;
use rekeyscope_model::diagnostic::Diagnostics;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn rekeyscope() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
    command.env("LC_ALL", "C");
    command
}

fn with_keys<'c>(command: &'c mut Command, lab: &Lab) -> &'c mut Command {
    for keys in &lab.keys {
        command.arg("-k").arg(keys);
    }
    command
}

fn is_installed(program: &str) -> bool {
    let found = std::process::Command::new(program)
        .arg("--version")
        .output()
        .is_ok();
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = std::process::Command::new(program)
        .args(arguments)
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {complaints}");
    String::from_utf8(output.stdout).unwrap()
}

/// What tshark says of a packet, the same for the original and for the packet inside.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    time: String,
    /// From the protocol behind the innermost stripped layer on.
    protocols: String,
    /// Length of the innermost IPv4 packet; without one inside, of the UDP packet around L2TP.
    len: String,
    ipv6_and_tcp: [String; 3],
}

const FIELDS: [&str; 8] = [
    "frame.number",
    "frame.time_epoch",
    "frame.protocols",
    "ip.len",
    "udp.length",
    "ipv6.plen",
    "tcp.seq_raw",
    "tcp.len",
];

/// The packets in tshark's rows; of an original only those that it decrypts.
fn shown(rows: &str, original: bool, strip: bool) -> BTreeMap<u64, Shown> {
    let mut shown = BTreeMap::new();
    for row in rows.lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        let [number, time, protocols, ip_len, udp_len, plen, seq, len] = fields[..] else {
            panic!("{row}")
        };
        let inside = if original {
            // Behind ESP something follows only where it was decrypted.
            match protocols.split_once(":esp:") {
                Some((_, inside)) => inside,
                None => continue,
            }
        } else {
            let inside = protocols.strip_prefix("raw:").unwrap();
            // The IP header around L2TP is the one around ESP.
            inside
                .strip_prefix("ip:")
                .filter(|rest| rest.starts_with("udp:l2tp"))
                .unwrap_or(inside)
        };
        let stripped = inside
            .split_once(":ppp:ip")
            .filter(|(_, rest)| strip && !rest.starts_with("cp") && !rest.starts_with("v6cp"));
        let inside = stripped.map_or(inside.to_owned(), |(_, rest)| format!("ip{rest}"));
        let last = |values: &str| values.rsplit(',').next().unwrap_or_default().to_owned();
        let has_ipv4 = inside.split(':').any(|protocol| protocol == "ip");
        let around_l2tp = !has_ipv4 && inside.starts_with("udp:l2tp");
        shown.insert(
            number.parse().unwrap(),
            Shown {
                time: time.into(),
                len: match (has_ipv4, around_l2tp) {
                    (true, _) => last(ip_len),
                    (_, true) => last(udp_len),
                    _ => String::new(),
                },
                protocols: inside,
                ipv6_and_tcp: [last(plen), last(seq), last(len)],
            },
        );
    }
    shown
}

fn fields() -> Vec<&'static str> {
    let fields = FIELDS.iter().flat_map(|field| ["-e", *field]);
    ["-T", "fields", "-E", "occurrence=a", "-E", "aggregator=,"]
        .into_iter()
        .chain(fields)
        .collect()
}

/// tshark on the original, with the keys.
fn original(lab: &Lab) -> String {
    let mut command = rekeyscope();
    command.arg("tshark").arg("-q").arg(&lab.capture);
    let command = with_keys(&mut command, lab).arg("--").args(fields());
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn tshark(capture: &Path) -> String {
    let name = capture.to_str().unwrap();
    output_of("tshark", &[&["-r", name], &fields()[..]].concat())
}

/// Of the first packets.
fn tshark_begins(capture: &Path) -> String {
    let name = capture.to_str().unwrap();
    output_of("tshark", &[&["-r", name, "-c", "2000"], &fields()[..]].concat())
}

fn write_inner(lab: &Lab, keep: bool, folder: &Path) -> PathBuf {
    let out = folder.join("inner.pcapng");
    let mut command = rekeyscope();
    command
        .arg(&lab.capture)
        .args(["--force", "--write-inner"])
        .arg(&out);
    if keep {
        command.arg("--keep-l2tp");
    }
    with_keys(&mut command, lab).assert().success();
    out
}

/// Count, order, time, protocols, IP length and TCP numbers of every packet, with and without L2TP.
#[test]
fn an_inner_capture_holds_what_tshark_decrypts() {
    if !is_installed("tshark") {
        return;
    }
    for lab in one_of_each_kind() {
        let folder = tempfile::tempdir().unwrap();
        let original = original(lab);
        let (mut before, mut rows) = (Vec::new(), String::new());
        for keep in [false, true] {
            let expected: Vec<Shown> = shown(&original, true, !keep).into_values().collect();
            let inner = write_inner(lab, keep, folder.path());
            // Where there is no L2TP, the second file is the first.
            let bytes = std::fs::read(&inner).unwrap();
            if bytes != before {
                (before, rows) = (bytes, tshark(&inner));
            }
            let written: Vec<Shown> = shown(&rows, false, !keep).into_values().collect();
            assert!(expected.len() > 1_000, "{}", lab.name);
            assert_eq!(expected.len(), written.len(), "{} keep {keep}", lab.name);
            for (expected, written) in expected.iter().zip(&written) {
                assert_eq!(expected, written, "{} keep {keep}", lab.name);
            }
            println!("{}: {} packets, keep {keep}", lab.name, written.len());
        }
    }
}

/// An annotated capture has the same packets, comments where the document has rekeys, and Wireshark shows these as expert
/// information.
#[test]
fn an_annotated_capture_is_the_capture_with_comments() {
    if !is_installed("tshark") {
        return;
    }
    for lab in one_of_each_kind() {
        let folder = tempfile::tempdir().unwrap();
        let (out, json) = (folder.path().join("notes.pcapng"), folder.path().join("a.json"));
        let mut command = rekeyscope();
        command.arg(&lab.capture).arg("--annotate").arg(&out);
        command.arg("--json").arg(&json);
        with_keys(&mut command, lab).assert().success();
        assert_eq!(tshark(&lab.capture), tshark(&out), "{}", lab.name);
        let analysis: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        let begins = |rekey: &serde_json::Value| {
            let exchange = &analysis["exchanges"][rekey["exchange"].as_u64().unwrap() as usize];
            exchange["frames"][0].as_u64().unwrap()
        };
        let rekeys: Vec<u64> = analysis["rekeys"]
            .as_array()
            .unwrap()
            .iter()
            .map(begins)
            .collect();
        let filter =
            "_ws.expert.message contains \"rekeyscope: rekey\" && frame.comment contains \"begins here\"";
        let name = out.to_str().unwrap();
        let found = output_of(
            "tshark",
            &["-r", name, "-Y", filter, "-T", "fields", "-e", "frame.number"],
        );
        let found: Vec<u64> = found.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(
            rekeys.is_empty(),
            lab.name == "fail_refused_ikev2_down",
            "{}",
            lab.name
        );
        assert_eq!(rekeys, found, "{}", lab.name);
    }
}

#[test]
fn capinfos_accepts_both() {
    if !is_installed("capinfos") {
        return;
    }
    let lab = lab_of_sample("l2tp_time_down");
    let folder = tempfile::tempdir().unwrap();
    let inner = write_inner(&lab, false, folder.path());
    let notes = folder.path().join("notes.pcapng");
    let mut command = rekeyscope();
    command.arg(&lab.capture).arg("--annotate").arg(&notes);
    with_keys(&mut command, &lab).assert().success();
    for file in [&inner, &notes] {
        let told = output_of("capinfos", &[file.to_str().unwrap()]);
        assert!(told.contains("nanoseconds"), "{told}");
    }
}

/// A synthetic pcapng in big-endian with a name, an interface name, packet options and statistics: all stay, in both copies.
#[test]
fn sections_interfaces_names_and_options_stay() {
    if !is_installed("tshark") {
        return;
    }
    let lab = lab_of_sample("l2tp_time_down");
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("big.pcapng");
    std::fs::write(
        &capture,
        synthetic_big_endian(&std::fs::read(&lab.capture).unwrap()),
    )
    .unwrap();
    let (inner, notes) = (
        folder.path().join("inner.pcapng"),
        folder.path().join("notes.pcapng"),
    );
    let mut command = rekeyscope();
    command.arg(&capture).arg("--write-inner").arg(&inner);
    command.arg("--annotate").arg(&notes);
    with_keys(&mut command, &lab).assert().success();
    let shown = |file: &Path, fields: &[&str]| {
        let fields: Vec<&str> = fields.iter().flat_map(|f| ["-e", *f]).collect();
        let name = file.to_str().unwrap();
        let arguments = [&["-r", name, "-N", "n", "-T", "fields"], &fields[..]].concat();
        output_of("tshark", &arguments)
    };
    let fields = [
        "frame.number",
        "frame.time_epoch",
        "frame.interface_name",
        "ip.src_host",
    ];
    assert_eq!(shown(&capture, &fields), shown(&notes, &fields));
    let rows = shown(
        &inner,
        &[
            "frame.interface_name",
            "frame.packet_flags_direction",
            "frame.comment",
        ],
    );
    assert!(rows.lines().count() > 1_000);
    for row in rows.lines() {
        assert!(row.starts_with("uplink\t0x00000001\tof the original"), "{row}");
        assert!(row.contains("ESP SPI 0x"), "{row}");
    }
    for file in [&inner, &notes] {
        let bytes = std::fs::read(file).unwrap();
        let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        assert!(
            has(b"server.example") && has(b"end of capture"),
            "{}",
            file.display()
        );
    }
}

/// The section header of a copy names the program that captured, and says once who copied.
#[test]
fn a_copy_of_a_copy_says_once_who_made_it() {
    let lab = lab_of_sample("l2tp_time_down");
    let folder = tempfile::tempdir().unwrap();
    let named = |name: &str| folder.path().join(name);
    let copy = |from: &Path, option: &str, to: &str| {
        let mut command = rekeyscope();
        command.arg(from).args(["-q", "--no-keys", option]).arg(named(to));
        command.assert().success();
        std::fs::read(named(to)).unwrap()
    };
    let mut first = copy(&lab.capture, "--annotate", "first.pcapng");
    let at = first.windows(10).position(|w| w == b"rekeyscope").unwrap();
    first[at..at + 10].copy_from_slice(b"dumpcap 4.");
    std::fs::write(named("first.pcapng"), first).unwrap();
    for (option, second, third) in [
        ("--annotate", "second.pcapng", "third.pcapng"),
        ("--write-inner", "inner.pcapng", "of_inner.pcapng"),
    ] {
        let bytes = copy(&named("first.pcapng"), option, second);
        let head = &bytes[..bytes.len().min(128)];
        let count = |text: &[u8]| head.windows(text.len()).filter(|w| *w == text).count();
        let counts = (count(b"copied by rekeyscope"), count(b"dumpcap 4."));
        assert_eq!(counts, (1, 1), "{option}");
        let again = copy(&named(second), option, third);
        assert!(again.starts_with(head), "{option}");
    }
}

/// The packets of a pcap file with nanoseconds, little-endian.
fn synthetic_big_endian(pcap: &[u8]) -> Vec<u8> {
    let option = |code: u16, value: &[u8]| {
        let mut option = [code.to_be_bytes(), (value.len() as u16).to_be_bytes()].concat();
        option.extend(value);
        option.resize(option.len().next_multiple_of(4), 0);
        option
    };
    let block = |kind: u32, body: &[u8]| {
        let len = (body.len() as u32 + 12).to_be_bytes();
        [&kind.to_be_bytes()[..], &len, body, &len].concat()
    };
    let mut file = block(
        0x0a0d_0d0a,
        &[&[0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0][..], &[0xff; 8]].concat(),
    );
    let interface = [
        &[0, 1, 0, 0, 0, 4, 0, 0][..],
        &option(2, b"uplink"),
        &option(9, &[9]),
        &[0; 4],
    ]
    .concat();
    file.extend(block(1, &interface));
    let name = [&[10, 9, 0, 1][..], b"server.example\0"].concat();
    let mut names = [1_u16.to_be_bytes(), (name.len() as u16).to_be_bytes()].concat();
    names.extend(&name);
    names.resize(names.len().next_multiple_of(4), 0);
    names.extend([0; 4]);
    file.extend(block(4, &names));
    let mut rest = &pcap[24..];
    while let Some((head, tail)) = rest.split_first_chunk::<16>() {
        let field = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
        let ticks = u64::from(field(0)) * 1_000_000_000 + u64::from(field(4));
        let (data, after) = tail.split_at(field(8) as usize);
        rest = after;
        let mut packet = 0_u32.to_be_bytes().to_vec();
        packet.extend(ticks.to_be_bytes());
        packet.extend((data.len() as u32).to_be_bytes());
        packet.extend(field(12).to_be_bytes());
        packet.extend(data);
        packet.resize(packet.len().next_multiple_of(4), 0);
        packet.extend(option(1, b"of the original"));
        // Inbound, with a frame check sequence of 4 bytes that the packet inside does not have.
        packet.extend(option(2, &0x81_u32.to_be_bytes()));
        packet.extend([0; 4]);
        file.extend(block(6, &packet));
    }
    let statistics = [&[0; 12][..], &option(1, b"end of capture"), &[0; 4]].concat();
    file.extend(block(5, &statistics));
    file
}

/// What the calculator says of a lab's suite is what every packet has: CBC and GCM, with and without NAT traversal.
#[test]
fn the_calculator_agrees_with_every_packet() {
    for (lab, analysis, ring) in opened() {
        let [entry] = analysis.overhead.as_slice() else {
            panic!("{}: {:?}", lab.name, analysis.overhead)
        };
        let suite = Suite::named(match entry.suite.as_str() {
            "AES-CBC-128/HMAC-SHA1-96" => "aes128-sha1",
            "AES-CBC-128/HMAC-SHA2-256-128" => "aes128-sha256",
            "AES-GCM-16-128" => "aes128gcm16",
            "AES-GCM-16-256" => "aes256gcm16",
            other => panic!("{}: {other}", lab.name),
        })
        .unwrap();
        let natt = entry.encapsulation == Some(Encapsulation::Udp);
        let parts = if natt { &["natt"][..] } else { &[] };
        let plan = Plan::new(&suite, parts).unwrap();
        let mut unsealer = Unsealer::new(ring, &Options::default());
        let (mut reader, mut ignored) = (CaptureReader::open(&lab.capture).unwrap(), Diagnostics::default());
        let (mut seen, mut outer, mut padding) = (0, 0, 0);
        while let Some(frame) = reader.next_frame(&mut ignored).unwrap() {
            let taken = unsealer.open(&frame, &mut |packet| {
                let Some(packet) = packet else { return Ok(()) };
                let split = plan.sizes.split(packet.payload.len());
                assert_eq!(
                    split.padding,
                    usize::from(packet.opened.pad_len) + 2,
                    "{}",
                    lab.name
                );
                seen += 1;
                outer += split.wire as u64;
                padding += split.padding as u64;
                Ok(())
            });
            taken.unwrap();
        }
        assert_eq!(
            (seen, outer, padding),
            (entry.packets, entry.outer_bytes, entry.padding),
            "{}",
            lab.name
        );
        let parts = entry.inner_bytes + entry.outer_headers + entry.iv + entry.padding + entry.icv;
        assert_eq!(parts, entry.outer_bytes, "{}", lab.name);
        println!("{}: {seen} packets, {natt}, {entry:?}", lab.name);
    }
}
