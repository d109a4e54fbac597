//! Lines in the order in which they were logged. `show log reverse` prints the newest line first: a stretch with
//! falling timestamps is turned round. `same message repeated N times` is written out.
//!
//! A stretch is held back until its timestamps rise (then lines pass straight through) or have fallen twice without a
//! rise between. One fall is not enough: a clock that is set back, or two routers' lines mixed, look the same.

use crate::lines::fields::word_after;
use crate::lines::outer::LogLine;
use crate::lines::reader;
use crate::lines::text::{About, TextLine};
use crate::lines::unwrap::framed::Begins;
use crate::lines::unwrap::peel::unwrapped;
use crate::lines::wiped;
use crate::material::bounds::LONGEST_LINE;
use crate::material::sink::Sink;
use std::io::Read;
use zeroize::Zeroizing;

/// Most bytes that are held back. Of a longer reversed log each such part is turned round by itself.
const MOST_HELD: usize = 16 << 20;
/// Most senders whose order is watched; the lines of further ones pass straight through.
const MOST_SENDERS: usize = 64;
/// Most repetitions of one line that are written out: a key has no use for more.
const MOST_REPEATS: usize = 64;

/// Receives the lines.
pub(crate) type EachLine<'c> = &'c mut dyn FnMut(&LogLine<'_>, &mut Sink<'_>);

/// Calls `each` for every line of `reader`, oldest first.
pub(crate) fn for_each_line(
    reader: impl Read,
    sink: &mut Sink<'_>,
    begins: Begins,
    each: EachLine<'_>,
) -> std::io::Result<()> {
    let mut order = LineOrder {
        runs: Vec::new(),
        last: Vec::new(),
        held_bytes: 0,
        reverse_announced: false,
        each,
    };
    let result = reader::for_each(reader, &mut |text, cut| {
        cut.into_iter().for_each(|line| too_long(line, sink));
        let text = unwrapped(text, begins);
        text.lines().for_each(|line| order.take(line, sink));
    });
    order.end_runs(sink);
    result
}

fn too_long(line: u64, sink: &mut Sink<'_>) {
    sink.problem(
        line,
        format!("the line is longer than {LONGEST_LINE} bytes: its rest was skipped; no known format has such lines"),
    );
}

struct LineOrder<'c> {
    /// By sender; searched one after the other, since nearly always there is one.
    runs: Vec<(u64, SenderRun)>,
    /// The last line of each sender, for repetitions.
    last: Vec<(u64, Zeroizing<Vec<u8>>)>,
    /// Bytes that are held back of all senders.
    held_bytes: usize,
    /// An echoed `show log reverse` stands above.
    reverse_announced: bool,
    each: EachLine<'c>,
}

/// A stretch of timestamped lines of one sender.
#[derive(Default)]
struct SenderRun {
    rising: bool,
    falls: u32,
    moment: u64,
    held: Vec<(u64, About, Zeroizing<Vec<u8>>)>,
}

