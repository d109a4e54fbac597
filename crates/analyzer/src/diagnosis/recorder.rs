//! The last packets of all tunnels in a ring, and the windows around rekeys that lie in it.
//!
//! A window is looked at when it closes, while its packets are still in the ring: nothing is copied but the close-up. A window reaches
//! from [`BEFORE`] before the first exchange message to [`AFTER`] behind the last one; at most [`LONGEST`] in all. Where packets come so
//! fast that the ring would forget a window's beginning, the window closes early; what it saw until then counts, and the number of such
//! windows is kept.

use crate::diagnosis::record::PacketRecord;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::collections::VecDeque;

/// Most packets in the ring: 16 MiB. It holds the 12 s of a window up to 21,000 packets/s, and 5 s up to 52,000.
pub(crate) const MOST_RECORDS: usize = 1 << 18;
/// Most windows open at a time; a further rekey goes without (counted).
pub(crate) const MOST_OPEN: usize = 1 << 10;
/// Packets that may be walked over for windows, for each that came. Windows of rekeys seconds apart need six at most; where there are
/// several a second, each gets its share of the packets around its beginning, and the work stays that of the packets.
const WALKS: usize = 16;
/// The credit that may be saved: two windows as large as the ring.
const MOST_CREDIT: usize = 2 * MOST_RECORDS;
/// A window gets so many packets at least.
const LEAST_WALK: usize = 256;
/// A window begins this long before the first exchange message, which is more than a close-up shows.
const BEFORE: i64 = 2 * NANOS_PER_SECOND;
/// Behind the last exchange message: an outage of some retransmission timeouts (1 + 2 + 4 s) ends within.
const AFTER: i64 = 8 * NANOS_PER_SECOND;
/// A window is never longer than this, counted from the first exchange message.
const LONGEST: i64 = 30 * NANOS_PER_SECOND;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// An exchange (index in the timeline).
    Exchange(usize),
    /// An SA that began without one.
    Sa(SaIndex),
}

/// A window that is still open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenWindow {
    pub(crate) subject: Subject,
    pub(crate) tunnel: TunnelIndex,
    pub(crate) opened: Timestamp,
    closes: Timestamp,
    /// Number of its first packet, counted from the beginning of the capture.
    from: u64,
    /// Packets of all tunnels that it has, once it is closed.
    packets: usize,
    /// Directions in which an SA has begun within it.
    begun: [bool; 2],
}

/// The ring with its windows.
#[derive(Debug)]
pub(crate) struct Recorder {
    ring: VecDeque<PacketRecord>,
    /// Packets that may be walked over: [`WALKS`].
    credit: usize,
    /// Packets that the ring forgot.
    forgotten: u64,
    open: VecDeque<OpenWindow>,
    next_close: Option<Timestamp>,
    /// First packet of any open window.
    oldest_from: u64,
    /// Windows that closed early, or got a part of their packets only.
    pub(crate) shortened: u64,
    /// Rekeys beyond [`MOST_OPEN`].
    pub(crate) unopened: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder {
            ring: VecDeque::new(),
            credit: MOST_CREDIT,
            forgotten: 0,
            open: VecDeque::new(),
            next_close: None,
            oldest_from: u64::MAX,
            shortened: 0,
            unopened: 0,
        }
    }
}

impl Recorder {
    /// Takes a packet. True when a window has to be closed ([`Recorder::take_due`]).
    #[inline]
    pub(crate) fn push(&mut self, record: PacketRecord) -> bool {
        if self.ring.len() >= MOST_RECORDS {
            self.ring.pop_front();
            self.forgotten += 1;
        }
        self.ring.push_back(record);
        self.credit = (self.credit + WALKS).min(MOST_CREDIT);
        match self.next_close {
            None => false,
            Some(due) => record.time >= due || self.oldest_is_endangered(),
        }
    }

    fn oldest_is_endangered(&self) -> bool {
        self.ring.len() >= MOST_RECORDS && self.oldest_from <= self.forgotten
    }

