//! The document as tables for a fleet of captures: Parquet files with the names and types of the JSON contract, each quantity in one unit.
//!
//! - [`TABLES`]: which lists of the document are tables, and what a row is told of the rows above it.
//! - [`shape`]: the columns of a table, from the JSON Schema of the document: a field that is added there is a column.
//! - [`write()`]: the rows as a Parquet file; [`merge()`]: many such files as one.

mod merge;
mod rows;
mod shape;
mod tables;
mod value;
mod write;

pub use merge::{Merged, check, files_in, merge, name_of};
pub use tables::{FleetTable, TABLES};
pub use write::{Origin, write};
