//! Lays paragraphs and tables out in columns, by comfy-table (which knows how wide each character is).

mod style;
mod wrap;

use crate::formats::sections::Page;
use crate::tables::{Align, Column, Mark, Table};
use comfy_table::{Cell, CellAlignment, ContentArrangement, presets};
use rekeyscope_model::text::Catalogue;
pub(crate) use style::Color;
use style::{bold, colored, dim, write_styles};
use unicode_width::UnicodeWidthStr;
use wrap::wrapped;

/// Narrower than this, lines run over: no table fits.
const NARROWEST: usize = 60;
/// Wider than this, lines are hard to read.
const WIDEST: usize = 220;

/// Before what belongs to an item.
const INDENT: &str = "   ";
/// Spaces between two columns.
const GAP: usize = 2;

/// The page so far.
pub(crate) struct TerminalPage {
    width: usize,
    color: bool,
    out: String,
}

impl TerminalPage {
    pub(crate) fn new(width: usize, color: bool) -> TerminalPage {
        TerminalPage {
            width: width.clamp(NARROWEST, WIDEST),
            color,
            out: String::new(),
        }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Columns available.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// One line as it is.
    pub(crate) fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// A paragraph in bold, coloured when `color` says so.
    pub(crate) fn emphasised(&mut self, text: &str, color: Option<Color>) {
        let mut cell = bold(Cell::new(wrapped(text, self.width)));
        if let Some(color) = color {
            cell = colored(cell, color);
        }
        self.cells(vec![vec![cell]], &[]);
    }

    /// Several of them.
    pub(crate) fn paragraphs(&mut self, texts: &[String]) {
        texts.iter().for_each(|text| self.paragraph(text));
    }

    /// Paragraphs hung behind labels of one width.
    pub(crate) fn labelled(&mut self, rows: &[(String, String)]) {
        let labels = rows.iter().map(|(label, _)| label.width()).max().unwrap_or(0);
        let width = self.width.saturating_sub(labels + GAP);
        let rows = rows
            .iter()
            .map(|(label, text)| vec![Cell::new(label), Cell::new(wrapped(text, width))])
            .collect();
        self.cells(rows, &[]);
    }

    fn cells(&mut self, rows: Vec<Vec<Cell>>, aligns: &[Align]) {
        let mut table = comfy_table::Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(self.width).unwrap_or(u16::MAX));
        write_styles(&mut table, self.color);
        let columns = rows.first().map_or(0, Vec::len);
        for row in rows {
            table.add_row(row);
        }
        // Two spaces between columns, one where two would make the rows wrap.
        let natural: usize = table
            .column_max_content_widths()
            .iter()
            .map(|&w| usize::from(w) + GAP)
            .sum();
        let padding = if columns > 2 && natural > self.width + GAP {
            1
        } else {
            GAP as u16
        };
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if i + 1 < columns { padding } else { 0 }));
            if aligns.get(i) == Some(&Align::Right) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for line in table.lines() {
            self.out.push_str(line.trim_end());
            self.out.push('\n');
        }
    }
}

impl Page for TerminalPage {
    const MOST_ENTRIES: usize = 40;
    /// More is for a program to read.
    const MOST_ROWS: usize = 100_000;

    /// A headline, set off by an empty line.
    fn heading(&mut self, text: &str) {
        self.blank();
        self.emphasised(text, None);
    }

    /// A paragraph.
    fn paragraph(&mut self, text: &str) {
        self.cells(vec![vec![Cell::new(wrapped(text, self.width))]], &[]);
    }

    /// A paragraph hung behind a dash.
    fn item(&mut self, text: &str) {
        let text = wrapped(text, self.width - 1 - GAP);
        self.cells(vec![vec![Cell::new("-"), Cell::new(text)]], &[]);
    }

    /// A table with its notes; nothing when it has no rows.
    fn table(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        let filled = |i: usize| {
            table
                .rows
                .iter()
                .any(|r| r.cells.get(i).is_some_and(|c| !c.is_empty()))
        };
        // Optional columns need room, and a column in which nothing stands is left out.
        let columns = table.columns.iter().enumerate();
        let shown: Vec<(usize, &Column)> = columns
            .filter(|(i, c)| c.from_width <= self.width && filled(*i))
            .collect();
        let texts = |i: usize| table.rows.iter().filter_map(move |row| row.cells.get(i));
        let columns = shown.iter().map(|(i, c)| {
            let all = texts(*i).chain([&c.name]);
            let longest = all.clone().map(|text| text.width()).max().unwrap_or(0);
            let word = all.flat_map(|text| wrapped(text, 1).lines().map(UnicodeWidthStr::width).max());
            (word.max().unwrap_or(0), longest)
        });
        let widths = widths(&columns.collect::<Vec<_>>(), self.width);
        // A line of Japanese may begin with a comma where comfy-table breaks it.
        let laid = |(text, width): (&String, &usize)| Cell::new(wrapped(text, *width));
        let names = shown.iter().map(|(_, c)| &c.name).zip(&widths);
        let mut rows = vec![names.map(|name| dim(laid(name))).collect()];
        for row in &table.rows {
            let cells = shown.iter().filter_map(|(i, _)| row.cells.get(*i)).zip(&widths);
            rows.push(cells.map(|cell| marked(laid(cell), row.mark)).collect());
        }
        let aligns: Vec<Align> = shown.iter().map(|(_, c)| c.align).collect();
        self.cells(rows, &aligns);
        for note in &table.notes {
            let note = dim(Cell::new(wrapped(note, self.width)));
            self.cells(vec![vec![note]], &[]);
        }
    }

    /// A display filter below an item, on a line of its own where it does not fit behind its label: unbroken, however long, so
    /// that it can be copied.
    fn filter(&mut self, said: impl Fn(&str) -> String, filter: &str) {
        let label = said("");
        let short = format!("{INDENT}{label}{filter}");
        if short.width() <= self.width || label.is_empty() {
            return self.line(&short);
        }
        self.line(format!("{INDENT}{label}").trim_end());
        self.line(&format!("{INDENT}{filter}"));
    }

    fn more(&mut self, t: &Catalogue, total: usize) {
        if total > Self::MOST_ENTRIES {
            let n = total - Self::MOST_ENTRIES;
            self.paragraph(&fill!(t, "more-in-json", n));
        }
    }
}

/// Width of each column, so that all of them fit with one space between them and no word is broken. `columns`: the longest word of each,
/// and its longest text.
fn widths(columns: &[(usize, usize)], page: usize) -> Vec<usize> {
    let gaps = columns.len().saturating_sub(1);
    let at = |most: usize| {
        columns
            .iter()
            .map(move |(word, longest)| *longest.min(&most.max(*word)))
    };
    let fits = |most: &usize| at(*most).sum::<usize>() + gaps <= page;
    at((1..=page).rev().find(fits).unwrap_or(page)).collect()
}

fn marked(cell: Cell, mark: Mark) -> Cell {
    match mark {
        Mark::None => cell,
        Mark::Alert => bold(colored(cell, Color::Yellow)),
        Mark::Faint => dim(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns are as narrow as the page asks, and no narrower than their longest word.
    #[test]
    fn no_word_of_a_table_is_broken() {
        let columns = [
            (12, 27),
            (12, 20),
            (6, 6),
            (4, 4),
            (11, 11),
            (6, 11),
            (7, 7),
            (11, 11),
        ];
        let fitted = widths(&columns, 80);
        assert_eq!(fitted, [12, 12, 6, 4, 11, 10, 7, 11]);
        assert_eq!(widths(&columns, 200), columns.map(|(_, longest)| longest));
    }
}
