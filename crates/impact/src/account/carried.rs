//! State of one direction of a connection between two pieces, and how a piece is gone over.

use super::flow::Measured;
use super::half::Half;
use super::sweep::rules::sweep;
use super::sweep::sender::TcpSender;
use super::sweep::track::Track;
use rekeyscope_model::analysis::OwnRate;

/// State of one direction.
#[derive(Debug, Clone, Default)]
pub(super) struct Carried {
    pub(super) half: Half,
    /// `None` until it sends something.
    sender: Option<TcpSender>,
    pub(super) track: Track,
    /// C of the direction while it was open, bytes/s: the highest of its pieces.
    pub(super) own: Option<(f64, OwnRate)>,
}

impl Carried {
    /// The first piece with data begins.
    pub(super) fn begin(&mut self) {
        if let (None, Some(first)) = (&self.sender, self.half.data.first()) {
            self.sender = Some(TcpSender::new(first.seq, self.half.mss));
            self.track.measured = Measured::new(&self.half);
        }
    }

    /// Makes steps of the piece. `rates`: how near to C it is at each packet, or empty.
    pub(super) fn go_over(&mut self, rates: &[f32]) {
        let first = self.track.steps.len();
        if let Some(sender) = &mut self.sender {
            sweep(&self.half, rates, sender, &mut self.track);
        }
        self.track.complete(first, self.half.times());
        (self.half.data, self.half.acks) = (Vec::new(), Vec::new());
    }

    /// Says of each packet of the piece whether the window was full before it.
    pub(super) fn full_windows(&self) -> Vec<bool> {
        let (Some(mut sender), mut track) = (self.sender.clone(), Track::default()) else {
            return Vec::new();
        };
        sweep(&self.half, &[], &mut sender, &mut track);
        track.mark_full(0, self.half.times());
        track
            .steps
            .iter()
            .map(|step| step.touched || step.kind.between_full)
            .collect()
    }
}

/// A rate that is proven counts more than one that was merely seen.
pub(super) fn higher(a: (f64, OwnRate), b: (f64, OwnRate)) -> (f64, OwnRate) {
    let rank = |own: (f64, OwnRate)| (own.1 == OwnRate::Proven, own.0);
    if rank(b) > rank(a) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_counts_more_than_what_was_merely_seen() {
        use OwnRate::{Best, Proven};
        assert_eq!(higher((2.0, Best), (1.0, Proven)), (1.0, Proven));
        assert_eq!(higher((1.0, Proven), (2.0, Best)), (1.0, Proven));
        assert_eq!(higher((1.0, Best), (2.0, Best)), (2.0, Best));
        assert_eq!(higher((3.0, Proven), (2.0, Proven)), (3.0, Proven));
    }

    /// Of two segments, and of two more: the second packet fills it, and the fourth.
    #[test]
    fn windows_are_full_before_packets_that_follow_on_one_that_filled_them() {
        use crate::account::made_up::{ack, at, data, half};
        let seen = Half {
            d2: Some(0),
            rtt: at(40),
            data: vec![
                data(10, 0),
                data(11, 1_000),
                data(20, 2_000),
                data(21, 3_000),
                data(500, 4_000),
                data(501, 5_000),
            ],
            acks: vec![ack(0, 0, 2_000), ack(15, 1_000, 3_000), ack(30, 4_000, 60_000)],
            ..half()
        };
        let full_windows = |half: &Half| {
            let mut carried = Carried {
                half: half.clone(),
                ..Carried::default()
            };
            carried.begin();
            carried.full_windows()
        };
        assert_eq!(full_windows(&seen), [false, false, true, true, true, false]);
        let unlimited = Half {
            acks: vec![ack(0, 0, 60_000)],
            ..seen
        };
        assert_eq!(full_windows(&unlimited), [false; 6]);
    }
}
