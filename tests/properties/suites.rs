//! Encrypted by other crates, decrypted by the program: the same bytes.

use proptest::prelude::*;
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope::write::inner::write;
use rekeyscope::write::key_ring::KeyRing;
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_testkit::carried::{A, B};
use rekeyscope_testkit::containers::{LINKTYPE_RAW, pcap_of};
use rekeyscope_testkit::headers::ipv4;
use std::io::Cursor;
use std::path::Path;

const SPI: u32 = 0xc0de_0001;

fn open(bytes: &[u8]) -> CaptureReader {
    CaptureReader::from_stream(Box::new(Cursor::new(bytes.to_vec())), "made").unwrap()
}

fn packets(mut reader: CaptureReader) -> Vec<Vec<u8>> {
    let (mut found, mut said) = (Vec::new(), Diagnostics::default());
    while let Some(frame) = reader.next_frame(&mut said).unwrap() {
        found.push(frame.data.to_vec());
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_encrypted_is_decrypted(
        suite in any::<prop::sample::Index>(),
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..700), 2..10),
        // The upper halves 0 to 3 are tried on an SA's first packets; from there on they are followed.
        first in prop_oneof![
            1_u64..1_000,
            0xffff_fff0_u64..0xffff_ffff,
            0x3_ffff_fff0_u64..0x3_ffff_ffff,
            any::<u64>().prop_map(|n| n % 0x3_ffff_ff00 + 1),
        ],
        esn: bool,
    ) {
        let suites = crate::ciphers::suites();
        let suite = &suites[suite.index(suites.len())];
        // Without an ICV nothing proves a key, and packets of noise are not taken for opened ones.
        prop_assume!(suite.encryption.is_aead() || !suite.integrity_key.is_empty());
        let first = if esn { first } else { first % 0xffff_0000 + 1 };
        let inner: Vec<Vec<u8>> = payloads.iter().map(|p| ipv4([10, 1, 0, 1], [10, 2, 0, 1], 253, p)).collect();
        let sealed = |(n, packet): (usize, &Vec<u8>)| ipv4(A, B, 50, &suite.seal(SPI, first + n as u64, esn, 4, packet));
        let capture = pcap_of(LINKTYPE_RAW, &inner.iter().enumerate().map(sealed).collect::<Vec<_>>());
        let mut material = KeyMaterial::default();
        material.read_bytes(Path::new("made"), suite.esp_sa_row(SPI).as_bytes());
        let mut analyzer = Analyzer::new(Options::default(), material);
        let (mut reader, mut said) = (open(&capture), Diagnostics::default());
        while let Some(frame) = reader.next_frame(&mut said).unwrap() {
            analyzer.push(&frame);
        }
        let ring = KeyRing::new(&analyzer.finish());
        let mut out = Vec::new();
        write(open(&capture), &ring, &Options::default(), false, &mut out, Path::new("out")).unwrap();
        prop_assert_eq!(packets(open(&out)), inner, "{:?} {:?} from {}", suite.encryption, suite.integrity, first);
    }
}
