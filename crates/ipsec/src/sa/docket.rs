//! The packets of an SA whose key is not decided yet.

use crate::sa::specimen::Specimen;

/// Whole packets that are kept of such an SA. Eight packets of any kind that a right key opens say 60 bits and more, which is enough for
/// any number of trials; one is enough where it holds IP or L2TP.
pub(super) const MOST_KEPT: usize = 8;
/// Bytes of them: eight packets of 1,500 bytes, or one that offloading made.
const MOST_KEPT_BYTES: usize = 12 << 10;
/// Bytes that two packets have to differ in behind header and sequence number, to count as two: an IV and a first block.
const BEGINNING: std::ops::Range<usize> = 8..40;

#[derive(Debug, Default)]
pub(super) struct Docket {
    /// In order of appearance, the newest last.
    pub(super) kept: Vec<Box<[u8]>>,
    /// Packets seen.
    seen: u32,
    /// Packets came since the last search.
    pub(super) waiting: bool,
    /// A key was found that lacks nothing but packets: each further one is looked at.
    promising: bool,
}

impl Docket {
    /// There are other keys now: what was tried before may fit.
    pub(super) fn reopen(&mut self) {
        self.seen = 0;
        self.promising = true;
        self.waiting = !self.kept.is_empty();
    }

    /// Takes a packet; a copy of one that is kept counts no more. True when it is time for a search: at the 1st, 2nd, 4th, 8th, … packet,
    /// so that the effort stays bounded on an SA without a key, and at each one of the first while a key lacks nothing but packets.
    pub(super) fn take(&mut self, specimen: Specimen<'_>) -> bool {
        let beginning = specimen.packet.get(BEGINNING);
        if self.kept.iter().any(|kept| kept.get(BEGINNING) == beginning) {
            return false;
        }
        self.seen = self.seen.saturating_add(1);
        let due = self.seen.is_power_of_two();
        let few = self.kept.len() < MOST_KEPT && (self.promising || self.seen as usize <= MOST_KEPT);
        if !specimen.whole || !(due || few) {
            return due;
        }
        self.keep(specimen.packet);
        self.waiting = true;
        due || self.promising
    }

    fn keep(&mut self, packet: &[u8]) {
        let bytes: usize = self.kept.iter().map(|kept| kept.len()).sum();
        let full = self.kept.len() >= MOST_KEPT || bytes + packet.len() > MOST_KEPT_BYTES;
        if full && !self.kept.is_empty() {
            self.kept.remove(0);
        }
        self.kept.push(packet.into());
    }

    /// A search was made; it was `thorough` when nothing was left out.
    pub(super) fn searched(&mut self, promising: bool, thorough: bool) {
        self.promising = promising;
        self.waiting &= !thorough;
        if !promising && self.seen as usize >= MOST_KEPT {
            self.kept = Vec::new();
        }
    }

    /// Tells whether unlabelled bytes are sought through at this packet: at the first two; later while an integrity key that was found there
    /// lacks the encryption key.
    pub(super) fn is_mined(&self) -> bool {
        self.seen <= 2 || self.promising && self.seen.is_power_of_two() && self.seen as usize <= MOST_KEPT
    }
}
