//! What the pipeline remembers → the document. The verdicts are computed here (by [`crate::impact`]), nothing later.

mod places;

use crate::analysis::*;
use crate::analyzer::Analyzer;
use crate::capture::{CaptureInfo, link_type_name};
use crate::diagnosis::findings;
use crate::keylog::{KeyMaterial, KeyOrigin, KeyRoad};
use crate::rekey::{Evidence, Succession, detect, pair, slot, trigger};
use crate::sa::association::Association;
use crate::spi::IpsecProtocol;
use crate::time::Timestamp;
use crate::verdicts;
use places::Places;
use std::collections::BTreeMap;

/// Makes the document.
pub(crate) fn assemble(analyzer: &Analyzer, info: &CaptureInfo, path: &str) -> Analysis {
    let evidence = Evidence {
        tunnels: &analyzer.tunnels.tunnels,
        exchanges: analyzer.timeline.exchanges(),
        exchange_tunnels: &analyzer.exchange_tunnels,
        associations: analyzer.sas.associations(),
        snapshots: &analyzer.snapshots,
    };
    let children = pair::child_sas(&evidence);
    let places = Places::new(analyzer);
    let mut successions = detect::successions(&evidence, &children);
    successions.retain(|s| analyzer.wants(s.tunnel));
    successions.sort_by_key(|s| (when(s), s.tunnel));
    let holes = |tunnel| analyzer.diagnosis.holes(tunnel).map(|h| (h.from, h.to)).collect();
    let (triggers, trigger_rules) = trigger::triggers(&evidence, &successions, holes);
    let mut rekeys: Vec<Rekey> = successions
        .iter()
        .zip(triggers)
        .enumerate()
        .map(|(index, (succession, trigger))| rekey(analyzer, &places, index, succession, trigger))
        .collect();
    number_within_tunnels(&mut rekeys);
    let assessed = verdicts::assess(analyzer, &successions, &rekeys);
    for (index, effect) in assessed.rekeys {
        if let Some(rekey) = rekeys.get_mut(index) {
            rekey.impact.push(effect);
        }
    }
    for (rekey, succession) in rekeys.iter_mut().zip(&successions) {
        let hurt = rekey.impact.iter().any(|i| i.hurt);
        rekey.causes = analyzer.diagnosis.causes(succession, hurt);
    }
    let keys = analyzer.sas.keys();
    let mut document = Analysis {
        schema_version: SCHEMA_VERSION,
        generator: Generator {
            name: "rekeyscope".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        },
        capture: capture(analyzer, info, path),
        tunnels: tunnels(analyzer),
        ike_sas: places.ike_sas(analyzer),
        exchanges: places.exchanges(analyzer, &evidence, &pair::Openings::new(&evidence, &children)),
        security_associations: security_associations(analyzer),
        series: crate::series_document::series(analyzer, &successions, &rekeys),
        rekeys,
        trigger_rules,
        flows: flows(analyzer),
        impact: assessed.impact,
        mean_rekey: assessed.mean_rekey,
        projection: assessed.projection,
        findings: findings::findings(analyzer, info, &successions),
        overhead: crate::overhead_document::overhead(analyzer),
        diagnostics: diagnostics(analyzer),
        key_files: key_files(keys),
        ruled_out: Vec::new(),
        overlays: Vec::new(),
        settings: Some(settings(analyzer)),
    };
    document.ruled_out = crate::ruled_out::ruled_out(&document);
    document
}

fn settings(analyzer: &Analyzer) -> Settings {
    let options = &analyzer.options;
    Settings {
        interest_percent: options.interest * 100.0,
        verify: options.verify.to_string(),
        seed: options.seed,
        reference_bps: options.reference_bps,
        no_keys: false,
        tunnel: options.tunnel.map(|choice| choice.to_string()),
        esp_ports: options.esp_ports.clone(),
        psk_files: Vec::new(),
    }
}

fn when(s: &Succession) -> Option<Timestamp> {
    s.first_message.or(s.switched.iter().flatten().min().copied())
}

fn capture(analyzer: &Analyzer, info: &CaptureInfo, path: &str) -> Capture {
    let t = &analyzer.totals;
    Capture {
        path: path.into(),
        format: info.format,
        link_types: info.link_types.iter().map(|&l| link_type_name(l)).collect(),
        packets: t.packets,
        bytes: t.bytes,
        first_time: t.first_time,
        last_time: t.last_time,
        duration_s: t
            .first_time
            .zip(t.last_time)
            .map(|(first, last)| last.seconds_since(first)),
        truncated_file: info.truncated,
        cut_packets: t.cut_packets,
        dropped_reported: info.dropped_reported,
        duplicates: t.capture_duplicates
            + analyzer
                .diagnostics
                .count_of("duplicate_fragment", "IP fragments"),
        time_regressions: t.time_regressions,
        ike_packets: t.ike_packets,
        esp_packets: t.esp_packets,
        offload_suspected: t.oversized > 0,
    }
}

