//! Reads many files as one capture.

use crate::file::{CaptureInfo, CaptureReader, EspSecrets, Frame, LinkType};
use crate::join::sequence::{PieceSequence, span_of};
use rekeyscope_model::analysis::CaptureFormat;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::error::Error;
use rekeyscope_model::time::Timestamp;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Sequences that are open at once, each with a buffer of a megabyte. Of more that overlap, the next one waits until one ends.
const MOST_OPEN: usize = 64;
/// Blocks of ESP keys that are kept, as of one file; further ones are left out.
const MOST_SECRETS: u64 = 1_000;

/// One file of a joined capture, and what was read of it.
#[derive(Debug, Clone, Default)]
pub struct CapturePiece {
    /// The file.
    pub path: PathBuf,
    /// Number of its first packet in the joined capture.
    pub first_frame: Option<u64>,
    /// Packets read.
    pub packets: u64,
    /// Time of its first packet.
    pub first_time: Option<Timestamp>,
    /// Time of its last packet.
    pub last_time: Option<Timestamp>,
    /// The file ends in the middle of a record, or is damaged.
    pub truncated: bool,
    /// Why it, or the rest of it, was not read.
    pub problem: Option<String>,
}

/// Many files being read as one capture. A file that cannot be read is noted, and the others carry on.
pub struct JoinedReader {
    name: PathBuf,
    pieces: Vec<CapturePiece>,
    /// Not begun yet, the earliest first.
    waiting: VecDeque<(Timestamp, Stream)>,
    open: Vec<Stream>,
    info: CaptureInfo,
    is_first: bool,
    secrets: Vec<EspSecrets>,
    secret_blocks: u64,
    frames: u64,
    bytes_done: u64,
    current: WaitingPacket,
}

/// One sequence.
#[derive(Default)]
struct Stream {
    /// Places in `pieces`.
    files: VecDeque<usize>,
    reader: Option<(usize, CaptureReader)>,
    /// The next packet.
    head: Option<WaitingPacket>,
    /// Counters of a program that writes on in the next file go on there: the largest one holds.
    dropped: Option<u64>,
}

/// A packet that waits for its turn.
#[derive(Debug, Default)]
struct WaitingPacket {
    piece: usize,
    time: Timestamp,
    link_type: LinkType,
    original_len: u32,
    data: Vec<u8>,
}

impl JoinedReader {
    /// Opens the sequences: each is read piece by piece, and they are merged by time.
    ///
    /// # Errors
    /// That of the first file where none can be read.
    pub fn open(name: &Path, sequences: &[PieceSequence]) -> Result<Self, Error> {
        let mut pieces = Vec::new();
        let mut waiting = Vec::new();
        for sequence in sequences {
            let from = pieces.len();
            pieces.extend(sequence.files.iter().map(|file| CapturePiece {
                path: file.clone(),
                ..CapturePiece::default()
            }));
            let begins = sequence.files.iter().find_map(|file| span_of(file, true));
            // One without packets is opened at once, to say why.
            let begins = begins.map_or(Timestamp(i64::MIN), |(first, _)| first);
            let files = (from..pieces.len()).collect();
            waiting.push((
                begins,
                Stream {
                    files,
                    ..Stream::default()
                },
            ));
        }
        waiting.sort_by_key(|(begins, _)| *begins);
        let first = sequences.iter().flat_map(|s| &s.files);
        let mut errors = first.map(|file| CaptureReader::open(file).err());
        if let Some(Some(error)) = errors.next()
            && errors.all(|error| error.is_some())
        {
            return Err(error);
        }
        Ok(JoinedReader {
            name: name.into(),
            pieces,
            waiting: waiting.into(),
            open: Vec::new(),
            info: CaptureInfo::of(CaptureFormat::Pcap),
            is_first: true,
            secrets: Vec::new(),
            secret_blocks: 0,
            frames: 0,
            bytes_done: 0,
            current: WaitingPacket::default(),
        })
    }

