//! IKEv2: rekeys of children and of the IKE SA, EAP, fragments.

use super::*;

/// Both sides rekey the same child at once (RFC 7296 §2.8.1), each with message ID 0.
#[test]
fn simultaneous_child_rekeys_are_two_exchanges() {
    let mut ike = ikev2();
    let offer = |old, new: u32| {
        vec![
            (41, rekey_sa(old)),
            (33, ikev2_sa(3, &new.to_be_bytes(), 12)),
            (40, vec![7; 32]),
        ]
    };
    let answer = |new: u32| vec![(33, ikev2_sa(3, &new.to_be_bytes(), 12)), (40, vec![8; 32])];
    ike.whole(36, 0x08, 0, &offer(10, 100));
    ike.whole(36, 0x00, 0, &offer(20, 200));
    ike.whole(36, 0x20, 0, &answer(101));
    ike.whole(36, 0x28, 0, &answer(201));
    assert_eq!(ike.wire.timeline.exchanges().len(), 2);
    assert_eq!(spis(ike.wire.exchange(0)), [(100, true), (101, false)]);
    assert_eq!(spis(ike.wire.exchange(1)), [(200, false), (201, true)]);
    assert_eq!(ike.wire.exchange(1).rekeys, [Spi(20)]);
    let keys = ike.wire.timeline.derive_child_keys(0);
    let [Some(to_initiator), Some(to_responder)] = keys.as_slice() else {
        panic!("both have keys")
    };
    // prf+ gives the keys towards the responder first.
    assert_eq!(
        (to_initiator.encryption.len(), to_initiator.integrity.len()),
        (16, 32)
    );
    assert_ne!(to_initiator.encryption, to_responder.encryption);
}

#[test]
fn an_ike_rekey_is_told_apart() {
    let mut ike = ikev2();
    ike.whole(
        36,
        0x08,
        4,
        &[
            (33, ikev2_sa(1, &[9; 8], 12)),
            (40, vec![7; 32]),
            (34, vec![1; 68]),
        ],
    );
    let exchange = ike.wire.exchange(0);
    assert!(exchange.rekeys_ike_sa && exchange.children.is_empty() && exchange.key_exchange);
}

/// The IKE SA that replaces another one: SKEYSEED = prf(SK_d (old), g^ir | Ni | Nr), SK_* = prf+(SKEYSEED, Ni | Nr |
/// SPIi | SPIr) (RFC 7296 §2.18). Of its secrets only g^ir is given.
#[test]
fn keys_of_a_rekeyed_ike_sa() {
    let mut ike = ikev2();
    let dh_secret = IkeSecrets {
        dh_secret: Some(SecretBytes::new(vec![6; 256])),
        ..IkeSecrets::default()
    };
    let mut keys = vec![key(2, dh_secret)];
    keys.extend(ike.wire.timeline.keys.clone());
    ike.wire = Observing::new(keys);
    let sa = |spi: u8| ikev2_ike_sa(&[spi; 8]);
    ike.whole(
        36,
        0x08,
        4,
        &[(33, sa(0x0a)), (40, vec![7; 32]), (34, vec![1; 68])],
    );
    ike.whole(
        36,
        0x20,
        4,
        &[(33, sa(0x0b)), (40, vec![8; 32]), (34, vec![1; 68])],
    );
    let prf = |key: &[u8], message: &[u8]| Hash::Sha256.prf(key, &[message]);
    let nonces = [[7; 32], [8; 32]].concat();
    let skeyseed = prf(&[5; 32], &[&[6; 256][..], &nonces].concat());
    let seed = [&nonces[..], &[0x0a; 8], &[0x0b; 8]].concat();
    let mut block = Vec::new();
    let mut material = Vec::new();
    for counter in 1..=6 {
        block = prf(&skeyseed, &[&block[..], &seed, &[counter]].concat());
        material.extend(block.clone());
    }
    let part = |index: usize| <[u8; 32]>::try_from(&material[index * 32..index * 32 + 32]).unwrap();
    ike.keys = Directed {
        spis: [[0x0a; 8], [0x0b; 8]],
        sk_a: [part(1), part(2)],
        sk_e: [part(3), part(4)],
    };
    ike.whole(
        36,
        0x00,
        0,
        &[(33, ikev2_sa(3, &[0, 0, 0, 100], 12)), (40, vec![7; 32])],
    );
    ike.whole(
        36,
        0x28,
        0,
        &[(33, ikev2_sa(3, &[0, 0, 0, 200], 12)), (40, vec![8; 32])],
    );
    let [old, new] = ike.wire.timeline.ike_sas() else {
        panic!("two IKE SAs")
    };
    assert_eq!(
        (old.key_status, new.key_status),
        (KeyStatus::Verified, KeyStatus::Verified)
    );
    assert_eq!(ike.wire.exchange(1).children.len(), 2);
    let derived = ike.wire.timeline.derive_child_keys(1);
    let material = prf(&part(0), &[&nonces[..], &[1]].concat());
    // Towards the responder of this exchange, which chose 200, first.
    assert_eq!(ike.wire.exchange(1).children[1].spi, Spi(200));
    assert_eq!(derived[1].as_ref().unwrap().encryption.expose(), &material[..16]);
}

