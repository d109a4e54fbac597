use super::*;
use crate::rekey::made_up::{CLIENT, MadeUp, SERVER, at};
use rekeyscope_model::analysis::Direction::{AToB, BToA};
use rekeyscope_model::spi::IpsecProtocol;

type Made = (Option<usize>, [Option<SaIndex>; 2]);

/// Exchange and SAs of each child SA.
fn made(tunnel: &MadeUp) -> Vec<Made> {
    tunnel.children().iter().map(|c| (c.exchange, c.sa)).collect()
}

#[test]
fn sas_without_exchange_pair_within_eight_seconds() {
    for (later, pairs) in [(8_000, 1), (8_001, 2)] {
        let mut tunnel = MadeUp::new();
        tunnel.sa(AToB, (0, 60_000), None);
        tunnel.sa(BToA, (later, 60_000), None);
        assert_eq!(tunnel.children().len(), pairs, "{later} ms later");
    }
    for change in [
        |tunnel: &mut MadeUp| tunnel.associations[1].tunnel = 1,
        |tunnel: &mut MadeUp| tunnel.associations[1].protocol = IpsecProtocol::Ah,
        |tunnel: &mut MadeUp| tunnel.associations[1].direction = AToB,
    ] {
        let mut tunnel = MadeUp::new();
        tunnel.pair((0, 60_000), None);
        change(&mut tunnel);
        assert_eq!(
            tunnel.children().len(),
            2,
            "they differ in more than their direction"
        );
    }
}

#[test]
fn halves_close_in_the_order_in_which_they_opened() {
    let mut tunnel = MadeUp::new();
    let early = tunnel.sa(AToB, (0, 60_000), None);
    let late = tunnel.sa(AToB, (1_000, 60_000), None);
    let answers = [2_000, 3_000].map(|from| tunnel.sa(BToA, (from, 60_000), None));
    assert_eq!(
        made(&tunnel),
        [
            (None, [Some(early), Some(answers[0])]),
            (None, [Some(late), Some(answers[1])])
        ]
    );
    assert_eq!(tunnel.children()[1].born, at(1_000));
}

#[test]
fn an_unreadable_exchange_makes_what_comes_behind_its_answer() {
    let mut tunnel = MadeUp::new();
    let exchange = tunnel.exchange(ExchangeKind::QuickMode, CLIENT, (1_000, 1_040), 0);
    let before = tunnel.sa(AToB, (1_039, 60_000), None);
    let behind = tunnel.sa(AToB, (1_040, 60_000), None);
    let answer = tunnel.sa(BToA, (1_200, 60_000), None);
    assert_eq!(
        made(&tunnel),
        [
            (Some(exchange), [Some(behind), Some(answer)]),
            (None, [Some(before), None])
        ]
    );
    assert_eq!(tunnel.children()[0].born, at(1_000), "born with its exchange");
    tunnel.exchanges[exchange].kind = ExchangeKind::Informational;
    assert!(made(&tunnel).iter().all(|(exchange, _)| exchange.is_none()));
}

/// Of IKE the capture has one side: a missing answer means nothing. Where it has both, it means that nothing was made.
#[test]
fn of_one_side_of_ike_the_first_message_makes_what_comes_behind_it() {
    let mut tunnel = MadeUp::new();
    let exchange = tunnel.exchange(ExchangeKind::QuickMode, CLIENT, (1_000, 1_040), 0);
    tunnel.exchanges[exchange].records.remove(1);
    let [a, b] = tunnel.pair((1_010, 60_000), None);
    assert_eq!(made(&tunnel), [(Some(exchange), [Some(a), Some(b)])]);
    tunnel.exchange(ExchangeKind::Informational, CLIENT, (500, 540), 0);
    assert_eq!(made(&tunnel), [(None, [Some(a), Some(b)])]);
}

#[test]
fn an_exchange_that_was_read_makes_what_it_names_only() {
    let mut tunnel = MadeUp::new();
    let exchange = tunnel.exchange(ExchangeKind::QuickMode, CLIENT, (1_000, 1_040), 0);
    tunnel.exchanges[exchange].decrypted = true;
    let [a, b] = tunnel.pair((1_200, 60_000), None);
    assert_eq!(made(&tunnel), [(None, [Some(a), Some(b)])]);
    tunnel.associations[a].exchange = Some(exchange);
    assert_eq!(
        made(&tunnel),
        [(Some(exchange), [Some(a), None]), (None, [None, Some(b)])]
    );
    // Without its answer the other name is not in the capture.
    tunnel.exchanges[exchange].records.truncate(1);
    assert_eq!(made(&tunnel), [(Some(exchange), [Some(a), Some(b)])]);
}

