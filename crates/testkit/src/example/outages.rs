//! Synthetic outages, one document for each way in which one is explained.

use super::build::build;
use super::shape::{Shape, at};
use rekeyscope_model::analysis::*;
use rekeyscope_model::spi::Spi;

/// A download in which nothing is delivered from 10.9 to 16.5 s; the way was closed up to 14.2 s, and then the sender waited.
fn document(explanation: Explanation) -> Analysis {
    let mut document = build(&Shape {
        rekeys: 1,
        hurt_every: 0,
        ..Shape::default()
    });
    for exchange in &mut document.exchanges {
        (exchange.lifetime, exchange.first_time) = (None, at(10.95));
    }
    document
        .rekeys
        .iter_mut()
        .for_each(|rekey| rekey.trigger = Trigger::default());
    document
        .impact
        .iter_mut()
        .for_each(|impact| impact.verdict = Verdict::Bounded);
    document.outages.push(Outage {
        index: 0,
        tunnel: 0,
        direction: Direction::BToA,
        start: at(10.9),
        end: Some(at(16.5)),
        seconds: 5.6,
        at_least: false,
        ended_by: OutageEnd::NewSa,
        confidence: Confidence::High,
        explanation: Some(Explanation {
            frames: vec![20_000, 20_100],
            ..explanation
        }),
        inner: None,
        dead: Some((at(10.92), at(14.2))),
        swallowed: 9,
        frames: vec![20_000, 20_100],
        display_filter: "frame.number in {20000, 20100}".into(),
    });
    document
}

/// The same with an event that shows it.
fn shown(kind: EventKind, change: impl FnOnce(&mut Event), explanation: Explanation) -> Analysis {
    let mut document = document(Explanation {
        event: Some(0),
        ..explanation
    });
    let mut event = Event {
        tunnel: Some(0),
        by: explanation_by(&document),
        ..Event::at(kind, Certainty::Read, at(10.96), 20_000)
    };
    change(&mut event);
    document.events.push(event);
    document
}

fn explanation_by(document: &Analysis) -> Option<std::net::IpAddr> {
    document.outages[0].explanation.as_ref()?.by
}

/// The cause of the first outage of a document.
///
/// # Panics
/// Without an outage that is explained.
pub fn cause_of(document: &Analysis) -> ExplanationCause {
    let explanation = document.outages.first().and_then(|o| o.explanation.as_ref());
    explanation.expect("an outage that is explained").cause
}

fn of(cause: ExplanationCause, certainty: Certainty) -> Explanation {
    Explanation::of(cause, certainty)
}

/// One for each row of the table of explanations; several where a row is told in several ways.
pub fn outages() -> Vec<Analysis> {
    let ends = build(&Shape::default());
    let (client, gateway) = (Some(ends.tunnels[0].a), Some(ends.tunnels[0].b));
    let mut all = of_the_control_plane(client, gateway);
    all.extend(of_sas(client, gateway));
    all.extend(of_the_path(client, gateway));
    all
}