#[test]
fn a_refused_child_is_none() {
    let mut ike = ikev2();
    let offer = vec![(33, ikev2_sa(3, &[0, 0, 0, 100], 12)), (40, vec![7; 32])];
    assert!(ike.whole(36, 0x08, 4, &offer).children_changed);
    assert!(
        ike.whole(36, 0x20, 4, &[(41, vec![0, 0, 0, 14])])
            .children_changed
    );
    assert!(ike.wire.exchange(0).children.is_empty());
    assert_eq!(ike.wire.exchange(0).notifications, ["NO_PROPOSAL_CHOSEN"]);
}

/// EAP: the offer in the first IKE_AUTH, the choice in the last; transport mode.
#[test]
fn eap_spreads_the_child_over_exchanges() {
    let mut ike = ikev2();
    let transport = (41, vec![0, 0, 0x40, 0x07]);
    let offer = vec![(33, ikev2_sa(3, &[0, 0, 0, 100], 12)), transport.clone()];
    ike.whole(35, 0x08, 1, &offer);
    ike.whole(35, 0x20, 1, &[(48, vec![1, 1, 0, 4])]);
    ike.whole(35, 0x08, 2, &[(39, vec![2; 36])]);
    ike.whole(35, 0x20, 2, &[(33, ikev2_sa(3, &[0, 0, 0, 200], 12)), transport]);
    assert_eq!(spis(ike.wire.exchange(1)), [(100, true), (200, false)]);
    assert_eq!(ike.wire.exchange(1).children[0].mode, Some(Mode::Transport));
}

/// RFC 7383: pieces out of order, one of them twice.
#[test]
fn ikev2_fragments_are_put_together() {
    let mut ike = ikev2();
    ike.child_in_pieces(|wire, number| {
        if number == 1 {
            wire.repeat();
        }
    });
    assert_eq!(spis(ike.wire.exchange(0)), [(100, true)]);
    assert_eq!(
        (
            ike.wire.exchange(0).messages,
            ike.wire.exchange(0).retransmissions
        ),
        (4, 1)
    );
}

/// A request that claims more pieces than are put together.
#[test]
fn ikev2_fragments_beyond_the_bound_are_counted() {
    let mut ike = ikev2();
    for number in 1..=3 {
        ike.sealed(36, 0x08, 4, 0, (53, &[0, number, 1, 1]), &[7; 80]);
    }
    ike.sealed(36, 0x08, 5, 0, (53, &[0, 2, 0, 1]), &[7; 80]);
    let counted = |kind| ike.wire.diagnostics.count_of(kind, "IKE");
    assert_eq!(counted("fragment_dropped"), 3);
    assert_eq!(counted("fragment_impossible"), 1);
}

#[test]
fn the_same_message_id_in_another_ike_sa_is_another_exchange() {
    let mut wire = Observing::new(Vec::new());
    for cookie in [1, 2] {
        let header = Header {
            spis: [[cookie; 8], [2; 8]],
            first: 8,
            exchange_type: QUICK_MODE,
            flags: 1,
            message_id: 7,
            ..Header::default()
        };
        assert!(wire.send(true, &header.message(&[0xee; 32])).first_of_exchange);
    }
    assert_eq!(wire.timeline.ike_sas().len(), 2);
    assert_eq!(wire.timeline.ike_sas()[1].initiator_spi, IkeSpi([2; 8]));
}
