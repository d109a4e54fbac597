//! Bold, dim and coloured text on a terminal. Nobody sees a terminal in a browser, and comfy-table has no colours there.

use comfy_table::Cell;

/// A colour that says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    Red,
    Yellow,
    Green,
}

#[cfg(not(target_os = "wasi"))]
mod styled {
    use super::{Cell, Color};
    use comfy_table::{Attribute, Table};

    pub(crate) fn bold(cell: Cell) -> Cell {
        cell.add_attribute(Attribute::Bold)
    }

    pub(crate) fn dim(cell: Cell) -> Cell {
        cell.add_attribute(Attribute::Dim)
    }

    pub(crate) fn colored(cell: Cell, color: Color) -> Cell {
        cell.fg(match color {
            Color::Red => comfy_table::Color::Red,
            Color::Yellow => comfy_table::Color::Yellow,
            Color::Green => comfy_table::Color::Green,
        })
    }

    /// The caller says whether styles are written; comfy-table does not look for a terminal.
    pub(crate) fn write_styles(table: &mut Table, yes: bool) {
        table.force_no_tty();
        if yes {
            table.enforce_styling();
        }
    }
}

#[cfg(target_os = "wasi")]
mod styled {
    use super::{Cell, Color};
    use comfy_table::Table;

    pub(crate) fn bold(cell: Cell) -> Cell {
        cell
    }

    pub(crate) fn dim(cell: Cell) -> Cell {
        cell
    }

    pub(crate) fn colored(cell: Cell, _: Color) -> Cell {
        cell
    }

    pub(crate) fn write_styles(_: &mut Table, _: bool) {}
}

pub(super) use styled::{bold, colored, dim, write_styles};