    /// No further window can be opened.
    fn is_full(&self) -> bool {
        self.open.len() >= MOST_OPEN
    }

    /// Opens a window at `now`.
    pub(crate) fn open(&mut self, subject: Subject, tunnel: TunnelIndex, now: Timestamp) {
        if self.is_full() {
            self.unopened = self.unopened.saturating_add(1);
            return;
        }
        // Times may go back a little in a capture; a window need not begin at the exact packet.
        let from = self.first_since(now.plus_nanos(-BEFORE));
        let closes = now.plus_nanos(AFTER);
        self.open.push_back(OpenWindow {
            subject,
            tunnel,
            opened: now,
            closes,
            from,
            packets: 0,
            begun: [false; 2],
        });
        self.next_close = Some(self.next_close.map_or(closes, |next| next.min(closes)));
        self.oldest_from = self.oldest_from.min(from);
    }

    /// Number of the first packet from `time` on.
    fn first_since(&self, time: Timestamp) -> u64 {
        self.ring.partition_point(|r| r.time < time) as u64 + self.forgotten
    }

    /// A message of the subject came: its window stays open for longer.
    pub(crate) fn extend(&mut self, subject: Subject, now: Timestamp) {
        if let Some(window) = self.open.iter_mut().rev().find(|w| w.subject == subject) {
            let latest = window.opened.plus_nanos(LONGEST);
            window.closes = window.closes.max(now.plus_nanos(AFTER)).min(latest);
            self.schedule();
        }
    }

    /// An SA begins in direction `slot`: the oldest window of its tunnel that still lacks one takes it, or a window of
    /// its own opens.
    pub(crate) fn sa_begins(&mut self, sa: SaIndex, tunnel: TunnelIndex, slot: usize, now: Timestamp) {
        let lacks_one = |w: &&mut OpenWindow| w.tunnel == tunnel && !w.begun[slot];
        match self.open.iter_mut().find(lacks_one) {
            Some(window) => window.begun[slot] = true,
            None => {
                self.open(Subject::Sa(sa), tunnel, now);
                if let Some(window) = self.open.back_mut().filter(|w| w.subject == Subject::Sa(sa)) {
                    window.begun[slot] = true;
                }
            }
        }
    }

    fn schedule(&mut self) {
        self.next_close = self.open.iter().map(|w| w.closes).min();
        self.oldest_from = self.open.iter().map(|w| w.from).min().unwrap_or(u64::MAX);
    }

    /// The next window that has to be closed at `now`; with `None` every one. To be asked until there is none.
    pub(crate) fn take_due(&mut self, now: Option<Timestamp>) -> Option<OpenWindow> {
        let endangered = self.ring.len() >= MOST_RECORDS;
        let due = |w: &OpenWindow| match now {
            None => true,
            Some(now) => w.closes <= now || endangered && w.from <= self.forgotten,
        };
        let Some(position) = self.open.iter().position(due) else {
            self.schedule();
            return None;
        };
        let mut window = self.open.remove(position)?;
        let early = now.is_some_and(|now| window.closes > now);
        if self.allot(&mut window) || early {
            self.shortened += 1;
        }
        Some(window)
    }

    /// Gives a window its packets. True where they are not all.
    fn allot(&mut self, window: &mut OpenWindow) -> bool {
        let end = self.forgotten + self.ring.len() as u64;
        let from = window.from.max(self.forgotten);
        let all = (end - from) as usize;
        window.packets = all.min(self.credit.max(LEAST_WALK));
        self.credit = self.credit.saturating_sub(window.packets);
        let least = window.packets as u64;
        let begins = self.first_since(window.opened).saturating_sub(least / 4);
        window.from = begins.clamp(from, end - least);
        window.packets < all
    }

    /// No further window is opened: the document is made with the memory of the ring.
    pub(crate) fn forget_packets(&mut self) {
        self.ring = VecDeque::new();
    }