fn of_the_control_plane(
    client: Option<std::net::IpAddr>,
    gateway: Option<std::net::IpAddr>,
) -> Vec<Analysis> {
    let refused = |notify: Option<&str>| {
        let notify = notify.map(str::to_owned);
        let explanation = Explanation {
            by: gateway,
            count: Some(3),
            ..of(ExplanationCause::Refused, Certainty::Read)
        };
        shown(EventKind::Refused, |event| event.notify = notify, explanation)
    };
    let by = |by, cause, certainty| Explanation {
        by,
        ..of(cause, certainty)
    };
    let deleted = |kind, certainty| {
        let explanation = by(gateway, ExplanationCause::Deleted, certainty);
        shown(kind, |_| (), explanation)
    };
    let mut open = deleted(EventKind::IkeSaDeleted, Certainty::Read);
    let outage = &mut open.outages[0];
    (outage.end, outage.seconds, outage.at_least) = (None, 14.1, true);
    let unanswered = |cause, kind| {
        let explanation = Explanation {
            count: Some(4),
            seconds: (cause != ExplanationCause::Unanswered).then_some(4.2),
            exchange: (cause == ExplanationCause::GivenUp).then_some(0),
            ..by(gateway, cause, Certainty::Proven)
        };
        shown(kind, |_| (), explanation)
    };
    let deletes_first = Explanation {
        seconds: Some(0.31),
        exchange: Some(0),
        limit_seconds: Some(3600),
        count: Some(2),
        ..by(client, ExplanationCause::BreakBeforeMake, Certainty::Read)
    };
    let given_up_too_soon = shown(
        EventKind::ChecksAnsweredLate,
        |event| event.count = Some(2),
        Explanation {
            seconds: Some(3.6),
            ..by(gateway, ExplanationCause::GivenUpTooSoon, Certainty::Proven)
        },
    );
    let deleted_elsewhere = shown(
        EventKind::IkeSaDeleted,
        |_| (),
        Explanation {
            exchange: Some(0),
            seconds: Some(0.49),
            ..by(gateway, ExplanationCause::Deleted, Certainty::Read)
        },
    );
    let mut new_ike_deleted = deleted(EventKind::IkeSaDeleted, Certainty::Inferred);
    new_ike_deleted.events.push(Event {
        index: 1,
        ..Event::at(EventKind::IkeSaRekeyed, Certainty::Inferred, at(10.92), 19_990)
    });
    let explanation = new_ike_deleted.outages[0].explanation.as_mut();
    explanation.expect("it has one").evidence = vec![1];
    let mut never_renewed = refused(Some("TS_UNACCEPTABLE"));
    let outage = &mut never_renewed.outages[0];
    (outage.start, outage.dead, outage.end) = (at(15.0), Some((at(15.1), at(29.0))), None);
    (outage.seconds, outage.at_least) = (15.0, true);
    vec![
        open,
        never_renewed,
        deleted(EventKind::ChildDeleted, Certainty::Read),
        deleted(EventKind::Deleted, Certainty::Inferred),
        shown(EventKind::IkeSaDeleted, |_| (), deletes_first),
        refused(Some("NO_PROPOSAL_CHOSEN")),
        refused(Some("UNKNOWN_FUTURE_NOTIFY")),
        refused(None),
        unanswered(ExplanationCause::Unanswered, EventKind::Unanswered),
        unanswered(ExplanationCause::IkeFragments, EventKind::FragmentsIncomplete),
        unanswered(ExplanationCause::AnsweredLate, EventKind::AnsweredLate),
        unanswered(ExplanationCause::GivenUp, EventKind::ChecksUnanswered),
        given_up_too_soon,
        deleted_elsewhere,
        new_ike_deleted,
        shown(
            EventKind::AnswerLost,
            |_| (),
            by(client, ExplanationCause::AnswerLost, Certainty::Proven),
        ),
        shown(
            EventKind::Collision,
            |_| (),
            of(ExplanationCause::Collision, Certainty::Proven),
        ),
        shown(
            EventKind::InvalidSpi,
            |_| (),
            Explanation {
                count: Some(9),
                ..by(gateway, ExplanationCause::InvalidSpi, Certainty::Read)
            },
        ),
        shown(
            EventKind::NewIkeSa,
            |event| event.time = at(16.2),
            by(gateway, ExplanationCause::PeerRestarted, Certainty::Inferred),
        ),
    ]
}

