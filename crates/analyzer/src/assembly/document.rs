//! The record of the pipeline → the document. The verdicts are computed here (by [`rekeyscope_impact`]), nothing later.

use crate::assembly::account::MeasuredFlows;
use crate::assembly::children::Known;
use crate::assembly::close_up::close_up;
use crate::assembly::judgement::judgement;
use crate::assembly::places::Places;
use crate::assembly::scene::Explored;
use crate::assembly::{attempts, costs, rests};
use crate::events::reconnections;
use crate::events::{EventList, EventSources, events};
use crate::findings;
use crate::pipeline::record::{Record, key_source, place};
use rekeyscope_capture::file::{CaptureInfo, link_type_name};
use rekeyscope_capture::join::CapturePiece;
use rekeyscope_impact::explain::failures_first;
use rekeyscope_ipsec::ike::timeline;
use rekeyscope_ipsec::rekey::{Succession, attempt, detect, pair, slot, trigger};
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_model::analysis::*;
use rekeyscope_model::spi::IpsecProtocol;
use rekeyscope_model::text::Message;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::ConnectionId;
use std::collections::{BTreeMap, HashSet};

/// What the document says of how it was asked for, beyond the [`Options`](crate::pipeline::Options) of the analysis.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Names the capture.
    pub path: String,
    /// Key files beside the capture were not looked for.
    pub no_keys: bool,
    /// Files with pre-shared keys.
    pub psk_files: Vec<String>,
    /// The files, where they are several.
    pub pieces: Vec<CapturePiece>,
    /// What names the capture by its content, where that was asked for.
    pub sha256: Option<String>,
}

impl Asked {
    /// Of the capture `path`, and nothing else.
    pub fn of(path: impl Into<String>) -> Self {
        Asked {
            path: path.into(),
            ..Asked::default()
        }
    }
}

/// Makes the document. `info` is what the container said.
pub fn assemble(record: &Record, info: &CaptureInfo, asked: &Asked) -> Analysis {
    let evidence = record.evidence();
    let children = pair::child_sas(&evidence);
    let places = Places::new(record);
    let mut successions = detect::successions(&evidence, &children);
    successions.retain(|s| record.wants(s.tunnel));
    successions.sort_by_key(|s| (when(s), s.tunnel));
    let holes = |tunnel| record.diagnosis.holes_of(tunnel);
    let (triggers, trigger_rules) = trigger::triggers(&evidence, &successions, holes);
    let mut rekeys: Vec<Rekey> = successions
        .iter()
        .zip(triggers)
        .enumerate()
        .map(|(index, (succession, trigger))| rekey(record, &places, index, succession, trigger))
        .collect();
    number_within_tunnels(&mut rekeys);
    let ends = record.totals.last_time.unwrap_or_default();
    let ike_sas = record.timeline.ike_sas();
    let [mut attempts, ike_attempts] = attempt::attempts(&evidence, &children, ends);
    attempts.retain(|a| record.wants(a.tunnel));
    let checks = attempt::unanswered_checks(&evidence, ike_sas);
    let pairs = (&children[..], &successions[..]);
    let sources = EventSources::new(record, &evidence, pairs, (&attempts, &ike_attempts), &checks);
    let events = published(events(&sources), &places);
    let mut stretches = record.traffic.intervals(&events.events, ends);
    stretches.retain(|interval| record.wants(interval.facts.tunnel as usize));
    let found = Explored {
        record,
        places: &places,
        children: &children,
        successions: &successions,
        attempts: &attempts,
        events: &events.events,
    };
    let mut failures = attempts::failures(found, &stretches);
    let rests = rests::find(record, &failures.attempts, &failures.outages);
    let mut judged = judgement(Known {
        record,
        children: &children,
        lineage: None,
        successions: &successions,
        attempts: &failures.attempts,
        rekeys: &rekeys,
        outages: &failures.outages,
        rests: &rests,
    });
    costs::explain_costs(found, &stretches, &mut judged.ledger);
    // The transfer of a client that came back from another address goes on in another tunnel.
    let left: Vec<usize> = reconnections(record).iter().map(|back| back.old).collect();
    let stay = judged
        .ledger
        .iter()
        .filter(|ledger| !left.contains(&ledger.tunnel));
    as_long_as_the_transfer_stood(&mut failures.outages, stay, ends);
    for (index, effect) in judged.rekeys {
        let Some(rekey) = rekeys.get_mut(index) else {
            continue;
        };
        let own = judged
            .ledger
            .iter()
            .filter(|ledger| ledger.direction == effect.direction);
        let mut own = own
            .flat_map(|ledger| &ledger.rekeys)
            .filter(|own| own.rekey == index);
        let cause = own.find_map(|own| Some(own.explanation.as_ref()?.cause));
        rekey.impact.push(RekeyImpact { cause, ..effect });
    }
    let tunnels = tunnels(record);
    let findings = findings::findings(record, info, &failures.outages, &events.events);
    let analysis = Analysis {
        schema_version: SCHEMA_VERSION,
        generator: Generator {
            name: "rekeyscope".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        },
        capture: capture(record, info, asked),
        answer: None,
        tunnels,
        ike_sas: places.ike_sas(record),
        exchanges: places.exchanges(record, &evidence, &pair::Openings::new(&evidence, &children)),
        security_associations: security_associations(record, &failures.in_vain),
        series: crate::assembly::series::series(record, &judged.arrived, &successions, &rekeys),
        rekeys,
        attempts: failures.attempts,
        outages: failures.outages,
        events: events.events,
        trigger_rules,
        flows: flows(record, judged.measured),
        impact: judged.impact,
        ledger: judged.ledger,
        account: judged.account,
        projection: judged.projection,
        findings,
        overhead: crate::assembly::overhead::overhead(record),
        diagnostics: diagnostics(record, events.left_out),
        key_files: record.key_files.clone(),
        overlays: Vec::new(),
        gap: None,
        two_points: None,
        settings: Some(settings(record, asked)),
    };
    Analysis {
        impact: failures_first(&analysis),
        ..analysis
    }
}

