//! A block that is refilled by large reads and lent out record by record. Whoever needs a packet for longer keeps its block
//! ([`ReadBlock`]), and reading goes on in another one.

use crate::file::ahead::{FilledBlock, ReadAhead};
use crate::file::block::{BLOCK_LEN, READ_LEN, ReadBlock};
use crate::file::record::CaptureEnd;
use crate::file::source::{ByteSource, Compression, SourceRead, StoredState};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// Longest record (pcap packet, pcapng block) that is believed. A longer one is taken for damage: the largest IP packet
/// has 64 KiB and real metadata blocks a few MiB. The buffer grows only while bytes really arrive.
pub(super) const LARGEST_RECORD: usize = 64 * 1024 * 1024;

/// Source of blocks.
enum Blocks {
    /// Blocks are filled when they are needed.
    OnDemand(ByteSource),
    /// By another thread.
    Ahead(ReadAhead),
    /// From nowhere any more: between the two.
    Nowhere,
}

/// A window on the [`ByteSource`].
pub(super) struct Buffer {
    blocks: Blocks,
    pub(super) compression: Option<Compression>,
    state: Arc<StoredState>,
    block: ReadBlock,
    /// Blocks that others kept, the oldest first.
    kept: VecDeque<ReadBlock>,
    /// Nobody may keep a block any more ([`Buffer::available_mut`]).
    closed: bool,
    start: usize,
    end: usize,
    /// Length of what was given away last.
    last: usize,
    /// Unpacked bytes given away so far.
    pub(super) consumed: u64,
    at_end: bool,
    broken: Option<String>,
    failed: Option<io::Error>,
}

impl Buffer {
    pub(super) fn new(source: ByteSource) -> Buffer {
        let block = ReadBlock::new();
        let start = block.aligned(0);
        Buffer {
            compression: source.compression,
            state: Arc::clone(&source.state),
            blocks: Blocks::OnDemand(source),
            block,
            kept: VecDeque::new(),
            closed: false,
            start,
            end: start,
            last: 0,
            consumed: 0,
            at_end: false,
            broken: None,
            failed: None,
        }
    }

    /// From now on another thread reads ahead.
    pub(super) fn read_ahead(&mut self) {
        self.blocks = match std::mem::replace(&mut self.blocks, Blocks::Nowhere) {
            Blocks::OnDemand(source) => Blocks::Ahead(ReadAhead::begin(source)),
            other => other,
        };
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
        if matches!(self.blocks, Blocks::OnDemand(_)) {
            self.carry_on();
        }
        while self.end - self.start < n && !self.at_end {
            match &mut self.blocks {
                Blocks::OnDemand(source) => {
                    let Some(block) = self.block.own() else { break };
                    if self.end == block.len() {
                        let larger = block.len().saturating_mul(2).min(LARGEST_RECORD + READ_LEN);
                        block.resize(larger, 0);
                    }
                    let room = block.len().min(self.end + READ_LEN);
                    let room = block.get_mut(self.end..room).unwrap_or_default();
                    let read = source.read(room)?;
                    if let SourceRead::Bytes(read) = read {
                        self.end += read.min(room.len());
                    }
                    self.note(read);
                }
                Blocks::Ahead(ahead) => {
                    if let Some(error) = self.failed.take() {
                        return Err(error);
                    }
                    let filled = ahead.next();
                    self.go_on_in(filled);
                }
                Blocks::Nowhere => break,
            }
        }
        Ok(self.end - self.start >= n)
    }

    fn note(&mut self, read: SourceRead) {
        match read {
            SourceRead::Bytes(_) => {}
            SourceRead::End => self.at_end = true,
            SourceRead::Broken(reason) => {
                self.at_end = true;
                self.broken = Some(reason);
            }
        }
    }

    /// Goes on in a block that another thread filled, with what is left of this one before it.
    fn go_on_in(&mut self, filled: FilledBlock) {
        let FilledBlock {
            mut block,
            start,
            end,
            then,
        } = filled;
        let left = self.end - self.start;
        let empty = if let Some(front) = start.checked_sub(left) {
            let rest = self.block.get(self.start..self.end);
            if let Some(room) = block.own().and_then(|own| own.get_mut(front..start)) {
                room.copy_from_slice(rest);
            }
            (self.start, self.end) = (front, end);
            self.kept.push_back(std::mem::replace(&mut self.block, block));
            self.released().unwrap_or_else(ReadBlock::new)
        } else {
            // A record of many blocks.
            self.carry_on();
            if let Some(own) = self.block.own() {
                own.truncate(self.end);
                own.extend_from_slice(block.get(start..end));
                self.end += end - start;
            }
            block
        };
        if let Blocks::Ahead(ahead) = &mut self.blocks {
            ahead.fill(empty);
        }
        match then {
            Some(Ok(read)) => self.note(read),
            Some(Err(error)) => self.failed = Some(error),
            None => {}
        }
    }

    /// Blocks behind the current one that others keep, or kept.
    #[cfg(test)]
    pub(super) fn kept_blocks(&self) -> usize {
        self.kept.len()
    }

    /// One of the blocks that others kept and let go of. Behind one that is kept for long there may be others.
    fn released(&mut self) -> Option<ReadBlock> {
        let mut at = 0;
        while let Some(block) = self.kept.get_mut(at) {
            let Some(len) = block.own().map(|own| own.len()) else {
                at += 1;
                continue;
            };
            let free = self.kept.remove(at);
            // A longer one had a long record.
            if len == BLOCK_LEN {
                return free;
            }
        }
        None
    }

    /// Moves what is there to the front of a block that nobody else has, so that reading goes on at the beginning of a cache line.
    fn carry_on(&mut self) {
        let rest = self.start..self.end;
        let kept = match self.block.own() {
            Some(_) => None,
            None => {
                let next = self.released().unwrap_or_else(ReadBlock::new);
                Some(std::mem::replace(&mut self.block, next))
            }
        };
        self.end = self.block.aligned(rest.len());
        self.start = self.end - rest.len();
        let to = self.start..self.end;
        let Some(own) = self.block.own() else { return };
        if own.len() < to.end {
            own.resize(to.end, 0);
        }
        match &kept {
            None => own.copy_within(rest, to.start),
            Some(kept) => own[to].copy_from_slice(kept.get(rest)),
        }
        self.kept.extend(kept);
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

    /// The end of a capture whose next record is not there.
    pub(super) fn ending(&self) -> CaptureEnd {
        if self.available().is_empty() {
            CaptureEnd::Clean
        } else {
            CaptureEnd::Cut
        }
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
        (self.start, self.last) = (self.start + n, n);
        self.consumed += n as u64;
    }

    /// The `len` bytes that end `back` bytes before the current place.
    #[inline]
    pub(super) fn lent(&self, back: usize, len: usize) -> &[u8] {
        let end = self.start.saturating_sub(back);
        self.block.get(end.saturating_sub(len)..end)
    }

    /// The bytes that were given away last.
    pub(super) fn lent_last(&self) -> &[u8] {
        self.lent(0, self.last)
    }

    /// Why the source could not be unpacked to its end.
    pub(super) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Bytes taken from the stored stream.
    pub(super) fn position(&self) -> u64 {
        self.state.taken()
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.block.get(..).len()
    }
}
