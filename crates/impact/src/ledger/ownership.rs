//! Owners of silences: the rekey or failure that a silence belongs to, if any.

use super::input::{BEFORE, FailedSpan, Idle, LEAST_GAP, LedgerInput, RekeySpan, RuleTimes, TimeSpan, pause};
use super::silence::{Silence, VainTransmissions, usual};
use super::spans::{joined, meets, nanos, without};
use rekeyscope_model::analysis::LedgerWhy;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::{FINEST, Interval, LEAST_TIMEOUT};
use statrs::distribution::{Binomial, DiscreteCDF};
use std::collections::{BTreeMap, BTreeSet};

/// Factor on the usual length of a silence that makes one unusual in which nothing was sent in vain.
const UNUSUAL: i64 = 2;
/// Highest chance for a rekey's silence without anything sent in vain: where such ones come so often that a window of its length meets one
/// in twenty times, it is not the rekey's.
const BY_CHANCE: f64 = 0.05;
/// Longest time that a sender waits for its timer after a loss: it doubles three times from the usual 200 ms.
const LONGEST_TIMEOUT: i64 = 3 * NANOS_PER_SECOND;

/// Owner of a silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A rekey that succeeded, by its name.
    Rekey(usize),
    /// An attempt that failed, by its name.
    Attempt(usize),
    /// The tunnel was down before anybody asked for the rekey of this name, which ended it.
    DownBefore(usize),
    /// An outage that has nothing to do with a rekey, by its name.
    Outage(usize),
}

/// A silence and its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) silence: Silence,
    pub(super) owner: Owner,
    pub(super) why: LedgerWhy,
}

/// Result of the ownership of all silences.
#[derive(Debug, Default)]
pub(super) struct Ownership {
    pub(super) owned: Vec<Owned>,
    /// Silences at rekeys that were the sender's own, or came by chance.
    pub(super) acquitted: Vec<TimeSpan>,
    /// Silences at rekeys that a loss of the path made.
    pub(super) timeouts: Vec<TimeSpan>,
    /// Longest silence that is nobody's, unless packets were lost in it.
    pub(super) threshold: i64,
}

/// Facts that the rules of ownership ask for.
struct OwnershipRules<'a> {
    input: &'a LedgerInput<'a>,
    times: RuleTimes,
    /// The longest usual silence.
    usual: i64,
    elsewhere: SilencesElsewhere,
}

/// Silences outside of all rekeys and failures in which nothing was sent in vain, and the time in which they lie.
struct SilencesElsewhere {
    /// Lengths of the silences in order, nanoseconds.
    lengths: Vec<i64>,
    /// Time in which the silences lie, nanoseconds.
    time: i64,
}

impl SilencesElsewhere {
    fn of(input: &LedgerInput<'_>, silences: &[Silence], windows: &[TimeSpan]) -> Self {
        let own = silences.iter();
        let own = own.filter(|silence| silence.facts.in_vain() == 0 && silence.facts.ended_by.is_some());
        let own = own.filter(|silence| !meets(windows, silence.span()));
        let mut lengths: Vec<i64> = own.map(Silence::nanos).collect();
        lengths.sort_unstable();
        SilencesElsewhere {
            lengths,
            time: nanos(&without(input.transfer, windows)),
        }
    }

    /// Number of silences of at least this length.
    fn as_long(&self, silence: i64) -> f64 {
        (self.lengths.len() - self.lengths.partition_point(|length| *length < silence)) as f64
    }

    /// Chance that a window touches a silence of this length, of which so many lie elsewhere.
    fn touches(&self, silence: i64, window: TimeSpan, elsewhere: f64) -> f64 {
        let reach = window.1.nanos_since(window.0) + silence;
        1.0 - libm::exp(-elsewhere * reach as f64 / self.time.max(1) as f64)
    }

    /// Chance that a window touches a silence of at least this length.
    fn by_chance(&self, silence: i64, window: TimeSpan) -> f64 {
        self.touches(silence, window, self.as_long(silence))
    }

