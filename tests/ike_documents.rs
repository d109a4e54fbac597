//! Synthetic IKE conversations, really encrypted, as a capture: pcap → analyzer → document.

use rekeyscope::assembly::{Asked, assemble};
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_keylog::{IkeKey, IkeSecrets, KeyMaterial, KeyOrigin, KeyRoad};
use rekeyscope_model::analysis::{Analysis, ExchangeKind, KeyStatus};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use rekeyscope_testkit::ike::{INITIATOR, Ikev1, Ikev2, PHASE_1, Phase1, Recording, esp_sa};

const QUICK_MODE: u8 = 32;
const INFORMATIONAL: u8 = 5;

fn secret(bytes: &[u8]) -> Option<SecretBytes> {
    Some(SecretBytes::new(bytes.to_vec()))
}

/// What a capture of all messages says, with these secrets.
fn document(recording: &Recording, version: u8, secrets: IkeSecrets) -> Analysis {
    let file = std::io::Cursor::new(recording.pcap());
    let mut reader = CaptureReader::from_stream(Box::new(file), "synthetic").unwrap();
    let mut keys = KeyMaterial::default();
    keys.ike.push(IkeKey {
        version,
        initiator_spi: None,
        responder_spi: None,
        secrets,
        origin: KeyOrigin {
            file: 0,
            line: 1,
            road: KeyRoad::Explicit,
        },
    });
    let (mut analyzer, mut notes) = (Analyzer::new(Options::default(), keys), Diagnostics::default());
    while let Some(frame) = reader.next_frame(&mut notes).unwrap() {
        analyzer.push(&frame);
    }
    assemble(&analyzer.finish(), reader.info(), &Asked::of("synthetic"))
}

fn ikev1(phase1: Phase1) -> Ikev1<Recording> {
    Ikev1::new(phase1, Recording::default())
}

fn ikev1_document(ike: &Ikev1<Recording>) -> Analysis {
    let [skeyid_d, skeyid_a, skeyid_e] = ike.phase1.skeyids().map(|bytes| secret(&bytes));
    let secrets = IkeSecrets {
        skeyid_d,
        skeyid_a,
        skeyid_e,
        ..IkeSecrets::default()
    };
    document(&ike.wire, 1, secrets)
}

fn ikev2_document(ike: &Ikev2<Recording>) -> Analysis {
    let secrets = IkeSecrets {
        sk_ei: secret(&ike.keys.sk_e[0]),
        sk_er: secret(&ike.keys.sk_e[1]),
        sk_ai: secret(&ike.keys.sk_a[0]),
        sk_ar: secret(&ike.keys.sk_a[1]),
        sk_d: secret(&[5; 32]),
        ..IkeSecrets::default()
    };
    document(&ike.wire, 2, secrets)
}

fn kinds(document: &Analysis) -> Vec<(ExchangeKind, bool)> {
    document.exchanges.iter().map(|e| (e.kind, e.decrypted)).collect()
}

fn counted(document: &Analysis, kind: &str) -> u64 {
    let of_kind = document.diagnostics.iter().filter(|d| d.kind == kind);
    of_kind.map(|d| d.count).sum()
}

/// Both messages of a Quick Mode with one proposal each: SPIs 100 and 200.
fn quick_mode(ike: &mut Ikev1<Recording>, message_id: u32, further: &[(u8, Vec<u8>)]) {
    for (from_initiator, spi, nonce) in [(true, 100, 3), (false, 200, 4)] {
        let mut payloads = vec![(1, esp_sa(&[(1, spi)])), (10, vec![nonce; 20])];
        payloads.extend_from_slice(further);
        ike.phase2(from_initiator, QUICK_MODE, message_id, &payloads);
    }
}

/// RFC 7383.
#[test]
fn a_document_of_ikev2_fragments() {
    let mut ike = Ikev2::new(Recording::default());
    ike.child_in_pieces(|_, _| ());
    let document = ikev2_document(&ike);
    let [exchange] = &document.exchanges[..] else {
        panic!("{:?}", document.exchanges)
    };
    assert_eq!(
        (exchange.kind, exchange.decrypted),
        (ExchangeKind::CreateChildSa, true)
    );
    assert_eq!((exchange.messages, &exchange.spis[..]), (3, &[Spi(100)][..]));
    assert_eq!(document.security_associations.len(), 1);
}

/// Aggressive Mode, XAUTH in a Transaction, Quick Mode.
#[test]
fn a_document_of_aggressive_mode_and_xauth() {
    let mut ike = ikev1(PHASE_1[1]);
    ike.aggressive_mode_and_xauth();
    quick_mode(&mut ike, 7, &[]);
    // The first message of a phase 1 has no responder cookie yet, which shows who began.
    ike.wire.sent[0].2[8..16].fill(0);
    let document = ikev1_document(&ike);
    let expected = [
        (ExchangeKind::AggressiveMode, false),
        (ExchangeKind::Transaction, true),
        (ExchangeKind::QuickMode, true),
    ];
    assert_eq!(kinds(&document), expected);
    assert_eq!(document.ike_sas[0].key.status, KeyStatus::Verified);
    assert_eq!(document.tunnels[0].a, std::net::IpAddr::from(INITIATOR));
}