impl LineOrder<'_> {
    fn take(&mut self, mut line: TextLine<'_>, sink: &mut Sink<'_>) {
        if line.bytes.len() > LONGEST_LINE {
            too_long(line.number, sink);
            line.bytes = line.bytes.get(..LONGEST_LINE).unwrap_or_default();
        }
        line.bytes = line.bytes.trim_ascii_end();
        if !line.bytes.is_empty() {
            sink.saw_text();
        }
        let line = LogLine::new(line);
        let Some(moment) = line.moment else {
            if line.is_console_noise() {
                if line.is_echo_of(b"show log") {
                    self.end_runs(sink);
                    self.reverse_announced = line.is_echo_of(b"show log reverse");
                }
                return;
            }
            self.end_runs(sink);
            return self.pass(&line, sink);
        };
        self.take_timestamped(&line, moment, sink);
    }

    /// The run of a sender; `None` for a sender beyond the bound.
    fn run(&mut self, sender: u64) -> Option<&mut SenderRun> {
        let at = match self.runs.iter().position(|(known, _)| *known == sender) {
            Some(at) => at,
            None if self.runs.len() >= MOST_SENDERS => return None,
            None => {
                self.runs.push((sender, SenderRun::default()));
                self.runs.len() - 1
            }
        };
        self.runs.get_mut(at).map(|(_, run)| run)
    }

    fn take_timestamped(&mut self, line: &LogLine<'_>, moment: u64, sink: &mut Sink<'_>) {
        let Some(run) = self.run(line.sender) else {
            return self.pass(line, sink);
        };
        let first = run.moment == 0;
        let (rises, falls) = (!first && moment > run.moment, !first && moment < run.moment);
        run.moment = moment;
        if run.rising && !falls {
            return self.pass(line, sink);
        }
        if run.rising {
            run.rising = false; // held back from here on
        } else if falls {
            run.falls = run.falls.saturating_add(1);
        } else if rises {
            let was_reversed = run.falls >= 2;
            self.release(line.sender, was_reversed, sink);
            if !was_reversed {
                if let Some(run) = self.run(line.sender) {
                    run.rising = true;
                }
                return self.pass(line, sink);
            }
        }
        if let Some(run) = self.run(line.sender) {
            run.held
                .push((line.number, line.about, Zeroizing::new(line.raw.to_vec())));
        }
        self.held_bytes += line.raw.len() + size_of::<(u64, Vec<u8>)>();
        if self.held_bytes > MOST_HELD {
            self.end_runs(sink);
        }
    }

    /// Hands on what is held back of a sender's lines.
    fn release(&mut self, sender: u64, reversed: bool, sink: &mut Sink<'_>) {
        let Some(run) = self.run(sender) else { return };
        let mut held = std::mem::take(&mut run.held);
        run.falls = 0;
        let bytes: usize = held
            .iter()
            .map(|(_, _, raw)| raw.len() + size_of::<(u64, Vec<u8>)>())
            .sum();
        self.held_bytes = self.held_bytes.saturating_sub(bytes);
        if reversed {
            held.reverse();
        }
        for (number, about, raw) in &held {
            self.pass(
                &LogLine::new(TextLine {
                    number: *number,
                    bytes: raw,
                    about: *about,
                }),
                sink,
            );
        }
    }

    fn end_runs(&mut self, sink: &mut Sink<'_>) {
        if self.runs.is_empty() {
            return;
        }
        let mut senders: Vec<(u64, u64)> = self
            .runs
            .iter()
            .map(|(sender, run)| (run.held.first().map_or(0, |l| l.0), *sender))
            .collect();
        senders.sort_unstable();
        for (_, sender) in senders {
            let fell = self.run(sender).is_some_and(|run| run.falls > 0);
            self.release(sender, fell || self.reverse_announced, sink);
        }
        self.runs.clear();
    }

    fn pass(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) {
        let known = self.last.iter().position(|(sender, _)| *sender == line.sender);
        if let Some(times) = repetitions(line.text) {
            let last = known
                .and_then(|at| self.last.get(at))
                .map(|(_, last)| last.clone())
                .unwrap_or_default();
            let repeated = LogLine::new(TextLine {
                number: line.number,
                bytes: &last,
                about: line.about,
            });
            (0..times.min(MOST_REPEATS)).for_each(|_| (self.each)(&repeated, sink));
            return;
        }
        if known.is_none() && self.last.len() < MOST_SENDERS {
            self.last.push((line.sender, Zeroizing::default()));
        }
        let at = known.unwrap_or(self.last.len().saturating_sub(1));
        if let Some((_, last)) = self.last.get_mut(at).filter(|(sender, _)| *sender == line.sender) {
            last.clear();
            wiped::append(last, line.raw);
        }
        (self.each)(line, sink);
    }
}

/// N of `same message repeated N times`.
fn repetitions(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"same message repeated ")?;
    let digits = word_after(text, b"repeated").filter(|_| rest.ends_with(b"times"))?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::contents::KeyMaterial;

    fn texts(log: &str) -> Vec<String> {
        let mut material = KeyMaterial::default();
        let mut out = Vec::new();
        let mut sink = Sink::new(&mut material);
        for_each_line(log.as_bytes(), &mut sink, |_| false, &mut |line, _| {
            out.push(String::from_utf8_lossy(line.text).into_owned());
        })
        .unwrap();
        out
    }

    #[test]
    fn a_reversed_log_is_turned_round() {
        let log = "2026/11/20 20:00:03: d\n2026/11/20 20:00:02: c\n2026/11/20 20:00:02: b\n2026/11/20 20:00:01: a\n";
        assert_eq!(texts(log), ["a", "b", "c", "d"]);
        let both = format!("2026/11/20 19:00:00: 1\n2026/11/20 19:00:01: 2\nother\n{log}");
        assert_eq!(texts(&both), ["1", "2", "other", "a", "b", "c", "d"]);
    }

    #[test]
    fn one_fall_is_a_clock_set_back() {
        let log = "2026/11/20 20:00:03: a\n2026/11/20 20:00:02: b\n2026/11/20 20:00:05: c\n2026/11/20 20:00:01: d\n";
        assert_eq!(texts(log), ["a", "b", "c", "d"]);
    }

    #[test]
    fn an_echoed_command_tells_the_order_of_equal_times() {
        let lines = "2026/11/20 20:00:03: b\n2026/11/20 20:00:03: a\n# show config\nx\n";
        assert_eq!(texts(&format!("# show log reverse\n{lines}")), ["a", "b", "x"]);
        assert_eq!(texts(&format!("# show log\n{lines}")), ["b", "a", "x"]);
    }

    #[test]
    fn repetitions_are_written_out() {
        let log = "2018/10/25 15:46:26: x\n2018/10/25 15:46:26: same message repeated 3 times\n2018/10/25 15:46:27: y\n";
        assert_eq!(texts(log), ["x", "x", "x", "x", "y"]);
        assert_eq!(
            texts("z\nsame message repeated 99999999999 times\n").len(),
            1 + 64
        );
    }
}
