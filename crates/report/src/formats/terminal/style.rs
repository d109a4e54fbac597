//! Bold, dim and coloured text on a terminal. Nobody sees a terminal in a browser, and comfy-table has no colours there.
#![cfg_attr(target_os = "wasi", allow(unused_variables))]

use comfy_table::{Cell, Table};

/// A colour that says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    Red,
    Yellow,
    Green,
}

pub(super) fn bold(cell: Cell) -> Cell {
    #[cfg(not(target_os = "wasi"))]
    let cell = cell.add_attribute(comfy_table::Attribute::Bold);
    cell
}

pub(super) fn dim(cell: Cell) -> Cell {
    #[cfg(not(target_os = "wasi"))]
    let cell = cell.add_attribute(comfy_table::Attribute::Dim);
    cell
}

pub(super) fn colored(cell: Cell, color: Color) -> Cell {
    #[cfg(not(target_os = "wasi"))]
    let cell = cell.fg(match color {
        Color::Red => comfy_table::Color::Red,
        Color::Yellow => comfy_table::Color::Yellow,
        Color::Green => comfy_table::Color::Green,
    });
    cell
}

/// The caller says whether styles are written; comfy-table does not look for a terminal.
pub(super) fn write_styles(table: &mut Table, yes: bool) {
    #[cfg(not(target_os = "wasi"))]
    table.force_no_tty();
    #[cfg(not(target_os = "wasi"))]
    if yes {
        table.enforce_styling();
    }
}