fn of_sas(client: Option<std::net::IpAddr>, gateway: Option<std::net::IpAddr>) -> Vec<Analysis> {
    let limit = |certainty, kilobytes, count| {
        document(Explanation {
            by: client,
            exchange: Some(0),
            limit_kilobytes: kilobytes,
            count,
            ..of(ExplanationCause::LimitReached, certainty)
        })
    };
    let late = Explanation {
        by: client,
        exchange: Some(0),
        seconds: Some(1.7),
        ..of(ExplanationCause::LimitReached, Certainty::Inferred)
    };
    let not_ready = Explanation {
        by: client,
        exchange: Some(0),
        seconds: Some(0.25),
        count: Some(7),
        ..of(ExplanationCause::NewSaLost, Certainty::Proven)
    };
    let mut windows = document(not_ready.clone());
    windows.exchanges[0].lifetime = Some(Lifetime {
        seconds: Some(3600),
        kilobytes: Some(250_000),
    });
    windows.ledger[0].without_mbps = 9.1;
    let early = Explanation {
        by: gateway,
        count: Some(7),
        ..of(ExplanationCause::DeletedEarly, Certainty::Proven)
    };
    let slow = |cause| {
        document(Explanation {
            by: client,
            exchange: Some(0),
            seconds: Some(5.2),
            ..of(cause, Certainty::Proven)
        })
    };
    let replay = Explanation {
        by: client,
        count: Some(7),
        ..of(ExplanationCause::ReplayWindow, Certainty::Inferred)
    };
    let closed = Explanation {
        by: gateway,
        ..of(ExplanationCause::L2tpClosed, Certainty::Proven)
    };
    let one_sided = |certainty| Explanation {
        by: gateway,
        seconds: Some(5.6),
        ..of(ExplanationCause::OneSided, certainty)
    };
    let goes_on = |certainty, exchange| {
        shown(
            EventKind::OneSided,
            |event| event.exchange = exchange,
            one_sided(certainty),
        )
    };
    vec![
        goes_on(Certainty::Read, Some(0)),
        goes_on(Certainty::Inferred, Some(0)),
        goes_on(Certainty::Inferred, None),
        document(Explanation {
            seconds: None,
            ..one_sided(Certainty::Inferred)
        }),
        document(one_sided(Certainty::Inferred)),
        limit(Certainty::Read, Some(150), None),
        limit(Certainty::Inferred, Some(68_359), Some(2)),
        document(late),
        document(not_ready.clone()),
        shown(
            EventKind::FirstNumber,
            |event| event.spis = vec![Spi(0xa1)],
            Explanation {
                cause: ExplanationCause::FirstNumber,
                ..not_ready
            },
        ),
        windows,
        shown(EventKind::ChildDeleted, |_| (), early),
        slow(ExplanationCause::SlowRenewal),
        slow(ExplanationCause::SlowExchange),
        document(replay),
        shown(EventKind::CallDisconnected, |_| (), closed),
    ]
}

