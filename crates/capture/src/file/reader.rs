//! Goes through a capture: recognises the container, walks it, and hands out its packets.

use crate::file::buffer::Buffer;
use crate::file::frame::{Frame, Item, Raw};
use crate::file::info::CaptureInfo;
use crate::file::magic::{HEADER_LEN, is_pcap, is_pcapng};
use crate::file::pcap::PcapWalk;
use crate::file::pcapng::{PcapngWalk, SHORTEST_SECTION_HEADER};
use crate::file::recognise::describe;
use crate::file::record::{CaptureEnd, ContainerRecord, RecordStep};
use crate::file::secrets::EspSecrets;
use crate::file::source::ByteSource;
use rekeyscope_model::analysis::CaptureFormat;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::error::Error;
use rekeyscope_model::text::{Catalogue, Language, Message, Said};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes that are looked at to say what a file is that is no capture.
const DESCRIBED_LEN: usize = 512;

/// A capture being read.
pub struct CaptureReader {
    path: PathBuf,
    pub(super) buffer: Buffer,
    walk: ContainerWalk,
    info: CaptureInfo,
    frames: u64,
    finished: bool,
    /// Taken already, and not handed out yet.
    ahead: Option<RecordStep>,
}

enum ContainerWalk {
    Pcap(PcapWalk),
    Pcapng(PcapngWalk),
}

impl ContainerWalk {
    /// Begins at a file header that is whole in the buffer.
    fn begin(buffer: &mut Buffer, info: &mut CaptureInfo) -> ContainerWalk {
        let pcap = PcapWalk::begin(buffer, info).map(ContainerWalk::Pcap);
        pcap.unwrap_or_else(|| ContainerWalk::Pcapng(PcapngWalk::default()))
    }
}

