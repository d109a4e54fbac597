//! First lines about what is no rekey: a capture in which it is planted, and where it matters one that looks like it.

use super::played_by_name;
use super::steps::{AFTER, BEFORE, GENEROUS, exchange, rekey_in_silence, resend_lost};
use crate::support::{analyze_with, analyze_world};
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::{Analysis, AnswerLines, EventKind};
use rekeyscope_report::words::answer_lines;
use rekeyscope_testkit::headers::{ipv4, udp};
use rekeyscope_testkit::scenario::World;

/// RFC 7296 §3.10.1.
const TS_UNACCEPTABLE: u16 = 38;
const TEMPORARY_FAILURE: u16 = 43;

fn played(play: impl FnOnce(&mut World)) -> World {
    let mut w = World::new();
    play(&mut w);
    w
}

pub(super) fn with_keys(play: impl FnOnce(&mut World)) -> AnswerLines {
    answer_lines(&analyze_world(played(play), true))
}

fn analyzed_without_keys(w: World) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    w.write(folder.path(), false);
    analyze_with(&folder.path().join("trace.pcap"), KeyMaterial::default())
}

pub(super) fn without_keys(play: impl FnOnce(&mut World)) -> AnswerLines {
    answer_lines(&analyzed_without_keys(played(play)))
}

/// ```text
///        ◀═ data, all acknowledged; the last segment is a short one
///        ◀── Delete of the SA; nothing more, and no FIN
/// ```
#[test]
fn a_sender_that_deletes_its_sa_in_the_middle() {
    let cut = |pause: u64| {
        move |w: &mut World| {
            w.steady(BEFORE);
            w.tiny_segment();
            w.wait(pause);
            let (up, down) = (w.up.spi, w.down.spi);
            w.delete_v2(false, up, down);
            w.wait(5_000);
            w.check_v2(true);
        }
    };
    let line = with_keys(cut(30)).headline;
    assert!(line.contains("deleted an SA"), "{line}");
    // A transfer that had long been over.
    let line = with_keys(cut(4_000)).headline;
    assert!(!line.contains("deleted"), "{line}");
}

#[test]
fn a_set_up_that_fails_is_no_rekey() {
    let asked = |refused: bool| {
        move |w: &mut World| {
            w.download = false;
            w.main_mode();
            let mut qm = w.begin(true);
            w.message(&mut qm);
            w.wait(1);
            if refused {
                w.refuse(&qm, 14, false);
            } else {
                for wait in [2_000, 4_000] {
                    w.wait(wait);
                    w.repeat(&qm, 0);
                }
            }
            // Long enough for a copy of the request, which does not come.
            w.wait(10_000);
            w.delete(w.down.spi);
        }
    };
    let lines = with_keys(asked(true));
    assert!(lines.headline.starts_with("No tunnel came up: "), "{lines:?}");
    assert!(lines.headline.contains("refused Quick Mode"), "{lines:?}");
    assert_eq!(lines.why, "Why: the answer was NO-PROPOSAL-CHOSEN. Frames: 8.");
    let lines = without_keys(asked(true));
    assert!(lines.why.contains("is encrypted"), "{lines:?}");
    let lines = without_keys(asked(false));
    assert!(lines.headline.contains("did not answer Quick Mode"), "{lines:?}");
    assert!(lines.why.contains("3 copies"), "{lines:?}");
}

/// Another client of the same server, which has nothing to send.
fn that_dials() -> World {
    let mut w = World::new();
    w.client = [10, 9, 0, 77];
    w.name_pair(0xd100_0000, 0xa100_0000);
    w.download = false;
    w
}

/// ```text
/// client 1 ◀═══▶ gateway  a download all the while
/// client 2 ────▶ gateway  IKE_SA_INIT, and its answer; no IKE_AUTH comes, and a few seconds later the client begins again
/// ```
#[test]
fn a_client_that_goes_no_further_than_the_first_answer() {
    let beside_another = |tries: u32, succeeds: bool| {
        move |first: &mut World| {
            let mut second = that_dials();
            for _ in 0..tries {
                second.wait(5_000);
                second.sa_init_v2();
            }
            if succeeds {
                second.authenticate_v2(1, 20);
                second.ping();
            }
            first.steady(20_000);
            first.beside(second);
        }
    };
    for lines in [
        with_keys(beside_another(3, true)),
        without_keys(beside_another(3, true)),
    ] {
        assert!(
            lines
                .headline
                .ends_with("went no further than IKE_SA_INIT 2 times."),
            "{lines:?}"
        );
        assert!(lines.why.contains("at 15.04 s succeeded"), "{lines:?}");
    }
    // A stranger who looks for gateways leaves as much, and a single try may have been one of two that raced.
    for (tries, succeeds) in [(3, false), (2, true)] {
        let line = with_keys(beside_another(tries, succeeds)).headline;
        assert!(!line.contains("IKE_SA_INIT"), "{line}");
    }
    // A client that asks again and again does not hear the answers.
    let unheard = |copies: usize| {
        with_keys(move |first| {
            let mut second = that_dials();
            second.sa_init_v2();
            second.authenticate_unheard_v2(copies, 2_000);
            first.steady(20_000);
            first.beside(second);
        })
    };
    let lines = unheard(3);
    assert!(
        lines.headline.contains("did not hear the answer to IKE_AUTH"),
        "{lines:?}"
    );
    let lines = unheard(2);
    assert!(!lines.headline.contains("IKE_AUTH"), "{lines:?}");
    // Nobody has a tunnel: there is nothing else to tell.
    let line = with_keys(|w| {
        w.download = false;
        for _ in 0..2 {
            w.sa_init_v2();
            w.wait(5_000);
        }
    });
    assert!(line.headline.contains("no further than IKE_SA_INIT"), "{line:?}");
}

/// ```text
/// client :40001 ────▶ gateway  ESP: a NAT gives it another port than IKE
/// client :40777 ◀──── gateway  ESP, to the port that IKE has
/// ```
#[test]
fn esp_that_comes_from_another_port_than_ike() {
    let asks = |ports: [u16; 2]| {
        move |w: &mut World| {
            w.download = false;
            w.nat_port = Some(40_777);
            w.sa_init_v2();
            w.authenticate_v2(1, 20);
            for number in 0..20 {
                w.nat_port = Some(ports[0]);
                w.lcp(true, 9);
                w.nat_port = Some(ports[1]);
                w.lcp(false, 10);
                w.wait(500);
                w.nat_port = Some(40_777);
                if number % 10 == 0 {
                    w.check_v2(true);
                }
            }
        }
    };
    for lines in [
        with_keys(asks([40_001, 40_777])),
        without_keys(asks([40_001, 40_777])),
    ] {
        assert!(
            lines.headline.contains("sends to port 40777; ESP of "),
            "{lines:?}"
        );
        assert!(lines.headline.ends_with("comes from port 40001."), "{lines:?}");
        assert!(lines.change.contains("one port"), "{lines:?}");
    }
    let line = with_keys(asks([40_777, 40_777])).headline;
    assert!(!line.contains("port"), "{line}");
}

