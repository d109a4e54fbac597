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
