//! The packets around a rekey as the document has them: relative times, published directions, IKE messages beside them.

use crate::assembly::places::Places;
use crate::diagnosis::{CloseUpPoint, CloseUpRecord};
use crate::pipeline::record::Record;
use rekeyscope_ipsec::ike::timeline::Exchange;
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::analysis::*;
use rekeyscope_model::time::Timestamp;

/// Most IKE messages of one; they come in tens, and an exchange that is repeated for seconds says no more by its 65th.
const MOST_MESSAGES: usize = 64;

/// That of a rekey, where the diagnosis kept one.
pub(crate) fn close_up(record: &Record, places: &Places, s: &Succession) -> Option<CloseUp> {
    let kept = record.diagnosis.close_up(s)?;
    let zero = s.started.or(s.switched.iter().flatten().min().copied())?;
    let tunnel = &record.tunnels.tunnels[s.tunnel];
    let public = |slot: usize| tunnel.published(Direction::BOTH[slot]);
    let described = CloseUpDescription {
        record,
        kept,
        zero,
        renewed: [0, 1].map(|d| renewed(record, s, d)),
    };
    let answers = 1 - kept.slot;
    let scale = kept
        .connection
        .and_then(|c| record.connections.scale(c, kept.slot));
    let mut series = described.series(public(kept.slot), kept.slot, &kept.data, None);
    series.extend(described.series(public(answers), answers, &kept.answers, scale));
    let marked = |is: fn(&CloseUpPoint) -> bool| {
        let of_it = kept.data.iter().filter(|p| is(p));
        of_it.map(|p| p.frame).collect()
    };
    let [old, new] = described.renewed[kept.slot];
    let associations = record.sas.associations();
    Some(CloseUp {
        direction: public(kept.slot),
        numbers: match kept.connection {
            Some(_) => CloseUpNumbers::TcpBytes,
            None => CloseUpNumbers::EspPackets,
        },
        connection: described.connection(),
        from_ms: described.ms(kept.from),
        to_ms: described.ms(kept.to),
        last_on_old: described.packet(old.and_then(|sa| associations[sa].last)),
        first_on_new: described.packet(new.and_then(|sa| associations[sa].first)),
        series,
        lost_frames: marked(|p| p.lost),
        repeated_frames: marked(|p| p.repeated),
        ike: described.messages(places, s.tunnel),
        left_out: kept.left_out,
    })
}

/// The SAs that end and begin in direction `d`; of several old ones that which carried the last packet.
fn renewed(record: &Record, s: &Succession, d: usize) -> [Option<SaIndex>; 2] {
    let associations = record.sas.associations();
    let left_last = |sa: &SaIndex| associations[*sa].last.map(|l| l.0) == s.left[d];
    let own = record.sas.of_tunnel(s.tunnel).iter().copied();
    let mut used_last = own
        .filter(|sa| slot(associations[*sa].direction) == d)
        .filter(left_last);
    [
        s.old[d]
            .filter(left_last)
            .or_else(|| used_last.next())
            .or(s.old[d]),
        s.new[d],
    ]
}

/// What is written down, and the moment that its times count from.
struct CloseUpDescription<'a> {
    record: &'a Record,
    kept: &'a CloseUpRecord,
    zero: Timestamp,
    /// The SAs that end and begin, per direction.
    renewed: [[Option<SaIndex>; 2]; 2],
}

impl CloseUpDescription<'_> {
    fn ms(&self, time: Timestamp) -> f64 {
        // Captures have microseconds at least, plots show less.
        (time.millis_since(self.zero) * 1e3).round() / 1e3
    }

    fn is_shown(&self, time: Timestamp) -> bool {
        (self.kept.from..=self.kept.to).contains(&time)
    }

    fn packet(&self, seen: Option<(Timestamp, u64)>) -> Option<CloseUpPacket> {
        let (time, frame) = seen.filter(|(time, _)| self.is_shown(*time))?;
        Some(CloseUpPacket {
            ms: self.ms(time),
            frame,
        })
    }

    fn connection(&self) -> Option<CloseUpConnection> {
        let (id, direction) = (self.kept.connection?, Direction::BOTH[self.kept.slot]);
        let flow = self.record.flows.flow_of(id, direction)?;
        Some(CloseUpConnection {
            src: flow.src,
            src_port: flow.src_port,
            dst: flow.dst,
            dst_port: flow.dst_port,
        })
    }

    /// The packets of a direction, by SA. `scale`: shift of the windows that they advertise.
    fn series(
        &self,
        direction: Direction,
        slot: usize,
        points: &[CloseUpPoint],
        scale: Option<u8>,
    ) -> Vec<CloseUpSeries> {
        let [old, new] = self.renewed[slot];
        let age = |p: &CloseUpPoint| match Some(p.sa) {
            sa if sa == new => SaAge::New,
            sa if sa == old => SaAge::Old,
            _ => SaAge::Other,
        };
        let of_age = |sa: SaAge| {
            let own: Vec<&CloseUpPoint> = points.iter().filter(|p| age(p) == sa).collect();
            let edge = |scale: u8| own.iter().map(move |p| p.value + (i64::from(p.window) << scale));
            (!own.is_empty()).then(|| CloseUpSeries {
                direction,
                sa,
                ms: own.iter().map(|p| self.ms(p.time)).collect(),
                frames: own.iter().map(|p| p.frame).collect(),
                values: own.iter().map(|p| p.value).collect(),
                window_edges: scale.map_or_else(Vec::new, |scale| edge(scale).collect()),
            })
        };
        let ages = [SaAge::Old, SaAge::New, SaAge::Other];
        ages.into_iter().filter_map(of_age).collect()
    }

    /// The messages of all exchanges of the tunnel, in order of time.
    fn messages(&self, places: &Places, tunnel: usize) -> Vec<CloseUpMessage> {
        let all = self.record.timeline.exchanges().iter().enumerate();
        let own = all.filter(|(e, _)| self.record.exchange_tunnels.get(*e) == Some(&Some(tunnel)));
        let near = own.filter(|(_, e)| {
            e.first_time().is_some_and(|first| first <= self.kept.to)
                && e.last_time().is_some_and(|last| last >= self.kept.from)
        });
        let mut messages: Vec<CloseUpMessage> = near
            .filter_map(|(index, e)| Some((places.exchange(index)?, e)))
            .flat_map(|(index, e)| self.messages_of(index, e, tunnel))
            .collect();
        messages.sort_by(|a, b| a.ms.total_cmp(&b.ms).then(a.frame.cmp(&b.frame)));
        messages.truncate(MOST_MESSAGES);
        messages
    }

    fn messages_of(&self, exchange: usize, e: &Exchange, tunnel: usize) -> Vec<CloseUpMessage> {
        let ends = &self.record.tunnels.tunnels[tunnel];
        let mut sent = 0;
        let mut by = Vec::new();
        let mut all = Vec::new();
        for m in &e.records {
            if !m.retransmission {
                sent += 1;
                by.push((m.src, sent));
            }
            let own = by.iter().rev().find(|(src, _)| *src == m.src);
            all.push(CloseUpMessage {
                ms: self.ms(m.time),
                frame: m.frame,
                direction: ends.published(ends.direction_to(e.other_than(m.src))),
                exchange,
                message: own.map_or(sent, |(_, number)| *number),
                retransmission: m.retransmission,
            });
        }
        all.retain(|m| (self.ms(self.kept.from)..=self.ms(self.kept.to)).contains(&m.ms));
        all
    }
}