/// ```text
/// client ◀═══▶ gateway  SAs, L2TP and LCP come up
/// client ────▶ gateway  name and password
/// client ◀──── gateway  CHAP Failure or PAP Nak, and Terminate-Request: the client dials again
/// ```
#[test]
fn a_login_that_is_refused_is_no_fault_of_ipsec() {
    const PAP: u16 = 0xc023;
    const CHAP: u16 = 0xc223;
    let dials = |answers: &'static [(u16, u8)]| {
        move |w: &mut World| {
            w.download = false;
            w.main_mode();
            w.establish(GENEROUS);
            for &(protocol, code) in answers {
                for (from_client, kind) in [
                    (true, 1),
                    (false, 2),
                    (true, 3),
                    (true, 10),
                    (false, 11),
                    (true, 12),
                ] {
                    w.l2tp_control(from_client, Some(kind));
                    w.wait(20);
                }
                for (from_client, code) in [(true, 1), (false, 2), (false, 1), (true, 2)] {
                    w.lcp(from_client, code);
                }
                w.ppp(true, protocol, if protocol == PAP { 1 } else { 2 });
                w.wait(300);
                w.ppp(false, protocol, code);
                let accepted = matches!((protocol, code), (PAP, 2) | (CHAP, 3));
                if accepted {
                    w.download = true;
                    w.steady(BEFORE);
                    w.acknowledge_all();
                    w.wait(40);
                }
                w.lcp(accepted, 5);
                w.lcp(!accepted, 6);
                w.l2tp_control(true, Some(14));
                w.l2tp_control(true, Some(4));
                w.wait(5_000);
            }
            w.delete(w.down.spi);
        }
    };
    let lines = with_keys(dials(&[(CHAP, 4), (CHAP, 4)]));
    let refused = "The gateway refused the user's login over PPP";
    assert_eq!(
        lines.headline,
        format!("{refused} 2 times, the last time at 5.93 s."),
        "{lines:?}"
    );
    assert!(lines.why.contains("with CHAP Failure"), "{lines:?}");
    let lines = with_keys(dials(&[(PAP, 3)]));
    assert!(lines.headline.starts_with(&format!("{refused} at ")), "{lines:?}");
    for answers in [&[(CHAP, 4), (CHAP, 3)][..], &[(PAP, 2)]] {
        let line = with_keys(dials(answers)).headline;
        assert!(!line.contains("refused"), "{line}");
    }
}

/// Fewer packets than a batch holds: what was inside is known before what went in clear is looked at.
#[test]
fn data_in_clear_comes_first() {
    let fails_open = |packets: usize| {
        move |w: &mut World| {
            w.steady(1_000);
            w.acknowledge_all();
            w.wait(40);
            w.delete_ike_sa_v2(false);
            w.wait(1_500);
            for _ in 0..packets {
                w.send_in_clear(false);
                w.wait(20);
            }
        }
    };
    let lines = with_keys(fails_open(30));
    assert!(
        lines
            .headline
            .starts_with("Data went in clear from 2.5 s on: 30 packets"),
        "{lines:?}"
    );
    assert!(lines.why.contains("after the Delete at 1.0 s"), "{lines:?}");
    let lines = with_keys(fails_open(2));
    assert!(!lines.headline.contains("clear"), "{lines:?}");
}

#[test]
fn esp_of_one_side_alone_beside_ike_of_both() {
    let asks = |ike: bool| {
        move |w: &mut World| {
            for _ in 0..10 {
                w.lcp(true, 9);
                w.wait(500);
                if ike {
                    w.check_v2(true);
                }
            }
        }
    };
    let lines = without_keys(asks(true));
    assert!(lines.headline.starts_with("No ESP came from "), "{lines:?}");
    assert!(lines.headline.contains("10 packets"), "{lines:?}");
    assert!(lines.why.contains("a filter lets IKE pass alone"), "{lines:?}");
    let lines = without_keys(|w| {
        w.nat_port = Some(4_500);
        asks(true)(w);
    });
    assert!(lines.why.contains("through the same UDP ports"), "{lines:?}");
    let lines = without_keys(asks(false));
    assert!(lines.why.contains("what came back is not seen"), "{lines:?}");
    // The client's half of a Quick Mode is no answer.
    let lines = without_keys(|w| {
        let mut qm = w.begin(true);
        for number in 0..3 {
            w.blind = number == 1;
            w.message(&mut qm);
            w.wait(20);
        }
        w.switch_up(&qm);
        asks(false)(w);
    });
    assert!(lines.why.contains("what came back is not seen"), "{lines:?}");
}

/// ```text
/// client ──▶ server          requests, in one tunnel
///        ◀── its other line  answers, in a second one; checks pass both ways in both
/// ```
#[test]
fn two_tunnels_that_carry_a_direction_each() {
    const LINES: [[u8; 4]; 2] = [[10, 9, 0, 1], [10, 9, 1, 1]];
    let through_both = |talk: fn(&mut World)| {
        move |w: &mut World| {
            let ike_sas = [1, 2].map(|number| {
                w.begin_ike_sa(number);
                w.cookie
            });
            for _ in 0..10 {
                for (line, cookie) in LINES.into_iter().zip(ike_sas) {
                    (w.server, w.answers_from, w.cookie) = (line, line, cookie);
                    w.check_v2(true);
                }
                w.server = LINES[0];
                talk(w);
            }
        }
    };
    let download: fn(&mut World) = |w| w.steady(500);
    let lines = with_keys(through_both(download));
    assert!(
        lines.headline.contains(" answered through the tunnel of 10.9."),
        "{lines:?}"
    );
    assert!(lines.why.contains("between the same hosts"), "{lines:?}");
    let lines = without_keys(through_both(download));
    assert!(
        lines
            .headline
            .contains(" probably answered through the tunnel of "),
        "{lines:?}"
    );
    // A call from another host is no answer.
    let lines = with_keys(through_both(|w| {
        w.ping_server(false);
        w.hear([10, 66, 0, 9]);
        w.wait(500);
    }));
    assert!(lines.headline.contains("No ESP came from "), "{lines:?}");
}

/// ```text
/// client ◀══▶ server  a few pings of the client; nothing for 10 s
///        ◀── pings of the server, unanswered for 9 s
/// client ──▶          the client speaks, and all are answered again
/// ```
#[test]
fn an_idle_client_that_is_not_reached_until_it_speaks() {
    let forgotten = |answered: bool, spoke_before: bool| {
        move |w: &mut World| {
            for _ in 0..if spoke_before { 3 } else { 0 } {
                w.ping();
                w.wait(500);
            }
            w.wait(10_000);
            for _ in 0..9 {
                w.ping_client(answered);
                w.wait(1_000);
            }
            w.ping();
            for _ in 0..5 {
                w.wait(1_000);
                w.ping_client(true);
            }
        }
    };
    for line in [
        with_keys(forgotten(false, true)),
        without_keys(forgotten(false, true)),
    ] {
        assert!(line.headline.contains("fell silent at 11.5"), "{line:?}");
    }
    for line in [
        with_keys(forgotten(true, true)),
        without_keys(forgotten(true, true)),
    ] {
        assert!(!line.headline.contains("silent"), "{line:?}");
    }
    // A host that was never heard may not be there yet.
    let line = with_keys(forgotten(false, false)).headline;
    assert!(!line.contains("silent"), "{line}");
}

/// ```text
/// client ◀══▶ server  a few pings of the client; nothing for 25 s
///        ◀── pings of the server, unanswered for 9 s
/// client ──▶          the client speaks from the port that it had, and all are answered again
/// ```
/// A NAT may have forgotten the port. One that keepalives renew has not, and none forgets it in 10 s.
#[test]
fn a_mapping_that_ends_while_nothing_passes() {
    let answer = |rest: u64, keepalives: bool| {
        let lines = with_keys(move |w| {
            w.nat_port = Some(40_500);
            for _ in 0..3 {
                w.ping();
                w.wait(500);
            }
            if keepalives {
                w.capture(ipv4(
                    [10, 9, 0, 2],
                    [10, 9, 0, 1],
                    17,
                    &udp(40_500, 4500, &[0xff]),
                ));
            }
            w.wait(rest);
            for _ in 0..9 {
                w.ping_client(false);
                w.wait(1_000);
            }
            w.ping();
            for _ in 0..5 {
                w.wait(1_000);
                w.ping_client(true);
            }
        });
        let told = ["no longer reached", "fell silent"].map(|words| lines.headline.contains(words));
        (told, lines.why.contains("a NAT had probably forgotten its port"))
    };
    assert_eq!(answer(25_000, false), ([true, false], true));
    assert_eq!(answer(25_000, true), ([false, true], false));
    assert_eq!(answer(10_000, false), ([false, true], false));
}

