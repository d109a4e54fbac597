//! Places of the lines: standard output, a file that only grows, and a summary on a terminal.

use crate::command::options::WatchArguments;
use crate::command::output;
use crate::command::replace::Replacement;
use anyhow::Result;
use rekeyscope::write::copies::output_error;
use rekeyscope_model::error::Error;
use rekeyscope_model::text::Language;
use rekeyscope_model::watch::{WatchEvent, WatchTotals};
use rekeyscope_report::formats::watch;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Longest file of earlier events that is read: some millions of them.
const LONGEST: u64 = 1 << 30;

/// The places of the lines.
pub(super) struct EventLines {
    json: bool,
    language: Language,
    file: Option<(PathBuf, File)>,
    /// Events that an earlier run wrote.
    pub(super) earlier: Vec<WatchEvent>,
    /// The summary has a line of its own there.
    terminal: Option<console::Term>,
}

impl EventLines {
    pub(super) fn open(arguments: &WatchArguments, read: &[PathBuf]) -> Result<Self, Error> {
        let terminal = console::Term::stderr();
        let mut lines = EventLines {
            json: arguments.json_lines,
            language: arguments.outputs.lang.language(),
            file: None,
            earlier: Vec::new(),
            terminal: (terminal.is_term() && !arguments.input.quiet).then_some(terminal),
        };
        if let Some(path) = &arguments.events {
            // The lines that are there are looked into below, and nothing of them is lost.
            Replacement::new(read, true).permits(path)?;
            let failed = output_error(path);
            let mut file = File::options()
                .read(true)
                .append(true)
                .create(true)
                .open(path)
                .map_err(&failed)?;
            lines.earlier = read_earlier(&mut file).map_err(failed)?;
            lines.file = Some((path.clone(), file));
        }
        Ok(lines)
    }

    /// Says them. A line that is on standard output is in the file: the file comes first.
    pub(super) fn say(&mut self, events: &[WatchEvent]) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        let mut json = String::new();
        for event in events {
            json += &serde_json::to_string(event)?;
            json.push('\n');
        }
        if let Some((path, file)) = &mut self.file {
            file.write_all(json.as_bytes()).map_err(output_error(path))?;
        }
        self.end_summary();
        if self.json {
            return output::to_stdout(json.as_bytes());
        }
        let lines = events
            .iter()
            .map(|event| watch::line(event, self.language) + "\n");
        output::to_stdout(lines.collect::<String>().as_bytes())
    }

    /// The counters, on a terminal.
    pub(super) fn show_summary(&self, totals: &WatchTotals) {
        if let Some(terminal) = &self.terminal {
            let width = usize::from(terminal.size().1).saturating_sub(1);
            let line = watch::summary(totals, self.language);
            let _ = terminal.clear_line();
            let _ = terminal.write_str(&console::truncate_str(&line, width, "…"));
        }
    }

    /// Takes the summary away.
    pub(super) fn end_summary(&self) {
        if let Some(terminal) = &self.terminal {
            let _ = terminal.clear_line();
        }
    }
}

/// The events in the file. A last line without its end was being written when the program was killed: it goes.
fn read_earlier(file: &mut File) -> io::Result<Vec<WatchEvent>> {
    let mut text = String::new();
    let most = file.metadata()?.len().min(LONGEST);
    Read::by_ref(file).take(most).read_to_string(&mut text)?;
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let read: Result<Vec<WatchEvent>, _> = text[..whole].lines().map(serde_json::from_str).collect();
    let is_another = whole == 0 && !text.is_empty() && !text.starts_with('{');
    let events = read.ok().filter(|_| !is_another).ok_or_else(|| {
        io::Error::other("it is there and holds no events of rekeyscope watch: name another file")
    })?;
    if whole < text.len() {
        file.set_len(whole as u64)?;
    }
    file.seek(SeekFrom::End(0))?;
    Ok(events)
}
