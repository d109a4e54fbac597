//! Reads, and unpacks, the next block of a file on another thread while what came before is walked over.
//!
//! It is one of the threads that decode packets, too: one of its own for the reading would be woken, and wake others, for each block, which costs 3
//! to 5 % of the time on two cores.

use crate::file::block::{CARRY_LEN, READ_LEN, ReadBlock};
use crate::file::in_flight::InFlight;
use crate::file::source::{ByteSource, SourceRead};
use std::io;

/// A block with bytes, and room for what the block before left in front of them.
pub(super) struct FilledBlock {
    pub(super) block: ReadBlock,
    /// Offset of the first byte that was read: [`CARRY_LEN`] or more.
    pub(super) start: usize,
    /// Offset behind the last byte.
    pub(super) end: usize,
    /// Why they are no more.
    pub(super) then: Option<io::Result<SourceRead>>,
}

/// A source of which the next block is being filled.
pub(super) struct ReadAhead {
    filling: Option<InFlight<(ByteSource, FilledBlock)>>,
    /// At rest: it waits for a block to fill.
    source: Option<ByteSource>,
}

impl ReadAhead {
    /// Begins to read.
    pub(super) fn begin(source: ByteSource) -> ReadAhead {
        let mut ahead = ReadAhead {
            filling: None,
            source: Some(source),
        };
        ahead.fill(ReadBlock::new());
        ahead
    }

    /// Waits for the next block. Each is to be answered by [`ReadAhead::fill`].
    pub(super) fn next(&mut self) -> FilledBlock {
        let Some((source, filled)) = self.filling.take().and_then(InFlight::wait) else {
            return FilledBlock {
                block: ReadBlock::new(),
                start: CARRY_LEN,
                end: CARRY_LEN,
                then: Some(Err(io::Error::other("the thread that reads it ended"))),
            };
        };
        self.source = filled.then.is_none().then_some(source);
        filled
    }

    /// Goes on with a block to fill. Behind the last one nothing is left to do.
    pub(super) fn fill(&mut self, block: ReadBlock) {
        if let Some(mut source) = self.source.take() {
            self.filling = Some(InFlight::begin(move || {
                let filled = fill(&mut source, block);
                (source, filled)
            }));
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