/// The same without UDP: a filter or a load balancer forgets ESP while nothing passes. IKE, which it knows apart, is answered all the time.
#[test]
fn esp_that_does_not_come_back_after_a_rest() {
    let answer = |rest: u64| {
        with_keys(move |w| {
            for _ in 0..3 {
                w.ping_client(true);
                w.wait(500);
            }
            w.check_v2(true);
            w.wait(rest);
            for _ in 0..9 {
                w.ping_client(false);
                w.check_v2(true);
                w.wait(1_000);
            }
            w.ping();
            for _ in 0..5 {
                w.wait(1_000);
                w.ping_client(true);
            }
        })
    };
    let [after_rest, at_once] = [25_000, 2_000].map(answer);
    assert!(
        after_rest.why.contains("Nobody had sent any for 2"),
        "{after_rest:?}"
    );
    assert!(after_rest.change.contains("UDP encapsulation"), "{after_rest:?}");
    assert!(at_once.headline.starts_with("ESP of the client"), "{at_once:?}");
    assert!(!at_once.why.contains("Nobody had sent"), "{at_once:?}");
}

/// ```text
/// client ──▶ server  a renewal; meanwhile data stops, and comes back on the old SA; then it stops again until the answer comes
/// ```
/// The old SA stood when its data stopped the first time, so that other packets were lost with the requests.
#[test]
fn requests_that_are_lost_with_data() {
    let answer = |data_too: bool| {
        with_keys(move |w| {
            w.steady(BEFORE);
            let mut qm = w.begin(true);
            w.message(&mut qm);
            w.steady(500);
            if data_too {
                w.go_deaf(5);
                w.repeat_oldest(&[1_000, 2_000, 4_000]);
                w.repeat(&qm, 0);
                resend_lost(w, 5);
                w.steady(500);
            }
            w.go_deaf(5);
            for wait in [1_000, 2_000, 4_000, 8_000] {
                w.repeat_oldest(&[wait]);
                w.repeat(&qm, 0);
            }
            for _ in 0..2 {
                w.message(&mut qm);
                w.wait(20);
            }
            w.switch_up(&qm);
            w.switch_down(&qm);
            resend_lost(w, 5);
            w.steady(AFTER);
        })
    };
    let [both, alone] = [true, false].map(answer);
    for lines in [&both, &alone] {
        assert!(
            lines.headline.starts_with("The renewal got no answer for "),
            "{lines:?}"
        );
    }
    assert!(
        both.why.contains("lost other packets with these requests"),
        "{both:?}"
    );
    assert!(both.change.contains("priority"), "{both:?}");
    assert!(!alone.why.contains("other packets"), "{alone:?}");
}

/// ```text
/// client ◀── server  pings, answered for 5 s; StopCCN; pings in vain
///        ◀──         pings of another address inside, all answered
/// ```
/// Who dials again may get another address, with which the outage ends; without a new session it is another host.
#[test]
fn a_client_that_comes_back_under_another_address_inside() {
    let answer = |session_ends: bool| {
        with_keys(move |w| {
            let ping = |w: &mut World, answered| {
                w.ping_client(answered);
                w.wait(1_000);
            };
            (0..5).for_each(|_| ping(w, true));
            if session_ends {
                w.l2tp_control(false, Some(4));
            }
            (0..10).for_each(|_| ping(w, false));
            w.inner_client = [10, 66, 0, 3];
            (0..10).for_each(|_| ping(w, true));
        })
    };
    let [redialled, other_host] = [true, false].map(answer);
    assert!(
        redialled.headline.starts_with("10.9.0.1 ended the L2TP session"),
        "{redialled:?}"
    );
    assert!(redialled.headline.contains("passed for 11.0 s"), "{redialled:?}");
    assert!(other_host.headline.contains("since"), "{other_host:?}");
}

/// ```text
/// client ──▶ server  Quick Mode, whose third message is lost behind this capture; pings on the new SA
///        ◀──         its second message again, and no ESP until the next Quick Mode
/// ```
/// Where it is not repeated, the server may have dropped its SA.
#[test]
fn a_third_message_that_its_initiator_takes_for_delivered() {
    let answer = |repeated: bool| {
        with_keys(move |w| {
            let ping = |w: &mut World, answered| {
                w.ping_server(answered);
                w.wait(1_000);
            };
            (0..5).for_each(|_| ping(w, true));
            let mut qm = w.begin(true);
            exchange(w, &mut qm);
            w.switch_up(&qm);
            for _ in 0..3 {
                (0..10).for_each(|_| ping(w, false));
                if repeated {
                    w.repeat(&qm, 1);
                }
            }
            let mut next = w.begin(true);
            exchange(w, &mut next);
            w.switch_up(&next);
            w.switch_down(&next);
            (0..5).for_each(|_| ping(w, true));
        })
    };
    let [lost, dropped] = [true, false].map(answer);
    assert!(lost.headline.contains("message of the renewal"), "{lost:?}");
    assert!(
        lost.why.contains("the third message of the Quick Mode"),
        "{lost:?}"
    );
    assert!(!dropped.why.contains("third message"), "{dropped:?}");
}

/// A side that asks for a login in vain, and deletes its SAs, though data of the other side comes; asked once, it is not known why.
#[test]
fn a_login_that_nobody_answers() {
    let answer = |times: usize| {
        with_keys(move |w| {
            w.establish(GENEROUS);
            w.steady(BEFORE);
            w.ask_for_login(times, 2_000);
            w.go_deaf(100);
            w.delete(w.down.spi);
            w.download = false;
            w.wait(4_000);
            w.main_mode();
            w.download = true;
            w.establish(GENEROUS);
            resend_lost(w, 100);
            w.steady(AFTER);
        })
    };
    let [again_and_again, once] = [4, 1].map(answer);
    assert!(
        again_and_again
            .headline
            .contains("ended the tunnel for want of a login"),
        "{again_and_again:?}"
    );
    assert!(
        again_and_again
            .why
            .contains("asked 4 times in a Transaction exchange"),
        "{again_and_again:?}"
    );
    assert!(!once.headline.contains("login"), "{once:?}");
}

/// ```text
/// client ──▶ server  pings from the first packet on, which nobody answers; then, in new SAs or in the same ones, all are answered
/// ```
/// A host that answers nothing at first may not have been there yet; new SAs show that it was the tunnel.
#[test]
fn a_tunnel_that_was_dead_before_the_capture() {
    let revived = |by_new_sas: bool| {
        with_keys(move |w| {
            w.download = false;
            // The SAs had carried packets before.
            (w.up.sequence, w.down.sequence) = (5_000, 5_000);
            for _ in 0..9 {
                w.ping_server(false);
                w.wait(1_000);
            }
            if by_new_sas {
                w.renew_v2(true);
            }
            for _ in 0..9 {
                w.ping_server(true);
                w.wait(1_000);
            }
        })
    };
    let lines = revived(true);
    assert!(
        lines
            .headline
            .contains(" before this capture: nothing passed for 9.0"),
        "{lines:?}"
    );
    let lines = revived(false);
    assert!(!lines.headline.contains("nothing passed"), "{lines:?}");
}

/// The server's host asks for itself, and its answers never come: it is there.
#[test]
fn a_host_that_asks_and_does_not_answer() {
    let asked = |asks: bool| {
        with_keys(move |w| {
            w.download = false;
            for _ in 0..20 {
                w.ping_server(false);
                w.wait(500);
                if asks {
                    w.ping_client(true);
                }
                w.wait(500);
            }
        })
    };
    let lines = asked(true);
    let line = "Pings have got no reply since 1.";
    assert!(lines.headline.starts_with(line), "{lines:?}");
    let lines = asked(false);
    assert!(!lines.headline.contains("no reply"), "{lines:?}");
}

/// The client's IKE passes and none of its ESP does, from the first packet of the capture on; then it sends on a new SA, or on the one that it has.
#[test]
fn a_side_without_esp_before_the_capture() {
    let revived = |by_new_sa: bool| {
        with_keys(move |w| {
            w.download = false;
            (w.up.sequence, w.down.sequence) = (5_000, 5_000);
            for second in 0..12 {
                w.ping_client(false);
                w.wait(1_000);
                if second % 4 == 3 {
                    w.check_v2(true);
                }
            }
            if by_new_sa {
                let rekey = w.agree_v2(false, 30);
                w.switch_up_v2(&rekey);
            }
            for _ in 0..9 {
                w.ping_client(true);
                w.wait(1_000);
            }
        })
    };
    let lines = revived(true);
    assert!(
        lines
            .headline
            .starts_with("ESP of the client stopped coming before this capture:"),
        "{lines:?}"
    );
    let lines = revived(false);
    assert!(!lines.headline.contains("nothing passed"), "{lines:?}");
}

