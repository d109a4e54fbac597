//! Reads, and unpacks, the next blocks of a file on a thread of its own while what came before is walked over.

use crate::file::block::{CARRY_LEN, READ_LEN, ReadBlock};
use crate::file::source::{ByteSource, SourceRead};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Blocks that are read before anybody asks for them.
const MOST_AHEAD: usize = 2;

/// A block with bytes from [`CARRY_LEN`] on: before them is room for what the block before left.
pub(super) struct FilledBlock {
    pub(super) block: ReadBlock,
    /// Bytes that it got.
    pub(super) len: usize,
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
        (0..MOST_AHEAD).for_each(|_| ahead.give_back(ReadBlock::new(CARRY_LEN + READ_LEN)));
        hand_over
            .send(source)
            .map(|()| ahead)
            .map_err(|returned| returned.0)
    }

    /// Waits for the next block. Each is to be answered by [`ReadAhead::give_back`].
    pub(super) fn next(&self) -> FilledBlock {
        self.filled.recv().unwrap_or_else(|_| FilledBlock {
            block: ReadBlock::new(CARRY_LEN),
            len: 0,
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
    while let Ok(mut block) = take.recv() {
        let (len, then) = fill(&mut source, &mut block);
        let is_last = then.is_some();
        if give.send(FilledBlock { block, len, then }).is_err() || is_last {
            return;
        }
    }
}

/// How many bytes a block got, and why no more.
fn fill(source: &mut ByteSource, block: &mut ReadBlock) -> (usize, Option<io::Result<SourceRead>>) {
    let room = block.own().and_then(|own| own.get_mut(CARRY_LEN..));
    let mut room = room.unwrap_or_default();
    let mut len = 0;
    while !room.is_empty() {
        match source.read(room) {
            Ok(SourceRead::Bytes(read)) => {
                len += read;
                room = room.get_mut(read..).unwrap_or_default();
            }
            other => return (len, Some(other)),
        }
    }
    (len, None)
}
