//! Wrappings that people's tools put around a log: one layer for each kind of wrapping. A layer decides by evidence over the whole text whether it is there,
//! and takes it off.

mod characters;
mod columns;
mod escapes;
mod export;
pub(crate) mod framed;
mod html;
mod json;
mod names;
mod newest_first;
pub(crate) mod peel;
mod prefixes;
mod quoting;
mod terminal;