#[test]
fn a_peer_that_answers_no_check_to_the_end() {
    let checked = |to_the_end: bool| {
        move |w: &mut World| {
            for _ in 0..3 {
                w.ping();
                w.wait(500);
            }
            w.check_in_vain_v2(4, 4_000, World::wait);
            if !to_the_end {
                w.check_v2(true);
                w.ping();
            }
        }
    };
    for line in [with_keys(checked(true)), without_keys(checked(true))] {
        assert!(line.headline.contains("fell silent at 1.00 s"), "{line:?}");
    }
    let line = with_keys(checked(false)).headline;
    assert!(!line.contains("silent"), "{line}");
}

/// ```text
///        ◀═ data; both sides silent for 6 s
/// client ◀══▶ server  a renewal; data goes on
/// ```
#[test]
fn without_keys_a_standstill_is_an_outage_or_a_rest() {
    let lines = without_keys(|w| {
        w.establish(GENEROUS);
        w.steady(BEFORE);
        w.acknowledge_all();
        w.wait(6_000);
        rekey_in_silence(w);
        w.steady(AFTER);
    });
    assert!(
        lines.headline.starts_with("This download stood still for 6.0"),
        "{lines:?}"
    );
    assert!(lines.why.contains("an outage or a pause"), "{lines:?}");
    let lines = without_keys(|w| {
        w.establish(GENEROUS);
        w.steady(BEFORE);
        w.acknowledge_all();
        w.wait(8_000);
        w.check_v2(true);
    });
    assert!(lines.why.contains("It stopped at 12.0"), "{lines:?}");
    assert!(lines.change.contains("give the keys"), "{lines:?}");
    // The sender says a word later: the way was open, so that the transfer was over.
    let lines = without_keys(|w| {
        w.establish(GENEROUS);
        w.steady(BEFORE);
        w.acknowledge_all();
        w.wait(3_000);
        w.l2tp_control(false, Some(6));
        w.wait(5_000);
        w.check_v2(true);
    });
    assert!(!lines.why.contains("It stopped"), "{lines:?}");
}

#[test]
fn first_packets_that_never_come_are_said_where_they_cost_nothing() {
    let lines = with_keys(|w| {
        w.steady(BEFORE);
        for _ in 0..3 {
            w.renew_v2(true);
            w.down.sequence = 12;
            w.steady(AFTER);
        }
    });
    assert!(lines.headline.starts_with("None of 3 rekeys"), "{lines:?}");
    assert!(
        lines.why.contains("The first 12 packets of a new SA never came"),
        "{lines:?}"
    );
    assert!(lines.change.contains("offload"), "{lines:?}");
}

/// Another client of the same gateway, with its own addresses, SPIs and IKE SA.
fn another(client: u8) -> World {
    let mut w = World::new();
    w.client = [10, 9, 0, client];
    w.inner_client = [10, 66, 0, client];
    w.name_pair(0xd700_0000 + u32::from(client), 0xa700_0000 + u32::from(client));
    w.begin_ike_sa(client);
    w
}

fn dies_and_heals(w: &mut World) {
    w.steady(BEFORE);
    w.go_deaf(100);
    w.repeat_oldest(&[200, 400, 800, 1_600]);
    super::steps::resend_lost(w, 100);
    w.steady(AFTER);
}

#[test]
fn what_all_tunnels_suffer_is_of_what_they_share() {
    let both = |second_dies: bool| {
        let mut first = played(dies_and_heals);
        let mut second = another(77);
        if second_dies {
            dies_and_heals(&mut second);
        } else {
            second.steady(2 * BEFORE);
        }
        first.beside(second);
        answer_lines(&analyze_world(first, true))
    };
    let lines = both(true);
    assert!(
        lines.headline.starts_with("All 2 tunnels stopped at "),
        "{lines:?}"
    );
    assert!(lines.why.contains("10.9.0.1"), "{lines:?}");
    let lines = both(false);
    assert!(lines.headline.starts_with("10.9.0.2: "), "{lines:?}");
    let dies = |w: &mut World| {
        w.steady(BEFORE);
        w.go_deaf(100);
        w.repeat_oldest(&[200, 400, 800, 1_600]);
    };
    let (mut first, mut second) = (played(dies), another(77));
    dies(&mut second);
    first.beside(second);
    let line = answer_lines(&analyze_world(first, true)).headline;
    assert!(line.contains("nothing since (3."), "{line}");
}

/// ```text
/// client ◀══▶ server  data; the client is gone for 12 s
/// client at another address ◀══▶ server  a new IKE SA; data for the same inner address
/// ```
/// The server may answer the first requests from there, or a later one alone.
#[test]
fn a_client_that_comes_back_from_another_address_was_the_same() {
    let comes_back = |inner: [u8; 4], in_vain: usize| {
        let mut first = World::new();
        first.check_v2(true);
        first.steady(BEFORE);
        first.go_deaf(100);
        first.repeat_oldest(&[200, 400, 800, 1_600]);
        let mut second = another(78);
        second.inner_client = inner;
        second.wait(BEFORE + 6_000);
        second.main_mode_in_vain(in_vain, 2_000);
        second.wait(6_000 - 2_000 * in_vain as u64);
        second.main_mode();
        second.steady(AFTER);
        first.beside(second);
        answer_lines(&analyze_world(first, true))
    };
    let lines = comes_back([10, 66, 0, 2], 0);
    assert!(
        lines.headline.contains("The address of the client changed at")
            && lines.headline.contains("nothing passed for 12."),
        "{lines:?}"
    );
    let lines = comes_back([10, 66, 0, 2], 3);
    assert!(
        lines
            .headline
            .contains("The gateway did not let the client back in: nothing passed for 12."),
        "{lines:?}"
    );
    assert!(lines.why.contains("asked for a tunnel 3 times"), "{lines:?}");
    for in_vain in [0, 3] {
        let lines = comes_back([10, 66, 0, 78], in_vain);
        assert!(
            lines.headline.contains("fell silent") && lines.headline.contains("nothing since"),
            "{lines:?}"
        );
        assert!(!lines.why.contains("maybe the same client"), "{lines:?}");
    }
}

/// ```text
/// client ◀══▶ server  data; the PPPoE session of the client's line is ended, nothing for 12 s
/// client at another address ◀══▶ server  a new IKE SA; data for the same inner address
/// ```
/// An end of a session before the data has nothing to do with it. Without keys it shows that the client is the same, as it does that the server has no
/// other one.
#[test]
fn a_line_that_its_provider_ends_comes_back_with_another_address() {
    const CHANGED: &str = "The address of the client changed at";
    const ENDED: &str = "The PPPoE session of the client was ended at 12.0";
    for (at_the_end, with_keys, alone, line) in [
        (true, true, true, ENDED),
        (false, true, true, CHANGED),
        (true, false, true, ENDED),
        (
            false,
            false,
            true,
            "The address of the client probably changed at",
        ),
        (false, false, false, "Both sides fell silent at 12.0"),
    ] {
        let mut first = World::new();
        first.check_v2(true);
        if !at_the_end {
            first.end_pppoe();
        }
        first.steady(BEFORE);
        if at_the_end {
            first.end_pppoe();
        }
        first.go_deaf(100);
        first.repeat_oldest(&[200, 400, 800, 1_600]);
        let mut second = another(78);
        second.inner_client = first.inner_client;
        second.wait(BEFORE + 12_000);
        second.main_mode();
        second.steady(AFTER);
        first.beside(second);
        if !alone {
            let mut third = another(79);
            third.wait(BEFORE);
            third.steady(BEFORE);
            first.beside(third);
        }
        let lines = answer_lines(&match with_keys {
            true => analyze_world(first, true),
            false => analyzed_without_keys(first),
        });
        assert!(lines.headline.contains(line), "{lines:?}");
        assert_eq!(
            lines.headline.contains("nothing passed for 12."),
            alone,
            "{lines:?}"
        );
        assert_eq!(lines.change.contains("ask the provider"), at_the_end, "{lines:?}");
    }
}

