//! One outage with what lies around it: the questions that the rows ask.

use crate::explain::scene::{
    ExchangeInScene, MadeByExchange, OutageInScene, SaInScene, Scene, SilencesOfSide, SwallowedPacket,
};
use rekeyscope_model::analysis::{Direction, Event, EventKind, Explanation};
use rekeyscope_model::lifetime::SAME_LIMIT;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::{ShownBy, doubled_timer};
use std::net::IpAddr;
use std::ops::{RangeBounds, RangeInclusive};

/// An ordinary rekey deletes the old SA right after its exchange, or as soon as packets on their way have arrived: charon waits for 5 s
/// (`delete_rekeyed_delay`).
pub const DELETE_OF_A_REKEY: i64 = seconds(5);
/// A delayed acknowledgement (usual hosts wait up to 0.2 s) and the handling of one IKE message.
pub(super) const NEAR_AT_LEAST: i64 = 300 * NANOS_PER_MILLI;
/// charon repeats a request first after this. A daemon keeps the SAs that it deletes for the answer, until it would repeat the Delete at the
/// latest; a renewal whose messages the capture lacks takes no longer, unless one was lost.
pub(super) const CHARON_REPEATS: i64 = seconds(4);
/// Round trips after which the other side knows, has answered, and the answer has taken effect.
const NEAR_ROUND_TRIPS: i64 = 3;
/// Frames that an explanation names: as many as a reader looks up.
pub const MOST_FRAMES: usize = 8;

/// An outage in its scene.
pub(super) struct OutageView<'a> {
    pub(super) scene: &'a Scene,
    pub(super) outage: &'a OutageInScene,
}

impl<'a> OutageView<'a> {
    /// Longest time between two things that belong together: cause and effect see each other after a round trip or two.
    pub(super) fn near(&self) -> i64 {
        NEAR_AT_LEAST.max(NEAR_ROUND_TRIPS * self.outage.round_trip)
    }

    /// When the way was first known to be closed: a transfer that rested after its last delivery shows it only when it goes on.
    pub(super) fn begin(&self) -> Timestamp {
        let first_in_vain = self.outage.undelivered.dead.map(|(first, _)| first);
        first_in_vain.map_or(self.outage.from, |first| first.max(self.outage.from))
    }

    /// Moments that belong to the begin.
    pub(super) fn beside_begin(&self) -> RangeInclusive<Timestamp> {
        self.just_before()..=self.begin().plus_nanos(self.near())
    }

    /// Moments that belong to the outage.
    pub(super) fn beside(&self) -> RangeInclusive<Timestamp> {
        self.just_before()..=self.outage.to
    }

    /// The earliest moment that belongs to the last delivery.
    pub(super) fn just_before(&self) -> Timestamp {
        self.outage.from.plus_nanos(-self.near())
    }

    /// Whether the part of a stretch that lies in the outage is half of the outage.
    pub(super) fn fills_half(&self, stretch: (Timestamp, Timestamp)) -> bool {
        self.fills_half_until(stretch, self.outage.to)
    }

    /// The same of the outage up to a moment: behind it the sender may only wait for its timer.
    fn fills_half_until(&self, stretch: (Timestamp, Timestamp), until: Timestamp) -> bool {
        let to = self.outage.to.min(until);
        let nanos = to.nanos_since(self.outage.from);
        nanos > 0 && 2 * stretch.1.min(to).nanos_since(stretch.0.max(self.outage.from)) >= nanos
    }

    /// Whether an event lasts for half of the outage.
    pub(super) fn lasts_half(&self, event: &Event) -> bool {
        self.fills_half((event.time, event.until.unwrap_or(event.time)))
    }

