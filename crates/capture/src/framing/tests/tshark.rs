//! Against tshark, where it is installed.

use super::*;
use crate::framing::tests::tunnels::every_tunnel;

/// tshark's view of the same frames. One pcapng file with an interface per link type; needs tshark.
#[test]
fn tshark_sees_the_same_in_every_link_type() {
    use crate::file::CaptureReader;
    use rekeyscope_testkit::containers::{Order, Packet, Pcapng};
    use std::process::Command;

    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    let (mut file, mut names) = (Pcapng::new(Order::Little), Vec::new());
    for (name, ip, ..) in every_datagram() {
        // Of these Wireshark 4.0 reads another layout: pppd's two bytes in front of the protocol, and attributes in an order
        // that is not this host's.
        let other = |link: &str| matches!(link, "pppd" | "NFLOG, big-endian");
        for (link, link_type, data) in every_link(&ip).into_iter().filter(|(link, ..)| !other(link)) {
            file.interface(link_type, 0, &[]);
            file.enhanced(names.len() as u32, 1_000_000, &Packet::new(0, data), &[]);
            names.push(format!("{name} in {link}"));
        }
    }
    let links = names.len();
    for (name, ip, ..) in every_datagram() {
        // The lengths of L2TPv3's cookie and sublayer tshark asks its user.
        let negotiated = |tunnel: &str| tunnel.starts_with("L2TPv3");
        for (tunnel, outer) in every_tunnel(&ip).into_iter().filter(|(t, _)| !negotiated(t)) {
            file.interface(types::RAW, 0, &[]);
            file.enhanced(names.len() as u32, 1_000_000, &Packet::new(0, outer), &[]);
            names.push(format!("{name} in {tunnel}"));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("synthetic.pcapng");
    std::fs::write(&path, &file.bytes).unwrap();
    let fields = ["esp.spi", "isakmp.ispi", "ip.len", "ipv6.plen"]
        .map(|field| ["-e", field])
        .concat();
    let output = Command::new("tshark")
        .arg("-r")
        .arg(&path)
        .args(["-T", "fields"])
        .args(fields)
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(
        lines.len(),
        names.len(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let mut reader = CaptureReader::open(&path).unwrap();
    let (mut framing, mut diagnostics) = (Framing::default(), Diagnostics::default());
    let mut different = Vec::new();
    for (line, name) in lines.iter().zip(&names) {
        let frame = reader.next_frame(&mut diagnostics).unwrap().unwrap();
        let frame_number = frame.number as usize;
        let got = decode_with(&mut framing, &frame, &mut diagnostics).unwrap();
        let hex = |len: usize| {
            got.bytes[..len]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        let (spi, cookie) = if got.kind == "ESP" {
            (format!("0x{}", hex(4)), String::new())
        } else {
            (String::new(), hex(8))
        };
        let (v4, v6) = if got.src.is_ipv4() {
            (got.outer_bytes.to_string(), String::new())
        } else {
            (String::new(), (got.outer_bytes - 40).to_string())
        };
        // In a tunnel tshark lists the lengths of all headers.
        let columns = if frame_number <= links { 4 } else { 2 };
        let shown: Vec<&str> = line.split('\t').take(columns).collect();
        if shown != [spi, cookie, v4, v6][..columns] {
            different.push((name.as_str(), *line));
        }
    }
    assert_eq!(different, []);
}