/// ```text
/// client ◀══▶ server  data; the server deletes the IKE SA
/// client ◀══▶ another server  data from then on, or all the time
/// ```
/// Another client that begins just then shows nothing of the first one's data.
#[test]
fn a_tunnel_without_keys_is_replaced_by_one_that_carries_more_from_then_on() {
    const OTHER: [u8; 4] = [10, 9, 0, 9];
    for (takes_over, client, server) in [(true, 2, OTHER), (true, 3, [10, 9, 0, 1]), (false, 2, OTHER)] {
        let mut first = World::new();
        first.steady(BEFORE);
        first.check_v2(true);
        first.steady(BEFORE);
        first.delete_ike_sa_v2(false);
        let mut second = another(client);
        (second.server, second.answers_from) = (server, server);
        second.check_v2(true);
        let before = first.now + 1_000_000_000 - second.now;
        match takes_over {
            true => second.step(before),
            false => second.steady(before / 1_000_000),
        }
        second.steady(AFTER);
        first.beside(second);
        let lines = answer_lines(&analyzed_without_keys(first));
        let takes_over = takes_over && client == 2;
        assert!(lines.headline.contains("at 24.0"), "{lines:?}");
        assert_eq!(lines.headline.contains("nothing since"), !takes_over, "{lines:?}");
        assert_eq!(
            lines.why.contains("probably went on there"),
            takes_over,
            "{lines:?}"
        );
    }
}

/// The capture is at the receiver of an upload. Its large packets do not come, and pings do.
#[test]
fn large_packets_that_do_not_come_are_missed_between_small_ones() {
    let cliff = |tries: bool| {
        move |w: &mut World| {
            w.download = false;
            w.upload = true;
            w.steady(BEFORE);
            w.blind = true;
            w.steady(40);
            w.blind = false;
            for _ in 0..12 {
                w.wait(350);
                if tries {
                    w.blind = true;
                    w.upload_segment();
                    w.blind = false;
                }
                w.ping();
            }
        }
    };
    for lines in [with_keys(cliff(true)), without_keys(cliff(true))] {
        assert!(lines.headline.contains("arge packets"), "{lines:?}");
    }
    for lines in [with_keys(cliff(false)), without_keys(cliff(false))] {
        assert!(!lines.headline.contains("arge packets"), "{lines:?}");
    }
}

/// An upload is over, and a line that loses every third packet carries a call on.
#[test]
fn small_packets_of_a_poor_line_are_no_large_ones_that_stopped() {
    let call = |w: &mut World| {
        w.download = false;
        w.upload = true;
        w.steady(BEFORE);
        for n in 0..600 {
            w.wait(20);
            w.blind = n % 3 == 0;
            w.talk([10, 66, 0, 7]);
        }
        w.blind = false;
    };
    for lines in [with_keys(call), without_keys(call)] {
        assert!(!lines.headline.contains("arge packets"), "{lines:?}");
    }
}

/// The capture is at the receiver of datagrams that nobody answers.
#[test]
fn missing_numbers_show_an_outage_of_datagrams() {
    let silent = |lost: bool| {
        move |w: &mut World| {
            w.datagrams(3_000);
            w.blind = lost;
            if lost {
                w.datagrams(3_000);
            } else {
                w.wait(3_000);
            }
            w.blind = false;
            w.datagrams(3_000);
        }
    };
    for lines in [with_keys(silent(true)), without_keys(silent(true))] {
        assert!(lines.headline.contains("nothing passed for 3.00 s"), "{lines:?}");
    }
    for lines in [with_keys(silent(false)), without_keys(silent(false))] {
        assert!(!lines.headline.contains("nothing passed"), "{lines:?}");
    }
}

/// Fifteen numbers are missing behind a pause: they were lost in it, or a queue had let others pass before them.
#[test]
fn numbers_that_come_late_are_missing_no_more() {
    let paused = |late: bool| {
        with_keys(move |w: &mut World| {
            w.datagrams(3_000);
            let first = w.down.sequence;
            w.down.sequence += 15;
            w.wait(3_000);
            w.datagrams(20);
            if late {
                let newest = std::mem::replace(&mut w.down.sequence, first);
                w.datagrams(30);
                w.down.sequence = newest;
            }
            w.datagrams(3_000);
        })
    };
    let lost = paused(false);
    assert!(lost.headline.contains("nothing passed for 3.0"), "{lost:?}");
    let late = paused(true);
    assert!(!late.headline.contains("nothing passed"), "{late:?}");
}

/// Every fourth packet of a call never comes, or every fiftieth: so few are no fault of interest.
#[test]
fn many_packets_that_never_came_are_told() {
    let call = |of: u64| {
        with_keys(move |w: &mut World| {
            w.ack(1_000, 0xffff);
            for _ in 0..600 {
                w.datagrams(2 * (of - 1));
                w.blind = true;
                w.datagrams(2);
                w.blind = false;
            }
        })
    };
    let lossy = call(4);
    assert!(lossy.headline.starts_with("25 % of the packets of"), "{lossy:?}");
    let good = call(50);
    assert!(!good.headline.contains("never came"), "{good:?}");
}

/// A transfer in full swing is captured while the clock is set forward by 40 s: nothing is sent again, and no number is missing.
#[test]
fn a_clock_that_was_set_is_no_outage_without_keys() {
    let line = without_keys(|w| {
        w.steady(BEFORE);
        w.now += 40_000_000_000;
        for ack in w.drop_acks() {
            w.ack(ack.1, 0xffff);
        }
        w.steady(AFTER);
    })
    .headline;
    assert!(!line.contains("silent"), "{line}");
}

/// A sender repeats one segment by its timer; small packets pass between the copies, or only when the sender has given up.
#[test]
fn small_packets_behind_the_last_try_do_not_make_large_ones_lost() {
    let echo = |w: &mut World| {
        w.lcp(false, 9);
        w.wait(20);
        w.lcp(true, 10);
    };
    let died = |between: bool| {
        move |w: &mut World| {
            w.steady(BEFORE);
            w.go_deaf(1);
            w.repeat_oldest(&[200, 400, 800]);
            if between {
                for (waits, rest) in [([500, 300], 760), ([700, 900], 1_560)] {
                    for wait in waits {
                        w.wait(wait);
                        echo(w);
                    }
                    w.repeat_oldest(&[rest]);
                }
            } else {
                // The next copy would come after 6.4 s.
                w.repeat_oldest(&[1_600, 3_200]);
                w.wait(8_000);
                for _ in 0..6 {
                    echo(w);
                    w.wait(500);
                }
            }
        }
    };
    let line = without_keys(died(true)).headline;
    assert!(line.contains("arge packets"), "{line}");
    let line = without_keys(died(false)).headline;
    assert!(
        !line.contains("arge packets") && !line.contains("nothing since"),
        "{line}"
    );
}

/// The capture is at the receiver of an upload. Nothing comes for 4 s, then pings on the same SA, and the upload does not go on.
#[test]
fn an_outage_ends_when_packets_come_and_none_is_missing() {
    let lines = with_keys(|w| {
        w.download = false;
        w.upload = true;
        w.steady(BEFORE);
        w.up.sequence += 40;
        w.wait(4_000);
        for _ in 0..8 {
            w.ping();
            w.wait(500);
        }
    });
    assert!(lines.headline.contains("nothing passed for 4.0"), "{lines:?}");
}

/// The capture is at the receiver of an upload that stops with a full segment. A call goes on beside it, from both sides or towards the uploader only.
#[test]
fn a_transfer_that_stops_while_its_sa_goes_on_is_no_outage() {
    let stopped = |talk: fn(&mut World, [u8; 4])| {
        with_keys(move |w| {
            w.download = false;
            w.upload = true;
            w.steady(BEFORE);
            for _ in 0..500 {
                talk(w, [10, 66, 0, 7]);
                w.wait(20);
            }
        })
    };
    let open = stopped(World::talk);
    assert!(!open.headline.contains("othing"), "{open:?}");
    let silent = stopped(World::hear);
    assert!(silent.headline.contains("nothing"), "{silent:?}");
}