fn tunnels(analyzer: &Analyzer) -> Vec<Tunnel> {
    let exchanges = analyzer.timeline.exchanges();
    let mut versions: BTreeMap<usize, (u8, bool)> = BTreeMap::new();
    for (exchange, tunnel) in exchanges.iter().zip(&analyzer.exchange_tunnels) {
        if let (Some(tunnel), Some(sa)) = (tunnel, exchange.ike_sa) {
            let ike = &analyzer.timeline.ike_sas()[sa];
            let entry = versions.entry(*tunnel).or_insert((ike.version, false));
            entry.1 |= ike.nat;
        }
    }
    let describe = |(id, t): (usize, &crate::sa::tunnel::Tunnel)| {
        let (version, nat) = versions
            .get(&id)
            .map_or((None, false), |&(v, nat)| (Some(v), nat));
        let encapsulation = t.encapsulation.unwrap_or(Encapsulation::Esp);
        // ESP in UDP alone shows none: a peer may ask for it.
        let nat = nat || t.port_changed;
        Tunnel {
            id,
            a: t.a(),
            b: t.b(),
            encapsulation,
            ike_version: version,
            nat,
        }
    };
    analyzer
        .tunnels
        .tunnels
        .iter()
        .enumerate()
        .map(describe)
        .collect()
}

fn origin(keys: &KeyMaterial, origin: &KeyOrigin) -> String {
    let road = match origin.road {
        KeyRoad::Explicit => "explicit",
        KeyRoad::Mined => "mined",
        KeyRoad::Derived => "derived",
    };
    let name = keys
        .files
        .get(origin.file)
        .map(|f| f.path.display().to_string())
        .unwrap_or_default();
    format!("{name}:{} ({road})", origin.line)
}

fn security_associations(analyzer: &Analyzer) -> Vec<SecurityAssociation> {
    let mut generations: BTreeMap<(usize, Direction), u32> = BTreeMap::new();
    analyzer
        .sas
        .associations()
        .iter()
        .filter(|a| analyzer.wants(a.tunnel))
        .map(|a| {
            let next = generations.entry((a.tunnel, a.direction)).or_default();
            let generation = *next;
            *next += 1;
            security_association(analyzer, a, generation)
        })
        .collect()
}

fn security_association(analyzer: &Analyzer, a: &Association, generation: u32) -> SecurityAssociation {
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
                (_, from) => from.map(|o| origin(analyzer.sas.keys(), o)),
            },
        },
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

fn rekey(analyzer: &Analyzer, places: &Places, index: usize, s: &Succession, trigger: Trigger) -> Rekey {
    let tunnel = &analyzer.tunnels.tunnels[s.tunnel];
    let associations = analyzer.sas.associations();
    let exchange = s.exchange.map(|e| &analyzer.timeline.exchanges()[e]);
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
        causes: Vec::new(),
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

fn flows(analyzer: &Analyzer) -> Vec<Flow> {
    let mut flows = analyzer.flows.flows();
    for flow in &mut flows {
        flow.direction = analyzer.tunnels.tunnels[flow.tunnel].published(flow.direction);
    }
    flows
}

fn diagnostics(analyzer: &Analyzer) -> Vec<DiagnosticEntry> {
    let describe = |d: &crate::diagnostic::Diagnostic| DiagnosticEntry {
        kind: d.kind.into(),
        layer: d.layer.into(),
        count: d.count,
        first_frame: d.first_frame,
        sentence: d.said.sentence.clone(),
        messages: d.said.messages.clone(),
    };
    analyzer.diagnostics.iter().map(describe).collect()
}

fn key_files(keys: &KeyMaterial) -> Vec<KeyFile> {
    let describe = |(index, file): (usize, &crate::keylog::KeyFileInfo)| KeyFile {
        path: file.path.display().to_string(),
        formats: file.formats.iter().map(|f| (*f).to_string()).collect(),
        esp_keys: keys
            .esp
            .iter()
            .filter(|k| k.origin.file == index && k.defect.is_none())
            .count() as u64,
        ike_keys: keys.ike.iter().filter(|k| k.origin.file == index).count() as u64,
        problems: keys
            .problems
            .iter()
            .filter(|p| p.file == index)
            .map(|p| format!("{}:{}: {}", file.path.display(), p.line, p.sentence))
            .collect(),
    };
    keys.files.iter().enumerate().map(describe).collect()
}
