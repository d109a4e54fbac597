//! IKEv1: Quick Mode, Aggressive Mode, Deletes, fragments.

use super::*;

/// Every phase-1 transform, with and without its Main Mode in the capture.
#[test]
fn quick_mode_under_each_phase_1_transform() {
    for phase1 in PHASE_1 {
        for with_main_mode in [true, false] {
            let mut ike = ikev1(phase1);
            if with_main_mode {
                ike.main_mode();
            }
            ike.phase2(
                true,
                QUICK_MODE,
                7,
                &[(1, esp_sa(&[(1, 100)])), (10, vec![3; 20])],
            );
            ike.phase2(
                false,
                QUICK_MODE,
                7,
                &[(1, esp_sa(&[(1, 200)])), (10, vec![4; 20])],
            );
            let index = usize::from(with_main_mode);
            assert_eq!(
                ike.wire.timeline.ike_sas()[0].key_status,
                KeyStatus::Verified,
                "{phase1:?}"
            );
            let exchange = ike.wire.exchange(index);
            assert_eq!(spis(exchange), [(100, true), (200, false)], "{phase1:?}");
            let lifetime = exchange.lifetime.as_ref().unwrap();
            assert_eq!(
                (lifetime.seconds, lifetime.kilobytes),
                (Some(3600), Some(250_000))
            );
            let keys = ike.wire.timeline.derive_child_keys(index);
            assert!(
                keys.iter()
                    .all(|k| k.as_ref().is_some_and(|k| k.integrity.len() == 20))
            );
            assert_eq!(ike.wire.diagnostics.iter().count(), 0);
        }
    }
}

/// i → r: SA, Ni (twice on the wire); r → i: SA, Nr, RESPONDER-LIFETIME; i → r: HASH; r → i: CONNECTED.
#[test]
fn retransmission_commit_bit_and_responder_lifetime() {
    let mut ike = ikev1(PHASE_1[0]);
    ike.main_mode();
    let two = esp_sa(&[(1, 100), (2, 101)]);
    ike.phase2(true, QUICK_MODE, 7, &[(1, two), (10, vec![3; 20])]);
    let repeated = ike.wire.repeat();
    assert!(!repeated.first_of_exchange && !repeated.children_changed);
    let mut lifetime = vec![0, 0, 0, 1, 3, 4, 0x60, 0, 0, 0, 0, 200];
    lifetime.extend([0x80, 1, 0, 2, 0, 2, 0, 4, 0, 0, 0xc3, 0x50]);
    let answer = vec![(1, esp_sa(&[(2, 200)])), (10, vec![4; 20]), (11, lifetime)];
    ike.phase2(false, QUICK_MODE, 7, &answer);
    ike.phase2(true, QUICK_MODE, 7, &[]);
    let mut connected = vec![0, 0, 0, 1, 3, 4, 0x40, 0];
    connected.extend(200u32.to_be_bytes());
    ike.phase2(false, QUICK_MODE, 7, &[(11, connected)]);
    let exchange = ike.wire.exchange(1);
    assert_eq!((exchange.messages, exchange.retransmissions), (5, 1));
    assert_eq!(spis(exchange), [(101, true), (200, false)]);
    let lifetime = exchange.lifetime.as_ref().unwrap();
    assert_eq!((lifetime.seconds, lifetime.kilobytes), (Some(3600), Some(50_000)));
    assert_eq!(exchange.notifications, ["RESPONDER-LIFETIME", "CONNECTED"]);
    assert!(exchange.decrypted);
}

/// The first message is lost to the capture: the third one, a HASH alone, tells who began.
#[test]
fn quick_mode_from_its_second_message() {
    let mut ike = ikev1(PHASE_1[0]);
    ike.main_mode();
    ike.tails.insert(7, vec![0x77; 16]);
    ike.phase2(
        false,
        QUICK_MODE,
        7,
        &[(1, esp_sa(&[(1, 200)])), (10, vec![4; 20])],
    );
    ike.phase2(true, QUICK_MODE, 7, &[]);
    let exchange = ike.wire.exchange(1);
    assert_eq!(exchange.initiator, std::net::IpAddr::from(INITIATOR));
    assert_eq!(spis(exchange), [(200, false)]);
}

#[test]
fn deletes_several_spis_and_the_ike_sa() {
    let mut ike = ikev1(PHASE_1[3]);
    ike.main_mode();
    let mut delete = vec![0, 0, 0, 1, 3, 4, 0, 2];
    delete.extend([0, 0, 0, 100, 0, 0, 0, 101]);
    let mut phase1 = vec![0, 0, 0, 1, 1, 16, 0, 1];
    phase1.extend([1; 8]);
    phase1.extend([2; 8]);
    ike.phase2(true, INFORMATIONAL, 8, &[(12, delete)]);
    assert_eq!(ike.wire.timeline.ike_sas()[0].deleted, None);
    ike.phase2(true, INFORMATIONAL, 9, &[(12, phase1)]);
    let deletes: Vec<Spi> = ike.wire.exchange(1).deletes.iter().map(|d| d.spi).collect();
    assert_eq!(deletes, [Spi(100), Spi(101)]);
    assert_eq!(ike.wire.timeline.ike_sas()[0].deleted, Some(ike.wire.now));
}