    /// Chance that so many of `windows`, or more, touch a silence of at least this length. Where none elsewhere is as long, silences become
    /// rarer as they become longer: by the share of the longest.
    fn by_chance_in(&self, silence: i64, touched: usize, windows: &[TimeSpan]) -> f64 {
        let longest = self.lengths.last().copied().unwrap_or(FINEST);
        let elsewhere = self.as_long(silence) + (longest as f64 / silence as f64).min(1.0);
        let each = windows
            .iter()
            .map(|window| self.touches(silence, *window, elsewhere));
        let mean = each.sum::<f64>() / windows.len().max(1) as f64;
        let fewer = touched.saturating_sub(1) as u64;
        Binomial::new(mean.min(1.0), windows.len() as u64).map_or(1.0, |all| all.sf(fewer))
    }
}

enum Ruling {
    Nobody,
    Acquitted,
    /// Chance: as many windows of that length would meet one as long.
    Chance,
    Path,
    Owned(Owner),
}

/// Stretches in which rekeys, failed attempts and outages may disturb something.
pub(super) fn disturbing<'a>(input: &LedgerInput<'a>) -> impl Iterator<Item = TimeSpan> + use<'a> {
    let rekeys = input.rekeys.iter().map(RekeySpan::window);
    let failed = input.failed.iter().map(FailedSpan::window);
    let outages = input.outages.iter().map(|outage| (outage.from, outage.to));
    rekeys.chain(failed).chain(outages)
}

/// Finds the owners of the silences. Rekeys whose window meets a hole own nothing.
pub(super) fn ownership(
    input: &LedgerInput<'_>,
    silences: &[Silence],
    in_vain: &VainTransmissions<'_>,
    times: RuleTimes,
) -> Ownership {
    let windows = joined(disturbing(input).collect());
    let rules = OwnershipRules {
        input,
        times,
        usual: usual(input, silences, &windows),
        elsewhere: SilencesElsewhere::of(input, silences, &windows),
    };
    let mut found = Ownership {
        threshold: times.gap.max(UNUSUAL * rules.usual),
        ..Ownership::default()
    };
    for silence in silences {
        match rules.rule(silence) {
            Ruling::Nobody => {}
            Ruling::Acquitted => found.acquitted.push(silence.span()),
            Ruling::Chance => {
                found.acquitted.push(silence.span());
                found.threshold = found.threshold.max(silence.nanos());
            }
            Ruling::Path => found.timeouts.push(silence.span()),
            Ruling::Owned(owner) => found.owned.push(Owned {
                silence: rules.without_rest(silence, owner, in_vain),
                owner,
                why: rules.why(silence, owner, in_vain),
            }),
        }
    }
    found.acquit_outlasting(&rules);
    if input.arrived.iter().all(|run| run.acknowledged.is_none()) {
        found.acquit_chance(&rules);
    }
    found
}

impl Ownership {
    /// Takes from the rekeys the silences that outlast their exchanges, unless so many rekeys have one that their senders do not rest there by
    /// chance.
    fn acquit_outlasting(&mut self, rules: &OwnershipRules<'_>) {
        let outlasts = |own: &Owned| {
            let mut rekeys = rules.input.rekeys.iter();
            let rekey = rekeys.find(|rekey| own.owner == Owner::Rekey(rekey.rekey));
            rekey.is_some_and(|rekey| rules.outlasts(&own.silence, rekey))
        };
        let owners: BTreeSet<Owner> = self
            .owned
            .iter()
            .filter(|own| outlasts(own))
            .map(|own| own.owner)
            .collect();
        let many = owners.len() as u64 >= LEAST_NOT_BY_CHANCE && 2 * owners.len() >= rules.input.rekeys.len();
        if !many {
            let rests = self.owned.extract_if(.., |own| outlasts(own));
            self.acquitted.extend(rests.map(|own| own.silence.span()));
            self.acquitted.sort_unstable();
        }
    }

