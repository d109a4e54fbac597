//! Copies of captures that other programs wrote, and of malformed ones: capinfos reads every copy to its end. All of them are made
//! here of the packets of a sample.

use super::*;
use rekeyscope_capture::file::{CaptureCopy, LinkType};
use rekeyscope_testkit::containers::{
    LINKTYPE_ETHERNET, Order, Packet, PcapKind, Pcapng, pcap, read_pcap, ticks,
};
use std::io::Cursor;

/// From the sample, so that keys open some of them.
fn packets() -> Vec<Packet> {
    let mut packets = read_pcap(&lab_of_sample("l2tp_time_down").capture);
    packets.truncate(60);
    packets
}

/// A section whose packets' options and other blocks are given.
fn file(order: Order, build: impl FnOnce(&mut Pcapng)) -> Vec<u8> {
    let mut file = Pcapng::new(order);
    build(&mut file);
    file.bytes
}

fn interface(file: &mut Pcapng, options: &[(u16, &[u8])]) {
    file.interface(LINKTYPE_ETHERNET, 0, &[&[(9, &[9][..])], options].concat());
}

fn all(file: &mut Pcapng, interface: u32, options: &[(u16, &[u8])]) {
    for packet in packets() {
        file.enhanced(interface, ticks(packet.time, 9, 0), &packet, options);
    }
}

/// A usual capture with one block more.
fn with_block(kind: u32, body: &[u8]) -> Vec<u8> {
    file(Order::Little, |file| {
        interface(file, &[]);
        file.block(kind, body);
        all(file, 0, &[]);
    })
}

/// A usual capture with options of its packets.
fn with_option(code: u16, value: &[u8]) -> Vec<u8> {
    file(Order::Big, |file| {
        interface(file, &[]);
        all(file, 0, &[(1, b"kept"), (code, value)]);
    })
}

