//! One buffer that is refilled by large reads and lent out record by record.

use crate::file::source::{ByteSource, SourceRead};
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
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    consumed: u64,
    at_end: bool,
    broken: Option<String>,
}

impl Buffer {
    pub(super) fn new(source: ByteSource) -> Buffer {
        let bytes = vec![0; READ_LEN + CARRY_LEN];
        Buffer {
            source,
            bytes,
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
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < n && !self.at_end {
            if self.end == self.bytes.len() {
                let larger = self.bytes.len().saturating_mul(2).min(LARGEST_RECORD + READ_LEN);
                self.bytes.resize(larger, 0);
            }
            let room = self.bytes.get_mut(self.end..).unwrap_or_default();
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

    /// What is there.
    #[inline]
    pub(super) fn available(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// The same, to put right what a parser would misread.
    pub(super) fn available_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.start..self.end).unwrap_or_default()
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
        self.bytes.get(end.saturating_sub(len)..end).unwrap_or_default()
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
        self.bytes.len()
    }
}