    /// Takes from the rekeys the silences that as many windows of their lengths would meet by chance. No acknowledgement says whether the sender
    /// had more to send, and nothing was lost in them.
    fn acquit_chance(&mut self, rules: &OwnershipRules<'_>) {
        let (from, to) = rules.input.transfer;
        let windows = rules.input.rekeys.iter().map(RekeySpan::window);
        let seen =
            windows.filter(|window| window.0 <= to && from <= window.1 && !meets(rules.input.holes, *window));
        let windows: Vec<TimeSpan> = seen.collect();
        let is_open_to_chance = |own: &Owned| {
            matches!(own.owner, Owner::Rekey(_))
                && !own.silence.facts.is_loss()
                && own.silence.facts.ended_by.is_some()
        };
        let open = self.owned.iter().filter(|own| is_open_to_chance(own));
        let mut longest: BTreeMap<Owner, i64> = BTreeMap::new();
        for own in open {
            let nanos = longest.entry(own.owner).or_default();
            *nanos = own.silence.nanos().max(*nanos);
        }
        let mut lengths: Vec<i64> = longest.values().copied().collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let numbered = lengths.iter().enumerate();
        let mut shown = numbered
            .filter(|(k, length)| rules.elsewhere.by_chance_in(**length, k + 1, &windows) <= BY_CHANCE);
        let least = shown.next_back().map_or(i64::MAX, |(_, length)| *length);
        let is_chance = |own: &Owned| {
            is_open_to_chance(own) && longest.get(&own.owner).is_some_and(|longest| *longest < least)
        };
        let chance: Vec<Owned> = self.owned.extract_if(.., |own| is_chance(own)).collect();
        let longest = chance.iter().map(|own| own.silence.nanos()).max();
        self.threshold = self.threshold.max(longest.unwrap_or(0));
        self.acquitted.extend(chance.iter().map(|own| own.silence.span()));
        self.acquitted.sort_unstable();
    }
}

/// Whether acknowledgements went on an SA that the sender did not have yet, before the exchange was over.
fn is_unheard(rekey: &RekeySpan, silence: &Silence) -> bool {
    rekey.first_on_new[1].is_some_and(|first| first < silence.to && first < rekey.last_message)
}