fn of_the_path(client: Option<std::net::IpAddr>, gateway: Option<std::net::IpAddr>) -> Vec<Analysis> {
    let changed = |kind| {
        let name = |event: &mut Event| {
            event.from = Some("10.9.0.1:4500".into());
            event.to = Some("10.9.0.22:4500".into());
        };
        let explanation = Explanation {
            by: client,
            ..of(ExplanationCause::AddressChanged, Certainty::Read)
        };
        shown(kind, name, explanation)
    };
    let silent = |by, exchange, cause| {
        document(Explanation {
            by,
            exchange,
            seconds: Some(5.1),
            ..of(cause, Certainty::Proven)
        })
    };
    let large = |count, exchange| {
        document(Explanation {
            count,
            exchange,
            ..of(ExplanationCause::LargePackets, Certainty::Proven)
        })
    };
    let large_or_all = document(Explanation {
        by: gateway,
        count: Some(60),
        ..of(ExplanationCause::LargePackets, Certainty::Inferred)
    });
    let large_never = document(Explanation {
        count: Some(84),
        connections: Some(3),
        ..of(ExplanationCause::LargeNeverPassed, Certainty::Inferred)
    });
    let large_cut = document(Explanation {
        count: Some(1_368),
        lost_bytes: Some(8_866),
        ..of(ExplanationCause::LargeNeverPassed, Certainty::Inferred)
    });
    let numbers_back = shown(
        EventKind::NumbersBack,
        |event| {
            event.count = Some(700);
            (event.from, event.to) = (Some("961".into()), Some("262".into()));
        },
        Explanation {
            by: gateway,
            count: Some(700),
            ..of(ExplanationCause::NumbersBack, Certainty::Proven)
        },
    );
    let mut left_out = silent(Some([10, 66, 1, 1].into()), Some(0), ExplanationCause::LeftOut);
    let outage = &mut left_out.outages[0];
    (outage.end, outage.dead, outage.swallowed) = (None, None, 0);
    (outage.seconds, outage.at_least) = (14.1, true);
    if let Some(explanation) = &mut outage.explanation {
        (explanation.seconds, explanation.certainty) = (None, Certainty::Inferred);
    }
    let mut at_rest = silent(gateway, None, ExplanationCause::PeerSilent);
    let outage = &mut at_rest.outages[0];
    (outage.end, outage.at_least, outage.dead, outage.swallowed) = (None, true, None, 0);
    if let Some(explanation) = &mut outage.explanation {
        explanation.count = Some(4);
    }
    let by_turns = |certainty| {
        let mut document = silent(gateway, Some(0), ExplanationCause::ByTurns);
        document.exchanges[0].initiator = Some([10, 9, 0, 3].into());
        if let Some(explanation) = &mut document.outages[0].explanation {
            (explanation.seconds, explanation.certainty) = (None, certainty);
        }
        document
    };
    let named = |kind, by, (from, to): (&str, &str), cause| {
        let name = |event: &mut Event| {
            (event.from, event.to) = (Some(from.into()), Some(to.into()));
        };
        let explanation = Explanation {
            by,
            count: Some(7),
            ..of(cause, Certainty::Read)
        };
        shown(kind, name, explanation)
    };
    let networks = ("10.66.1.1", "10.66.2.1");
    let networks = named(
        EventKind::NetworksByTurns,
        None,
        networks,
        ExplanationCause::ByTurns,
    );
    let lines = ("10.9.0.1", "203.0.113.9");
    let elsewhere = ExplanationCause::AnsweredElsewhere;
    let elsewhere = named(EventKind::AnsweredElsewhere, gateway, lines, elsewhere);
    let other_tunnel = |by: Option<std::net::IpAddr>, places: [&str; 2], certainty| {
        let mut document = shown(
            EventKind::OtherTunnel,
            |event| [event.from, event.to] = places.map(|place| Some(place.into())),
            Explanation {
                by,
                ..of(ExplanationCause::OtherTunnel, certainty)
            },
        );
        let outage = &mut document.outages[0];
        (outage.end, outage.at_least) = (None, true);
        document
    };
    let mut same_address = other_tunnel(gateway, ["10.9.0.2:4500", "10.9.0.2:61002"], Certainty::Proven);
    for sa in &mut same_address.security_associations {
        sa.mode = Some(Mode::Tunnel);
    }
    let mut deleted_replaced = shown(
        EventKind::IkeSaDeleted,
        |_| (),
        Explanation {
            by: gateway,
            evidence: vec![1],
            ..of(ExplanationCause::Deleted, Certainty::Inferred)
        },
    );
    deleted_replaced.events.push(Event {
        tunnel: Some(0),
        to: Some("10.9.0.5".into()),
        ..Event::at(EventKind::OtherTunnel, Certainty::Proven, at(16.5), 20_200)
    });
    let used_up = document(Explanation {
        by: gateway,
        count: Some(u64::from(u32::MAX)),
        ..of(ExplanationCause::NumbersUsedUp, Certainty::Proven)
    });
    let damaged = shown(
        EventKind::BadIcv,
        |event| event.count = Some(25),
        Explanation {
            by: gateway,
            count: Some(25),
            ..of(ExplanationCause::BadIcv, Certainty::Proven)
        },
    );
    let connection_dead = document(Explanation {
        by: gateway,
        count: Some(33),
        ..of(ExplanationCause::ConnectionDead, Certainty::Inferred)
    });
    let too_big = shown(
        EventKind::Unreachable,
        |event| event.count = Some(1260),
        Explanation {
            by: gateway,
            count: Some(1260),
            seconds: Some(5.2),
            ..of(ExplanationCause::TooBig, Certainty::Read)
        },
    );
    let one_sa_silent = shown(
        EventKind::EspSilent,
        |event| event.spis = vec![Spi(0xb0)],
        Explanation {
            count: Some(3_289_228),
            limit_kilobytes: Some(4_608_000),
            by: gateway,
            ..of(ExplanationCause::EspSilent, Certainty::Inferred)
        },
    );
    let too_big_inside = shown(
        EventKind::TooBigInside,
        |event| {
            event.by = Some([10, 66, 0, 254].into());
            event.count = Some(1260);
            event.from = Some("10.66.0.1".into());
            event.to = Some("10.66.0.2".into());
        },
        Explanation {
            by: gateway,
            count: Some(1260),
            seconds: Some(5.2),
            ..of(ExplanationCause::TooBig, Certainty::Read)
        },
    );
    let first_fragments = shown(
        EventKind::OnlySmallPass,
        |event| event.count = Some(24),
        Explanation {
            by: gateway,
            count: Some(24),
            ..of(ExplanationCause::FirstFragments, Certainty::Proven)
        },
    );
    let several = |cause, by| {
        let mut document = silent(by, None, cause);
        let first = document.outages[0].clone();
        for (index, (start, seconds)) in [(1, (18.0, 6.8)), (2, (26.0, 5.5))] {
            document.outages.push(Outage {
                index,
                start: at(start),
                end: Some(at(start + seconds)),
                seconds,
                ..first.clone()
            });
        }
        document
    };
    vec![
        shown(
            EventKind::CaptureHole,
            |_| (),
            of(ExplanationCause::CaptureHole, Certainty::Proven),
        ),
        shown(
            EventKind::CaptureHole,
            |_| (),
            Explanation {
                count: Some(400),
                ..of(ExplanationCause::CaptureHole, Certainty::Inferred)
            },
        ),
        changed(EventKind::AddressChanged),
        in_udp(changed(EventKind::PortChanged)),
        silent(gateway, None, ExplanationCause::PeerSilent),
        silent(gateway, Some(0), ExplanationCause::PeerSilent),
        in_udp(silent(gateway, Some(0), ExplanationCause::PeerSilent)),
        at_rest,
        silent(None, None, ExplanationCause::PathSilent),
        several(ExplanationCause::PeerSilent, gateway),
        silent(gateway, None, ExplanationCause::Unheard),
        silent(gateway, None, ExplanationCause::EspSilent),
        one_sa_silent,
        silent(gateway, Some(0), ExplanationCause::SilentOnNewSa),
        left_out,
        by_turns(Certainty::Proven),
        by_turns(Certainty::Inferred),
        networks,
        elsewhere,
        other_tunnel(gateway, ["10.9.0.2:4500", "10.9.0.2:61002"], Certainty::Proven),
        same_address,
        deleted_replaced,
        other_tunnel(
            Some([10, 9, 0, 5].into()),
            ["10.9.0.1", "10.9.0.5"],
            Certainty::Inferred,
        ),
        large(Some(1372), Some(0)),
        large(None, None),
        large_never,
        large_cut,
        large_or_all,
        first_fragments,
        numbers_back,
        used_up,
        damaged,
        connection_dead,
        too_big,
        too_big_inside,
        document(of(ExplanationCause::Unexplained, Certainty::Proven)),
        several(ExplanationCause::Unexplained, None),
        silent(gateway, None, ExplanationCause::Unexplained),
    ]
}

/// Puts a NAT between the ends.
fn in_udp(mut document: Analysis) -> Analysis {
    document.tunnels[0].encapsulation = Encapsulation::Udp;
    document
}