    /// The next packet, numbered through all files; `None` behind the last.
    pub fn next_frame(&mut self, diagnostics: &mut Diagnostics) -> Option<Frame<'_>> {
        self.look_ahead(diagnostics);
        let heads = self.open.iter().enumerate();
        let heads = heads.filter_map(|(place, stream)| stream.head.as_ref().map(|head| (head, place)));
        let (_, place) = heads.min_by_key(|(head, _)| (head.time, head.piece))?;
        let mut stream = self.open.swap_remove(place);
        std::mem::swap(&mut self.current, stream.head.get_or_insert_default());
        // Lent room for the packet behind it.
        let room = stream.head.take().map(|head| head.data).unwrap_or_default();
        self.frames += 1;
        if let Some(piece) = self.pieces.get_mut(self.current.piece) {
            piece.first_frame.get_or_insert(self.frames);
        }
        self.advance(stream, room, diagnostics);
        Some(Frame {
            number: self.frames,
            time: self.current.time,
            link_type: self.current.link_type,
            original_len: self.current.original_len,
            data: &self.current.data,
            block: None,
        })
    }

    /// Opens the sequences that begin before the next packet of those that are open, and goes on to their first packets, so that
    /// [`JoinedReader::take_secrets`] gives the keys in front of them.
    pub fn look_ahead(&mut self, diagnostics: &mut Diagnostics) {
        loop {
            let next = self.open.iter().filter_map(|s| Some(s.head.as_ref()?.time)).min();
            let is_due = |begins: Timestamp| next.is_none_or(|next| begins <= next);
            let due = self.waiting.front().is_some_and(|(begins, _)| is_due(*begins));
            if !due || self.open.len() >= MOST_OPEN {
                return;
            }
            if let Some((_, stream)) = self.waiting.pop_front() {
                self.advance(stream, Vec::new(), diagnostics);
            }
        }
    }

    /// Takes the stream's next packet, from its next file where one ends, and keeps the stream if there is one.
    fn advance(&mut self, mut stream: Stream, mut data: Vec<u8>, diagnostics: &mut Diagnostics) {
        while stream.reader.is_some() || self.open_next(&mut stream) {
            let Some((place, reader)) = &mut stream.reader else {
                break;
            };
            let piece = *place;
            let read = reader.next_frame(diagnostics).map(|frame| {
                frame.map(|frame| {
                    data.clear();
                    data.extend_from_slice(frame.data);
                    WaitingPacket {
                        piece,
                        time: frame.time,
                        link_type: frame.link_type,
                        original_len: frame.original_len,
                        data: std::mem::take(&mut data),
                    }
                })
            });
            self.take_secrets_of(&mut stream);
            match read {
                Ok(Some(head)) => {
                    self.note_packet(&head);
                    stream.head = Some(head);
                    self.open.push(stream);
                    return;
                }
                Ok(None) => {}
                Err(error) => self.note_problem(piece, &error),
            }
            self.close(&mut stream);
        }
        if let Some(dropped) = stream.dropped {
            *self.info.dropped_reported.get_or_insert(0) += dropped;
        }
    }

    /// Opens the next file that can be opened.
    fn open_next(&mut self, stream: &mut Stream) -> bool {
        while let Some(place) = stream.files.pop_front() {
            let Some(piece) = self.pieces.get(place) else {
                continue;
            };
            match CaptureReader::open(&piece.path) {
                Ok(reader) => {
                    if std::mem::take(&mut self.is_first) {
                        self.info.format = reader.info().format;
                    }
                    stream.reader = Some((place, reader));
                    return true;
                }
                Err(error) => self.note_problem(place, &error),
            }
        }
        false
    }

    fn close(&mut self, stream: &mut Stream) {
        let Some((place, reader)) = stream.reader.take() else {
            return;
        };
        let info = reader.info();
        stream.dropped = stream.dropped.max(info.dropped_reported);
        self.info.truncated |= info.truncated;
        self.bytes_done += reader.position();
        if let Some(piece) = self.pieces.get_mut(place) {
            piece.truncated = info.truncated;
        }
    }

    fn note_packet(&mut self, packet: &WaitingPacket) {
        self.info.note_link_type(packet.link_type);
        if let Some(piece) = self.pieces.get_mut(packet.piece) {
            piece.packets += 1;
            piece.first_time.get_or_insert(packet.time);
            piece.last_time = Some(packet.time);
        }
    }

    fn note_problem(&mut self, place: usize, error: &Error) {
        if let Some(piece) = self.pieces.get_mut(place) {
            piece.problem = Some(error.to_string());
        }
    }

    /// A program that writes on in the next file repeats its keys there: each is kept once, under a number of its own.
    fn take_secrets_of(&mut self, stream: &mut Stream) {
        let Some((_, reader)) = stream.reader.as_mut().filter(|(_, reader)| reader.has_secrets()) else {
            return;
        };
        for met in reader.take_secrets() {
            let is_new = self.secrets.iter().all(|kept| kept.rows != met.rows);
            if is_new && self.secret_blocks < MOST_SECRETS {
                self.secret_blocks += 1;
                let block = self.secret_blocks;
                self.secrets.push(EspSecrets { block, ..met });
            }
        }
    }

    /// Tells whether ESP keys were met that nobody took yet.
    pub fn has_secrets(&self) -> bool {
        !self.secrets.is_empty()
    }

    /// The ESP keys met since the last call.
    pub fn take_secrets(&mut self) -> Vec<EspSecrets> {
        std::mem::take(&mut self.secrets)
    }

    /// The common name of the files.
    pub fn path(&self) -> &Path {
        &self.name
    }

    /// The containers' statements so far: the format of the first, the link types of all.
    pub fn info(&self) -> &CaptureInfo {
        &self.info
    }

    /// The files and what was read of each.
    pub fn pieces(&self) -> &[CapturePiece] {
        &self.pieces
    }

    /// Bytes of all files consumed so far.
    pub fn position(&self) -> u64 {
        let open = self.open.iter().filter_map(|s| s.reader.as_ref());
        self.bytes_done + open.map(|(_, reader)| reader.position()).sum::<u64>()
    }
}
