//! What a second capture point would have seen of a capture: **synthetic**, also where the capture is real. The packets are the same; when
//! they pass, which of them, and under which addresses is what a test says.

use crate::containers::Packet;
use crate::headers::checksum;
use rekeyscope_model::time::Timestamp;

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Both points see it.
    Passes,
    /// The point that it passes first sees it alone.
    LostBetween,
    /// Neither sees it.
    LostBefore,
    /// Both see it, the far one twice.
    CopiedThere,
    /// Both see it; it takes so much longer, in nanoseconds.
    Late(i64),
    /// Only the point that it passes second sees it: the first one did not record it.
    NotRecorded,
}

/// The far point and the path to it.
#[derive(Debug, Clone, Copy)]
pub struct FarPoint {
    /// The address at the near point's side: its packets pass the near point first.
    pub near: [u8; 4],
    /// The far clock is so much ahead at the first packet, nanoseconds.
    pub offset: i64,
    /// And gains so much, parts per million.
    pub drift_ppm: f64,
    /// Shortest delay away from the near point, and back, nanoseconds.
    pub delay: [i64; 2],
    /// Mean of what comes on top (exponential), nanoseconds.
    pub jitter: f64,
    /// The address of the far end, as the near point knows it, and as the far point does.
    pub nat: Option<([u8; 4], [u8; 4])>,
    /// Routers between the points: each takes one off the TTL.
    pub hops: u8,
    /// Of the jitter.
    pub seed: u64,
}

impl FarPoint {
    /// 37 ms ahead, gaining 20 ppm, 10 ms round trip, jitter of 1 ms.
    pub fn of(near: [u8; 4]) -> FarPoint {
        FarPoint {
            near,
            offset: 37_000_000,
            drift_ppm: 20.0,
            delay: [5_000_000, 5_000_000],
            jitter: 1e6,
            nat: None,
            hops: 0,
            seed: 7,
        }
    }

    /// What both points see of these packets (Ethernet, IPv4), each in the order of its clock.
    pub fn sides(
        &self,
        packets: &[Packet],
        mut fate: impl FnMut(usize, &Packet) -> Fate,
    ) -> (Vec<Packet>, Vec<Packet>) {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        let first = packets.first().map_or(Timestamp(0), |p| p.time);
        let mut state = self.seed | 1;
        for (place, packet) in packets.iter().enumerate() {
            // xorshift64
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let uniform = (state >> 11) as f64 / (1u64 << 53) as f64;
            let jitter = (-self.jitter * (1.0 - uniform).ln()) as i64;
            let fate = fate(place, packet);
            let late = if let Fate::Late(nanos) = fate { nanos } else { 0 };
            let [out, back] = self.delay;
            let leaves = packet.data.get(26..30) == Some(&self.near);
            let delay = jitter + late;
            let true_time = match leaves {
                true => packet.time.plus_nanos(out + delay),
                false => packet.time.plus_nanos(-back - delay),
            };
            let passed = true_time.nanos_since(first) as f64;
            let gained = (passed * self.drift_ppm / 1e6) as i64;
            let seen_there = Packet {
                time: true_time.plus_nanos(self.offset + gained),
                data: self.beyond_the_routers(&packet.data, leaves),
                ..packet.clone()
            };
            let first_only = |first: bool| match fate {
                Fate::LostBefore => false,
                Fate::LostBetween => first,
                Fate::NotRecorded => !first,
                _ => true,
            };
            if first_only(leaves) {
                here.push(packet.clone());
            }
            if first_only(!leaves) {
                there.push(seen_there.clone());
            }
            if fate == Fate::CopiedThere {
                let time = seen_there.time.plus_nanos(2_000);
                there.push(Packet { time, ..seen_there });
            }
        }
        there.sort_by_key(|packet| packet.time);
        (here, there)
    }

    fn beyond_the_routers(&self, frame: &[u8], leaves: bool) -> Vec<u8> {
        let mut frame = frame.to_vec();
        if self.nat.is_none() && self.hops == 0 {
            return frame;
        }
        for at in [26, 30] {
            if let Some((near, far)) = self.nat
                && frame.get(at..at + 4) == Some(&near)
            {
                frame[at..at + 4].copy_from_slice(&far);
            }
        }
        if let Some(header) = frame.get_mut(14..34) {
            header[8] = match leaves {
                true => header[8] - self.hops,
                false => header[8] + self.hops,
            };
            header[10..12].fill(0);
            let sum = checksum(header);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        frame
    }
}