/// A stall has one length: an outage in which the whole transfer stood lasts until the transfer's own data arrives again. What others than
/// the transfer delivered before that does not end it; nor does the end of the capture, while the sender still waits for its timer. The longest
/// of several outages stands for all of it.
fn as_long_as_the_transfer_stood<'a>(
    outages: &mut [Outage],
    ledgers: impl Iterator<Item = &'a Ledger>,
    ends: Timestamp,
) {
    for ledger in ledgers {
        let own = |o: &&mut Outage| (o.tunnel, o.direction) == (ledger.tunnel, ledger.direction);
        let longest = |a: &&mut Outage, b: &&mut Outage| a.seconds.total_cmp(&b.seconds);
        let of_rekeys = ledger.rekeys.iter().flat_map(|own| &own.intervals);
        let all = of_rekeys.chain(ledger.down.iter().map(|down| &down.interval));
        for (from, arrived) in all.filter_map(|interval| Some((interval.from, interval.arrived?))) {
            let inside = |o: &&mut Outage| from <= o.start && o.end.is_some_and(|end| end <= arrived);
            let parts = outages.iter_mut().filter(own).filter(inside);
            if let Some(outage) = parts.max_by(longest) {
                (outage.start, outage.end) = (from, Some(arrived));
                outage.seconds = arrived.seconds_since(from);
            }
        }
        let waits = |own: &&LedgerInterval| {
            // The timer doubles: after its last copy a sender waits as long as it has waited for all copies together.
            let next_try = own.to.plus_nanos(own.to.nanos_since(own.from));
            own.arrived.is_none() && next_try >= ends
        };
        let Some(open) = ledger.down.iter().map(|down| &down.interval).find(waits) else {
            continue;
        };
        let parts = outages
            .iter_mut()
            .filter(own)
            .filter(|o| o.start >= open.from && o.end.is_some());
        if let Some(outage) = parts.max_by(longest) {
            (outage.start, outage.end, outage.ended_by) = (open.from, None, OutageEnd::End);
            outage.seconds = ends.seconds_since(outage.start);
            outage.at_least = true;
        }
    }
}

fn settings(record: &Record, asked: &Asked) -> Settings {
    let options = &record.options;
    Settings {
        reference_bps: options.reference_bps,
        no_keys: asked.no_keys,
        tunnel: options.tunnel.map(|choice| choice.to_string()),
        esp_ports: options.esp_ports.clone(),
        psk_files: asked.psk_files.clone(),
    }
}

fn when(s: &Succession) -> Option<Timestamp> {
    s.first_message.or(s.switched.iter().flatten().min().copied())
}

