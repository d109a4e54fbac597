//! A text as lines, each with its number in the file and what a wrapping said about it. A layer of unwrapping reads one text and makes
//! another; both are wiped when dropped.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::ops::Range;
use zeroize::Zeroizing;

/// Words of a wrapping about a line, beside the line itself.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct About {
    /// Stands for the host or the file that the line is from; 0 where nothing says so.
    pub(crate) source: u64,
    /// The thread that wrote it.
    pub(crate) thread: Option<u32>,
    /// The line's time; only compared with times of the same wrapping.
    pub(crate) time: Option<u64>,
}

/// A number for the name of a source.
pub(crate) fn source(name: &[u8]) -> u64 {
    hash_of(name) | 1
}

/// A number for a value, the same wherever it occurs.
pub(crate) fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

/// Lines by which it is told whether more have to be looked at.
const FIRST_LINES: usize = 16;

#[derive(Clone, Copy)]
struct LineSpan {
    start: usize,
    end: usize,
    number: u64,
    about: About,
}

/// A line of a [`Text`].
#[derive(Clone, Copy)]
pub(crate) struct TextLine<'t> {
    /// 1-based, in the file.
    pub(crate) number: u64,
    pub(crate) bytes: &'t [u8],
    pub(crate) about: About,
}

impl<'t> TextLine<'t> {
    /// The line without the first `len` bytes.
    pub(crate) fn from(self, len: usize) -> TextLine<'t> {
        TextLine {
            bytes: self.bytes.get(len..).unwrap_or_default(),
            ..self
        }
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.bytes.first().is_none_or(u8::is_ascii_whitespace)
            && self.bytes.iter().all(u8::is_ascii_whitespace)
    }
}

/// Lines one after the other.
#[derive(Default)]
pub(crate) struct Text {
    bytes: Zeroizing<Vec<u8>>,
    spans: Vec<LineSpan>,
}

impl Text {
    /// The lines of `bytes`, of which the first has the number `first`. LF, CRLF and CR alone end a line; in a text with LF a CR alone does not count.
    pub(crate) fn split(bytes: Zeroizing<Vec<u8>>, first: u64) -> Text {
        let has_lf = memchr::memchr(b'\n', &bytes).is_some();
        let (mut spans, mut start, mut number) = (Vec::new(), 0, first);
        let mut end_line = |start: usize, end: usize, number: u64| {
            spans.push(LineSpan {
                start,
                end,
                number,
                about: About::default(),
            });
        };
        for at in memchr::memchr2_iter(b'\n', b'\r', &bytes) {
            if at < start {
                continue;
            }
            end_line(start, at, number);
            let rest = bytes.get(at..).unwrap_or_default();
            number += u64::from(rest.starts_with(b"\n") || rest.starts_with(b"\r\n") || !has_lf);
            start = at + if rest.starts_with(b"\r\n") { 2 } else { 1 };
        }
        if start < bytes.len() {
            end_line(start, bytes.len(), number);
        }
        Text { bytes, spans }
    }

    /// An empty text that will hold about as much as this one.
    pub(crate) fn next(&self) -> Text {
        Text {
            bytes: Zeroizing::new(Vec::with_capacity(self.bytes.len())),
            spans: Vec::with_capacity(self.spans.len()),
        }
    }

    /// Appends a line.
    pub(crate) fn push(&mut self, line: TextLine<'_>) {
        self.push_parts(line, &[line.bytes]);
    }

    /// Appends a line that is put together of `parts`.
    pub(crate) fn push_parts(&mut self, of: TextLine<'_>, parts: &[&[u8]]) {
        let start = self.bytes.len();
        parts.iter().for_each(|part| append(&mut self.bytes, part));
        let (end, number, about) = (self.bytes.len(), of.number, of.about);
        self.spans.push(LineSpan {
            start,
            end,
            number,
            about,
        });
        append(&mut self.bytes, b"\n");
    }

