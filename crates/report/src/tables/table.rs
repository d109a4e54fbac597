//! A table before a format lays it out.

use crate::words::format::{self, or_unknown};
use rekeyscope_model::text::Catalogue;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A column. A terminal narrower than `from_width` leaves it out.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Identifier in the catalogues, the same in every language.
    pub(crate) id: &'static str,
    pub(crate) align: Align,
    pub(crate) from_width: usize,
}

/// Emphasis of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mark {
    #[default]
    None,
    /// A rekey that hurt, a key that is missing.
    Alert,
    /// A rekey that is not observed, or one without packets.
    Faint,
}

impl Mark {
    /// The class on a page.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Mark::None => "",
            Mark::Alert => "alert",
            Mark::Faint => "faint",
        }
    }
}

/// A row with one cell per column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    /// Target of links: `rekey-3`.
    pub(crate) id: Option<String>,
    pub(crate) mark: Mark,
    pub(crate) cells: Vec<String>,
}

/// A table. Every cell is clean (see [`clean`]).
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// Below it: units, what is left out and where that is.
    pub(crate) notes: Vec<String>,
}

/// A table that still gets columns, each with what it says of every row.
pub(crate) struct TableRows<'a, R> {
    t: &'a Catalogue,
    rows: &'a [R],
    /// The table with the columns so far.
    pub(crate) table: Table,
}

impl<R> TableRows<'_, R> {
    /// Sets rows off.
    pub(crate) fn marked(mut self, mark: impl Fn(&R) -> Mark) -> Self {
        for (row, of) in self.table.rows.iter_mut().zip(self.rows) {
            row.mark = mark(of);
        }
        self
    }

    pub(crate) fn left(self, id: &'static str, cell: impl Fn(&R) -> String) -> Self {
        self.column(id, Align::Left, 0, cell)
    }

    pub(crate) fn right(self, id: &'static str, cell: impl Fn(&R) -> String) -> Self {
        self.column(id, Align::Right, 0, cell)
    }

    /// A column for terminals of at least `width`.
    pub(crate) fn left_from(self, width: usize, id: &'static str, cell: impl Fn(&R) -> String) -> Self {
        self.column(id, Align::Left, width, cell)
    }

    /// The same, set to the right.
    pub(crate) fn right_from(self, width: usize, id: &'static str, cell: impl Fn(&R) -> String) -> Self {
        self.column(id, Align::Right, width, cell)
    }

    fn column(
        mut self,
        id: &'static str,
        align: Align,
        from_width: usize,
        cell: impl Fn(&R) -> String,
    ) -> Self {
        self.table.columns.push(Column {
            name: self.t.word(id),
            id,
            align,
            from_width,
        });
        for (row, of) in self.table.rows.iter_mut().zip(self.rows) {
            row.cells.push(cell(of));
        }
        self
    }
}

/// Milliseconds in a cell.
pub(crate) fn ms(value: Option<f64>) -> String {
    or_unknown(value, format::millis)
}

/// Seconds that were lost, in a cell.
pub(crate) fn cost(seconds: Option<f64>, at_least: bool) -> String {
    or_unknown(seconds, |s| format::least(at_least, format::cost(s)))
}

/// [`Mark::Alert`] where something is wrong.
pub(crate) fn alert_if(wrong: bool) -> Mark {
    if wrong { Mark::Alert } else { Mark::None }
}

/// At most the first `most`.
pub(crate) fn first<R>(rows: &[R], most: usize) -> &[R] {
    rows.get(..most).unwrap_or(rows)
}

/// Terminals from here on show more columns.
pub(crate) const WIDE: usize = 110;
/// And from here on still more.
pub(crate) const WIDER: usize = 130;
/// And from here on all.
pub(crate) const WIDEST: usize = 180;

impl Table {
    /// A row for each of `rows`; its columns follow.
    pub(crate) fn of<'a, R>(t: &'a Catalogue, rows: &'a [R]) -> TableRows<'a, R> {
        let mut table = Table::default();
        table.rows.resize_with(rows.len(), Row::default);
        TableRows { t, rows, table }
    }

    /// Leaves a column out in which every row says the same; returns what they say.
    pub(crate) fn drop_uniform(&mut self, id: &str) -> Option<String> {
        let column = self.columns.iter().position(|c| c.id == id)?;
        let value = self.rows.first()?.cells.get(column)?.clone();
        let uniform = self.rows.iter().all(|r| r.cells.get(column) == Some(&value));
        if !uniform {
            return None;
        }
        self.drop_column(id);
        Some(value)
    }

    /// Without the columns that say nothing in any row.
    pub(crate) fn without_empty(mut self) -> Table {
        let says = |row: &Row, column: usize| {
            let cell = row.cells.get(column);
            cell.is_some_and(|cell| !cell.is_empty() && cell != format::UNKNOWN)
        };
        self.drop_where(|table, column| {
            !table.rows.is_empty() && !table.rows.iter().any(|row| says(row, column))
        });
        self
    }

    /// Keeps only the columns that every terminal has.
    pub(crate) fn narrowed(mut self) -> Table {
        self.drop_where(|table, column| table.columns[column].from_width > 0);
        self
    }

    /// Leaves a column out.
    pub(crate) fn drop_column(&mut self, id: &str) {
        self.drop_where(|table, column| table.columns[column].id == id);
    }

    fn drop_where(&mut self, is_out: impl Fn(&Table, usize) -> bool) {
        for column in (0..self.columns.len()).rev() {
            if is_out(self, column) {
                self.columns.remove(column);
                self.rows.iter_mut().for_each(|r| drop(r.cells.remove(column)));
            }
        }
    }

    /// Says how many rows are left out, by a message that says where they are.
    pub(crate) fn note_left_out(&mut self, t: &Catalogue, id: &str, left_out: usize) {
        if left_out > 0 {
            self.notes.push(fill!(t, id, n = format::count(left_out as u64)));
        }
    }
}