/// Nothing comes behind a full segment; its sender checks long after it would have tried again, if it had more.
#[test]
fn a_transfer_that_stops_before_its_sender_checks_is_no_outage() {
    let stopped = |checks: bool| {
        with_keys(move |w| {
            w.download = false;
            w.upload = true;
            w.steady(BEFORE);
            for _ in 0..400 {
                w.hear([10, 66, 0, 7]);
                w.wait(20);
            }
            if checks {
                w.check_v2(true);
            }
        })
    };
    let over = stopped(true);
    assert!(!over.headline.contains("othing"), "{over:?}");
    let silent = stopped(false);
    assert!(silent.headline.contains("nothing"), "{silent:?}");
}

/// The server asks by L2TP Hellos whether the client lives, and stops the control connection in the end: none was answered, or the last one was.
#[test]
fn hellos_that_nobody_answers_are_the_reason_of_a_stop() {
    let stopped = |answers: bool| {
        with_keys(move |w| {
            w.steady(BEFORE);
            for wait in [1_000, 2_000, 4_000] {
                w.l2tp_control(false, Some(6));
                w.steady(wait);
            }
            if answers {
                w.l2tp_control(true, None);
            }
            w.acknowledge_all();
            w.l2tp_control(false, Some(4));
            w.wait(20);
            w.l2tp_control(true, None);
            w.wait(2_000);
            w.steady(AFTER);
        })
    };
    let in_vain = stopped(false);
    assert!(
        in_vain.why.contains("none of 3 keepalives (L2TP Hello)"),
        "{in_vain:?}"
    );
    let heard = stopped(true);
    assert!(heard.headline.contains("ended the L2TP session"), "{heard:?}");
    assert!(!heard.why.contains("keepalive"), "{heard:?}");
}

/// ```text
/// client ◀═══  server  data; nothing of the server for 13 s, in which the client asks three times (LCP Echo-Request); data for 3 s
/// client ────▶ server  Terminate-Request and StopCCN, and 20 s later a new session in the same SAs
/// ```
#[test]
fn a_client_that_hangs_up_when_its_line_is_back() {
    let lines = with_keys(|w| {
        for _ in 0..5 {
            w.ping();
            w.steady(500);
        }
        w.acknowledge_all();
        for _ in 0..3 {
            w.lcp(true, 9);
            for _ in 0..8 {
                w.wait(500);
                w.ping_server(false);
            }
        }
        for _ in 0..5 {
            w.ping();
            w.steady(500);
        }
        w.acknowledge_all();
        w.lcp(true, 5);
        w.l2tp_control(true, Some(4));
        w.wait(20);
        w.l2tp_control(false, None);
        w.wait(20_000);
        w.l2tp_control(true, Some(1));
        w.steady(500);
        w.lcp(true, 9);
        w.lcp(false, 10);
        w.steady(AFTER);
    });
    assert!(lines.headline.contains("ended the L2TP session"), "{lines:?}");
    assert!(lines.why.contains("when nothing came from it"), "{lines:?}");
    assert!(lines.change.contains("dial again by itself"), "{lines:?}");
}

/// ```text
/// client ──▶ server  pings that nobody answers, while data flows; then a Delete of the SA, and phase 1 anew, twice
/// ```
#[test]
fn pings_from_end_to_end_in_vain_are_the_reason_of_a_delete() {
    let flaps = |dst: [u8; 4]| {
        with_keys(move |w| {
            w.establish(GENEROUS);
            for _ in 0..2 {
                for _ in 0..5 {
                    w.steady(1_000);
                    let src = if dst == w.server { w.client } else { w.inner_client };
                    w.ping_in_vain(src, dst);
                }
                w.steady(1_000);
                w.go_deaf(100);
                w.delete(w.down.spi);
                w.download = false;
                w.wait(1_500);
                w.main_mode();
                w.download = true;
                w.establish(GENEROUS);
                let next = w.expected;
                for lost in 0..100 {
                    w.resend(next + lost * w.segment_len as u32);
                }
                w.deliver();
                w.steady(AFTER);
            }
        })
    };
    let monitored = flaps(World::new().server);
    assert!(
        monitored.headline.contains("ended a working tunnel"),
        "{monitored:?}"
    );
    assert!(monitored.why.contains("10 from"), "{monitored:?}");
    let dead_host = flaps([10, 66, 0, 9]);
    assert!(!dead_host.headline.contains("working"), "{dead_host:?}");
    assert!(!dead_host.why.contains("ping"), "{dead_host:?}");
}

/// ```text
/// one client     its data flows all the time
/// another one ──▶ server  a whole Quick Mode, then a Delete at once, or later; three times, without a packet of ESP
/// ```
#[test]
fn tunnels_that_their_client_ends_at_once_did_not_come_up() {
    let dials = |stays_ms: u64| {
        with_keys(move |w| {
            let mut other = World::new();
            (other.client, other.nat_port) = ([198, 51, 100, 23], Some(40_001));
            other.name_pair(0xd700_0003, 0xa700_0003);
            (other.now, other.download) = (w.now, false);
            for number in 0..3 {
                other.begin_ike_sa(number);
                let mut qm = other.begin(true);
                for _ in 0..3 {
                    other.message(&mut qm);
                    other.wait(20);
                }
                other.wait(stays_ms);
                other.delete(qm.down);
                other.wait(5_000);
            }
            w.steady(20_000);
            w.beside(other);
        })
    };
    let ended = dials(300);
    let line = "198.51.100.23: The client ended each of its 3 tunnels at once";
    assert!(ended.headline.starts_with(line), "{ended:?}");
    assert!(ended.why.contains("10.9.0.1, a private address"), "{ended:?}");
    let stayed = dials(4_000);
    assert!(!stayed.headline.contains("ended each"), "{stayed:?}");
}

/// ```text
///        server ── Delete of the SA
///     after 150 ms: CREATE_CHILD_SA without REKEY_SA; the same hosts go on upon its SA
/// ```
#[test]
fn a_child_that_is_made_anew_in_place_of_one_that_ended_is_a_renewal() {
    let made = |deleted: bool| {
        move |w: &mut World| {
            w.steady(BEFORE);
            if deleted {
                let (up, down) = (w.up.spi, w.down.spi);
                w.delete_v2(false, up, down);
                w.lost_segment();
                w.lost_segment();
                w.lost_segment();
                w.wait(400);
            }
            let anew = w.make_v2(false);
            if deleted {
                w.switch_up_v2(&anew);
                w.switch_down_v2(&anew);
            }
            w.steady(AFTER);
        }
    };
    let rekeys = |deleted| analyze_world(played(made(deleted)), true).rekeys.len();
    assert_eq!((rekeys(true), rekeys(false)), (1, 0), "one beside it is none");
    let lines = with_keys(made(true));
    assert!(lines.why.contains("only after the Delete"), "{lines:?}");
}

/// ```text
/// client ──▶ server  CREATE_CHILD_SA, which crosses the server's Delete of the SA and is refused
/// client ──▶ server  after a while, CREATE_CHILD_SA without REKEY_SA; data goes on
/// ```
#[test]
fn a_renewal_that_crosses_a_delete_is_made_at_the_second_try() {
    let crossed = |deletes: bool| {
        move |w: &mut World| {
            w.steady(BEFORE);
            let mut asked = w.begin_v2(true);
            w.message_v2(&mut asked);
            if deletes {
                let (up, down) = (w.up.spi, w.down.spi);
                w.delete_v2(false, up, down);
            }
            w.refuse_v2(&mut asked, TEMPORARY_FAILURE);
            if deletes {
                for _ in 0..3 {
                    w.lost_segment();
                }
                w.wait(300);
            } else {
                w.steady(300);
            }
            let anew = w.make_v2(true);
            w.switch_up_v2(&anew);
            w.switch_down_v2(&anew);
            w.steady(AFTER);
        }
    };
    let lines = with_keys(crossed(true));
    assert!(lines.headline.starts_with("The only rekey stopped"), "{lines:?}");
    assert!(
        lines.why.contains("only after that") && lines.why.contains("crossed the Delete"),
        "{lines:?}"
    );
    assert!(!lines.change.contains("at no cost"), "{lines:?}");
    // The SA lives on until the second try.
    let lines = with_keys(crossed(false));
    assert!(!lines.headline.contains("stopped"), "{lines:?}");
}

