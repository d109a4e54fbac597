//! Synthetic exchanges, written as diagrams: milliseconds, `>` from the initiator or `<` from the responder, length. The same
//! message again is a retransmission.

mod refused;

use super::*;
use crate::ike::timeline::{ErrorNotice, Exchange, IkeSa, MessageRecord};
use crate::rekey::evidence::Evidence;
use crate::rekey::pair;
use crate::sa::association::{Association, SaContext};
use rekeyscope_model::analysis::{AttemptOutcome, Direction, ExchangeKind, KeyStatus};
use rekeyscope_model::spi::{IkeSpi, Spi};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use std::net::{IpAddr, Ipv4Addr};

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

fn at(ms: i64) -> Timestamp {
    Timestamp(ms * NANOS_PER_MILLI)
}

/// Everything that a capture of one tunnel and one IKE SA of the client shows.
struct Story {
    version: u8,
    exchanges: Vec<Exchange>,
    associations: Vec<Association>,
    ends: i64,
    ike_deleted: Option<i64>,
}

impl Story {
    /// The server is heard in ESP until the given time on the first pair, and the client too.
    fn new(version: u8, esp_until: i64, ends: i64) -> Self {
        let mut story = Story {
            version,
            exchanges: Vec::new(),
            associations: Vec::new(),
            ends,
            ike_deleted: None,
        };
        let first = match version {
            1 => story.tell(ExchangeKind::QuickMode, CLIENT, "0 > 188, 20 < 188, 40 > 60"),
            _ => story.tell(ExchangeKind::IkeAuth, CLIENT, "0 > 288, 20 < 240"),
        };
        story.pair(first, 0x100, Some((100, esp_until)));
        story
    }

    fn tell(&mut self, kind: ExchangeKind, by: IpAddr, diagram: &str) -> usize {
        let peer = if by == CLIENT { SERVER } else { CLIENT };
        let mut exchange = Exchange {
            message_id: 0x1000 + self.exchanges.len() as u32,
            ..Exchange::between(by, peer, Some(0), kind)
        };
        for line in diagram.split(", ") {
            let words: Vec<&str> = line.split(' ').collect();
            let (src, len) = (if words[1] == ">" { by } else { peer }, words[2].parse().unwrap());
            let retransmission = exchange.records.iter().any(|r| (r.src, r.len) == (src, len));
            exchange.messages += 1;
            exchange.retransmissions += u64::from(retransmission);
            let ms: i64 = words[0].parse().unwrap();
            exchange.records.push(MessageRecord {
                retransmission,
                ..MessageRecord::of(ms as u64 + 1, at(ms), src, len)
            });
        }
        self.exchanges.push(exchange);
        self.exchanges.len() - 1
    }

    /// The SAs of an exchange that could be read; with packets between these times.
    fn pair(&mut self, exchange: usize, spi: u32, used: Option<(i64, i64)>) {
        self.exchanges[exchange].decrypted = true;
        for (direction, src, dst) in [
            (Direction::AToB, CLIENT, SERVER),
            (Direction::BToA, SERVER, CLIENT),
        ] {
            let spi = Spi(spi + u32::from(direction == Direction::BToA));
            let mut sa = Association::new(SaContext::made_up(direction, src, dst), spi);
            sa.exchange = Some(exchange);
            sa.first = used.map(|(from, _)| (at(from), 1));
            sa.last = used.map(|(_, to)| (at(to), 2));
            self.associations.push(sa);
        }
    }

    fn refuse(&mut self, exchange: usize, name: &'static str, message_id: Option<u32>) {
        let record = *self.exchanges[exchange].records.last().unwrap();
        self.exchanges[exchange].decrypted = true;
        self.exchanges[exchange].errors.push(ErrorNotice {
            name,
            by: record.src,
            frame: record.frame,
            time: record.time,
            message_id,
            spi: None,
        });
    }

    fn ike_sas(&self) -> [IkeSa; 1] {
        [IkeSa {
            initiator_spi: IkeSpi([1; 8]),
            responder_spi: None,
            version: self.version,
            initiator: CLIENT,
            responder: SERVER,
            key_status: KeyStatus::Verified,
            key_origin: None,
            first_time: at(0),
            last_time: at(self.ends),
            nat: false,
            initiator_is_windows: false,
            deleted: self.ike_deleted.map(at),
        }]
    }

