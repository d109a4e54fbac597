//! Reads, and unpacks, the next blocks of a file on a thread of its own while what came before is walked over.

use crate::file::block::{CARRY_LEN, READ_LEN, ReadBlock};
use crate::file::source::{ByteSource, SourceRead};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Blocks that are read before anybody asks for them.
const MOST_AHEAD: usize = 2;

/// A block with bytes, and room for what the block before left in front of them.
pub(super) struct FilledBlock {
    pub(super) block: ReadBlock,
    /// Where the bytes begin, behind [`CARRY_LEN`] at least.
    pub(super) start: usize,
    /// Where they end.
    pub(super) end: usize,
    /// Why they are no more.
    pub(super) then: Option<io::Result<SourceRead>>,
}

/// The thread, as its reader has it; it ends when this is dropped.
pub(super) struct ReadAhead {
    filled: Receiver<FilledBlock>,
    empty: SyncSender<ReadBlock>,
}

impl ReadAhead {
    /// Begins to read.
    ///
    /// # Errors
    /// The source again, where the system gives no thread.
    pub(super) fn begin(source: ByteSource) -> Result<ReadAhead, ByteSource> {
        let (give, filled) = sync_channel(MOST_AHEAD);
        let (empty, take) = sync_channel(MOST_AHEAD);
        let (hand_over, taken) = sync_channel(1);
        let read = move || {
            if let Ok(source) = taken.recv() {
                read_all(source, &take, &give);
            }
        };
        if thread::Builder::new().spawn(read).is_err() {
            return Err(source);
        }
        let ahead = ReadAhead { filled, empty };
        (0..MOST_AHEAD).for_each(|_| ahead.give_back(ReadBlock::new()));
        hand_over
            .send(source)
            .map(|()| ahead)
            .map_err(|returned| returned.0)
    }

    /// Waits for the next block. Each is to be answered by [`ReadAhead::give_back`].
    pub(super) fn next(&self) -> FilledBlock {
        self.filled.recv().unwrap_or_else(|_| FilledBlock {
            block: ReadBlock::new(),
            start: CARRY_LEN,
            end: CARRY_LEN,
            then: Some(Err(io::Error::other("the thread that reads it ended"))),
        })
    }

    /// A block to fill.
    pub(super) fn give_back(&self, block: ReadBlock) {
        // Behind the last block nobody takes it.
        let _ = self.empty.try_send(block);
    }
}

fn read_all(mut source: ByteSource, take: &Receiver<ReadBlock>, give: &SyncSender<FilledBlock>) {
    while let Ok(block) = take.recv() {
        let filled = fill(&mut source, block);
        let is_last = filled.then.is_some();
        if give.send(filled).is_err() || is_last {
            return;
        }
    }
}

fn fill(source: &mut ByteSource, mut block: ReadBlock) -> FilledBlock {
    let start = block.aligned(CARRY_LEN);
    let room = block.own().and_then(|own| own.get_mut(start..start + READ_LEN));
    let mut room = room.unwrap_or_default();
    let (mut end, mut then) = (start, None);
    while !room.is_empty() && then.is_none() {
        match source.read(room) {
            Ok(SourceRead::Bytes(read)) => {
                end += read;
                room = room.get_mut(read..).unwrap_or_default();
            }
            other => then = Some(other),
        }
    }
    FilledBlock {
        block,
        start,
        end,
        then,
    }
}
