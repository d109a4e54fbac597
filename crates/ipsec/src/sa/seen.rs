//! Which packets were seen: (SA, sequence number, end of the ICV), over the whole capture in bounded memory. The same capture
//! may come twice in one file, far beyond any replay window.

use crate::sa::database::SaIndex;
use foldhash::{HashMap, HashMapExt};

/// Sequence numbers of one page: few, as a flood of SAs has a page for each packet.
const PAGE: u64 = 64;
/// Most pages, 10 MB with their places: some 2 million packets, 3 GB of a download. Beyond, the oldest page is forgotten, and repetitions of its
/// packets count as packets again.
const MOST_PAGES: usize = 1 << 15;
/// SAs whose last page is found without the table: packets come page by page.
const RECENT: usize = 64;

/// An SA and a number of [`PAGE`] sequence numbers.
type PageKey = (SaIndex, u64);

#[derive(Debug)]
struct SeenPage {
    key: PageKey,
    marks: Box<[u32; PAGE as usize]>,
}

/// The memory.
#[derive(Debug)]
pub struct SeenPackets {
    /// At the bound, a ring.
    pages: Vec<SeenPage>,
    places: HashMap<PageKey, usize>,
    /// The place of an SA's last page, or of another SA's.
    recent: [usize; RECENT],
    forgotten: u64,
}

impl Default for SeenPackets {
    fn default() -> Self {
        SeenPackets {
            pages: Vec::new(),
            places: HashMap::new(),
            recent: [0; RECENT],
            forgotten: 0,
        }
    }
}

impl SeenPackets {
    /// Notes a packet. True when the very same one was there before: another packet under the same number agrees in these
    /// 32 bits with a probability of 2⁻³².
    pub fn observe(&mut self, sa: SaIndex, number: u64, fingerprint: u64) -> bool {
        self.observe_bounded(sa, number, fingerprint, MOST_PAGES)
    }

    fn observe_bounded(&mut self, sa: SaIndex, number: u64, fingerprint: u64, most: usize) -> bool {
        let key = (sa, number / PAGE);
        // 0 is a number not seen.
        let mark = ((fingerprint ^ (fingerprint >> 32)) as u32).max(1);
        let recent = self.recent[sa % RECENT];
        let place = match self.pages.get(recent) {
            Some(page) if page.key == key => recent,
            _ => {
                let known = self.places.get(&key).copied();
                let place = known.unwrap_or_else(|| self.begin(key, most));
                self.recent[sa % RECENT] = place;
                place
            }
        };
        let seen = &mut self.pages[place].marks[(number % PAGE) as usize];
        std::mem::replace(seen, mark) == mark
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
            assert!(!seen.observe(0, number, number * 7));
        }
        assert!(seen.observe(0, 1, 7));
        assert!(!seen.observe(1, 1, 7), "another SA");
        assert!(!seen.observe(0, 2, 15), "another packet under the same number");
        assert!(
            !seen.observe(0, 100_000, 0) && seen.observe(0, 100_000, 0),
            "no ICV"
        );
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_goes_first() {
        let mut seen = SeenPackets::default();
        for number in 0..10 * PAGE {
            seen.observe_bounded(0, number, number + 1, 4);
        }
        assert_eq!((seen.pages.len(), seen.forgotten()), (4, 6));
        assert!(seen.observe_bounded(0, 9 * PAGE, 9 * PAGE + 1, 4));
        assert!(!seen.observe_bounded(0, 0, 1, 4), "forgotten");
    }
}
