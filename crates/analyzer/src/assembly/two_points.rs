//! This capture beside another one of the same tunnels: what each point saw, and the rekeys that packets may have been lost at.

use crate::assembly::document::file;
use crate::pipeline::Record;
use rekeyscope_capture::file::CaptureInfo;
use rekeyscope_capture::join::CapturePiece;
use rekeyscope_impact::two_points::{PointMessage, PointSa, PointTrace, RekeyAt, two_points};
use rekeyscope_model::analysis::{Analysis, Direction, Rekey, TwoPoints};
use rekeyscope_model::spi::{IkeSpi, SaId};

/// A loss so long before the first message or the switch belongs to the rekey …
const BEFORE_S: f64 = 1.0;
/// … and so long after the switch, or the last message: the old SA may be in use until then.
const AFTER_S: f64 = 2.0;

/// What was seen at the point of this capture; it is taken out of the record.
pub fn point_trace(
    record: &mut Record,
    info: &CaptureInfo,
    path: &str,
    pieces: &[CapturePiece],
) -> PointTrace {
    let point = record.point.take().unwrap_or_default();
    let associations = record.sas.associations().iter();
    let sas = associations.map(|a| PointSa {
        id: SaId {
            dst: a.dst,
            protocol: a.protocol,
            spi: a.spi,
        },
        src: a.src,
        tunnel: a.tunnel,
        direction: record.published((a.tunnel, a.direction)),
        left_out: !record.wants(a.tunnel),
    });
    let kept = point.messages.iter().filter(|m| record.wants(m.tunnel));
    let messages = kept.map(|m| PointMessage {
        direction: record.published((m.tunnel, m.direction)),
        ..*m
    });
    PointTrace {
        path: path.to_owned(),
        files: pieces.iter().map(file).collect(),
        sas: sas.collect(),
        messages: messages.collect(),
        covered: record.totals.first_time.zip(record.totals.last_time),
        kept_until: point.kept_until,
        packets_seen: point.packets_seen,
        packets: point.packets,
        dropped_reported: info.dropped_reported,
        truncated: info.truncated,
    }
}

/// The analysis of this capture, with what the comparison gives.
pub fn with_two_points(analysis: Analysis, here: &PointTrace, there: &PointTrace) -> Analysis {
    let compared = compared(&analysis, here, there);
    Analysis {
        two_points: Some(compared),
        ..analysis
    }
}

fn compared(analysis: &Analysis, here: &PointTrace, there: &PointTrace) -> TwoPoints {
    let ways = [Direction::AToB, Direction::BToA];
    let rekeys = analysis.rekeys.iter();
    let rekeys = rekeys.flat_map(|rekey| ways.map(|direction| rekey_at(analysis, rekey, direction)));
    two_points(here, there, &rekeys.flatten().collect::<Vec<_>>())
}

fn rekey_at(analysis: &Analysis, rekey: &Rekey, direction: Direction) -> Option<RekeyAt> {
    let switched = rekey.switched.get(direction);
    let begins = [rekey.started, switched].into_iter().flatten().min()?;
    let finished = rekey
        .started
        .zip(rekey.exchange_ms)
        .map(|(start, ms)| start.plus_seconds(ms / 1000.0));
    let ends = [Some(begins), switched, finished].into_iter().flatten().max()?;
    Some(RekeyAt {
        rekey: rekey.index,
        number: rekey.number,
        tunnel: rekey.tunnel,
        direction,
        old: rekey.old.get(direction),
        new: rekey.new.get(direction),
        zero: switched.unwrap_or(begins),
        from: begins.plus_seconds(-BEFORE_S),
        to: ends.plus_seconds(AFTER_S),
        exchange: exchange_of(analysis, rekey),
    })
}

/// What names the exchange on the wire: cookie and message ID.
fn exchange_of(analysis: &Analysis, rekey: &Rekey) -> Option<(IkeSpi, u32)> {
    let exchange = analysis.exchanges.get(rekey.exchange?)?;
    let ike_sa = analysis.ike_sas.get(exchange.ike_sa?)?;
    let id = exchange.message_id.strip_prefix("0x")?;
    Some((ike_sa.initiator_spi, u32::from_str_radix(id, 16).ok()?))
}
