//! The bytes of one large read.

use std::ops::Range;
use std::slice::SliceIndex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroize;

/// Bytes asked for at once: as fast as a mapping on a file in the page cache.
pub(super) const READ_LEN: usize = 1024 * 1024;
/// Room for the rest of a record that the previous read cut, so that the next one can again be of [`READ_LEN`].
pub(super) const CARRY_LEN: usize = 128 * 1024;
/// Both, and what [`ReadBlock::aligned`] skips.
pub(super) const BLOCK_LEN: usize = CARRY_LEN + READ_LEN + LINE_LEN;
/// A line of the cache.
const LINE_LEN: usize = 64;

/// A block of a capture. A clone keeps its bytes readable when the reader has gone on.
#[derive(Clone)]
pub struct ReadBlock(Arc<BlockBytes>);

struct BlockBytes {
    bytes: Vec<u8>,
    /// There are keys in it.
    secret: AtomicBool,
}

impl Drop for BlockBytes {
    fn drop(&mut self) {
        if *self.secret.get_mut() {
            self.bytes.zeroize();
        }
    }
}

impl std::fmt::Debug for ReadBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReadBlock({} bytes)", self.0.bytes.len())
    }
}

impl ReadBlock {
    pub(super) fn new() -> Self {
        ReadBlock(Arc::new(BlockBytes {
            bytes: vec![0; BLOCK_LEN],
            secret: AtomicBool::new(false),
        }))
    }

    /// Range of `part` in the block, a slice that was lent from it; `None` for a slice of other bytes.
    #[inline]
    pub fn place_of(&self, part: &[u8]) -> Option<Range<usize>> {
        let start = part.as_ptr().addr().checked_sub(self.0.bytes.as_ptr().addr())?;
        let end = start.checked_add(part.len())?;
        (end <= self.0.bytes.len()).then_some(start..end)
    }

    /// Tells whether both are one block.
    #[inline]
    pub fn is(&self, other: &ReadBlock) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Some of its bytes; none where the block has no such place.
    #[inline]
    pub fn get(&self, place: impl SliceIndex<[u8], Output = [u8]>) -> &[u8] {
        self.0.bytes.get(place).unwrap_or_default()
    }

    /// The bytes, to write to; `None` while somebody else keeps the block.
    pub(super) fn own(&mut self) -> Option<&mut Vec<u8>> {
        Arc::get_mut(&mut self.0).map(|block| &mut block.bytes)
    }

    /// The first place from `at` on that begins a line of the cache. Reads go to such places: where the target lies less than 32 bytes
    /// behind the source, modulo a page, the kernel's copy is four times as slow on some machines (0.55 instead of 0.12 s for a GB on
    /// an AMD EPYC), and large allocations begin 16 bytes behind a page.
    pub(super) fn aligned(&self, at: usize) -> usize {
        at.next_multiple_of(LINE_LEN) + self.0.bytes.as_ptr().addr().wrapping_neg() % LINE_LEN
    }

    /// The last one to drop it wipes it.
    pub(super) fn wipe_at_last(&self) {
        self.0.secret.store(true, Ordering::Relaxed);
    }
}
