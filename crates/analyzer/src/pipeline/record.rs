//! The record of an analysis. Plain data: the [`crate::pipeline::analyzer::Analyzer`] writes it, and the document is
//! made of it.

use crate::diagnosis::Diagnosis;
use crate::notices::{ControlLog, IcmpLog};
use crate::pipeline::damaged::DamagedRuns;
use crate::pipeline::options::Options;
use crate::pipeline::point::PointRecord;
use crate::traffic::{Connections, FlowTable, Meters, TrafficReading};
use rekeyscope_capture::framing::{CutPackets, FirstFragments, IncompleteIke};
use rekeyscope_ipsec::ike::timeline::{Exchange, Timeline};
use rekeyscope_ipsec::rekey::{Evidence, Snapshot};
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaDatabase;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex, TunnelTable};
use rekeyscope_keylog::{KeyFileInfo, KeyMaterial, KeyOrigin, KeyRoad};
use rekeyscope_model::analysis::{Direction, KeyFile};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// Addresses whose NAT keepalives are known: as many as a server of this size has clients.
pub(crate) const MOST_KEEPALIVES: usize = 4_096;

/// The record of an analysis.
#[derive(Debug, Default)]
pub struct Record {
    pub(crate) options: Options,
    /// The files that the keys came from.
    pub(crate) key_files: Vec<KeyFile>,
    pub(crate) timeline: Timeline,
    /// The tunnel of each exchange of the timeline; `None` beyond the bound of tunnels.
    pub(crate) exchange_tunnels: Vec<Option<TunnelIndex>>,
    pub(crate) tunnels: TunnelTable,
    pub(crate) sas: SaDatabase,
    pub(crate) snapshots: Vec<Snapshot>,
    pub(crate) flows: FlowTable,
    pub(crate) connections: Connections,
    pub(crate) meters: Meters,
    pub(crate) traffic: TrafficReading,
    pub(crate) totals: Totals,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) diagnosis: Diagnosis,
    pub(crate) clock_events: Vec<ClockEvent>,
    pub(crate) damaged: DamagedRuns,
    /// Nanoseconds by which packets come again later: captures with clocks apart were merged.
    pub(crate) copies_apart: Option<i64>,
    /// Nanoseconds in whose multiples the frames' times are apart, where that is too coarse for silences.
    pub(crate) clock_step: Option<i64>,
    pub(crate) control: ControlLog,
    pub(crate) icmp: IcmpLog,
    /// IKE messages whose fragments did not all come.
    pub(crate) incomplete_ike: Vec<IncompleteIke>,
    /// Stretches in which first fragments of ESP came without the others.
    pub(crate) first_fragments: Vec<FirstFragments>,
    /// Time and number of the frames that ended a PPPoE session.
    pub(crate) pppoe_ended: Vec<(Timestamp, u64)>,
    /// Senders of NAT keepalives (RFC 3948 §2.3), at most [`MOST_KEEPALIVES`].
    pub(crate) keepalives: HashSet<IpAddr>,
    /// Packets of ESP that came in part.
    pub(crate) cut_packets: Vec<CutPackets>,
    /// Every packet, where another capture point is to be compared with this one.
    pub(crate) point: Option<PointRecord>,
}

/// The place of a key, in words.
pub(crate) fn place(record: &Record, origin: &KeyOrigin) -> String {
    let file = record.key_files.get(origin.file);
    let (path, block) = file.map_or(("", None), |f| (f.path.as_str(), f.block));
    key_place(path, block, origin.line)
}

impl Record {
    /// Nothing but the keys that will be tried.
    pub(crate) fn new(options: Options, mut keys: KeyMaterial, pre_shared_keys: Vec<SecretBytes>) -> Self {
        Record {
            key_files: key_files(&keys),
            timeline: Timeline::new(std::mem::take(&mut keys.ike))
                .with_seeds(std::mem::take(&mut keys.seeds))
                .with_pre_shared_keys(pre_shared_keys),
            sas: SaDatabase::new(keys),
            connections: Connections::new(options.account()),
            point: options.two_points.then(PointRecord::default),
            options,
            ..Record::default()
        }
    }

    /// Times of the first and the last Delete of each SA, by the side that deletes, which receives on it, and its SPI.
    pub(crate) fn deletes(&self) -> HashMap<(IpAddr, Spi), (Timestamp, Timestamp)> {
        let mut deletes = HashMap::new();
        for deletion in self.timeline.exchanges().iter().flat_map(|e| &e.deletes) {
            let time = deletion.time;
            let (first, last) = deletes.entry((deletion.by, deletion.spi)).or_insert((time, time));
            (*first, *last) = (time.min(*first), time.max(*last));
        }
        deletes
    }

