//! The command: its options, and one file for each subcommand.

pub(crate) mod analyze;
pub(crate) mod compare;
mod copies;
mod digest;
#[cfg(feature = "parquet")]
pub(crate) mod fleet;
pub(crate) mod keys;
pub(crate) mod options;
pub(crate) mod output;
mod outputs;
pub(crate) mod overhead;
mod packets;
pub(crate) mod program;
mod progress;
mod read;
mod replace;
pub(crate) mod report;
mod several;
pub(crate) mod shell;
mod sources;
mod temporary;
pub(crate) mod watch;
#[cfg(windows)]
pub(crate) mod windows;
