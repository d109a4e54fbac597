//! Which packets were seen: (SA, sequence number, end of the ICV), over the whole capture in bounded memory. The same capture
//! may come twice in one file, far beyond any replay window.

use crate::sa::database::SaIndex;
use std::collections::{HashMap, VecDeque};

/// Sequence numbers of one page.
const PAGE: u64 = 256;
/// Most pages, 64 MiB: some 16 million packets. Beyond, the oldest page is forgotten, and repetitions of its packets count as
/// packets again.
const MOST_PAGES: usize = 1 << 16;

type SeenPage = Box<[u32; PAGE as usize]>;

/// The memory.
#[derive(Debug, Default)]
pub struct SeenPackets {
    pages: HashMap<(SaIndex, u64), SeenPage>,
    order: VecDeque<(SaIndex, u64)>,
    forgotten: u64,
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
        let at = (number % PAGE) as usize;
        if let Some(page) = self.pages.get_mut(&key) {
            return std::mem::replace(&mut page[at], mark) == mark;
        }
        if self.pages.len() >= most
            && let Some(oldest) = self.order.pop_front()
        {
            self.pages.remove(&oldest);
            self.forgotten += 1;
        }
        let mut page: SeenPage = Box::new([0; PAGE as usize]);
        page[at] = mark;
        self.order.push_back(key);
        self.pages.insert(key, page);
        false
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
