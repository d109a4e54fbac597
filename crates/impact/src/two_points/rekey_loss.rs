//! What the SAs of a rekey lost between the points.

use crate::tell::two_points as tell;
use crate::two_points::lane::PointLaneKey;
use rekeyscope_model::analysis::{Direction, PointRekey};
use rekeyscope_model::spi::{IkeSpi, Spi};
use rekeyscope_model::time::Timestamp;
use std::collections::{BTreeMap, HashMap};

/// One direction of a rekey, as the analysis of this capture has it.
#[derive(Debug, Clone, Copy)]
pub struct RekeyAt {
    /// Index in the document.
    pub rekey: usize,
    /// Its number in its tunnel.
    pub number: usize,
    /// Index of the tunnel.
    pub tunnel: usize,
    /// Which direction.
    pub direction: Direction,
    /// The SA that ends.
    pub old: Option<Spi>,
    /// The SA that begins.
    pub new: Option<Spi>,
    /// The switch; where there is none, the first message.
    pub zero: Timestamp,
    /// What is lost from here on …
    pub from: Timestamp,
    /// … to here belongs to it; where rekeys are close, to the one whose `zero` is closest.
    pub to: Timestamp,
    /// Cookie and message ID of its exchange.
    pub exchange: Option<(IkeSpi, u32)>,
}

/// What passed the first point.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PassedFirst {
    /// A packet of an SA that came to the second point.
    Arrived(Spi),
    /// One that did not.
    Lost(Spi),
    /// A message that did not.
    LostMessage(IkeSpi, u32),
}

/// What one direction of a rekey lost so far.
#[derive(Debug, Default, Clone, Copy)]
struct RekeyTally {
    old: u64,
    new: u64,
    ike: u64,
    sent: u64,
    span: Option<(Timestamp, Timestamp)>,
}

/// Losses, handed to the rekeys that they belong to.
pub(crate) struct RekeyLosses<'r> {
    rekeys: &'r [RekeyAt],
    by_spi: HashMap<(PointLaneKey, Spi), Vec<usize>>,
    by_exchange: HashMap<(PointLaneKey, IkeSpi, u32), Vec<usize>>,
    tallies: BTreeMap<usize, RekeyTally>,
    /// Away from all rekeys: packets that passed the first point, and those of them that were lost.
    elsewhere: HashMap<PointLaneKey, (u64, u64)>,
}

impl<'r> RekeyLosses<'r> {
    pub(crate) fn of(rekeys: &'r [RekeyAt]) -> Self {
        let mut by_spi: HashMap<(PointLaneKey, Spi), Vec<usize>> = HashMap::new();
        let mut by_exchange: HashMap<(PointLaneKey, IkeSpi, u32), Vec<usize>> = HashMap::new();
        for (place, rekey) in rekeys.iter().enumerate() {
            let lane = (rekey.tunnel, rekey.direction);
            for spi in rekey.old.into_iter().chain(rekey.new) {
                by_spi.entry((lane, spi)).or_default().push(place);
            }
            if let Some((spi, id)) = rekey.exchange {
                by_exchange.entry((lane, spi, id)).or_default().push(place);
            }
        }
        RekeyLosses {
            rekeys,
            by_spi,
            by_exchange,
            tallies: BTreeMap::new(),
            elsewhere: HashMap::new(),
        }
    }

    pub(crate) fn take(&mut self, lane: PointLaneKey, time: Timestamp, sent: PassedFirst) {
        let found = match sent {
            PassedFirst::Arrived(spi) | PassedFirst::Lost(spi) => self.by_spi.get(&(lane, spi)),
            PassedFirst::LostMessage(spi, id) => self.by_exchange.get(&(lane, spi, id)),
        };
        let rekeys = self.rekeys;
        let near = found.into_iter().flatten().filter_map(|&place| {
            let rekey = rekeys.get(place)?;
            let within = (rekey.from..=rekey.to).contains(&time);
            within.then_some((time.nanos_since(rekey.zero).saturating_abs(), place, rekey))
        });
        let Some((_, place, rekey)) = near.min_by_key(|(away, ..)| *away) else {
            let (all, lost) = self.elsewhere.entry(lane).or_default();
            *all += u64::from(!matches!(sent, PassedFirst::LostMessage(..)));
            *lost += u64::from(matches!(sent, PassedFirst::Lost(_)));
            return;
        };
        let tally = self.tallies.entry(place).or_default();
        tally.sent += u64::from(!matches!(sent, PassedFirst::LostMessage(..)));
        match sent {
            PassedFirst::Arrived(_) => return,
            PassedFirst::LostMessage(..) => tally.ike += 1,
            PassedFirst::Lost(spi) if rekey.new == Some(spi) => tally.new += 1,
            PassedFirst::Lost(_) => tally.old += 1,
        }
        let (first, last) = tally.span.unwrap_or((time, time));
        tally.span = Some((first.min(time), last.max(time)));
    }

