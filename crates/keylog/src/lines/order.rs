//! Lines as the router logged them: what a console wrote between them is left out, and `same message repeated N times` is written out.

use crate::lines::fields::{number, word_after};
use crate::lines::outer::LogLine;
use crate::lines::reader;
use crate::lines::text::TextLine;
use crate::lines::unwrap::framed::Begins;
use crate::lines::unwrap::peel::unwrapped;
use crate::material::contents::LONGEST_LINE;
use crate::material::sink::Sink;
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
        let mut passing = LinePassing {
            last: HashMap::new(),
            each,
        };
        let text = unwrapped(text, begins);
        text.lines().for_each(|line| passing.take(line, sink));
    })
}

fn too_long(line: u64, sink: &mut Sink<'_>) {
    sink.problem(
        line,
        format!("the line is longer than {LONGEST_LINE} bytes: its rest was skipped; no known format has such lines"),
    );
}

struct LinePassing<'t, 'c> {
    /// The last line of each sender, for repetitions.
    last: HashMap<u64, LogLine<'t>>,
    each: EachLine<'c>,
}

impl<'t> LinePassing<'t, '_> {
    fn take(&mut self, mut line: TextLine<'t>, sink: &mut Sink<'_>) {
        if line.bytes.len() > LONGEST_LINE {
            too_long(line.number, sink);
            line.bytes = line.bytes.get(..LONGEST_LINE).unwrap_or_default();
        }
        line.bytes = line.bytes.trim_ascii_end();
        if !line.bytes.is_empty() {
            sink.any_text = true;
        }
        let line = LogLine::new(line);
        if line.moment.is_none() && line.is_console_noise() {
            return;
        }
        let Some(times) = repetitions(line.text) else {
            self.last.insert(line.sender, line);
            return (self.each)(&line, sink);
        };
        if let Some(last) = self.last.get(&line.sender) {
            let number = line.number;
            (0..times.min(MOST_REPEATS)).for_each(|_| (self.each)(&LogLine { number, ..*last }, sink));
        }
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
    }

    #[test]
    fn one_fall_is_a_clock_set_back() {
        let log = "2026/11/20 20:00:03: a\n2026/11/20 20:00:02: b\n2026/11/20 20:00:05: c\n2026/11/20 20:00:01: d\n";
        assert_eq!(texts(log), ["a", "b", "c", "d"]);
    }

    #[test]
    fn an_echoed_command_tells_the_order_of_equal_times() {
        let lines = "2026/11/20 20:00:03: b\n2026/11/20 20:00:03: a\n";
        assert_eq!(texts(&format!("# show log reverse\n{lines}")), ["a", "b"]);
        assert_eq!(texts(&format!("# show log\n{lines}")), ["b", "a"]);
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