impl OwnershipRules<'_> {
    fn rule(&self, silence: &Silence) -> Ruling {
        let failed = self.failed(silence);
        let rekey = self.last_rekey(silence);
        let outage = self.outage(silence);
        if failed.is_none() && rekey.is_none() && outage.is_none() || !self.is_long(silence) {
            return Ruling::Nobody;
        }
        let without_sa = self.is_without_sa(silence);
        let sent_nothing = silence.facts.in_vain() == 0 && !without_sa;
        if outage.is_none() && sent_nothing && silence.nanos() <= UNUSUAL * self.usual {
            return Ruling::Nobody;
        }
        if silence.nanos() <= self.pause_then(silence) {
            return Ruling::Acquitted;
        }
        if let Some(failed) = failed.filter(|_| silence.nanos() > self.times.timeout) {
            return Ruling::Owned(Owner::Attempt(failed.attempt));
        }
        if let Some(outage) = outage.filter(|_| silence.nanos() > self.times.timeout) {
            return Ruling::Owned(Owner::Outage(outage.facts));
        }
        let Some(rekey) = rekey else {
            return Ruling::Nobody;
        };
        let beside = || {
            let margin = BEFORE + self.input.round_trip;
            !rekey.steps_in(silence.span(), margin) && !is_unheard(rekey, silence)
        };
        if is_of_the_sender(silence, rekey, self.times.timeout) || !silence.facts.is_loss() && beside() {
            return Ruling::Acquitted;
        }
        if !silence.facts.is_loss() && self.is_idle(silence, |idle| idle.facts.open) {
            return Ruling::Acquitted;
        }
        if sent_nothing && self.elsewhere.by_chance(silence.nanos(), rekey.window()) > BY_CHANCE {
            return Ruling::Chance;
        }
        let of_the_path = || is_of_the_path(silence, rekey) || self.repeats_for_older_loss(silence, rekey);
        if failed.is_none() && !without_sa && of_the_path() {
            return Ruling::Path;
        }
        let before = rekey.asked.nanos_since(silence.from);
        Ruling::Owned(if before > self.times.down_before {
            Owner::DownBefore(rekey.rekey)
        } else {
            Owner::Rekey(rekey.rekey)
        })
    }

    /// Whether a sender that has lost nothing stays silent for longer after the exchange than anything makes it wait: its timer, which has
    /// at most doubled while it had no SA, or as long a computation as that in the exchange.
    fn outlasts(&self, silence: &Silence, rekey: &RekeySpan) -> bool {
        let took = rekey.last_message.nanos_since(rekey.asked);
        let without = rekey.last_message.nanos_since(silence.from);
        let waits = (self.times.timeout + took).max(2 * without);
        let has_nothing = match silence.facts.acknowledged {
            Some(at) => silence.facts.in_sequence && at.plus_nanos(waits) < silence.to,
            None => self.is_idle(silence, |idle| !idle.facts.open),
        };
        has_nothing && !silence.facts.is_loss() && silence.to.nanos_since(rekey.last_message) > waits
    }

    /// Tells whether all that was sent in the silence had arrived, and its sender repeats it because of a loss that is older than the rekey: its timer ran
    /// out while the receiver lacked one segment, and what fills that hole was already on its way (RFC 5682 §1). The copies come within a round trip
    /// behind it, and the hole stood for no less.
    fn repeats_for_older_loss(&self, silence: &Silence, rekey: &RekeySpan) -> bool {
        let before = self.input.arrived.iter().filter(|run| run.to <= silence.from);
        let mut older = before.filter(|run| run.lacking_since < rekey.asked.plus_nanos(-BEFORE));
        silence.facts.swallowed == 0
            && !is_unheard(rekey, silence)
            && !rekey.reaches_limit()
            && older.any(|run| {
                let stood = run.from.nanos_since(run.lacking_since);
                stood >= LEAST_TIMEOUT && silence.from.nanos_since(run.to) <= stood
            })
    }

    /// Whether a stretch without data, of a kind, makes half of the silence.
    fn is_idle(&self, silence: &Silence, of: impl Fn(&Interval<Idle>) -> bool) -> bool {
        let (from, to) = silence.span();
        let common = |idle: &Interval<Idle>| idle.to.min(to).nanos_since(idle.from.max(from));
        let mut own = self.input.idle.iter().filter(|idle| of(idle));
        own.any(|idle| 2 * common(idle) >= silence.nanos())
    }

    fn failed(&self, silence: &Silence) -> Option<&FailedSpan> {
        let mut touched = self.input.failed.iter();
        touched.rfind(|failed| silence.touches(failed.window()))
    }

    /// The outage that is this silence: the two have more than half of it in common.
    fn outage(&self, silence: &Silence) -> Option<&Interval<usize>> {
        let mut all = self.input.outages.iter();
        all.rfind(|outage| {
            let common = silence
                .to
                .min(outage.to)
                .nanos_since(silence.from.max(outage.from));
            2 * common > outage.nanos()
        })
    }

    /// The silence that an owner is charged with. A sender whose outage begins with its first packet in vain had rested before.
    fn without_rest(&self, silence: &Silence, owner: Owner, in_vain: &VainTransmissions<'_>) -> Silence {
        let begins = |outage: &&Interval<usize>| {
            let tried = in_vain.first(outage.from);
            owner == Owner::Outage(outage.facts)
                && tried == in_vain.first(silence.from)
                && tried.is_some_and(|tried| tried.nanos_since(outage.from) <= 1)
        };
        let begin = self.input.outages.iter().find(begins);
        Silence {
            from: begin.map_or(silence.from, |outage| outage.from.max(silence.from)),
            ..*silence
        }
    }

    /// The last rekey that the silence touches: the silence ends on its SA.
    fn last_rekey(&self, silence: &Silence) -> Option<&RekeySpan> {
        let holes = self.input.holes;
        let mut touched = self.input.rekeys.iter().rev();
        touched.find(|rekey| silence.touches(rekey.window()) && !meets(holes, rekey.window()))
    }

    /// Whether a silence is longer than an acknowledgement takes, or swallowed what went beside a switch.
    fn is_long(&self, silence: &Silence) -> bool {
        let within = |at: &Timestamp| silence.from <= *at && *at <= silence.to;
        let holds_switch = |rekey: &RekeySpan| {
            let [first, _] = rekey.first_on_new;
            first.iter().chain(&rekey.last_on_old).any(within)
        };
        silence.nanos() > self.times.gap
            || self.is_without_sa(silence)
            || u64::from(silence.facts.in_vain()) >= LEAST_NOT_BY_CHANCE
                && self.input.rekeys.iter().any(holds_switch)
    }

    /// Whether the silence is that between the last packet on the old SA and the first on the new one, longer than its sender usually makes, and
    /// what was sent in it vanished before it had a number: its sender had no SA, and waited for no answer.
    fn is_without_sa(&self, silence: &Silence) -> bool {
        let is_switch = |rekey: &RekeySpan| {
            rekey.last_on_old.is_some_and(|last| silence.from <= last)
                && rekey.first_on_new[0].is_some_and(|first| first <= silence.to)
                && rekey.last_on_old < rekey.first_on_new[0]
        };
        silence.facts.beyond_gap
            && silence.nanos() > LEAST_GAP.max(self.usual)
            && self.input.rekeys.iter().any(is_switch)
    }

    /// A [`pause`] by the least time that acknowledgements took in the second before a silence in which nothing was lost: the path may have
    /// become longer, or a queue may stand.
    fn pause_then(&self, silence: &Silence) -> i64 {
        let last = silence
            .facts
            .ended_by
            .filter(|_| !silence.facts.is_loss())
            .unwrap_or(0);
        let before = self.input.arrived[..last].iter().rev();
        let within = before.take_while(|run| silence.from.nanos_since(run.to) <= NANOS_PER_SECOND);
        let took = within.filter_map(|run| Some(run.acknowledged?.nanos_since(run.to)));
        pause(took.min().unwrap_or(0))
    }

    fn why(&self, silence: &Silence, owner: Owner, in_vain: &VainTransmissions<'_>) -> LedgerWhy {
        let (Owner::Rekey(rekey) | Owner::DownBefore(rekey)) = owner else {
            return if silence.facts.swallowed > 0 {
                LedgerWhy::LostOnOld
            } else {
                LedgerWhy::Silence
            };
        };
        let rekey = self.input.rekeys.iter().find(|span| span.rekey == rekey);
        if silence.facts.superfluous > silence.facts.swallowed {
            return LedgerWhy::Reverse;
        }
        if silence.facts.swallowed == 0 {
            let unheard = rekey.is_some_and(|rekey| is_unheard(rekey, silence));
            return if unheard {
                LedgerWhy::Reverse
            } else {
                LedgerWhy::Silence
            };
        }
        let switch = rekey.and_then(|rekey| rekey.first_on_new[0]);
        let switch = switch.unwrap_or(silence.to).min(silence.to);
        let on_old = in_vain.between(silence.from, switch).0;
        if 2 * on_old >= silence.facts.swallowed {
            LedgerWhy::LostOnOld
        } else {
            LedgerWhy::LostOnNew
        }
    }
}

