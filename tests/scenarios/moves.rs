//! Ends that move: one tunnel, whatever its addresses and ports. **Synthetic**, and really encrypted.

use crate::support::{analyze_with, analyze_world, open_with};
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::{Analysis, Direction, Event, EventKind};
use rekeyscope_testkit::scenario::World;

const HOME: [u8; 4] = [10, 9, 0, 2];
const AWAY: [u8; 4] = [10, 9, 0, 22];
/// How long data flows before and after, ms.
const WHILE: u64 = 3_000;

fn without_keys(w: World) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    w.write(folder.path(), false);
    analyze_with(&folder.path().join("trace.pcap"), KeyMaterial::default())
}

/// With keys, and without any.
fn both(play: fn(&mut World)) -> [Analysis; 2] {
    [true, false].map(|with_keys| {
        let mut w = World::new();
        play(&mut w);
        if with_keys {
            analyze_world(w, true)
        } else {
            without_keys(w)
        }
    })
}

fn changes(analysis: &Analysis) -> Vec<(EventKind, String, String)> {
    let is_change = |e: &&Event| matches!(e.kind, EventKind::AddressChanged | EventKind::PortChanged);
    let text = |place: &Option<String>| place.clone().unwrap();
    let changes = analysis.events.iter().filter(is_change);
    changes.map(|e| (e.kind, text(&e.from), text(&e.to))).collect()
}

/// One tunnel with so many rekeys, each way one SA more than these.
fn assert_one_tunnel(analysis: &Analysis, rekeys: usize) {
    assert_eq!(analysis.tunnels.len(), 1, "{:?}", analysis.tunnels);
    assert_eq!(analysis.rekeys.len(), rekeys);
    for direction in [HOME, [10, 9, 0, 1]] {
        let to = std::net::IpAddr::from(direction);
        let sas = analysis.security_associations.iter().filter(|sa| sa.dst == to);
        assert_eq!(sas.count(), rekeys + 1, "towards {to}");
    }
}

/// Data of the gateway goes to the old place for a while (MOBIKE, RFC 4555); then the child SA is renewed.
fn mobike(w: &mut World) {
    w.steady(WHILE);
    w.renew_v2(true);
    w.steady(WHILE);
    w.client = AWAY;
    w.ack(w.expected, 0xffff);
    w.client = HOME;
    w.segment();
    w.client = AWAY;
    w.steady(WHILE);
    w.renew_v2(true);
    w.steady(WHILE);
}