/// The gateway deletes the IKE SA, and the client makes the next one: no renewal of the gateway's.
#[test]
fn an_ike_sa_that_one_side_deletes_and_the_other_makes_anew() {
    let made_anew = |by_client: bool| {
        with_keys(move |w: &mut World| {
            for number in 1..4 {
                w.steady(BEFORE);
                w.delete_ike_sa_v2(by_client);
                for _ in 0..3 {
                    w.lost_segment();
                }
                w.wait(2_000);
                w.begin_ike_sa(number);
                let anew = w.make_v2(true);
                w.switch_up_v2(&anew);
                w.switch_down_v2(&anew);
            }
            w.steady(AFTER);
        })
    };
    let by_gateway = made_anew(false);
    assert!(
        by_gateway.why.contains("the gateway deleted the IKE SA"),
        "{by_gateway:?}"
    );
    assert!(!by_gateway.change.contains("make_before_break"), "{by_gateway:?}");
    let by_client = made_anew(true);
    assert!(by_client.change.contains("make_before_break"), "{by_client:?}");
}

/// Five segments are on their way when the sender loses its place; nothing more is sent until the new one is checked.
#[test]
fn what_is_lost_by_a_move_is_an_outage_of_its_own() {
    let away = |moves: bool| {
        move |w: &mut World| {
            w.steady(BEFORE);
            w.renew_v2(true);
            w.steady(BEFORE);
            w.go_deaf(5);
            w.wait(5_000);
            if moves {
                w.client = [10, 9, 0, 22];
            }
            w.check_v2(true);
            w.wait(20);
            let (len, oldest) = (w.segment_len as u32, w.expected);
            for segment in 0..5 {
                w.resend(oldest + segment * len);
            }
            w.deliver();
            w.acknowledge_all();
            w.steady(AFTER);
        }
    };
    let line = with_keys(away(true)).headline;
    assert!(
        line.starts_with("The address of ") && line.contains("nothing passed for 5.0"),
        "{line}"
    );
    let line = with_keys(away(false)).headline;
    assert!(!line.contains("address"), "{line}");
}

/// The client acknowledges a download all the time; it uploads before and behind. No key tells its acknowledgements from anything else.
#[test]
fn a_side_whose_small_packets_pass_rests_without_keys() {
    let line = without_keys(|w| {
        w.upload = true;
        w.steady(1_000);
        w.upload = false;
        w.steady(6_000);
        w.renew_v2(true);
        w.upload = true;
        w.steady(AFTER);
    })
    .headline;
    assert!(
        !line.contains("stood still") && !line.contains("stopped this upload"),
        "{line}"
    );
}

/// ```text
///        ◀═ data, all acknowledged
/// client ◀══▶ server  a renewal within 60 ms; the sender goes on 1.6 s later
/// ```
#[test]
fn a_sender_that_goes_on_long_after_a_renewal_rested() {
    let paused = |pause: u64| {
        move |w: &mut World| {
            w.establish(GENEROUS);
            w.steady(BEFORE);
            w.acknowledge_all();
            rekey_in_silence(w);
            w.wait(pause);
            w.steady(AFTER);
        }
    };
    let line = with_keys(paused(1_600)).headline;
    assert!(line.starts_with("The only rekey measured did not slow"), "{line}");
    let line = with_keys(paused(60)).headline;
    assert!(line.starts_with("The only rekey stopped this download"), "{line}");
}

/// ```text
/// client ◀═ server  datagrams; none for 8 s; they come again with the new SA, or seconds after it
/// ```
#[test]
fn datagrams_that_come_again_with_a_renewal_had_stopped() {
    let stood = |after: u64| {
        move |w: &mut World| {
            w.establish(GENEROUS);
            w.datagrams(3_000);
            w.wait(8_000);
            rekey_in_silence(w);
            w.wait(after);
            w.datagrams(3_000);
        }
    };
    let lines = with_keys(stood(10));
    assert!(
        lines.headline.starts_with("This download stood still for 8."),
        "{lines:?}"
    );
    assert!(lines.headline.ends_with("until a renewal."), "{lines:?}");
    assert!(lines.why.contains("may also have paused"), "{lines:?}");
    let lines = with_keys(stood(4_000));
    assert!(!lines.headline.contains("stood still"), "{lines:?}");
}

/// ```text
/// client ◀═ server  datagrams of a call that ends before a renewal; the next one begins 4 s later
/// client ◀▶ server  an echo each 0.8 s all the time; or none
/// ```
#[test]
fn calls_between_which_echoes_pass_rest() {
    let called = |echoes: bool| {
        move |w: &mut World| {
            w.establish(GENEROUS);
            w.datagrams(6_000);
            w.wait(100);
            rekey_in_silence(w);
            for _ in 0..5 {
                w.wait(400);
                if echoes {
                    w.ping();
                }
                w.wait(400);
            }
            w.datagrams(6_000);
        }
    };
    let line = with_keys(called(true)).headline;
    assert!(!line.contains("stopped this download for"), "{line}");
    let line = with_keys(called(false)).headline;
    assert!(line.contains("stopped this download for"), "{line}");
}

/// ```text
/// client ◀═▶ server  datagrams both ways, until the client loses its address; the server goes on
/// client ══▶ server  from another address 440 ms later, on the SA of the renewal that follows
/// ```
#[test]
fn datagrams_that_stop_until_their_sender_has_moved_were_stopped_by_the_move() {
    let away = |moves: bool| {
        move |w: &mut World| {
            let renew = |w: &mut World| {
                let mut renewal = w.begin_v2(false);
                w.message_v2(&mut renewal);
                w.datagrams(20);
                w.message_v2(&mut renewal);
                w.switch_up_v2(&renewal);
                w.switch_down_v2(&renewal);
            };
            w.upload = true;
            w.datagrams(BEFORE);
            renew(w);
            w.datagrams(BEFORE);
            w.upload = false;
            w.datagrams(350);
            if moves {
                w.client = [10, 9, 0, 22];
            }
            w.check_v2(true);
            renew(w);
            w.datagrams(70);
            w.upload = true;
            w.datagrams(AFTER);
        }
    };
    for line in [with_keys(away(true)).headline, without_keys(away(true)).headline] {
        assert!(
            line.starts_with("The address of the client changed at")
                && line.ends_with("nothing passed for 0.44 s."),
            "{line}"
        );
    }
    let line = with_keys(away(false)).headline;
    assert!(!line.contains("address"), "{line}");
}

/// ```text
///   lan, voice
/// client ──▶ server  Delete of the IKE SA; a new one, with the child SA of lan
/// client ──▶ server  CREATE_CHILD_SA, which is refused; no voice any more
/// ```
#[test]
fn a_child_that_the_next_ike_sa_lacks_is_down() {
    let renewed = |until: u64| {
        let mut lan = World::new();
        lan.steady(BEFORE);
        lan.delete_ike_sa_v2(true);
        lan.begin_ike_sa(9);
        let anew = lan.make_v2(true);
        lan.switch_up_v2(&anew);
        lan.switch_down_v2(&anew);
        lan.steady(100);
        let mut other = lan.begin_v2(true);
        other.renews = None;
        lan.message_v2(&mut other);
        lan.steady(20);
        lan.refuse_v2(&mut other, TS_UNACCEPTABLE);
        lan.steady(AFTER);
        let mut voice = World::new();
        voice.inner_client = [10, 66, 1, 9];
        voice.name_pair(0xd100_0000, 0xa100_0000);
        voice.tick *= 10;
        voice.datagrams(until);
        lan.beside(voice);
        answer_lines(&analyze_world(lan, true)).headline
    };
    let line = renewed(BEFORE);
    assert!(
        line.contains("refused") && line.contains("10.66.1.9 down since 11.98 s (12.2 s)"),
        "{line}"
    );
    let line = renewed(BEFORE - 3_000);
    assert!(!line.contains("10.66.1.9"), "the call was over: {line}");
}