    /// The packets of a window's tunnel, in capture order.
    pub(crate) fn packets(&self, window: &OpenWindow) -> Vec<&PacketRecord> {
        let skip = usize::try_from(window.from.saturating_sub(self.forgotten)).unwrap_or(usize::MAX);
        let tunnel = window.tunnel;
        let all = self.ring.iter().skip(skip).take(window.packets);
        let mut own = Vec::with_capacity(window.packets);
        own.extend(all.filter(|r| usize::from(r.tunnel) == tunnel));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(millis: i64, tunnel: u16) -> PacketRecord {
        let mut record = PacketRecord::for_test(Timestamp(millis * 1_000_000), 1, 100);
        record.tunnel = tunnel;
        record
    }

    #[test]
    fn a_window_reaches_from_two_seconds_before_to_eight_after_the_last_message() {
        let mut recorder = Recorder::default();
        let mut closed = Vec::new();
        for millis in 0..20_000 {
            if millis == 5_000 {
                let now = Timestamp(millis * 1_000_000);
                recorder.open(Subject::Exchange(3), 1, now);
            }
            if millis == 5_500 {
                recorder.extend(Subject::Exchange(3), Timestamp(millis * 1_000_000));
            }
            let now = record(millis, u16::from(millis % 2 == 0));
            if recorder.push(now) {
                while let Some(window) = recorder.take_due(Some(now.time)) {
                    closed.push((millis, recorder.packets(&window).len()));
                }
            }
        }
        assert_eq!(closed, [(13_500, 5_251)]);
    }

    #[test]
    fn the_ring_is_bounded_and_a_window_closes_before_it_is_forgotten() {
        let mut recorder = Recorder::default();
        recorder.push(record(0, 0));
        recorder.open(Subject::Sa(0), 0, Timestamp(0));
        let mut closed = 0;
        for _ in 0..MOST_RECORDS + 10 {
            if recorder.push(record(1, 0)) {
                while let Some(window) = recorder.take_due(Some(Timestamp(1_000_000))) {
                    closed += 1;
                    assert_eq!(recorder.packets(&window).len(), MOST_RECORDS);
                }
            }
        }
        assert_eq!(
            (closed, recorder.shortened, recorder.ring.len()),
            (1, 1, MOST_RECORDS)
        );
    }

    /// A rekey at every other packet: each window has some packets, those around its beginning, and all together few per packet.
    #[test]
    fn windows_of_a_flood_of_rekeys_share_the_packets() {
        let mut recorder = Recorder::default();
        let (mut walked, mut windows) = (0, 0);
        let packets: i64 = 200_000;
        let mut close = |recorder: &mut Recorder, now| {
            while let Some(window) = recorder.take_due(now) {
                let own = recorder.packets(&window);
                let around = own.first().zip(own.last()).is_none_or(|(first, last)| {
                    (first.time..=last.time).contains(&window.opened.min(last.time))
                });
                assert!(around && own.len() >= LEAST_WALK.min(recorder.ring.len()));
                walked += own.len();
                windows += 1;
            }
        };
        for millis in 0..packets {
            let now = record(millis, 0);
            if recorder.push(now) {
                close(&mut recorder, Some(now.time));
            }
            if millis % 2 == 0 {
                recorder.open(Subject::Exchange(millis as usize), 0, now.time);
            }
        }
        close(&mut recorder, None);
        assert!(windows > 10_000 && recorder.shortened > 0, "{windows}");
        assert!(
            walked <= MOST_CREDIT + (WALKS + LEAST_WALK / 2) * packets as usize,
            "{walked}"
        );
    }

    #[test]
    fn open_windows_are_bounded() {
        let mut recorder = Recorder::default();
        for k in 0..MOST_OPEN + 5 {
            recorder.open(Subject::Exchange(k), 0, Timestamp(0));
        }
        assert_eq!(recorder.unopened, 5);
        assert_eq!(std::iter::from_fn(|| recorder.take_due(None)).count(), MOST_OPEN);
    }
}
