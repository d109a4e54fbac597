//! Both copies of captures with extended sequence numbers (RFC 4303 §2.2.1): no packet shows the upper half, which is part of its ICV.

use super::encapsulated::packets_of;
use super::rekeyscope;
use super::secrets::{analysis_of, opened, told};
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_testkit::carried::{A, B, inner_ip};
use rekeyscope_testkit::containers::{LINKTYPE_RAW, pcap_of};
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::ipv4;

const SPI: u32 = 0xc0de_0001;
const PACKETS: u32 = 40;

/// **Synthetic** captures in which the upper half grows by one, to 1 and to 4, with packets that overtake each other right there:
/// every packet is written, in the capture's order, and an annotated capture says the same of its SAs as the capture. The upper
/// half is in the ICV alone, behind it the additional data of an AEAD, or the IV too (RFC 8750), for which Wireshark's table has no name.
#[test]
fn the_upper_half_grows_on_the_way() {
    let alone = |encryption, len| Suite::new(encryption, len, Integrity::None, 9);
    for (suite, has_name) in [
        (Suite::aes_sha1(3), true),
        (
            Suite::new(Encryption::Null, 0, Integrity::HmacSha256_128, 5),
            true,
        ),
        (alone(Encryption::AesGcm { icv: 16 }, 16), true),
        (alone(Encryption::AesGcm16Iiv, 32), false),
    ] {
        for upper in [1_u64, 4] {
            let name = format!("{} {upper}", suite.encryption);
            let first = (upper << 32) - u64::from(PACKETS) / 2;
            let mut order: Vec<u32> = (0..PACKETS).collect();
            order[18..22].reverse();
            let inner: Vec<Vec<u8>> = order.iter().map(|n| inner_ip(*n, 500)).collect();
            let sealed = |(n, packet): (&u32, &Vec<u8>)| {
                let sealed = suite.seal(SPI, first + u64::from(*n), true, 4, packet);
                ipv4(A, B, 50, &sealed)
            };
            let frames: Vec<Vec<u8>> = order.iter().zip(&inner).map(sealed).collect();
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            let (capture, keys, written, notes) =
                (at("a.pcap"), at("rows"), at("inner.pcapng"), at("notes.pcapng"));
            std::fs::write(&capture, pcap_of(LINKTYPE_RAW, &frames)).unwrap();
            std::fs::write(&keys, suite.esp_sa_row(SPI)).unwrap();
            let given = ["-k", keys.to_str().unwrap()];
            let mut command = rekeyscope();
            command
                .arg(&capture)
                .args(given)
                .args(["--json", "-", "--write-inner"]);
            command
                .arg(&written)
                .args(["--embed-keys", "--annotate"])
                .arg(&notes);
            let (document, said) = told(command.assert().success().get_output());
            assert!(said.contains("; 0 ESP packets stay closed"), "{name}: {said}");
            let of = |packets: Vec<(u64, Vec<u8>)>| packets.into_iter().map(|p| p.1).collect::<Vec<_>>();
            assert!(of(packets_of(&written)) == inner, "{name}");
            assert!(of(packets_of(&notes)) == frames, "{name}");

            let sa = &document["security_associations"][0];
            assert_eq!(
                (&sa["key"]["status"], &sa["icv"]["verified"]),
                (&"verified".into(), &PACKETS.into()),
                "{name}"
            );
            let (again, _) = analysis_of(&notes, if has_name { &[] } else { &given });
            assert_eq!(opened(&again), opened(&document), "{name}");
            let numbers = &again["security_associations"][0]["sequence"];
            assert_eq!(numbers, &sa["sequence"], "{name}");
            let last = first + u64::from(PACKETS) - 1;
            assert_eq!(
                (&numbers["first"], &numbers["last"]),
                (&first.into(), &last.into()),
                "{name}"
            );
        }
    }
}