/// Name and bytes of captures that Wireshark refuses, or that a copy could take for something else.
fn captures() -> Vec<(&'static str, Vec<u8>)> {
    let packets = packets();
    let classic = |kind, order, packets: &[Packet]| pcap(kind, order, LINKTYPE_ETHERNET, packets).0;
    let mut version = with_block(0x7777, b"");
    // Minor version 7: the byte order and the major version stand before it.
    version[14] = 7;
    // An option that ends behind its block: its length is the last but three of the numbers.
    let mut longer = with_option(2, &[1, 0, 0, 0]);
    let at = longer.len() - 16;
    longer[at..at + 2].copy_from_slice(&[0x7f, 0xff]);
    let mut huge = packets[3].clone();
    huge.data.resize(300_000, 0xaa);
    huge.original_len = 300_000;
    let mut of_a_jumbo_link = classic(
        PcapKind::Nanos,
        Order::Little,
        &[&packets[..3], &[huge.clone()]].concat(),
    );
    of_a_jumbo_link[16..20].copy_from_slice(&400_000_u32.to_le_bytes());
    let (first, second) = packets.split_at(20);
    let halves = |a: Vec<u8>, b: Vec<u8>| [a, b].concat();
    let section = |order, packets: &[Packet]| {
        file(order, |file| {
            interface(file, &[]);
            packets
                .iter()
                .for_each(|p| file.enhanced(0, ticks(p.time, 9, 0), p, &[]));
        })
    };
    vec![
        ("another minor version", version),
        (
            "an interface that is not described",
            file(Order::Little, |file| {
                interface(file, &[]);
                all(file, 0, &[]);
                file.enhanced(7, 0, &packets[0], &[]);
                file.obsolete(7, 0, 0, &packets[0]);
                file.statistics(7, &[(4, &[0; 8])]);
                all(file, 0, &[]);
            }),
        ),
        (
            "a simple packet without an interface",
            file(Order::Little, |file| {
                file.simple(&packets[0]);
                interface(file, &[]);
                all(file, 0, &[]);
            }),
        ),
        (
            "simple packets, whole, cut by the snap length, and shorter than they say",
            file(Order::Little, |file| {
                file.interface(LINKTYPE_ETHERNET, 96, &[]);
                let cut = |len: usize| Packet {
                    data: packets[3].data[..len].to_vec(),
                    original_len: 1_000,
                    ..packets[3].clone()
                };
                file.simple(&Packet::new(0, packets[3].data[..60].to_vec()));
                file.simple(&cut(96));
                file.simple(&cut(40));
            }),
        ),
        (
            "obsolete packets",
            file(Order::Big, |file| {
                interface(file, &[]);
                packets
                    .iter()
                    .for_each(|p| file.obsolete(0, 3, ticks(p.time, 9, 0), p));
            }),
        ),
        (
            "options of the section and the interface that do not fit",
            file(Order::Little, |file| {
                file.bytes.clear();
                let mut body = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
                file.option(&mut body, 2_988, &[1, 2]);
                file.option(&mut body, 2, b"hardware");
                file.block(0x0a0d_0d0a, &body);
                interface(file, &[(11, b""), (2_988, &[1]), (2, b"uplink")]);
                all(file, 0, &[]);
            }),
        ),
        ("flags of two bytes", with_option(2, &[1, 0])),
        ("drops of four bytes", with_option(4, &[1; 4])),
        ("a number of four bytes", with_option(5, &[1; 4])),
        ("a queue of eight bytes", with_option(6, &[1; 8])),
        ("a verdict of no byte", with_option(7, b"")),
        ("a verdict of XDP of two bytes", with_option(7, &[2, 0])),
        ("a custom option of two bytes", with_option(19_372, &[2, 0])),
        ("an option that ends behind its block", longer),
        (
            "names that do not end",
            with_block(4, &[1, 0, 8, 0, 10, 9, 0, 1, b'a', b'b', b'c', b'd', 0, 0, 0, 0]),
        ),
        (
            "a name record behind its block",
            with_block(4, &[1, 0, 99, 0, 10, 9, 0, 1]),
        ),
        (
            "a name record without an address",
            with_block(4, &[1, 0, 2, 0, 10, 9, 0, 0]),
        ),
        ("no name record", with_block(4, b"")),
        (
            "an end of names with a length",
            with_block(4, &[0, 0, 8, 0, 1, 2, 3, 4]),
        ),
        (
            "secrets behind their block",
            with_block(10, &[1, 2, 3, 4, 9, 0, 0, 0, 1, 2, 3, 4]),
        ),
        ("a custom block without an enterprise", with_block(0x0bad, b"")),
        (
            "a custom block",
            with_block(0x4000_0bad, &[1, 2, 3, 4, 5, 6, 7, 8]),
        ),
        (
            "a custom block of Netflix",
            with_block(0x0bad, &[0xc5, 0x2a, 0, 0, 9, 0, 0, 0]),
        ),
        ("a short journal entry", with_block(9, b"MESSAGE=none\n")),
        ("a short sysdig event", with_block(0x216, &[0; 24])),
        ("statistics without a time", with_block(5, &[0; 4])),
        ("a packet longer than others read", of_a_jumbo_link),
        (
            "the same in pcapng",
            file(Order::Little, |file| {
                interface(file, &[]);
                file.enhanced(0, 1, &huge, &[]);
            }),
        ),
        (
            "microseconds behind nanoseconds",
            halves(
                classic(PcapKind::Nanos, Order::Little, first),
                classic(PcapKind::Micros, Order::Big, second),
            ),
        ),
        (
            "pcap behind pcapng",
            halves(
                section(Order::Big, first),
                classic(PcapKind::Nanos, Order::Little, second),
            ),
        ),
        (
            "pcapng behind pcap",
            halves(
                classic(PcapKind::Micros, Order::Little, first),
                section(Order::Big, second),
            ),
        ),
        ("cut in a packet", {
            let mut cut = section(Order::Little, &packets);
            cut.truncate(cut.len() - 7);
            cut
        }),
    ]
}

/// The number of packets that capinfos counts; it reads the file to its end.
fn counted(file: &Path) -> u64 {
    let told = output_of("capinfos", &["-Mc", file.to_str().unwrap()]);
    let line = told
        .lines()
        .find_map(|line| line.strip_prefix("Number of packets:"));
    line.and_then(|number| number.trim().parse().ok())
        .unwrap_or_else(|| panic!("{told}"))
}