fn capture(record: &Record, info: &CaptureInfo, asked: &Asked) -> Capture {
    let t = &record.totals;
    Capture {
        path: asked.path.clone(),
        format: info.format,
        link_types: info.link_types.iter().map(|&l| link_type_name(l)).collect(),
        packets: t.packets,
        bytes: t.bytes,
        first_time: t.first_time,
        last_time: t.last_time,
        duration_s: t.seconds(),
        truncated_file: info.truncated,
        cut_packets: t.cut_packets,
        dropped_reported: info.dropped_reported,
        duplicates: t.capture_duplicates + record.diagnostics.count_of("duplicate_fragment", "IP fragments"),
        time_regressions: t.time_regressions,
        ike_packets: t.ike_packets,
        esp_packets: t.esp_packets,
        offload_suspected: t.oversized > 0,
        files: asked.pieces.iter().map(file).collect(),
        sha256: asked.sha256.clone(),
    }
}

pub(super) fn file(piece: &CapturePiece) -> CaptureFile {
    CaptureFile {
        path: piece.path.to_string_lossy().into_owned(),
        first_frame: piece.first_frame,
        packets: piece.packets,
        first_time: piece.first_time,
        last_time: piece.last_time,
        truncated_file: piece.truncated,
        problem: piece.problem.clone(),
    }
}

fn tunnels(record: &Record) -> Vec<Tunnel> {
    let mut ike_sas: BTreeMap<usize, Vec<&timeline::IkeSa>> = BTreeMap::new();
    for (tunnel, exchange) in record.exchanges() {
        let own = exchange.ike_sa.map(|sa| &record.timeline.ike_sas()[sa]);
        ike_sas.entry(tunnel).or_default().extend(own);
    }
    let describe = |(id, t): (usize, &rekeyscope_ipsec::sa::tunnel::Tunnel)| {
        let own = ike_sas.get(&id).map_or(&[][..], Vec::as_slice);
        let encapsulation = t.encapsulation.unwrap_or(Encapsulation::Esp);
        // ESP in UDP alone shows none: a peer may ask for it.
        let nat = t.port_changed || own.iter().any(|ike| ike.nat);
        Tunnel {
            id,
            a: t.a(),
            b: t.b(),
            encapsulation,
            ike_version: own.first().map(|ike| ike.version),
            roles_known: t.knows_client(),
            nat,
            client_is_windows: own.iter().any(|ike| ike.initiator_is_windows),
        }
    };
    record.tunnels.tunnels.iter().enumerate().map(describe).collect()
}

/// All but those that only an exchange names that made nothing.
fn security_associations(record: &Record, in_vain: &HashSet<usize>) -> Vec<SecurityAssociation> {
    let mut generations: BTreeMap<(usize, Direction), u32> = BTreeMap::new();
    record
        .wanted_sas()
        .filter(|a| a.first.is_some() || a.exchange.is_none_or(|e| !in_vain.contains(&e)))
        .map(|a| {
            let next = generations.entry((a.tunnel, a.direction)).or_default();
            let generation = *next;
            *next += 1;
            security_association(record, a, generation)
        })
        .collect()
}

fn security_association(record: &Record, a: &Association, generation: u32) -> SecurityAssociation {
    let transform = a.transform();
    let from = a.key.as_ref().map(|k| &k.origin).or(a.hint_origin.as_ref());
    SecurityAssociation {
        tunnel: a.tunnel,
        src: a.src,
        dst: a.dst,
        protocol: match a.protocol {
            IpsecProtocol::Esp => Protocol::Esp,
            IpsecProtocol::Ah => Protocol::Ah,
        },
        spi: a.spi,
        generation,
        mode: a.mode,
        encryption: match (&a.clear, transform) {
            _ if a.protocol == IpsecProtocol::Ah => Some("none".into()),
            (Some(clear), None) => Some(clear.encryption().to_string()),
            (_, transform) => transform.map(|t| t.encryption_name()),
        },
        integrity: transform.map(|t| t.integrity.to_string()),
        encapsulation: a.encapsulation,
        key: Key {
            status: a.key_status(),
            source: match (&a.clear, from) {
                _ if a.protocol == IpsecProtocol::Ah => {
                    Some("none needed to read it: AH encrypts nothing; its ICVs are not checked".into())
                }
                (Some(_), _) if !a.proven => Some("recognised in the packets: there is no encryption".into()),
                (_, from) => from.map(|o| key_source(record, o)),
            },
        },
        stated_lifetime: a
            .stated_lifetime
            .as_ref()
            .filter(|stated| a.lifetime(record.timeline.exchanges()) == Some(stated.lifetime))
            .map(|stated| StatedLifetime {
                lifetime: stated.lifetime,
                source: place(record, &stated.origin),
            }),
        first_time: a.first.map(|(t, _)| t),
        last_time: a.last.map(|(t, _)| t),
        first_frame: a.first.map(|(_, f)| f),
        last_frame: a.last.map(|(_, f)| f),
        packets: a.counters.packets,
        outer_bytes: a.counters.outer_bytes,
        esp_bytes: a.counters.esp_bytes,
        inner_bytes: (a.counters.opened > 0).then_some(a.counters.inner_bytes),
        icv: a.icv.clone(),
        sequence: Sequence {
            missing: a.missing(),
            ..a.sequence.summary()
        },
    }
}