#[test]
fn a_document_names_authip() {
    let mut ike = ikev1(PHASE_1[0]);
    for (exchange_type, _) in AUTHIP {
        ike.clear(true, exchange_type, &[(13, vec![exchange_type; 8])]);
    }
    let document = ikev1_document(&ike);
    let kinds = kinds(&document);
    assert!(
        !kinds.is_empty() && kinds.iter().all(|(kind, _)| *kind == ExchangeKind::Other),
        "{kinds:?}"
    );
    for (_, name) in AUTHIP {
        assert_eq!(counted(&document, name), 1, "{name}");
    }
}

/// Exchange types of MS-AIPS §2.2.1, and what they are called here.
const AUTHIP: [(u8, &str); 4] = [
    (243, "authip_main_mode"),
    (244, "authip_quick_mode"),
    (245, "authip_extended_mode"),
    (246, "authip_notify"),
];

/// The responder's lifetime is what holds, and CONNECTED answers the commit bit (RFC 2407 §4.6.3.1, RFC 2408 §3.1).
#[test]
fn a_document_of_commit_bit_and_responder_lifetime() {
    let mut ike = ikev1(PHASE_1[0]);
    ike.main_mode();
    ike.phase2(
        true,
        QUICK_MODE,
        7,
        &[(1, esp_sa(&[(1, 100)])), (10, vec![3; 20])],
    );
    let mut lifetime = vec![0, 0, 0, 1, 3, 4, 0x60, 0, 0, 0, 0, 200];
    lifetime.extend([0x80, 1, 0, 2, 0, 2, 0, 4, 0, 0, 0xc3, 0x50]);
    let answer = vec![(1, esp_sa(&[(1, 200)])), (10, vec![4; 20]), (11, lifetime)];
    ike.phase2(false, QUICK_MODE, 7, &answer);
    ike.phase2(true, QUICK_MODE, 7, &[]);
    let connected = [&[0, 0, 0, 1, 3, 4, 0x40, 0][..], &200u32.to_be_bytes()].concat();
    ike.phase2(false, QUICK_MODE, 7, &[(11, connected)]);
    let document = ikev1_document(&ike);
    let exchange = &document.exchanges[1];
    assert_eq!(
        (exchange.kind, exchange.messages, exchange.decrypted),
        (ExchangeKind::QuickMode, 4, true)
    );
    let lifetime = exchange.lifetime.as_ref().unwrap();
    assert_eq!((lifetime.seconds, lifetime.kilobytes), (Some(3600), Some(50_000)));
    assert_eq!(exchange.notifications, ["RESPONDER-LIFETIME", "CONNECTED"]);
    assert_eq!(exchange.spis, [Spi(100), Spi(200)]);
}

/// R-U-THERE and its answer, each an Informational exchange of its own (RFC 3706 §5.2).
#[test]
fn a_document_of_dead_peer_detection() {
    let mut ike = ikev1(PHASE_1[0]);
    ike.main_mode();
    quick_mode(&mut ike, 7, &[]);
    for (from_initiator, message_id, kind) in [(true, 8, 36136u16), (false, 9, 36137)] {
        let mut notify = vec![0, 0, 0, 1, 1, 16];
        notify.extend(kind.to_be_bytes());
        notify.extend([[1u8; 8], [2; 8]].concat());
        notify.extend(1u32.to_be_bytes());
        ike.phase2(from_initiator, INFORMATIONAL, message_id, &[(11, notify)]);
    }
    let document = ikev1_document(&ike);
    let named = |index: usize| document.exchanges[index].notifications.clone();
    assert_eq!(
        (named(2), named(3)),
        (vec!["R-U-THERE".into()], vec!["R-U-THERE-ACK".into()])
    );
    assert!(
        document.exchanges[2..]
            .iter()
            .all(|e| e.kind == ExchangeKind::Informational && e.spis.is_empty())
    );
    assert!(document.rekeys.is_empty());
}

/// The original addresses of both ends (RFC 3947 §5.2), under the numbers of the RFC and of its drafts.
#[test]
fn a_document_of_nat_original_addresses() {
    for payload in [21u8, 131] {
        let mut ike = ikev1(PHASE_1[0]);
        ike.main_mode();
        let address = |last: u8| (payload, vec![1, 0, 0, 0, 10, 0, 0, last]);
        quick_mode(&mut ike, 7, &[address(1), address(2)]);
        let document = ikev1_document(&ike);
        let exchange = &document.exchanges[1];
        assert_eq!(
            (exchange.decrypted, &exchange.spis[..]),
            (true, &[Spi(100), Spi(200)][..]),
            "{payload}"
        );
        assert_eq!(document.security_associations.len(), 2, "{payload}");
        let malformed = document.diagnostics.iter().find(|d| d.kind == "malformed");
        assert!(malformed.is_none(), "{payload}: {malformed:?}");
    }
}

/// Signatures and chains of certificates in Main Mode (RFC 2409 §5.1): what follows can be read.
#[test]
fn a_document_of_main_mode_with_certificates() {
    let mut ike = ikev1(PHASE_1[0]);
    let certificate = |n: u8| (6, [&[4][..], &[n; 1_400]].concat());
    let request = vec![(7, vec![4; 61])];
    let signed = [
        (5, vec![9, 0, 0, 0, 0x30, 0]),
        certificate(1),
        certificate(2),
        (9, vec![8; 256]),
    ];
    ike.main_mode_with(&request, &signed);
    quick_mode(&mut ike, 7, &[]);
    let document = ikev1_document(&ike);
    assert_eq!(
        kinds(&document),
        [(ExchangeKind::MainMode, true), (ExchangeKind::QuickMode, true)]
    );
    assert_eq!(document.exchanges[1].spis, [Spi(100), Spi(200)]);
}
