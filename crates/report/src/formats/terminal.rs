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

    fn typed(&mut self, text: &str) {
        self.item(text);
    }

    fn remark(&mut self, text: &str) {
        self.paragraph(text);
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
        let names = shown.iter().map(|(_, c)| dim(Cell::new(&c.name)));
        let mut rows = vec![names.collect()];
        let widths: Vec<usize> = shown.iter().map(|(i, c)| table.width_of(*i, &c.name)).collect();
        let most = widest(&widths, self.width);
        for row in &table.rows {
            let cells = shown.iter().filter_map(|(i, _)| row.cells.get(*i));
            // A line of Japanese may begin with a comma where comfy-table breaks it.
            rows.push(
                cells
                    .map(|c| marked(Cell::new(wrapped(c, most)), row.mark))
                    .collect(),
            );
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

/// Most columns of a cell, so that all of them fit with one space between them.
fn widest(widths: &[usize], page: usize) -> usize {
    let gaps = widths.len().saturating_sub(1);
    let fits = |most: &usize| widths.iter().map(|w| w.min(most)).sum::<usize>() + gaps <= page;
    (1..=page).rev().find(fits).unwrap_or(page)
}

fn marked(cell: Cell, mark: Mark) -> Cell {
    match mark {
        Mark::None => cell,
        Mark::Alert => bold(colored(cell, Color::Yellow)),
        Mark::Faint => dim(cell),
    }
}
