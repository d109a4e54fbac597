//! A table before a format lays it out.

use crate::words::format;
use rekeyscope_model::text::Catalogue;

/// How a column is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A column. A terminal narrower than `from_width` leaves it out.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Its name in the catalogues: the same in every language.
    pub(crate) id: &'static str,
    pub(crate) align: Align,
    pub(crate) from_width: usize,
}

/// A column before it has a name.
#[derive(Clone, Copy)]
pub(crate) struct Heading {
    id: &'static str,
    align: Align,
    from_width: usize,
}

/// How a row is set off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mark {
    #[default]
    None,
    /// A rekey that hurt, a key that is missing, a rerun that disagrees.
    Alert,
    /// Left out of the statistics, or without packets.
    Faint,
}

/// A row with one cell per column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    /// For links: `rekey-3`.
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

pub(crate) const fn left(id: &'static str) -> Heading {
    Heading {
        id,
        align: Align::Left,
        from_width: 0,
    }
}
pub(crate) const fn right(id: &'static str) -> Heading {
    Heading {
        id,
        align: Align::Right,
        from_width: 0,
    }
}
pub(crate) const fn from(from_width: usize, heading: Heading) -> Heading {
    Heading {
        from_width,
        ..heading
    }
}

/// Terminals from here on show more columns.
pub(crate) const WIDE: usize = 110;
/// And from here on still more.
pub(crate) const WIDER: usize = 130;
/// And from here on all.
pub(crate) const WIDEST: usize = 180;

impl Table {
    pub(crate) fn new(t: &Catalogue, headings: &[Heading]) -> Table {
        let column = |h: &Heading| Column {
            name: t.word(h.id),
            id: h.id,
            align: h.align,
            from_width: h.from_width,
        };
        Table {
            columns: headings.iter().map(column).collect(),
            ..Table::default()
        }
    }

    pub(crate) fn push(&mut self, mark: Mark, cells: Vec<String>) {
        self.rows.push(Row {
            id: None,
            mark,
            cells,
        });
    }

    /// Leaves a column out in which every row says the same; returns what they say.
    pub(crate) fn drop_uniform(&mut self, id: &str) -> Option<String> {
        let column = self.columns.iter().position(|c| c.id == id)?;
        let value = self.rows.first()?.cells.get(column)?.clone();
        let uniform = self.rows.iter().all(|r| r.cells.get(column) == Some(&value));
        if !uniform {
            return None;
        }
        self.columns.remove(column);
        self.rows.iter_mut().for_each(|r| drop(r.cells.remove(column)));
        Some(value)
    }

    /// Says how many rows are left out, by a message that says where they are.
    pub(crate) fn note_left_out(&mut self, t: &Catalogue, id: &str, left_out: usize) {
        if left_out > 0 {
            self.notes
                .push(t.fill(id, &[("n", &format::count(left_out as u64))]));
        }
    }
}
