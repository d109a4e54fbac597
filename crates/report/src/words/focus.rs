//! The part of a document that a report speaks of first, and which of several figures it prints. Choosing only: nothing is
//! computed here.

use crate::words::common::direction;
use crate::words::format::{self, or_unknown};
use rekeyscope_impact::answer::{ToldAnswer, told_answer};
use rekeyscope_impact::explain::ToldOutages;
use rekeyscope_model::analysis::{
    Analysis, AttemptOutcome, Direction, Impact, Ledger, LedgerDown, Rekey, RekeyImpact, TriggerKind,
    TunnelSeries, Verdict,
};
use rekeyscope_model::text::{Catalogue, Language};
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;

/// Facts that a report looks up again and again.
pub struct Focus<'a> {
    pub(crate) analysis: &'a Analysis,
    /// Catalogue of the report's language.
    pub(crate) t: &'static Catalogue,
    /// The thing that the answer speaks of.
    pub(crate) answer: ToldAnswer<'a>,
    /// Indexes of `tunnels`: those with a verdict in the order of the verdicts, then the others.
    pub(crate) tunnels: Vec<usize>,
    /// Time zero of every table and plot.
    pub(crate) origin: Option<Timestamp>,
    /// Rekeys are of several tunnels.
    several: bool,
    main: HashMap<usize, Direction>,
}

impl<'a> Focus<'a> {
    /// Looks up what a report in this language needs.
    pub fn new(analysis: &'a Analysis, language: Language) -> Focus<'a> {
        let mut tunnels: Vec<usize> = Vec::new();
        let mut main = HashMap::new();
        for impact in &analysis.impact {
            if !tunnels.contains(&impact.tunnel) && impact.tunnel < analysis.tunnels.len() {
                tunnels.push(impact.tunnel);
            }
            if impact.verdict != Verdict::NoTraffic {
                main.entry(impact.tunnel).or_insert(impact.direction);
            }
        }
        let listed: std::collections::HashSet<usize> = tunnels.iter().copied().collect();
        // A tunnel without any SA was not looked into (`--tunnel`).
        let known: std::collections::HashSet<usize> = analysis
            .security_associations
            .iter()
            .map(|sa| sa.tunnel)
            .chain(analysis.exchanges.iter().map(|exchange| exchange.tunnel))
            .collect();
        tunnels.extend((0..analysis.tunnels.len()).filter(|t| !listed.contains(t) && known.contains(t)));
        let first = analysis.rekeys.first().map(|r| r.tunnel);
        Focus {
            analysis,
            t: Catalogue::of(language),
            answer: told_answer(analysis),
            tunnels,
            origin: origin(analysis),
            several: analysis.rekeys.iter().any(|r| Some(r.tunnel) != first),
            main,
        }
    }

    /// The outages that the answer speaks of, where it does.
    pub(crate) fn outages(&self) -> Option<&ToldOutages<'a>> {
        match &self.answer {
            ToldAnswer::Outages(told, _) => Some(told),
            _ => None,
        }
    }

    /// The direction of a tunnel that carries the data.
    pub(crate) fn main_direction(&self, tunnel: usize) -> Direction {
        self.main.get(&tunnel).copied().unwrap_or(Direction::AToB)
    }

    /// Both directions of a tunnel, the one with the data first.
    pub(crate) fn directions(&self, tunnel: usize) -> [Direction; 2] {
        let main = self.main_direction(tunnel);
        [main, main.reverse()]
    }

    /// Seconds since the start of the capture.
    pub(crate) fn seconds(&self, moment: Timestamp) -> Option<f64> {
        self.origin.map(|origin| moment.seconds_since(origin))
    }

    /// The same in words.
    pub(crate) fn clock(&self, moment: Option<Timestamp>) -> String {
        or_unknown(moment.and_then(|t| self.seconds(t)), format::clock)
    }

    /// The number of a rekey, with the tunnel where a document has rekeys of several: for places that speak of all tunnels.
    pub fn name(&self, rekey: &Rekey) -> String {
        let number = number(rekey);
        match self.several {
            true => fill!(self.t, "rekey-of-tunnel", number, tunnel = rekey.tunnel),
            false => number.to_string(),
        }
    }

    /// The name that tells a rekey from all others in a link or a file name: `3`, and `1-3` where a document has rekeys of several
    /// tunnels.
    pub(crate) fn key(&self, rekey: &Rekey) -> String {
        match self.several {
            true => format!("{}-{}", rekey.tunnel, number(rekey)),
            false => number(rekey).to_string(),
        }
    }

    /// The direction of a verdict in words.
    pub(crate) fn direction(&self, impact: &Impact) -> String {
        direction(self.t, self.analysis, impact.tunnel, impact.direction)
    }