    fn with<T>(&self, look: impl FnOnce(&Evidence<'_>, &[IkeSa]) -> T) -> T {
        let tunnels: Vec<Option<usize>> = self.exchanges.iter().map(|_| Some(0)).collect();
        let evidence = Evidence {
            tunnels: &[],
            exchanges: &self.exchanges,
            exchange_tunnels: &tunnels,
            associations: &self.associations,
            snapshots: &[],
        };
        look(&evidence, &self.ike_sas())
    }

    fn seen(&self) -> Vec<AttemptSeen> {
        let [found, _] =
            self.with(|evidence, _| attempts(evidence, &pair::child_sas(evidence), at(self.ends)));
        found
    }

    /// Outcome and reason of the attempt that an exchange is.
    fn of(&self, exchange: usize) -> Option<(AttemptOutcome, Option<&'static str>)> {
        let seen = self.seen();
        let own = seen.iter().find(|a| a.exchange == exchange)?;
        Some((own.outcome, own.reason))
    }

    /// The same of the attempt to make an IKE SA that an exchange is.
    fn of_ike(&self, exchange: usize) -> Option<(AttemptOutcome, Option<&'static str>)> {
        let [_, found] =
            self.with(|evidence, _| attempts(evidence, &pair::child_sas(evidence), at(self.ends)));
        let own = found.iter().find(|a| a.exchange == exchange)?;
        Some((own.outcome, own.reason))
    }

    /// The attempt that an exchange is.
    fn attempt(&self, exchange: usize) -> AttemptSeen {
        let mut seen = self.seen();
        let place = seen.iter().position(|a| a.exchange == exchange);
        seen.remove(place.unwrap())
    }
}

use AttemptOutcome::*;
use ExchangeKind::{CreateChildSa, IkeAuth, Informational, QuickMode};

#[test]
fn completed_used_or_not() {
    let mut story = Story::new(2, 9_000, 60_000);
    let used = story.tell(CreateChildSa, CLIENT, "5000 > 300, 5030 < 300");
    story.pair(used, 0x200, Some((5_040, 9_000)));
    let unused = story.tell(CreateChildSa, CLIENT, "9000 > 300, 9030 < 300");
    story.pair(unused, 0x300, None);
    assert_eq!(story.of(used), Some((Completed, None)));
    assert_eq!(story.of(unused), Some((CompletedUnused, None)));
}

/// An exchange may make several pairs.
#[test]
fn one_of_several_pairs_in_use_is_enough() {
    let mut story = Story::new(1, 9_000, 60_000);
    let asked = story.tell(QuickMode, CLIENT, "5000 > 300, 5030 < 300, 5060 > 60");
    story.pair(asked, 0x200, None);
    story.pair(asked, 0x300, Some((5_100, 9_000)));
    let own = story.attempt(asked);
    assert_eq!(own.outcome, Completed);
}

/// The frame number is a millisecond and one here.
#[test]
fn the_frames_of_an_attempt_are_its_messages_and_the_refusal() {
    let mut v2 = Story::new(2, 9_000, 60_000);
    let asked = v2.tell(CreateChildSa, CLIENT, "5000 > 480, 5030 < 80");
    v2.refuse(asked, "NO_PROPOSAL_CHOSEN", None);
    assert_eq!(v2.attempt(asked).frames, [5_001, 5_031]);
    let mut v1 = Story::new(1, 9_000, 60_000);
    let asked = v1.tell(QuickMode, CLIENT, "5000 > 300");
    let no = v1.tell(Informational, SERVER, "5030 > 76");
    v1.refuse(no, "NO-PROPOSAL-CHOSEN", None);
    let own = v1.attempt(asked);
    assert_eq!(own.frames, [5_001, 5_031]);
    assert_eq!(
        (own.first_time, own.last_time, own.answered),
        (at(5_000), at(5_030), Some(at(5_030)))
    );
}

/// The capture ends before the first request would have been due again; the client goes on with another one.
#[test]
fn a_new_request_shows_that_the_old_one_was_given_up() {
    let mut story = Story::new(1, 5_000, 12_000);
    let asked = story.tell(QuickMode, CLIENT, "5000 > 300");
    story.tell(Informational, SERVER, "5030 > 76");
    assert_eq!(story.of(asked), Some((Cut, None)));
    story.tell(QuickMode, CLIENT, "6000 > 300");
    assert_eq!(story.of(asked), Some((Refused, None)));
}

/// The server answered within 40 ms before, and says something unasked as soon.
#[test]
fn a_refusal_comes_as_soon_as_an_answer_though_the_capture_ends() {
    for (diagram, asked_before, expected) in [
        ("5030 > 76", false, Refused),
        ("5050 > 76", false, Cut),
        ("5030 > 76", true, Cut),
    ] {
        let mut story = Story::new(1, 5_000, 12_000);
        story.tell(QuickMode, CLIENT, "1000 > 300, 1040 < 300, 1080 > 60");
        if asked_before {
            story.tell(Informational, CLIENT, "4000 > 76");
        }
        let asked = story.tell(QuickMode, CLIENT, "5000 > 300");
        story.tell(Informational, SERVER, diagram);
        assert_eq!(story.attempt(asked).outcome, expected, "{diagram} {asked_before}");
    }
}

#[test]
fn nobody_answers() {
    let mut story = Story::new(1, 20_000, 60_000);
    let diagram = "5000 > 188, 6000 > 188, 7800 > 188, 11000 > 188, 16900 > 188";
    let asked = story.tell(QuickMode, CLIENT, diagram);
    let seen = story.seen();
    let own = seen.iter().find(|a| a.exchange == asked).unwrap();
    assert_eq!((own.outcome, own.reason), (Unanswered, Some("peer_sends_esp")));
    assert_eq!((own.messages, own.transmissions, own.answered), (5, 5, None));
    let mut silent = Story::new(1, 5_000, 60_000);
    let asked = silent.tell(QuickMode, CLIENT, diagram);
    assert_eq!(silent.of(asked), Some((Unanswered, Some("peer_silent"))));
}

/// The answer reaches the capture and not the initiator, who asks on.
/// A responder takes the next message ID only when it has answered the one before. IKEv1 has no such order.
#[test]
fn the_answer_to_the_next_request_shows_that_this_one_was_answered() {
    let repeated = "5000 > 300, 5020 > 300, 5040 > 300";
    for (version, kind, request, next, answered) in [
        (2, CreateChildSa, "5000 > 300", "5060 > 76, 5090 < 76", true),
        (2, CreateChildSa, "5000 > 300", "5060 > 76, 7060 > 76", false),
        (2, CreateChildSa, repeated, "5060 > 76, 5090 < 76", false),
        (1, QuickMode, "5000 > 300", "5060 > 92, 5090 < 92", false),
    ] {
        let mut story = Story::new(version, 9_000, 60_000);
        let asked = story.tell(kind, CLIENT, request);
        story.tell(Informational, CLIENT, next);
        let told = story.of(asked).map(|(outcome, _)| outcome);
        assert_eq!(
            told,
            (!answered).then_some(Unanswered),
            "IKEv{version} {request}, {next}"
        );
    }
}

#[test]
fn an_answer_that_does_not_arrive_is_none() {
    let mut story = Story::new(1, 9_000, 60_000);
    let asked = story.tell(
        QuickMode,
        CLIENT,
        "5000 > 188, 5030 < 188, 9000 > 188, 9030 < 188, 16000 > 188",
    );
    let own = story.attempt(asked);
    assert_eq!((own.outcome, own.transmissions), (Unanswered, 3));
    assert_eq!(own.requests, [at(5_000), at(9_000), at(16_000)]);
    assert_eq!(own.answered, Some(at(5_030)));
}

/// The third message of a Quick Mode, whatever was asked again before it.
#[test]
fn a_third_message_shows_that_the_answer_arrived() {
    for (diagram, expected) in [
        ("5000 > 188, 5030 < 188, 9000 > 188, 9030 > 108", CompletedUnused),
        ("5000 > 188, 5030 < 188, 9000 > 188, 9030 > 109", Unanswered),
        ("5000 > 188, 5030 < 188", CompletedUnused),
    ] {
        let mut story = Story::new(1, 9_000, 60_000);
        let asked = story.tell(QuickMode, CLIENT, diagram);
        assert_eq!(story.attempt(asked).outcome, expected, "{diagram}");
    }
}

#[test]
fn the_end_of_the_capture_cuts_what_may_still_be_answered() {
    for (diagram, ends, expected) in [
        ("5000 > 188", 14_000, Cut),
        ("5000 > 188", 16_000, Unanswered),
        ("5000 > 188", 15_000, Unanswered),
        ("5000 > 188, 9000 > 188", 12_000, Cut),
        ("5000 > 188, 9000 > 188", 12_999, Cut),
        ("5000 > 188, 9000 > 188", 13_000, Unanswered),
        ("5000 > 188, 9000 > 188", 13_100, Unanswered),
        ("5000 > 188, 6000 > 188, 7800 > 188", 8_000, Unanswered),
    ] {
        let mut story = Story::new(1, 5_000, ends);
        let asked = story.tell(QuickMode, CLIENT, diagram);
        assert_eq!(
            story.of(asked).map(|o| o.0),
            Some(expected),
            "{diagram} until {ends}"
        );
    }
}

#[test]
fn an_answer_after_many_requests_is_late() {
    for (diagram, late) in [
        ("5000 > 188, 6000 > 188, 7800 > 188, 7830 < 188, 7860 > 60", true),
        ("5000 > 188, 6000 > 188, 6030 < 188, 6060 > 60", false),
    ] {
        let mut story = Story::new(1, 5_000, 60_000);
        let asked = story.tell(QuickMode, CLIENT, diagram);
        story.pair(asked, 0x200, Some((8_000, 20_000)));
        let seen = story.seen();
        let own = seen.iter().find(|a| a.exchange == asked).unwrap();
        assert_eq!((own.outcome, own.answered_late()), (Completed, late), "{diagram}");
    }
}

#[test]
fn of_two_at_once_one_is_superseded() {
    let mut story = Story::new(2, 9_000, 60_000);
    let ours = story.tell(CreateChildSa, CLIENT, "5000 > 300, 5040 < 300");
    story.pair(ours, 0x200, Some((5_050, 9_000)));
    let theirs = story.tell(CreateChildSa, SERVER, "5010 > 300, 5030 < 300");
    story.pair(theirs, 0x300, None);
    assert_eq!(story.of(theirs), Some((Superseded, None)));
    assert_eq!(story.of(ours), Some((Completed, None)));
}

#[test]
fn only_what_the_other_side_made_at_the_same_time_supersedes() {
    let outcome = |by: IpAddr, from: i64, in_use: bool| {
        let mut story = Story::new(2, 9_000, 60_000);
        let rival = story.tell(CreateChildSa, by, &format!("{from} > 300, {} < 300", from + 40));
        story.pair(rival, 0x200, in_use.then_some((from + 50, 9_000)));
        let own = story.tell(CreateChildSa, SERVER, "5040 > 300, 5080 < 300");
        story.pair(own, 0x300, None);
        story.attempt(own).outcome
    };
    assert_eq!(outcome(CLIENT, 5_000, true), Superseded);
    assert_eq!(outcome(CLIENT, 5_080, true), Superseded);
    assert_eq!(outcome(CLIENT, 4_999, true), CompletedUnused, "it was over");
    assert_eq!(outcome(CLIENT, 5_081, true), CompletedUnused, "it came later");
    assert_eq!(
        outcome(CLIENT, 5_000, false),
        CompletedUnused,
        "neither is in use"
    );
    assert_eq!(
        outcome(SERVER, 5_000, true),
        CompletedUnused,
        "the same side asked"
    );
}

/// One side of IKE only: a missing answer means nothing.
#[test]
fn one_sided_captures_tell_nothing() {
    let mut story = Story::new(1, 9_000, 60_000);
    story
        .exchanges
        .iter_mut()
        .for_each(|e| e.records.retain(|r| r.src == CLIENT));
    story.associations.retain(|a| a.src == CLIENT);
    let asked = story.tell(QuickMode, CLIENT, "5000 > 188, 9000 > 188, 16000 > 188");
    assert_eq!(story.of(asked), None);
}

/// The server answers another client 100 bytes shorter than the one that has a tunnel.
#[test]
fn a_client_without_a_child_is_refused_where_another_has_one() {
    let other = IpAddr::from([192, 0, 2, 3]);
    let outcomes = |dials: usize, shorter: u32, uses_eap: bool| {
        let mut story = Story::new(2, 9_000, 60_000);
        story.exchanges[0].decrypted = false;
        let message_id = story.exchanges[0].message_id;
        for dial in 1..=dials {
            let mut tell = |message_id, ms: i64, len| {
                let mut exchange = Exchange {
                    message_id,
                    messages: 2,
                    ..Exchange::between(other, SERVER, Some(dial), IkeAuth)
                };
                exchange.records = [(other, 288), (SERVER, len)]
                    .into_iter()
                    .zip([ms, ms + 20])
                    .map(|((src, len), ms)| MessageRecord::of(ms as u64 + 1, at(ms), src, len))
                    .collect();
                story.exchanges.push(exchange);
            };
            let ms = dial as i64 * 5_000;
            tell(message_id, ms, 240 - shorter);
            if uses_eap {
                tell(message_id + 1, ms + 100, 100);
            }
        }
        story.of_ike(1).map(|(outcome, _)| outcome)
    };
    assert_eq!(outcomes(2, 100, false), Some(Refused));
    assert_eq!(outcomes(1, 100, false), Some(Completed), "it may rest");
    assert_eq!(outcomes(2, 50, false), Some(Completed), "a child has room");
    assert_eq!(outcomes(2, 100, true), Some(Completed), "EAP goes on");
}

#[test]
fn a_delete_as_long_as_a_check_is_none() {
    let mut story = Story::new(1, 60_000, 60_000);
    for second in [5, 7, 9, 11] {
        story.tell(Informational, CLIENT, &format!("{second}000 > 92"));
    }
    let asked = |story: &Story| -> Vec<(u64, Timestamp)> {
        let checks = story.with(unanswered_checks);
        checks
            .iter()
            .map(|check| (check.asked, check.last_time))
            .collect()
    };
    assert_eq!(asked(&story), [(4, at(11_000))]);
    // Whoever gives up deletes the child SA and the IKE SA at once.
    story.tell(Informational, CLIENT, "11001 > 108");
    assert_eq!(asked(&story), [(3, at(9_000))]);
}