#[test]
fn a_client_with_another_address_stays_one_tunnel() {
    for analysis in both(mobike) {
        assert_one_tunnel(&analysis, 2);
        assert_eq!(analysis.tunnels[0].a, std::net::IpAddr::from(HOME));
        let expected = (EventKind::AddressChanged, "10.9.0.2", "10.9.0.22");
        let found = changes(&analysis);
        let [(kind, from, to)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((*kind, from.as_str(), to.as_str()), expected);
        assert_eq!(analysis.events[0].by, Some(HOME.into()));
        let sas = || analysis.security_associations.iter();
        assert!(sas().all(|sa| sa.sequence.missing == 0 && sa.sequence.reordered == 0));
    }
    let [read, _] = both(mobike);
    let downloads = read.flows.iter().filter(|f| f.new_bytes > 100_000);
    let downloads: Vec<_> = downloads.collect();
    assert_eq!(downloads.len(), 1, "one download");
    assert_eq!(downloads[0].direction, Direction::BToA);
}

/// Tables for Wireshark and `--write-inner` have the SA for each address.
#[test]
fn a_key_is_written_for_every_address_of_its_sa() {
    let mut w = World::new();
    mobike(&mut w);
    let folder = tempfile::tempdir().unwrap();
    let mut keys = KeyMaterial::default();
    for file in w.write(folder.path(), true) {
        keys.read(&file).unwrap();
    }
    let (_, ring) = open_with(&folder.path().join("trace.pcap"), keys);
    let gateway = std::net::IpAddr::from([10, 9, 0, 1]);
    let mut clients: Vec<_> = ring
        .esp
        .iter()
        .filter(|k| k.src == gateway)
        .map(|k| k.dst)
        .collect();
    clients.sort_unstable();
    assert_eq!(clients, [HOME, HOME, AWAY, AWAY].map(std::net::IpAddr::from));
    let opened = |dst: [u8; 4]| {
        ring.openers
            .iter()
            .filter(|o| o.dst == std::net::IpAddr::from(dst))
            .count()
    };
    assert_eq!((opened(HOME), opened(AWAY)), (2, 2));
}

/// A daemon that renews the child SA when it moves: no SPI has two addresses, but the IKE SA has.
fn child_renewed_at_the_move(w: &mut World) {
    w.steady(WHILE);
    w.renew_v2(true);
    w.steady(WHILE);
    w.wait(50);
    w.client = AWAY;
    let mut rekey = w.begin_v2(true);
    for _ in 0..2 {
        w.message_v2(&mut rekey);
        w.wait(20);
    }
    w.switch_up_v2(&rekey);
    w.switch_down_v2(&rekey);
    w.steady(WHILE);
}

#[test]
fn the_ike_sa_holds_a_client_together_that_renews_where_it_comes_to() {
    for analysis in both(child_renewed_at_the_move) {
        assert_one_tunnel(&analysis, 2);
        assert_eq!(analysis.rekeys[1].initiator, Some(HOME.into()));
        let found = changes(&analysis);
        assert_eq!(found.len(), 1, "{found:?}");
        let frame = analysis.events[0].frame;
        assert!(analysis.exchanges.iter().any(|e| e.frames.contains(&frame)));
    }
}

/// The first IKE message of the capture comes from the new address already: ESP that goes on there tells whose it is.
#[test]
fn a_move_that_is_the_first_word_of_ike() {
    fn play(w: &mut World) {
        w.steady(WHILE);
        w.wait(200);
        w.client = AWAY;
        w.check_v2(true);
        w.segment();
        w.steady(WHILE);
        w.check_v2(true);
        w.steady(WHILE);
    }
    for analysis in both(play) {
        let sas = analysis.security_associations.iter().map(|sa| sa.tunnel);
        let exchanges = analysis.exchanges.iter().map(|exchange| exchange.tunnel);
        assert!(sas.chain(exchanges).all(|tunnel| tunnel == 0));
        assert_eq!(changes(&analysis).len(), 1);
    }
}

/// The NAT forgets its mapping, and the next packet of the client gets another port; the capture is outside.
fn another_port(w: &mut World) {
    w.nat_port = Some(40_001);
    w.steady(WHILE);
    w.wait(100);
    w.nat_port = Some(40_777);
    w.ack(w.expected, 0xffff);
    w.steady(WHILE);
    w.renew_v2(true);
    w.steady(WHILE);
}

#[test]
fn a_new_port_of_the_nat_is_said_wherever_it_comes() {
    for analysis in both(another_port) {
        assert_one_tunnel(&analysis, 1);
        let found = changes(&analysis);
        let [(kind, from, to)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(*kind, EventKind::PortChanged);
        assert_eq!((from.as_str(), to.as_str()), ("10.9.0.2:40001", "10.9.0.2:40777"));
        assert!(analysis.tunnels[0].nat);
    }
}

/// The same inside the NAT: there nothing shows but that nothing comes for a while.
fn another_port_behind_the_nat(w: &mut World) {
    w.nat_port = Some(4_500);
    w.steady(WHILE);
    w.blind = true;
    w.steady(100);
    w.blind = false;
    w.steady(WHILE);
}

#[test]
fn behind_the_nat_no_port_changes() {
    for analysis in both(another_port_behind_the_nat) {
        assert_one_tunnel(&analysis, 0);
        assert_eq!(changes(&analysis), []);
    }
}

/// Two clients of one gateway count their SPIs up from the same number, and one of them was there before the capture.
#[test]
fn two_clients_with_the_same_spi_stay_two() {
    for numbered in [0, 5_000] {
        let mut first = World::new();
        let mut second = World::new();
        second.client = [10, 9, 0, 77];
        second.name_pair(first.down.spi, 0xb000_0000);
        second.down.sequence = numbered;
        second.up.sequence = numbered;
        second.begin_ike_sa(7);
        first.steady(WHILE);
        second.wait(1_000);
        second.steady(WHILE);
        first.beside(second);
        let analysis = without_keys(first);
        assert_eq!(analysis.tunnels.len(), 2, "{numbered}");
        assert_eq!(analysis.security_associations.len(), 4);
        assert_eq!(changes(&analysis), []);
        assert_eq!(analysis.rekeys.len(), 0);
        let lost = analysis
            .security_associations
            .iter()
            .map(|sa| sa.sequence.missing);
        assert_eq!(lost.sum::<u64>(), 0);
    }
}

/// Two pairs between the same ends that begin 5 ms apart and carry little, as those of IMS (TS 33.203): neither renews the other.
#[test]
fn sas_side_by_side_renew_nothing() {
    let mut first = World::new();
    let mut second = World::new();
    second.name_pair(0xd100_0000, 0xa100_0000);
    for (w, later) in [(&mut first, 0), (&mut second, 5)] {
        w.wait(later);
        for _ in 0..3 {
            w.l2tp_control(true, Some(6));
            w.wait(1);
            w.l2tp_control(false, None);
            w.wait(1);
        }
    }
    first.beside(second);
    for pair in 0..3 {
        let mut single = World::new();
        single.name_pair(0xd200_0000 + pair, 0xa200_0000 + pair);
        single.wait(20_000 * u64::from(pair + 1));
        single.l2tp_control(true, Some(6));
        single.l2tp_control(false, None);
        first.beside(single);
    }
    let analysis = without_keys(first);
    assert_eq!(analysis.tunnels.len(), 1);
    assert_eq!(analysis.security_associations.len(), 10);
    assert_eq!(analysis.rekeys, []);
}

#[test]
fn a_file_written_backwards_has_the_same_tunnel() {
    let play = |backwards| {
        let mut w = World::new();
        w.backwards = backwards;
        w.steady(WHILE);
        w.main_mode();
        w.steady(WHILE);
        without_keys(w)
    };
    let [forwards, backwards] = [false, true].map(play);
    let told = |analysis: &Analysis| {
        let sas = analysis
            .ike_sas
            .iter()
            .map(|sa| (sa.initiator_spi, sa.responder_spi));
        (analysis.tunnels.len(), sas.collect::<Vec<_>>())
    };
    assert_eq!(told(&forwards), told(&backwards));
    assert_eq!(forwards.ike_sas.len(), 1);
}
