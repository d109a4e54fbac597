//! The command: its options, and one file for each subcommand.

pub(crate) mod analyze;
pub(crate) mod compare;
mod copies;
pub(crate) mod keys;
pub(crate) mod options;
pub(crate) mod output;
mod outputs;
pub(crate) mod overhead;
mod private_folder;
pub(crate) mod program;
mod progress;
mod read;
mod reference;
pub(crate) mod report;
mod several;
pub(crate) mod shell;
