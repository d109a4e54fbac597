//! Packets that were seen: (SA, sequence number, end of the ICV), over the whole capture in bounded memory. The same capture
//! may come twice in one file, far beyond any replay window.

use crate::sa::database::SaIndex;
use foldhash::HashMap;

/// Sequence numbers of one page: few, as a flood of SAs has a page for each packet.
const PAGE: u64 = 64;
/// Most pages, 10 MB with their places: some 2 million packets, 3 GB of a download. Beyond, the oldest page is forgotten, and repetitions of its
/// packets count as packets again.
const MOST_PAGES: usize = 1 << 15;

/// Tells whether a packet was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appearance {
    /// No packet had the number.
    New,
    /// The very same packet: another one under the same number agrees in 32 bits of its ICV with a probability of 2⁻³².
    Again,
    /// Another packet had the number.
    NumberUsed,
}

/// An SA and a number of [`PAGE`] sequence numbers.
type PageKey = (SaIndex, u64);

#[derive(Debug)]
struct SeenPage {
    key: PageKey,
    marks: Box<[u32; PAGE as usize]>,
}

/// Packets that were seen.
#[derive(Debug, Default)]
pub struct SeenPackets {
    /// At the bound, a ring.
    pages: Vec<SeenPage>,
    places: HashMap<PageKey, usize>,
    forgotten: u64,
}

impl SeenPackets {
    /// Notes a packet by its SA, its number and the end of its ICV.
    pub fn observe(&mut self, sa: SaIndex, number: u64, fingerprint: u64) -> Appearance {
        self.observe_bounded(sa, number, fingerprint, MOST_PAGES)
    }

    fn observe_bounded(&mut self, sa: SaIndex, number: u64, fingerprint: u64, most: usize) -> Appearance {
        let key = (sa, number / PAGE);
        // 0 is a number not seen.
        let mark = ((fingerprint ^ (fingerprint >> 32)) as u32).max(1);
        let known = self.places.get(&key).copied();
        let place = known.unwrap_or_else(|| self.begin(key, most));
        let seen = &mut self.pages[place].marks[(number % PAGE) as usize];
        match std::mem::replace(seen, mark) {
            0 => Appearance::New,
            before if before == mark => Appearance::Again,
            _ => Appearance::NumberUsed,
        }
    }

    /// A new page: at the bound in the place of the oldest.
    fn begin(&mut self, key: PageKey, most: usize) -> usize {
        let place = if self.pages.len() < most {
            let marks = Box::new([0; PAGE as usize]);
            self.pages.push(SeenPage { key, marks });
            self.pages.len() - 1
        } else {
            let place = (self.forgotten % most as u64) as usize;
            let page = &mut self.pages[place];
            self.places.remove(&page.key);
            page.key = key;
            page.marks.fill(0);
            self.forgotten += 1;
            place
        };
        self.places.insert(key, place);
        place
    }

    /// Pages that the bound made it forget.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_known_however_far_behind_it_lies() {
        let mut seen = SeenPackets::default();
        for number in 1..100_000 {
            assert_eq!(seen.observe(0, number, number * 7), Appearance::New);
        }
        assert_eq!(seen.observe(0, 1, 7), Appearance::Again);
        assert_eq!(seen.observe(1, 1, 7), Appearance::New, "another SA");
        assert_eq!(seen.observe(0, 2, 15), Appearance::NumberUsed);
        assert_eq!(seen.observe(0, 100_000, 0), Appearance::New, "no ICV");
        assert_eq!(seen.observe(0, 100_000, 0), Appearance::Again, "no ICV");
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_goes_first() {
        let mut seen = SeenPackets::default();
        for number in 0..10 * PAGE {
            seen.observe_bounded(0, number, number + 1, 4);
        }
        assert_eq!((seen.pages.len(), seen.forgotten()), (4, 6));
        assert_eq!(
            seen.observe_bounded(0, 9 * PAGE, 9 * PAGE + 1, 4),
            Appearance::Again
        );
        assert_eq!(seen.observe_bounded(0, 0, 1, 4), Appearance::New, "forgotten");
    }
}