    /// `7 rekeys, 5 hurt, 1 in an outage, 1 outside the transfer, 2 more refused`, of a tunnel.
    pub(crate) fn counted_rekeys(&self, tunnel: usize) -> String {
        let t = self.t;
        let count = |is: &dyn Fn(&Rekey) -> bool| self.analysis.rekeys_of(tunnel).filter(|r| is(r)).count();
        let (all, hurt) = (count(&|_| true), count(&|r| is_hurt(r) && !self.is_in_outage(r)));
        let outage = count(&|r| self.is_in_outage(r));
        let headline = self.analysis.impact.iter().find(|i| i.tunnel == tunnel);
        let measured = headline.map_or(0, |i| self.measured(i));
        let ledger = headline.and_then(|i| self.ledger(i));
        let not_observed = ledger.map_or(0, |ledger| ledger.not_observed.len());
        let outside = all.saturating_sub(measured + not_observed);
        let failed = |outcome| {
            let own = self.analysis.attempts_of(tunnel);
            own.filter(|a| a.outcome == outcome).count()
        };
        let none = hurt + measured + outage == 0;
        let named = [
            ("rekeys-in-outage", outage),
            ("rekeys-outside", if measured > 0 { outside } else { 0 }),
            ("rekeys-not-observed", if measured > 0 { not_observed } else { 0 }),
            ("rekeys-refused", failed(AttemptOutcome::Refused)),
            ("rekeys-unanswered", failed(AttemptOutcome::Unanswered)),
        ];
        let mut parts = vec![match none && all > 0 {
            true => t.word("rekeys-none-measured"),
            false => fill!(t, "rekeys-hurt", n = hurt),
        }];
        let named = named.into_iter().filter(|(_, n)| *n > 0);
        parts.extend(named.map(|(id, n)| fill!(t, id, n)));
        let parts = t.joined(&parts);
        let rekeys = format::counted(t, "counted-rekeys", all as u64);
        fill!(t, "heading-rekeys", rekeys, parts)
    }

    /// Counts the rekeys whose cost was measured. Without a bound these packets do not show what one cost that is not seen to cost anything.
    pub(crate) fn measured(&self, impact: &Impact) -> usize {
        let bound = self.ledger(impact).and_then(|ledger| ledger.bound_ms);
        match impact.rekeys_hurt.is_empty() && bound.is_none() {
            true => 0,
            false => impact.rekeys_used,
        }
    }

    /// Tells whether a rekey belongs to an outage, whose cost is the outage's and not the rekey's.
    pub(crate) fn is_in_outage(&self, rekey: &Rekey) -> bool {
        let (mut attempts, ledgers) = (self.analysis.attempts.iter(), self.analysis.ledger.iter());
        let ended = |down: &LedgerDown| down.rekey == Some(rekey.index);
        let ended = ledgers.flat_map(|ledger| &ledger.down).any(ended);
        // A new IKE SA that repaired one direction cost the other one nothing that was well.
        let repaired = ended && rekey.trigger.kind == TriggerKind::Reauthentication;
        let of_attempt = attempts.any(|a| a.rekey == Some(rekey.index) && a.outage.is_some());
        repaired || !is_hurt(rekey) && (ended || of_attempt)
    }

    /// The verdicts after the headline.
    pub(crate) fn other_verdicts(&self) -> &'a [Impact] {
        self.analysis.impact.get(1..).unwrap_or_default()
    }

    /// The figures that speak for a rekey: those of the direction with the data, unless only the other one is hurt.
    pub(crate) fn shown(&self, rekey: &'a Rekey) -> Option<&'a RekeyImpact> {
        let main = self.main_direction(rekey.tunnel);
        let of_main = rekey.impact.iter().find(|i| i.direction == main);
        let hurt = rekey.impact.iter().find(|i| i.hurt);
        match (of_main, hurt) {
            (Some(main), Some(other)) if !main.hurt => Some(other),
            (Some(main), _) => Some(main),
            (None, other) => other.or(rekey.impact.first()),
        }
    }

    /// The ledger of a verdict's direction.
    pub(crate) fn ledger(&self, impact: &Impact) -> Option<&'a Ledger> {
        self.analysis.ledger_of(impact.tunnel, impact.direction)
    }

    /// The rate of a verdict's direction without its rekeys, bit/s.
    pub(crate) fn without_bps(&self, impact: &Impact) -> Option<f64> {
        let rate = self.ledger(impact)?.without_mbps * 1e6;
        (rate > 0.0).then_some(rate)
    }

    /// Throughput of one direction of a tunnel over the run.
    pub(crate) fn series(&self, tunnel: usize, direction: Direction) -> Option<&'a TunnelSeries> {
        let mut all = self.analysis.series.tunnels.iter();
        all.find(|s| s.tunnel == tunnel && s.direction == direction)
    }

    /// The direction of those figures; without any, the one with the data.
    pub(crate) fn shown_direction(&self, rekey: &'a Rekey) -> Direction {
        self.shown(rekey)
            .map_or(self.main_direction(rekey.tunnel), |impact| impact.direction)
    }
}

/// The number of a rekey within its tunnel as people count, from 1.
pub(crate) fn number(rekey: &Rekey) -> usize {
    match rekey.number {
        // A document of an earlier version.
        0 => rekey.index.saturating_add(1),
        number => number,
    }
}

