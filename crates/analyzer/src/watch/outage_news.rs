//! Outages: each is told once, and once more where it was another one.

use super::look::{Look, MOST_OUTAGES, REVIEWED, SETTLED, WatchedDirection};
use rekeyscope_ipsec::rekey::attempt::ON_ITS_WAY;
use rekeyscope_model::analysis::Outage;
use rekeyscope_model::time::{self, NANOS_PER_MILLI, Timestamp};
use rekeyscope_model::watch::{Occurrence, TunnelEnds, WatchEvent};
use rekeyscope_traffic::{INITIAL_RTO, LEAST_TIMEOUT};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Time for which looks have to agree on the end of an outage: an answer that comes late first moves it to where the data had been sent. Longer
/// than the 0.4 s between two looks, and with them shorter than [`SETTLED`], so that nothing is told later for it.
const AGREED: i64 = 500 * NANOS_PER_MILLI;
/// Difference of lengths, seconds, from which on an outage is told again: sentences give no more digits than a millisecond.
const SAME_LENGTH_S: f64 = 0.001;

#[derive(Debug, Clone, Default)]
struct KnownOutage {
    start: Timestamp,
    /// End and length, seconds, as told.
    end: Option<(Timestamp, f64)>,
    announced: bool,
    /// True where the outage was looked at once more.
    reviewed: bool,
    /// Time since which no document has it.
    absent: Option<Timestamp>,
}

impl KnownOutage {
    fn is(&self, outage: &Outage) -> bool {
        let until = |end: Option<Timestamp>| end.unwrap_or(Timestamp(i64::MAX - ON_ITS_WAY));
        let own = self.end.map(|(end, _)| end).or(self.absent);
        outage.start <= until(own).plus_nanos(ON_ITS_WAY)
            && self.start <= until(outage.end).plus_nanos(ON_ITS_WAY)
    }
}

/// The outages that were told.
#[derive(Debug, Default)]
pub(super) struct OutageNews {
    known: BTreeMap<WatchedDirection, VecDeque<KnownOutage>>,
    /// Ends in the last document, each with the time since which looks agree on it.
    ends: BTreeMap<(WatchedDirection, Timestamp), Timestamp>,
    looked: Option<Timestamp>,
}

impl OutageNews {
    /// Says the news of all outages.
    pub(super) fn of(&mut self, look: &Look<'_>, events: &mut Vec<WatchEvent>) {
        let mut seen: BTreeMap<WatchedDirection, Vec<&Outage>> = BTreeMap::new();
        for outage in &look.analysis.outages {
            if let Some(ends) = look.ends(outage.tunnel) {
                seen.entry((ends, outage.direction)).or_default().push(outage);
            }
        }
        for lane in self.known.keys() {
            seen.entry(*lane).or_default();
        }
        // After a long time without a look nobody knows since when.
        let before = self.looked.replace(look.now);
        let since = before
            .filter(|before| look.settled(*before, SETTLED))
            .unwrap_or(look.now);
        let mut ends = BTreeMap::new();
        for (lane, outages) in &seen {
            for end in outages.iter().filter_map(|outage| outage.end) {
                let name = (*lane, end);
                ends.insert(name, self.ends.get(&name).copied().unwrap_or(since));
            }
        }
        self.ends = ends;
        for (lane, outages) in seen {
            let known = self.known.entry(lane).or_default();
            let mut rest: VecDeque<KnownOutage> = std::mem::take(known);
            let mut put = |event: Option<Occurrence>, time| {
                events.extend(event.map(|what| WatchEvent::of(lane.0, time, what)));
            };
            let mut until = Timestamp(i64::MIN);
            let begins: BTreeSet<Timestamp> = outages.iter().map(|outage| outage.start).collect();
            for outage in outages {
                // The first one stands for several SAs of a direction that are down at once.
                if outage.start < until {
                    continue;
                }
                until = outage.end.unwrap_or(look.now);
                let itself = |known: &KnownOutage| known.start == outage.start;
                // An outage that ends where the next one begins is not the next one.
                let beside = |known: &KnownOutage| known.is(outage) && !begins.contains(&known.start);
                let place = rest.iter().position(itself);
                let place = place.or_else(|| rest.iter().position(beside));
                let mut own = place.and_then(|place| rest.remove(place));
                own.iter_mut().for_each(|own| own.absent = None);
                let agreed = outage.end.and_then(|end| self.ends.get(&(lane, end)));
                if look.is_certain(lane, outage) && agreed.is_none_or(|since| look.settled(*since, AGREED)) {
                    let told = tell_outage(&mut own, outage, look);
                    put(
                        told,
                        outage
                            .end
                            .filter(|_| outage.seconds > 0.0)
                            .unwrap_or(outage.start),
                    );
                }
                known.extend(own);
            }
            // The document has the others no more.
            for mut own in rest {
                let told = tell_none(&mut own, lane, look);
                let end = own.end.filter(|(_, seconds)| *seconds > 0.0);
                put(told, end.map_or(own.start, |(end, _)| end));
                known.push_back(own);
            }
            known.make_contiguous().sort_by_key(|own| own.start);
            while known.len() > MOST_OUTAGES {
                known.pop_front();
            }
        }
    }

