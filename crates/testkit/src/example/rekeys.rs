//! Synthetic SAs, exchanges and rekeys.

use super::ledger::cost_of;
use super::shape::{Shape, at, key, moment, spi};
use rekeyscope_model::analysis::*;
use std::net::IpAddr;

pub(super) fn sa(
    shape: &Shape,
    tunnel: usize,
    direction: Direction,
    generation: usize,
    (src, dst): (IpAddr, IpAddr),
) -> SecurityAssociation {
    let edge = |k: usize| match k {
        0 => 0.3,
        k if k > shape.rekeys => shape.seconds - 0.1,
        k => moment(shape, k - 1).0 + moment(shape, k - 1).1,
    };
    let (from, to) = (edge(generation), edge(generation + 1));
    let per_second = if direction == Direction::BToA {
        810.0
    } else {
        410.0
    };
    let packets = if shape.traffic {
        ((to - from) * per_second) as u64
    } else {
        2
    };
    let size = if direction == Direction::BToA { 1396 } else { 132 };
    SecurityAssociation {
        tunnel,
        src,
        dst,
        protocol: Protocol::Esp,
        spi: spi(tunnel, direction, generation),
        generation: generation as u32,
        mode: Some(Mode::Transport),
        encryption: Some("AES-CBC-128".into()),
        integrity: Some("HMAC-SHA1-96".into()),
        encapsulation: Encapsulation::Esp,
        key: key(shape.keys, "keys.esp_sa:3"),
        stated_lifetime: None,
        first_time: Some(at(from)),
        last_time: Some(at(to - 0.001)),
        first_frame: Some((from * 1240.0) as u64 + 1),
        last_frame: Some((to * 1240.0) as u64),
        packets,
        outer_bytes: packets * size,
        esp_bytes: packets * (size - 20),
        inner_bytes: shape.keys.then_some(packets * (size - 66)),
        icv: IcvCounts {
            verified: if shape.keys { packets } else { 0 },
            failed: 0,
            unchecked: if shape.keys { 0 } else { packets },
        },
        sequence: Sequence {
            first: Some(1),
            last: Some(packets),
            missing: 0,
            duplicates: 0,
            reordered: 0,
        },
    }
}

pub(super) fn exchange(shape: &Shape, tunnel: usize, k: usize, index: usize, initiator: IpAddr) -> Exchange {
    let (start, length, _) = moment(shape, k);
    Exchange {
        index,
        tunnel,
        ike_sa: Some(tunnel),
        kind: ExchangeKind::QuickMode,
        message_id: format!("0x{:08x}", 0x5eed_0000u32 + index as u32),
        initiator: Some(initiator),
        began_earlier: false,
        first_time: at(start),
        last_time: at(start + length),
        duration_ms: length * 1000.0,
        messages: 3,
        retransmissions: 0,
        frames: vec![
            (start * 1240.0) as u64 + 1,
            (start * 1240.0) as u64 + 22,
            (start * 1240.0) as u64 + 41,
        ],
        decrypted: shape.keys,
        key_exchange: Some(false),
        lifetime: shape.keys.then_some(Lifetime {
            seconds: Some(3600),
            kilobytes: Some(2400),
        }),
        spis: Vec::new(),
        deletes: Vec::new(),
        notifications: Vec::new(),
    }
}

pub(super) fn rekey(shape: &Shape, tunnel: usize, k: usize, index: usize, initiator: IpAddr) -> Rekey {
    let (start, length, stall) = moment(shape, k);
    let pair = |g: usize| SpiPair {
        a_to_b: Some(spi(tunnel, Direction::AToB, g)),
        b_to_a: Some(spi(tunnel, Direction::BToA, g)),
    };
    Rekey {
        index,
        number: k + 1,
        tunnel,
        exchange: Some(index),
        initiator: Some(initiator),
        old: pair(k),
        new: pair(k + 1),
        evidence: RekeyEvidence::QuickMode,
        trigger: Trigger {
            kind: TriggerKind::Volume,
            fraction: Some(0.848 + 0.008 * (k % 6) as f64),
            counting: Some("inner bytes of the expiring inbound SA, kB = 1000".into()),
            messages: Vec::new(),
            bytes: Some(2_035_200 + 19_200 * (k as u64 % 6)),
            limit_kilobytes: Some(2400),
            age_s: Some(3.7),
            limit_seconds: Some(3600),
            at_least: false,
            at_most: false,
        },
        started: Some(at(start)),
        switched: TimePair {
            a_to_b: Some(at(start + length)),
            b_to_a: Some(at(start + length + stall)),
        },
        exchange_ms: Some(length * 1000.0),
        overlap_ms: Some(0.0),
        gap_ms: MillisPair {
            a_to_b: Some(1.1),
            b_to_a: Some(1.3 + stall * 1000.0),
        },
        impact: match shape.traffic {
            true => vec![rekey_impact(stall, shape.keys), unused_impact(Direction::AToB)],
            false => Direction::BOTH.map(unused_impact).to_vec(),
        },
        close_up: super::close_up::close_up(shape, tunnel, k, index),
    }
}

fn rekey_impact(stall: f64, keys: bool) -> RekeyImpact {
    let hurt = stall > 0.0;
    RekeyImpact {
        direction: Direction::BToA,
        used: true,
        hurt,
        cost_seconds: Some(cost_of(stall)),
        at_least: false,
        silence_ms: hurt.then_some(stall * 1000.0),
        why: hurt.then_some(LedgerWhy::LostOnOld),
        cause: (hurt && keys).then_some(ExplanationCause::LimitReached),
        swallowed: if hurt { 8 } else { 0 },
        flags: Vec::new(),
    }
}

fn unused_impact(direction: Direction) -> RekeyImpact {
    RekeyImpact {
        direction,
        used: false,
        hurt: false,
        cost_seconds: None,
        at_least: false,
        silence_ms: None,
        why: None,
        cause: None,
        swallowed: 0,
        flags: Vec::new(),
    }
}

/// One completed attempt for each rekey with an exchange.
pub(super) fn completed(document: &Analysis) -> Vec<Attempt> {
    let of_rekey = |rekey: &Rekey| {
        let exchange = document.exchanges.get(rekey.exchange?)?;
        Some(Attempt {
            index: 0,
            tunnel: rekey.tunnel,
            exchange: rekey.exchange,
            initiator: rekey.initiator,
            first_time: exchange.first_time,
            last_time: exchange.last_time,
            messages: exchange.messages,
            transmissions: 1,
            requests: vec![exchange.first_time],
            answered_after_s: Some(0.05),
            outcome: AttemptOutcome::Completed,
            reason: None,
            rekey: Some(rekey.index),
            outage: None,
            evidence_frames: exchange.frames.clone(),
            display_filter: String::new(),
        })
    };
    let mut attempts: Vec<Attempt> = document.rekeys.iter().filter_map(of_rekey).collect();
    for (index, attempt) in attempts.iter_mut().enumerate() {
        attempt.index = index;
    }
    attempts
}