/// The first encrypted message of Aggressive Mode is by itself no proof of the key; the Transaction exchange is, and then a
/// Quick Mode is read.
#[test]
fn aggressive_mode_and_xauth() {
    let mut ike = ikev1(PHASE_1[1]);
    ike.aggressive_mode_and_xauth();
    ike.phase2(
        true,
        QUICK_MODE,
        7,
        &[(1, esp_sa(&[(1, 100)])), (10, vec![3; 20])],
    );
    let kinds: Vec<_> = ike
        .wire
        .timeline
        .exchanges()
        .iter()
        .map(|e| (e.kind, e.decrypted))
        .collect();
    assert_eq!(
        kinds,
        [
            (ExchangeKind::AggressiveMode, false),
            (ExchangeKind::Transaction, true),
            (ExchangeKind::QuickMode, true)
        ]
    );
    assert_eq!(ike.wire.timeline.ike_sas()[0].key_status, KeyStatus::Verified);
}

/// A Delete that anyone could have sent.
#[test]
fn an_unencrypted_delete_is_not_believed() {
    let mut ike = ikev1(PHASE_1[0]);
    ike.clear(
        true,
        INFORMATIONAL,
        &[(12, vec![0, 0, 0, 1, 3, 4, 0, 1, 0, 0, 0, 100])],
    );
    assert!(ike.wire.exchange(0).deletes.is_empty());
    assert_eq!(ike.wire.diagnostics.count_of("unprotected_delete", "IKE"), 1);
}

/// The pieces of a Quick Mode message, each behind its own header (next payload 132).
#[test]
fn ikev1_fragments_are_put_together() {
    let mut ike = ikev1(PHASE_1[0]);
    ike.main_mode();
    let mut apart = ikev1(PHASE_1[0]);
    apart.phase1_tail.clone_from(&ike.phase1_tail);
    apart.phase2(
        true,
        QUICK_MODE,
        7,
        &[(1, esp_sa(&[(1, 100)])), (10, vec![3; 20])],
    );
    let whole = apart.wire.last;
    for (number, piece) in whole.chunks(64).enumerate() {
        let last = (number + 1) * 64 >= whole.len();
        let mut body = vec![0, 1, number as u8 + 1, u8::from(last)];
        body.extend(piece);
        let (first, body) = chain(&[(132, body)]);
        let header = Header {
            first,
            exchange_type: QUICK_MODE,
            message_id: 7,
            ..Header::default()
        };
        ike.wire.send(true, &header.message(&body));
    }
    assert_eq!(spis(ike.wire.exchange(1)), [(100, true)]);
}

/// Exchange types that are not ours are named.
#[test]
fn authip_is_named() {
    let mut ike = ikev1(PHASE_1[0]);
    ike.clear(true, 243, &[(13, vec![1; 8])]);
    assert_eq!(ike.wire.exchange(0).kind, ExchangeKind::Other);
    assert_eq!(ike.wire.diagnostics.count_of("authip_main_mode", "IKE"), 1);
}

/// Vendor IDs of Windows 7 and 10, one that is shorter, and one of another system (draft-ietf-ipsec-nat-t-ike-02). A server's says nothing of the
/// client.
#[test]
fn the_vendor_id_of_an_initiator_tells_windows() {
    let windows = hex_literal::hex!("1e2b516905991c7d7c96fcbfb587e461");
    let other = hex_literal::hex!("90cb80913ebb696e086381b5ec427b1f");
    let of_version = |version: u8| [&windows[..], &[0, 0, 0, version]].concat();
    for (from_client, id, told) in [
        (true, of_version(8), true),
        (true, of_version(9), true),
        (true, windows[..15].to_vec(), false),
        (true, other.to_vec(), false),
        (false, of_version(9), false),
    ] {
        let mut ike = ikev1(PHASE_1[0]);
        for from_initiator in [true, false] {
            let sa = (1, rekeyscope_testkit::ike::phase1_sa(PHASE_1[0]));
            let ids = (
                13,
                if from_initiator == from_client {
                    id.clone()
                } else {
                    other.to_vec()
                },
            );
            ike.clear(from_initiator, 2, &[sa, ids]);
        }
        assert_eq!(
            ike.wire.timeline.ike_sas()[0].initiator_is_windows,
            told,
            "{id:02x?}"
        );
    }
}