#[test]
fn capinfos_accepts_the_copies_of_every_capture() {
    if !is_installed("capinfos") {
        return;
    }
    let lab = lab_of_sample("l2tp_time_down");
    let folder = tempfile::tempdir().unwrap();
    let named = |name: &str| folder.path().join(name);
    let mut opened = 0;
    for (name, bytes) in captures() {
        std::fs::write(named("trace"), bytes).unwrap();
        let mut command = rekeyscope();
        command.arg(named("trace")).args(["-q", "--force"]);
        for (option, out) in [
            ("--annotate", "notes"),
            ("--write-inner", "inner"),
            ("--json", "told.json"),
        ] {
            command.arg(option).arg(named(out));
        }
        with_keys(&mut command, &lab).assert().success();
        let told: serde_json::Value =
            serde_json::from_slice(&std::fs::read(named("told.json")).unwrap()).unwrap();
        let packets = told["capture"]["packets"].as_u64().unwrap();
        assert_eq!(counted(&named("notes")), packets, "{name}");
        let inner = counted(&named("inner"));
        assert!(inner <= packets, "{name}");
        opened += inner;
        // The packets as they were read, time for time; a simple packet has none.
        let frames = |file: &str| -> Vec<(i64, Vec<u8>)> {
            let mut reader = CaptureReader::open(&named(file)).unwrap();
            let (mut frames, mut ignored) = (Vec::new(), Diagnostics::default());
            while let Some(frame) = reader.next_frame(&mut ignored).unwrap() {
                frames.push((
                    frame.time.0,
                    frame.data.get(..262_144).unwrap_or(frame.data).to_vec(),
                ));
            }
            frames
        };
        assert_eq!(frames("notes"), frames("trace"), "{name}");
    }
    assert!(opened > 500, "{opened}");
}

/// Bytes of headers and options changed at random: whatever is read is copied, and the copy is read by others.
#[test]
fn capinfos_accepts_the_copies_of_mutants() {
    if !is_installed("capinfos") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.pcapng");
    let original = file(Order::Little, |file| {
        interface(file, &[(2, b"uplink"), (11, b"\0udp"), (14, &[0; 8])]);
        file.block(4, &[1, 0, 8, 0, 10, 9, 0, 1, b'a', b'b', b'c', 0, 0, 0, 0, 0]);
        file.block(10, &[1, 2, 3, 4, 4, 0, 0, 0, 9, 9, 9, 9]);
        for packet in packets().iter().take(4) {
            let cut = Packet {
                data: packet.data[..40].to_vec(),
                ..packet.clone()
            };
            let options: [(u16, &[u8]); 3] = [(1, b"note"), (2, &[1, 0, 0, 0]), (4, &[1; 8])];
            file.enhanced(0, ticks(cut.time, 9, 0), &cut, &options);
            file.obsolete(0, 1, ticks(cut.time, 9, 0), &cut);
            file.simple(&Packet::new(0, cut.data.clone()));
            file.block(0x0bad, &[1, 2, 3, 4, 5, 6, 7, 8]);
        }
        file.statistics(0, &[(4, &[9; 8])]);
    });
    let mut state = 7_u64;
    let mut below = |end: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end
    };
    let mut changed = 0;
    for mutant in 0..150 {
        let mut bytes = original.clone();
        for _ in 0..1 + mutant % 3 {
            // The first four bytes make it a capture.
            let at = 4 + below(bytes.len() - 4);
            bytes[at] = [0, 1, 2, 4, 0x7f, 0x80, 0xff, bytes[at] ^ 1 << below(8)][below(8)];
        }
        let Ok(mut reader) = CaptureReader::from_stream(Box::new(Cursor::new(bytes)), "mutant") else {
            continue;
        };
        let (mut packets, mut ignored) = (0, Diagnostics::default());
        let mut copy = CaptureCopy::of_packets(Vec::new());
        while let Some(item) = reader.next_item(&mut ignored).unwrap() {
            packets += u64::from(item.frame.is_some());
            match item.number {
                Some(number) if number % 3 == 0 => copy.annotate(&item, "of the mutant").unwrap(),
                _ => copy.pass(&item).unwrap(),
            }
        }
        let copy = copy.finish(LinkType(LINKTYPE_ETHERNET)).unwrap();
        changed += u32::from(copy != original);
        std::fs::write(&path, copy).unwrap();
        assert_eq!(counted(&path), packets, "mutant {mutant}");
    }
    assert!(changed > 100, "{changed}");
}