/// A direction of the rekey is named as hurt.
pub(crate) fn is_hurt(rekey: &Rekey) -> bool {
    rekey.impact.iter().any(|i| i.hurt)
}

/// The moment at which a rekey shows itself first: its exchange, or else its switch.
pub(crate) fn began(rekey: &Rekey) -> Option<Timestamp> {
    let switches = [rekey.switched.a_to_b, rekey.switched.b_to_a];
    rekey.started.or_else(|| switches.into_iter().flatten().min())
}

/// At most `most` rekeys in time order: the hurt ones first of all, then the earliest.
pub(crate) fn at_most(rekeys: Vec<&Rekey>, most: usize) -> Vec<&Rekey> {
    most_important(rekeys, most, |r| is_hurt(r))
}

/// At most `most` of a list in its order: those that matter first of all, then the earliest.
pub(crate) fn most_important<T>(mut list: Vec<T>, most: usize, matters: impl Fn(&T) -> bool) -> Vec<T> {
    let mut room = most.saturating_sub(list.iter().filter(|one| matters(one)).count());
    let mut room_of_important = most;
    let fits = |one: &T| {
        let room = if matters(one) {
            &mut room_of_important
        } else {
            &mut room
        };
        let fits = *room > 0;
        *room = room.saturating_sub(1);
        fits
    };
    list.retain(fits);
    list
}

/// The first packet; in a document without it, the first bin.
fn origin(analysis: &Analysis) -> Option<Timestamp> {
    analysis
        .capture
        .first_time
        .or_else(|| analysis.series.tunnels.iter().map(|s| s.start).min())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_testkit::example;

    #[test]
    fn the_headline_decides_the_main_direction() {
        let document = example::seven_rekeys();
        let focus = Focus::new(&document, Language::English);
        assert_eq!(focus.main_direction(0), Direction::BToA);
        let shown = focus.shown(&document.rekeys[1]).unwrap();
        assert_eq!(shown.direction, Direction::BToA);
    }

    #[test]
    fn rekeys_are_numbered_within_their_tunnel() {
        let document = example::build(&example::Shape {
            tunnels: 2,
            ..Default::default()
        });
        let focus = Focus::new(&document, Language::English);
        let last = document.rekeys.last().unwrap();
        assert_eq!((last.index, last.tunnel, number(last)), (13, 1, 7));
        assert_eq!(focus.name(last), "7 of tunnel 1");
        assert_eq!(focus.key(last), "1-7");
        let one = example::seven_rekeys();
        let focus = Focus::new(&one, Language::English);
        assert_eq!(
            (focus.name(&one.rekeys[6]), focus.key(&one.rekeys[6])),
            ("7".into(), "7".into())
        );
        let older = Rekey {
            number: 0,
            ..last.clone()
        };
        assert_eq!(number(&older), 14);
    }

    #[test]
    fn a_rekey_hurt_in_the_other_direction_only_shows_that_one() {
        let mut document = example::seven_rekeys();
        document.rekeys[0].impact[1].hurt = true;
        let focus = Focus::new(&document, Language::English);
        assert_eq!(
            focus.shown(&document.rekeys[0]).unwrap().direction,
            Direction::AToB
        );
    }

    /// A renewal that was answered late is the outage: "0 hurt" alone would call it harmless.
    #[test]
    fn a_rekey_that_is_an_outage_is_counted_as_one() {
        let mut document = example::one_failed();
        let before = Focus::new(&document, Language::English).counted_rekeys(0);
        let outage = document.attempts.iter().find_map(|a| a.outage.clone());
        let quiet = document.rekeys.iter().find(|r| !is_hurt(r)).unwrap().index;
        let own = document.attempts.iter_mut().find(|a| a.rekey == Some(quiet));
        own.unwrap().outage = outage;
        let focus = Focus::new(&document, Language::English);
        let after = before.replace("1 hurt", "1 hurt, 1 in an outage");
        assert_eq!(focus.counted_rekeys(0), after);
    }

    /// Packets that nothing answers show no cost: that is no all-clear.
    #[test]
    fn rekeys_that_nothing_can_show_are_not_called_harmless() {
        let mut document = example::build(&example::Shape {
            hurt_every: 0,
            ..Default::default()
        });
        let counted = |document: &Analysis| Focus::new(document, Language::English).counted_rekeys(0);
        assert_eq!(counted(&document), "7 rekeys, 0 hurt");
        document.ledger[0].bound_ms = None;
        assert_eq!(counted(&document), "7 rekeys, none measured");
    }

    #[test]
    fn a_bound_keeps_the_hurt_ones() {
        let document = example::seven_rekeys();
        let kept = at_most(document.rekeys.iter().collect(), 3);
        assert_eq!(kept.iter().map(|r| r.index).collect::<Vec<_>>(), [0, 1, 4]);
        assert_eq!(at_most(document.rekeys.iter().collect(), 1).len(), 1);
        assert_eq!(at_most(document.rekeys.iter().collect(), 0).len(), 0);
    }
}
