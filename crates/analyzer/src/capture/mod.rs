//! Capture files and streams → [`Frame`]s. pcap (µs and ns, both byte orders), pcapng (sections, interfaces, EPB, SPB,
//! obsolete packet block), plain or in gzip, zstd, lz4; a file or a pipe, always by 1 MiB reads.
//!
//! Why no mmap: reads of 1 MiB are as fast, need no `unsafe`, and a file that shrinks or grows meanwhile is an ordinary
//! end of file instead of a SIGBUS.

use crate::analysis::CaptureFormat;
use crate::diagnostic::Diagnostics;
use crate::error::Error;
use crate::time::Timestamp;
use std::io::Read;
use std::path::Path;

/// A link type as tcpdump.org numbers them (`LINKTYPE_…`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkType(pub u16);

/// One captured packet, borrowed from the reader's buffer.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// 1-based, as Wireshark counts.
    pub number: u64,
    /// When. A simple packet block has no time: it takes its predecessor's and a diagnostic counts it.
    pub time: Timestamp,
    /// Link type of its interface.
    pub link_type: LinkType,
    /// Bytes on the wire; more than `data.len()` when the snap length cut it.
    pub original_len: u32,
    /// The captured bytes, from the link header on.
    pub data: &'a [u8],
}

/// What the container says about itself; complete once the reader has returned `None`.
#[derive(Debug, Clone)]
pub struct CaptureInfo {
    /// Container.
    pub format: CaptureFormat,
    /// Link types in order of appearance, each once.
    pub link_types: Vec<LinkType>,
    /// The data ends in the middle of a record.
    pub truncated: bool,
    /// Sum of the drop counters (ISB `isb_ifdrop`, `isb_osdrop`; EPB `epb_dropcount`); `None` where none was given.
    pub dropped_reported: Option<u64>,
}

/// A capture being read.
pub struct CaptureReader {
    _private: (),
}

impl CaptureReader {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Capture`], [`Error::EmptyCapture`], [`Error::NotACapture`].
    pub fn open(_path: &Path) -> Result<Self, Error> {
        unimplemented!()
    }

    /// Reads from a pipe or any other stream; `name` is what errors call it.
    ///
    /// # Errors
    /// As [`CaptureReader::open`].
    pub fn from_stream(_stream: Box<dyn Read + Send>, _name: &str) -> Result<Self, Error> {
        unimplemented!()
    }

    /// The next packet; `None` at the end. A cut or damaged tail ends the capture: everything before it has been
    /// returned, [`CaptureInfo::truncated`] is set and a diagnostic says so.
    ///
    /// # Errors
    /// [`Error::Capture`] when the system cannot read on.
    pub fn next_frame(&mut self, _diagnostics: &mut Diagnostics) -> Result<Option<Frame<'_>>, Error> {
        unimplemented!()
    }

    /// What the container said so far.
    pub fn info(&self) -> &CaptureInfo {
        unimplemented!()
    }

    /// Bytes of the file (as stored, so compressed where it is) consumed so far; for a progress bar.
    pub fn position(&self) -> u64 {
        unimplemented!()
    }
}

/// The name of a link type as tcpdump.org lists it without the prefix: `ETHERNET`, `LINUX_SLL2`; else `LINKTYPE_<n>`.
pub fn link_type_name(_link_type: LinkType) -> String {
    unimplemented!()
}