    /// Those that lost something, in the order of the rekeys.
    pub(crate) fn told(self) -> Vec<PointRekey> {
        let tallies = self.tallies.into_iter();
        tallies
            .filter_map(|(place, tally)| {
                let rekey = self.rekeys.get(place)?;
                let (first, last) = tally.span?;
                let entry = PointRekey {
                    rekey: rekey.rekey,
                    number: rekey.number,
                    tunnel: rekey.tunnel,
                    direction: rekey.direction,
                    old_spi: rekey.old,
                    old_lost: tally.old,
                    new_spi: rekey.new,
                    new_lost: tally.new,
                    sent: tally.sent,
                    usual_lost: self
                        .elsewhere
                        .get(&(rekey.tunnel, rekey.direction))
                        .filter(|(all, _)| *all > 0)
                        .map(|&(all, lost)| tally.sent as f64 * lost as f64 / all as f64),
                    ike_lost: tally.ike,
                    first_ms: first.millis_since(rekey.zero),
                    last_ms: last.millis_since(rekey.zero),
                    sentence: String::new(),
                    messages: Vec::new(),
                };
                let said = tell::rekey(&entry);
                Some(PointRekey {
                    sentence: said.sentence,
                    messages: said.messages,
                    ..entry
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_MILLI;

    const LANE: PointLaneKey = (0, Direction::AToB);
    const OLD: Spi = Spi(1);
    const NEW: Spi = Spi(2);

    fn at(ms: i64) -> Timestamp {
        Timestamp(ms * NANOS_PER_MILLI)
    }

    /// Within a second before its switch, and two behind it.
    fn rekey(number: usize, zero: i64) -> RekeyAt {
        RekeyAt {
            rekey: number + 10,
            number,
            tunnel: 0,
            direction: Direction::AToB,
            old: Some(OLD),
            new: Some(NEW),
            exchange: Some((IkeSpi([7; 8]), 3)),
            from: at(zero - 1_000),
            to: at(zero + 2_000),
            zero: at(zero),
        }
    }

    #[test]
    fn what_is_lost_around_a_rekey_is_counted_by_sa() {
        let rekeys = [rekey(1, 5_000)];
        let mut losses = RekeyLosses::of(&rekeys);
        let mut take = |ms, sent| losses.take(LANE, at(ms), sent);
        for (ms, sent) in [
            (4_000, PassedFirst::Lost(OLD)),
            (4_990, PassedFirst::Lost(OLD)),
            (5_000, PassedFirst::Lost(NEW)),
            (5_010, PassedFirst::Arrived(NEW)),
            (7_000, PassedFirst::LostMessage(IkeSpi([7; 8]), 3)),
            (4_500, PassedFirst::LostMessage(IkeSpi([7; 8]), 4)),
            // Away from it: one of four is lost.
            (3_999, PassedFirst::Lost(OLD)),
            (7_001, PassedFirst::Arrived(NEW)),
            (9_000, PassedFirst::Arrived(NEW)),
            (5_000, PassedFirst::Arrived(Spi(3))),
        ] {
            take(ms, sent);
        }
        let told = losses.told();
        let [own] = &told[..] else { panic!("{told:?}") };
        assert_eq!((own.rekey, own.number), (11, 1));
        assert_eq!((own.old_lost, own.new_lost, own.ike_lost, own.sent), (2, 1, 1, 4));
        assert_eq!((own.first_ms, own.last_ms), (-1_000.0, 2_000.0));
        assert_eq!(own.usual_lost, Some(1.0));
        assert!(own.sentence.starts_with("Rekey 1: 2 packets of the old SA"));
    }

    #[test]
    fn of_two_rekeys_the_nearer_one_has_it() {
        let rekeys = [rekey(1, 5_000), rekey(2, 6_000), rekey(3, 20_000)];
        let mut losses = RekeyLosses::of(&rekeys);
        for ms in [5_499, 5_501, 5_502] {
            losses.take(LANE, at(ms), PassedFirst::Lost(NEW));
        }
        losses.take(LANE, at(20_000), PassedFirst::Arrived(NEW));
        let told = losses.told();
        let lost: Vec<_> = told
            .iter()
            .map(|r| (r.number, r.new_lost, r.usual_lost))
            .collect();
        assert_eq!(lost, [(1, 1, None), (2, 2, None)], "the third lost nothing");
    }
}
