//! Says what a file is that is no capture, for the one sentence that the user gets to read.

use crate::file::magic::{is_pcap, is_pcapng};
use crate::file::source::Compression;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Captures of other programs, by their first bytes.
const CAPTURES: &[(&[u8], &str)] = &[
    (b"snoop\0\0\0", "a snoop file"),
    (b"GMBU", "a Network Monitor capture"),
    (b"RTSS", "a Network Monitor 1 capture"),
    (b"XCP\0", "a NetXRay or Sniffer capture"),
    (b"TRSNIFF data", "a Sniffer capture"),
    (b"\x7fver", "an OmniPeek capture"),
    (b"iptrace ", "an AIX iptrace"),
    (b"\xac\x01\x00\x1c", "an Ixia capture"),
    (b"\xab\x01\x00\x1c", "an Ixia capture"),
];

/// Other formats that people hand over by mistake.
const MAGICS: &[(&[u8], &str)] = &[
    (b"btsnoop\0", "a Bluetooth btsnoop log"),
    (b"\xfd7zXZ\0", "an xz file: unpack it with xz -d first"),
    (b"BZh", "a bzip2 file: unpack it with bzip2 -d first"),
    (b"\x1f\x9d", "a compress (.Z) file: unpack it with gzip -d first"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (b"Rar!", "a rar archive: unpack it first"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"\x04\x22\x4d\x18", "an LZ4 file"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"SQLite format 3", "an SQLite database"),
];

/// Tells whether a file begins as a capture that is not compressed.
pub fn is_plain_capture(path: &Path) -> bool {
    let mut head = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && (is_pcap(&head) || is_pcapng(&head))
}

/// Offset of the magic in a tar archive.
const TAR_MAGIC_AT: usize = 257;

/// Names what `head`, the first (unpacked) bytes, looks like. `broken` is why no more could be unpacked.
pub(super) fn describe(head: &[u8], compression: Option<Compression>, broken: Option<&str>) -> String {
    let Some(packed) = compression else {
        return describe_plain(head);
    };
    let article = if packed == Compression::Lz4 { "an" } else { "a" };
    let name = packed.name();
    match broken {
        // Less than a magic number.
        Some(reason) if head.len() < 4 => {
            format!(
                "{article} {name} file that gives {} bytes only: {reason}",
                head.len()
            )
        }
        _ if head.is_empty() => format!("{article} {name} file holding nothing"),
        _ => format!("{article} {name} file holding {}", describe_plain(head)),
    }
}

fn describe_plain(head: &[u8]) -> String {
    let begins = |(magic, _): &&(&[u8], &str)| head.starts_with(magic);
    if let Some((_, name)) = CAPTURES.iter().find(begins) {
        return format!("{name}: convert it with editcap -F pcapng first");
    }
    if let Some((_, name)) = MAGICS.iter().find(begins) {
        return (*name).to_owned();
    }
    if head
        .get(TAR_MAGIC_AT..)
        .is_some_and(|rest| rest.starts_with(b"ustar"))
    {
        return "a tar archive: unpack it first".to_owned();
    }
    if head.iter().all(|&byte| byte == 0) {
        return "zero bytes only: the file was allocated but never written".to_owned();
    }
    if let Some(kind) = text_kind(head) {
        return kind.to_owned();
    }
    let shown: Vec<String> = head.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!(
        "something that begins with the bytes {}: if it is a capture of another kind (ERF, for example), convert it with \
         editcap -F pcapng first",
        shown.join(" ")
    )
}

fn text_kind(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Some("text in UTF-16");
    }
    let control = |&byte: &u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    if head.iter().any(|byte| control(byte) || *byte == 0x7f) {
        return None;
    }
    let text = head
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head)
        .trim_ascii_start();
    let begins = |with: &[u8]| {
        text.get(..with.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    Some(if begins(b"<!doctype h") || begins(b"<html") {
        "an HTML page"
    } else if begins(b"<?xml") {
        "an XML document"
    } else if begins(b"{") || begins(b"[") {
        "JSON or similar text"
    } else {
        "text"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_people_hand_over() {
        for (head, expected) in [
            (&b"hello\nworld\n"[..], "text"),
            ("こんにちは".as_bytes(), "text"),
            (b"\n <!DOCTYPE html><html>", "an HTML page"),
            (b"<?xml version=\"1.0\"?><pdml>", "an XML document"),
            (b"{\"schema_version\": 1}", "JSON or similar text"),
            (
                b"snoop\0\0\0\0\0\0\x02",
                "a snoop file: convert it with editcap -F pcapng first",
            ),
            (b"\xff\xfeh\0e\0", "text in UTF-16"),
            (
                &[0; 64],
                "zero bytes only: the file was allocated but never written",
            ),
            (
                &[0x45, 0, 0, 0x54],
                "something that begins with the bytes 45 00 00 54: if it is a capture of another kind (ERF, for example), \
                 convert it with editcap -F pcapng first",
            ),
            (
                &[0x05],
                "something that begins with the bytes 05: if it is a capture of another kind (ERF, for example), convert it \
                 with editcap -F pcapng first",
            ),
        ] {
            assert_eq!(describe(head, None, None), expected);
        }
        assert_eq!(
            describe(b"hello", Some(Compression::Gzip), None),
            "a gzip file holding text"
        );
        let cut = describe(
            b"",
            Some(Compression::Lz4),
            Some("the LZ4 data ends before its end mark"),
        );
        assert_eq!(
            cut,
            "an LZ4 file that gives 0 bytes only: the LZ4 data ends before its end mark"
        );
    }
}
