//! Lines in the order in which they were logged. `show log reverse` prints the newest line first: a stretch with
//! falling timestamps is turned round. `same message repeated N times` is written out.
//!
//! A stretch is turned round when its timestamps have fallen twice without a rise between. One fall is not enough: a clock that is set back,
//! or two routers' lines mixed, look the same.

use crate::lines::fields::{number, word_after};
use crate::lines::outer::LogLine;
use crate::lines::reader;
use crate::lines::text::{Text, TextLine};
use crate::lines::unwrap::framed::Begins;
use crate::lines::unwrap::peel::unwrapped;
use crate::material::bounds::LONGEST_LINE;
use crate::material::sink::Sink;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::Read;

/// Most repetitions of one line that are written out: a key has no use for more.
const MOST_REPEATS: u64 = 64;

/// Receives the lines.
pub(crate) type EachLine<'c> = &'c mut dyn FnMut(&LogLine<'_>, &mut Sink<'_>);

/// Calls `each` for every line of `reader`, oldest first.
pub(crate) fn for_each_line(
    reader: impl Read,
    sink: &mut Sink<'_>,
    begins: Begins,
    each: EachLine<'_>,
) -> std::io::Result<()> {
    reader::for_each(reader, &mut |text, cut| {
        cut.into_iter().for_each(|line| too_long(line, sink));
        in_order(&unwrapped(text, begins), sink, each);
    })
}

fn too_long(line: u64, sink: &mut Sink<'_>) {
    sink.problem(
        line,
        format!("the line is longer than {LONGEST_LINE} bytes: its rest was skipped; no known format has such lines"),
    );
}

fn in_order(text: &Text, sink: &mut Sink<'_>, each: EachLine<'_>) {
    let mut order = LineOrder {
        run: Vec::new(),
        is_reversed: false,
        last: HashMap::new(),
        each,
    };
    text.lines().for_each(|line| order.take(line, sink));
    order.end_run(sink);
}

struct LineOrder<'t, 'c> {
    /// Lines with a router's timestamp, one after the other.
    run: Vec<LogLine<'t>>,
    /// An echoed `show log reverse` stands above.
    is_reversed: bool,
    /// The last line of each sender, for repetitions.
    last: HashMap<u64, LogLine<'t>>,
    each: EachLine<'c>,
}

impl<'t> LineOrder<'t, '_> {
    fn take(&mut self, mut line: TextLine<'t>, sink: &mut Sink<'_>) {
        if line.bytes.len() > LONGEST_LINE {
            too_long(line.number, sink);
            line.bytes = line.bytes.get(..LONGEST_LINE).unwrap_or_default();
        }
        line.bytes = line.bytes.trim_ascii_end();
        if !line.bytes.is_empty() {
            sink.saw_text();
        }
        let line = LogLine::new(line);
        if line.moment.is_some() {
            self.run.push(line);
        } else if !line.is_console_noise() {
            self.end_run(sink);
            self.pass(&line, sink);
        } else if line.is_echo_of(b"show log") {
            self.end_run(sink);
            self.is_reversed = line.is_echo_of(b"show log reverse");
        }
    }

    /// Hands the run on; the lines of each sender are in order by themselves.
    fn end_run(&mut self, sink: &mut Sink<'_>) {
        let lines = std::mem::take(&mut self.run);
        let mut senders: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, line) in lines.iter().enumerate() {
            senders.entry(line.sender).or_default().push(at);
        }
        let mut ordered = lines.clone();
        for places in senders.values() {
            let mut own: Vec<LogLine<'t>> = places.iter().filter_map(|at| lines.get(*at).copied()).collect();
            turn_round(&mut own, self.is_reversed);
            for (at, line) in places.iter().zip(own) {
                ordered.get_mut(*at).into_iter().for_each(|place| *place = line);
            }
        }
        ordered.iter().for_each(|line| self.pass(line, sink));
    }

    fn pass(&mut self, line: &LogLine<'t>, sink: &mut Sink<'_>) {
        let Some(times) = repetitions(line.text) else {
            self.last.insert(line.sender, *line);
            return (self.each)(line, sink);
        };
        if let Some(last) = self.last.get(&line.sender) {
            let number = line.number;
            (0..times.min(MOST_REPEATS)).for_each(|_| (self.each)(&LogLine { number, ..*last }, sink));
        }
    }
}

/// Turns the stretches of one sender's lines round that have the newest first; the last one, where `announced`, at any time.
fn turn_round(lines: &mut [LogLine<'_>], announced: bool) {
    let moments: Vec<Option<u64>> = lines.iter().map(|line| line.moment).collect();
    // The stretch at hand: its begin, how often it fell, and whether it rises.
    let (mut start, mut falls, mut rising) = (0, 0, false);
    let mut reverse = |from: usize, to: usize| {
        let stretch = lines.get_mut(from..to);
        stretch.unwrap_or_default().reverse();
    };
    for (at, pair) in moments.windows(2).enumerate() {
        let at = at + 1;
        match pair.last().cmp(&pair.first()) {
            Ordering::Greater if !rising => {
                if falls >= 2 {
                    reverse(start, at);
                }
                (rising, start, falls) = (falls < 2, at, 0);
            }
            Ordering::Less if rising => (rising, start) = (false, at),
            Ordering::Less => falls += 1,
            _ => {}
        }
    }
    if !rising && (falls > 0 || announced) {
        reverse(start, moments.len());
    }
}

/// N of `same message repeated N times`.
fn repetitions(text: &[u8]) -> Option<u64> {
    let rest = text.strip_prefix(b"same message repeated ")?;
    word_after(text, b"repeated")
        .filter(|_| rest.ends_with(b"times"))
        .and_then(number)
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
