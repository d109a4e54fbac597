//! A block that is refilled by large reads and lent out record by record. Whoever needs a packet for longer keeps its block
//! ([`ReadBlock`]), and reading goes on in another one.

use crate::file::block::ReadBlock;
use crate::file::source::{ByteSource, SourceRead};
use std::collections::VecDeque;
use std::io;

/// Bytes asked for at once: as fast as a mapping on a file in the page cache.
const READ_LEN: usize = 1024 * 1024;
/// Room for the rest of a record that the previous read cut, so that the next one can again be of [`READ_LEN`].
const CARRY_LEN: usize = 128 * 1024;
/// Longest record (pcap packet, pcapng block) that is believed. A longer one is taken for damage: the largest IP packet
/// has 64 KiB and real metadata blocks a few MiB. The buffer grows only while bytes really arrive.
pub(super) const LARGEST_RECORD: usize = 64 * 1024 * 1024;

/// A window on the [`ByteSource`].
pub(super) struct Buffer {
    source: ByteSource,
    block: ReadBlock,
    /// Blocks that others kept, the oldest first: they let go of them in this order.
    kept: VecDeque<ReadBlock>,
    /// Nobody may keep a block any more ([`Buffer::available_mut`]).
    closed: bool,
    start: usize,
    end: usize,
    consumed: u64,
    at_end: bool,
    broken: Option<String>,
}

impl Buffer {
    pub(super) fn new(source: ByteSource) -> Buffer {
        Buffer {
            source,
            block: ReadBlock::new(READ_LEN + CARRY_LEN),
            kept: VecDeque::new(),
            closed: false,
            start: 0,
            end: 0,
            consumed: 0,
            at_end: false,
            broken: None,
        }
    }

    /// True when at least `n` bytes are there, after reading as often as it takes.
    #[inline]
    pub(super) fn ensure(&mut self, n: usize) -> io::Result<bool> {
        if self.end - self.start >= n {
            Ok(true)
        } else {
            self.refill(n)
        }
    }

    #[cold]
    fn refill(&mut self, n: usize) -> io::Result<bool> {
        self.carry_on();
        while self.end < n && !self.at_end {
            let Some(block) = self.block.own() else { break };
            if self.end == block.len() {
                let larger = block.len().saturating_mul(2).min(LARGEST_RECORD + READ_LEN);
                block.resize(larger, 0);
            }
            let room = block.get_mut(self.end..).unwrap_or_default();
            match self.source.read(room)? {
                SourceRead::Bytes(read) => self.end += read.min(room.len()),
                SourceRead::End => self.at_end = true,
                SourceRead::Broken(reason) => {
                    self.at_end = true;
                    self.broken = Some(reason);
                }
            }
        }
        Ok(self.end >= n)
    }

    /// Moves what is there to the front of a block that nobody else has.
    fn carry_on(&mut self) {
        let rest = self.start..self.end;
        (self.start, self.end) = (0, rest.len());
        if let Some(own) = self.block.own() {
            own.copy_within(rest, 0);
            return;
        }
        let free = self.kept.front_mut().is_some_and(|oldest| oldest.own().is_some());
        let again = if free { self.kept.pop_front() } else { None };
        let mut next = again.unwrap_or_else(|| ReadBlock::new(READ_LEN + CARRY_LEN));
        if let Some(room) = next.own() {
            let rest = self.block.get(rest);
            if room.len() < rest.len() {
                room.resize(rest.len(), 0);
            }
            if let Some(front) = room.get_mut(..rest.len()) {
                front.copy_from_slice(rest);
            }
        }
        self.kept.push_back(std::mem::replace(&mut self.block, next));
    }

    /// What is there.
    #[inline]
    pub(super) fn available(&self) -> &[u8] {
        self.block.get(self.start..self.end)
    }

    /// The same, to put right what a parser would misread, or to wipe it. A file that needs it may need it at every record: its
    /// blocks are kept by nobody from then on, as each would have to be copied here.
    pub(super) fn available_mut(&mut self) -> &mut [u8] {
        if self.block.own().is_none() {
            self.block.wipe_at_last();
            self.carry_on();
            self.closed = true;
        }
        let rest = self.start..self.end;
        let own = self.block.own().and_then(|own| own.get_mut(rest));
        own.unwrap_or_default()
    }

    /// The block, for who needs what was lent for longer.
    #[inline]
    pub(super) fn block(&self) -> Option<&ReadBlock> {
        (!self.closed).then_some(&self.block)
    }

    /// Gives the next `n` bytes away: they stay readable by [`Buffer::lent`] until the next [`Buffer::ensure`].
    #[inline]
    pub(super) fn consume(&mut self, n: usize) {
        let n = n.min(self.end - self.start);
        self.start += n;
        self.consumed += n as u64;
    }

    /// The `len` bytes that end `back` bytes before the current place.
    #[inline]
    pub(super) fn lent(&self, back: usize, len: usize) -> &[u8] {
        let end = self.start.saturating_sub(back);
        self.block.get(end.saturating_sub(len)..end)
    }

    /// Unpacked bytes given away so far.
    pub(super) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Why the source could not be unpacked to its end.
    pub(super) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    pub(super) fn source(&self) -> &ByteSource {
        &self.source
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.block.get(..).len()
    }
}