    /// The silences of an end.
    pub(super) fn side(&self, address: IpAddr) -> Option<&'a SilencesOfSide> {
        self.outage.silences.iter().find(|side| side.side == address)
    }

    /// The end that is not this one.
    pub(super) fn other(&self, address: Option<IpAddr>) -> Option<&'a SilencesOfSide> {
        let mut sides = self.outage.silences.iter();
        sides.find(|side| Some(side.side) != address)
    }

    /// Whether neither ESP nor IKE came from an end for half of the outage.
    pub(super) fn is_silent(&self, address: Option<IpAddr>) -> bool {
        let mut sides = self.outage.silences.iter().zip(self.silent_sides());
        sides.any(|(side, silent)| silent && Some(side.side) == address)
    }

    /// Whether neither ESP nor IKE came from the sender of the data, and from its receiver, for half of the outage.
    pub(super) fn silent_sides(&self) -> [bool; 2] {
        let rests = || self.answers_what_comes() && !self.is_receivers_data_silent();
        [
            self.is_sender_silent(),
            self.says_nothing(&self.outage.silences[1]) && !rests(),
        ]
    }

    fn is_sender_silent(&self) -> bool {
        // Nobody had sent anything when the other side was no longer reached.
        let rested = self.outage.silences[1].rested.is_some();
        self.says_nothing(&self.outage.silences[0]) && !self.waits_for_timer() && !rested
    }

    /// Tells whether nothing comes from an end for half of the outage, and no answers show that it lives.
    pub(super) fn says_nothing(&self, side: &SilencesOfSide) -> bool {
        self.fills_half(side.nothing) && !self.answers_checks(side)
    }

    /// Tells whether IKE of an end came before its longest silence and behind it while its ESP stayed away, no new SA was made but by a request that was
    /// answered at once, and nothing that was asked of it in that silence went unanswered: it lives, and had nothing to say.
    fn answers_checks(&self, side: &SilencesOfSide) -> bool {
        let ((begin, end), (stops, back)) = (side.nothing, side.no_esp);
        let inside = stops.plus_nanos(self.near()) < begin && end.plus_nanos(self.near()) < back;
        let mut asked = self.events(&[EventKind::ChecksUnanswered, EventKind::Unanswered], begin..=end);
        let at_once =
            |own: &ExchangeInScene| own.made == MadeByExchange::ChildSa && self.is_answered_at_once(own);
        let mut made = self.exchanges().filter(|own| !at_once(own));
        inside
            && !asked.any(|event| event.by == Some(side.side))
            && !made.any(|own| own.made != MadeByExchange::Nothing && begin <= own.end && own.begin <= back)
    }

    /// Whether the receiver had data of its own to send, and fell silent with it at the same time.
    fn is_receivers_data_silent(&self) -> bool {
        let back = self.outage.direction.reverse();
        let mut others = self.outages_of(self.outage.tunnel);
        others.any(|own| {
            own.outage.direction == back
                && own.fills_half((self.outage.from, self.outage.to))
                && own.is_sender_silent()
        })
    }

    /// The outages of a tunnel, each with the same scene.
    pub(super) fn outages_of(&self, tunnel: usize) -> impl Iterator<Item = OutageView<'a>> {
        let scene = self.scene;
        let own = scene.outages.iter().filter(move |outage| outage.tunnel == tunnel);
        own.map(move |outage| OutageView { scene, outage })
    }

    /// Tells whether the receiver was silent only because nothing was sent to it that it did not answer soon. Beside it the
    /// capture shows that nothing came to it.
    fn answers_what_comes(&self) -> bool {
        let outage = self.outage;
        let (from, to) = outage.silences[1].nothing;
        let undelivered = &outage.undelivered;
        let nothing_came = undelivered.beside_receiver && undelivered.shown_by == ShownBy::MissingNumbers;
        let least = u32::from(!nothing_came);
        let all_are_kept = outage.swallowed_packets.len() >= undelivered.swallowed.max(least) as usize;
        let unanswered =
            |packet: &SwallowedPacket| from <= packet.time && packet.time.plus_nanos(self.near()) < to;
        all_are_kept && !outage.swallowed_packets.iter().any(unanswered)
    }

    /// Whether the sender's longest silence is its timer, which has doubled since the last try.
    fn waits_for_timer(&self) -> bool {
        let (from, to) = self.outage.silences[0].nothing;
        let sent = self.outage.swallowed_packets.iter().map(|packet| packet.time);
        let mut before: Vec<Timestamp> = sent.filter(|time| *time <= from).collect();
        before.sort_unstable();
        let [.., first, second] = before[..] else {
            return false;
        };
        let timer = second.nanos_since(first);
        to.nanos_since(from) <= *doubled_timer(timer).end()
    }

    /// The direction in which an end sends.
    pub(super) fn direction_of(&self, side: &SilencesOfSide) -> Direction {
        match side.side == self.outage.silences[0].side {
            true => self.outage.direction,
            false => self.outage.direction.reverse(),
        }
    }

    /// Tells whether an end goes on behind a silence upon the SA that it had sent on before.
    pub(super) fn goes_on_upon_its_sa(
        &self,
        side: &SilencesOfSide,
        (begin, end): (Timestamp, Timestamp),
    ) -> bool {
        let mut own = self.sas_towards(self.direction_of(side));
        own.any(|sa| sa.used.is_some_and(|(first, last)| first <= begin && last >= end))
    }

    /// Whether an end sent no ESP of the pair for half of the outage, up to a moment.
    pub(super) fn sends_no_esp(&self, address: Option<IpAddr>, until: Timestamp) -> bool {
        let side = address.and_then(|address| self.side(address));
        side.is_some_and(|side| self.fills_half_until(side.no_esp, until))
    }

    /// Events of some kinds that concern the pair, in a time.
    pub(super) fn events(
        &self,
        kinds: &'static [EventKind],
        within: impl RangeBounds<Timestamp>,
    ) -> impl Iterator<Item = &'a Event> {
        let events = self.scene.events.iter();
        events.filter(move |e| kinds.contains(&e.kind) && within.contains(&e.time) && self.concerns(e))
    }

    /// The event that an explanation names.
    pub(super) fn event_of(&self, explanation: &Explanation) -> Option<&'a Event> {
        self.scene.events.get(explanation.event?)
    }

    /// Exchanges of the tunnel, with their places.
    pub(super) fn placed_exchanges(&self) -> impl Iterator<Item = (usize, &'a ExchangeInScene)> {
        let all = self.scene.exchanges.iter().enumerate();
        all.filter(|(_, exchange)| exchange.tunnel == self.outage.tunnel)
    }

    /// Exchanges of the tunnel.
    pub(super) fn exchanges(&self) -> impl Iterator<Item = &'a ExchangeInScene> {
        self.placed_exchanges().map(|(_, exchange)| exchange)
    }

    /// The exchange that an event or an explanation names.
    pub(super) fn exchange(&self, index: Option<usize>) -> Option<&'a ExchangeInScene> {
        let mut all = self.scene.exchanges.iter();
        all.find(|exchange| Some(exchange.index) == index)
    }

    /// The event that a request of an exchange was answered at a later copy, since a moment.
    pub(super) fn repeated(&self, exchange: &ExchangeInScene, since: Timestamp) -> Option<&'a Event> {
        let mut late = self.events(&[EventKind::AnsweredLate], since..=exchange.end);
        late.find(|event| event.exchange == Some(exchange.index))
    }

    /// Tells whether the other side answered an exchange at once.
    pub(super) fn is_answered_at_once(&self, exchange: &ExchangeInScene) -> bool {
        let waited = exchange
            .answered
            .map(|answered| answered.nanos_since(exchange.begin));
        waited.is_some_and(|waited| waited <= self.near())
    }

    /// The exchange that made an SA.
    pub(super) fn made(&self, sa: &SaInScene) -> Option<&'a ExchangeInScene> {
        self.scene.exchanges.get(sa.exchange?)
    }

    /// Whether an exchange made SAs for other inner addresses alone. Where its SAs carried nothing, it may have been that of any other SA that
    /// goes on while nothing of the pair comes back.
    pub(super) fn is_of_others(&self, exchange: usize) -> bool {
        let own = self.scene.sas.iter().filter(|sa| sa.tunnel == self.outage.tunnel);
        let mut made = own
            .clone()
            .filter(|sa| sa.exchange == Some(exchange) && sa.used.is_some())
            .peekable();
        if made.peek().is_some() {
            return !made.any(|sa| self.carries(sa));
        }
        let goes_on = |sa: &SaInScene| sa.used.is_some_and(|(_, last)| last > self.outage.from);
        let mut others = own.filter(|sa| !self.carries(sa));
        self.outage.open && others.any(goes_on)
    }

    pub(super) fn sa(&self, place: usize) -> Option<&'a SaInScene> {
        self.scene.sas.get(place)
    }

    /// The SA that carried the direction at the begin.
    pub(super) fn own_sa(&self) -> Option<&'a SaInScene> {
        self.sa(self.outage.sa?)
    }

    /// The SA that carried the first delivery after the outage.
    pub(super) fn back_on(&self) -> Option<&'a SaInScene> {
        self.sa(self.outage.back_on?)
    }

    /// First and last packet on the SA of the opposite direction.
    pub(super) fn opposite_used(&self, sa: &SaInScene) -> Option<(Timestamp, Timestamp)> {
        self.sa(sa.opposite?)?.used
    }

    /// SAs that carry the pair, of both directions, with their places. Where the addresses inside are not known, every SA of the tunnel may.
    pub(super) fn placed_sas(&self) -> impl Iterator<Item = (usize, &'a SaInScene)> {
        let sas = self.scene.sas.iter().enumerate();
        sas.filter(|(_, sa)| self.carries(sa))
    }

    /// SAs that carry the pair.
    pub(super) fn own_sas(&self) -> impl Iterator<Item = &'a SaInScene> {
        self.placed_sas().map(|(_, sa)| sa)
    }

    /// SAs that carry the pair in a direction.
    pub(super) fn sas_towards(&self, direction: Direction) -> impl Iterator<Item = &'a SaInScene> {
        self.own_sas().filter(move |sa| sa.direction == direction)
    }

    fn carries(&self, sa: &SaInScene) -> bool {
        let pair = self.outage.inner;
        let same = |inner: &(IpAddr, IpAddr)| {
            pair.is_none_or(|(from, to)| *inner == (from, to) || *inner == (to, from))
        };
        sa.tunnel == self.outage.tunnel && (sa.inner.is_empty() || sa.inner.iter().any(same))
    }

    /// Whether an event is about the pair: by the SPIs that it names, else by the SA that its exchange renews, else by its tunnel.
    pub(super) fn concerns(&self, event: &Event) -> bool {
        if event.tunnel.is_some_and(|tunnel| tunnel != self.outage.tunnel) {
            return false;
        }
        let sas = &self.scene.sas;
        let mut named = sas
            .iter()
            .filter(|sa| sa.tunnel == self.outage.tunnel && event.spis.contains(&sa.spi))
            .peekable();
        if named.peek().is_some() {
            return named.any(|sa| self.carries(sa));
        }
        let exchange = self.exchange(event.exchange);
        let renewed = exchange.and_then(|exchange| self.sa(exchange.renews?));
        renewed.is_none_or(|sa| self.carries(sa))
    }

    /// Whether the pair got a new SA in the direction of the outage between a moment and its begin. One side alone may have it: Quick Mode's
    /// responder waits for the third message.
    pub(super) fn got_new_sa_since(&self, time: Timestamp) -> bool {
        let begin = self.outage.from;
        let mut own = self.sas_towards(self.outage.direction).filter_map(|sa| sa.used);
        own.any(|(first, _)| first > time && first <= begin)
    }

    /// Whether data came back on another SA than the one that it was sent on, or not at all.
    pub(super) fn stopped_on_its_sa(&self) -> bool {
        self.outage.sa.is_some() && self.outage.back_on != self.outage.sa
    }

    /// Bytes that the SA had carried at the begin, and its age in seconds since the exchange that made it.
    pub(super) fn volume_and_age(&self) -> (Option<f64>, Option<f64>) {
        let made = |sa: &SaInScene| {
            let (first, _) = sa.used?;
            Some(self.made(sa).map_or(first, |exchange| exchange.end.min(first)))
        };
        let made = self.own_sa().and_then(made);
        let age = made.map(|made| self.outage.from.seconds_since(made));
        (self.outage.sa_bytes.map(|bytes| bytes as f64), age)
    }

    /// Names frames: that of the event, those that the row found, and those of what was lost.
    pub(super) fn with_frames(&self, explanation: Explanation) -> Explanation {
        let of_event = self.event_of(&explanation).map(|event| event.frame);
        let swallowed = self.outage.swallowed_packets.iter().map(|packet| packet.frame);
        let found = explanation.frames.iter().copied();
        let mut frames: Vec<u64> = Vec::new();
        for frame in of_event.into_iter().chain(found).chain(swallowed) {
            if frames.len() < MOST_FRAMES && !frames.contains(&frame) {
                frames.push(frame);
            }
        }
        Explanation {
            frames,
            ..explanation
        }
    }
}

/// Whether two volumes or ages are the same limit.
pub(super) fn same_limit(a: f64, b: f64) -> bool {
    let larger = a.max(b);
    larger > 0.0 && (a - b).abs() <= SAME_LIMIT * larger
}

/// Seconds as nanoseconds, for thresholds.
pub(super) const fn seconds(seconds: i64) -> i64 {
    seconds * NANOS_PER_SECOND
}

/// The least of some lengths, and the most.
pub(super) fn range(mut lengths: impl Iterator<Item = f64>) -> (f64, f64) {
    let first = lengths.next().unwrap_or_default();
    lengths.fold((first, first), |(least, most), one| {
        (least.min(one), most.max(one))
    })
}