impl CaptureReader {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Capture`], [`Error::EmptyCapture`], [`Error::NotACapture`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| failed(path, source))?;
        Self::begin(Box::new(file), path.to_owned())
    }

    /// Reads from a pipe or any other stream; `name` is what errors call it.
    ///
    /// # Errors
    /// As [`CaptureReader::open`].
    pub fn from_stream(stream: Box<dyn Read + Send>, name: &str) -> Result<Self, Error> {
        Self::begin(stream, PathBuf::from(name))
    }

    fn begin(stream: Box<dyn Read + Send>, path: PathBuf) -> Result<Self, Error> {
        let source = ByteSource::new(stream).map_err(|source| failed(&path, source))?;
        let mut buffer = Buffer::new(source);
        let format = match recognise(&mut buffer).map_err(|source| failed(&path, source))? {
            Ok(format) => format,
            Err(_) if buffer.available().is_empty() && buffer.broken().is_none() => {
                return Err(Error::EmptyCapture { path });
            }
            Err(found) => return Err(Error::NotACapture { path, found }),
        };
        let mut info = CaptureInfo::of(format);
        Ok(CaptureReader {
            path,
            walk: ContainerWalk::begin(&mut buffer, &mut info),
            buffer,
            info,
            frames: 0,
            finished: false,
            ahead: None,
        })
    }

    /// From now on another thread reads, and unpacks, ahead of what is walked over. For files; of a pipe whole blocks would be
    /// waited for.
    pub fn read_ahead(&mut self) {
        self.buffer.read_ahead();
    }

    /// The next packet; `None` at the end. A cut or damaged tail ends the capture: everything before it has been
    /// returned, [`CaptureInfo::truncated`] is set and a diagnostic says so.
    ///
    /// # Errors
    /// [`Error::Capture`] when the system cannot read on.
    pub fn next_frame(&mut self, diagnostics: &mut Diagnostics) -> Result<Option<Frame<'_>>, Error> {
        loop {
            match self.step(diagnostics)? {
                RecordStep::Packet(record) => return Ok(Some(self.frame(record))),
                RecordStep::Numbered | RecordStep::Block | RecordStep::Appended => {}
                RecordStep::End(_) => return Ok(None),
            }
        }
    }

    /// Reads like [`CaptureReader::next_frame`], with every block of a pcapng file, for a copy of the capture.
    ///
    /// # Errors
    /// [`Error::Capture`] when the system cannot read on.
    pub fn next_item(&mut self, diagnostics: &mut Diagnostics) -> Result<Option<Item<'_>>, Error> {
        let step = loop {
            // A capture that is appended begins another walk.
            if let ContainerWalk::Pcapng(walk) = &mut self.walk {
                walk.gives_blocks = true;
            }
            match self.step(diagnostics)? {
                RecordStep::Appended => {}
                step => break step,
            }
        };
        let (frame, number) = match step {
            RecordStep::Packet(record) => (Some(self.frame(record)), Some(self.frames)),
            RecordStep::Numbered => (None, Some(self.frames)),
            RecordStep::Block => (None, None),
            RecordStep::Appended | RecordStep::End(_) => return Ok(None),
        };
        let raw = match &self.walk {
            ContainerWalk::Pcapng(walk) => Raw::Block {
                bytes: self.buffer.lent_last(),
                order: walk.order,
            },
            ContainerWalk::Pcap(walk) => Raw::Record {
                nanos_per_tick: walk.nanos_per_tick,
                snap_len: walk.largest as u32,
            },
        };
        Ok(Some(Item { frame, number, raw }))
    }

    /// Goes on to the first packet and stops before it, so that [`CaptureReader::take_secrets`] gives the keys that stand in
    /// front. Not for a copy, which would lack the blocks in between.
    ///
    /// # Errors
    /// [`Error::Capture`] when the system cannot read on.
    pub fn look_ahead(&mut self, diagnostics: &mut Diagnostics) -> Result<(), Error> {
        if self.frames == 0 && self.ahead.is_none() {
            let mut step = self.step(diagnostics)?;
            while matches!(step, RecordStep::Appended) {
                step = self.step(diagnostics)?;
            }
            self.ahead = Some(step);
        }
        Ok(())
    }

    /// Tells whether ESP keys were met that nobody took yet.
    #[inline]
    pub fn has_secrets(&self) -> bool {
        match &self.walk {
            ContainerWalk::Pcapng(walk) => !walk.secrets.waiting.is_empty(),
            ContainerWalk::Pcap(_) => false,
        }
    }

    /// The ESP keys met since the last call.
    pub fn take_secrets(&mut self) -> Vec<EspSecrets> {
        match &mut self.walk {
            ContainerWalk::Pcapng(walk) => std::mem::take(&mut walk.secrets.waiting),
            ContainerWalk::Pcap(_) => Vec::new(),
        }
    }

    /// One step of the walk, with frames counted and the end noted.
    #[inline]
    fn step(&mut self, diagnostics: &mut Diagnostics) -> Result<RecordStep, Error> {
        if let Some(step) = self.ahead.take() {
            return Ok(step);
        }
        if self.finished {
            return Ok(RecordStep::End(CaptureEnd::Clean));
        }
        let step = match &mut self.walk {
            ContainerWalk::Pcap(walk) => walk.step(&mut self.buffer),
            ContainerWalk::Pcapng(walk) => {
                let diagnostics = &mut diagnostics.at("pcapng", Some(self.frames + 1));
                walk.step(&mut self.buffer, &mut self.info, diagnostics)
            }
        };
        if let (ContainerWalk::Pcapng(walk), Ok(RecordStep::Appended | RecordStep::End(_))) =
            (&self.walk, &step)
        {
            self.info.dropped_reported = walk.dropped();
        }
        match step {
            Ok(RecordStep::Packet(_) | RecordStep::Numbered) => self.frames += 1,
            Ok(RecordStep::Block) => {}
            Ok(RecordStep::Appended) => self.go_on_with_the_next_file(diagnostics),
            Ok(RecordStep::End(end)) => self.end(end, diagnostics),
            Err(_) => self.finished = true,
        }
        step.map_err(|source| failed(&self.path, source))
    }

    #[inline]
    fn frame(&self, record: ContainerRecord) -> Frame<'_> {
        Frame {
            number: self.frames,
            time: record.time,
            link_type: record.link_type,
            original_len: record.original_len,
            data: self.buffer.lent(record.back, record.len),
            block: self.buffer.block(),
        }
    }

    /// Another capture follows in the same file or stream: its header tells how to read on.
    #[cold]
    fn go_on_with_the_next_file(&mut self, diagnostics: &mut Diagnostics) {
        let (frame, layer) = (self.frames, self.info.format.as_str());
        diagnostics.note("appended", layer, Some(frame + 1), "oddity-appended");
        self.walk = ContainerWalk::begin(&mut self.buffer, &mut self.info);
    }

    fn end(&mut self, end: CaptureEnd, diagnostics: &mut Diagnostics) {
        self.finished = true;
        let (frames, at) = (self.frames, self.buffer.consumed);
        let kept = Catalogue::of(Language::English).say(&kept_before(frames));
        let layer = self.info.format.as_str();
        let (kind, sentence) = match (end, self.buffer.broken()) {
            (CaptureEnd::Damaged(what), _) => (
                "damaged",
                Said::from(format!(
                    "after {at} bytes comes {what}: {kept}; repair the file or capture again to see the rest"
                )),
            ),
            (_, Some(reason)) => (
                "truncated",
                Said::from(format!(
                    "{reason}: {kept}; copy the file again, or unpack what is left of it, to see the rest"
                )),
            ),
            (CaptureEnd::Cut, None) => (
                "truncated",
                Message::new("oddity-cut-file")
                    .with("bytes", at)
                    .with("kept", kept_before(frames))
                    .into(),
            ),
            (CaptureEnd::Clean, None) => return,
        };
        self.info.truncated = true;
        diagnostics.count(kind, layer, None, || sentence);
    }

    /// The file that was opened, or the name of a stream.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Statements of the container so far.
    pub fn info(&self) -> &CaptureInfo {
        &self.info
    }

    /// Bytes of the file (as stored, so compressed where it is) consumed so far; for a progress bar.
    pub fn position(&self) -> u64 {
        self.buffer.position()
    }
}

/// The number of packets before the end of what can be read.
fn kept_before(frames: u64) -> Message {
    if frames == 0 {
        Message::new("oddity-kept-none")
    } else {
        Message::new("oddity-kept").with("packets", frames)
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    let path = path.to_owned();
    Error::Capture { path, source }
}

/// The container whose first header is whole in the buffer, else what is there instead.
fn recognise(buffer: &mut Buffer) -> io::Result<Result<CaptureFormat, String>> {
    // A section shows itself by the magic behind its type and its length.
    buffer.ensure(12)?;
    let (format, header_len) = if is_pcap(buffer.available()) {
        (CaptureFormat::Pcap, HEADER_LEN)
    } else if is_pcapng(buffer.available()) {
        (CaptureFormat::Pcapng, SHORTEST_SECTION_HEADER)
    } else {
        buffer.ensure(DESCRIBED_LEN)?;
        let head = buffer.available();
        let head = head.get(..DESCRIBED_LEN).unwrap_or(head);
        return Ok(Err(describe(head, buffer.compression, buffer.broken())));
    };
    let whole = buffer.ensure(header_len)?;
    let len = buffer.available().len();
    Ok(whole.then_some(format).ok_or_else(|| {
        format!("the first {len} bytes of a {format} file and nothing else: copy it again, or capture again")
    }))
}