#[test]
fn exchanges_that_overlap_may_be_used_in_either_order() {
    for exchanges in [4, 5] {
        let mut tunnel = MadeUp::new();
        let begun: Vec<usize> = (0..exchanges)
            .map(|k| tunnel.exchange(ExchangeKind::QuickMode, CLIENT, (1_000 + k, 1_040 + k), 0))
            .collect();
        for k in 0..exchanges {
            tunnel.pair((2_000 + k, 60_000), None);
        }
        let newest_first: Vec<Option<usize>> = begun.iter().rev().take(4).map(|e| Some(*e)).collect();
        let mut by_use = tunnel.children();
        by_use.sort_by_key(|c| c.sa);
        let by_use: Vec<Option<usize>> = by_use.iter().map(|c| c.exchange).collect();
        assert_eq!(by_use[..4], newest_first);
        assert!(
            by_use[4..].iter().all(Option::is_none),
            "the fifth is too long ago"
        );
    }
}

#[test]
fn an_answer_too_short_for_an_sa_made_none() {
    for (len, expected) in [(151, None), (152, Some(0))] {
        let mut tunnel = MadeUp::new();
        let exchange = tunnel.exchange(ExchangeKind::CreateChildSa, CLIENT, (1_000, 1_040), 0);
        tunnel.exchanges[exchange].records[1].len = len;
        tunnel.pair((1_200, 60_000), None);
        assert_eq!(tunnel.children()[0].exchange, expected, "{len} bytes");
    }
}

#[test]
fn a_name_that_nothing_uses_is_no_child() {
    let mut tunnel = MadeUp::new();
    let refused = tunnel.exchange(ExchangeKind::QuickMode, CLIENT, (1_000, 1_040), 0);
    let named = tunnel.sa(AToB, (0, 0), Some(refused));
    (tunnel.associations[named].first, tunnel.associations[named].last) = (None, None);
    assert_eq!(made(&tunnel), []);
    tunnel.associations[named].first = Some((at(1_100), 5));
    assert_eq!(made(&tunnel), [(Some(refused), [Some(named), None])]);
    tunnel.associations[named].bundled = true;
    assert_eq!(made(&tunnel), [], "the ESP inside tells of it");
    tunnel.associations[named].exchange = None;
    assert_eq!(made(&tunnel), [], "whoever made it");
    tunnel.associations[named].bundled = false;
    assert_eq!(made(&tunnel), [(Some(refused), [Some(named), None])]);
}

#[test]
fn an_exchange_names_as_many_pairs_as_it_made() {
    let mut tunnel = MadeUp::new();
    let exchange = tunnel.exchange(ExchangeKind::QuickMode, CLIENT, (1_000, 1_040), 0);
    let [a, b] = tunnel.pair((1_200, 60_000), Some(exchange));
    let [c, d] = tunnel.pair((1_300, 60_000), Some(exchange));
    let e = tunnel.sa(BToA, (1_300, 60_000), Some(exchange));
    assert_eq!(
        made(&tunnel),
        [
            (Some(exchange), [None, Some(e)]),
            (Some(exchange), [Some(a), Some(b)]),
            (Some(exchange), [Some(c), Some(d)])
        ]
    );
}

/// A Quick Mode of which the capture has one side, without the third message.
#[test]
fn who_began_a_half_seen_exchange_is_told_by_the_others() {
    let half_seen = |whole_by: Option<IpAddr>| {
        let mut tunnel = MadeUp::new();
        if let Some(by) = whole_by {
            tunnel.exchange(ExchangeKind::QuickMode, by, (0, 40), 0);
        }
        let exchange = tunnel.exchange(ExchangeKind::QuickMode, CLIENT, (1_000, 1_040), 0);
        tunnel.exchanges[exchange].records.truncate(1);
        tunnel.pair((1_200, 60_000), Some(exchange));
        let openings = Openings::new(&tunnel.evidence(), &tunnel.children());
        openings.of(&tunnel.evidence(), exchange)
    };
    let by_the_server = Opening::Cut {
        initiator: Some(SERVER),
    };
    assert_eq!(half_seen(None), by_the_server, "an answer, for all that is known");
    assert_eq!(
        half_seen(Some(CLIENT)),
        Opening::Whole,
        "this side begins elsewhere"
    );
    assert_eq!(half_seen(Some(SERVER)), by_the_server);
}

#[test]
fn both_ends_speak_by_ike_or_by_esp() {
    let mut tunnel = MadeUp::new();
    assert!(!Speakers::of(&tunnel.evidence()).both(0));
    let exchange = tunnel.exchange(ExchangeKind::QuickMode, CLIENT, (1_000, 1_040), 0);
    assert!(Speakers::of(&tunnel.evidence()).both(0));
    tunnel.exchanges[exchange].records.truncate(1);
    tunnel.sa(AToB, (1_200, 2_000), None);
    assert!(!Speakers::of(&tunnel.evidence()).both(0), "one side in both");
    let unused = tunnel.sa(BToA, (1_200, 2_000), None);
    assert!(Speakers::of(&tunnel.evidence()).both(0));
    tunnel.associations[unused].first = None;
    assert!(!Speakers::of(&tunnel.evidence()).both(0));
}
