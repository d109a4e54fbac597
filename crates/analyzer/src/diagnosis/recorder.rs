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
/// Most windows open at a time; a further rekey goes without (counted). A packet lies in those that are open when it comes, and in as many that
/// begin within [`BEFORE`] of it.
pub(crate) const MOST_OPEN: usize = 64;
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
    /// Directions in which an SA has begun within it.
    begun: [bool; 2],
}

/// The ring with its windows.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    ring: VecDeque<PacketRecord>,
    /// Packets that the ring forgot.
    forgotten: u64,
    open: Vec<OpenWindow>,
    /// Windows that closed early.
    pub(crate) shortened: u64,
    /// Rekeys beyond [`MOST_OPEN`].
    pub(crate) unopened: u64,
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
        self.due(Some(record.time)).is_some()
    }

    /// A window that has to be closed at `now`; with `None` any.
    fn due(&self, now: Option<Timestamp>) -> Option<usize> {
        let full = self.ring.len() >= MOST_RECORDS;
        let due = |w: &OpenWindow| now.is_none_or(|now| w.closes <= now || full && w.from <= self.forgotten);
        self.open.iter().position(due)
    }

    /// Opens a window at `now`.
    pub(crate) fn open(&mut self, subject: Subject, tunnel: TunnelIndex, now: Timestamp) {
        if self.open.len() >= MOST_OPEN {
            self.unopened += 1;
            return;
        }
        // Times may go back a little in a capture; a window need not begin at the exact packet.
        let since = now.plus_nanos(-BEFORE);
        let first = self.ring.partition_point(|r| r.time < since);
        // Three quarters of the ring are left for what follows.
        let first = first.max(self.ring.len().saturating_sub(MOST_RECORDS / 4));
        self.open.push(OpenWindow {
            subject,
            tunnel,
            opened: now,
            closes: now.plus_nanos(AFTER),
            from: first as u64 + self.forgotten,
            begun: [false; 2],
        });
    }

    /// A message of the subject came: its window stays open for longer.
    pub(crate) fn extend(&mut self, subject: Subject, now: Timestamp) {
        if let Some(window) = self.open.iter_mut().rev().find(|w| w.subject == subject) {
            let latest = window.opened.plus_nanos(LONGEST);
            window.closes = window.closes.max(now.plus_nanos(AFTER)).min(latest);
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
                if let Some(window) = self.open.last_mut().filter(|w| w.subject == Subject::Sa(sa)) {
                    window.begun[slot] = true;
                }
            }
        }
    }

    /// The next window that has to be closed at `now`; with `None` every one. To be asked until there is none.
    pub(crate) fn take_due(&mut self, now: Option<Timestamp>) -> Option<OpenWindow> {
        let window = self.open.remove(self.due(now)?);
        self.shortened += u64::from(now.is_some_and(|now| window.closes > now));
        Some(window)
    }

    /// No further window is opened: the document is made with the memory of the ring.
    pub(crate) fn forget_packets(&mut self) {
        self.ring = VecDeque::new();
    }

    /// The packets of a window's tunnel, in capture order.
    pub(crate) fn packets(&self, window: &OpenWindow) -> Vec<&PacketRecord> {
        let skip = window.from.saturating_sub(self.forgotten) as usize;
        let all = self.ring.iter().skip(skip);
        all.filter(|r| usize::from(r.tunnel) == window.tunnel).collect()
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

    /// A rekey at every other packet, all at one moment: no window closes at once, so that each packet is walked over a bounded number of
    /// times.
    #[test]
    fn windows_of_a_flood_of_rekeys_share_the_packets() {
        let mut recorder = Recorder::default();
        let (mut walked, packets) = (0, 2 * MOST_RECORDS);
        for k in 0..packets {
            if recorder.push(record(0, 0)) {
                while let Some(window) = recorder.take_due(Some(Timestamp(0))) {
                    walked += recorder.packets(&window).len();
                }
            }
            if k % 2 == 0 {
                recorder.open(Subject::Exchange(k), 0, Timestamp(0));
            }
        }
        assert!(walked > 0 && walked <= 2 * MOST_OPEN * packets, "{walked}");
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