    /// Appends to the last line.
    pub(crate) fn extend_last(&mut self, parts: &[&[u8]]) {
        let Some(last) = self.spans.last_mut() else { return };
        self.bytes.truncate(last.end);
        parts.iter().for_each(|part| append(&mut self.bytes, part));
        last.end = self.bytes.len();
        append(&mut self.bytes, b"\n");
    }

    /// Appends the lines of `bytes`, all of which stand on line `number`.
    pub(crate) fn push_lines(&mut self, number: u64, about: About, bytes: &[u8]) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        for line in bytes.split(|b| *b == b'\n') {
            let bytes = line.strip_suffix(b"\r").unwrap_or(line);
            self.push(TextLine { number, bytes, about });
        }
    }

    pub(crate) fn lines(&self) -> impl DoubleEndedIterator<Item = TextLine<'_>> + Clone {
        self.spans.iter().map(|span| TextLine {
            number: span.number,
            bytes: self.bytes.get(span.start..span.end).unwrap_or_default(),
            about: span.about,
        })
    }

    /// The lines with anything on them.
    pub(crate) fn filled(&self) -> impl Iterator<Item = TextLine<'_>> + Clone {
        self.lines().filter(|line| !line.is_blank())
    }

    /// Counts the lines with anything on them: those that `is` holds for, and all.
    pub(crate) fn count(&self, is: impl Fn(&[u8]) -> bool) -> (usize, usize) {
        self.filled().fold((0, 0), |(held, all), line| {
            (held + usize::from(is(line.bytes)), all + 1)
        })
    }

    /// Tells whether `is` holds for any of the first lines: where a wrapping is around most lines it is around one of these.
    pub(crate) fn begins_with(&self, is: impl Fn(&[u8]) -> bool) -> bool {
        self.filled().take(FIRST_LINES).any(|line| is(line.bytes))
    }

    /// Everything, with the ends of lines.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Place of a line in [`Text::bytes`].
    pub(crate) fn offset(&self, line: TextLine<'_>) -> usize {
        (line.bytes.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize)
    }

    /// The same lines without what `prefix` finds in them: its place, and what stands for the source that it names, 0 for none.
    pub(crate) fn without(&self, prefix: impl Fn(&[u8]) -> Option<(Range<usize>, u64)>) -> Text {
        let mut next = self.next();
        for line in self.lines() {
            let Some((place, source)) = prefix(line.bytes) else {
                next.push(line);
                continue;
            };
            let about = About {
                source: line.about.source ^ source,
                ..line.about
            };
            let (before, _) = line.bytes.split_at(place.start.min(line.bytes.len()));
            next.push_parts(TextLine { about, ..line }, &[before, line.from(place.end).bytes]);
        }
        next
    }

    /// The same lines, each as `change` has it; `None` where it changes none.
    pub(crate) fn map(&self, change: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Option<Text> {
        let mut next: Option<Text> = None;
        for (at, line) in self.lines().enumerate() {
            let changed = change(line.bytes).map(Zeroizing::new);
            let next = match (&mut next, &changed) {
                (None, None) => continue,
                (Some(next), _) => next,
                (empty, _) => {
                    let mut begun = self.next();
                    self.lines().take(at).for_each(|line| begun.push(line));
                    empty.insert(begun)
                }
            };
            match changed {
                Some(bytes) => next.push_lines(line.number, line.about, &bytes),
                None => next.push(line),
            }
        }
        next
    }
}

// Text with keys in it, which leaves nothing behind where it grows.

/// Appends; what gets too small is wiped, as everything is on drop. (A `Vec` frees it as it is.)
pub(crate) fn append(text: &mut Zeroizing<Vec<u8>>, more: &[u8]) {
    let needed = text.len() + more.len();
    if needed > text.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(needed.max(2 * text.capacity())));
        larger.extend_from_slice(text);
        *text = larger;
    }
    text.extend_from_slice(more);
}