/// Whether the sender had nothing to send: everything was acknowledged within the first half, and the next byte in sequence ended the
/// silence. The rekey cannot have stopped it: it had not begun for the shortest silence that counts, and the old SA lived until the new one was agreed on, or for a timeout
/// (`timeout`) in which a sender with data sends; or it was over, and the new SA in use. Then a sender that waits for an acknowledgement
/// sends again and again, as its timer doubles; one that does not has nothing to send.
fn is_of_the_sender(silence: &Silence, rekey: &RekeySpan, timeout: i64) -> bool {
    let first_half = silence.from.plus_nanos(silence.nanos() / 2);
    let lived_on = silence.to.min(silence.from.plus_nanos(timeout));
    let is_early = |deleted: Timestamp| deleted <= lived_on && deleted < rekey.last_message;
    let lives = !rekey.reaches_limit() && !rekey.deleted.is_some_and(is_early);
    let before = silence.from < rekey.asked.plus_nanos(-LEAST_GAP) && lives;
    let [own, other] = rekey.first_on_new;
    let stands = |first: Option<Timestamp>| first.is_some_and(|first| first <= silence.from);
    let behind = rekey.last_message <= silence.from && stands(own) && stands(other);
    let told = silence.facts.acknowledged.is_some_and(|at| at <= first_half) && silence.facts.in_sequence;
    let few = u64::from(silence.facts.in_vain()) < LEAST_NOT_BY_CHANCE;
    let waits_for_nothing = silence.facts.counted && few && silence.nanos() > LONGEST_TIMEOUT;
    (before || behind) && told && silence.facts.in_vain() == 0 || behind && waits_for_nothing
}

/// Whether a timer runs out after a loss that lies before the silence.
fn is_of_the_path(silence: &Silence, rekey: &RekeySpan) -> bool {
    u64::from(silence.facts.in_vain()) < LEAST_NOT_BY_CHANCE
        && !rekey.reaches_limit()
        && silence.nanos() < LONGEST_TIMEOUT
        && silence.facts.lacks
        && !is_unheard(rekey, silence)
}