/// ```text
/// client ◀═ server  data; the client deletes the IKE SA, data still comes, and the capture ends
/// ```
#[test]
fn a_tunnel_that_is_closed_in_the_middle_of_a_transfer_when_the_capture_ends() {
    let closed = |over: bool| {
        move |w: &mut World| {
            w.steady(BEFORE);
            if over {
                w.acknowledge_all();
                w.wait(500);
            }
            w.delete_ike_sa_v2(true);
            for _ in 0..10 * u32::from(!over) {
                w.segment();
                w.step(w.tick);
            }
        }
    };
    let lines = with_keys(closed(false));
    assert!(
        lines
            .headline
            .ends_with("deleted the IKE SA at 12.00 s, and the capture ends there."),
        "{lines:?}"
    );
    assert!(lines.why.contains("on purpose"), "{lines:?}");
    let line = with_keys(closed(true)).headline;
    assert!(!line.contains("deleted"), "the transfer was over: {line}");
}

/// ```text
/// client ◀─ server  a datagram each 0.7 s; none for 7 s, until the first one after a renewal
/// ```
#[test]
fn a_few_datagrams_that_come_again_with_a_renewal_had_stopped() {
    let sparse = |before: u64| {
        move |w: &mut World| {
            w.establish(GENEROUS);
            w.upload = true;
            w.tick *= 350;
            w.datagrams(before);
            w.wait(7_000);
            rekey_in_silence(w);
            w.wait(400);
            w.datagrams(4_000);
        }
    };
    for lines in [with_keys(sparse(9_000)), without_keys(sparse(9_000))] {
        assert!(
            lines.headline.contains("load stood still for 8.16 s")
                && lines.headline.ends_with("until a renewal."),
            "{lines:?}"
        );
    }
    let line = with_keys(sparse(1_400)).headline;
    assert!(line.contains("too little data"), "two show no rate: {line}");
}

/// ```text
///          ✗ ◀═ server  one segment; two pass behind it
///          ✗ ◀─ server  its copies, each time that the timer ends; datagrams pass in between
/// client ◀───── server  the fourth copy
/// ```
#[test]
fn copies_that_are_lost_before_the_capture_are_missed_by_their_numbers() {
    let waits = |lost: bool| {
        move |w: &mut World| {
            w.steady(BEFORE);
            w.acknowledge_all();
            w.wait(40);
            let oldest = w.seq;
            if lost {
                w.seq += w.segment_len as u32;
                w.down.sequence += 1;
            }
            w.lost_segment();
            w.lost_segment();
            w.ack(oldest, 0xffff);
            if !lost {
                w.deliver();
                w.acknowledge_all();
                w.wait(40);
            }
            (w.upload, w.tick) = (true, 10 * w.tick);
            for wait in [200, 400, 800, 1_600] {
                w.datagrams(wait);
                w.down.sequence += 1;
            }
            (w.upload, w.tick) = (false, w.tick / 10);
            if lost {
                w.resend(oldest);
                w.deliver();
                w.acknowledge_all();
            }
            w.steady(AFTER);
        }
    };
    let lines = with_keys(waits(true));
    assert!(
        lines.headline.starts_with("Nothing was delivered from 12.0")
            && lines.headline.ends_with("packets of 10.9.0.1 were lost."),
        "{lines:?}"
    );
    assert!(lines.why.contains("numbers are missing 4 times"), "{lines:?}");
    let line = with_keys(waits(false)).headline;
    assert!(
        !line.contains("Nothing was delivered"),
        "nothing was lacking: {line}"
    );
}

/// The side that can cure an outage depends on who asked, on the version of IKE, and on what followed.
#[test]
fn a_cure_fits_what_happened() {
    for (name, part) in [
        ("data overtakes the third message", "or use IKEv2"),
        ("IKEv2, initiator not ready", "let the gateway begin the renewals"),
        ("IKEv2, new SA taken back", "let the gateway begin the renewals"),
        ("client moves, unnoticed", "use IKEv2 with MOBIKE"),
        (
            "given up beside its data",
            "at the client, let ESP count as a sign of life",
        ),
        ("IKEv2, check answered too late", "keep the line from filling"),
        (
            "IKEv2, dialled again through another port",
            "rekey instead of reauthenticating",
        ),
    ] {
        let lines = answer_lines(played_by_name(name));
        assert!(lines.change.contains(part), "{name}: {lines:?}");
    }
    let dialled = answer_lines(played_by_name("IKEv2, dialled again through another port"));
    assert!(
        dialled.why.contains("Answers of the gateway took 2."),
        "{dialled:?}"
    );
}

/// ```text
/// client ──▶ another host  pings that nobody answers, all the while
/// client ◀═══ server       data
/// ```
/// One packet may be lost, a host that answers once is there, and nobody answers a multicast.
#[test]
fn a_host_that_answers_nothing_beside_others_that_do() {
    let asks = |times: usize, host: [u8; 4], answers: bool| {
        move |w: &mut World| {
            for number in 0..20 {
                w.steady(1_000);
                if number < times {
                    w.ping_in_vain(w.inner_client, host);
                }
            }
            if answers {
                w.hear(host);
            }
            w.acknowledge_all();
        }
    };
    let silent = [10, 66, 0, 9];
    let lines = with_keys(asks(20, silent, false));
    assert_eq!(
        lines.headline,
        "10.66.0.9 answered nothing: 20 packets went to it through the tunnel."
    );
    for play in [
        asks(2, silent, false),
        asks(20, silent, true),
        asks(20, [239, 1, 1, 9], false),
    ] {
        let line = with_keys(play).headline;
        assert!(!line.contains("answered nothing"), "{line}");
    }
    let line = without_keys(asks(20, silent, false)).headline;
    assert!(!line.contains("answered nothing"), "{line}");
}

/// ```text
/// host 1 of the client ◀══▶ server  data, in the first pair of SAs
/// host 2 of the client ───▶ server  pings, in the first pair, too: in vain; the server sends to host 2 in the second pair, or in the first
/// ```
/// Whoever has one pair for both hosts drops nothing for its SA.
#[test]
fn data_in_the_sa_of_another_network() {
    let mixed_up = |apart: bool| {
        with_keys(move |w| {
            let hosts = [w.inner_client, [10, 66, 0, 3]];
            let mut second = World::new();
            second.name_pair(0xd100_0000, 0xa100_0000);
            second.inner_client = hosts[1];
            for _ in 0..20 {
                w.steady(500);
                w.inner_client = hosts[1];
                w.ping_server(false);
                w.wait(20);
                second.now = w.now;
                let server = if apart { &mut second } else { &mut *w };
                server.hear([10, 66, 0, 1]);
                w.inner_client = hosts[0];
            }
            second.now = w.now;
            for _ in 0..5 {
                second.ping();
                second.wait(500);
            }
            w.steady(3_000);
            w.beside(second);
        })
    };
    let lines = mixed_up(true);
    assert!(
        lines.headline.contains("sent in the SA of another network"),
        "{lines:?}"
    );
    assert!(lines.change.contains("reqid"), "{lines:?}");
    let line = mixed_up(false).headline;
    assert!(!line.contains("another network"), "{line}");
}

/// ```text
/// client ──▶ gateway  the first message of a Quick Mode
///        ◀── gateway  two Informationals at the same moment, or one; the client begins another IKE SA
/// ```
/// One of the two deletes the IKE SA; a refusal comes alone.
#[test]
fn a_peer_that_deletes_everything_refuses_nothing() {
    let is_refused = |messages: usize| {
        let analysis = analyzed_without_keys(played(|w| {
            w.main_mode();
            w.establish(GENEROUS);
            w.steady(BEFORE);
            let mut qm = w.begin(true);
            w.message(&mut qm);
            w.steady(500);
            for _ in 0..messages {
                // Without keys nothing shows what it says.
                w.refuse(&qm, 14, false);
            }
            w.wait(400);
            w.begin_ike_sa(7);
            w.wait(2_000);
            w.establish(GENEROUS);
            w.steady(AFTER);
        }));
        analysis
            .events
            .iter()
            .any(|event| event.kind == EventKind::Refused)
    };
    assert!(is_refused(1));
    assert!(!is_refused(2));
}