    /// Takes an event that an earlier run told.
    pub(super) fn remember(&mut self, ends: TunnelEnds, event: &WatchEvent) {
        let time = event.time;
        match &event.what {
            Occurrence::OutageBegan { direction } => {
                self.known
                    .entry((ends, *direction))
                    .or_default()
                    .push_back(KnownOutage {
                        start: time,
                        announced: true,
                        ..KnownOutage::default()
                    });
            }
            Occurrence::OutageEnded {
                direction, seconds, ..
            } => {
                let (start, end) = (time.plus_seconds(-seconds), Some((time, *seconds)));
                let known = self.known.entry((ends, *direction)).or_default();
                match known.back_mut().filter(|known| known.end.is_none()) {
                    Some(known) => known.end = end,
                    None => known.push_back(KnownOutage {
                        start,
                        end,
                        ..KnownOutage::default()
                    }),
                }
            }
            Occurrence::OutageCorrected { direction, began, .. } => {
                let known = self.known.entry((ends, *direction)).or_default();
                for known in known.iter_mut().filter(|known| known.start == *began) {
                    known.reviewed = true;
                    known.end = known.end.or(Some((time, 0.0)));
                }
            }
            _ => {}
        }
    }
}

/// Says the news of an outage; `own` is what was told of it.
fn tell_outage(own: &mut Option<KnownOutage>, outage: &Outage, look: &Look<'_>) -> Option<Occurrence> {
    let direction = outage.direction;
    let over = outage.end.filter(|end| look.settled(*end, SETTLED));
    let (seconds, ended_by) = (outage.seconds, outage.ended_by);
    let ended = |announced| Occurrence::OutageEnded {
        direction,
        announced,
        seconds,
        ended_by,
    };
    let Some(own) = own else {
        let told = match (outage.end, over) {
            (None, _) if outage.seconds >= time::seconds(INITIAL_RTO) => {
                Occurrence::OutageBegan { direction }
            }
            // No sender's timer is shorter.
            (_, Some(_)) if outage.seconds >= time::seconds(LEAST_TIMEOUT) => ended(false),
            _ => return None,
        };
        *own = Some(KnownOutage {
            start: outage.start,
            end: over.map(|end| (end, seconds)),
            announced: over.is_none(),
            ..KnownOutage::default()
        });
        return Some(told);
    };
    let Some((end, told_seconds)) = own.end else {
        own.end = Some((over?, seconds));
        return Some(ended(own.announced));
    };
    if own.reviewed || !look.settled(end, REVIEWED) {
        return None;
    }
    own.reviewed = true;
    let differs = (seconds - told_seconds).abs() > SAME_LENGTH_S;
    differs.then_some(Occurrence::OutageCorrected {
        direction,
        began: outage.start,
        seconds,
        told_seconds,
    })
}

/// Says the news of an outage that was told and that the document has no more; one that became a rekey's silence ends with that.
fn tell_none(own: &mut KnownOutage, lane: WatchedDirection, look: &Look<'_>) -> Option<Occurrence> {
    let direction = lane.1;
    if own.end.is_none()
        && let Some((end, seconds, ended_by)) = look.silence_of_rekey(lane, own.start)
    {
        if !look.settled(end, SETTLED) {
            return None;
        }
        (own.end, own.reviewed) = (Some((end, seconds)), true);
        return Some(Occurrence::OutageEnded {
            direction,
            announced: own.announced,
            seconds,
            ended_by,
        });
    }
    let told = own.end.unwrap_or((own.start, 0.0));
    let absent = *own.absent.get_or_insert(look.now);
    if own.reviewed || !look.settled(told.0.max(absent), REVIEWED) {
        return None;
    }
    own.reviewed = true;
    own.end = Some(told);
    // Entries that were left behind are in no document.
    let first = look.analysis.capture.first_time;
    first
        .is_some_and(|first| first <= own.start)
        .then_some(Occurrence::OutageCorrected {
            direction,
            began: own.start,
            seconds: 0.0,
            told_seconds: told.1,
        })
}
