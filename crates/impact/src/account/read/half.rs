//! One direction of a connection, or a piece of it: its data, its acknowledgements, and how long they take.

use super::data::{Ack, Data};
use super::reading::Reading;
use super::scale::inferred_scale;
use crate::account::packet::Source;
use rekeyscope_model::analysis::D2Source;
use rekeyscope_model::time::NANOS_PER_MILLI;
use rekeyscope_traffic::BESIDE_RECEIVER;

/// A handshake may be a little slower than what follows; too large a d2 makes waits for the window look like the application's.
const D2_SHARE: f64 = 0.95;
/// See [`D2_SHARE`].
const D2_MARGIN: i64 = NANOS_PER_MILLI;

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Half {
    /// It can be read, and has sequence numbers.
    pub(crate) tcp: bool,
    pub(crate) data: Vec<Data>,
    pub(crate) acks: Vec<Ack>,
    /// Largest payload, bytes.
    pub(crate) mss: u64,
    /// Shift of the receiver's window.
    pub(crate) scale: u8,
    /// It stands in the handshake.
    pub(crate) scale_known: bool,
    /// Least time from data to its acknowledgement, nanoseconds; `None` without acknowledgements.
    pub(crate) d1: Option<i64>,
    /// Least time from what it echoes, nanoseconds.
    pub(crate) echoed: Option<i64>,
    /// From an acknowledgement to what it releases, as it is used.
    pub(crate) d2: Option<i64>,
    pub(crate) d2_from: D2Source,
    /// Least round trip, of d2 as it is used.
    pub(crate) rtt: i64,
    /// Least round trip, as it was measured.
    pub(crate) measured_rtt: Option<i64>,
    /// Neither handshake nor timestamps: what limits the flight cannot be told.
    pub(crate) blind: bool,
    /// Its first packets are there, so that data was under way without a queue of its own.
    pub(crate) begun: bool,
    /// It was closed.
    pub(crate) ended: bool,
}

impl Half {
    /// Of what was read of a connection; `None` without data.
    pub(crate) fn of(reading: &mut Reading, source: &Source<'_>) -> Option<Half> {
        if reading.data.is_empty() {
            return None;
        }
        let (data, acks) = (
            std::mem::take(&mut reading.data),
            std::mem::take(&mut reading.acks),
        );
        reading.delays.learn(source, &data, &acks);
        let d1 = reading.delays.d1.nanos();
        let (d2, d2_from) = reading.delays.d2();
        let used = d2.map(|d2| ((d2 as f64 * D2_SHARE) as i64 - D2_MARGIN).max(0));
        let stated = source.handshake.window_scale(source.receiver());
        reading.scale =
            stated.unwrap_or_else(|| inferred_scale(&data, &acks, used.unwrap_or(0), reading.scale));
        Some(Half {
            tcp: source.tcp,
            mss: reading.largest.max(1),
            scale: reading.scale,
            scale_known: stated.is_some(),
            d1,
            echoed: reading.delays.echoed.nanos(),
            d2: used.filter(|_| d1.is_some()),
            d2_from: if d1.is_some() { d2_from } else { D2Source::None },
            rtt: d1.unwrap_or(0) + used.unwrap_or(0),
            measured_rtt: d1.zip(d2).map(|(d1, d2)| d1 + d2),
            blind: source.tcp && matches!(d2_from, D2Source::Pattern | D2Source::None),
            begun: source.handshake.began(source.sender()),
            ended: reading.is_ended(),
            data,
            acks,
        })
    }

    /// Delays show a queue: not where data is acknowledged right behind the capture, and echoes nothing.
    pub(crate) fn shows_queues(&self) -> bool {
        self.echoed.is_some() || self.d1.is_some_and(|d1| d1 >= BESIDE_RECEIVER)
    }

    /// The receiver's window that an acknowledgement opens.
    pub(crate) fn window(&self, ack: &Ack) -> u64 {
        u64::from(ack.window) << if ack.unscaled { 0 } else { self.scale }
    }
}

#[cfg(test)]
mod tests {
    use crate::account::made_up::{ack, at, half};
    use crate::account::read::half::Half;

    #[test]
    fn a_window_is_scaled_but_that_of_a_syn() {
        let half = Half { scale: 3, ..half() };
        let mut heard = ack(0, 0, 100);
        assert_eq!(half.window(&heard), 800);
        heard.unscaled = true;
        assert_eq!(half.window(&heard), 100);
    }

    #[test]
    fn queues_show_by_echoes_or_away_from_the_receiver() {
        let shows = |d1, echoed| Half { d1, echoed, ..half() }.shows_queues();
        assert!(shows(Some(at(3)), None) && !shows(Some(at(3) - 1), None));
        assert!(shows(None, Some(0)) && !shows(None, None));
    }
}