fn rekey(record: &Record, places: &Places, index: usize, s: &Succession, trigger: Trigger) -> Rekey {
    let tunnel = &record.tunnels.tunnels[s.tunnel];
    let associations = record.sas.associations();
    let exchange = s.exchange.map(|e| &record.timeline.exchanges()[e]);
    let at = |public: Direction| slot(tunnel.published(public));
    let spi = |pair: [Option<usize>; 2], d| pair[at(d)].map(|sa| associations[sa].spi);
    let spis = |pair| SpiPair {
        a_to_b: spi(pair, Direction::AToB),
        b_to_a: spi(pair, Direction::BToA),
    };
    let gap = |d| Some(s.switched[at(d)]?.millis_since(s.left[at(d)]?).max(0.0));
    Rekey {
        index,
        number: 0,
        tunnel: s.tunnel,
        exchange: s.exchange.and_then(|e| places.exchange(e)),
        initiator: s.initiator,
        old: spis(s.old),
        new: spis(s.new),
        evidence: match exchange.map(|e| e.kind) {
            Some(ExchangeKind::QuickMode) => RekeyEvidence::QuickMode,
            Some(_) => RekeyEvidence::CreateChildSa,
            None => RekeyEvidence::SpiSuccession,
        },
        trigger,
        started: s.started,
        switched: TimePair {
            a_to_b: s.switched[at(Direction::AToB)],
            b_to_a: s.switched[at(Direction::BToA)],
        },
        exchange_ms: s
            .started
            .zip(s.finished)
            .filter(|_| exchange.is_some_and(|e| !e.is_one_sided()))
            .map(|(start, end)| end.millis_since(start)),
        overlap_ms: overlap_ms(s),
        gap_ms: MillisPair {
            a_to_b: gap(Direction::AToB),
            b_to_a: gap(Direction::BToA),
        },
        impact: Vec::new(),
        close_up: close_up(record, places, s),
    }
}

/// Rekeys in the order of the document get the numbers that people read.
pub(crate) fn number_within_tunnels(rekeys: &mut [Rekey]) {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for rekey in rekeys {
        let count = counts.entry(rekey.tunnel).or_default();
        *count += 1;
        rekey.number = *count;
    }
}

/// The longer of the times during which both SAs of a direction carried packets.
fn overlap_ms(s: &Succession) -> Option<f64> {
    (0..2)
        .filter_map(|d| Some(s.left[d]?.millis_since(s.switched[d]?).max(0.0)))
        .reduce(f64::max)
}

fn flows(record: &Record, mut measured: MeasuredFlows) -> Vec<Flow> {
    let flows = record.flows.flows().into_iter();
    let published = |(connection, flow): (ConnectionId, Flow)| Flow {
        direction: record.published((flow.tunnel, flow.direction)),
        tcp: measured.remove(&(connection, slot(flow.direction))),
        ..flow
    };
    flows.map(published).collect()
}

/// Exchanges of events as they stand in the document.
fn published(list: EventList, places: &Places) -> EventList {
    let place = |event: Event| Event {
        exchange: event.exchange.and_then(|e| places.exchange(e)),
        ..event
    };
    EventList {
        events: list.events.into_iter().map(place).collect(),
        ..list
    }
}

fn diagnostics(record: &Record, events_left_out: u64) -> Vec<DiagnosticEntry> {
    let describe = |d: &rekeyscope_model::diagnostic::Diagnostic| DiagnosticEntry {
        kind: d.kind.into(),
        layer: d.layer.into(),
        count: d.count,
        first_frame: d.first_frame,
        sentence: d.said.sentence.clone(),
        messages: d.said.messages.clone(),
    };
    let mut all = record.diagnostics.clone();
    if events_left_out > 0 {
        all.count("events_left_out", "analysis", None, || {
            Message::new("oddity-events-left-out")
                .with("events", events_left_out)
                .with("most", MOST_EVENTS)
        });
    }
    all.iter().map(describe).collect()
}