    /// The exchanges of the timeline, each with its tunnel.
    pub(crate) fn exchanges(&self) -> impl Iterator<Item = (TunnelIndex, &Exchange)> {
        let all = self.timeline.exchanges().iter().zip(&self.exchange_tunnels);
        all.filter_map(|(exchange, tunnel)| Some(((*tunnel)?, exchange)))
    }

    /// The SAs of a tunnel in order of appearance.
    pub(crate) fn sas_of(&self, tunnel: TunnelIndex) -> impl Iterator<Item = &Association> + Clone {
        let own = self.sas.of_tunnel(tunnel).iter();
        own.map(|&sa| &self.sas.associations()[sa])
    }

    /// The SAs of the tunnels that the user chose, in order of appearance.
    pub(crate) fn wanted_sas(&self) -> impl Iterator<Item = &Association> {
        let all = self.sas.associations().iter();
        all.filter(|a| self.wants(a.tunnel))
    }

    /// The document's direction for that of a side.
    pub(crate) fn published(&self, (tunnel, direction): Side) -> Direction {
        self.tunnels.tunnels[tunnel].published(direction)
    }

    /// The tables that rekeys are recognised by.
    pub(crate) fn evidence(&self) -> Evidence<'_> {
        Evidence {
            tunnels: &self.tunnels.tunnels,
            exchanges: self.timeline.exchanges(),
            exchange_tunnels: &self.exchange_tunnels,
            associations: self.sas.associations(),
            snapshots: &self.snapshots,
        }
    }

    /// Tells whether the user chose this tunnel. Those not chosen are decoded (a chosen one may be inside), and told of nowhere.
    pub(crate) fn wants(&self, tunnel: TunnelIndex) -> bool {
        self.options.tunnel.is_none_or(|choice| {
            let ends = self.tunnels.tunnels.get(tunnel).map(|t| t.ends);
            ends.is_none_or(|ends| choice.takes(tunnel, ends))
        })
    }
}

/// A line of a key file, or of a Decryption Secrets Block of the capture.
pub(crate) fn key_place(path: &str, block: Option<u64>, line: u64) -> String {
    match block {
        None if line == 0 => path.to_owned(),
        Some(block) => format!("{path}, Decryption Secrets Block {block}, line {line}"),
        None => format!("{path}:{line}"),
    }
}

/// The key files as the document lists them, in their order.
pub(crate) fn key_files(keys: &KeyMaterial) -> Vec<KeyFile> {
    let describe = |(index, file): (usize, &KeyFileInfo)| KeyFile {
        path: file.path.display().to_string(),
        block: file.block,
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
            .map(|p| {
                let place = key_place(&file.path.to_string_lossy(), file.block, p.line);
                format!("{place}: {}", p.sentence)
            })
            .collect(),
    };
    keys.files.iter().enumerate().map(describe).collect()
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Totals {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) first_time: Option<Timestamp>,
    pub(crate) last_time: Option<Timestamp>,
    pub(crate) previous_time: Option<Timestamp>,
    /// The time that the frame has.
    pub(crate) previous_raw_time: Option<Timestamp>,
    pub(crate) cut_packets: u64,
    pub(crate) time_regressions: u64,
    pub(crate) ike_packets: u64,
    pub(crate) esp_packets: u64,
    pub(crate) capture_duplicates: u64,
    pub(crate) oversized: u64,
}

impl Totals {
    /// Seconds from the first frame to the last.
    pub(crate) fn seconds(&self) -> Option<f64> {
        Some(self.last_time?.seconds_since(self.first_time?))
    }
}

/// File, line and road of a key.
pub(crate) fn key_source(record: &Record, origin: &KeyOrigin) -> String {
    let road = match origin.road {
        KeyRoad::Explicit => "explicit",
        KeyRoad::Mined => "mined",
        KeyRoad::Derived => "derived",
    };
    format!("{} ({road})", place(record, origin))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Jump {
    /// The clock was set.
    Step,
    /// Packets that come before those already read, or again.
    OutOfOrder,
    /// A long silence that may be either.
    Undecided,
}

/// One jump.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockEvent {
    pub(crate) frame: u64,
    pub(crate) jump: Jump,
    /// Nanoseconds by which the frames' times jump, without the time that really passed.
    pub(crate) nanos: i64,
    /// The peers' clocks say so; otherwise its size is that of the silence.
    pub(crate) measured: bool,
}
