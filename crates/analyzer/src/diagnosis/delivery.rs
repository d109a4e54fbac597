//! Stretches in which a direction delivered nothing: streaming, in bounded memory. What they were, rest or an outage, is
//! decided when everything is known ([`crate::assembly`]).
//!
//! Delivered is what inner TCP acknowledges; other payload when it arrives, while no TCP data waits for its acknowledgement;
//! without keys, what the other side sends something after. Times are those of the data, not of the acknowledgements.

mod lane;

pub(crate) use lane::{DeliveredPacket, DeliveryLane, LEAST_STRETCH, ProgressKind, UndeliveredStretch};

use crate::diagnosis::record::PacketRecord;
use rekeyscope_ipsec::esp::inner::TcpSegment;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::Timestamp;

/// Tunnels that are watched, as in [`crate::diagnosis::whole_run`].
const MOST_TUNNELS: usize = 1_024;
/// Most stretches that are kept, some 200 bytes each; later ones are counted only.
const MOST_STRETCHES: usize = 1 << 13;

/// All tunnels.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    lanes: Vec<[DeliveryLane; 2]>,
    found: Vec<UndeliveredStretch>,
    /// Stretches beyond [`MOST_STRETCHES`].
    pub(crate) left_out: u64,
}

impl Delivery {
    /// Takes an ESP packet.
    #[inline]
    pub(crate) fn take(&mut self, p: &PacketRecord) {
        let tunnel = usize::from(p.tunnel);
        let Some(lanes) = lanes_of(&mut self.lanes, tunnel) else {
            return;
        };
        let [a, b] = lanes;
        let (own, other) = if p.slot() == 0 { (a, b) } else { (b, a) };
        if p.flags & (TcpSegment::SYN | TcpSegment::RST) != 0 {
            own.forget(p.connection);
            other.forget(p.connection);
        }
        let answered = if !p.is_opened() {
            own.sends_unread(p);
            other.is_answered(p)
        } else if p.acknowledges() {
            let before = other.delivered_at();
            let stretch = other.is_acknowledged(p);
            if other.delivered_at() > before {
                own.passes(p);
            }
            stretch
        } else {
            None
        };
        let arrived = if p.is_tcp_data() {
            own.sends(p);
            None
        } else if p.is_opened() && !p.is_tcp() && p.payload > 0 {
            own.arrives(p)
        } else {
            None
        };
        let of_lane = |stretch: UndeliveredStretch, slot| UndeliveredStretch {
            tunnel,
            slot,
            ..stretch
        };
        let found = answered.map(|s| of_lane(s, 1 - p.slot()));
        let found = found.into_iter().chain(arrived.map(|s| of_lane(s, p.slot())));
        for stretch in found {
            if self.found.len() < MOST_STRETCHES {
                self.found.push(stretch);
            } else {
                self.left_out += 1;
            }
        }
    }

    /// An IKE message passes: a stretch without any packet may be more than rest.
    pub(crate) fn ike_message(&mut self, tunnel: TunnelIndex) {
        for lane in lanes_of(&mut self.lanes, tunnel).into_iter().flatten() {
            lane.negotiates();
        }
    }

    /// All stretches in order of time, with those that the end of the capture leaves open.
    pub(crate) fn stretches(&self, ends: Timestamp) -> Vec<UndeliveredStretch> {
        let mut all = self.found.clone();
        for (tunnel, lanes) in self.lanes.iter().enumerate() {
            for (slot, lane) in lanes.iter().enumerate() {
                let open = lane.open_at(ends);
                all.extend(open.map(|stretch| UndeliveredStretch {
                    tunnel,
                    slot,
                    ..stretch
                }));
            }
        }
        all.sort_by_key(|s| (s.from.time, s.tunnel, s.slot));
        all
    }
}

/// Those of a tunnel, made on first sight; `None` at the bound.
fn lanes_of(lanes: &mut Vec<[DeliveryLane; 2]>, tunnel: TunnelIndex) -> Option<&mut [DeliveryLane; 2]> {
    if tunnel >= MOST_TUNNELS {
        return None;
    }
    if tunnel >= lanes.len() {
        lanes.resize_with(tunnel + 1, Default::default);
    }
    lanes.get_mut(tunnel)
}
